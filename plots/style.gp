# style.gp - what all plots share: settings, the terminal, the title, the palette.
#
# A script is run as
#
#   gnuplot -c KIND.gp DATA.tsv OUTPUT.svg|png|pdf
#
# and begins with
#
#   data = ARG1; output = ARG2; columns = ARG3
#   load "style.gp"
#
# (in that order: gnuplot forgets the arguments while it loads). `data` is the
# .tsv: its first block holds settings (name, value), read by find().

set encoding locale
reads_utf8 = GPVAL_ENCODING eq "utf8"
set encoding utf8
set datafile separator "\t"
set datafile missing NaN

if (GPVAL_VERSION < 5.4) { exit error "gnuplot 5.4 or newer is needed" }

array Setting[64]; array Value[64]
stats data index 0 using (Setting[int($0) + 1] = strcol(1), Value[int($0) + 1] = strcol(2), 1) nooutput
settings = STATS_records
find(name) = (found = "", sum [i = 1:settings] (Setting[i] eq name ? (found = Value[i], 0) : 0), found)
number(name) = (find(name), found eq "" ? 0 : found + 0)

title = find("title"); subtitle = find("subtitle"); note = find("note"); more = find("more")
wide = number("wide"); high = number("high")

# The palette reads on both backgrounds; greys are as far from one as from the other.
dark = find("theme") eq "dark"
paper = dark ? "#1c1c20" : "#ffffff"
ink = dark ? "#e8e8e8" : "#202020"; dim = dark ? "#acacac" : "#606060"; grey = dark ? "#808080" : "#a0a0a0"
pale = dark ? "#36363c" : "#e8e8e8"; band = dark ? "#58585e" : "#c8c8c8"; warn = dark ? "#F09050" : "#A04000"

# Every format has a background, so that a picture reads the same on any page, and text of 13
# pixels: of 1/96 inch in a PNG, of 1/100 inch in a PDF. No text is markup (noenhanced).
ending = output eq "-" ? "terminal" : output[strlen(output) - 2:]
has(terminal) = strstrt(" " . GPVAL_TERMINALS . " ", " " . terminal . " ") > 0
needed = ending eq "png" ? "pngcairo" : ending eq "pdf" ? "pdfcairo" : ending eq "svg" ? "svg" : "dumb"
if (!has(needed)) {
    exit error "this gnuplot cannot draw " . ending . " (it was built without " . needed . "); apt-get install gnuplot-nox"
}
text_only = ending eq "terminal"
if (ending eq "png") {
    set terminal pngcairo noenhanced size wide, high background paper font "sans,9.75"
}
if (ending eq "pdf") {
    set terminal pdfcairo noenhanced size wide / 100.0 in, high / 100.0 in background paper font "sans,9.36"
}
if (ending eq "svg") {
    set terminal svg noenhanced name find("kind") size wide, high background paper font "sans-serif,13"
}
if (text_only) {
    across = columns + 0 > 40 ? columns + 0 : 100
    if (has("block") && reads_utf8) {
        set terminal block braille noenhanced size across, number("lines") mono
    } else {
        set terminal dumb noenhanced mono size across, number("lines")
    }
} else {
    set output output
}

# Okabe and Ito's palette, which the colour-blind can tell apart (Color Universal
# Design, 2008), without its yellow, which is too light for a line on white; dash
# and point repeat the distinction for print without colour.
bright = 6
array Colour[6] = ["#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
array Point[6] = [7, 5, 9, 13, 11, 15]
array Hollow[6] = [6, 4, 8, 12, 10, 14]

# A long title would run out of the picture, so the name of its panel gets a separate line.
panel = strstrt(title, "  (")
if (strlen(title) > (text_only ? across - 10 : wide / 13) && panel > 0) {
    title = title[1:panel - 1] . "\n" . title[panel + 2:*]
}
heading = title . "\n" . subtitle . (note eq "" ? "" : "\n" . note) . (more eq "" ? "" : "\n" . more)
heads = 2 + (strstrt(title, "\n") > 0) + (note ne "") + (more ne "") # lines of it
top_of = text_only ? 1 - (heads + 2.0) / number("lines") : 1 - (24.0 + 18 * heads) / high
# A heading centred over the axes would run out of the picture beside a long key, so it is
# centred in the picture, and the title leaves its place free.
set label 9999 heading at screen 0.5, screen (text_only ? 1 - 1.5 / number("lines") : 1 - 22.0 / high) center front textcolor rgb ink
heading = ""
do for [i = 2:heads] { heading = heading . "\n" }
set title heading noenhanced textcolor rgb ink
set border 3 linecolor rgb dim
set tics out nomirror textcolor rgb ink
set xlabel textcolor rgb ink; set ylabel textcolor rgb ink offset character (text_only ? -3 : 0), 0
set key textcolor rgb ink
if (!text_only) { set grid xtics ytics linetype 1 linewidth 0.5 linecolor rgb pale }
set style fill solid 1.0 noborder

# Charts with a line of text for each row: names left of the frame, figures right
# of it, as labels, because a tic's text would be read as a format.
# In a terminal a name has a third of the line; in a picture what the figures and 250 pixels for
# the frame leave of it, at 7.5 pixels per character.
left_over = int((wide - 250) / 7.5 - number("right_chars"))
most = text_only ? across / 3 : left_over > 12 ? left_over : 12
cut(name) = strlen(name) > most ? name[1:most - 3] . "..." : name
left_of = (number("chars") < most ? number("chars") : most) + (text_only ? 3 : 2)
right_of = number("right_chars") + 3
# `eval chart` for one with a row per line of block 1, the first on top. In a terminal a row is a
# line, and an interval that the figures repeat would hide its bar: shown(x) leaves it out.
shown(x) = text_only ? NaN : x
in_lines = "set tmargin at screen top_of; set bmargin at screen top_of - (rows + 1.0) / (number('lines') - 1); set yrange [rows:-1]"
chart = "stats data index 1 using 3 nooutput; rows = STATS_records; set lmargin left_of; " \
    . "set yrange [rows - 0.4:-0.6]; unset ytics; unset key" . (text_only ? "; " . in_lines : "")

# Tics of a logarithmic axis of ratios that spans so many times:
#   set xtics (""  1); do for [t in ladder(span)] { set xtics add (t . "x" t + 0) }
ladder(span) = span > 30 ? "0.001 0.01 0.1 1 10 100 1000" \
    : span > 5 ? "0.02 0.05 0.1 0.2 0.5 1 2 5 10 20 50" \
    : span > 1.7 ? "0.2 0.3 0.4 0.5 0.6 0.8 1 1.25 1.5 2 2.5 3 4 5" \
    : span > 1.35 ? "0.6 0.7 0.8 0.9 1 1.1 1.2 1.3 1.4 1.5 1.6" \
    : span > 1.12 ? "0.75 0.8 0.85 0.9 0.95 1 1.05 1.1 1.15 1.2 1.25 1.3" \
    : "0.84 0.88 0.92 0.94 0.96 0.98 1 1.02 1.04 1.06 1.08 1.12 1.16"
