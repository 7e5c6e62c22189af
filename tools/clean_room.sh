# clean_room.sh: runs commands as on a machine that has only the compilers. Sourced, with $work a temporary folder.
#
# SPDX-License-Identifier: MIT OR Apache-2.0

# The toolchain itself, as rustup's own programs need the user's home.
clean_path=$(rustc --print sysroot)/bin:$PATH
without_network=(unshare --map-root-user --net)
"${without_network[@]}" true 2>/dev/null || without_network=()
mkdir -p "$work/home"

# clean COMMAND...: no network (where unshare is permitted; Cargo uses none in any case), an empty home, and nothing of
# the caller's environment but PATH.
clean() {
    "${without_network[@]}" env -i "PATH=$clean_path" "HOME=$work/home" "TMPDIR=$work" LC_ALL=C.UTF-8 \
        CARGO_NET_OFFLINE=true "$@"
}
