# forest.gp - what changed between two runs: one row per case, with its ratio of times
# and the interval, over the floor (pale) and the noise (darker) within which it
# counts as unchanged, coloured by verdict.
#
# DATA has blocks, separated by two empty lines: settings (name, value), then rows
# (name, verdict, ratio, its low and high end, floor and noise as fractions,
# figures as text), worst first.

data = ARG1; output = ARG2; columns = ARG3
load "style.gp"
eval chart

# Colour says which way a case went and how sure that is: vermillion slower, blue faster,
# pale where the gate is not sure; grey is unchanged, black has no verdict. The verdict is
# printed at the end of each row, so that colour is not needed.
sure(v) = v eq "REGRESSED" || v eq "IMPROVED"
open(v) = v eq "SUSPECT" || v eq "UNSTABLE"
paint(v, ratio) = sure(v) ? (ratio > 1 ? 0xD55E00 : 0x0072B2) : open(v) ? (ratio > 1 ? 0xE8A87C : 0x7FB8D8) \
    : v eq "ERROR" || v eq "MISSING" ? ("0x" . ink[2:7]) + 0 : 0x808080

set rmargin right_of
set logscale x
left = number("left"); right = number("right")
set xrange [left:right]
set xlabel "time against the base (log scale); right of the line is slower (vermillion), left faster (blue), pale where not sure.\nBands: pale, smaller than what counts; darker, the noise of unchanged code"
set xtics ()
do for [t in ladder(right / left)] { set xtics add (sprintf(t == 1 ? "%g %%%%" : "%+.3g %%%%", 100 * (t - 1)) t + 0) }
set arrow from 1, graph 0 to 1, graph 1 nohead linewidth 1 linecolor rgb ink front
end(x) = x < left ? left : x > right ? right : x

plot data index 1 using (1):0:(end(1 / (1 + $6))):(end(1 + $6)):($0 - 0.5):($0 + 0.5) \
         with boxxyerror linecolor rgb pale, \
     data index 1 using (1):0:(end(1 / (1 + $7))):(end(1 + $7)):($0 - 0.5):($0 + 0.5) \
         with boxxyerror linecolor rgb band, \
     data index 1 using 3:0:(end($4)):(end($5)):(paint(strcol(2), $3)) with xerrorbars pointtype 7 \
         pointsize 0.7 linewidth 2 linecolor rgb variable, \
     data index 1 using (left):0:(cut(strcol(1))) with labels right offset character -1, 0 textcolor rgb ink, \
     data index 1 using (right):0:8 with labels left offset character (text_only ? 2 : 1), 0 textcolor rgb ink
