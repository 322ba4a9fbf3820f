#!/usr/bin/env bash
# Every link of the documents leads somewhere: a file that is there, a heading that is there.
. "$(dirname "$0")/lib.sh"
root=${HERE%/*}

# anchors FILE: its headings as links name them.
anchors() {
    sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

# leads FILE LINK: from this file, the link leads to something.
leads() {
    local file=${2%%#*} anchor=
    case $2 in *#*) anchor=${2#*#} ;; esac
    [ -n "$file" ] && file=$(dirname "$1")/$file || file=$1
    [ -e "$file" ] || { echo "# no such file: $file"; return 1; }
    [ -z "$anchor" ] || anchors "$file" | grep -qxF -- "$anchor" || { echo "# no such heading"; return 1; }
}

shopt -s nullglob
for page in "$root"/*.md "$root"/*/*.md "$root"/*/*/*.md "$root"/harness/*/*/*.md; do
    # Links and pictures of this tree; code is left out.
    while IFS= read -r link <&3; do
        check "${page#"$root"/}: $link" leads "$page" "$link"
    done 3< <(awk '/^```/ { code = !code } !code && !/^    /' "$page" | grep -o '](\([^)]*\))' |
        sed 's/^](//; s/)$//' | grep -v '^https\?:' | sort -u)
done
for page in "$root"/docs/*.md; do
    name=${page##*/}
    [ "$name" = README.md ] ||
        check "docs/README.md lists $name" grep -qF "]($name)" "$root/docs/README.md"
done
