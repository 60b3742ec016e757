#!/usr/bin/env python3
"""Which values of a tracker's file make the times of steps: the counter, the series, the numbers, the run; and what is said of the rest.

    observed_steps_test.py SOURCE_FOLDER
"""
import json
import pathlib
import sqlite3
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
sys.path[:0] = [str(SOURCE / "python"), str(SOURCE / "tests/support")]

from folder import InAFolder  # noqa: E402
from longhaul.observed import Asked, InputError, read  # noqa: E402
from tracker_files import scalars_file, wandb_file  # noqa: E402


def words(document):
    return " ".join([words for one in document["files"] for words in one["took"] + one["left"]] + document["notes"])


def left(document):
    return " ".join(words for one in document["files"] for words in one["left"])


def steps(document):
    return [(one["step"], one["seconds"], one.get("count", 1)) for one in document["steps"]]


def table(names, rows, separator=","):
    return separator.join(names) + "\n" + "".join(separator.join(map(str, row)) + "\n" for row in rows)


def metrics_table(rows):
    """MLflow's: (key, seconds, run, step)."""
    return table(("key", "value", "timestamp", "run_uuid", "step", "is_nan"),
                 [(key, 1.5, 1796000000000 + 1000 * seconds, run, step, 0) for key, seconds, run, step in rows])


class Written(InAFolder):
    def read(self, name, content, asked=None):
        if isinstance(content, bytes):
            (self.folder / name).write_bytes(content)
            return read([self.folder / name], asked)
        return read([self.write(name, content)], asked)


class Counter(Written):
    """Rows each 50 s, of each fiftieth step: a step takes 1 s, whatever counts the rows."""

    def rows(self, counter):
        return [{"_step": row, "_timestamp": 1796000050 + 50 * row, "train/loss": 3.5, counter: 50 * (row + 1)} for row in range(3)]

    def test_a_training_counts_its_own_steps(self):
        for counter in ("train/global_step", "trainer/global_step", "global_step", "trainer_global_step", "train_global_step", "train/step", "iter"):
            rows = self.rows(counter)
            for name, content in (("run.wandb", wandb_file(rows)), ("run.jsonl", "".join(json.dumps(row) + "\n" for row in rows)),
                                  ("run.csv", table(list(rows[0]), [row.values() for row in rows]))):
                document = self.read(name, content)
                self.assertEqual(steps(document), [(100, 1, 50), (150, 1, 50)], (counter, name))
                self.assertIn(counter, words(document))

    def test_the_order_of_the_columns_says_nothing(self):
        names = ("Step", "_timestamp", "loss", "train/global_step")
        document = self.read("run.csv", table(names, [(row, 100 + 50 * row, 2, 50 * row + 50) for row in range(3)]))
        self.assertEqual(steps(document), [(100, 1, 50), (150, 1, 50)])
        self.assertIn("column 'train/global_step' is taken as the step, and not 'Step'", words(document))

    def test_calls_of_log_are_said_to_be_calls(self):
        rows = [{"_step": row, "_timestamp": 100 + row, "loss": 2} for row in range(3)]
        for name, content in (("run.wandb", wandb_file(rows)), ("run.jsonl", "".join(json.dumps(row) + "\n" for row in rows))):
            document = self.read(name, content)
            self.assertEqual(steps(document), [(1, 1, 1), (2, 1, 1)])
            self.assertIn("_step counts calls of log()", " ".join(document["notes"]))

    def test_a_step_of_an_evaluation_counts_no_steps(self):
        rows = [(0, 100, 2, ""), (1, 101, 2, ""), (2, 102, 2, 7)]
        document = self.read("run.csv", table(("step", "_timestamp", "loss", "eval/global_step"), rows))
        self.assertEqual(steps(document), [(1, 1, 1)])
        self.assertEqual(document["steps_left"][0]["step"], 2)

    def test_a_duration_named_as_a_step_counts_no_steps(self):
        rows = [(step, 100 + step, 2, 0.25 + step) for step in range(3)]
        document = self.read("run.csv", table(("step", "_timestamp", "loss", "train/step"), rows))
        self.assertEqual(steps(document), [(1, 1, 1), (2, 1, 1)])

    def test_an_iteration_that_begins_anew_with_each_epoch(self):
        rows = [(iteration, step, 100 + step, 2) for step, iteration in enumerate((0, 1, 0, 1))]
        document = self.read("run.csv", table(("iter", "step", "_timestamp", "loss"), rows))
        self.assertEqual(steps(document), [(1, 1, 1), (2, 1, 1), (3, 1, 1)])

    def test_rows_without_the_counter_are_said(self):
        rows = [{"_step": row, "_timestamp": 100 + row, "loss": 2, **({"global_step": 10 * row} if row != 1 else {})} for row in range(3)]
        self.assertIn("the step of 1 row without global_step", left(self.read("run.wandb", wandb_file(rows))))
        document = self.read("run.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        self.assertEqual(steps(document), [(20, 0.1, 20)])  # 2 s
        self.assertIn("the times of 1 row: 1 without a step (global_step)", left(document))


class Rates(Written):
    def test_steps_in_a_second_are_no_seconds(self):
        for name in ("iter/s", "step/s", "batch/sec", "iter/sec", "it/s", "steps/s", "iterations / second", "steps_per_second", "train_steps_per_second",
                     "train/steps_per_sec", "it per s", "Steps per Second"):
            document = self.read("run.csv", table(("step", "loss", name), [(step, 3, rate) for step, rate in ((1, 0.1), (2, 4.0), (3, 5))]))
            self.assertEqual(steps(document), [(2, 0.25, 1), (3, 0.2, 1)], name)
            self.assertIn("steps in a unit of time, s", words(document))

    def test_by_the_minute_and_the_hour(self):
        for name, seconds in (("steps_per_minute", 60 / 4), ("steps/h", 3600 / 4)):
            document = self.read("run.csv", table(("step", name), [(1, 4), (2, 4)]))
            self.assertEqual(steps(document), [(2, seconds, 1)])

    def test_units_of_time_by_the_step_stay_durations(self):
        for name, seconds in (("s/it", 4), ("ms/step", 0.004), ("sec / iter", 4), ("step_ms", 0.004), ("step/ms", 0.004), ("iter_s", 4), ("seconds_per_step", 4)):
            document = self.read("run.csv", table(("step", name), [(1, 4), (2, 4)]))
            self.assertEqual(steps(document), [(2, seconds, 1)], name)

    def test_samples_and_tokens_in_a_second_are_no_steps(self):
        for name, of in (("samples/s", "samples"), ("tokens_per_second", "tokens"), ("train_samples_per_second", "samples"), ("perf/tokens/sec", "tokens")):
            document = self.read("run.csv", table(("step", "loss", name), [(1, 3, 4), (2, 3, 4)]))
            self.assertEqual(document["steps"] + document["steps_left"], [])
            self.assertIn(f"column {name!r}: a rate of {of}, and how many of them a step has is not in the file", left(document))

    def test_no_step_in_a_second_has_no_time(self):
        document = self.read("run.csv", table(("step", "it/s"), [(1, 4), (2, 0), (3, 4), (4, "1e-320")]))
        self.assertEqual(steps(document), [(3, 0.25, 1)])
        self.assertIn("2 rows without a duration in it/s: 1 too low for a rate of steps (0), 1 too low for a rate of steps (1e-320)", left(document))

    def test_the_mean_of_a_whole_run_is_no_step(self):
        rows = [(1, 100, 2, ""), (2, 101, 2, ""), (3, 102, "", 0.7)]
        document = self.read("run.csv", table(("step", "_timestamp", "loss", "train_steps_per_second"), rows))
        self.assertEqual(steps(document), [(2, 1, 1)])


class MainSeries(Written):
    def test_a_sampler_of_the_system_makes_no_steps(self):
        for name in ("system/cpu_utilization_percentage", "system.gpu.0.gpu", "gpu_0_power_watts", "memory/used", "network/recv"):
            rows = [(name, 10 * at, "r", at) for at in range(60)] + [("loss", 60 * at, "r", at) for at in range(10)]
            document = self.read("metrics.csv", metrics_table(rows))
            self.assertEqual(steps(document), [(step, 60, 1) for step in range(1, 10)], name)
            self.assertIn(f"the moments of {name}: values of the system", left(document))
            self.assertIn("of loss", words(document))

    def test_a_system_alone_makes_none(self):
        document = self.read("events", scalars_file([(100 + 10 * at, at, "system/gpu", 1) for at in range(5)]))
        self.assertEqual(document["steps"], [])
        self.assertIn("steps: no value of the training was logged at two steps", left(document))

    def test_a_loss_before_what_has_more_points(self):
        points = [(100 + at, at, "lr", 1) for at in range(20)] + [(100 + 3 * at, at, "train/loss", 1) for at in range(4)]
        document = self.read("events", scalars_file(points))
        self.assertEqual(steps(document), [(1, 3, 1), (2, 3, 1), (3, 3, 1)])
        self.assertIn("the moments of lr: one series makes the steps, which is train/loss", left(document))

    def test_of_losses_the_one_with_most_points(self):
        points = [(100 + at, at, "loss", 1) for at in range(20)] + [(100 + 9 * at, 9 * at, "train/loss_epoch", 1) for at in range(3)]
        self.assertEqual(steps(self.read("events", scalars_file(points))), [(at, 1, 1) for at in range(1, 20)])

    def test_steps_that_count_samples(self):
        # DeepSpeed's monitor: 512 samples a step of 2 s. Megatron's writer: "vs samples" beside the plain tag.
        samples = [(100 + 2 * at, 512 * at, "Train/Samples/train_loss", 1) for at in range(5)]
        document = self.read("events", scalars_file(samples))
        self.assertEqual(document["steps"] + document["steps_left"], [])
        self.assertIn("the moments of Train/Samples/train_loss: their step counts samples", left(document))
        megatron = [(100 + 2 * at, scale * at, tag, 1) for at in range(3) for scale, tag in ((64, "lm loss vs samples"), (1, "lm loss"))]
        self.assertEqual(steps(self.read("events", scalars_file(megatron))), [(1, 2, 1), (2, 2, 1)])
        rows = [{"_step": 512 * at, "_timestamp": 100 + 2 * at, "Train/Samples/train_loss": 1} for at in range(3)]
        self.assertEqual(self.read("run.wandb", wandb_file(rows))["steps"], [])


class Runs(Written):
    def test_each_run_of_a_table_makes_its_own_steps(self):
        rows = [("loss", 10 * at, "r1", at) for at in range(4)] + [("loss", 60 * at, "r2", at) for at in range(3)]
        document = self.read("metrics.csv", metrics_table(rows + [("val_loss", 65, "r2", 1)]))
        # r2's evaluation, at 65 s, is in no step of r1.
        self.assertEqual(steps(document), [(1, 10, 1), (2, 10, 1), (3, 10, 1), (1, 60, 1)])
        self.assertEqual([(one["step"], one["why"]) for one in document["steps_left"]], [(2, "an evaluation was logged in it")])
        self.assertEqual([one["from"][-5:] for one in document["steps"]], ["un r1"] * 3 + ["un r2"])
        self.assertEqual({one["name"] for one in document["series"]}, {"r1/loss", "r2/loss", "r2/val_loss"})

    def test_the_name_of_a_run_says_nothing_of_its_values(self):
        document = self.read("metrics.csv", metrics_table([("loss", at, run, at) for run in ("test", "system") for at in range(2)]))
        self.assertEqual(steps(document), [(1, 1, 1)] * 2)

    def test_rows_of_several_runs_and_ranks(self):
        rows = [(run, rank, step, 100 + seconds * step, 2) for step in range(3) for run, rank, seconds in (("a", 0, 1), ("a", 1, 2), ("b", 0, 5))]
        document = self.read("run.csv", table(("run_name", "rank", "step", "_timestamp", "loss"), rows))
        found = {(one["rank"], one["seconds"], "of run a" in one["from"]) for one in document["steps"]}
        self.assertEqual(found, {(0, 1, True), (1, 2, True), (0, 5, False)})
        self.assertEqual(len(document["steps"]), 6)


class Numbers(Written):
    def test_thousands_in_quotes_between_commas(self):
        rows = [(1, '"1,250.5"'), (2, "999.5"), (3, '"1,249.5"'), (4, 998)]
        document = self.read("run.csv", table(("step", "step_time_ms"), rows))
        self.assertEqual(steps(document), [(2, 0.9995, 1), (3, 1.2495, 1), (4, 0.998, 1)])
        self.assertIn("column 'step_time_ms' has commas between thousands", words(document))

    def test_decimal_commas_between_semicolons_and_tabs(self):
        for separator in ";\t":
            document = self.read("run.csv", table(("step", "loss", "step_time_ms"), [(1, "3,5", "250,5"), (2, "3,4", 251), (3, 3, "249,5")], separator))
            self.assertEqual(steps(document), [(2, 0.251, 1), (3, 0.2495, 1)])
            self.assertEqual([point["value"] for point in document["series"][0]["points"]], [3.5, 3.4, 3])
            self.assertIn("column 'loss' has decimal commas", words(document))
        # As `longhaul measured` has it, a single comma is a decimal one, also before three figures.
        self.assertEqual(steps(self.read("run.csv", "step;step_time_s\n1;1,250\n2;1,250\n")), [(2, 1.25, 1)])

    def test_commas_and_points_in_one_cell_between_semicolons(self):
        for cells in (("1.250,5", "999,5"), ("1,250.5", "1,000,999.5")):
            document = self.read("run.csv", table(("step", "step_time_ms"), enumerate(cells), ";"))
            self.assertAlmostEqual(document["steps_left"][0]["seconds"], 1.2505)
        self.assertEqual(steps(document), [(1, 1000.9995, 1)])

    def test_a_comma_that_may_mean_either_is_left(self):
        document = self.read("run.csv", table(("step", "step_time_ms"), [(1, 5), (2, '"1,250"'), (3, '"3,5"'), (4, 7)]))
        self.assertEqual(steps(document), [(4, 0.007, 1)])
        self.assertIn("2 rows without a duration in step_time_ms: 1 no plain number ('1,250'), 1 no plain number ('3,5')", left(document))

    def test_rows_without_a_duration_are_said(self):
        rows = [(1, 250), (2, ""), (3, -5), (4, "inf"), (5, "nan"), (6, "soon"), (7, 251)]
        document = self.read("run.csv", table(("step", "step_time_ms"), rows))
        self.assertEqual(steps(document), [(7, 0.251, 1)])
        self.assertIn("5 rows without a duration in step_time_ms: 1 blank, 1 negative, 2 not finite, 1 no plain number ('soon')", left(document))

    def test_rows_without_a_moment_or_a_step_are_said(self):
        rows = [(1, 100, 2), (2, "later", 2), ("x", 102, 2), (4, 103, "low")]
        document = self.read("run.csv", table(("step", "_timestamp", "loss"), rows))
        self.assertIn("the times of 2 rows: 1 without a moment (_timestamp), 1 without a step (step)", left(document))
        self.assertIn("1 cell with no plain number: 1 in column loss", left(document))

    def test_values_that_are_no_number_are_said(self):
        rows = [{"_step": at, "_timestamp": 100 + at, "loss": 1, "note": "text"} for at in range(2)]
        self.assertIn("2 values with no number: 2 of note", left(self.read("run.wandb", wandb_file(rows))))
        text = metrics_table([("loss", at, "r", at) for at in range(3)]).replace("loss,1.5,1796000001000", "loss,,1796000001000")
        document = self.read("metrics.csv", text)
        self.assertIn("1 row whose value is no number: 1 of loss", left(document))
        self.assertEqual(steps(document), [(2, 1, 2)])

    def test_rows_of_a_trainers_state_without_a_step_are_said(self):
        rows = [{"step": 1, "loss": 2.5}, {"loss": 2.25}, {"step": "x", "loss": 2}]
        self.assertIn("2 rows of log_history without a step", left(self.read("state.json", json.dumps({"log_history": rows}))))

    def test_a_last_line_that_is_cut_off_is_said(self):
        self.assertIn("the last line, which has too few cells", left(self.read("run.csv", "step,step_ms\n1,5\n2,6\n3")))
        self.assertIn("the last line, which is cut off", left(self.read("run.jsonl", '{"step": 1, "step_ms": 5}\n{"step": 2, "step_ms": 6}\n{"st')))

    def test_rows_of_exchanges_that_are_left(self):
        text = table(("operation", "bytes", "time_us"), [("all_reduce", 10, 5), ("all_reduce", -1, 5), ("all_reduce", 10, "nan"), ("sum", 10, 5)])
        self.assertIn("3 rows without a known operation, a size and a duration: 1 whose size is '-1', 1 whose duration is 'nan', 1 of the operation 'sum'",
                      left(self.read("run.csv", text)))

    def test_units_of_exchanges(self):
        for name in ("duration_us", "time_ns", "latency_ms", "duration_s"):
            unit = {"us": 1e-6, "ns": 1e-9, "ms": 1e-3, "s": 1}[name.split("_")[1]]
            document = self.read("run.csv", table(("operation", "bytes", name), [("all_reduce", 1000, 2)]))
            self.assertEqual([one["seconds"] for one in document["exchanges"]], [2 * unit])


class Moments(Written):
    def test_a_moment_that_goes_back(self):
        # 2 s a step; the moment of step 3 is wrong, and so are both differences with it.
        rows = [(1, 100, 3), (2, 102, 3), (3, 101, 3), (4, 106, 3), (5, 108, 3)]
        document = self.read("run.csv", table(("step", "_timestamp", "loss"), rows))
        self.assertEqual(steps(document), [(2, 2, 1), (5, 2, 1)])
        self.assertIn("2 differences to or from a moment before the one of the row above, of loss", left(document))

    def test_a_moment_that_goes_back_in_a_table_of_mlflow(self):
        rows = [("loss", seconds, "r", step) for step, seconds in enumerate((0, 2, 1, 6, 8))]
        document = self.read("metrics.csv", metrics_table(rows))
        self.assertEqual(steps(document), [(1, 2, 1), (4, 2, 1)])
        self.assertIn("2 differences to or from a moment before", left(document))

    def test_a_restart_in_a_data_base_of_mlflow(self):
        # Step 2 was logged, the run began again at step 1, and went faster.
        data_base = sqlite3.connect(self.folder / "mlflow.db")
        data_base.execute("create table metrics (key text, value real, timestamp integer, run_uuid text, step integer, is_nan integer)")
        data_base.executemany("insert into metrics values ('loss', 1, ?, 'r', ?, 0)", [(1000 * seconds, step) for step, seconds in
                                                                                      ((0, 100), (1, 110), (2, 120), (1, 200), (2, 205), (3, 210))])
        data_base.commit()
        data_base.close()
        document = read([self.folder / "mlflow.db"])
        self.assertEqual(steps(document), [(1, 10, 1), (2, 10, 1), (2, 5, 1), (3, 5, 1)])
        self.assertIn("1 difference where the step falls", left(document))

    def test_a_step_that_falls(self):
        points = [(100 + at, step, "loss", 1) for at, step in enumerate((1, 2, 3, 2, 3))]
        document = self.read("events", scalars_file(points))
        self.assertEqual(steps(document), [(2, 1, 1), (3, 1, 1), (3, 1, 1)])
        self.assertIn("1 difference where the step falls, as after a restart, of loss", left(document))


if __name__ == "__main__":
    unittest.main()
