#!/usr/bin/env python3
"""What is read of each tool's output, file by file: tests/data/measured has what iperf3 3.7, 3.9, 3.12, 3.16, 3.18 and 3.22,
iperf 2.1.8 and 2.2.1, fping 5.1 and 5.5, mtr 0.95 and 0.96, irtt 0.9.0 and the pings of iputils
20221126, busybox 1.35 and inetutils 2.4 have printed, cut short.

iperf3 ran between two network namespaces, of which a token bucket lets 300 Mb/s of frames pass from warsaw and 100 from
madrid: 1448 of 1514 bytes are payload, 286.9 and 95.6 Mb/s. All others ran without a bucket or a delay; what they say is
compared with the lines of the files, copied by hand.

    measured_formats_test.py LONGHAUL SOURCE_FOLDER
"""
import gzip
import json
import os
import random
import re
import subprocess
import unittest

from in_a_folder import LONGHAUL, SOURCE, InAFolder  # before the package, which it finds

from longhaul import InputError
from longhaul.measured import matrix_of, read

os.environ["LONGHAUL"] = LONGHAUL  # which the package starts
DATA = SOURCE / "tests/data/measured"
HOSTS = {"warsaw": ["10.77.0.1", "10.78.0.1", "fd00:78::1"], "madrid": ["10.77.0.2", "10.78.0.2", "fd00:78::2"]}
INSIDE = {"rtt": "0.5ms", "throughput": "940Mbps"}
FORWARD, BACK = (272, 301), (91, 101)  # Mb/s: 286.9 and 95.6 ± 5 %
BESIDE_BACK = (185, 301)  # acknowledgements of the other direction wait in the bucket's queue

# file: [(sender, streams, (least, most) Mb/s), ...], words of a note or ""
IPERF3 = {
    "3.7-bidir-client.json": ([("warsaw", 1, BESIDE_BACK), ("madrid", 1, BACK)], ""),  # keys twice
    "3.7-bidir-server.json": ([("warsaw", 1, BESIDE_BACK), ("madrid", 1, BACK)], "the server's file"),
    "3.7-two-bidir-client.json": ([("warsaw", 2, BESIDE_BACK), ("madrid", 2, BACK)], ""),
    "3.9-bidir-client.json": ([("warsaw", 1, BESIDE_BACK), ("madrid", 1, BACK)], ""),  # keys twice
    "3.9-bidir-server.json": ([("warsaw", 1, BESIDE_BACK), ("madrid", 1, BACK)], "the server's file"),
    "3.9-reverse-client.json": ([("madrid", 1, BACK)], ""),
    "3.9-text-client.txt": ([("warsaw", 1, FORWARD)], ""),
    "3.9-text-bidir-client.txt": ([("warsaw", 1, BESIDE_BACK), ("madrid", 1, BACK)], ""),
    "3.12-bidir-client.json": ([("warsaw", 1, BESIDE_BACK), ("madrid", 1, BACK)], ""),  # not marked in test_start
    "3.12-bidir-server.json": ([("warsaw", 1, BESIDE_BACK), ("madrid", 1, BACK)], "the server's file"),
    "3.12-two-bidir-client.json": ([("warsaw", 2, BESIDE_BACK), ("madrid", 2, BACK)], ""),
    "3.12-four-reverse-client.json": ([("madrid", 4, BACK)], ""),
    "3.12-reverse-server.json": ([("madrid", 1, BACK)], "what was sent is taken"),
    "3.12-second-client.json": ([("warsaw", 1, FORWARD)], "lasted 1 s"),
    "3.12-omit-client.json": ([("warsaw", 1, FORWARD)], ""),
    "3.12-window-client.json": ([("warsaw", 1, FORWARD)], "a buffer of 64 KiB (-w)"),
    "3.12-text-client.txt": ([("warsaw", 1, FORWARD)], ""),
    "3.12-text-reverse-client.txt": ([("madrid", 1, BACK)], ""),
    "3.12-text-reverse-server.txt": ([("madrid", 1, BACK)], "what was sent is taken"),
    "3.12-text-bidir-client.txt": ([("warsaw", 1, BESIDE_BACK), ("madrid", 1, BACK)], ""),
    "3.12-text-four-reverse-client.txt": ([("madrid", 4, BACK)], ""),
    "3.12-text-two-bidir-server.txt": ([("warsaw", 2, BESIDE_BACK), ("madrid", 2, BACK)], "what was sent is taken"),
    "3.12-text-title-client.txt": ([("warsaw", 1, FORWARD)], ""),
    "3.12-text-stamp-client.txt": ([("warsaw", 1, FORWARD)], ""),
    "3.12-text-M-client.txt": ([("warsaw", 1, FORWARD)], ""),  # MBytes/sec of 2^20 bytes
    "3.12-text-omit-client.txt": ([("warsaw", 1, FORWARD)], ""),
    "3.16-plain-client.json": ([("warsaw", 1, FORWARD)], ""),
    "3.16-bidir-client.json": ([("warsaw", 1, BESIDE_BACK), ("madrid", 1, BACK)], ""),
    "3.18-plain-client.json": ([("warsaw", 1, FORWARD)], ""),
    "3.18-bidir-client.json": ([("warsaw", 1, BESIDE_BACK), ("madrid", 1, BACK)], ""),
    "3.18-reverse-server.json": ([("madrid", 1, (91, 105))], "what was sent is taken"),
    "3.18-stream-client.json": ([("warsaw", 1, FORWARD)], ""),
    "3.22-plain-client.json": ([("warsaw", 1, FORWARD)], ""),
    "3.22-plain-server.json": ([("warsaw", 1, FORWARD)], ""),
    "3.22-bidir-client.json": ([("warsaw", 1, BESIDE_BACK), ("madrid", 1, BACK)], ""),
    "3.22-two-bidir-client.json": ([("warsaw", 2, BESIDE_BACK), ("madrid", 2, BACK)], ""),
    "3.22-four-client.json": ([("warsaw", 4, FORWARD)], ""),
    "3.22-reverse-server.json": ([("madrid", 1, BACK)], "what was sent is taken"),
    "3.22-blocks-client.json": ([("warsaw", 1, (200, 301))], "count to the end of the second"),
    "3.22-stream-client.json": ([("warsaw", 1, FORWARD)], ""),
    "3.22-stream-reverse-client.json": ([("madrid", 1, BACK)], ""),
    "3.22-stream-bidir-client.json": ([("warsaw", 1, BESIDE_BACK), ("madrid", 1, BACK)], ""),
    "3.22-text-client.txt": ([("warsaw", 1, FORWARD)], ""),
    "3.22-text-V-client.txt": ([("warsaw", 1, FORWARD)], ""),
    "3.22-text-bidir-client.txt": ([("warsaw", 1, BESIDE_BACK), ("madrid", 1, BACK)], ""),
    "3.22-text-two-bidir-client.txt": ([("warsaw", 2, BESIDE_BACK), ("madrid", 2, BACK)], ""),
}
HELD = {"3.9-capped-client.json": "-b", "3.12-capped-client.json": "-b", "3.22-fq-client.json": "--fq-rate"}  # of 50 Mb/s
IPERF3_REFUSED = {
    "3.9-refused-client.json": "did not begin", "3.12-tenk-client.json": "10240 bytes, which -n allowed",
    "3.16-tenk-client.json": "10240 bytes, which -n allowed",
    "3.18-tenk-client.json": "10240 bytes, which -n allowed",  # 1.04 Mb/s: since 3.16 it counts to the end of the second
    "3.22-tenk-client.json": "10240 bytes, which -n allowed", "3.22-udp-client.json": "is of UDP",
    "3.12-interrupted-client.json": "interrupt - the client has terminated", "3.12-interrupted-server.json": "the client has terminated",
    "3.12-text-udp-client.txt": "is of UDP", "3.12-text-interrupted-client.txt": "no line of the receiver",
    "3.12-text-interrupted-server.txt": "no interval has more than",  # 564 Mb/s through a bucket of 300
    "3.12-text-refused-client.txt": "Connection refused", "3.12-stream-server.txt": "no connection with its lines"}

IPERF2 = {  # rates as the files say them, in Mb/s
    "2.1.8-plain.txt": [("warsaw", 1, 12400)], "2.1.8-P3.txt": [("warsaw", 3, 1570 + 1320 + 1430)], "2.1.8-R.txt": [("madrid", 1, 5560)],
    "2.1.8-csv.csv": [("warsaw", 1, 9704.586614)], "2.1.8-Rcsv.csv": [("madrid", 1, 10951.137465)],
    "2.1.8-d.txt": [("warsaw", 1, 2670), ("madrid", 1, 2680)], "2.1.8-r.txt": [("warsaw", 1, 7980), ("madrid", 1, 4940)],
    "2.1.8-dcsv.csv": [("madrid", 1, 7060.032605), ("warsaw", 1, 4425.711775)],
    "2.1.8-fd.txt": [("warsaw", 1, 6180), ("madrid", 1, 5200)], "2.1.8-ei.txt": [("warsaw", 1, 12200)],
    "2.1.8-ifk.txt": [("warsaw", 1, 5181.068)], "2.1.8-iP2csv.csv": [("warsaw", 2, 3518.127442 + 4697.327206)],
    "2.1.8-server.txt": [("warsaw", 1, 12400), ("warsaw", 1, 9760), ("warsaw", 3, 1570 + 1330 + 1450)],
    "2.2.1-P3.txt": [("warsaw", 3, 1930 + 2690 + 2640)], "2.2.1-R.txt": [("madrid", 1, 5060)],
    "2.2.1-P3csv.csv": [("warsaw", 3, 1879.324386 + 2096.171266 + 2178.553919)], "2.2.1-Rcsv.csv": [("madrid", 1, 5883.014999)],
    "2.2.1-d.txt": [("madrid", 1, 7520), ("warsaw", 1, 2110)], "2.2.1-r.txt": [("warsaw", 1, 3400), ("madrid", 1, 4070)],
    "2.2.1-dcsv.csv": [("warsaw", 1, 1903.985186), ("madrid", 1, 2424.948110)],
    "2.2.1-fd.txt": [("madrid", 1, 4020), ("warsaw", 1, 4410)], "2.2.1-ei.txt": [("warsaw", 1, 3660)],
    "2.2.1-iP2csv.csv": [("warsaw", 2, 2286.719844 + 2736.688552)],
    "2.2.1-scsv.csv": [("warsaw", 1, 6032.212898), ("warsaw", 2, 2880.378630 + 2428.085926), ("warsaw", 2, 2287.886166 + 2777.496029),
                       ("madrid", 1, 5856.432621)],
    "2.2.1-server.txt": [("warsaw", 1, 5560), ("warsaw", 1, 5420), ("warsaw", 3, 2660 + 2710 + 1940)]}
IPERF2_REFUSED = {"2.1.8-u.txt": "is of UDP", "2.1.8-n.txt": "lasted 0.0166 s",
                  "2.1.8-P3csv.csv": "whether they ran together", "2.1.8-scsv.csv": "whether they ran together"}

ROUND_TRIPS = {  # ms, of the farther of the two hosts: the nearer one is the machine's own
    "fping/5.1-c-stdout.txt": 0.052, "fping/5.1-c-stderr.txt": 0.052, "fping/5.1-qC.txt": 0.054, "fping/5.1-e.txt": 0.034,
    "fping/5.1-s.txt": 0.026, "fping/5.1-D.txt": 0.029, "fping/5.5-J.txt": 0.044, "fping/5.5-qc.txt": 0.052,
    "mtr/0.95-r.txt": 0.1, "mtr/0.95-rw.txt": 0.1, "mtr/0.95-json.json": 0.053, "mtr/0.95-csv.csv": 0.05, "mtr/0.96-r.txt": 0.1,
    "mtr/0.96-json.json": 0.059, "irtt/0.9.0.txt": 0.0779, "irtt/0.9.0-o.json": 0.077937,
    "ping/20221126-two.txt": 0.044, "ping/20221126-I.txt": 0.039, "ping/20221126-6.txt": 0.061, "ping/20221126-cut.txt": 0.060,
    "ping/busybox-1.35.txt": 0.098, "ping/inetutils-2.4.txt": 0.069}
ROUND_TRIPS_REFUSED = {"mtr/0.95-unreachable.txt": "found 2.57 s", "mtr/0.95-xml.xml": "mtr --xml", "mtr/0.95-raw.txt": "mtr --raw",
                       "ping/20221126-none.txt": "no reply of 10.78.0.9"}


def read_data(name, hosts=HOSTS):
    return read(str(DATA / name), hosts)


class RealOutputs(unittest.TestCase):
    def expect_ways(self, name, expected):
        found = read_data(name)
        self.assertEqual([(one.sender, one.streams) for one in found], [one[:2] for one in expected], name)
        return found

    def test_iperf3(self):
        for name, (expected, word) in IPERF3.items():
            found = self.expect_ways("iperf3/" + name, expected)
            for one, (_, _, (least, most)) in zip(found, expected):
                self.assertTrue(least <= one.together / 1e6 <= most, (name, one.together))
                self.assertEqual(one.both_ways, "bidir" in name, name)
            notes = " ".join(note for one in found for note in one.notes)
            self.assertIn(word, notes, name)
            self.assertEqual(bool(notes), bool(word), (name, notes))

    def test_iperf3_that_was_held_to_a_rate(self):
        for name, option in HELD.items():
            one, = read_data("iperf3/" + name)
            self.assertTrue(49 <= one.together / 1e6 <= 51, (name, one.together))
            self.assertIn(f"held to 50 Mb/s ({option})", one.limit, name)

    def test_what_says_nothing_is_refused(self):
        for folder, refused in (("iperf3/", IPERF3_REFUSED), ("iperf2/", IPERF2_REFUSED), ("", ROUND_TRIPS_REFUSED)):
            for name, word in refused.items():
                with self.assertRaisesRegex(InputError, re.escape(word), msg=name):
                    read_data(folder + name)

    def test_a_round_trip_is_the_senders(self):
        # With --bidir the streams that the other side sends have min_rtt of a few microseconds.
        forward, back = read_data("iperf3/3.12-two-bidir-client.json")
        self.assertGreater(forward.rtt_s, 5e-3)
        self.assertIsNone(back.rtt_s)

    def test_iperf2(self):
        for name, expected in IPERF2.items():
            for one, (_, _, rate) in zip(self.expect_ways("iperf2/" + name, expected), expected):
                self.assertAlmostEqual(one.together / 1e6, rate, delta=1e-3, msg=name)
                self.assertTrue(any("lasted 2" in note for note in one.notes), name)

    def test_round_trips(self):
        for name, milliseconds in ROUND_TRIPS.items():
            one, = read_data(name)
            self.assertAlmostEqual(one.rtt_s * 1e3, milliseconds, places=6, msg=name)
            self.assertEqual((one.is_loaded, one.pair), (False, frozenset(HOSTS)), name)


class Files(InAFolder):
    def pair(self, files, hosts=None, **others):
        """The only pair, and all warnings; `files`: {name: text}."""
        names, warnings = [self.write(name, text) for name, text in files.items()], []
        found, = matrix_of(names, hosts or {"oslo": ["10.1.0.1"], "rome": ["10.2.0.1"]}, INSIDE, warnings.append,
                           {frozenset(("oslo", "rome")): "40ms"}, **others)["pairs"]
        return found, warnings

    def refused(self, files, word, hosts=None):
        with self.assertRaisesRegex(InputError, word):
            self.pair(files, hosts)

    @staticmethod
    def iperf3(rate, local="10.1.0.1", remote="10.2.0.1", streams=1, **test):
        """A client's document of `rate` Mb/s, in the form of iperf3 3.12."""
        sends = not test.get("reverse")
        sums = {"bits_per_second": rate * 1e6, "seconds": 10.004, "sender": sends}
        return {"start": {"connected": [{"local_host": local, "remote_host": remote}], "connecting_to": {"host": remote},
                          "test_start": {"protocol": "TCP", "num_streams": streams, "omit": 0, "duration": 10, "bytes": 0, "blocks": 0,
                                         "reverse": 0, "target_bitrate": 0, **test}},
                "intervals": [], "end": {"streams": [{"sender": {"min_rtt": 41000 if sends else 0, "sender": sends}}],
                                         "sum_sent": {**sums, "bits_per_second": rate * 1.01e6}, "sum_received": sums}}

    def test_one_document_twice_is_one_test(self):
        twice, text = self.iperf3(210), json.dumps(self.iperf3(210))
        for form in (text + "\n" + text, text + text, json.dumps(twice, indent=1) + "\n\n" + json.dumps(twice, indent=2)):
            found, warnings = self.pair({"twice.json": form})
            self.assertEqual((found["throughput"], found["measured"], warnings),
                             ("210Mbps", [{"from": "oslo", "connections": 1, "throughput": "210Mbps"}], []))

    def test_appended_tests_are_repeats(self):
        text = "".join(json.dumps(self.iperf3(rate)) + "\n" for rate in (100, 240, 250))
        found, warnings = self.pair({"three.json": text})
        self.assertEqual(found["throughput"], "240Mbps")
        self.assertIn("3 tests from oslo carried 100 to 250 Mb/s; the median, 240, is taken", warnings[0])
        error = json.dumps({"start": {}, "error": "the server is busy running a test. try again later"})
        found, warnings = self.pair({"retried.json": error + text})
        self.assertEqual(found["throughput"], "240Mbps")
        self.assertIn("1 of 4 tests ended with an error", " ".join(warnings))

    def test_an_array_of_tests_is_read(self):
        tests = [self.iperf3(rate) for rate in (100, 240, 250)]
        for text in (json.dumps(tests), json.dumps(tests, indent=1), "\n [ " + ",\n".join(map(json.dumps, tests)) + "]"):
            found, _ = self.pair({"all.json": text})
            self.assertEqual(found["throughput"], "240Mbps")
        for text in ("[" + json.dumps(tests[0]), "[" + json.dumps(tests[0]) + ",\n", json.dumps(tests, indent=1)[:-3]):
            self.refused({"cut.json": text}, "cut off")

    def test_the_median_of_each_direction_then_the_slower(self):
        there = {f"{i}.json": json.dumps(self.iperf3(rate)) for i, rate in enumerate((300, 90, 310))}
        back = {f"r{i}.json": json.dumps(self.iperf3(rate, reverse=1)) for i, rate in enumerate((280, 200, 20, 270))}
        found, warnings = self.pair({**there, **back})
        self.assertEqual(found["throughput"], "235Mbps")  # of 20, 200, 270, 280
        self.assertEqual([(one["from"], one["throughput"]) for one in found["measured"]], [("oslo", "300Mbps"), ("rome", "235Mbps")])
        self.assertIn("the slower one is taken", warnings[-1])

    def test_loaded_round_trips_are_said_once(self):
        hosts = {"oslo": ["10.1.0.1"], "rome": ["10.2.0.1"], "bern": ["10.3.0.1"]}
        files = [self.write(f"{i}.json", json.dumps(self.iperf3(200, *ends))) for i, ends in enumerate((
            ("10.1.0.1", "10.2.0.1"), ("10.1.0.1", "10.3.0.1"), ("10.2.0.1", "10.3.0.1")))]
        warnings = []
        pairs = matrix_of(files, hosts, INSIDE, warnings.append, {frozenset(("oslo", "rome")): "40ms"})["pairs"]
        self.assertEqual([pair["rtt"] for pair in pairs], ["40ms", "41ms", "41ms"])
        self.assertEqual([said.split(":")[0] for said in warnings], ["oslo and bern, rome and bern"])

    def test_single_and_parallel_streams_stand_side_by_side(self):
        found, warnings = self.pair({"1.json": json.dumps(self.iperf3(930)), "2.json": json.dumps(self.iperf3(880, reverse=1)),
                                     "8.json": json.dumps(self.iperf3(865, streams=8))})
        self.assertEqual(found["throughput"], "880Mbps")
        self.assertEqual(found["measured"], [{"from": "oslo", "connections": 1, "throughput": "930Mbps"},
                                             {"from": "rome", "connections": 1, "throughput": "880Mbps"},
                                             {"from": "oslo", "connections": 8, "throughput": "865Mbps"}])
        self.assertEqual(warnings, [])

    def test_files_of_both_ends_are_one_test(self):
        client, server = self.iperf3(200, reverse=1), self.iperf3(0, "10.2.0.1", "10.1.0.1", reverse=1)
        server["end"] = {"sum_sent": {"bits_per_second": 230e6, "seconds": 10.0, "sender": True},
                         "sum_received": {"bits_per_second": 0, "seconds": 10.0, "sender": True},
                         "streams": [{"sender": {"min_rtt": 38000, "sender": True}}]}
        for run in (client, server):
            run["start"]["cookie"] = "k7"
        for names in (("1.json", "2.json"), ("2.json", "1.json")):
            found, warnings = self.pair(dict(zip(names, map(json.dumps, (client, server)))))
            self.assertEqual((found["throughput"], found["measured"], warnings),
                             ("200Mbps", [{"from": "rome", "connections": 1, "throughput": "200Mbps"}], []))

    def test_a_test_that_was_held_counts_only_alone(self):
        held = json.dumps(self.iperf3(50, target_bitrate=50e6))
        found, warnings = self.pair({"held.json": held})
        self.assertEqual(found["throughput"], "50Mbps")
        self.assertIn("the path may carry more", warnings[0])
        found, warnings = self.pair({"held.json": held, "free.json": json.dumps(self.iperf3(300))})
        self.assertEqual(found["throughput"], "300Mbps")
        self.assertIn("held.json is left out", warnings[0])
        found, warnings = self.pair({"held.json": json.dumps(self.iperf3(50, target_bitrate=200e6))})  # the path's own rate
        self.assertEqual((found["throughput"], warnings), ("50Mbps", []))

    def test_a_connection_that_was_still_growing(self):
        growing = self.iperf3(100)
        growing["intervals"] = [{"sum": {"bits_per_second": rate * 1e6, "seconds": 1.0, "omitted": False}}
                                for rate in (10, 30, 60, 120, 180, 200)]
        self.assertIn("100 Mb/s in the whole test, 167 in its second half", self.pair({"growing.json": json.dumps(growing)})[1][0])

    def test_encodings(self):
        text = json.dumps(self.iperf3(210), indent=1)
        for raw in (b"\xef\xbb\xbf" + text.encode(), b"\xff\xfe" + text.encode("utf-16-le"), b"\xfe\xff" + text.encode("utf-16-be"),
                    text.encode("utf-16-le"), gzip.compress(text.encode()), b"warning: a line of the shell\n" + text.encode()):
            file = self.folder / "one.json"
            file.write_bytes(raw)
            self.assertEqual(read(str(file), {"oslo": ["10.1.0.1"], "rome": ["10.2.0.1"]})[0].together, 210e6)

    def test_addresses_and_names(self):
        self.assertEqual(self.pair({"mapped.json": json.dumps(self.iperf3(70, "::ffff:10.1.0.1", "::FFFF:10.2.0.1"))})[0]["throughput"], "70Mbps")
        named = self.iperf3(80)
        named["start"]["connecting_to"]["host"] = "gpu1.rome.example.org"
        self.assertEqual(self.pair({"x.json": json.dumps(named)}, {"oslo": ["10.1.0.1"], "rome": ["gpu1.rome.example.org"]})[0]["throughput"], "80Mbps")
        text = json.dumps(self.iperf3(90, "172.16.0.5", "172.16.0.6"))
        for name in ("oslo-rome.json", "Rome-Oslo-2.json", "oslo_rome.json", "oslo-to-rome.json", "oslo-rome/1.json"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            self.assertEqual(self.pair({name: text})[0]["throughput"], "90Mbps")
        self.refused({"x.json": text}, "172.16.0.5 and 172.16.0.6: hosts of no site")
        self.refused({"same.json": json.dumps(self.iperf3(90, "10.1.0.1", "10.1.0.2"))}, "two hosts of oslo",
                     {"oslo": ["10.1.0.1", "10.1.0.2"], "rome": []})
        self.refused({"oslo-rome.json": json.dumps(self.iperf3(90, "10.3.0.1", "10.9.0.9"))}, "10.3.0.1 is a host of bern",
                     {"oslo": [], "rome": [], "bern": ["10.3.0.1"]})
        self.refused({"x.json": text}, "at oslo and at rome", {"oslo": ["10.1.0.1"], "rome": ["10.1.0.1"]})

    def test_the_last_lines_of_a_text(self):
        lines = ("[  5]   0.00-10.00  sec   251 MBytes   211 Mbits/sec   12             sender\n"
                 "[  5]   0.00-10.04  sec   249 MBytes   208 Mbits/sec                  receiver\n")
        self.assertEqual(self.pair({"oslo-rome.txt": lines})[0]["throughput"], "208Mbps")

    def test_what_is_cut_off(self):
        text = json.dumps(self.iperf3(210), indent=1)
        self.refused({"cut.json": text[:len(text) // 2]}, "ends in the middle of its JSON")
        self.refused({"cut.json": text.replace('"end"', "end")}, "line [0-9]+ is no JSON")
        self.refused({"empty.json": "\n"}, "is empty")
        self.refused({"stream.json": '{"event": "start", "data": {"connected": []}}\n'}, "has no results")
        self.refused({"none.json": json.dumps({"start": {}, "end": {}, "intervals": []})}, "has no results")
        self.refused({"end.json": '{"event": "end", "data": {"streams": []}}\n'}, "has no event \"start\"")
        self.refused({"inf.json": text.replace("210000000.0", "1e999")}, "found inf bit/s")
        with self.assertRaisesRegex(InputError, "missing.json: does not exist; allowed"):
            matrix_of([self.folder / "missing.json"], {"oslo": [], "rome": []}, INSIDE)

    def test_folders_and_patterns(self):
        (self.folder / "day").mkdir()
        for i, rate in enumerate((100, 120, 140)):
            self.write(f"day/{i}.json", json.dumps(self.iperf3(rate)))
        self.write("day/README.md", "notes")
        hosts, known = {"oslo": ["10.1.0.1"], "rome": ["10.2.0.1"]}, {frozenset(("oslo", "rome")): "40ms"}
        for name in ("day", "day/*.json"):
            matrix = matrix_of([self.folder / name], hosts, INSIDE, known_rtts=known)
            self.assertEqual(matrix["pairs"][0]["throughput"], "120Mbps")
        with self.assertRaisesRegex(InputError, "matches no file"):
            matrix_of([self.folder / "night/*.json"], hosts, INSIDE)

    def test_nccl_tests_as_json(self):
        # 64 MiB in 1789569.71 us are 300 Mb/s; devices stand in config, as src/util.cu writes them, or beside it.
        devices = [{"rank": i, "group": 0, "hostname": host, "device": 0} for i, host in enumerate(("gpu-oslo", "gpu-rome"))]
        row = {"size": 67108864, "count": 16777216, "type": "float", "redop": "sum", "root": "    -1",
               "out_of_place": {"time": 1789569.71, "alg_bw": 0.0375, "bus_bw": 0.0375, "nwrong": 0.0},
               "in_place": {"time": 1789000.0, "alg_bw": 0.0375, "bus_bw": 0.0375, "nwrong": None}}
        small = {**row, "size": 33554432, "out_of_place": {**row["out_of_place"], "time": 900000.0}}
        document = {"version": 3, "args": ["all_reduce_perf"], "nccl_version": 22900, "config": {"nthreads": 1, "devices": devices},
                    "results": [small, row], "out_of_bounds": {"count": 0, "okay": "true"}}
        hosts = {"oslo": ["gpu-oslo"], "rome": ["gpu-rome"]}
        beside = {**document, "config": {}, "devices": devices}
        for form in (document, beside):
            found, warnings = self.pair({"nccl.json": json.dumps(form)}, hosts)
            self.assertEqual(found["throughput"], "300Mbps")
            self.assertIn("it does not say how many", warnings[0])
        body = row["out_of_place"]
        for wrong, word in (({**document, "results": []}, "no row"), ({**beside, "devices": devices[:1]}, "is of ranks 0;"),
                            ({**document, "out_of_bounds": {"okay": "false"}}, "arrived wrong"),
                            ({**document, "results": [{**row, "out_of_place": {**body, "nwrong": "3"}}]}, "arrived wrong"),
                            ({**document, "results": [{**row, "out_of_place": {**body, "bus_bw": 0.02}}]}, "0.0375 GB/s of algbw and 0.02"),
                            ({**document, "results": [{**row, "out_of_place": {"cpu_time": 9.0, "alg_bw": 1, "bus_bw": 1}}]}, "no row")):
            self.refused({"nccl.json": json.dumps(wrong)}, word, hosts)
        self.refused({"nccl.json": json.dumps({**document, "results": [{**row, "size": 10240}]})}, "10240 bytes, which -e allowed", hosts)
        slow = {**small, "out_of_place": {**row["out_of_place"], "time": 1500000.0}}
        self.assertIn("300 Mb/s with 67108864 bytes, 179 with 33554432: larger messages may be faster still",
                      self.pair({"nccl.json": json.dumps({**document, "results": [slow, row]})}, hosts)[1][0])

    def test_nccl_tests_with_the_time_of_day_or_of_iterations(self):
        text = (DATA / "nccl-all-reduce.txt").read_text()
        hosts = {"warsaw": ["warsaw-gpu"], "madrid": ["madrid-gpu"]}
        stamped = re.sub(r"( float .*)$", r"\1  2026-07-10 10:00:00", text, flags=re.MULTILINE).replace(
            "#wrong\n", "#wrong            timestamp\n")
        single = re.sub(r"(  0.04    0.04       0)", r"\1    4.0     4.1     4.1     0.2", text).replace(
            "#wrong", "#wrong   i_min   i_max   i_p99   i_cv%")
        for form in (stamped, single):
            found, = read(self.write("nccl.txt", form), hosts)
            self.assertAlmostEqual(found.together / 1e6, 300, delta=5e-4)

    def test_tables(self):
        for text, rate, rtt in (("\ufefffrom,to,rate_mbps,rtt_ms\noslo,rome,250,31\n", "250Mbps", "31ms"),
                                ("from,to,rate_mbps,rtt_ms\noslo,rome,2.5e+02,3.1E1\n", "250Mbps", "31ms"),
                                ('"from","to","rate_mbps","rtt_ms"\n"oslo","rome","250","31"\n', "250Mbps", "31ms"),
                                ("sep=;\nFrom; To; Rate_Mbps; RTT_ms\noslo; rome; 250,5; 31,25\n", "250.5Mbps", "31.25ms"),
                                ("from\tto\trate_gbps\trtt_us\noslo\trome\t0.25\t31000\n", "250Mbps", "31ms"),
                                ("to,from,rtt_ms,rate_mbps\nrome,10.1.0.1,31,250\noslo,oslo,,\n", "250Mbps", "31ms"),
                                ("from,to,rtt_ms,rate_mbps,note\nrome,oslo,31,250\n", "250Mbps", "31ms")):
            found = self.pair({"table.csv": text})[0]
            self.assertEqual((found["throughput"], found["rtt"]), (rate, rtt), text)
        found = self.pair({"table.csv": "from,to,rate_mbps,streams\noslo,rome,250,1\noslo,rome,900,4\n"})[0]
        self.assertEqual((found["throughput"], [one["connections"] for one in found["measured"]]), ("250Mbps", [1, 4]))
        for cell in ("nan", "inf", "1e999", "-3", "0", "0e5", "1,5", "fast", "1.2.3", ""):
            self.refused({"table.csv": f'from,to,rate_mbps\noslo,rome,"{cell}"\n'}, "line 2, rate_mbps")
        self.refused({"table.csv": "from,to,rate_mbps,rate_gbps\noslo,rome,1,1\n"}, "the columns rate_mbps and rate_gbps")

    def test_squares(self):
        hosts = {"oslo": [], "rome": [], "bern": []}
        text = ",oslo,rome,bern\noslo,0,40,31\nrome,42,,12\nbern,30,12,-\n"
        warnings = []
        file = self.write("square.csv", text)
        pairs = matrix_of([file], hosts, INSIDE, warnings.append, known_throughput="90Mbps")["pairs"]
        self.assertEqual([(one["rtt"], one["throughput"]) for one in pairs], [("42ms", "90Mbps"), ("31ms", "90Mbps"), ("12ms", "90Mbps")])
        self.assertEqual([("40 and 42 ms" in said, "the larger is taken" in said) for said in warnings], [(True, True), (False, True)])
        rates = self.write("rates.csv", text.replace(",oslo", "rate_mbps;oslo", 1).replace(",", ";"))
        pairs = matrix_of([rates, file], hosts, INSIDE)["pairs"]
        self.assertEqual([(one["rtt"], one["throughput"]) for one in pairs], [("42ms", "40Mbps"), ("31ms", "30Mbps"), ("12ms", "12Mbps")])
        with self.assertRaisesRegex(InputError, "nothing says what a connection between oslo and rome carries"):
            matrix_of([file], hosts, INSIDE)
        for wrong, word in ((text.replace("31", "far"), "line 2, bern: found \"far\""), ("hops" + text, "the corner of the square says \"hops\""),
                            (text.replace("bern,30", "kiev,30"), "line 4: found \"kiev\"")):
            with self.assertRaisesRegex(InputError, word):
                matrix_of([self.write("square.csv", wrong)], hosts, INSIDE)

    def test_pings_of_other_systems(self):
        """In the forms that macOS and Windows document; neither ran here."""
        bsd = ("PING 10.2.0.1 (10.2.0.1): 56 data bytes\n64 bytes from 10.2.0.1: icmp_seq=0 ttl=64 time=41.9 ms\n\n"
               "--- 10.2.0.1 ping statistics ---\n1 packets transmitted, 1 packets received, 0.0% packet loss\n"
               "round-trip min/avg/max{} = 41.9/42.0/42.1{} ms\n")
        windows = ("\r\nPinging {} with 32 bytes of data:\r\nReply from 10.2.0.1: bytes=32 time=43ms TTL=57\r\n\r\n"
                   "Ping statistics for 10.2.0.1:\r\n    Packets: Sent = 4, Received = 4, Lost = 0 (0% loss),\r\n"
                   "Approximate round trip times in milli-seconds:\r\n    Minimum = 42ms, Maximum = 44ms, Average = 43ms\r\n")
        hosts = {"oslo": ["10.1.0.1"], "rome": ["10.2.0.1"], "bern": ["10.3.0.1"]}
        for text, milliseconds in ((bsd.format("/stddev", "/0.1"), 41.9), (bsd.format("", ""), 41.9), (windows.format("10.2.0.1"), 42),
                                   (windows.format("h2.example [10.2.0.1]"), 42)):
            one, = read(self.write("oslo.txt", text), hosts)
            self.assertEqual(one.pair, {"oslo", "rome"})
            self.assertAlmostEqual(one.rtt_s * 1e3, milliseconds)
            utf16 = self.folder / "oslo.log"
            utf16.write_bytes(text.encode("utf-16"))
            self.assertEqual(read(str(utf16), hosts)[0].rtt_s, one.rtt_s)

    def test_round_trips_to_several_hosts(self):
        fping = "".join(f"{host} : xmt/rcv/%loss = 5/5/0%, min/avg/max = {time}/9/99\n"
                        for host, time in (("10.1.0.1", 0.03), ("10.2.0.1", 42.5), ("10.3.0.1", 7.25)))
        hosts = {"oslo": ["10.1.0.1"], "rome": ["10.2.0.1"], "bern": ["10.3.0.1"]}
        found = read(self.write("oslo.txt", fping), hosts)
        self.assertEqual({tuple(sorted(one.pair)): round(one.rtt_s * 1e3, 9) for one in found}, {("oslo", "rome"): 42.5, ("bern", "oslo"): 7.25})
        without_own = "".join(fping.splitlines(True)[1:])
        self.assertEqual({one.pair for one in read(self.write("all.txt", without_own), hosts)},
                         {frozenset(("oslo", "rome")), frozenset(("oslo", "bern"))})
        for name, text, word in (("all.txt", fping, "does not say where it ran"), ("oslo-rome.txt", fping, "its name says oslo and rome"),
                                 ("x.txt", fping.replace("10.", "172."), "hosts of no site"),
                                 ("oslo.txt", fping.splitlines()[0], "to a host of oslo")):
            with self.assertRaisesRegex(InputError, word):
                read(self.write(name, text), hosts)
        end = "--- {0} ping statistics ---\n5 packets transmitted, 5 received\nrtt min/avg/max/mdev = {1}/50.0/60.0/1.0 ms\n"
        twice = "PING {0} ({0}) 56(84) bytes of data.\n\n" + end
        pair = {"oslo": ["10.1.0.1"], "rome": ["10.2.0.1"]}
        for text in (twice.format("10.1.0.1", 0.03) + twice.format("10.2.0.1", 42.5),
                     end.format("10.1.0.1", 0.03) + end.format("10.2.0.1", 42.5), twice.format("10.2.0.1", 44) + twice.format("10.2.0.1", 42.5)):
            for name in ("oslo-rome.txt", "pings.txt"):
                self.assertAlmostEqual(read(self.write(name, text), pair)[0].rtt_s, 42.5e-3)
        bare = re.sub("(?m)^(PING|---).*\n", "", twice.format("10.1.0.1", 0.03) + twice.format("10.2.0.1", 42.5))
        with self.assertRaisesRegex(InputError, "several summaries without their hosts"):
            read(self.write("oslo-rome.txt", bare), pair)

    def test_damaged_files_are_read_or_refused(self):
        """Whatever is cut from a file's end or out of its middle: no crash, no impossible value, one line."""
        files, draws = sorted(path for path in DATA.rglob("*.*") if path.is_file()), random.Random(60)
        damaged = {}
        for file in files:
            raw = file.read_bytes()
            for _ in range(5):
                begin = draws.randrange(len(raw))
                cut = raw[:begin] if draws.random() < 0.4 else raw[:begin] + draws.choice((b"", b"null", b"1e999", b"-", b"[]")) + raw[
                    begin + draws.randrange(9):]
                damaged[str(self.write(f"{len(damaged)}/{file.name}", ""))] = cut
        for name, cut in damaged.items():
            with open(name, "wb") as file:
                file.write(cut)
        sites = [f"--site={name}={','.join(hosts)}" for name, hosts in HOSTS.items()]
        done = subprocess.run([LONGHAUL, "measured", "--list", *sites, *damaged], capture_output=True, encoding="utf-8")
        self.assertEqual(done.returncode, 2, done.stderr[-1000:])
        answered = set()
        for one in map(json.loads, done.stdout.splitlines()):
            answered.add(one["file"])
            self.assertTrue(0 < (one["together_bps"] or one["rtt_s"]) < 1e15, (one, damaged[one["file"]]))
        for line in done.stderr.splitlines():
            name = re.match("error: ([^:]*): .", line)
            self.assertTrue(name and name[1] in damaged and name[1] not in answered, line)
            answered.add(name[1])
        for name in set(damaged) - answered:  # a table of no pair
            self.assertRegex(name, r"\.csv$")

    def test_tools_that_are_not_read_are_named(self):
        for file in sorted((DATA / "not_read").iterdir()):  # qperf 0.4.11, netperf 2.7.1, sockperf 3.7, nuttcp 6.1.2
            with self.assertRaisesRegex(InputError, f"is of {file.stem.split('-')[0]}, which is not read; give `"):
                read(str(file), HOSTS)
        self.refused({"oslo-rome.txt": "traceroute to 10.2.0.1 (10.2.0.1), 30 hops max\n"}, "is of traceroute, which is not read; give `ping")
        self.refused({"oslo-rome.txt": "hello\n"}, "is of no tool that is read; allowed: `iperf3")
        self.refused({"oslo-rome.json": '{"a": 1}'}, r"JSON of no tool that is read \(keys: a\)")
        self.refused({"sites.json": '{"sites": [], "pairs": []}'}, "a matrix of sites already")
        self.refused({"oslo-rome.json": json.dumps({"start": {"test_start": 3, "connected": [4]}, "end": {"a": 1}})}, "did not begin the test")


if __name__ == "__main__":
    unittest.main()
