"""The lines that the flow fidelity is held to, on the half of the validation grid on which nothing was fitted, against packet
results that are kept (results/reference/residuals). grid_test.py FOLDER_OF_PROGRAMS
"""
import collections
import csv
import math
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "validation"), str(ROOT / "validation/grid")]
import grid
import replays

CASES = grid.read(ROOT / "results/reference/residuals/packets.csv")


class Grid(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.replays = replays.Replays(sys.argv[1])
        cls.entries = grid.entries_of([row for row in CASES if grid.is_judge(row) and row["set"] != "trunk-queue"], cls.replays)

    def test_residuals_stay_below_their_lines(self):
        # At least so many exchanges; median and 95th percentile in per cent.
        for sets, least, most, most_p95 in ((("host", "large"), 300, 3, 10), (("fq_codel-ecn",), 1, 8, math.inf), (("loss",), 1, 15, math.inf),
                                            (("trunk",), 1, 5, math.inf), (("window", "regions"), 150, 2, 5)):
            residuals = [entry["flow_s"] / entry["packet_s"] - 1 for entry in self.entries if entry["set"] in sets]
            median, p95, largest, mean = replays.percents(residuals)
            said = f"{', '.join(sets)}: {len(residuals)} exchanges, median {median:.2f} %, 95th {p95:.2f} %, largest {largest:.1f} %, mean {mean:+.1f} %"
            print(said)
            with self.subTest(said):
                self.assertTrue(len(residuals) >= least and median <= most and p95 <= most_p95)

    def test_spread_is_that_of_sizes_and_the_mean_has_its_sign(self):
        # By hand: |−4|, 1, 2, 2, 3 per cent; the 95th of five is the fifth.
        self.assertEqual(replays.spread([0.01, -0.04, 0.03, 0.02, 0.02]), ["2.0", "4.0", "4.0", "+0.8"])

    def test_every_level_of_every_axis_is_in_both_halves(self):
        host = [row for row in CASES if row["set"] == "host"]
        self.assertGreaterEqual(len(host), 300)
        for axis, levels in {"kind": 5, "rtt_s": 5, "up": 3, "connections": 4, "gap_s": 2}.items():
            halves = [collections.Counter(row[axis] for row in host if grid.is_judge(row) == half) for half in (False, True)]
            self.assertEqual([len(half) for half in halves], [levels, levels], axis)
            for level, count in (halves[0] + halves[1]).items():
                self.assertAlmostEqual(count, len(host) / levels, delta=1, msg=f"{axis} {level}")

    def test_sizes_stay_within_the_grid(self):
        # The largest message in bandwidth-delay products; where a window is smaller than the path, in windows.
        for row in CASES:
            rtt_s, products = float(row["rtt_s"]), float(row["products"])
            window = float(row["window"]) or float(row["throughput"]) / 8 * rtt_s
            path = min(float(row["up"]), float(row["down"])) / 8 * rtt_s
            self.assertGreaterEqual(4.001 * products * path / (int(row["connections"]) * window) if window else products, 1)
            self.assertLessEqual(products, 200)
            self.assertIn(int(row["replicas"]), range(2, 9))

    def test_round_trips_across_a_trunk_fall_geometrically(self):
        # Two sites, three pairs, 120 ms, 1 : 4: the round trips are 120, 60 and 30 ms.
        row = {"set": "test", "number": "0", "kind": "pair", "replicas": "6", "up": "1e9", "down": "1e9", "trunk": "1e8", "rtt_s": "0.12",
               "rtt_ratio": "4", "bytes": "1000", "connections": "1", "segment": "1448", "gap_s": "0", "queue": "host", "ecn": "0",
               "queue_products": "1", "loss": "0", "sites": "0", "window": "0", "throughput": "0", "trunk_fifo": "0", "seed": "1"}
        grid.times_of(row, "flow", self.replays)
        with open(self.replays.folder / "test-0-1-flow/network.csv", newline="") as file:
            links = {frozenset((link["from"], link["to"])): link for link in csv.DictReader(file)}
        trunk = links[frozenset(("near", "far"))]
        self.assertEqual(float(trunk["rate_forward_bps"]), 1e8)
        for pair, rtt_s in enumerate((0.12, 0.06, 0.03)):
            one_way_s = sum(float(link["delay_s"]) for link in (links[frozenset((f"replica{pair}", "near"))], trunk,
                                                                links[frozenset((f"replica{pair + 3}", "far"))]))
            self.assertAlmostEqual(2 * one_way_s, rtt_s, 12)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
