# sweep.gp - throughput or time against size: one curve per variant, the device's
# ceilings and memories as lines.
#
# DATA has blocks, separated by two empty lines: settings (name, value), curves
# (name, kind), lines (v or h, position, label), then one block per curve: size
# (bytes, or a dim), value, its low and high end, time in ns, its low and high end.

data = ARG1; output = ARG2; columns = ARG3
load "style.gp"
array Curve[64]; array Kind[64]
array Way[40]; array At[40]; array Label[40]
stats data index 1 using (Curve[int($0) + 1] = strcol(1), Kind[int($0) + 1] = strcol(2), 1) nooutput
curves = STATS_records
stats data index 2 using (Way[int($0) + 1] = strcol(1), At[int($0) + 1] = $2, \
                          Label[int($0) + 1] = strcol(3), 1) nooutput
lines = STATS_records
left = number("left"); right = number("right")

# The best variants have colours, the others are grey; baselines and bounds are black, then grey,
# each with a dash and a cross of its own.
rank = 0; base = 0
array Crosses[5] = [2, 4, 1, 3, 8]
array Paint[64]; array Width[64]; array Dash[64]; array Mark[64]
do for [i = 1:curves] {
    if (Kind[i] eq "baseline" || Kind[i] eq "bound") {
        base = base + 1
        Paint[i] = base % 2 ? ink : dim; Width[i] = 2
        Dash[i] = (base - 1) % 4 + 2; Mark[i] = Crosses[(base - 1) % 5 + 1]
    } else {
        rank = rank + 1
        k = (rank - 1) % bright + 1
        Paint[i] = rank > bright ? grey : Colour[k]
        Mark[i] = rank > bright ? Hollow[k] : Point[k]
        Width[i] = rank > bright ? 1 : 2; Dash[i] = 1
    }
}

set key outside right top vertical Left reverse samplen 3.5 spacing 1.15
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
    if (high_end / low < 200) { # decades alone would leave too few tics, and two look linear
        set ytics ()
        steps = high_end / low < 20 ? "1 1.5 2 3 4 5 7" : "1 2 5"
        do for [e = -3:3] { do for [s in steps] {
            t = s * 10.0**e
            if (t > low / 1.3 && t < high_end * 1.3) { set ytics add (sprintf("%g", t) t) }
        } }
    }
} else {
    set yrange [0:high_end * 1.05]
}

# Labels stand where no curve is: those of memories above the frame, the first left of its line
# where it has the space, else the next is a row higher; those of ceilings over their lines at the
# left, side by side, as curves rise to the right.
part(x) = log(x / left) / log(right / left)
above = 0; beside = 0; up = 0; raised = 0
do for [i = 1:lines] {
    if (Way[i] eq "v" && At[i] > left && At[i] < right) {
        leftwards = part(At[i]) > (above == 0 ? 0.25 : 0.75)
        set arrow from At[i], graph 0 to At[i], graph 1 nohead linewidth 1 dashtype 3 linecolor rgb grey
        set label i Label[i] at At[i], graph 1 offset 0, character 0.7 + up front textcolor rgb dim
        if (leftwards) { set label i right } else { set label i left }
        above = above + 1
        if (up) { raised = 1 }
        up = !leftwards && up == 0
    }
    if (Way[i] eq "h") {
        set label i Label[i] at graph 0.02 + 0.3 * (beside % 3), first At[i] left offset 0, character 0.7 front textcolor rgb dim
        beside = beside + 1
    }
}
rows = above > 0 ? 1 + raised : 0
set tmargin at screen top_of - rows * (text_only ? 1.0 / number("lines") : 18.0 / high)
set bmargin at screen (text_only ? 5.0 / number("lines") : 76.0 / high)

# Drawn from the last to the first, so that the best lie on top and the baseline
# over them; the key has them in order. Lines of characters would hide each other.
joined = text_only ? "points" : "linespoints"
plot for [i = 1:lines] (Way[i] eq "h" ? At[i] : NaN) with lines linewidth 1.2 linecolor rgb dim notitle, \
     for [i = curves:1:-1] data index i + 2 using 1:2:3:(text_only ? $3 : $4) with yerrorbars pointtype 0 \
         linewidth 1 linecolor rgb Paint[i] notitle, \
     for [i = curves:1:-1] data index i + 2 using 1:2 with @joined linewidth Width[i] \
         dashtype Dash[i] pointtype Mark[i] pointsize 0.8 linecolor rgb Paint[i] notitle, \
     for [i = 1:curves] keyentry with @joined linewidth Width[i] dashtype Dash[i] \
         pointtype Mark[i] pointsize 0.8 linecolor rgb Paint[i] \
         title Curve[i] . (Dash[i] > 1 ? " (" . Kind[i] . ")" : "")
