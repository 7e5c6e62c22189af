# sample.sh: what quick tests take in place of everything. Sourced.
#
# SPDX-License-Identifier: MIT OR Apache-2.0

# sample N NAME...: N of the names, by HASHLOOM_SEED.
sample() {
    local names=("${@:2}") i at
    RANDOM=${HASHLOOM_SEED:-1}
    for ((i = 0; i < $1 && i < ${#names[@]}; i++)); do
        at=$((i + RANDOM % (${#names[@]} - i)))
        printf '%s\n' "${names[at]}"
        names[at]=${names[i]}
    done
}
