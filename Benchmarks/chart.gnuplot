# chart.gnuplot BARS SVG COUNT TITLE SUBTITLE: a bar for each row. The background is the picture's own, so
# that it can be read on a light page and on a dark one.
bars = ARG1
count = int(ARG3)
set terminal svg size 760, 74 + 26 * count font "sans-serif,13" background "#ffffff"
set output ARG2
height = 74 + 26 * count
set label ARG4 at screen 0.02, screen 1 - 20.0 / height left font ",15" textcolor rgb "#1f2933"
set label ARG5 at screen 0.02, screen 1 - 42.0 / height left font ",11" textcolor rgb "#52606d"
stats bars using 2 nooutput
set xrange [0 : STATS_max * 1.08]
set yrange [count - 0.4 : -0.6]
set border 0
unset xtics
unset key
set ytics scale 0 textcolor rgb "#1f2933"
set lmargin 44
set rmargin 2
set tmargin at screen 1 - 58.0 / height
set bmargin at screen 10.0 / height
set style fill solid
plot bars using ($2 / 2):0:($2 / 2):(0.36):4:ytic(1) with boxxyerrorbars linecolor rgb variable, \
     bars using 2:0:3 with labels left offset 0.5, 0 textcolor rgb "#1f2933"
