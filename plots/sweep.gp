# sweep.gp - throughput or time against size: one curve per variant, the device's
# ceilings and memories as lines.
#
# DATA has blocks, separated by two empty lines: settings (name, value), curves
# (name, kind), lines (v or h, position, label), then one block per curve: size
# (bytes, or a dim), value, its low and high end, time in ns, its low and high end.

data = ARG1; output = ARG2; columns = ARG3; frames = ARG4
load "style.gp"
array Curve[64]; array Kind[64]
array Way[40]; array At[40]; array Label[40]
stats data index 1 using (Curve[int($0) + 1] = strcol(1), Kind[int($0) + 1] = strcol(2), 1) nooutput
curves = STATS_records
stats data index 2 using (Way[int($0) + 1] = strcol(1), At[int($0) + 1] = $2, \
                          Label[int($0) + 1] = strcol(3), 1) nooutput
lines = STATS_records
left = number("left"); right = number("right")

# The best variants have colours, the others are grey; baselines and bounds are black and dashed.
rank = 0; base = 0
array Crosses[5] = [2, 4, 1, 3, 8]
array Paint[64]; array Width[64]; array Dash[64]; array Mark[64]
do for [i = 1:curves] {
    if (Kind[i] eq "baseline" || Kind[i] eq "bound") {
        base = base + 1
        Paint[i] = ink; Width[i] = 2; Dash[i] = base % 4 + 1; Mark[i] = Crosses[(base - 1) % 5 + 1]
    } else {
        rank = rank + 1
        k = (rank - 1) % bright + 1
        Paint[i] = rank > bright ? grey : Colour[k]
        Mark[i] = rank > bright ? Hollow[k] : Point[k]
        Width[i] = rank > bright ? 1 : 2; Dash[i] = 1
    }
}

set key outside right top vertical Left reverse samplen 2 spacing 1.15
set xlabel find("xlabel")
set ylabel find("ylabel")
if (number("by_bytes")) {
    # gnuplot's own prefix of 1024 is a small k.
    set logscale x 2
    array Unit[6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    first = int(ceil(log(left) / log(2))); last = int(floor(log(right) / log(2)))
    set xtics ()
    do for [e = (first < 0 ? 0 : first):(last > 59 ? 59 : last):(last - first) / (text_only ? 6 : 12) + 1] {
        set xtics add (sprintf("%d %s", 2**(e % 10), Unit[e / 10 + 1]) 2**e)
    }
} else {
    set logscale x right / left < 2000 ? 2 : 10
    set format x right < 1e5 ? "%g" : "%.0s%c"
}
set xrange [left:right]
logarithmic = int(number("logarithmic"))
low = number("low"); high_end = number("top")
if (logarithmic) {
    set logscale y
    set yrange [low / 1.3:high_end * 1.3]
    if (high_end / low < 200) { # decades alone would leave too few tics
        set ytics ()
        do for [t in "0.001 0.002 0.005 0.01 0.02 0.05 0.1 0.2 0.5 1 2 5 10 20 50 100 200 500 1000 2000 5000"] {
            if (t > low / 1.3 && t < high_end * 1.3) { set ytics add (t t + 0) }
        }
    }
} else {
    set yrange [0:high_end * 1.05]
}

do for [i = 1:lines] {
    if (Way[i] eq "v" && At[i] > left && At[i] < right) {
        set arrow from At[i], graph 0 to At[i], graph 1 nohead linewidth 1 dashtype 3 linecolor rgb grey
        set label Label[i] at At[i], graph 0.02 rotate by 90 left offset character -1.1, 0 \
            front textcolor rgb dim
    }
}

# Drawn from the last to the first, so that the best lie on top and the baseline
# over them; the key has them in order.
plot for [i = 1:lines] (Way[i] eq "h" ? At[i] : NaN) with lines linewidth 1.5 dashtype i % 4 + 2 \
         linecolor rgb dim title (Way[i] eq "h" ? Label[i] : ""), \
     for [i = curves:1:-1] data index i + 2 using 1:2:3:4 with yerrorbars pointtype 0 \
         linewidth 1 linecolor rgb Paint[i] notitle, \
     for [i = curves:1:-1] data index i + 2 using 1:2 with linespoints linewidth Width[i] \
         dashtype Dash[i] pointtype Mark[i] pointsize 0.8 linecolor rgb Paint[i] notitle, \
     for [i = 1:curves] keyentry with linespoints linewidth Width[i] dashtype Dash[i] \
         pointtype Mark[i] pointsize 0.8 linecolor rgb Paint[i] \
         title Curve[i] . (Dash[i] > 1 ? " (" . Kind[i] . ")" : "")
eval frame(0, 1, logarithmic)
