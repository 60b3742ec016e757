#!/usr/bin/env python3
"""Series and steps of trackers' files and tables: longhaul.observed on files of tests/data/observed and on small ones.

    observed_trackers_test.py SOURCE_FOLDER

The event file and the run of W&B were written by tensorboardX 2.6.5 and wandb 0.31.0; their numbers, written here, were printed by
those packages' own messages.
"""
import csv
import json
import pathlib
import sqlite3
import struct
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
sys.path[:0] = [str(SOURCE / "python"), str(SOURCE / "tests/support")]

from folder import InAFolder  # noqa: E402
from longhaul.observed import Asked, InputError, read  # noqa: E402
from tracker_files import event_file, wandb_file  # noqa: E402

DATA = SOURCE / "tests/data/observed"


def observed(name):
    return read([DATA / name])


def words(document):
    return " ".join([words for one in document["files"] for words in one["took"] + one["left"]] + document["notes"])


def series(document, name):
    one, = [one for one in document["series"] if one["name"] == name]
    return one["points"]


def values(document, name):
    return [(point.get("step"), point["value"]) for point in series(document, name)]


class Expecting(InAFolder):
    def expect_steps(self, document, seconds, places=5):
        self.assertEqual(len(document["steps"]), len(seconds), document["steps"])
        for one, expected in zip(document["steps"], seconds):
            self.assertAlmostEqual(one["seconds"], expected, places=places)

    def refused(self, name, text, pattern, asked=None):
        with self.assertRaisesRegex(InputError, pattern):
            read([self.write(name, text)], asked)


class TensorBoard(Expecting):
    def test_scalars_and_tensors(self):
        document = observed("events.out.tfevents.1795816000.host.1.0")
        self.assertEqual([point["step"] for point in series(document, "loss")], [0, 1, 2, 3, 4])
        for point, expected in zip(series(document, "loss"), (2, 1, 2 / 3, 0.5, 0.4)):  # float32
            self.assertAlmostEqual(point["value"], expected, delta=1e-7)
        self.assertEqual(values(document, "step_ms"), [(0, 100), (1, 101), (2, 102), (3, 103), (4, 104)])
        self.expect_steps(document, (0.0504, 0.0503, 0.0515, 0.0503), places=4)
        self.assertEqual([one["step"] for one in document["steps"]], [1, 2, 3, 4])

    def test_a_step_that_holds_an_evaluation_is_left(self):
        document = observed("events.out.tfevents.1795994638.host")
        self.assertEqual(values(document, "train/loss")[-1], (6, "NaN"))
        self.assertEqual(series(document, "train/loss")[0]["time_s"], 1795994638.8422048)
        # train/loss at ….842205, .884987, .925435, .965902, then 639.212987, .253409, .294095; eval/loss at 639.168934.
        self.expect_steps(document, (0.884987 - 0.842205, 0.925435 - 0.884987, 0.965902 - 0.925435, 0.253409 - 0.212987, 0.294095 - 0.253409))
        self.assertEqual([(one["step"], one["why"]) for one in document["steps_left"]], [(4, "an evaluation was logged in it")])
        self.assertIn("1 value without a single number: h", words(document))

    def test_forms_of_a_tensor(self):
        content = b"\x08\x02\x22\x08" + struct.pack("<d", 2.5)       # double, as bytes
        listed = b"\x08\x01\x2a\x04" + struct.pack("<f", 1.5)        # float, as a packed list
        doubles = b"\x08\x02\x32\x08" + struct.pack("<d", -3.25)     # double, as a packed list
        vector = b"\x08\x01\x22\x08" + struct.pack("<ff", 1, 2)      # two floats
        words_of = b"\x08\x07\x42\x02hi"                             # text
        file = self.folder / "events"
        file.write_bytes(event_file([("a", content), ("b", listed), ("c", doubles), ("d", vector), ("e", words_of)]))
        document = read([file])
        self.assertEqual({one["name"]: (one["points"][0]["step"], one["points"][0]["value"]) for one in document["series"]},
                         {"a": (5, 2.5), "b": (5, 1.5), "c": (5, -3.25)})
        self.assertIn("2 values without a single number: d, e", words(document))
        file.write_bytes(event_file([("a", content)], wall_time=float("nan")))
        self.assertEqual(read([file])["series"][0]["points"], [{"step": 5, "value": 2.5}])

    def test_cut_off_and_damaged(self):
        whole = (DATA / "events.out.tfevents.1795816000.host.1.0").read_bytes()
        for cut in (whole[:-5], whole[:-30] + b"\xff" + whole[-29:]):
            file = self.folder / "events"
            file.write_bytes(cut)
            document = read([file])
            self.assertEqual((len(series(document, "loss")), len(series(document, "step_ms"))), (5, 4))
            self.assertIn("the rest, from the first record that is cut off or damaged", words(document))
        (self.folder / "events").write_bytes(whole[:40])
        with self.assertRaisesRegex(InputError, "first record is cut off or damaged; allowed: a whole event file"):
            read([self.folder / "events"])
        (self.folder / "events").write_bytes(whole[:12 + 0x48 + 4])  # the version alone
        with self.assertRaisesRegex(InputError, "without a scalar"):
            read([self.folder / "events"])


class WandB(Expecting):
    def test_an_offline_run(self):
        document = observed("run-offline.wandb")
        self.assertEqual(values(document, "loss"), [(0, 1), (1, 0.5), (2, 1 / 3), (3, 0.25), (4, 0.2), (5, "NaN"), (6, "Infinity")])
        self.assertEqual(values(document, "nested.x"), [(step, step) for step in range(5)])
        # _timestamp 1795994642.…: .6369402, .6878397, .7409213, .7926266, .8442352, .8958867, .9010394; the last row has val/loss.
        moments = (0.6369402, 0.6878397, 0.7409213, 0.7926266, 0.8442352, 0.8958867)
        self.expect_steps(document, [later - earlier for earlier, later in zip(moments, moments[1:])])
        self.assertEqual([one["step"] for one in document["steps_left"]], [6])
        self.assertAlmostEqual(series(document, "loss")[0]["time_s"], 1795994642.6369402, places=6)

    def test_rows_longer_than_a_block(self):
        text = "x" * 5000
        rows = [{"_step": step, "_timestamp": 100 + step / 4, "loss": step, "text": text, "more": text} for step in range(20)]
        file = self.folder / "run.wandb"
        file.write_bytes(wandb_file(rows))
        self.assertGreater(file.stat().st_size, 6 * 32768)
        document = read([file])
        self.assertEqual(values(document, "loss"), [(step, step) for step in range(20)])
        self.expect_steps(document, [0.25] * 19)
        file.write_bytes(file.read_bytes()[:100_000])
        document = read([file])
        self.assertEqual(values(document, "loss"), [(step, step) for step in range(9)])  # 10,070 bytes a row, the tenth is cut
        self.assertIn("the rest, from the first record", words(document))

    def test_a_record_that_ends_just_before_its_block(self):
        # 3 bytes are too few for the head of a part: they are zeros, and the next record begins with the block.
        rows = [{"_step": 0, "loss": 5, "text": ""}, {"_step": 1, "loss": 6}]
        rows[0]["text"] = "x" * 32000
        rows[0]["text"] += "x" * (32768 - 3 - len(wandb_file(rows[:1])))
        self.assertEqual(len(wandb_file(rows[:1])), 32765)
        file = self.folder / "run.wandb"
        file.write_bytes(wandb_file(rows))
        self.assertEqual(values(read([file]), "loss"), [(0, 5), (1, 6)])

    def test_damaged(self):
        file = self.folder / "run.wandb"
        file.write_bytes((DATA / "run-offline.wandb").read_bytes()[:20])
        with self.assertRaisesRegex(InputError, "first record is cut off or damaged; allowed: the whole run-ID.wandb"):
            read([file])
        file.write_bytes(wandb_file([])[:7])
        with self.assertRaisesRegex(InputError, "without history"):
            read([file])


class MLflow(Expecting):
    def test_a_metrics_file(self):
        document = observed("mlflow-loss")
        self.assertEqual(values(document, "mlflow-loss"), [(0, 1), (1, 0.5), (2, 1 / 3)])
        self.expect_steps(document, (0.001, 0.012))  # 13 ms from the first to the last
        self.assertEqual(series(document, "mlflow-loss")[0]["time_s"], 1795815980.076)

    def test_names_of_folders(self):
        file = self.write("1/metrics/train/loss", (DATA / "mlflow-loss").read_text())
        self.assertEqual([one["name"] for one in read([file])["series"]], ["train/loss"])

    def test_the_table_has_nan_and_infinity_as_numbers(self):
        expected = [(0, 1), (1, 0.5), (2, 1 / 3), (3, "NaN"), (4, "Infinity")]
        self.assertEqual(values(observed("mlflow-metrics.csv"), "loss"), expected)
        with (DATA / "mlflow-metrics.csv").open() as file:
            rows = list(csv.DictReader(file))
        data_base = sqlite3.connect(self.folder / "mlflow.db")
        data_base.execute("create table metrics (key text, value real, timestamp integer, run_uuid text, step integer, is_nan integer)")
        data_base.executemany("insert into metrics values (:key, :value, :timestamp, :run_uuid, :step, :is_nan)", rows)
        data_base.commit()
        data_base.close()
        document = read([self.folder / "mlflow.db"])
        self.assertEqual(values(document, "loss"), expected)
        self.expect_steps(document, (0.040, 0.032, 0.028, 0.032))


class Trackio(Expecting):
    def test_no_step_time_from_the_times_of_batches(self):
        document = observed("trackio-metrics.csv")
        self.assertEqual(values(document, "loss"), [(step, 1 / (step + 1)) for step in range(20)])
        self.assertEqual((document["steps"], document["steps_left"]), ([], []))
        self.assertTrue(all("time_s" not in point for point in series(document, "loss")))
        # 57.925737 - 56.316334 s over 19 differences.
        self.assertIn(f"one each {(57.925737 - 56.316334) / 19:.3g} s", words(document))

    def test_its_data_base(self):
        data_base = sqlite3.connect(self.folder / "trackio.db")
        data_base.execute("create table metrics (id integer primary key, timestamp text, run_name text, step integer, metrics blob)")
        for step, text in enumerate(('{"loss": 1.5, "a": {"b": 2}}', '{"loss": "NaN"}', '{"loss": "Infinity"}')):
            data_base.execute("insert into metrics (timestamp, run_name, step, metrics) values ('2026-11-27T21:46:56+00:00', 'r', ?, ?)",
                              (step, text.encode()))
        data_base.commit()
        data_base.close()
        document = read([self.folder / "trackio.db"])
        self.assertEqual(values(document, "loss"), [(0, 1.5), (1, "NaN"), (2, "Infinity")])
        self.assertEqual(values(document, "a.b"), [(0, 2)])

    def test_data_bases_of_others(self):
        data_base = sqlite3.connect(self.folder / "other.db")
        data_base.execute("create table people (name text)")
        data_base.commit()
        data_base.close()
        with self.assertRaisesRegex(InputError, r"without the table 'metrics' \(tables: people\); allowed: that of MLflow or of trackio"):
            read([self.folder / "other.db"])
        (self.folder / "cut.db").write_bytes((self.folder / "other.db").read_bytes()[:3000])
        with self.assertRaisesRegex(InputError, "cut.db: is a SQLite file"):
            read([self.folder / "cut.db"])


class Transformers(Expecting):
    def test_values_and_no_times(self):
        document = observed("hf-trainer_state.json")
        self.assertEqual(values(document, "loss"), [(3, 4.142319361368815), (6, 4.138157844543457), (9, 4.135246912638347), (12, 4.133584976196289)])
        self.assertEqual(values(document, "eval_loss"), [(6, 4.136031627655029), (12, 4.133123397827148)])
        self.assertEqual(document["steps"], [])
        self.assertIn("no time of a step", words(document))


class Tables(Expecting):
    def test_lightnings_metrics(self):
        document = observed("lightning-metrics.csv")
        self.assertEqual([step for step, _ in values(document, "loss")], [4, 9, 14, 19, 24, 29])
        self.assertEqual(values(document, "val"), [(15, -1.671620488166809), (31, -3.3249564170837402)])
        self.assertEqual(document["steps"], [])
        self.assertIn("no column is known to have any", words(document))

    def test_a_duration_whose_name_has_its_unit(self):
        for name, factor in (("step_time_ms", 1e3), ("iter_time_s", 1), ("step_time(us)", 1e6), ("seconds_per_step", 1), ("train/step_time_ns", 1e9)):
            rows = "".join(f"{step},{0.25 * factor * (step + 1):.0f}\n" if factor > 1 else f"{step},{0.25 * (step + 1)}\n" for step in range(4))
            document = read([self.write("a.csv", f"step,{name}\n{rows}")])
            self.expect_steps(document, (0.5, 0.75, 1))
            self.assertEqual([(one["step"], one["seconds"], one["why"]) for one in document["steps_left"]], [(0, 0.25, "the first recorded")])
            self.assertIn(f"column '{name}' is taken as a duration", words(document))

    def test_units_are_never_guessed(self):
        self.refused("a.csv", "step_time,loss\n250,1\n251,2\n", "column 'step_time': its name has no unit; give --duration step_time --unit s")
        document = read([self.write("a.csv", "step,step_time,loss\n0,250,1\n1,251,2\n")])
        self.assertEqual(document["steps"], [])
        self.assertIn("column 'step_time': its name has no unit", words(document))
        document = read([self.write("a.csv", "step,step_time,loss\n0,250,1\n1,251,2\n")], Asked(duration="step_time", unit="ms"))
        self.expect_steps(document, (0.251,))
        document = read([self.write("b.csv", "step,timestamp,loss\n0,1700000000,1\n1,1700000002,2\n")])
        self.assertEqual(document["steps"], [])
        self.assertIn("column 'timestamp': its name has no unit; give --time timestamp --unit s", words(document))

    def test_the_least_of_several_is_no_number_of_minutes(self):
        document = read([self.write("a.csv", "step,step_time_min,loss\n0,250,1\n1,251,2\n")])
        self.assertEqual((document["steps"], document["steps_left"]), ([], []))
        self.assertEqual(values(document, "step_time_min"), [(0, 250), (1, 251)])

    def test_torchtitans_column(self):
        document = read([self.write("a.jsonl", "".join(json.dumps({"step": step, "time_metrics/end_to_end(s)": seconds}) + "\n"
                                                       for step, seconds in ((1, 0.05), (10, 0.5), (20, 0.25))))])
        self.expect_steps(document, (0.5, 0.25))
        self.assertEqual(document["steps_left"][0]["seconds"], 0.05)  # of step 1 alone, over log_freq: ten times too small

    def test_moments(self):
        document = read([self.write("a.csv", "iteration,time,loss\n10,5000,1\n20,9000,2\n30,14000,nan\n")], Asked(time="time", unit="ms"))
        self.expect_steps(document, (0.4, 0.5))
        self.assertEqual([one["count"] for one in document["steps"]], [10, 10])
        self.assertEqual(values(document, "loss"), [(10, 1), (20, 2), (30, "NaN")])
        self.assertTrue(all("time_s" not in point for point in series(document, "loss")))  # since when is not known
        document = read([self.write("a.csv", "Wall time,Step,Value\n1700000000.5,1,2\n1700000001.25,2,3\n")])
        self.expect_steps(document, (0.75,))
        self.assertEqual(series(document, "Value")[0]["time_s"], 1700000000.5)

    def test_dates(self):
        text = "step;when;loss\n1;2026-11-27T21:00:00.000{0};1\n2;2026-11-27T21:00:01.500{0};2\n"
        zoned = read([self.write("a.csv", text.format("+00:00"))], Asked(time="when"))
        plain = read([self.write("b.csv", text.format(""))], Asked(time="when"))
        for document in (zoned, plain):
            self.expect_steps(document, (1.5,))
        self.assertEqual(series(zoned, "loss")[0]["time_s"], 1795813200)  # date -ud 2026-11-27T21:00:00 +%s
        self.assertNotIn("time_s", series(plain, "loss")[0])

    def test_json_lines(self):
        lines = [{"_step": step, "_timestamp": 50 + 0.5 * step, "train": {"loss": 1 / (step + 1)}} for step in range(3)]
        document = read([self.write("a.jsonl", "".join(json.dumps(line) + "\n" for line in lines) + '{"_step": 3, "_time')])
        self.expect_steps(document, (0.5, 0.5))
        self.assertEqual(values(document, "train.loss"), [(0, 1), (1, 0.5), (2, 1 / 3)])
        document = read([self.write("a.json", json.dumps(lines, indent=1))])
        self.expect_steps(document, (0.5, 0.5))

    def test_an_export_of_wandb(self):
        document = read([self.write("wandb.csv", '"Step","run-1 - loss","run-1 - loss__MIN"\n"0","2","2"\n"10","1","1"\n')])
        self.assertEqual(values(document, "run-1 - loss"), [(0, 2), (10, 1)])

    def test_ranks(self):
        document = read([self.write("a.csv", "rank,step,step_ms\n0,0,10\n1,0,11\n0,1,20\n1,1,21\n")])
        self.assertEqual([(one["rank"], one["step"], one["seconds"]) for one in document["steps"]], [(0, 1, 0.020), (1, 1, 0.021)])
        self.assertEqual(len(document["steps_left"]), 2)

    def test_a_restart_gives_no_step(self):
        rows = ((1, 10), (2, 11), (3, 12), (2, 40), (3, 41))
        document = read([self.write("a.csv", "step,_timestamp,loss\n" + "".join(f"{step},{moment},1\n" for step, moment in rows))])
        self.expect_steps(document, (1, 1, 1))

    def test_exchanges(self):
        text = "operation,bytes,members,time_ms,library\nall_reduce,1000,4,2.5,gloo\nallgather,20,4,1,gloo\nnothing,20,4,1,gloo\n"
        document = read([self.write("a.csv", text)])
        self.assertEqual([(one["operation"], one["bytes"], one["members"], one["seconds"], one["library"]) for one in document["exchanges"]],
                         [("all-reduce", 1000, 4, 0.0025, "gloo"), ("all-gather", 20, 4, 0.001, "gloo")])
        self.assertIn("1 row without a known operation", words(document))
        document = read([self.write("b.csv", "size,took\n1000,7\n")], Asked(bytes="size", duration="took", unit="us", operation="broadcast", members=3))
        self.assertEqual([(one["operation"], one["bytes"], one["members"], one["seconds"]) for one in document["exchanges"]],
                         [("broadcast", 1000, 3, 7e-6)])
        self.refused("c.csv", "bytes,time_ms\n1000,7\n", "does not say of what; allowed: a column 'operation', or --operation", Asked(bytes="bytes"))

    def test_bytes_of_something_else_are_a_series(self):
        document = read([self.write("a.csv", "step,step_time_ms,bytes\n1,5,1000\n2,6,2000\n")])
        self.assertEqual((document["exchanges"], [one["seconds"] for one in document["steps"]]), ([], [0.006]))
        self.assertEqual(values(document, "bytes"), [(1, 1000), (2, 2000)])

    def test_a_column_that_is_not_there(self):
        self.refused("a.csv", "step,loss\n1,2\n", r"--time: found 'when', which is no column of .*a.csv; allowed: step, loss", Asked(time="when"))

    def test_tables_of_others(self):
        self.refused("a.csv", "name,age\nAda,36\nAlan,41\n", r"\(columns name, age\) of which no column is known")
        self.refused("a.jsonl", '{"name": "Ada"}\n{"name": "Alan"}\n', r"\(columns name\) of which no column is known")


if __name__ == "__main__":
    unittest.main()
