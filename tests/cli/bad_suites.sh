#!/usr/bin/env bash
# A suite with a mistake: one line with file, line and what is wrong; exit 2.
. "$(dirname "$0")/lib.sh"

# refused TEXT LINE...: a suite of these lines is refused in one line of
# standard error that has this text, with exit 2 and nothing on standard output.
refused() {
    local text=$1
    shift
    printf '%s\n' "$@" >bad.ini
    refused_file "$text" bad.ini
}
refused_file() {
    run timeout 20 "$ASSAY" run "$2" --device host --db none.sqlite
    [ "$code" -eq 2 ] && [ "$(wc -l <said.err)" -eq 1 ] && [ ! -s said.out ] &&
        grep -qF -- "$1" said.err && [ ! -e none.sqlite ]
}
group=('[group a]' 'operation = int8_quantize')

check "a wrong key of [suite]" refused "bad.ini:2: [suite] has no key 'bugdet' (did you mean 'budget'?)" \
    '[suite]' 'bugdet = 3' "${group[@]}"
check "a setting out of range" refused "bad.ini:2: budget" '[suite]' 'budget = -1' "${group[@]}"
check "an unknown dim" refused "bad.ini:3: int8_quantize has no dim 'm'" "${group[@]}" 'm = 3'
check "a size out of its range" refused "bad.ini:3: n = 0" "${group[@]}" 'n = 0'
check "a size too large for any machine" refused "bad.ini:3: n" "${group[@]}" 'n = 1e30'
check "no size at all" refused "bad.ini:3: " "${group[@]}" 'n ='
check "a range without a step" refused "bad.ini:3: n: the range" "${group[@]}" 'n = 10..1'
check "a range whose factor is beyond every size" refused "bad.ini:3: n: '*9223372036854775807'" \
    "${group[@]}" 'n = 1Mi..512Mi*9223372036854775807'
check "a range that takes forever" refused "bad.ini:3: n: a range's factor so near to 1" \
    "${group[@]}" 'n = 64..1099511627776*1.0000000001'
check "a range of too many values" refused "bad.ini:3: n has more than 4096 values" "${group[@]}" 'n = 1..1M+1'
check "an unknown choice" refused "bad.ini:3: input has no choice 'fp23' (did you mean 'fp32'?)" \
    "${group[@]}" 'input = fp23'
check "an unknown temperature" refused "bad.ini:3: no temperature" "${group[@]}" 'temperature = mild'
check "an unknown operation" refused "bad.ini:2: no operation is called 'int8_kwantize' (did you" \
    '[group a]' 'operation = int8_kwantize'
check "a group without an operation" refused "bad.ini:1: group 'a' has no operation" '[group a]' 'n = 3'
check "variants that match nothing" refused "bad.ini:3: no variant" "${group[@]}" 'variants = nosuch'
check "variants parted by blanks" refused "bad.ini:3: 'a b' has a blank" "${group[@]}" 'variants = a b'
check "nothing for this device" refused "bad.ini:1: nothing in the suite" "${group[@]}" 'device = cuda'
check "no group" refused "bad.ini: there is no [group]" '[suite]' 'title = nothing'
check "a heading that does not end" refused "bad.ini:1: a heading ends" '[group a' 'operation = empty'
check "an unknown section" refused "bad.ini:1: no section" '[groop a]' 'operation = empty'
check "a key before any section" refused "bad.ini:1: the key" 'title = a' "${group[@]}"
check "a key twice" refused "bad.ini:4: the key 'n'" "${group[@]}" 'n = 5' 'n = 6'
check "a group twice" refused "bad.ini:3: there is a [group a]" "${group[@]}" "${group[@]}"
check "an include of itself" refused "bad.ini:2: including" '[suite]' 'include = bad'
check "an include of nothing" refused "bad.ini:2: no suite is called 'nosuch'" '[suite]' 'include = nosuch'

mkdir folder.ini
check "a folder" refused_file "folder.ini: Is a directory" folder.ini
check "a file that is not there" refused_file "none.ini: No such file" none.ini
: >empty.ini
check "an empty file" refused_file "empty.ini: there is no [group]" empty.ini
head -c 65536 /dev/urandom >noise.ini
check "noise" refused_file "noise.ini: not a text file" noise.ini
{ printf '%s\n' "${group[@]}"; printf 'n = '; head -c 10000000 /dev/zero | tr '\0' 1; } >long.ini
check "a line of ten megabytes" refused_file "long.ini: larger than" long.ini
{ printf '%s\n' "${group[@]}"; printf 'n = '; head -c 100000 /dev/zero | tr '\0' 1; echo; } >line.ini
check "a line of a hundred kilobytes" refused_file "line.ini:3: " line.ini
if [ "$(id -u)" -ne 0 ]; then
    printf '%s\n' "${group[@]}" >shut.ini
    chmod 000 shut.ini
    check "a file that may not be read" refused_file "shut.ini: Permission denied" shut.ini
fi
mkfifo pipe.ini
check "a pipe that nobody fills can be left" exits 124 timeout 1 "$ASSAY" run ./pipe.ini --device host
