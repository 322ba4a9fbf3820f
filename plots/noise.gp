# noise.gp - how far unchanged code differs from itself, by how long it takes: the
# spread between pairs of launches, and the shift of a block's estimate.
#
# DATA has blocks, separated by two empty lines: settings (name, value); blocks of
# launches (time in ns, spread and shift in per cent, rounds, name); the pooled
# spread (time, per cent), two lines per decade.

data = ARG1; output = ARG2; columns = ARG3
load "style.gp"
set logscale xy
set format x "%.0s %cs"
set format y "%g %%"
set xlabel "time per launch"
set ylabel "difference of unchanged code (0.001 % stands for none)"
set key top right vertical Left reverse samplen 2
set offsets graph 0.04, graph 0.04, graph 0.2, graph 0
set yrange [0.0005:*]

plot data index 1 using ($1 * 1e-9):2 with points pointtype 7 pointsize 0.6 linecolor rgb "#0072B2" \
         title "spread between pairs of launches", \
     data index 1 using ($1 * 1e-9):3 with points pointtype 6 pointsize 0.7 linecolor rgb "#D55E00" \
         title "shift of a block's estimate", \
     data index 2 using ($1 * 1e-9):2 with lines linewidth 2 linecolor rgb ink \
         title "median spread of the decade"
