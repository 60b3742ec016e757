# The figure of docs/validation/network-model.md: gnuplot residuals.gp, in this folder.
# residuals.dat: build/bin/residuals --reference results/reference/residuals/packets.csv --figure-data results/reference/residuals/residuals.dat
# A block a set of the grid: share of the exchanges of the judge half, then the signed residuals in per cent of flow,
# of latency + bytes / rate, and of SimGrid's default model, each sorted.
set terminal svg size 960,720 noenhanced font "sans,13" background "#ffffff"
set output "residuals.svg"
set multiplot layout 2,2 title "Simulated over packet time of an exchange, minus one (judge half)"
set xrange [-80:80]
set yrange [0:1]
set xlabel "residual, %"
set ylabel "share of the exchanges below"
set grid lc rgb "#dddddd"
set key bottom right samplen 1.5
array sets[4] = ["host:", "fq_codel-ecn:", "loss:", "trunk:"]
array names[4] = ["queue host", "fq_codel with ECN", "random loss, means of five seeds", "flows and pairs on one trunk, queue host"]
do for [i = 1:4] {
  set title names[i]
  plot "residuals.dat" index sets[i] using 2:1 with lines lw 3 lc rgb "#0b6e4f" title "flow", \
       "" index sets[i] using 3:1 with lines lw 2 lc rgb "#c8553d" title "latency + bytes / rate", \
       "" index sets[i] using 4:1 with lines lw 2 lc rgb "#7d7d7d" dt 2 title "SimGrid, default"
}
unset multiplot
