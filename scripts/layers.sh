#!/bin/bash
# The floor plan, checked. A file of harness/ includes assay.h, its own room, and rooms below
# it. kernels/ and baselines/ include assay.h, base/ and each other, kernels/ never baselines/.
# A foreign library's header is included in one room only. Each room opens with a README.
#
#   layers.sh [BUILD]   also hold the calls between the objects built in BUILD to the same
#
# Prints what breaks a rule, and last how many arrows point up. Exit 1 on anything printed.
set -u
cd "$(dirname "$0")/.." || exit 1

# Top to bottom. kernels/ and baselines/ stand on assay.h and base alone.
order='cmd doctor gate export report claims plot trace run show store judge measure bench device suite object case base'
# Header (its beginning) and the room that may include it.
foreign='sqlite3.h=store ini.h=suite cupti=device nvml.h=device nvtx3/=device cuda=device'

findings=0
finding() {
    printf '%s\n' "$1"
    findings=$((findings + 1))
}

# ARROWS: "FROM TO WHAT" a line, FROM and TO paths below the root; prints those that break the
# rule, and counts the rest in its last line.
judge() {
    awk -v order="$order" '
        BEGIN { n = split(order, room, " "); for (i = 1; i <= n; i++) floor[room[i]] = i }
        function place(path, part) {
            split(path, part, "/")
            return part[1] == "harness" ? (path == "harness/assay.h" ? "assay.h" : part[2]) : part[1]
        }
        function is_up(from, to) {
            if (to == "assay.h" || from == to) return 0
            if (from == "kernels") return to != "base"
            if (from == "baselines") return to != "base" && to != "kernels"
            return !(from in floor) || !(to in floor) || floor[to] < floor[from]
        }
        # A header in a folder of a room belongs to the room; export takes two from the store.
        function is_inner(from, to, part) {
            return to ~ /\.h$/ && split(to, part, "/") > 3 && place(from) != place(to) &&
                   to !~ /^kernels/ && to !~ /^harness\/store\/exchange\/store_(csv|foreign)\.h$/
        }
        {
            all++
            if (is_up(place($1), place($2))) { print "upward: " $0; up++ }
            else if (is_inner($1, $2)) { print "inside another room: " $0; up++ }
        }
        END { printf "%d arrows, %d upward\n", all, up }'
}

sources() { find harness kernels baselines -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh'; }

# Own headers, as paths below the root; what stands beside the file needs no folder.
include_arrows() {
    sources | xargs grep -oE '^#include "[^"]+"' /dev/null | while IFS=: read -r file line; do
        name=${line#*\"} name=${name%\"}
        if [ -e "harness/$name" ]; then name=harness/$name
        elif [ -e "${file%/*}/$name" ]; then name=${file%/*}/$name
        elif [ ! -e "$name" ]; then continue # what the build writes
        fi
        printf '%s %s include\n' "$file" "$name"
    done
}

# Who calls what between objects: a symbol that one defines and another leaves open.
symbol_arrows() {
    (cd "$1" && find harness -name '*.o' -exec nm -A {} +) | awk '
        { path = $1; sub(/\.o:.*/, "", path) }
        $2 == "U" { from[++n] = path; symbol[n] = $3 }
        $2 ~ /^[TDBRVC]$/ { owner[$3] = path }
        END { for (i = 1; i <= n; i++)
                  if (symbol[i] in owner) print from[i], owner[symbol[i]], symbol[i] }'
}

# check NAME: the arrows of standard input.
check() {
    local line
    while IFS= read -r line; do
        case $line in
            *' upward') printf '%s: %s\n' "$1" "$line" ;;
            *) finding "$1: $line" ;;
        esac
    done < <(judge)
}

for pair in $foreign; do
    while IFS= read -r file; do
        case $file in
            "harness/${pair#*=}"/* | kernels/* | baselines/*) ;;
            *) finding "${pair%=*} belongs to harness/${pair#*=}: $file" ;;
        esac
    done < <(sources | xargs grep -lE "^ *# *include <${pair%=*}")
done
for room in $order; do
    [ -s "harness/$room/README.md" ] || finding "harness/$room has no README.md"
done
check includes < <(include_arrows)
[ $# -eq 0 ] || check calls < <(symbol_arrows "$1")
[ "$findings" -eq 0 ]
