# bars.gp - time at one size: a bar a variant, fastest on top, with its interval.
#
#   gnuplot -c bars.gp DATA.tsv OUTPUT.svg|png|pdf
#
# DATA has blocks, parted by two empty lines: settings (name, value), then bars
# (name, kind, time, its low and high end, label), fastest first.

set datafile separator "\t"
array Name[64]; array Value[64]
stats ARG1 index 0 using (Name[int($0) + 1] = strcol(1), Value[int($0) + 1] = strcol(2), 1) nooutput
settings = STATS_records
stats ARG1 index 1 using 3 nooutput
bars = STATS_records

do for [i = 1:settings] {
    if (Name[i] eq "title") { title = Value[i] }
    if (Name[i] eq "subtitle") { subtitle = Value[i] }
    if (Name[i] eq "unit") { unit = Value[i] }
    if (Name[i] eq "top") { top = Value[i] + 0 }
}

# A white card in every format: the colours are chosen against white.
high = 140 + 30 * bars
ending = ARG2[strlen(ARG2) - 2:]
if (ending eq "png") {
    set terminal pngcairo noenhanced size 1000, high background "#ffffff" font "sans,11"
} else { if (ending eq "pdf") {
    set terminal pdfcairo noenhanced size 10in, high / 100.0 in background "#ffffff" font "sans,11"
} else {
    set terminal svg noenhanced size 1000, high background "#ffffff" font "sans-serif,13"
}}
set output ARG2

# Okabe and Ito's palette (Color Universal Design, 2008).
paint(kind) = kind eq "baseline" ? 0x999999 : kind eq "reference" ? 0xD0D0D0 : 0x56B4E9

# A long title would run out of the picture: its panel goes on a line of its own.
panel = strstrt(title, "  (")
if (strlen(title) > 80 && panel > 0) { title = title[1:panel-1] . "\n" . title[panel+2:*] }
set title title . "\n" . subtitle noenhanced
set border 3 linecolor "#606060"
set tics out nomirror textcolor "#202020"
set grid xtics linetype 1 linewidth 0.5 linecolor "#e8e8e8"
set xlabel "time (" . unit . "), with its interval; baselines are grey" noenhanced
set xrange [0:top]
set yrange [bars - 0.4:-0.6]
set style fill solid 1.0 noborder
unset key

plot ARG1 index 1 using (0.5 * $3):0:(0):3:($0 - 0.36):($0 + 0.36):(paint(strcol(2))):ytic(1) \
         with boxxyerror linecolor rgb variable, \
     ARG1 index 1 using 3:0:4:5 with xerrorbars pointtype 0 linewidth 1.5 linecolor rgb "#202020", \
     ARG1 index 1 using 5:0:6 with labels left offset character 1, 0 textcolor rgb "#202020" noenhanced
