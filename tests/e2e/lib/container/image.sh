# Builds the image from `Containerfile`, even on a machine that cannot reach an image registry.
#
# Sourced after prepare.sh, by scripts that then run containers. Gives `podman`, with settings and
# storage of its own, and `build_image`; the script creates the directory $work, and removes it.
#
# The program in it is built quickly, with the profile `draft`; with E2E_ALL=1, as for a release,
# with `dist`. Storage, the base image and the built image stay in a cache, so that the next script
# finds them. If no registry can be reached, the base image is built here under its exact name:
# Debian by debootstrap, from the mirror that this machine uses, with this machine's Rust in it.
# shellcheck shell=bash disable=SC2154 # work, sudo

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)
cache=${WAYPOST_CI_TOOLS:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/waypost-ci}/containers
image=localhost/waypost:e2e
profile=draft
[[ ${E2E_ALL-} != 1 ]] || profile=dist

# Without systemd, nothing runs the health checks of containers.
podman_command=(
    "${sudo[@]}" env "CONTAINERS_CONF=$cache/containers.conf"
    "CONTAINERS_STORAGE_CONF=$cache/storage.conf" DISABLE_HC_SYSTEMD=true podman
)
# Container monitors must not inherit the lock below: they outlive a script that is killed.
podman() { "${podman_command[@]}" "$@" 9>&-; }

# Succeeds if overlay file systems work here; without them, each layer is a whole copy.
overlay_works() {
    mkdir -p "$work/overlay"/{lower,upper,work,merged}
    "${sudo[@]}" mount -t overlay overlay "$work/overlay/merged" -o \
        "lowerdir=$work/overlay/lower,upperdir=$work/overlay/upper,workdir=$work/overlay/work" \
        2>/dev/null && "${sudo[@]}" umount "$work/overlay/merged"
}

# Settings that work in virtual machines and containers too, where there may be no systemd, and
# where limits cannot be raised.
set_up_podman() {
    needs podman podman
    needs runc runc
    needs slirp4netns slirp4netns
    install_needed
    mkdir -p "$cache"
    # Another script would build the same image at the same time.
    exec 9>"$cache/lock"
    flock --nonblock 9 || { echo "waiting for another script that uses $cache" && flock 9; }
    local driver=vfs
    overlay_works && driver=overlay
    # Podman's default is higher than is allowed here. Builds read it only from the command line.
    limits=("nofile=$(ulimit -Sn)" nproc=4096)
    cat >"$cache/containers.conf" <<CONF
[containers]
default_ulimits = ["${limits[0]}", "${limits[1]}"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
CONF
    cat >"$cache/storage.conf" <<CONF
[storage]
driver = "$driver"
graphroot = "$cache/storage-$driver"
runroot = "$cache/run-$driver"
CONF
    echo "podman $(podman version --format '{{.Version}}') on $driver"
}

# Builds an image of Debian with this machine's Rust, under the name of Rust's official image.
make_stand_in() {
    local name=$1 suite=$2 root=$work/root rust=/usr/local/rust host sysroot mirror
    host=$(rustc -vV | sed -n 's/^host: //p')
    sysroot=$(rustc --print sysroot)
    needs debootstrap debootstrap
    install_needed
    # shellcheck disable=SC2016 # apt's own variable
    mirror=$(apt-get indextargets --format '$(SITE)' | grep -m 1 '/debian/*$' || true)
    echo "no registry can be reached: building $name from Debian $suite and $(rustc --version)"
    "${sudo[@]}" debootstrap --variant=minbase --include=ca-certificates,gcc,libc6-dev "$suite" "$root" \
        "${mirror:-http://deb.debian.org/debian}" >"$work/debootstrap.log" 2>&1 ||
        { tail -n 20 "$work/debootstrap.log" >&2 && return 1; }

    # The settings with which this machine reaches its mirror and its registry apply in there too.
    "${sudo[@]}" cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
    "${sudo[@]}" cp -a /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/"
    "${sudo[@]}" chroot "$root" update-ca-certificates >/dev/null

    # Only the toolchain for this machine, and the crates that are already downloaded.
    local cargo_home=${CARGO_HOME:-$HOME/.cargo} part
    "${sudo[@]}" mkdir -p "$root$rust/lib/rustlib" "$root$rust/bin" "$root/usr/local/cargo/registry"
    "${sudo[@]}" cp "$sysroot"/bin/{cargo,rustc} "$root$rust/bin/"
    "${sudo[@]}" cp -a "$sysroot"/lib/*.so* "$root$rust/lib/"
    "${sudo[@]}" cp -a "$sysroot/lib/rustlib/$host" "$root$rust/lib/rustlib/"
    for part in config.toml registry/index registry/cache; do
        [[ ! -e $cargo_home/$part ]] || "${sudo[@]}" cp -a "$cargo_home/$part" "$root/usr/local/cargo/$part"
    done
    "${sudo[@]}" tar -C "$root" -c . | podman import --quiet \
        --change "ENV CARGO_HOME=/usr/local/cargo" \
        --change "ENV PATH=$rust/bin:/usr/local/cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
        - "$name"
    "${sudo[@]}" rm -rf "$root"
}

# Builds with the network of this machine; the output is in $work/build.log.
podman_build() {
    podman build --network host --format docker "${limits[@]/#/--ulimit=}" "$@" \
        >"$work/build.log" 2>&1
}

# Ends and removes the containers whose names begin with $1, and the images tagged localhost/$1:….
remove_all() {
    local it
    for it in $(podman ps --all --quiet --filter "name=^$1"); do
        podman rm --force --time 0 "$it" >/dev/null 2>&1 || true
    done
    for it in $(podman images --quiet --filter "reference=localhost/$1:*"); do
        podman rmi --force "$it" >/dev/null 2>&1 || true
    done
}

# Builds $image, unless it exists.
build_image() {
    local base start=$SECONDS
    set_up_podman
    base=$(sed -n 's/^ARG RUST=//p' "$top/Containerfile")
    podman image exists "$base" || timeout 300 podman pull --quiet "$base" 2>/dev/null ||
        make_stand_in "$base" "${base##*-}"
    podman_build --tag "$image" --build-arg "PROFILE=$profile" --file "$top/Containerfile" "$top" ||
        { tail -n 40 "$work/build.log" >&2 && return 1; }
    echo "image built in $((SECONDS - start)) s"
}
