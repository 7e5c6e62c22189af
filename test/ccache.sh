# ccache.sh: lets all tests share the objects of the C compilers. Sourced, with $root the repository.
#
# SPDX-License-Identifier: MIT OR Apache-2.0

# If ccache is installed, an object is compiled once for all steps that need it with the same flags. The cache is in the
# build folder: a clean build compiles everything.
if command -v ccache >/dev/null; then
    export CCACHE_DIR=$root/build/ccache
    mkdir -p "$CCACHE_DIR/bin"
    for cc in gcc g++ cc c++ clang; do
        # A link to a compiler that is not installed would count as one.
        if command -v $cc >/dev/null; then
            ln -sf "$(command -v ccache)" "$CCACHE_DIR/bin/$cc"
        else
            rm -f "$CCACHE_DIR/bin/$cc"
        fi
    done
    PATH=$CCACHE_DIR/bin:$PATH
fi
