#!/usr/bin/env bash
# Prints the sources named and those for the GPU that they call: needed.sh FILE.cu ... What a file offers to others, a
# header declares.
set -eu
export LC_ALL=C
# Of lines that begin with a type and end in no semicolon, or that a header has: NAME FILE; all names have an underscore.
names='{ sub(/ *[[(=;].*/, ""); sub(/.*[ *]/, ""); if (/_/) print $0, FILENAME }'
sources=$(find kernels baselines -name '*.cu' -o -name '*_cuda.c')
headers=$(find kernels baselines -name '*.h' -o -name '*.cuh')
declared=$(echo "$headers" | xargs awk "/^(const |extern |int|void|bool|struct [a-z_]+ [^{]|float|double|size_t)/ $names" |
    cut -d' ' -f1 | sort -u)
defined=$(echo "$sources" | xargs awk "{ sub(/^extern \"C\" /, \"\") } /^[a-z]/ && !/^(static|template|typedef)|;\$/ $names" |
    sort -u)
offered=$(join <(echo "$declared") <(echo "$defined"))

# The text of a file, of the device code that it includes, and of macros of several lines in its headers.
text() {
    local header path
    cat "$1"
    for header in $(sed -n 's/^#include "\(.*h\)".*/\1/p' "$1"); do
        for path in "$(dirname "$1")/$header" "$header"; do
            case $path in
            *.cuh) [ ! -f "$path" ] || text "$path" ;;
            *) [ ! -f "$path" ] || sed -n '/\\$/p' "$path" ;;
            esac
        done
    done
}

found=" $* "
more=$*
while [ -n "$more" ]; do
    words=$(for file in $more; do text "$file"; done | grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u)
    more=
    for file in $(join <(echo "$words") <(echo "$offered") | cut -d' ' -f2 | sort -u); do
        case $found in *" $file "*) ;; *) found+="$file " more+="$file " ;; esac
    done
done
echo "$found"
