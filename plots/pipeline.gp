# pipeline.gp - the stages of a batch, end to end, and below them the time that the
# batch took: where that is shorter, stages ran side by side. The tick is the
# longest stage: no overlap gets below it.
#
#   gnuplot -c pipeline.gp DATA.tsv OUTPUT.svg|png|pdf
#
# DATA has blocks, parted by two empty lines: settings (name, value), then batches
# (name; time of allocation, copy in, computing, copy out; time of the batch; the
# longest stage; figures as text).

data = ARG1; output = ARG2; columns = ARG3
load "style.gp"
stats data index 1 using 6 nooutput
batches = STATS_records

array Stage[4] = ["allocation", "copy to the device", "compute", "copy back"]
array Ink[4] = ["#999999", "#0072B2", "#E69F00", "#009E73"]
from(s) = s == 1 ? 0 : s == 2 ? $2 : s == 3 ? $2 + $3 : $2 + $3 + $4

set lmargin left_of
set rmargin right_of
set xlabel "time (" . find("unit") . "); tick: the longest stage"
set xrange [0:number("top")]
set yrange [batches - 0.4:-0.6]
unset ytics
set bmargin (text_only ? 6 : 7.5)
set key at screen 0.5, screen 0.02 center bottom horizontal maxcols 5 samplen 1.5

plot for [s = 1:4] data index 1 using (from(s)):0:(from(s)):(from(s) + column(s + 1)):($0 - 0.36):($0 + 0.08) \
         with boxxyerror linecolor rgb Ink[s] title Stage[s], \
     data index 1 using 6:0:(0):6:($0 + 0.1):($0 + 0.32) with boxxyerror linecolor rgb "#000000" title "the batch", \
     data index 1 using 7:($0 + 0.04):(0):(0.34) with vectors nohead linewidth 2 linecolor rgb "#D55E00" notitle, \
     data index 1 using (0):0:(cut(strcol(1))) with labels right offset character -1, 0 textcolor rgb ink notitle, \
     data index 1 using (number("top")):0:8 with labels left offset character 1, 0 textcolor rgb ink notitle
