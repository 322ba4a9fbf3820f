# bars.gp - time at one size: a bar a variant, fastest on top, with its interval.
#
#   gnuplot -c bars.gp DATA.tsv OUTPUT.svg|png|pdf
#
# DATA has blocks, parted by two empty lines: settings (name, value), then bars
# (name, kind, time, its low and high end, label), fastest first.

data = ARG1; output = ARG2; columns = ARG3; frames = ARG4
load "style.gp"
stats data index 1 using 3 nooutput
bars = STATS_records

paint(kind) = kind eq "baseline" ? 0x999999 : kind eq "reference" ? 0xD0D0D0 : 0x56B4E9

set lmargin left_of
set xlabel "time (" . find("unit") . "), with its interval; baselines are grey"
set xrange [0:number("top")]
set yrange [bars - 0.4:-0.6]
unset ytics
unset key

plot data index 1 using (0.5 * $3):0:(0):3:($0 - 0.36):($0 + 0.36):(paint(strcol(2))) \
         with boxxyerror linecolor rgb variable, \
     data index 1 using 3:0:4:5 with xerrorbars pointtype 0 linewidth 1.5 linecolor rgb ink, \
     data index 1 using (0):0:(cut(strcol(1))) with labels right offset character -1, 0 textcolor rgb ink, \
     data index 1 using 5:0:6 with labels left offset character 1, 0 textcolor rgb ink
eval frame(0, 0, 0)
