#!/usr/bin/env python3
"""What trackers read back of a real run. tensorboard, wandb, mlflow-skinny and trackio are tried where this Python has them.

    track_test.py LONGHAUL SOURCE_FOLDER
"""
import csv
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from in_a_folder import LONGHAUL, SOURCE, has  # before the package, which it finds

import longhaul
from longhaul.errors import RunFailed
from longhaul.track import main, mlflow_names, track

SCENARIO = {"name": "tracked", "replicas": 2, "methods": [{"name": "diloco", "inner_steps": 4}, {"name": "ddp"}],
            "train": {"steps": 8, "batch": 2, "evaluate_every": 4, "evaluate_sequences": 4,
                      "model": {"hidden": 16, "layers": 1, "heads": 2, "ffn": 24, "context": 12, "vocabulary": 16},
                      "data": {"synthetic": {"branching": 3, "tokens": 4000}}},
            "workload": {"step_time": {"constant": "1s"}},
            "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}}}


def wandb_records(file):
    """Of a file of W&B, which are protobufs in blocks as LevelDB's log has them (checksum, length, kind) behind 7 bytes."""
    from wandb.proto.wandb_internal_pb2 import Record
    data, at, record = file.read_bytes(), 7, b""
    while at + 7 <= len(data):
        if -at % 32768 < 7 and at % 32768:
            at += -at % 32768
            continue
        length, kind = struct.unpack_from("<HB", data, at + 4)
        at += 7 + length
        record += data[at - length:at]
        if kind in (1, 4):  # whole, or its last part
            yield Record.FromString(record)
            record = b""


class Tracked(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.run_folder = str(cls.folder / "run")
        longhaul.run(SCENARIO, cls.run_folder, program=LONGHAUL)
        with open(cls.folder / "run/cases/diloco/metrics.csv", newline="") as file:
            cls.rows = [row for row in csv.DictReader(file) if row["replica"] == "mean"]

    def out(self, name):
        return str(self.folder / name)

    def test_csv(self):
        self.assertEqual([(row["step"], row["phase"]) for row in self.rows],  # of two outer steps
                         [("4", "before"), ("4", "after"), ("8", "before"), ("8", "after")])
        self.assertEqual(track(self.run_folder, "csv", self.out("csv")), 4 + 2)
        with open(self.folder / "csv/diloco.csv", newline="") as file:
            found = list(csv.DictReader(file))
        for column in ("loss", "simulated_s"):
            self.assertEqual([float(row[column]) for row in found], [float(row[column]) for row in self.rows])

    def test_follows_a_run_that_goes_on(self):
        run = self.folder / "live"
        (run / "cases/diloco").mkdir(parents=True)
        for name in ("scenario.json", "summary.json"):
            (run / name).write_bytes((self.folder / "run" / name).read_bytes())
        lines = (self.folder / "run/cases/diloco/metrics.csv").read_bytes().splitlines(keepends=True)
        metrics, manifest = run / "cases/diloco/metrics.csv", run / "manifest.json"
        training = run / "train/diloco-1"  # its losses have no times
        training.mkdir(parents=True)
        (training / "metrics.csv").write_text("step,phase,replica,loss\n4,before,0,3\n4,before,mean,2.5\n")
        metrics.write_bytes(b"".join(lines[:4]))
        manifest.write_text('{"status": "running"}')

        def go_on():
            metrics.write_bytes(b"".join(lines))
            manifest.write_text('{"status": "done"}')
        later = threading.Timer(0.5, go_on)
        later.start()
        self.assertEqual(track(str(run), "csv", self.out("followed"), follow=True, every_s=0.1), 1 + 4)
        later.join()
        self.assertEqual((self.folder / "followed/diloco-1.csv").read_text().splitlines()[1:], ["4,before,2.5,,,,"])
        with open(self.folder / "followed/diloco.csv", newline="") as file:
            self.assertEqual([float(row["loss"]) for row in csv.DictReader(file)], [float(row["loss"]) for row in self.rows])

    @unittest.skipUnless(has("tensorboard"), "tensorboard is not installed")
    def test_tensorboard(self):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        self.assertEqual(main([self.run_folder, "--to", "tensorboard", "--out", self.out("tb")]), 0)
        events = EventAccumulator(self.out("tb/diloco"))
        events.Reload()
        for tag, phase in (("loss", "after"), ("loss/before", "before")):
            expected = [row for row in self.rows if row["phase"] == phase]
            found = [(tensor.step, round(tensor.wall_time, 6)) for tensor in events.Tensors(tag)]
            self.assertEqual(found, [(int(row["step"]), round(float(row["simulated_s"]), 6)) for row in expected])
            for tensor, row in zip(events.Tensors(tag), expected):
                self.assertAlmostEqual(tensor.tensor_proto.float_val[0], float(row["loss"]), places=5)

    @unittest.skipUnless(has("mlflow"), "mlflow-skinny is not installed")
    def test_mlflow(self):
        from mlflow.tracking import MlflowClient
        self.assertEqual(main([self.run_folder, "--to", "mlflow", "--out", self.out("ml")]), 0)
        client = MlflowClient((self.folder / "ml").resolve().as_uri())
        experiment = client.get_experiment_by_name("tracked")
        run, = [run for run in client.search_runs([experiment.experiment_id]) if run.info.run_name == "diloco"]
        history = client.get_metric_history(run.info.run_id, "loss")
        self.assertEqual([(point.step, point.value) for point in history],
                         [(int(row["step"]), float(row["loss"])) for row in self.rows if row["phase"] == "after"])

    def test_names_for_mlflow(self):
        keys = ["seed", "methods.a@b.outer_lr", "methods.a#b.outer_lr", "methods.Köln 1:2.outer_lr", "a/b", "../x", "k" * 300]
        names = mlflow_names(keys)
        self.assertEqual([names[i] for i in (0, 1, 3, 4, 5)],
                         ["seed", "methods.a_b.outer_lr", "methods.Köln 1:2.outer_lr", "a_b", ".._x"])
        self.assertEqual((len(set(names)), max(map(len, names)) <= 250), (len(keys), True))

    def odd(self):
        """A run whose labels hold what trackers do not take in names: 2 labels x 2 rates, 4 evaluations each."""
        methods = [{"name": "diloco", "label": label, "inner_steps": 4} for label in ("a@b", "c#d")]
        sweep = [{f"methods.{method['label']}.outer_lr": [0.5, 0.7]} for method in methods]
        scenario = {**SCENARIO, "name": "odd/name: a#b", "methods": methods, "sweep": sweep}
        if not (self.folder / "odd").exists():
            longhaul.run(scenario, self.out("odd"), program=LONGHAUL)
        return self.out("odd")

    @unittest.skipUnless(has("mlflow"), "mlflow-skinny is not installed")
    def test_mlflow_takes_any_label(self):
        count = track(self.odd(), "csv", self.out("odd-csv"))
        self.assertGreaterEqual(count, 16)
        self.assertEqual(track(self.odd(), "mlflow", self.out("odd-ml")), count)

    @unittest.skipUnless(has("wandb"), "wandb is not installed")
    def test_wandb_takes_any_name(self):
        done = subprocess.run([sys.executable, "-m", "longhaul.track", self.odd(), "--to", "wandb", "--out", self.out("odd-wb")],
                              env={**os.environ, "WANDB_MODE": "offline", "PYTHONPATH": str(SOURCE / "python")}, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_a_tracker_refuses_is_an_error_in_its_words(self):
        with self.assertRaisesRegex(RunFailed, "--to csv: FileExistsError: "):
            track(self.run_folder, "csv", str(self.folder / "run/scenario.json"))

    def test_follows_a_run_until_it_is_killed(self):
        scenario = {**SCENARIO, "methods": [{"name": "diloco", "inner_steps": 4}],
                    "train": {**SCENARIO["train"], "steps": 2_000_000, "evaluate_every": 200}}
        (self.folder / "long.json").write_text(json.dumps(scenario))
        folder = self.folder / "killed"
        run = subprocess.Popen([LONGHAUL, "run", self.folder / "long.json", "--out", folder], start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(run.wait)
        try:
            while not list(folder.glob("train/*/metrics.csv")):
                self.assertIsNone(run.poll())
                time.sleep(0.05)
            said = []

            def follow():
                try:
                    track(str(folder), "csv", self.out("of-killed"), follow=True, every_s=0.1, patience_s=0.5)
                except RunFailed as error:
                    said.append(error.message)
            follower = threading.Thread(target=follow)
            follower.start()
            follower.join(2)
            self.assertTrue(follower.is_alive(), said)  # four times its patience: it sees the run's lock
        finally:
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        follower.join(60)
        self.assertFalse(follower.is_alive())
        self.assertIn("no process writes there: it was killed", said[0])
        self.assertGreater(len((self.folder / "of-killed").glob("*.csv").__next__().read_text().splitlines()), 1)

    @unittest.skipUnless(has("wandb"), "wandb is not installed")
    def test_wandb_offline(self):
        done = subprocess.run([sys.executable, "-m", "longhaul.track", self.run_folder, "--to", "wandb", "--out", self.out("wb")],
                              env={**os.environ, "WANDB_MODE": "offline", "PYTHONPATH": str(SOURCE / "python")},
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        files = list(pathlib.Path(self.out("wb")).rglob("*.wandb"))
        self.assertEqual(len(files), 2, "one a case")
        losses = {}
        for file in files:
            records = list(wandb_records(file))
            name, = [record.run.display_name for record in records if record.WhichOneof("record_type") == "run"]
            items = [{item.key or item.nested_key[0]: json.loads(item.value_json) for item in record.history.item}
                     for record in records if record.WhichOneof("record_type") == "history"]
            losses[name] = [(item["inner_step"], item["phase"], item["loss"]) for item in items]
        self.assertEqual(losses["diloco"], [(int(row["step"]), row["phase"], float(row["loss"])) for row in self.rows])

    @unittest.skipUnless(has("trackio"), "trackio is not installed")
    def test_trackio(self):
        done = subprocess.run([sys.executable, "-m", "longhaul.track", self.run_folder, "--to", "trackio"],
                              env={**os.environ, "TRACKIO_DIR": self.out("tr"), "PYTHONPATH": str(SOURCE / "python")},
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        read = subprocess.run([sys.executable, "-c", "from trackio.cli import main; main()", "get", "metric", "--project", "tracked",
                               "--run", "diloco", "--metric", "loss", "--json"],
                              env={**os.environ, "TRACKIO_DIR": self.out("tr")}, capture_output=True, text=True, check=True)
        self.assertEqual([(value["step"], value["value"]) for value in json.loads(read.stdout)["values"]],
                         [(int(row["step"]), float(row["loss"])) for row in self.rows])

    def test_what_cannot_be_tracked_is_said(self):
        for arguments in ([self.out("none"), "--to", "csv"], [str(SOURCE), "--to", "csv"]):
            self.assertEqual(main(arguments), 2)


if __name__ == "__main__":
    unittest.main()
