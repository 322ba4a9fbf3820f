# shellcheck shell=bash
# A browser for the tests of pages; sourced after lib.sh.

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
chrome() {
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
        --user-data-dir="$TMP/profile" --hide-scrollbars --virtual-time-budget=5000 "$@" 2>chrome.log
}
# page FILE: the page after its script; messages of its console are in chrome.log.
page() { chrome --enable-logging=stderr --dump-dom "file://$TMP/$1" >dom.html; }
no_complaint() { page "$1" && [ -s dom.html ] && ! grep -q ':CONSOLE' chrome.log; }

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
