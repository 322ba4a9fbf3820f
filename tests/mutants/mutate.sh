#!/usr/bin/env bash
# Write the mutated sources of a table, and a makefile that knows them.
#
#   mutate.sh FOLDER TABLE.txt ...
#
# A table is a list of mutants. Lines of a mutant, in this order:
#
#   mutant NAME              its name
#   says TEXT                what is wrong with it
#   file PATH                the file that the next changes are in
#   - TEXT                   lines that are in the file exactly once ...
#   + TEXT                   ... and what is put in their place; several of both make a block
#   compile PATH ...         the files with variants that it is compiled into (default: the first
#                            file that it changes)
#
# Below FOLDER/NAME/ stand the mutated files in the folders that they have here, with links to the
# headers beside them, so that includes find the mutated ones first, and to what is compiled; one
# that did not change since the last time keeps its date. FOLDER/mutants.mk has a line "MUTANTS +=
# NAME@FILE" for each file to compile, FOLDER/says.tsv what each mutant is. A change whose text is
# not there exactly once is an error: the kernel has changed, and the table must follow.
set -eu
last=$1
folder=$1.new
shift
rm -rf "$folder"
mkdir -p "$folder" "$last"

awk -v folder="$folder" '
function fail(text) { printf "%s:%d: %s: %s\n", FILENAME, FNR, name, text >"/dev/stderr"; bad = 1 }
function slurp(path,    line, all) {
    all = ""
    while ((getline line <path) > 0) all = all line "\n"
    close(path)
    return all
}
function store(    out) {
    if (file == "") return
    out = folder "/" name "/" file
    printf "%s", text >out
    close(out)
}
# The change that was read last: from -> to, once.
function change(    at) {
    if (from == "") return
    at = index(text, from)
    if (!at) fail("not in " file ": " from)
    else if (index(substr(text, at + 1), from)) fail("more than once in " file ": " from)
    else text = substr(text, 1, at - 1) to substr(text, at + length(from))
    from = to = ""
    changes++
}
# To what is beside a mutated file, where there is not a mutated one: ln says so, and goes on. All at
# the end, for what is written through a link is written to the real file.
function add_links(dir, files) {
    links = links "ln -s \"$PWD\"/" dir "/" files " " folder "/" name "/" dir "/ 2>/dev/null\n"
}
function split_path(path) { dir = base = path; sub(/\/[^\/]*$/, "", dir); sub(/.*\//, "", base) }
function begin_file(path) {
    change(); store()
    file = path
    split_path(path)
    system("mkdir -p " folder "/" name "/" dir)
    add_links(dir, "*.*h")
    text = slurp(path)
    if (text == "") fail("no file " path)
    if (first == "") first = path
}
function end_mutant(    n, i, list) {
    if (name == "") return
    change(); store()
    if (!changes) fail("changes nothing")
    n = split(compiled == "" ? first : compiled, list, " ")
    for (i = 1; i <= n; i++) {
        print "MUTANTS += " name "@" list[i] >(folder "/mutants.mk")
        split_path(list[i])
        add_links(dir, base)
    }
    name = file = compiled = ""
}
/^mutant / {
    end_mutant()
    name = $2; changes = 0; compiled = first = ""
    if (seen[name]++) fail("a second mutant of this name")
    next
}
/^says / { print name "\t" substr($0, 6) >(folder "/says.tsv"); next }
/^compile / { compiled = substr($0, 9); next }
/^file / { begin_file($2); next }
/^-/ { if (to_seen) { change(); to_seen = 0 } from = from (from == "" ? "" : "\n") substr($0, 3); next }
/^\+/ { to = to (to_seen ? "\n" : "") substr($0, 3); to_seen = 1; next }
/^#/ || /^$/ { change(); to_seen = 0; next }
{ fail("what is this? " $0) }
END { end_mutant(); printf "%s", links | "sh"; close("sh"); exit bad }
' "$@"

changed=()
for new in "$folder"/*/; do
    name=${new%/} old=$last/${name##*/}
    if [ -d "$old" ]; then
        diff -r -x stamp "$new" "$old" >/dev/null 2>&1 && continue
        rm -rf "$old"
    fi
    changed+=("$name")
done
if [ ${#changed[@]} -gt 0 ]; then
    touch "${changed[@]/%//stamp}" # what their objects depend on
    mv "${changed[@]}" "$last"/
fi
mv "$folder/mutants.mk" "$folder/says.tsv" "$last"/
rm -rf "$folder"
