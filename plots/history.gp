# history.gp - cases over runs, one panel per case: the time of every run, the level it
# belongs to, changes of level and borders (another device, driver, clock).
#
# DATA has blocks, separated by two empty lines: settings (name, value); runs (place,
# day, commit or else id); then three blocks per panel: its name and unit; changes (1
# when a border, place, label; the first line is none); its runs (place, time, level).

data = ARG1; output = ARG2; columns = ARG3
load "style.gp"
panels = number("panels"); runs = int(number("runs"))
foot = text_only ? 6.0 / number("lines") : 94.0 / high
gap = panels == 1 ? 16.0 / high : text_only ? 2.0 / number("lines") : 26.0 / high
each = (top_of - foot - gap / 2) / panels
way(i) = Border[i] > 0 ? 3 : 1

# As many runs are named as there is space for.
most_named = int(text_only ? (across - 20) / 12 : (wide - 130) / 85)
apart = (runs - 1) / most_named + 1
array Run[runs]
stats data index 1 using (Run[int($0) + 1] = strcol(2) . "\n" . substr(strcol(3), 1, 8), 1) nooutput
nice(x) = (d = 10 ** floor(log10(x)), x <= d ? d : x <= 2 * d ? 2 * d : x <= 5 * d ? 5 * d : 10 * d)

set lmargin text_only ? 17 : 13
set rmargin 4
unset key
set multiplot
do for [p = 1:panels] {
    set autoscale xy # or stats would leave out what the last panel's axes do
    stats data index 3 * p - 1 using (name = strcol(1), unit = strcol(2), 1) nooutput
    array Border[100]; array At[100]; array Label[100]
    stats data index 3 * p every ::0::98 using (Border[int($0) + 1] = $1, At[int($0) + 1] = $2, \
                                      Label[int($0) + 1] = strcol(3), 1) nooutput
    changes = STATS_records
    set tmargin at screen foot + (panels - p + 1) * each - gap
    set bmargin at screen foot + (panels - p) * each
    # Changes below one per cent stay small to the eye.
    stats data index 3 * p + 1 using 2 nooutput
    low = STATS_min; span = STATS_max - STATS_min
    if (span < 0.02 * STATS_max) { low = low - (0.02 * STATS_max - span) / 2; span = 0.02 * STATS_max }
    set xrange [-0.5:runs - 0.5]
    set yrange [low - 0.12 * span:low + (panels == 1 ? 1.12 : 1.35) * span]
    if (p == panels) { set xlabel "runs, oldest first: day, and commit or else id" offset 0, -1 } else { unset xlabel }
    set xtics ()
    do for [i = 1:runs:apart] { set xtics add ((p == panels ? Run[i] : "") i - 1) }
    set ytics nice(span / 4)
    set ylabel "time (" . unit . ")"
    set label 1000 name at graph 0, graph 1.0 left offset character (text_only ? 2 : 0.5), character 0.7 textcolor rgb ink
    # A label goes into the first of three lines in which no other is too near.
    array Taken[3] = [-1e9, -1e9, -1e9]
    do for [i = 2:changes] {
        set arrow i from At[i], graph 0 to At[i], graph 1 nohead linewidth 1.3 \
            dashtype way(i) linecolor rgb (Border[i] > 0 ? grey : "#D55E00")
        wide_in_runs = (strlen(Label[i]) + 2.0) * runs / (text_only ? across - 16 : (wide - 150) / 8.0)
        leftwards = At[i] + wide_in_runs > runs - 0.5
        begin = leftwards ? At[i] - wide_in_runs : At[i]
        row = begin > Taken[1] ? 0 : begin > Taken[2] ? 1 : begin > Taken[3] ? 2 : 3
        if (row < 3) {
            Taken[row + 1] = begin + wide_in_runs
            set label i Label[i] at At[i], graph (0.94 - 0.12 * row) offset character (leftwards ? -0.7 : 0.7), 0 \
                front textcolor rgb (Border[i] > 0 ? dim : warn)
            if (leftwards) { set label i right } else { set label i left }
        }
    }
    plot data index 3 * p + 1 using 1:2 with points pointtype 7 pointsize (runs > 300 ? 0.35 : runs > 60 ? 0.6 : 0.9) linecolor rgb "#56B4E9", \
         data index 3 * p + 1 using ($1 - 0.5):3:(1):(0) with vectors nohead linewidth 2 linecolor rgb "#0072B2"
    unset title; unset label; unset arrow
}
unset multiplot
