#!/bin/sh
# The files of a page as C: PAGE_STYLE, PAGE_SCRIPT and PAGE_LIBRARY as bytes, and the base64 of
# their SHA-256, by which the page's policy knows them.
#
#   page.sh LIBRARY STYLE SCRIPT...    LIBRARY is Chart.js, minified; "" for none
set -eu
library=$1 style=$2
shift 2

# embed NAME FILE...: the files, one behind the other.
embed() {
    name=$1
    shift
    printf 'static const char %s[] = {\n' "$name"
    cat "$@" | od -An -v -tx1 | sed 's/ \(..\)/0x\1,/g'
    printf '0};\nstatic const char %s_hash[] = "%s";\n' "$name" \
        "$(cat "$@" | sha256sum | cut -c 1-64 | tr a-f A-F | basenc --base16 -d | base64)"
}
embed page_style "$style"
embed page_script "$@"
embed page_library "${library:-/dev/null}"
