# shellcheck shell=bash
# For the tests of pages: what stands in one, and a browser; sourced after lib.sh.

# has FILE TEXT
has() { grep -qF -- "$2" "$1"; }
# document ID FILE: a JSON document that stands in a page.
document() {
    awk -v from="id=\"$1\">" '{ at = index($0, from) } at { on = 1; $0 = substr($0, at + length(from)) }
        on && /<\/script>/ { exit } on' "$2"
}
same_document() { diff <(document "$1" "$2" | sed 's/\\u003c/</g') "$3" >diff.out; }

browser=""
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v $name) || browser=""
done
# Where there is none this is said, and is a failure if ASSAY_TEST_BROWSER says so.
has_browser() {
    [ -z "$browser" ] || return 0
    [ "${ASSAY_TEST_BROWSER:-}" != required ] ||
        check "a browser is there (ASSAY_TEST_BROWSER=required)" false
    skipped "what a page does in a browser: there is no Chromium (apt-get install chromium)"
    return 1
}

# Ours are the only pages, so the sandbox, which containers lack, is not missed.
headless=(timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run
    --user-data-dir="$TMP/profile" --hide-scrollbars)
chrome() { "${headless[@]}" --virtual-time-budget=5000 "$@" 2>chrome.log; }
# page FILE: the page after its script; messages of its console are in chrome.log.
page() { chrome --enable-logging=stderr --dump-dom "file://$TMP/$1" >dom.html; }
no_complaint() { page "$1" && [ -s dom.html ] && ! grep -q ':CONSOLE' chrome.log; }

# logged FILE WORDS: waits until the page, whose clock is the real one, has written the words to its console.
# How long the browser takes to start says nothing of the page, and on a machine under load is many seconds.
logged() {
    local process found=0
    : >chrome.log
    "${headless[@]}" --enable-logging=stderr --remote-debugging-port=0 "file://$TMP/$1" 2>chrome.log &
    process=$!
    wait_for 60 grep -q ":CONSOLE.*$2" chrome.log || found=1
    kill $process # timeout, which passes it on
    wait $process
    return $found
}

# driven FILE WIDTH: in a frame of this width, with the policy replaced and driver.js at its end, which
# presses what a person would and posts to its parent what came of it. The words are in driven.txt.
driven() {
    sed "s/script-src [^;]*;/script-src 'unsafe-inline';/" "$1" >driven.html
    { echo "<script>"; cat driver.js; echo "</script>"; } >>driven.html
    echo "<!DOCTYPE html><script>onmessage = e => document.body.setAttribute('data-said', e.data)</script>
<body><iframe src=driven.html width=$2 height=900></iframe>" >around.html
    chrome --window-size=1700,950 --dump-dom "file://$TMP/around.html" >dom.html
    grep -o 'data-said="[^"]*' dom.html | tr ';' '\n' >driven.txt
    test -s driven.txt
}

# pictures FILE: of a page in both themes, for three windows.
pictures() {
    local theme width
    for theme in 0 1; do
        for width in 500 1024 1600; do
            check "a picture of it, $width wide" chrome --blink-settings=preferredColorScheme=$theme \
                --window-size=$width,1200 --screenshot="$TMP/$theme-$width.png" "file://$TMP/$1"
            check "is one" [ "$(wc -c <"$theme-$width.png")" -gt 20000 ]
        done
    done
    check "dark is another picture than light" fails cmp -s 0-1024.png 1-1024.png
}
