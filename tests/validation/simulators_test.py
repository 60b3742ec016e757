"""What results/reference/simulators.md says follows from its rows and from what the kernel took, and SimGrid's rows are its closed
forms. simulators_test.py
"""
import pathlib
import statistics
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "validation"), str(ROOT / "validation/simulators")]
import points
import simulators

ROWS = simulators.read(ROOT / "results/reference/simulators.csv")


class Simulators(unittest.TestCase):
    def setUp(self):
        self.points = points.twenty()
        self.results = simulators.Results(ROWS, self.points)

    def test_page_has_the_tables_of_its_rows(self):
        page = (ROOT / "results/reference/simulators.md").read_text(encoding="utf-8")
        for what, table in simulators.tables(self.results).items():
            self.assertIn(table, page, f"{what}: validation/simulators/simulators.py table results/reference/simulators.csv prints it")

    def test_middles_of_fifths(self):
        # By hand: ten in fifths of two, of each the second; five themselves.
        self.assertEqual(points.middles(list(range(10))), [1, 3, 5, 7, 9])
        self.assertEqual(points.middles(list("abcde")), list("abcde"))

    def test_five_points_of_each_class(self):
        self.assertEqual([point.kind for point in self.points], ["host"] * 5 + ["fifo"] * 5 + ["fq_codel-ecn"] * 5 + ["group"] * 5)
        self.assertEqual(len({point.name for point in self.points}), 20)

    def test_every_seed_is_there_once(self):
        found = sorted((row["tool"], row["point"], int(row["seed"])) for row in ROWS)
        tools = {row["tool"] for row in ROWS}
        self.assertEqual(found, sorted((tool, point.name, seed) for tool in tools for point in self.points
                                       for seed in simulators.seeds_of(tool, point)))

    def test_a_deviation_by_hand(self):
        point = next(point for point in self.points if point.kind == "group")
        point.runs = {"cold": [1.0, 3.0], "later": [4.0]}
        rows = [{"tool": "a", "point": point.name, "seed": str(seed), "status": "done", "times_s": times, "cpu_s": "1"}
                for seed, times in ((1, "1 2"), (2, "2 4"))]
        results = simulators.Results(rows, [point])
        self.assertAlmostEqual(results.deviation("a", point, "cold"), 1.5 / 2 - 1)
        self.assertAlmostEqual(results.deviation("a", point, "later"), 3 / 4 - 1)

    def test_simgrid_is_its_closed_form(self):
        # A message, by SimGrid's documentation of its models: LV08 latency × 13.01 + bytes / (0.97 × rate), CM02 without the factors.
        # A link that carries data both ways also carries 5 % of what comes the other way; a ring's links do.
        for row in ROWS:
            point = next(point for point in self.points if point.name == row["point"])
            if not row["tool"].startswith("SimGrid") or point.pattern not in ("transfer", "pairs", "ring"):
                continue
            latency, share = (1, 1) if "CM02" in row["tool"] else (13.01, 0.97)
            rounds = 2 * (point.members - 1) if point.pattern == "ring" else 1
            message_s = latency * point.rtt_s / 2 + 8 * point.bytes / (share * point.rate) * (1.05 if point.directions == 2 else 1)
            for text in row["times_s"].split():
                with self.subTest(row=row):
                    self.assertAlmostEqual(float(text) / (rounds * message_s), 1, 4)

    def test_one_run_of_the_kernel_beside_the_others_by_hand(self):
        point = self.points[0]
        point.runs = {"cold": [1.0], "10 ms later": [2.0, 4.0], "1 s later": [1.0, 2.0, 3.0]}
        for found, expected in zip(simulators.runs_of_kernel([point]), (-0.5, 1, -0.6, 0, 1), strict=True):
            self.assertAlmostEqual(found, expected)

    def test_a_larger_window_changes_nothing_in_simgrid(self):
        def times(tool):
            return {row["point"]: row["times_s"] for row in ROWS if row["tool"] == tool}
        self.assertEqual(times("SimGrid LV08"), times("SimGrid LV08, 64 MiB"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
