# bars.gp - time at one size: one bar per variant, fastest on top, with its interval.
#
# DATA has blocks, separated by two empty lines: settings (name, value), then bars
# (name, kind, time, its low and high end, label), fastest first.

data = ARG1; output = ARG2; columns = ARG3
load "style.gp"
eval chart

paint(kind) = kind eq "baseline" || kind eq "bound" ? 0x999999 : kind eq "reference" ? 0xD0D0D0 : 0x56B4E9

set xlabel "time (" . find("unit") . "), with its interval; baselines, bounds and references are grey"
# A bar that is too long ends a little after the longest whole one, with a gap in it.
longest = number("longest")
edge = 1.06 * longest
end(x) = x > longest ? edge : x
broken(x) = x > longest
set xrange [0:(text_only ? 1.6 : 1.27) * longest] # leaves space for the figures

plot data index 1 using (0.5 * end($3)):0:(0):(end($3)):($0 - 0.36):($0 + 0.36):(paint(strcol(2))) \
         with boxxyerror linecolor rgb variable, \
     data index 1 using (broken($3) ? 1.02 * longest : NaN):0:(1.01 * longest):(1.03 * longest):($0 - 0.4):($0 + 0.4) \
         with boxxyerror linecolor rgb paper, \
     data index 1 using (broken($3) ? NaN : shown($3)):0:4:5 with xerrorbars pointtype 0 linewidth 1.5 linecolor rgb ink, \
     data index 1 using (0):0:(cut(strcol(1))) with labels right offset character -1, 0 textcolor rgb ink, \
     data index 1 using (end($5)):0:6 with labels left offset character (text_only ? 2 : 1), 0 textcolor rgb ink
