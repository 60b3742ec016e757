#!/usr/bin/env python3
"""Step times in lines of logs: longhaul.observed on logs of torchft 0.2.0 and torchrun, and on lines as the sources of others print them.

    observed_logs_test.py SOURCE_FOLDER
"""
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
sys.path[:0] = [str(SOURCE / "python"), str(SOURCE / "tests/support")]

from folder import InAFolder  # noqa: E402
from longhaul.observed import Asked, InputError, read  # noqa: E402

DATA = SOURCE / "tests/data/observed"
NANOGPT = """tokens per iteration will be: 12,288
step 0: train loss 4.2874, val loss 4.2823
iter 0: loss 4.2651, time 1250.50ms, mfu -100.00%
iter 10: loss 3.1462, time 20.25ms, mfu 7.38%
iter 20: loss 2.7315, time 20.75ms, mfu 7.39%
step 30: train loss 2.5000, val loss 2.6000
saving checkpoint to out
iter 30: loss 2.6210, time 900.00ms, mfu 6.50%
iter 40: loss 2.5756, time 21.00ms, mfu 6.60%
"""
RED, RESET = "\x1b[31m", "\x1b[0m"
TORCHTITAN = f"""[rank0]:[titan] 2026-11-27 21:00:00,000 - root - INFO - Training starts at step 1
[rank0]:[titan] 2026-11-27 21:00:03,000 - root - INFO - {RED}step:  1  \x1b[32mloss: 12.2000  \x1b[38;2;180;60;0mgrad_norm:  1.5000  \x1b[36mmemory:  1.10GiB(2.10%)  \x1b[34mtps: 512  \x1b[36mtflops: 0.10  \x1b[35mmfu: 0.01%{RESET}
[rank0]:[titan] 2026-11-27 21:00:13,000 - root - INFO - {RED}step: 10  \x1b[32mloss:  9.5000  \x1b[38;2;180;60;0mgrad_norm:  1.2000  \x1b[36mmemory:  1.10GiB(2.10%)  \x1b[34mtps: 8,192  \x1b[36mtflops: 1,234.10  \x1b[35mmfu: 1.01%{RESET}
[rank0]:[titan] 2026-11-27 21:00:23,000 - root - INFO - \x1b[33mvalidate step: 10  \x1b[32mloss:  9.7000  \x1b[36mmemory:  1.10GiB(2.10%)  \x1b[34mtps: 16,000{RESET}
[rank0]:[titan] 2026-11-27 21:00:33,000 - root - INFO - {RED}step: 20  \x1b[32mloss:  8.5000  \x1b[38;2;180;60;0mgrad_norm:  1.1000  \x1b[36mmemory:  1.10GiB(2.10%)  \x1b[34mtps: 10,240  \x1b[36mtflops: 1.10  \x1b[35mmfu: 1.01%{RESET}
"""
DEEPSPEED = "".join(
    f"[2026-11-27 21:00:00,000] [INFO] [logging.py:107:log_dist] [Rank 0] time (ms) | fwd_microstep: {fwd / 2} | bwd_microstep: 1.00 | step_microstep: 1.00\n"
    f"[Rank 0] time (ms) | fwd: {fwd:.2f} | bwd: 60.00 | bwd_inner: 35.00 | bwd_allreduce: 25.00 | step: 5.00\n"
    for fwd in (900, 30, 31)) + "epoch=0/micro_step=20/global_step=10, RunningAvgSamplesPerSec=81.5, CurrSamplesPerSec=84.25, MemAllocated=0.5GB, MaxMemAllocated=1.0GB\n"


def words(document):
    return " ".join([words for one in document["files"] for words in one["took"] + one["left"]] + document["notes"])


def values(document, name):
    one, = [one for one in document["series"] if one["name"] == name]
    return [(point["step"], point["value"]) for point in one["points"]]


class Logs(InAFolder):
    def read(self, text, asked=None):
        return read([self.write("run.log", text)], asked)

    def test_nanogpt(self):
        document = self.read(NANOGPT)
        self.assertEqual([(one["step"], one["seconds"]) for one in document["steps"]], [(10, 0.02025), (20, 0.02075), (40, 0.021)])
        self.assertEqual([(one["step"], one["seconds"], one["why"]) for one in document["steps_left"]],
                         [(0, 1.2505, "the first recorded"), (30, 0.9, "a checkpoint came before it, and is in it")])
        self.assertEqual(values(document, "eval/val_loss"), [(0, 4.2823), (30, 2.6)])
        self.assertEqual(len(values(document, "loss")), 5)

    def test_nanogpt_without_a_checkpoint_in_between(self):
        document = self.read(NANOGPT.replace("saving checkpoint to out\n", ""))
        self.assertEqual(document["steps_left"][1]["why"], "an evaluation came before it, and is in it")

    def test_torchtitan(self):
        document = self.read(TORCHTITAN, Asked(tokens=2048))
        # tps is a mean since the line before: 2048 / 8192 and 2048 / 10240 s; the first line is of step 1 alone.
        self.assertEqual([(one["step"], one["seconds"], one["count"]) for one in document["steps"]], [(10, 0.25, 9), (20, 0.2, 10)])
        self.assertEqual([(one["step"], one["seconds"], one["why"]) for one in document["steps_left"]], [(1, 4, "the first recorded")])
        self.assertEqual(values(document, "loss"), [(1, 12.2), (10, 9.5), (20, 8.5)])
        self.assertEqual(values(document, "eval/loss"), [(10, 9.7)])

    def test_nanogpt_times_one_iteration_and_no_interval(self):
        # An evaluation and a checkpoint at iteration 25 are in the time of iteration 25, which is not printed.
        document = self.read(NANOGPT.replace("step 30: train", "step 25: train"))
        self.assertEqual([(one["step"], one["seconds"]) for one in document["steps"]], [(10, 0.02025), (20, 0.02075), (30, 0.9), (40, 0.021)])
        self.assertEqual([one["step"] for one in document["steps_left"]], [0])

    def test_a_restart_of_nanogpt(self):
        document = self.read(NANOGPT + "tokens per iteration will be: 12,288\niter 50: loss 2.5, time 800.00ms, mfu 1%\niter 60: loss 2.5, time 30.00ms, mfu 1%\n"
                             "iter 40: loss 2.5, time 700.00ms, mfu 1%\niter 50: loss 2.5, time 31.00ms, mfu 1%\n")
        self.assertEqual([(one["step"], one["seconds"]) for one in document["steps"]][-2:], [(60, 0.03), (50, 0.031)])
        self.assertEqual([(one["step"], one["seconds"], one["why"]) for one in document["steps_left"]][-2:],
                         [(50, 0.8, "the first after a restart"), (40, 0.7, "the first after a restart")])

    def torchtitan(self, lines):
        """lines: (what torchrun puts before them, step, tps)."""
        return self.read("".join(f"{prefix}[titan] 2026-11-30 12:00:00,123 - root - INFO - step: {step:2}  loss:  4.1000  grad_norm:  1.2  tps: {tps:,}  mfu: 1%\n"
                                 for prefix, step, tps in lines), Asked(tokens=1000))

    def test_ranks_in_one_log_of_torchtitan(self):
        document = self.torchtitan([(f"[rank{rank}]:", step, tps) for step, tps in ((1, 40), (10, 1000), (20, 2000)) for rank in (0, 1)])
        self.assertEqual([(one["rank"], one["step"], one["seconds"], one["count"]) for one in document["steps"]],
                         [(rank, *rest) for rank in (0, 1) for rest in ((10, 1, 9), (20, 0.5, 10))])
        self.assertEqual([(one["rank"], one["step"], one["why"]) for one in document["steps_left"]], [(rank, 1, "the first recorded") for rank in (0, 1)])
        self.assertEqual(values(document, "rank1/loss"), [(1, 4.1), (10, 4.1), (20, 4.1)])

    def test_two_processes_that_write_as_one_rank(self):
        document = self.torchtitan([("", step, 1000) for step in (1, 1, 10, 10)])
        self.assertEqual([(one["step"], one["count"]) for one in document["steps"]], [(10, 9)])
        self.assertEqual([one["why"][:42] for one in document["steps_left"]], ["the first recorded"] + 2 * ["its step is that of the line before, as wh"])

    def test_a_restart_of_torchtitan(self):
        lines = [("[rank0]:", step, 40 if step == 1 else 1000) for step in (1, 10, 20, 30, 1, 20, 30)]
        document = self.torchtitan(lines)
        self.assertEqual([(one["step"], one["seconds"], one["count"]) for one in document["steps"]],
                         [(10, 1, 9), (20, 1, 10), (30, 1, 10), (20, 1, 19), (30, 1, 10)])
        self.assertEqual([(one["step"], one["seconds"], one["why"]) for one in document["steps_left"]],
                         [(1, 25, "the first recorded"), (1, 25, "the first after a restart")])
        self.assertIn("1 restart", words(document))

    def test_a_restart_whose_step_does_not_fall(self):
        document = self.read(TORCHTITAN + TORCHTITAN.replace("step 1\n", "step 21\n").replace("step:  1 ", "step: 30 ").replace("step: 10 ", "step: 40 ")
                             .replace("step: 20 ", "step: 50 "), Asked(tokens=2048))
        self.assertEqual([(one["step"], one["count"]) for one in document["steps"]], [(10, 9), (20, 10), (40, 10), (50, 10)])
        self.assertEqual([(one["step"], one["why"]) for one in document["steps_left"]], [(1, "the first recorded"), (30, "the first after a restart")])

    def test_torchtitan_without_the_tokens_of_a_step(self):
        document = self.read(TORCHTITAN)
        self.assertEqual((document["steps"], document["steps_left"]), ([], []))
        self.assertEqual(values(document, "tokens_per_s_of_a_device"), [(1, 512), (10, 8192), (20, 10240)])
        self.assertIn("give --tokens N", words(document))

    def test_deepspeed(self):
        document = self.read(DEEPSPEED)
        # fwd + bwd + step, in ms: bwd holds bwd_inner and bwd_allreduce.
        self.assertEqual([(one["seconds"], one["exchanging_s"]) for one in document["steps"]], [(0.095, 0.025), (0.096, 0.025)])
        self.assertEqual([one["seconds"] for one in document["steps_left"]], [0.965])
        self.assertEqual(values(document, "samples_per_s"), [(10, 84.25)])
        self.assertIn("3 lines of parts of a step", words(document))

    def test_torchft(self):
        document = read([DATA / "torchft.log"])
        name = "torchft.replica1_."
        # Start and Finished quorum, the request and the completed commit of three rounds: 49.037, 49.885, 50.054, 50.054; 50.290,
        # 50.291, 50.305, 50.305; 50.521, 50.543, 50.552, 50.552 s.
        for which, expected in (("quorum_s", [(1, 0.848), (2, 0.001), (3, 0.022)]), ("quorum_to_commit_s", [(1, 0.169), (2, 0.014), (3, 0.009)]),
                                ("round_s", [(2, 50.305 - 50.054), (3, 50.552 - 50.305)])):
            found = values(document, name + which)
            self.assertEqual([step for step, _ in found], [step for step, _ in expected])
            for (_, value), (_, seconds) in zip(found, expected):
                self.assertAlmostEqual(value, seconds, places=9)
        self.assertEqual((document["steps"], document["exchanges"]), ([], []))
        self.assertIn("3 exchanges of fragments", words(document))
        self.assertIn("1 times a replica healed", words(document))

    def test_a_round_of_torchft_without_a_commit(self):
        line = "2026-{} [INFO] [torchft::manager] - [Replica a_0:1] {}\n"
        events = (("11-30T23:59:58.000", "Start quorum for group_rank 0"), ("11-30T23:59:58.500", "Finished quorum for group_rank 0"),
                  ("11-30T23:59:59.500", "should_commit request from 0 should_commit=true"), ("11-30T23:59:59.600", "should_commit completed should_commit=true"),
                  ("12-01T00:00:04.000", "Start quorum for group_rank 0"), ("12-01T00:00:04.125", "Finished quorum for group_rank 0"),
                  ("12-01T00:00:05.250", "should_commit request from 0 should_commit=false"), ("12-01T00:00:05.300", "should_commit completed should_commit=false"),
                  ("12-01T00:00:09.000", "Start quorum for group_rank 0"), ("12-01T00:00:09.250", "Finished quorum for group_rank 0"),
                  ("12-01T00:00:10.250", "should_commit request from 0 should_commit=true"), ("12-01T00:00:10.400", "should_commit completed should_commit=true"))
        document = self.read("".join(line.format(*event) for event in events))
        self.assertEqual(values(document, "torchft.a_0:1.round_s"), [(2, 10.8)])
        self.assertEqual(values(document, "torchft.a_0:1.quorum_s"), [(1, 0.5), (2, 0.25)])
        self.assertEqual(values(document, "torchft.a_0:1.quorum_to_commit_s"), [(1, 1), (2, 1)])
        self.assertIn("of 1 round that ended with should_commit=false", words(document))
        # A log that ends before its last round does: the exchange of that round is known, the commit is not.
        document = self.read("".join(line.format(*event) for event in events[:3]))
        self.assertEqual(values(document, "torchft.a_0:1.quorum_to_commit_s"), [(1, 1)])

    def test_torchrun_has_nothing(self):
        with self.assertRaisesRegex(InputError, "torchrun.log: is a log of torchrun without a time: torchrun's own lines, which have no time"):
            read([DATA / "torchrun.log"])
        document = self.read((DATA / "torchrun.log").read_text() + NANOGPT)
        self.assertEqual(len(document["steps"]), 3)
        self.assertIn("the run failed; torchrun names rank 1 as the first", words(document))

    def test_a_monitored_barrier(self):
        document = self.read("[Rank 0]: Rank 1 failed to pass monitoredBarrier in 1000 ms\n" + NANOGPT)
        self.assertIn("Rank 1 failed to pass monitoredBarrier in 1000 ms", words(document))

    def test_nccls_lines_have_no_time(self):
        text = ("host:1:2 [0] NCCL INFO NCCL version 2.30.7+cuda13.0\n"
                "host:1:2 [0] NCCL INFO AllReduce: opCount 1f sendbuff 0x1 recvbuff 0x2 count 1000 datatype 7 op 0 root 0 comm 0x3 [nranks=2] stream 0x4\n")
        with self.assertRaisesRegex(InputError, r"is a log of nccl without a time: 2 lines of NCCL: its lines have no time \(1 calls with sizes"):
            self.read(text)
        self.assertIn("version 2.30.7", words(self.read(text + NANOGPT)))

    def test_transformers_lines_have_no_time(self):
        lines = ("{'loss': '4.142', 'grad_norm': '2.163', 'learning_rate': '4.167e-05', 'epoch': '0.375'}\n"
                 "{'eval_loss': '4.136', 'eval_runtime': '0.4127', 'epoch': '0.75'}\n"
                 "{'train_runtime': '2.45', 'train_samples_per_second': '52.2', 'train_loss': '4.13', 'epoch': '1.5'}\n")
        with self.assertRaisesRegex(InputError, "of transformers without a time: 3 lines of transformers, .*trainer_state.json.*train_runtime: it holds"):
            self.read(lines)

    def test_what_only_looks_like_a_number_is_passed_over(self):
        document = self.read(NANOGPT + "iter 50: loss 2.5, time 1.2.3ms, mfu 1%\niter 60: loss 2e, time 5.00ms\niter 70: loss nan, time 6.50ms, mfu\n"
                             "time (ms) | fwd: 1.2.3 | bwd: 1 | step: 2\n")
        self.assertEqual([(one["step"], one["seconds"]) for one in document["steps"]], [(10, 0.02025), (20, 0.02075), (40, 0.021), (70, 0.0065)])
        self.assertEqual(values(document, "loss")[-1], (70, "NaN"))

    def test_lines_that_are_data_are_said(self):
        self.assertIn("1 line of more than 4000 letters", words(self.read(NANOGPT + "x" * 4001 + "\n")))

    def test_a_log_of_no_program_that_is_known(self):
        with self.assertRaisesRegex(InputError, "run.log: is text of no format that is known; allowed: a file that docs/"):
            self.read("hello\nworld\n")


class NcclTests(InAFolder):
    FILE = SOURCE / "tests/data/measured/nccl-all-reduce.txt"

    def test_sizes_and_times(self):
        document = read([self.FILE], Asked(operation="all-reduce"))
        self.assertEqual([(one["operation"], one["bytes"], one["seconds"], one["members"], one["count"], one["library"]) for one in document["exchanges"]],
                         [("all-reduce", 16777216, 0.472301, 2, 20, "nccl"), ("all-reduce", 67108864, 1.816422, 2, 20, "nccl"),
                          ("all-reduce", 268435456, 7.158279, 2, 20, "nccl")])

    def test_the_test_has_to_be_said(self):
        with self.assertRaisesRegex(InputError, "does not say of which test; allowed: --operation with one of .*longhaul measured"):
            read([self.FILE])
        named = self.FILE.read_text().replace("# Using devices", "# Collective test starting: all_gather_perf\n# Using devices")
        document = read([self.write("nccl.txt", named)])
        self.assertEqual([(one["operation"], one["bytes"]) for one in document["exchanges"]][0], ("all-gather", 16777216 // 2))  # one rank's part

    def test_wrong_values_and_times_of_two_digits(self):
        lines = self.FILE.read_text().replace("    0.04    0.04       0   470990", "    0.04    0.04       7   470990").replace("7158279", "7.2e+06")
        document = read([self.write("nccl.txt", lines)], Asked(operation="all-reduce"))
        self.assertEqual([one["bytes"] for one in document["exchanges"]], [67108864])
        self.assertIn("2 rows with wrong values", words(document))


class GroupsOfNcclTests(InAFolder):
    """NCCL_TESTS_SPLIT: src/common.cu prints the number of a rank in the world, and its group; a time is the mean over all ranks."""

    def read(self, ranks, test="all_reduce_perf", asked=None):
        head = f"# Collective test starting: {test}\n# nThread 1 nGpus 1 minBytes 1048576 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1\n"
        devices = "".join(f"#  Rank {rank:2} Group {group:2} Pid  {10000 + rank} on         h{rank} device  0 [0x07] NVIDIA H100\n" for rank, group in ranks)
        row = "     1048576        262144     float     sum      -1   1000.5    1.05    1.05      0    999.9    1.05    1.05      0\n"
        document = read([self.write("nccl.txt", head + devices + row)], asked)
        return document, document["exchanges"][0]

    def test_members_are_the_ranks_of_a_group(self):
        document, one = self.read([(0, 0), (1, 1), (2, 0), (3, 1)])
        self.assertEqual((one["members"], one["bytes"], one["includes_wait"], one["why"]), (2, 1048576, True, "2 groups exchanged at the same time"))
        self.assertIn("among 2 ranks, in 2 groups at the same time", words(document))
        _, one = self.read([(0, 0), (1, 1), (2, 0), (3, 1)], "all_gather_perf")
        self.assertEqual((one["members"], one["bytes"]), (2, 1048576 // 2))
        _, one = self.read([(0, 0), (1, 0)])
        self.assertEqual((one["members"], one["includes_wait"]), (2, False))

    def test_groups_that_differ_have_no_members(self):
        document, one = self.read([(0, 0), (1, 1), (2, 0)], "all_gather_perf")
        self.assertTrue("members" not in one and "bytes" not in one, one)  # one rank's part is not known either
        self.assertIn("members: the 2 groups (NCCL_TESTS_SPLIT) have 2, 1 ranks", words(document))
        _, one = self.read([(0, 0), (1, 1), (2, 0)], asked=Asked(members=2))
        self.assertEqual(one["members"], 2)

    def test_a_text_without_its_ranks(self):
        document, one = self.read([])
        self.assertNotIn("members", one)
        self.assertIn("members: the text has no list of ranks; give --members N", words(document))


if __name__ == "__main__":
    unittest.main()
