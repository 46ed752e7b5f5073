# shellcheck shell=bash
# Sourced at the beginning of every end-to-end script; changes to the directory of the scripts.
#
#   needs COMMAND PACKAGE…    notes the packages if there is no such command
#   needed+=(PACKAGE)         notes a package for another reason
#   install_needed            installs the noted packages (Debian and its derivatives)
#   find_waypost              builds the program to test, unless WAYPOST names it

[[ -z ${WAYPOST-} ]] || WAYPOST=$(realpath "$WAYPOST")
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
install_lock=$PWD/lib/prepare.sh
# The directories of administrative programs are not in every user's PATH.
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
    # `apt-get update` fails if another script runs it at the same time.
    local lock
    exec {lock}<"$install_lock"
    flock "$lock"
    "${sudo[@]}" apt-get update -qq
    # Servers that start with their installation would only be in the way.
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get -o DPkg::Lock::Timeout=300 install \
        -y -qq --no-install-recommends "${needed[@]}" >/dev/null
    exec {lock}<&-
    needed=()
}

find_waypost() {
    if [[ -z ${WAYPOST-} ]]; then
        # The same build as that of `cargo test`, so that there is only one: with any test next to
        # the program, its dependencies have the features that tests need.
        cargo build --locked --quiet --bin waypost --test tidy
        WAYPOST=$(cargo metadata --no-deps --format-version 1 | grep -o '"target_directory":"[^"]*"' | cut -d'"' -f4)/debug/waypost
    fi
    export WAYPOST
}
