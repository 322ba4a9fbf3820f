# roofline.gp - cases under the measured ceilings: operations per second against
# operations per byte. Cases that only move bytes have a separate panel.
#
# DATA has blocks, separated by two empty lines: settings (name, value); operations
# (name, cases); ceilings (h of operations, d of bytes, m of bytes in the second
# panel only; rate; label, or - under the label of a line close above); cases
# (operation from 1, 1 when it only moves bytes, 1 when no kernel of the project,
# operations per byte or else bytes, rate, size from 0 to 1, name); arrows (panel,
# from x, y, to x, y).

data = ARG1; output = ARG2; columns = ARG3
load "style.gp"
array Family[8]; array Cases[8]
array Style[40]; array Rate[40]; array Label[40]
stats data index 1 using (Family[int($0) + 1] = strcol(1), Cases[int($0) + 1] = $2, 1) nooutput
families = STATS_records
stats data index 2 using (Style[int($0) + 1] = strcol(1), Rate[int($0) + 1] = $2, \
                          Label[int($0) + 1] = strcol(3), 1) nooutput
lines = STATS_records
rows = number("rows"); moving = number("moving")
both = rows > 0 && moving > 0

# Seven operations have a colour and a shape each, the others share a grey one.
array Hue[8] = ["#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", ink, grey]
array Full[8] = [7, 5, 9, 13, 11, 15, 7, 5]
array Open[8] = [6, 4, 8, 12, 10, 14, 6, 4]
mark(f, base) = base ? Open[f] : Full[f]
hue(f) = ("0x" . substr(Hue[f], 2, 7)) + 0
thick(size) = 0.55 + 1.1 * size
bytes(i) = Style[i] eq "d" || Style[i] eq "m"
roof = 0
do for [i = 1:lines] { if (Style[i] eq "h" && Rate[i] > roof) { roof = Rate[i] } }
peak = roof > 0 ? roof : 1e300
slope = 0
do for [i = 1:lines] { if (Style[i] eq "d" && Rate[i] > slope) { slope = Rate[i] } }

set logscale y
set format y "%.0s %c"
first = text_only ? 0.10 : 0.075
split = both ? 0.31 : 0
beside = number("key_chars") > 22 ? number("key_chars") : 22
last = text_only ? 1 - (beside + 4.0) / across : 1 - (beside * 8.0 + 60) / wide
bottom = text_only ? 5.0 / number("lines") : 76.0 / high
set tmargin at screen top_of
set bmargin at screen bottom
# The key stands where the labels beside the lines end, or at the bottom where it would not fit below
# them: `lowest` is the rate of the last of them, on an axis from `low` to `top`.
key_high = text_only ? families + 2.0 : 22.5 * (families + 1) + 10
key_from(lowest, low, top) = bottom + (top_of - bottom) * log10(lowest / low) / log10(top / low) - (text_only ? 1.0 / number("lines") : 18.0 / high)
key_here(lowest, low, top) = (y = key_from(lowest, low, top), fits = y - key_high / (text_only ? number("lines") : high) > bottom, \
    sprintf("set key at screen 0.99, screen %.6g right %s vertical Left reverse samplen 1 spacing 1.15", fits ? y : bottom, fits ? "top" : "bottom"))

# Label line i: above or below it, beside its end, or along a slope.
above(i, x, y) = sprintf("set label %d Label[%d] at %.9g, %.9g left offset character 0.5, 0.55 front textcolor rgb dim", i, i, x, y)
below(i, x, y) = sprintf("set label %d Label[%d] at %.9g, %.9g left offset character 0.5, -0.6 front textcolor rgb dim", i, i, x, y)
beyond(i, x, y) = sprintf("set label %d Label[%d] at %.9g, %.9g left offset character 0.6, 0 front textcolor rgb dim", i, i, x, y)
along(i, x, y, angle, up) = sprintf("set label %d Label[%d] at %.9g, %.9g left rotate by %.2f offset character 0, %.2f front textcolor rgb dim", i, i, x, y, angle, up)

if (both) { set multiplot }
if (moving > 0) {
    set lmargin at screen first
    set rmargin at screen (both ? split - 0.02 : last)
    if (both) { unset title; unset key }
    set xlabel both ? "bytes, no operations" : "bytes moved (cases that count no operations)"
    set logscale x
    if (both) { set xtics 1, 1000 }
    set format x "%.0s %cB"
    set ylabel "throughput (B/s)"
    right = number("moving_right")
    set xrange [number("moving_left"):right]
    low = number("moving_low"); top = number("moving_top")
    set yrange [low:top]
    # A label that another line would cross stands below the lowest line of those above and under it. At
    # the left, where cases that move few bytes are far below.
    text_height = (top / low) ** ((text_only ? 1.5 / number("lines") : 19.0 / high) / (top_of - bottom))
    lowest = top
    do for [i = 1:lines] {
        if (bytes(i) && Label[i] ne "-") {
            under_line = Rate[i]; crossed = 0
            do for [j = 1:lines] { if (bytes(j) && Rate[j] > Rate[i] && Rate[j] < Rate[i] * text_height) { crossed = 1 } }
            do for [k = 1:lines] { do for [j = 1:lines] {
                if (bytes(j) && Rate[j] < under_line && Rate[j] > under_line / text_height) { under_line = Rate[j] } } }
            if (Rate[i] < lowest) { lowest = Rate[i] }
            eval !both ? beyond(i, right, Rate[i]) : crossed ? below(i, number("moving_left"), under_line) : above(i, number("moving_left"), Rate[i])
        }
    }
    if (!both) { eval key_here(lowest, low, top) }
    plot for [i = 1:lines] (bytes(i) ? Rate[i] : NaN) with lines linewidth 1.2 linecolor rgb dim notitle, \
         data index 4 using 2:($1 == 1 ? $3 : NaN):($4 - $2):($5 - $3) with vectors \
             head filled size screen 0.008, 20 linewidth 1.2 linecolor rgb ink notitle, \
         data index 3 using 4:($2 == 1 ? $5 : NaN):(thick($6)):(mark(int($1), int($3))):(hue(int($1))) with points \
             pointsize variable pointtype variable linecolor rgb variable notitle, \
         for [f = 1:families] keyentry with points pointtype mark(f, 0) linecolor rgb Hue[f] \
             title sprintf("%s (%d)", Family[f], Cases[f]), \
         keyentry with points pointtype 6 linecolor rgb dim title "hollow: not ours"
    do for [i = 1:lines] { unset label i }
    unset label 9999
}
if (rows > 0) {
    set title heading noenhanced textcolor rgb ink
    set lmargin at screen (both ? split + 0.06 : first)
    set rmargin at screen last
    set xlabel "operations per byte (least that the operation can read and write)"
    set ylabel "rate (FLOP/s; integer operations OP/s)"
    set logscale x
    set xtics autofreq out nomirror
    set format x "%g"
    left = number("left"); right = number("right"); low = number("low"); top = number("top")
    set xrange [left:right]
    set yrange [low:top]
    under(rate, x) = rate * x > peak ? NaN : rate * x
    # A slope of one decade per decade, in degrees of the picture.
    across_px = (last - (both ? split + 0.06 : first)) * wide / log10(right / left)
    up_px = (top_of - bottom) * high / log10(top / low)
    angle = atan2(up_px, across_px) * 180 / pi
    lowest = top
    do for [i = 1:lines] { if (Label[i] ne "-" && Style[i] eq "h" && Rate[i] < lowest) { lowest = Rate[i] } }
    eval key_here(lowest, low, top)
    # As in the other panel: below all slopes, where one of them would cross the label.
    slope_height = (top / low) ** (19.0 / high / (top_of - bottom) / cos(angle * pi / 180))
    along_by = 0; apart = text_only ? 0 : 130 / across_px # labels of two slopes side by side
    do for [i = 1:lines] {
        if (Label[i] ne "-" && Style[i] eq "h") { eval beyond(i, right, Rate[i]) }
        if (Label[i] ne "-" && Style[i] eq "d") {
            begin = left * Rate[i] > low ? left : low / Rate[i]
            begin = begin * 10 ** (along_by * apart)
            ends = lowest / Rate[i] / 10 ** (1.25 * apart) # below the first roof that would cross it
            begin = !text_only && begin > ends && ends > left ? ends : begin
            along_by = along_by + 1
            under_line = Rate[i]; crossed = 0
            do for [j = 1:lines] { if (Style[j] eq "d" && Rate[j] > Rate[i] && Rate[j] < Rate[i] * slope_height) { crossed = 1 } }
            do for [k = 1:lines] { do for [j = 1:lines] {
                if (Style[j] eq "d" && Rate[j] < under_line && Rate[j] > under_line / slope_height) { under_line = Rate[j] } } }
            if (begin < right) { eval text_only ? above(i, 10 * begin, 10 * begin * Rate[i]) : along(i, 1.15 * begin, 1.15 * begin * (crossed ? under_line : Rate[i]), angle, crossed ? -1.0 : 0.7) }
        }
    }
    set samples 400
    plot for [i = 1:lines] (Style[i] eq "h" ? (slope > 0 && x * slope < Rate[i] ? NaN : Rate[i]) : Style[i] eq "d" ? under(Rate[i], x) : NaN) \
             with lines linewidth 1.2 linecolor rgb dim notitle, \
         data index 4 using 2:($1 == 0 ? $3 : NaN):($4 - $2):($5 - $3) with vectors \
             head filled size screen 0.008, 20 linewidth 1.2 linecolor rgb ink notitle, \
         data index 3 using 4:($2 == 1 ? NaN : $5):(thick($6)):(mark(int($1), int($3))):(hue(int($1))) with points \
             pointsize variable pointtype variable linecolor rgb variable notitle, \
         for [f = 1:families] keyentry with points pointtype mark(f, 0) linecolor rgb Hue[f] \
             title sprintf("%s (%d)", Family[f], Cases[f]), \
         keyentry with points pointtype 6 linecolor rgb dim title "hollow: not ours"
}
if (both) { unset multiplot }
