# shellcheck shell=bash
# Installs Debian packages that are missing. Sourced by end-to-end scripts.
#
#   needs COMMAND PACKAGE…    notes the packages if there is no such command
#   install_needed            installs what was noted

PATH=$PATH:/usr/sbin:/sbin
needed=()
sudo=$([[ $(id -u) == 0 ]] || echo sudo)

needs() {
    command -v "$1" >/dev/null || needed+=("${@:2}")
}

install_needed() {
    ((${#needed[@]})) || return 0
    echo "installing ${needed[*]}"
    $sudo apt-get -o DPkg::Lock::Timeout=300 update -qq
    # A server that starts by itself would only be in the way.
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive $sudo apt-get -o DPkg::Lock::Timeout=300 install \
        -y -qq --no-install-recommends "${needed[@]}" >/dev/null
}
