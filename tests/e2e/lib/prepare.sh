# shellcheck shell=bash
# What every end-to-end script begins with. Sourced; goes to the directory of the scripts.
#
#   needs COMMAND PACKAGE…    notes the packages if there is no such command
#   needed+=(PACKAGE)         notes one for another reason
#   install_needed            installs what was noted (Debian and its kin)
#   find_waypost              builds the program to test, unless WAYPOST names it

[[ -z ${WAYPOST-} ]] || WAYPOST=$(realpath "$WAYPOST")
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
# The programs of system administrators are not in everyone's PATH.
PATH=$PATH:/usr/sbin:/sbin
sudo=()
[[ $(id -u) == 0 ]] || sudo=(sudo)
needed=()

needs() {
    type -P "$1" >/dev/null || needed+=("${@:2}")
}

install_needed() {
    ((${#needed[@]})) || return 0
    echo "installing ${needed[*]}"
    "${sudo[@]}" apt-get -o DPkg::Lock::Timeout=300 update -qq
    # A server that starts by itself would only be in the way.
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get -o DPkg::Lock::Timeout=300 install \
        -y -qq --no-install-recommends "${needed[@]}" >/dev/null
    needed=()
}

find_waypost() {
    if [[ -z ${WAYPOST-} ]]; then
        # The build that `cargo test` leaves behind, so that there is only one: with any test beside the
        # program, its dependencies have the features that tests want of them.
        cargo build --locked --quiet --bin waypost --test tidy
        WAYPOST=$(cargo metadata --no-deps --format-version 1 | grep -o '"target_directory":"[^"]*"' | cut -d'"' -f4)/debug/waypost
    fi
    export WAYPOST
}
