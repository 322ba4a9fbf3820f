# pipeline.gp - the stages of batches. With spans: when each ran, one line per stream, so
# that overlap is seen. Without: their sums end to end, and below them the time that a
# launch took; the tick is the longest stage, below which no overlap can get.
#
# DATA has blocks, separated by two empty lines: settings (name, value); cases (name; first
# line; the longest stage, missing with spans; figures as text); boxes (stage; from, to;
# top and bottom in lines).

data = ARG1; output = ARG2; columns = ARG3
load "style.gp"
spans = number("spans")
array Stage[5] = ["allocation", "copy in", "compute", "copy out", "the launch"]
array Ink[5] = ["#999999", "#0072B2", "#E69F00", "#009E73", ink]
shown(s) = spans && (s == 1 || s == 5) ? "" : Stage[s]

set lmargin left_of
set rmargin right_of
set xlabel spans ? "time from " . (number("cut") ? "that batch" : "the launch's begin") . " on (" . find("unit") . "); a line is a stream" \
                 : "time (" . find("unit") . "); tick: the longest stage"
set xrange [0:number("top")]
set yrange [number("lines_drawn") - 0.4:-0.6]
unset ytics
set bmargin (text_only ? 6 : 7.5)
set key at screen 0.5, screen 0.02 center bottom horizontal maxcols 5 samplen 1.5
if (spans) { set style fill solid 1.0 border rgb paper }

plot for [s = 1:5] data index 2 using ($1 == s - 1 ? $2 : NaN):4:2:3:4:5 \
         with boxxyerror linewidth 0.3 linecolor rgb Ink[s] title shown(s), \
     data index 1 using 3:($2 + 0.04):(0):(0.34) with vectors nohead linewidth 2 linecolor rgb "#D55E00" notitle, \
     data index 1 using (0):($2 - 0.5):(number("top")):(0) with vectors nohead linewidth 0.6 linecolor rgb grey notitle, \
     data index 1 using (0):2:(cut(strcol(1))) with labels right offset character -1, 0 textcolor rgb ink notitle, \
     data index 1 using (number("top")):2:4 with labels left offset character 1, 0 textcolor rgb ink notitle
