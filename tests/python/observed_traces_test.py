#!/usr/bin/env python3
"""Exchanges and steps of real profiler traces: longhaul.observed on files of tests/data/observed, beside values worked out by hand.

    observed_traces_test.py SOURCE_FOLDER

kineto-*, chakra-* and gloo-* are of small runs of torch 2.15.0 (CPU, Gloo, ranks on one host's loopback; kineto-wan-* in namespaces with
100 ms and 50 Mb/s); so are buckets-*, groups-*, powersgd-*, detail-* and p2p-*, in which only steps, calls and works are kept, and the
numbers of processes and threads replaced (neighbours stay neighbours). The numbers of a case are ts and dur of the files, in us or ms
after a round moment before its first event.
"""
import copy
import gzip
import json
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
sys.path[:0] = [str(SOURCE / "python"), str(SOURCE / "tests/support")]

from folder import InAFolder  # noqa: E402
from longhaul.observed import InputError, read  # noqa: E402
from longhaul.observed.traces import gloo  # noqa: E402

DATA = SOURCE / "tests/data/observed"


def observed(*names):
    return read([DATA / name for name in names])


def of_ranks(name, count):
    return observed(*(f"{name}-rank{rank}.json" for rank in range(count)))


def exchanges(document, operation, size=None):
    return [one for one in document["exchanges"] if one["operation"] == operation and (size is None or one.get("bytes") == size)]


def words(document):
    said = [words for one in document["files"] for words in one["took"] + one["left"]] + document["notes"]
    return " ".join(said)


class Exact(InAFolder):
    def expect_seconds(self, found, expected_us, places=9):
        self.assertEqual(len(found), len(expected_us), found)
        for one, expected in zip(found, expected_us):
            self.assertAlmostEqual(one["seconds"], expected / 1e6, places=places, msg=str(one))


class OnTheWire(Exact):
    """kineto-ddp: rank 1 sleeps 50 ms at the start of each step."""

    def test_buckets_from_the_last_begin_to_the_last_end(self):
        found = exchanges(of_ranks("kineto-ddp", 2), "all-reduce", 8388608)
        # Rank 1 begins last each time and ends last: its dur. The last one ends on rank 0, at 1250608 + 57168 us; rank 1 begins at 1294255.
        self.expect_seconds(found, [9772.986, 11074.527, 8561.898, 36033.677, 38848.126, 1250608 + 57168 - 1294255], places=6)
        for one, printed in zip(found, (9.8, 11.1, 8.6, 36.0, 38.8, 13.5)):
            self.assertAlmostEqual(1000 * one["seconds"], printed, delta=0.06)
        self.assertEqual([one["step"] for one in found], [2, 2, 3, 3, 4, 4])
        self.assertTrue(all(one["members"] == 2 and one["library"] == "gloo" and one["group"] == "0" and not one["includes_wait"] and
                            one["ranks"] == [0, 1] and one["count"] == 1 for one in found))

    def test_the_wait_for_the_late_rank(self):
        first = exchanges(of_ranks("kineto-ddp", 2), "all-reduce", 8388608)[0]
        # Begins: 4958211471532.895 on rank 0 and 63.746 ms later on rank 1.
        self.assertAlmostEqual(first["waits_s"][0], 0.0637, delta=0.0001)
        self.assertEqual(first["waits_s"][1], 0)
        self.assertAlmostEqual(first["least_span_s"], 0.009773, delta=1e-6)
        # Unix time of rank 0's begin: 1790857026 s + 4958211.471532895 s; the exchange is 63.7 ms later.
        self.assertAlmostEqual(first["time_s"] - 63.746e-3, 1790857026 + 4958211.471532895, delta=1e-4)

    def test_a_wait_later_in_the_program_is_not_in_it(self):
        # Waited for 0.2 s later. Step 2: begins 579994 and 573576, ends 579994 + 1138 and 573576 + 7528.
        found = exchanges(of_ranks("kineto-ddp", 2), "all-reduce", 1000000)
        self.assertAlmostEqual(found[0]["seconds"], 0.001138, delta=2e-6)
        self.assertEqual(len(found), 3)

    def test_each_exchange_counts_once(self):
        document = of_ranks("kineto-ddp", 2)
        sizes = [one["bytes"] for one in exchanges(document, "all-reduce")]
        self.assertEqual(sorted(sizes), [2000 * 4] * 3 + [250000 * 4] * 3 + [2097152 * 4] * 6)
        self.assertEqual({one["call"] for one in exchanges(document, "all-reduce", 8000)}, {"c10d::_reduce_scatter_base_"})
        self.assertIn("an all-reduce of the whole input", words(document))
        self.assertEqual([one["bytes"] for one in exchanges(document, "all-gather")], [4000] * 6)  # one rank's part
        self.assertEqual(len(exchanges(document, "broadcast", 1000000)), 3)
        barriers = exchanges(document, "barrier")
        self.assertEqual(len(barriers), 3)
        self.assertTrue(all("bytes" not in one for one in barriers))

    def test_parts_of_an_all_gather_may_differ(self):
        uneven = json.loads((DATA / "kineto-ddp-rank1.json").read_text())
        for event in uneven["traceEvents"]:
            if event["name"] == "gloo:all_gather":
                event["args"]["Input Dims"] = [[900]]
        found = exchanges(read([DATA / "kineto-ddp-rank0.json", self.write("rank1.json", json.dumps(uneven))]), "all-gather")
        self.assertEqual([(one["bytes"], one["ranks"]) for one in found], [(4000, [0, 1])] * 6)  # the larger part

    def test_a_send_of_bfloat16(self):
        found = exchanges(of_ranks("kineto-ddp", 2), "send")
        self.assertEqual([(one["bytes"], one["ranks"], one["members"]) for one in found], [(500 * 2, [0, 1], 2)] * 3)
        # Step 2: send 787279 to 787433, receive 787333 to 787438.
        self.assertAlmostEqual(found[0]["seconds"], 0.000105, delta=1e-6)

    def test_steps_and_the_first_left_out(self):
        document = of_ranks("kineto-ddp", 2)
        steps = {(one["rank"], one["step"]): one for one in document["steps"]}
        self.assertEqual(set(steps), {(0, 3), (0, 4), (1, 3), (1, 4)})
        self.assertAlmostEqual(steps[0, 3]["seconds"], 0.371280, delta=1e-6)
        self.assertAlmostEqual(steps[0, 4]["seconds"], 0.369596, delta=1e-6)
        left = [(one["rank"], one["step"], round(one["seconds"], 3), one["why"]) for one in document["steps_left"]]
        self.assertEqual(left, [(0, 2, 0.344, "the first recorded"), (1, 2, 0.340, "the first recorded")])

    def test_the_time_with_an_exchange_under_way(self):
        step = next(one for one in of_ranks("kineto-ddp", 2)["steps"] if (one["rank"], one["step"]) == (0, 4))
        # Rank 0, step 4, ms: 1214.071 to 1307.776 (two buckets that overlap), then 1.040, 3.753, 4.091, 0.416, 0.620, a send of
        # 0.040 and a barrier of 0.484.
        self.assertAlmostEqual(1000 * step["exchanging_s"], (1307.776 - 1214.071) + 1.040 + 3.753 + 4.091 + 0.416 + 0.620 + 0.040 + 0.484,
                               delta=0.01)

    def test_over_four_hosts_of_a_wide_area(self):
        document = of_ranks("kineto-wan", 4)
        for size, printed in ((1024, (0.608, 0.604, 0.604)), (1048576, (0.791, 0.790, 0.789)), (4000000, (1.32,))):
            found = exchanges(document, "all-reduce", size)
            self.assertEqual(len(found), len(printed))
            for one, seconds in zip(found, printed):
                self.assertAlmostEqual(one["seconds"], seconds, delta=0.005 if seconds > 1 else 0.0006)
                self.assertEqual((one["members"], one["ranks"]), (4, [0, 1, 2, 3]))
        for one in exchanges(document, "all-reduce")[:6]:  # rank 2 is always 0.3 s late
            self.assertEqual(one["waits_s"][2], 0)
            self.assertTrue(all(0.19 <= wait <= 0.36 for rank, wait in enumerate(one["waits_s"]) if rank != 2), one)

    def test_the_base_of_each_file_is_added(self):
        # The same moments with another base: next quarter's, 7,889,238 s later, in rank 1's file alone.
        shifted = json.loads((DATA / "kineto-ddp-rank1.json").read_text())
        quarter = 7_889_238
        shifted["baseTimeNanoseconds"] += quarter * 10**9
        for event in shifted["traceEvents"]:
            event["ts"] -= quarter * 10**6
        file = self.write("rank1.json", json.dumps(shifted))
        found = exchanges(read([DATA / "kineto-ddp-rank0.json", file]), "all-reduce", 8388608)
        self.assertEqual(len(found), 6)
        self.assertAlmostEqual(found[0]["seconds"], 0.009773, delta=2e-6)

    def test_packed_by_gzip(self):
        file = self.folder / "rank0.json.gz"
        file.write_bytes(gzip.compress((DATA / "kineto-ddp-rank0.json").read_bytes()))
        self.assertEqual(len(exchanges(read([file]), "all-reduce", 8388608)), 6)


class OneRankAlone(Exact):
    def test_its_spans_hold_the_wait(self):
        document = observed("kineto-ddp-rank0.json")
        found = exchanges(document, "all-reduce", 8388608)
        self.expect_seconds(found, [73017.315, 57331.276, 53767, 85009, 73503, 57168], places=5)
        self.assertTrue(all(one["includes_wait"] and one["ranks"] == [0] and "waits_s" not in one for one in document["exchanges"]))
        self.assertIn("an upper bound", words(document))
        self.assertIn("1 of 2 ranks", words(document))

    def test_no_send_is_timed(self):
        document = observed("kineto-send-rank0.json")
        self.assertEqual(exchanges(document, "send"), [])
        self.assertIn("2 of 2 spans of sends and receives without the other end", words(document))

    def test_three_of_four_ranks(self):
        document = observed("kineto-wan-rank0.json", "kineto-wan-rank1.json", "kineto-wan-rank3.json")
        found = exchanges(document, "all-reduce", 1024)
        self.assertTrue(len(found) == 3 and all(one["includes_wait"] and one["ranks"] == [0, 1, 3] and one["members"] == 4 for one in found))
        self.assertTrue(all(one["seconds"] > 0.79 for one in found))  # rank 2 is missing, so its 0.3 s are in them


class Bursts(Exact):
    def test_six_at_once_are_one_burst(self):
        burst, = exchanges(of_ranks("kineto-mixed", 2), "all-reduce", 6 * 16_000_000)
        # Rank 1 calls last, at 47.445 ms; the last end is rank 1's, 136.086 + 33.488 ms. Two run at a time: the sum of the spans, 239.7
        # ms, would be twice that.
        self.assertAlmostEqual(1000 * burst["seconds"], 136.086 + 33.488 - 47.445, delta=0.002)
        self.assertAlmostEqual(1000 * burst["seconds"], 122.1, delta=0.05)
        self.assertEqual((burst["operations"], burst["parts"], burst["includes_wait"]), (6, [16_000_000] * 6, False))
        self.assertAlmostEqual(burst["waits_s"][0], 0.047445 - 0.046353, delta=2e-6)
        self.assertEqual(burst["waits_s"][1], 0)

    def test_seen_from_one_rank(self):
        burst, = exchanges(observed("kineto-mixed-rank0.json"), "all-reduce", 6 * 16_000_000)
        self.assertAlmostEqual(1000 * burst["seconds"], 134.606 + 32.995 - 46.353, delta=0.002)
        self.assertTrue(burst["includes_wait"])

    def test_without_the_calls_the_queue_shows_in_the_spans(self):
        files = []
        for rank in range(2):
            document = json.loads((DATA / f"kineto-mixed-rank{rank}.json").read_text())
            document["traceEvents"] = [event for event in document["traceEvents"] if not event["name"].startswith("c10d::")]
            files.append(self.write(f"{rank}.json", json.dumps(document)))
        burst, = exchanges(read(files), "all-reduce", 6 * 16_000_000)
        # From rank 1's first work, at 47.546 ms, instead of its call.
        self.assertAlmostEqual(1000 * burst["seconds"], 136.086 + 33.488 - 47.546, delta=0.002)
        self.assertEqual(burst["operations"], 6)
        burst, = exchanges(read(files[:1]), "all-reduce", 6 * 16_000_000)  # rank 0 alone: from its first work, at 46.460 ms
        self.assertAlmostEqual(1000 * burst["seconds"], 134.606 + 32.995 - 46.460, delta=0.002)
        self.assertTrue(burst["includes_wait"])

    def test_calls_that_are_not_those_of_the_works(self):
        # The first call is before the window, and the last work is not in it: equal numbers, and the second call is after the first work.
        document = json.loads((DATA / "kineto-mixed-rank0.json").read_text())
        calls = [event for event in document["traceEvents"] if event["name"] in ("c10d::allreduce_", "c10d::allreduce_coalesced_")]
        works = [event for event in document["traceEvents"] if event["name"] == "gloo:all_reduce"]
        document["traceEvents"] = [event for event in document["traceEvents"] if event is not calls[0] and event is not works[-1]]
        found = exchanges(read([self.write("0.json", json.dumps(document))]), "all-reduce")
        self.assertTrue(all("call" not in one for one in found))
        self.assertEqual(found[0]["operations"], 6)
        self.assertAlmostEqual(1000 * found[0]["seconds"], 134.606 + 32.995 - 46.460, delta=0.002)

    def test_one_after_the_other_is_no_burst(self):
        document = of_ranks("kineto-mixed", 2)
        self.assertEqual([one["bytes"] for one in exchanges(document, "all-reduce") if "operations" not in one],
                         [7 * 4, 9 * 4, 11 * 4, 29 * 8, (31 + 37) * 4])  # the last one: all_reduce_coalesced, two shapes in one event
        sizes = {operation: [one["bytes"] for one in exchanges(document, operation)] for operation in
                 ("all-gather", "reduce", "gather", "scatter", "all-to-all")}
        # all_gather_object is two gathers, of the sizes and of the bytes; in a scatter the root hands in a part for each rank.
        self.assertEqual(sizes, {"all-gather": [8, 21], "reduce": [13 * 4], "gather": [17 * 4], "scatter": [2 * 19 * 4], "all-to-all": [46 * 4]})
        self.assertEqual(exchanges(document, "send"), [])  # its receive ended 2.5 ms after its send, of 2.6

    def test_two_buckets_of_one_step_that_share_the_link(self):
        # buckets-rank0 and -rank1: DDP on two ranks, rank 0 sleeps 30 ms. In step 4 rank 0 calls last, at 1027.058 ms, and rank 1
        # ends last, at 1022.073 + 19.892 ms; the second bucket began before the first had ended.
        document = of_ranks("buckets", 2)
        burst, = exchanges(document, "all-reduce", 2 * 131072 * 4)
        self.assertAlmostEqual(1000 * burst["seconds"], 1022.073 + 19.892 - 1027.058, delta=0.003)
        self.assertEqual((burst["operations"], burst["step"]), (2, 4))
        self.assertAlmostEqual(1000 * burst["waits_s"][1], 1027.058 - 992.555, delta=0.003)
        # Steps 2 and 3, one after the other: the last begins are 895.181 (rank 0), 904.797 (rank 0), 960.755 and 977.118 ms.
        ends = (895.181 + 1.115, 904.797 + 0.992, 960.755 + 12.059, 930.314 + 58.487)
        begins = (895.181, 904.797, 960.755, 977.118)
        self.expect_seconds(exchanges(document, "all-reduce", 131072 * 4), [1000 * (end - begin) for begin, end in zip(begins, ends)], places=5)

    def test_bursts_of_groups_that_share_no_rank_are_apart(self):
        document = of_ranks("groups", 4)
        bursts = [one for one in document["exchanges"] if "operations" in one]
        self.assertEqual(sorted((one["group"], one["ranks"], one["operations"], one["bytes"]) for one in bursts),
                         [("1", [0, 1], 5, 5 * 200000), ("2", [2, 3], 5, 5 * 200000)])


class Groups(Exact):
    """groups-rank0 to 3: a world of four, and groups of ranks 0 1, 2 3, 0 2 and 1 3."""

    def test_each_group_has_its_own_exchanges(self):
        found = exchanges(of_ranks("groups", 4), "all-reduce", 4000)
        self.assertEqual(sorted((one["group"], tuple(one["ranks"]), one["members"]) for one in found),
                         sorted([("1", (0, 1), 2), ("2", (2, 3), 2), ("3", (0, 2), 2), ("4", (1, 3), 2)] * 3))
        self.assertTrue(all(not one["includes_wait"] for one in found))

    def test_the_late_rank_did_not_wait(self):
        # The second rank of a group slept before each; the others waited for it.
        for one in exchanges(of_ranks("groups", 4), "all-reduce", 4000):
            self.assertEqual(one["waits_s"][1], 0, one)
            self.assertGreater(one["waits_s"][0], 0.004)

    def test_threads_in_twos_of_neighbours(self):
        self.assertEqual(gloo.thread_pairs([5, 6, 7, 8, 20, 31, 32, 33]), [(5, 6), (7, 8), (20,), (31, 32), (33,)])
        self.assertEqual(gloo.thread_pairs([]), [])

    def test_where_threads_do_not_tell_the_groups_apart(self):
        # Without the group 0 1 the trace of rank 0 has threads of two groups, and its list names three.
        files = []
        for rank in range(4):
            document = json.loads((DATA / f"groups-rank{rank}.json").read_text())
            threads = sorted({event["tid"] for event in document["traceEvents"] if event["name"].startswith("gloo:")})
            document["traceEvents"] = [event for event in document["traceEvents"] if event["tid"] not in threads[2:4]]
            files.append(self.write(f"{rank}.json", json.dumps(document)))
        document = read(files)
        self.assertTrue(all(one["includes_wait"] and "group" not in one and "members" not in one and len(one["ranks"]) == 1
                            for one in document["exchanges"]))
        self.assertIn("groups that the files do not tell apart", words(document))


class WhatIsLeft(Exact):
    def test_isend_and_irecv_have_no_time(self):
        document = of_ranks("kineto-send", 2)
        one, = exchanges(document, "send", 8_000_000)
        # The blocking pair: the receiver begins last, at 782.466 ms, and ends last, 3.342 ms later. Not the sender's 107.5 ms.
        self.assertAlmostEqual(one["seconds"], 0.003342, delta=2e-6)
        self.assertAlmostEqual(one["waits_s"][0], 0.782466 - 0.677615, delta=2e-6)
        self.assertIn("1 sends whose two ends are apart", words(document))
        reduced, = exchanges(document, "all-reduce")  # never waited for: begins 788.535 and 786.506 ms, rank 1 ends at 808.198
        self.assertAlmostEqual(reduced["seconds"], 0.808198 - 0.788535, delta=2e-6)

    def test_sends_that_computed_in_between(self):
        files = []
        for rank in range(2):
            document = json.loads((DATA / f"kineto-send-rank{rank}.json").read_text())
            sends = [event for event in document["traceEvents"] if event["name"] in ("gloo:send", "gloo:recv")]
            if rank == 0:
                document["traceEvents"].append({**sends[1], "name": "aten::mm", "cat": "cpu_op", "ts": sends[1]["ts"] + 10, "dur": 5, "args": {}})
            files.append(self.write(f"{rank}.json", json.dumps(document)))
        self.assertEqual(exchanges(read(files), "send"), [])

    def test_an_isend_and_an_irecv_at_once_look_alike_on_both_ranks(self):
        # p2p-rank0 and -rank1, three times: isend and irecv, 0.1 s of sleep, both wait()s at the same time on both ranks (spans of 101 ms,
        # whose ends are together); a blocking pair, the receiver 30 ms late; then batch_isend_irecv.
        document = of_ranks("p2p", 2)
        one, = exchanges(document, "send")
        # The first blocking pair, in ms after the first call: the receiver begins at 145.242, the sender ends last, at 109.116 + 42.421.
        self.assertAlmostEqual(1000 * one["seconds"], 109.116 + 42.421 - 145.242, delta=0.002)
        self.assertAlmostEqual(1000 * one["waits_s"][0], 145.242 - 109.116, delta=0.002)
        # 3 x (3 from rank 0 and 2 from rank 1) less that one.
        self.assertIn("14 sends whose two ends are apart, or whose threads did something else", words(document))

    def test_cut_by_the_window(self):
        with self.assertRaisesRegex(InputError, r'kineto-unfinished.json: nothing was taken: 1 work that .*"finished": false'):
            observed("kineto-unfinished.json")
        document = observed("kineto-unfinished.json", "kineto-no-shapes.json")
        self.assertEqual(len(document["exchanges"]), 2)

    def test_without_shapes_there_are_no_bytes(self):
        document = observed("kineto-no-shapes.json")
        self.expect_seconds(document["exchanges"], [683.948, 24705.521])
        self.assertTrue(all("bytes" not in one for one in document["exchanges"]))
        self.assertIn("record_shapes=True", words(document))

    def test_the_debuggers_collectives(self):
        document = observed("kineto-debug-detail.json")
        self.expect_seconds(document["exchanges"], [1996.092, 693.322])
        self.assertEqual([(one["operation"], one["bytes"]) for one in document["exchanges"]], [("all-reduce", 80300 * 4)] * 2)
        self.assertIn("8 works that TORCH_DISTRIBUTED_DEBUG=DETAIL", words(document))

    def test_the_debuggers_among_three_ranks(self):
        # Twice an all_reduce of 5000 floats and an all_gather_object, whose own first gather is of one int64 too.
        document = of_ranks("detail", 3)
        found = [(one["operation"], one["bytes"], one["includes_wait"]) for one in document["exchanges"]]
        self.assertEqual(found, [("all-reduce", 20000, False), ("all-gather", 8, False), ("all-gather", 16, False)] * 2)
        # Rank 0 receives from and sends to two others: 6 x (4 + 2) works; the others 6 x (2 + 2).
        self.assertIn("36 works that TORCH", words(document))
        self.assertEqual(words(document).count("24 works that TORCH"), 2)

    def test_powersgd_hides_exchanges(self):
        # The hook's P and Q are of 512 numbers. In step 3 rank 0 has neither, in step 4 both ranks have both.
        document = of_ranks("powersgd", 2)
        self.assertEqual([(one["bytes"], one["step"]) for one in document["exchanges"]], [(2048, 4), (2048, 4)])
        # P: rank 1 begins last, 1020.797 ms, and rank 0 and 1 end at 909.196 + 115.940 and 1025.230.
        self.assertAlmostEqual(document["exchanges"][0]["seconds"], (1020.797 + 4.433 - 1020.797) / 1000, delta=2e-6)
        self.assertIn("2 on rank 0, 4 on rank 1", words(document))
        self.assertIn("PowerSGD", words(document))
        self.assertIn("2 works without an element", words(document))

    def test_a_trace_given_twice_counts_once(self):
        copied = self.write("copy.json", (DATA / "kineto-ddp-rank0.json").read_text())
        document = read([DATA / "kineto-ddp-rank0.json", DATA / "kineto-ddp-rank1.json", copied])
        self.assertEqual(len(exchanges(document, "all-reduce", 8388608)), 6)
        self.assertEqual(len(document["steps"]), 4)
        self.assertRegex(document["files"][2]["left"][0], "all of it: it is the trace of .*kineto-ddp-rank0.json")

    def test_durations_of_the_flight_recorder_are_not_denied(self):
        record = json.loads((DATA / "gloo-flight-recorder.json").read_text())
        record["entries"][0].update(state="completed", duration_ms=1.5)
        with self.assertRaisesRegex(InputError, r"whose durations \(duration_ms\) are not read \(state completed, scheduled"):
            read([self.write("record.json", json.dumps(record))])

    def test_the_flight_recorder_is_refused(self):
        with self.assertRaisesRegex(InputError, "gloo-flight-recorder.json: is of torch's flight recorder.*no durations.*scheduled"):
            observed("gloo-flight-recorder.json")


class ChakraTraces(Exact):
    def without_shapes(self):
        document = json.loads((DATA / "kineto-ddp-rank0.json").read_text())
        for event in document["traceEvents"]:
            for key in ("Input Dims", "Input type", "Concrete Inputs", "Input Strides"):
                event.get("args", {}).pop(key, None)
        return document

    def test_alone_it_is_refused(self):
        with self.assertRaisesRegex(InputError, "chakra-et-rank0.json: .*Chakra execution trace, which has sizes and no durations"):
            observed("chakra-et-rank0.json")

    def test_sizes_by_the_id_of_the_record_function(self):
        file = self.write("kineto.json", json.dumps(self.without_shapes()))
        document = read([file, DATA / "chakra-et-rank0.json"])
        # The execution trace was cut: works 145, 206, 228, 235, 246, 260, 278 and a barrier are in it.
        in_step = [(one["operation"], one.get("bytes")) for one in document["exchanges"] if one["step"] == 2]
        self.assertEqual(in_step, [("all-reduce", 8388608), ("all-reduce", 8388608), ("all-reduce", 1000000), ("all-gather", 4000),
                                   ("broadcast", 1000000), ("all-gather", 4000), ("all-reduce", 8000), ("barrier", None)])
        self.assertTrue(all("bytes" not in one for one in document["exchanges"] if one["step"] > 2))
        self.assertIn("sizes of 8 works", words(document))  # with a send, whose other end is not given

    def test_not_those_of_another_process(self):
        other = self.without_shapes()
        for event in other["traceEvents"]:
            event["pid"] = 1001
        document = read([self.write("kineto.json", json.dumps(other)), DATA / "chakra-et-rank0.json"])
        self.assertTrue(all("bytes" not in one for one in document["exchanges"]))
        self.assertIn("no trace was given that lacks sizes of this process", words(document))


def nccl_trace(rank, spans, host="host"):
    """A trace with NCCL's kernels, with the fields that torch's source has. spans: (name, elements, begin us, duration us, sequence)."""
    def args(name, elements, sequence):
        return {"Collective name": name, "In msg nelems": elements, "Out msg nelems": elements, "dtype": "BFloat16", "Group size": 2,
                "Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Seq": sequence}
    events = [{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": begin - 3, "dur": 2, "args": args(name, elements, at)}
              for name, elements, begin, _, at in spans]
    events += [{"ph": "X", "cat": "kernel", "name": f"ncclDevKernel_{name}", "pid": 0, "tid": 20, "ts": begin, "dur": duration,
                "args": args(name, elements, at)} for name, elements, begin, duration, at in spans]
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2, "pg_config": [
        {"pg_name": "0", "ranks": [0, 1]}]}, "host_name": host, "baseTimeNanoseconds": 10**18, "traceEvents": events}


class Nccl(Exact):
    def test_kernels_are_joined_and_launches_are_not_counted(self):
        files = [self.write("0.json", json.dumps(nccl_trace(0, [("allreduce", 1000, 100, 900, 1), ("_allgather_base", 50, 1200, 30, 2)]))),
                 self.write("1.json", json.dumps(nccl_trace(1, [("allreduce", 1000, 700, 310, 1), ("_allgather_base", 50, 1210, 25, 2)])))]
        document = read(files)
        self.assertEqual([(one["operation"], one["bytes"], one["library"], one["group"]) for one in document["exchanges"]],
                         [("all-reduce", 2000, "nccl", "0"), ("all-gather", 100, "nccl", "0")])
        self.expect_seconds(document["exchanges"], [1010 - 700, 1235 - 1210])

    def test_kernels_whose_time_means_nothing_are_left(self):
        spans = [("allreduce", 1000, 100, 900, 1), ("send", 5, 2000, 10, 2), ("coalesced", 5, 2100, 10, 3), ("something", 5, 2200, 10, 4), ("barrier", 1, 2300, 10, 5)]
        document = read([self.write("0.json", json.dumps(nccl_trace(0, spans)))])
        self.assertEqual([(one["operation"], one.get("bytes"), one["includes_wait"]) for one in document["exchanges"]],
                         [("all-reduce", 2000, True), ("barrier", None, True)])
        self.assertIn("2 NCCL kernels of sends", words(document))
        self.assertIn('1 NCCL kernels without a "Collective name" that is known', words(document))

    def test_groups_of_another_backend_are_no_groups_of_gloo(self):
        files = []
        for rank in range(2):
            trace = json.loads((DATA / f"kineto-ddp-rank{rank}.json").read_text())
            trace["distributedInfo"]["pg_config"].append({"pg_name": "1", "backend_config": "cuda:nccl", "ranks": [rank]})
            trace["distributedInfo"]["pg_config"][0]["ranks"] = []  # of all ranks: pg_size says so
            files.append(self.write(f"{rank}.json", json.dumps(trace)))
        found = exchanges(read(files), "all-reduce", 8388608)
        self.assertEqual([(one["group"], one["members"], one["ranks"]) for one in found], [("0", 2, [0, 1])] * 6)

    def test_launches_alone_are_refused_with_a_reason(self):
        document = nccl_trace(0, [("allreduce", 1000, 100, 900, 1)])
        document["traceEvents"] = document["traceEvents"][:1]
        with self.assertRaisesRegex(InputError, "1 record_param_comms, which are launches alone; record ProfilerActivity.CUDA"):
            read([self.write("0.json", json.dumps(document))])


class Clocks(Exact):
    """Hosts whose clocks differ: the last end less the last begin would be the difference of the clocks."""

    def shifted(self, microseconds, host):
        files = []
        for rank in range(2):
            document = json.loads((DATA / f"kineto-ddp-rank{rank}.json").read_text())
            document["host_name"] = host if rank else "first"
            for event in document["traceEvents"]:
                event["ts"] += microseconds * rank
            files.append(self.write(f"{rank}.json", json.dumps(document)))
        return read(files)

    def test_the_least_span_is_taken_where_a_rank_ended_before_another_began(self):
        document = self.shifted(100_000, "second")
        first = exchanges(document, "all-reduce", 8388608)[0]
        self.assertAlmostEqual(first["seconds"], 0.009773, delta=2e-6)  # the span of the late rank
        self.assertNotIn("waits_s", first)
        self.assertIn("clocks differ by at least", words(document))

    def test_clocks_further_apart_than_the_window(self):
        document = self.shifted(60_000_000, "second")
        found = exchanges(document, "all-reduce", 8388608)
        self.assertEqual([one["ranks"] for one in found], [[0, 1]] * 6)
        self.expect_seconds(found, [9772.986, 11074.527, 8561.898, 36033.677, 38848.126, 13434.196], places=6)  # rank 1's own spans

    def test_hosts_are_said(self):
        self.assertIn("as exact as those agree", words(self.shifted(0, "second")))

    def test_on_one_host_such_spans_are_of_other_exchanges(self):
        document = self.shifted(2_000_000, "first")  # no overlap at all: two windows
        self.assertEqual(len(document["exchanges"]), 2 * 24)
        self.assertTrue(all(one["includes_wait"] for one in document["exchanges"]))
        document = self.shifted(1_000_000, "first")  # one window, with no pair that can be of one exchange
        self.assertEqual(document["exchanges"], [])
        self.assertIn("6 on rank 0, 6 on rank 1: the traces do not hold the same exchanges, so 12 of these spans", words(document))

    def test_a_window_that_began_an_exchange_later(self):
        # Rank 1's trace lacks the first bucket and rank 0's the last one: equal numbers, and no pair belongs together.
        files = []
        for rank in range(2):
            document = json.loads((DATA / f"kineto-ddp-rank{rank}.json").read_text())
            document["traceEvents"] = [event for event in document["traceEvents"] if not event["name"].startswith("ProfilerStep")]
            buckets = [event for event in document["traceEvents"] if event["name"] == "gloo:all_reduce" and event["args"]["Input Dims"] == [[2097152]]]
            document["traceEvents"].remove(buckets[0 if rank else -1])
            files.append(self.write(f"{rank}.json", json.dumps(document)))
        document = read(files)
        self.assertEqual(exchanges(document, "all-reduce", 8388608), [])
        self.assertIn("5 on rank 0, 5 on rank 1: the traces do not hold the same exchanges, so 10 of these spans are left out", words(document))


class DdpLogging(Exact):
    def test_what_torch_wrote(self):
        document = observed("ddp-logging.json")  # two ranks, four layers of 256 x 256 floats, buckets of 0.5 MiB
        one, = document["exchanges"]
        self.assertEqual((one["seconds"], one["bytes"], one["parts"], one["members"], one["ranks"], one["includes_wait"], one["library"]),
                         (0.005993456, 4 * 256 * 256 * 4, [524288, 524288], 2, [0], True, "gloo"))
        self.assertEqual(document["series"][0], {"name": "ddp.avg_forward_compute_time_s", "file": str(DATA / "ddp-logging.json"),
                                                 "points": [{"step": 10, "value": 0.000993903}]})

    def test_nanoseconds_and_buckets_as_text(self):
        data = {"world_size": 2, "rank": 0, "backend_name": "gloo", "iteration": 10, "avg_forward_compute_time": 2_000_000,
                "avg_backward_compute_time": 5_000_000, "avg_backward_comm_time": 7_500_000, "avg_backward_compute_comm_overlap_time": 0,
                "bucket_sizes": "16777216", "rebuilt_bucket_sizes": "8388608, 8388608"}
        document = read([self.write("ddp.json", json.dumps(data))])
        one, = document["exchanges"]
        self.assertEqual((one["seconds"], one["bytes"], one["operations"], one["includes_wait"], one["members"]), (0.0075, 16777216, 2, True, 2))
        self.assertEqual({one["name"]: one["points"][0]["value"] for one in document["series"]},
                         {"ddp.avg_forward_compute_time_s": 0.002, "ddp.avg_backward_compute_time_s": 0.005, "ddp.avg_backward_comm_time_s": 0.0075})


class Windows(Exact):
    def test_files_of_several_runs_are_kept_apart(self):
        names = [file.name for file in sorted(DATA.glob("kineto-*.json"))]
        together = observed(*names)
        alone = [one for group in (["kineto-ddp-rank0.json", "kineto-ddp-rank1.json"], ["kineto-mixed-rank0.json", "kineto-mixed-rank1.json"],
                                   ["kineto-send-rank0.json", "kineto-send-rank1.json"], ["kineto-no-shapes.json"], ["kineto-debug-detail.json"],
                                   [f"kineto-wan-rank{rank}.json" for rank in range(4)]) for one in observed(*group)["exchanges"]]
        order = lambda one: one["time_s"]  # noqa: E731
        self.assertEqual(sorted(together["exchanges"], key=order), sorted(alone, key=order))

    def test_the_order_of_the_files_changes_nothing(self):
        forward, back = of_ranks("kineto-ddp", 2), observed("kineto-ddp-rank1.json", "kineto-ddp-rank0.json")
        self.assertEqual(forward["exchanges"], back["exchanges"])

    def test_without_a_rank_nothing_is_joined(self):
        document = json.loads((DATA / "kineto-ddp-rank1.json").read_text())
        other = copy.deepcopy(document)
        del other["distributedInfo"]
        found = read([DATA / "kineto-ddp-rank0.json", self.write("rank.json", json.dumps(other))])
        self.assertTrue(all(one["includes_wait"] for one in found["exchanges"]))
        self.assertIn("no rank in distributedInfo", words(found))


if __name__ == "__main__":
    unittest.main()
