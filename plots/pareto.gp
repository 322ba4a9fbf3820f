# pareto.gp - quality against time: one point per case, and the line of those that
# no other beats in both.
#
# DATA has blocks, separated by two empty lines: settings (name, value); variants;
# cases (variant from 1, time, metric, 1 on the front, its number there or 0, the
# label beside it or -, name), by time.

data = ARG1; output = ARG2; columns = ARG3
load "style.gp"
array Variant[32]; array Name[16]
stats data index 1 using (Variant[int($0) + 1] = strcol(1), 1) nooutput
variants = STATS_records
named = 0
stats data index 2 using (n = int($5), n > 0 ? (Name[n] = strcol(7), named = n) : 0, 1) nooutput

paint(v) = v > bright ? grey : Colour[v]
mark(v) = v > bright ? Hollow[(v - 1) % bright + 1] : Point[v]
if (!text_only) { most = int((wide - 420) / 8.0) }
widest = number("right_chars") < most ? number("right_chars") : most
last = 1 - (text_only ? (widest + 8) / (1.0 * across) : (widest * 8.0 + 70) / wide)
set rmargin at screen last
set key at screen 0.99, screen top_of right top vertical Left reverse samplen 1.5 spacing 1.1
set logscale x
set format x "%g"
if (number("logarithmic")) { set logscale y }
if (!number("logarithmic") && !number("more_is_better")) { set yrange [0:*] }
set format y "%g"
set xlabel "time (" . find("unit") . "); left is faster"
set ylabel find("metric") . (number("more_is_better") ? " (higher is better)" : " (lower is better)")
set offsets graph 0.04, graph 0.04, graph 0.06, graph 0.04

# No case is beyond the front, so the labels are there.
beyond = number("more_is_better") ? 0.6 : -0.6
plot data index 2 using ($4 == 1 ? $2 : 1/0):3 with steps linewidth 1 linecolor rgb dim title "front", \
     for [v = 1:variants] data index 2 using 2:($1 == v ? $3 : NaN) with points pointtype mark(v) \
         pointsize 0.8 linecolor rgb paint(v) title Variant[v], \
     data index 2 using 2:(strcol(6) eq "-" ? NaN : $3):6 with labels right offset character -0.6, beyond \
         textcolor rgb ink notitle, \
     for [n = 1:named] keyentry with points pointtype 0 linecolor rgb paper title sprintf("%d  %s", n, cut(Name[n]))
