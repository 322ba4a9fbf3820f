#!/bin/sh
# Print what harness/case/provenance.c says about this build, as C macros.
#
#   provenance.sh VERSION CC CFLAGS [NVCC NVCCFLAGS]
#
# Only text that is a fact about the sources and the tools: no time, no path of
# the tree, so that the same sources give the same program.
set -eu

# What the program is built from; a changed README does not change it.
inputs="Makefile VERSION harness kernels baselines scripts"

c_string() { # MACRO TEXT
    printf '#define %s "%s"\n' "$1" "$(printf '%s' "$2" | sed 's/[\\"]/\\&/g' | tr '\n' ' ')"
}

# A file that git does not know, or the files of a folder that it does not look into: a link, or a
# repository of its own.
print_files() {
    find -L "$1" -name .git -prune -o -type f -print | LC_ALL=C sort | while read -r file; do
        printf '%s\n' "$file"
        cat -- "$file"
    done
}

# A folder may belong to another user (sudo make): say that it may be read.
repository() { git -c safe.directory="$PWD" "$@" 2>/dev/null; }

commit=unknown
changes=unknown
# An unpacked archive inside somebody else's repository is not that repository.
if [ "$(repository rev-parse --show-cdup || echo none)" = "" ] && repository rev-parse -q --verify HEAD >/dev/null; then
    commit=$(repository rev-parse HEAD)
    # shellcheck disable=SC2086 # a list of words
    changes=$(
        repository diff --binary HEAD -- $inputs
        repository ls-files --others --exclude-standard -- $inputs | while read -r path; do
            print_files "$path"
        done
    )
    [ -z "$changes" ] || changes=$(printf '%s' "$changes" | sha256sum | cut -c1-32)
fi

echo "/* Written by scripts/provenance.sh. */"
c_string PROVENANCE_VERSION "$1"
c_string PROVENANCE_COMMIT "$commit"
c_string PROVENANCE_CHANGES "$changes"
c_string PROVENANCE_COMPILER "$($2 --version | head -n 1)"
c_string PROVENANCE_FLAGS "$3"
if [ $# -gt 3 ]; then
    c_string PROVENANCE_NVCC "$($4 --version | sed -n 's/.*release [^,]*, //p')"
    c_string PROVENANCE_NVCC_FLAGS "$5"
else
    c_string PROVENANCE_NVCC ""
    c_string PROVENANCE_NVCC_FLAGS ""
fi
