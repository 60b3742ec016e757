#!/usr/bin/env python3
"""Traces of hosts whose clocks differ, of several windows and of groups that are hard to tell: small traces, with values worked out by hand.

    observed_joining_test.py SOURCE_FOLDER
"""
import json
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
sys.path[:0] = [str(SOURCE / "python"), str(SOURCE / "tests/support")]

from folder import InAFolder  # noqa: E402
from longhaul.observed import read  # noqa: E402

MS = 1000  # us, as ts and dur are
UPPER_BOUND = "not every rank's trace was given"


def step(number, begin_ms, duration_ms):
    return {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1, "tid": 1, "ts": begin_ms * MS, "dur": duration_ms * MS}


def work(begin_ms, duration_ms, name="gloo:all_reduce", numbers=1000, thread=100, **args):
    return {"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": thread, "ts": begin_ms * MS, "dur": duration_ms * MS,
            "args": {"Input Dims": [[numbers]], "Input type": ["float"], **args}}


def kernel(begin_ms, duration_ms, sequence, ranks, group="0", dtype="Float", size=None):
    return {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 20, "ts": begin_ms * MS, "dur": duration_ms * MS,
            "args": {"Collective name": "allreduce", "In msg nelems": 1000, "dtype": dtype, "Group size": size or len(ranks),
                     "Process Group Name": group, "Process Group Ranks": str(list(ranks)) if size is None else str(list(ranks))[:-1] + ", ...]", "Seq": sequence}}


def words(document):
    return " ".join([words for one in document["files"] for words in one["took"] + one["left"]] + document["notes"])


class Traces(InAFolder):
    def trace(self, name, rank, world, events, host=None, groups=None):
        groups = groups or [{"pg_name": "0", "backend_config": "cpu:gloo,cuda:nccl", "pg_size": world, "ranks": list(range(world))}]
        document = {"distributedInfo": {"rank": rank, "world_size": world, "pg_config": groups}, "baseTimeNanoseconds": 10**18, "traceEvents": events}
        if host is not None:
            document["host_name"] = host
        return self.write(name, json.dumps(document))


class TimeOfExchangesInAStep(Traces):
    def exchanging(self, events):
        document = read([self.trace("0.json", 0, 1, events)])
        return [one.get("exchanging_s") for one in sorted(document["steps"] + document["steps_left"], key=lambda one: one["step"])]

    def test_one_that_began_in_an_earlier_step(self):
        steps = [step(number, 1000 * (number - 1), 1000) for number in (1, 2, 3)]
        self.assertEqual(self.exchanging(steps + [work(800, 1700)]), [0.2, 1, 0.5])
        self.assertEqual(self.exchanging(steps + [work(-500, 1000)]), [0.5, None, None])  # before the first step

    def test_what_overlaps_counts_once(self):
        # 0.8 to 1.2 and 1.1 to 1.4 s, then 2.5 to 2.6 s.
        events = [step(number, 1000 * (number - 1), 1000) for number in (1, 2, 3)] + [work(800, 400), work(1100, 300, thread=101), work(2500, 100)]
        self.assertEqual(self.exchanging(events), [0.2, 0.4, 0.1])

    def test_one_that_the_end_of_the_window_cut(self):
        document = read([self.trace("0.json", 0, 1, [step(1, 0, 1000), step(2, 1000, 1000), work(1900, 300, finished=False)])])
        self.assertEqual([one["exchanging_s"] for one in document["steps"]], [0.1])
        self.assertEqual(document["exchanges"], [])


    def test_sends_of_nccl(self):
        # Their own time is not known, since a kernel waits for its peer; the rank is in an exchange meanwhile.
        send = kernel(1400, 300, 1, [0])
        send["args"]["Collective name"] = "send"
        document = read([self.trace("0.json", 0, 1, [step(1, 0, 1000), step(2, 1000, 1000), kernel(1500, 300, 2, [0]), send])])
        self.assertEqual([one["exchanging_s"] for one in document["steps"]], [0.4])
        self.assertEqual([one["operation"] for one in document["exchanges"]], ["all-reduce"])


class Clocks(Traces):
    def test_hosts_without_a_name_may_have_other_clocks(self):
        # Four ranks, each 1 ms later than the one before, all end together; rank 2's clock is 300 ms ahead. Rank 3 comes last: 97 ms.
        for hosts in ([None] * 4, ["a", "b", "c", "d"], ["a", "a", None, "a"]):
            files = [self.trace(f"{rank}.json", rank, 4, [kernel((300 if rank == 2 else 0) + 2000 * at + rank, 100 - rank, at, range(4)) for at in range(3)], host)
                     for rank, host in enumerate(hosts)]
            document = read(files)
            self.assertEqual([(one["seconds"], one["members"], one["includes_wait"]) for one in document["exchanges"]], [(0.097, 4, False)] * 3)
            self.assertIn("clocks differ by at least 202 ms", words(document))  # 300 + 2 - 100

    def test_all_spans_that_are_left_are_counted(self):
        # The same on one host: no clock differs there, so the spans are of other exchanges.
        files = [self.trace(f"{rank}.json", rank, 4, [kernel((300 if rank == 2 else 0) + 2000 * at, 100, at, range(4)) for at in range(3)], "a")
                 for rank in range(4)]
        document = read([self.trace("x.json", 0, 1, [work(0, 5)], "b"), *files])
        self.assertIn("3 on rank 0, 3 on rank 1, 3 on rank 2, 3 on rank 3: the traces do not hold the same exchanges, so 12 of these spans", words(document))

    def test_what_is_left_of_two_kinds_is_said_of_each(self):
        # Rank 1's are 1 s later: of two sizes, one span a rank each.
        files = [self.trace(f"{rank}.json", rank, 2, [step(1, 0, 5000)] + [work(1000 * rank + at, 10, numbers=size) for at, size in ((100, 7), (200, 8))], "a")
                 for rank in range(2)]
        files.append(self.trace("x.json", 0, 1, [work(0, 5)], "b"))
        for size in (7, 8):
            self.assertIn(f"gloo:all_reduce of {size}, group 0: 1 on rank 0, 1 on rank 1", words(read(files)))

    def test_an_exchange_longer_than_the_clocks_differ(self):
        # Rank 1's clock is 300 ms ahead, which the first exchange shows, of 50 ms. In the second rank 0 comes last, 1 s before its end; by
        # the clocks as they are rank 1 came last, 1.1 s before.
        files = [self.trace(f"{rank}.json", rank, 2, [work(300 * rank, 50), work(2000 + 300 * rank - 100 * rank, 1000 + 100 * rank)], f"h{rank}") for rank in range(2)]
        first, second = read(files)["exchanges"]
        self.assertEqual((first["seconds"], second["seconds"]), (0.05, 1))
        self.assertNotIn("waits_s", second)  # 0.2 s by the clocks, 0.1 s in truth, of the other rank

    def test_a_burst_of_hosts_whose_clocks_differ(self):
        # Rank 0, the last: 0 to 100 and 50 to 150 ms. Rank 1 joined 100 ms earlier, and its clock is 1 s ahead.
        files = [self.trace(f"{rank}.json", rank, 2, [work(900 * rank, 100 + 100 * rank), work(900 * rank + 50, 100 + 100 * rank, thread=101)], f"h{rank}")
                 for rank in range(2)]
        one, = read(files)["exchanges"]
        self.assertEqual((one["operations"], one["seconds"], one["includes_wait"], one["why"]), (2, 0.15, True, "the clocks of its ranks differ"))

    def windows(self, apart_ms):
        """Two windows of two steps each on two ranks, 100 s apart; rank 1 comes 0.2 s later, and its clock is ahead."""
        return [self.trace(f"{window}{rank}.json", rank, 2, [event for at in range(2) for event in (
            step(10 * window + at, start + 1000 * at, 1000), work(start + 1000 * at + 300 + 200 * rank, 400 - 200 * rank))], f"h{rank}")
            for window in range(2) for rank in range(2) for start in [100_000 * window + apart_ms * rank]]

    def test_two_windows_of_each_rank(self):
        for apart_ms in (0, 5_000, 100_500, 1_000_000):  # less than a window, more; so that one's second is at the other's first; far
            document = read(self.windows(apart_ms))
            self.assertEqual([(one["step"], one["ranks"], one["seconds"], one["includes_wait"]) for one in document["exchanges"]],
                             [(number, [0, 1], 0.2, False) for number in (0, 1, 10, 11)], apart_ms)
            self.assertNotIn(UPPER_BOUND, words(document))
        self.assertIn("(in each of 2 windows)", words(document))

    def test_other_windows_of_each_rank_are_not_joined(self):
        files = self.windows(5_000)
        document = read([files[0], files[3]])  # rank 0's first and rank 1's second
        self.assertEqual([one["ranks"] for one in document["exchanges"]], [[0], [0], [1], [1]])


class Groups(Traces):
    def test_all_ranks_given_and_a_group_that_is_not_known(self):
        # Each rank is in three groups of Gloo, and the window has threads of one.
        files = [self.trace(f"{rank}.json", rank, 2, [work(100 + 10 * rank, 100 - 10 * rank, thread=103)], "a", [
            {"pg_name": "0", "backend_config": "gloo", "ranks": [0, 1]}, {"pg_name": "1", "backend_config": "gloo", "ranks": [0, 1]},
            {"pg_name": str(2 + rank), "backend_config": "gloo", "ranks": [rank]}]) for rank in range(2)]
        document = read(files)
        self.assertTrue(all(one["includes_wait"] and "which ranks took part" in one["why"] for one in document["exchanges"]))
        self.assertEqual(len(document["exchanges"]), 2)
        self.assertIn("2 spans are of groups that the files do not tell apart", words(document))
        self.assertNotIn(UPPER_BOUND, words(document))
        self.assertIn(UPPER_BOUND, words(read(files[:1])))

    def test_a_list_of_ranks_that_is_cut(self):
        # torch writes 30 ranks and "...". A group of all ranks has them all; of another the trace's list of groups may have them.
        of_all = [self.trace(f"{rank}.json", rank, 40, [kernel(rank, 100 - rank, 1, range(30), size=40)], "a", [{"pg_name": "9", "ranks": [0]}]) for rank in range(2)]
        document = read(of_all)
        one, = document["exchanges"]
        self.assertEqual((one["members"], one["ranks"], one["includes_wait"], one["seconds"]), (40, [0, 1], True, 0.099))
        self.assertIn(UPPER_BOUND, words(document))
        listed = [self.trace(f"{rank}.json", rank, 64, [kernel(rank, 100 - rank, 1, range(30), "7", size=32)], "a", [
            {"pg_name": "7", "backend_config": "cuda:nccl", "ranks": list(range(32))}]) for rank in range(32)]
        one, = read(listed)["exchanges"]
        self.assertEqual((one["members"], len(one["ranks"]), one["includes_wait"]), (32, 32, False))
        self.assertAlmostEqual(one["seconds"], 0.069)  # rank 31, the last

    def test_a_list_of_ranks_that_is_cut_and_nowhere_else(self):
        files = [self.trace(f"{rank}.json", rank, 64, [kernel(rank, 100 - rank, 1, range(30), "7", size=32)], "a") for rank in range(64)]
        document = read(files)
        self.assertEqual({(one["members"], len(one["ranks"]), one["includes_wait"]) for one in document["exchanges"]}, {(32, 1, True)})
        self.assertIn('64 spans are of groups whose ranks the files do not list all ("...")', words(document))
        self.assertNotIn(UPPER_BOUND, words(document))


class Sizes(Traces):
    def test_a_type_that_is_not_known_is_named(self):
        document = read([self.trace("0.json", 0, 1, [kernel(0, 5, 1, [0], dtype="Posit16"), kernel(10, 5, 2, [0])])])
        self.assertEqual([one.get("bytes") for one in document["exchanges"]], [None, 4000])
        self.assertIn("1 exchange without a size, of the type 'Posit16', which is not known", words(document))
        self.assertNotIn("record_shapes", words(document))

    def test_a_trace_without_shapes_asks_for_them(self):
        event = work(0, 5)
        event["args"] = {}
        document = read([self.trace("0.json", 0, 1, [event])])
        self.assertIn("1 exchange without a size, since the trace has no shapes: record with record_shapes=True", words(document))


if __name__ == "__main__":
    unittest.main()
