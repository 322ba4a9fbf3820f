# speedup.gp - how many times as fast as the baseline or bound: one bar per case, or per variant.
#
# DATA has blocks, separated by two empty lines: settings (name, value), then bars
# (name, kind, ratio, its low and high end, figures as text, cases), one row per bar.

data = ARG1; output = ARG2; columns = ARG3
load "style.gp"
eval chart

# Slower is vermillion, faster blue, pale where the interval has both; other
# baselines and bounds are grey.
both(lo, hi) = !number("together") && lo < 1 && hi > 1
paint(kind, ratio, lo, hi) = kind eq "baseline" || kind eq "bound" ? 0x999999 \
    : both(lo, hi) ? (ratio < 1 ? 0xF2BF99 : 0x99C7E0) : ratio < 1 ? 0xD55E00 : 0x0072B2

set rmargin right_of
set xlabel "times as fast as what the title names (log scale); right of the line is faster.\n" \
    . (number("together") ? "Grey: other baselines and bounds" : "Pale: the interval holds 1x; grey: other baselines and bounds")
set logscale x
left = number("left"); right = number("right")
set xrange [left:right]
set xtics (); do for [t in ladder(right / left)] { set xtics add (t . "x" t + 0) }
set arrow from 1, graph 0 to 1, graph 1 nohead linewidth 1.5 linecolor rgb ink front

plot data index 1 using (sqrt($3)):0:(1):3:($0 - 0.36):($0 + 0.36):(paint(strcol(2), $3, $4, $5)) \
         with boxxyerror linecolor rgb variable, \
     data index 1 using (shown($3)):0:4:5 with xerrorbars pointtype 0 linewidth 1.5 linecolor rgb ink, \
     data index 1 using (left):0:(cut(strcol(1))) with labels right offset character -1, 0 textcolor rgb ink, \
     data index 1 using (right):0:6 with labels left offset character (text_only ? 2 : 1), 0 textcolor rgb ink
