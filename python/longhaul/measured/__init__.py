"""A matrix of sites (docs/reference/formats/inputs.md) from what iperf3, nccl-tests, ping and their like have printed.

    python -m longhaul.measured --site warsaw=10.0.0.1 --site madrid=10.0.1.1 --inside 0.5ms,940Mbps -o sites.json FILE...

FILE is an output of one of the tools in docs/reference/formats/measurements.md, a table (.csv), or a folder of such files;
the text says which of them, whatever the file's name. Addresses and host names say between which sites a test ran; else the
file's name does: warsaw-madrid.json.

`throughput` of a pair is what one connection carries, as its receiver counted it. Of repeats in one direction the median
counts, of the two directions the slower one, since a matrix has one value a pair. A single stream comes before parallel
ones, whose sum is divided by their number; nccl-tests come next, then tests that iperf3 held down (-b, --fq-rate).
`rtt` is the shortest that ping and its like saw; else that of --rtt; else the shortest that iperf3 saw under its own load,
which has its queues in it. A warning says what a reader should know of each of these choices.

`measured` of a pair has the medians behind `throughput`, one for each direction and number of streams:
`{"from": "warsaw", "connections": 8, "throughput": "865Mbps"}`, where `throughput` is that of all of them together and `from`
is absent where the file does not say it. Where it has entries of 1 and of k connections from one site, their ratio is what
k connections gain. `longhaul plan` reads its `measurements` with this program.

One file has one format's reader: iperf3.py, iperf3_text.py, iperf2.py, nccl_tests.py, pings.py, mtr.py, irtt.py, tables.py;
formats.py knows which of them a text is of, matrix.py chooses among what they read. Wrong input is an InputError.
"""
from ..errors import InputError
from .command import main
from .formats import read
from .matrix import matrix_of
from .measurement import Measured, Sites

__all__ = ["InputError", "Measured", "Sites", "main", "matrix_of", "read"]
