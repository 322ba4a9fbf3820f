#!/bin/sh
# Turn what a program wrote to a terminal (text with colours, on standard input) into a
# picture of it (SVG, on standard output): the README's is
#
#   script -qc 'assay show int8 --db h200.sqlite' /dev/null | tr -d '\r' |
#       awk 'NR <= 5 || /n=50000000 input=fp32 scale=odd cold/ { on = 1 }
#            on { print } /^$/ || NR == 5 { on = 0 }' | scripts/terminal-svg.sh 'assay show int8'
#
#   terminal-svg.sh COMMAND <TEXT >PICTURE.svg
set -eu
awk -v command="$1" '
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
BEGIN {
    class["1"] = "b"; class["2"] = "d"; class["31"] = "r"; class["32"] = "g"; class["33"] = "y"
    lines = 1
    row[1] = "<tspan class=\"d\">$ </tspan>" escaped(command)
}
{
    row[++lines] = spans($0)
    if (visible($0) > columns) columns = visible($0)
}
END {
    width = int(columns * 7.83 + 32)
    height = lines * 17 + 26
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n", width, height, width, height
    print "<title>" escaped(command) ", in a terminal</title>"
    print "<style>text{font:13px ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;white-space:pre;fill:#d7dae0}.b{font-weight:bold;fill:#fff}.d{fill:#9aa1ad}.g{fill:#7fd88f}.r{fill:#ff8a80}.y{fill:#f0c674}</style>"
    printf "<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#1c1f26\"/>\n"
    for (i = 1; i <= lines; i++)
        if (row[i] != "") printf "<text x=\"16\" y=\"%d\" xml:space=\"preserve\">%s</text>\n", i * 17 + 8, row[i]
    print "</svg>"
}'
