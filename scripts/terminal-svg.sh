#!/bin/sh
# Turn what a program wrote to a terminal (text with colours, on standard input) into a
# picture of it (SVG, on standard output): the README's table is
#
#   script -qc 'assay show int8 --db h200.sqlite' /dev/null | tr -d '\r' |
#       awk 'NR <= 5 || /n=50000000 input=fp32 scale=odd cold/ { on = 1 }
#            on { print } /^$/ || NR == 5 { on = 0 }' | scripts/terminal-svg.sh 'assay show int8'
#
#   terminal-svg.sh TITLE <TEXT >PICTURE.svg
#
# A still picture begins with the title as a command. A line that is a form feed and a number
# makes it a film: the screen is cleared, what follows appears, and stays for that many seconds
# before the next such line; a vertical tab instead of the form feed adds to the screen.
# Where a reader asked for less motion, the last screen stands still.
set -eu
awk -v title="$1" '
function escaped(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    return text
}
function visible(text) {
    gsub(/\033\[[0-9;]*m/, "", text)
    return length(text)
}
# A line as spans; the colour goes on to the next line, as in a terminal.
function spans(text,    out, cut, code) {
    out = ""
    while (match(text, /\033\[[0-9;]*m/)) {
        cut = substr(text, 1, RSTART - 1)
        if (cut != "") out = out (style == "" ? escaped(cut) : "<tspan class=\"" style "\">" escaped(cut) "</tspan>")
        code = substr(text, RSTART + 2, RLENGTH - 3)
        style = code in class ? class[code] : ""
        text = substr(text, RSTART + RLENGTH)
    }
    if (text != "") out = out (style == "" ? escaped(text) : "<tspan class=\"" style "\">" escaped(text) "</tspan>")
    return out
}
function add(text) {
    block[++lines] = blocks
    at[lines] = ++line
    if (line > deepest) deepest = line
    row[lines] = text
}
# When a part of a film is seen, in per cent of its length.
function keyframes(b,    from, to, out) {
    from = 100 * begin[b] / length_s
    to = 100 * gone[screen[b]] / length_s
    out = sprintf("@keyframes k%d{0%%{visibility:%s}", b, from > 0 ? "hidden" : "visible")
    if (from > 0) out = out sprintf("%.2f%%{visibility:visible}", from)
    if (to < 99.99) out = out sprintf("%.2f%%{visibility:hidden}", to)
    return out sprintf("}.k%d{visibility:%s;animation:k%d %gs step-end infinite}", b,
                       screen[b] == screens ? "visible" : "hidden", b, length_s)
}
BEGIN {
    class["1"] = "b"; class["2"] = "d"; class["31"] = "r"; class["32"] = "g"; class["33"] = "y"
}
/^[\f\v][0-9.]+$/ {
    if (/^\f/) { screens++; line = 0 }
    begin[++blocks] = length_s + 0
    screen[blocks] = screens
    length_s += substr($0, 2)
    gone[screens] = length_s
    next
}
NR == 1 { add("<tspan class=\"d\">$ </tspan>" escaped(title)) }
{
    add(spans($0))
    if (visible($0) > columns) columns = visible($0)
}
END {
    width = int(columns * 7.83 + 32)
    height = deepest * 17 + 26
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n", width, height, width, height
    print "<title>" escaped(title) ", in a terminal</title>"
    printf "<style>text{font:13px ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;white-space:pre;fill:#d7dae0}.b{font-weight:bold;fill:#fff}.d{fill:#9aa1ad}.g{fill:#7fd88f}.r{fill:#ff8a80}.y{fill:#f0c674}"
    for (b = 1; b <= blocks; b++) printf "%s", keyframes(b)
    if (blocks) printf "@media(prefers-reduced-motion:reduce){g{animation:none!important}}"
    print "</style>"
    printf "<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#1c1f26\"/>\n"
    for (i = 1; i <= lines; i++) {
        if (block[i] != block[i - 1] && block[i]) print (block[i - 1] ? "</g>" : "") "<g class=\"k" block[i] "\">"
        if (row[i] != "") printf "<text x=\"16\" y=\"%d\" xml:space=\"preserve\">%s</text>\n", at[i] * 17 + 8, row[i]
    }
    if (blocks) print "</g>"
    print "</svg>"
}'
