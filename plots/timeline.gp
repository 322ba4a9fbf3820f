# timeline.gp - samples in the order taken, each over the median of its case, above
# the device's clock, temperature and power.
#
# DATA has blocks, separated by two empty lines: settings (name, value); stretches of
# one operation (from, to, name); samples or bins of them (place, ratio, 5 % and
# 95 % quantile, how many were marked); cases (from, to, SM clock in MHz, temperature
# in degrees Celsius, power in W). Places are rounds, counted through the run.

data = ARG1; output = ARG2; columns = ARG3
load "style.gp"
array From[400]; array To[400]; array Name[400]
stats data index 1 using (From[int($0) + 1] = $1, To[int($0) + 1] = $2, \
                          Name[int($0) + 1] = strcol(3), 1) nooutput
stretches = STATS_records
array Has[3] = [number("clocks"), number("temperatures"), number("powers")]
array Low[3]; array High[3]
array Least[3] = [20, 10, 20] # that an axis spans, lest a step of the sensor fill it
do for [k = 1:3] {
    if (Has[k] > 0) {
        stats data index 3 using (column(k + 2)) nooutput
        Low[k] = STATS_min; High[k] = STATS_max
    }
}

right = number("right"); binned = number("binned")
below = (number("clocks") > 0) + (number("temperatures") > 0) + (number("powers") > 0)
foot = text_only ? 4.0 / number("lines") : 76.0 / high
each = below ? (text_only ? 8.0 / number("lines") : 130.0 / high) : 0
gap = text_only ? 0.03 : 18.0 / high

set lmargin text_only ? 17 : 11
set rmargin 3
set xrange [0:right]
unset key
set multiplot

# An operation's name is drawn on a card where there is space for it.
set style textbox opaque fillcolor rgb paper noborder margins 0.4, 0.2
boxed = text_only ? "" : "boxed"
room(i) = 1.0 * (To[i] - From[i]) / right * (text_only ? across - 15 : wide - 130) > (text_only ? 1 : 8) * strlen(Name[i])
do for [i = 1:stretches] {
    if (i > 1 && !text_only) { set arrow from From[i], graph 0 to From[i], graph 1 nohead linewidth 0.8 dashtype 3 linecolor rgb grey }
    if (room(i)) { set label i Name[i] at (From[i] + To[i]) / 2, graph 0.96 center front @boxed textcolor rgb dim }
}
set tmargin at screen top_of
set bmargin at screen foot + below * each + (below ? gap : 0)
set ylabel "time / median of its case"
set yrange [number("low"):number("top")]
if (below) { set format x "" } else { set xlabel "rounds of measuring, through the run" }
if (binned) {
    plot data index 2 using 1:3:4 with filledcurves fillcolor rgb "#a9d3ea", \
         data index 2 using 1:2 with lines linewidth 1.3 linecolor rgb "#0072B2", \
         data index 2 using 1:($5 > 0 ? $4 : NaN) with points pointtype 2 pointsize 0.5 linecolor rgb "#D55E00"
} else {
    plot data index 2 using 1:($5 > 0 ? NaN : $2) with points pointtype 7 pointsize 0.35 linecolor rgb "#0072B2", \
         data index 2 using 1:($5 > 0 ? $2 : NaN) with points pointtype 2 pointsize 0.6 linecolor rgb "#D55E00"
}
do for [i = 1:stretches] { unset label i }
unset title; unset label 9999
drawn = 0
array What[3] = ["SM MHz", "deg C", "W"]
array Ink[3] = ["#009E73", "#E69F00", ink]
do for [k = 1:3] {
    if (Has[k] > 0) {
        drawn = drawn + 1
        set tmargin at screen foot + (below - drawn + 1) * each
        set bmargin at screen foot + (below - drawn) * each + (drawn < below ? gap : 0)
        span = High[k] - Low[k]
        room = span < Least[k] ? (Least[k] - span) / 2.0 : 0.15 * span
        set yrange [Low[k] - room:High[k] + room]
        set ylabel What[k]
        set ytics autofreq
        set format y "%g"
        if (drawn == below) {
            set format x "%g"
            set xlabel "rounds of measuring, through the run"
        }
        plot data index 3 using 1:(column(k + 2)):($2 - $1):(0) with vectors nohead linewidth 2.5 linecolor rgb Ink[k]
    }
}
unset multiplot
