#!/usr/bin/env python3
"""A matrix from files that iperf3 3.12 and ping have printed: two network namespaces joined by a veth pair, of which a
token bucket let 300 Mb/s pass one way and 100 Mb/s the other (tests/data/measured). What nccl-tests print is in the columns
of its src/util.cu, with times of the same rates: nothing ran NCCL.

    measured_test.py LONGHAUL SOURCE_FOLDER
"""
import json
import os
import subprocess
import unittest

from in_a_folder import LONGHAUL, SOURCE, InAFolder  # before the package, which it finds

from longhaul import InputError
from longhaul.measured import main, matrix_of

os.environ["LONGHAUL"] = LONGHAUL  # which the package starts
DATA = SOURCE / "tests/data/measured"
SITES = {"warsaw": ["10.77.0.1"], "madrid": ["10.77.0.2"]}
INSIDE = {"rtt": "0.5ms", "throughput": "940Mbps"}


def matrix(*names, sites=SITES, warn=lambda text: None):
    return matrix_of([DATA / name for name in names], sites, INSIDE, warn)


class Measured(InAFolder):
    def expect_pair(self, names, sites, rate, delta, rtt, warning):
        """The only pair, and words of the first warning; "" where there is none."""
        warnings = []
        pair, = matrix(*names, sites=sites, warn=warnings.append)["pairs"]
        self.assertEqual((pair["between"], pair["rtt"]), (["warsaw", "madrid"], rtt))
        self.assertAlmostEqual(float(pair["throughput"][:-4]), rate, delta=delta)
        self.assertIn(warning, (warnings or [""])[0])
        self.assertEqual(bool(warnings), bool(warning))

    def test_iperf3_and_a_ping(self):
        # 1448 of 1514 bytes of a frame are payload; the bucket counts frames without their framing.
        wide, narrow, ping = 300 * 1448 / 1514, 100 * 1448 / 1514, "warsaw-madrid.txt"
        self.expect_pair(["forward.json", ping], SITES, wide, 3, "0.035ms", "")
        self.expect_pair(["forward.json", "reverse.json", ping], SITES, narrow, 1, "0.035ms", "the slower one is taken")
        self.expect_pair(["four.json", ping], SITES, wide / 4, 1, "0.035ms", "4 streams")
        self.expect_pair(["forward.json"], SITES, wide, 3, "3.151ms", "without queues")  # beside its own load

    def test_one_stream_and_several_of_a_pair(self):
        """Both carry what the bucket lets through: four streams gain nothing over one, in either order of the files."""
        wide, ping = 300 * 1448 / 1514, "warsaw-madrid.txt"
        for names in (["forward.json", "four.json", ping], ["four.json", "forward.json", ping]):
            warnings = []
            pair, = matrix(*names, warn=warnings.append)["pairs"]
            self.assertAlmostEqual(float(pair["throughput"][:-4]), wide, delta=3)
            one, four = pair["measured"]
            self.assertEqual((one["connections"], four["connections"]), (1, 4))
            self.assertAlmostEqual(float(four["throughput"][:-4]), wide, delta=3)
            self.assertFalse(warnings)

    def test_nccl_tests(self):
        sites = {"warsaw": ["warsaw-gpu"], "madrid": ["madrid-gpu"]}
        for file, rate in (("nccl-all-reduce.txt", 300), ("nccl-sendrecv.txt", 100)):
            self.expect_pair([file, "warsaw-madrid.txt"], sites, rate, 5e-4, "0.035ms", "give it to the sites as their rate")
        text = (DATA / "nccl-all-reduce.txt").read_text()
        file = self.folder / "warsaw-madrid-nccl.txt"
        file.write_text(text.replace("-gpu", "-other"))  # then its name says which sites
        self.assertEqual(matrix_of([file, DATA / "warsaw-madrid.txt"], sites, INSIDE)["pairs"][0]["throughput"], "300Mbps")
        for wrong, word in ((text.replace("Rank  1", "Rank  0"), "is of ranks 0, 0"),
                            (text.split("#       size")[0] + "# algbw", "no row"),
                            (text[:text.index("    16777216")], "no row"), (text.replace("0 OK", "3 FAILED"), "arrived wrong"),
                            (text.replace("0.04    0.04", "0.04    0.02"), "0.04 GB/s of algbw and 0.02")):
            file.write_text(wrong)
            self.assertRaisesRegex(InputError, word, matrix_of, [file], sites, INSIDE)

    def test_a_table(self):
        table, sites = self.folder / "iperf.csv", {"oslo": [], "rome": [], "bergen & co": []}
        table.write_text("# one stream\nto,from,rate_mbps,rtt_ms\noslo,bergen & co,200,30\nbergen & co,oslo,400,20\n"
                         "rome,oslo,100,\nrome , bergen & co, 50, 60\n")
        found = {frozenset(pair["between"]): (pair["throughput"], pair["rtt"]) for pair in matrix_of(
            [table], sites, INSIDE, known_rtts={frozenset(("oslo", "rome")): "40ms", frozenset(("rome", "bergen & co")): "9s"})[
                "pairs"]}
        self.assertEqual(found, {frozenset(("oslo", "bergen & co")): ("200Mbps", "20ms"),
                                 frozenset(("oslo", "rome")): ("100Mbps", "40ms"),
                                 frozenset(("rome", "bergen & co")): ("50Mbps", "60ms")})
        header = "from,to,rate_mbps,rtt_ms\n"
        for rows, where in (("from,to,rate\n", "line 1: there is no column rate_mbps"), ("", "line 1"),
                            (header + "oslo,rome,fast,3\n", "line 2, rate_mbps"),
                            (header + "\noslo,rome,-1,3\n", "line 3, rate_mbps"),
                            (header + "oslo,rome,0.0,3\n", "line 2, rate_mbps"),
                            (header + "oslo,rome,1,3 s\n", "line 2, rtt_ms"),
                            (header + "oslo,milan,1,3\n", "line 2, to"),
                            (header + "oslo,rome,1,3,4\n", "line 2: found 5 cells"),
                            (header + "oslo,rome,1,3\n", "nothing says what a connection between oslo and bergen"),
                            (header + "oslo,rome,1,3\noslo,bergen & co,1,\nrome,bergen & co,1,1\n", "the round trip between oslo and")):
            table.write_text(rows)
            self.assertRaisesRegex(InputError, where, matrix_of, [table], sites, INSIDE)

    def test_what_cannot_be_read_is_named(self):
        for names, word in ((["udp.json"], "is of UDP"), (["failed.json"], "No route to host"),
                            (["reverse.json"], "nothing says the round trip"),
                            (["warsaw-madrid.txt"], "nothing says what a connection")):
            self.assertRaisesRegex(InputError, word, matrix, *names)
        with self.assertRaisesRegex(InputError, "says nothing of the two sites"):
            matrix("forward.json", sites={"oslo": [], "rome": []})

    def test_a_scenario_takes_it(self):
        file = self.folder / "sites.json"
        arguments = ["--site", "warsaw=10.77.0.1", "--site", "madrid=10.77.0.2", "--inside", "0.02ms,940Mbps"]
        self.assertEqual(main([*arguments, "-o", str(file), str(DATA / "forward.json"), str(DATA / "warsaw-madrid.txt")]), 0)
        scenario = {"name": "measured", "replicas": 4, "methods": [{"name": "diloco", "inner_steps": 5}],
                    "workload": {"parameters": 1e6, "steps": 20, "step_time": {"constant": "1s"}},
                    "network": {"topology": {"regions": {"matrix": "sites.json", "replicas": "even"}}}}
        checked = subprocess.run([LONGHAUL, "check", self.write("scenario.json", json.dumps(scenario))], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertEqual(main([*arguments, str(DATA / "udp.json")]), 2)
        self.assertEqual(main(["--site", "a", "--inside", "1ms", str(DATA / "udp.json")]), 2)


if __name__ == "__main__":
    unittest.main()
