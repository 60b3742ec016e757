#!/usr/bin/env python3
"""The Python package: against a program that stands in for longhaul, run directories written by hand, and real runs.

    longhaul_test.py LONGHAUL SOURCE_FOLDER      runs with training are left out where longhaul-train is not beside LONGHAUL
"""
import concurrent.futures
import json
import math
import os
import pathlib
import pickle
import subprocess
import sys
import unittest
from unittest import mock

from in_a_folder import LONGHAUL, SOURCE, InAFolder, has  # before the package, which it finds

import longhaul
from longhaul.tables import read_csv, value_of

sys.path.append(str(SOURCE / "docs/examples"))
import gap_by_replicas

WITH_PACKAGE = dict(os.environ, LONGHAUL=LONGHAUL, PYTHONPATH=str(SOURCE / "python"))
HAS_TRAINER = (pathlib.Path(LONGHAUL).parent / "longhaul-train").exists()
NETWORK = {"name": "net", "replicas": 4, "seeds": [1, 2],
           "methods": [{"name": "diloco", "inner_steps": 5}, {"name": "noloco", "inner_steps": 5}],
           "workload": {"parameters": 1000000, "steps": 20, "step_time": {"lognormal": {"mean": "1s", "sigma": 0.3}}},
           "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}},
           "sweep": {"network.tcp.connections": [1, 4]},
           "claims": [{"id": "tenfold", "ratio": "sync_time_s.mean", "of": "diloco", "to": "noloco", "at_least": 10}]}


class StandIn(InAFolder):
    """A shell script in the place of longhaul: what the package makes of what a program says."""

    def program(self, body):
        file = self.write("longhaul", "#!/bin/sh\n" + body)
        file.chmod(0o755)
        return str(file)

    def error_of(self, body, **options):
        with self.assertRaises(longhaul.LonghaulError) as caught:
            longhaul.run("x.json", self.folder / "out", program=self.program(body), **options)
        return caught.exception

    def test_exit_statuses_are_exceptions_with_the_message(self):
        killed = r"longhaul was killed by signal 9 \(SIGKILL\).*"
        for body, kind, status, message in (
                ("echo 'error: x.json: replicas: found 0' >&2; exit 2", longhaul.InputError, 2, "x.json: replicas: found 0"),
                ("echo 'training 3 %' >&2; echo 'failed: ddp: disk full' >&2; exit 1", longhaul.RunFailed, 1,
                 "failed: ddp: disk full"),
                ("exit 130", longhaul.Interrupted, 130, ".*"),
                ("kill -9 $$", longhaul.LonghaulError, 137, killed),
                ("echo 'training 3 %: ddp' >&2; kill -9 $$", longhaul.LonghaulError, 137, killed + "said: training 3 %: ddp")):
            error = self.error_of(body)
            self.assertEqual((type(error), error.status), (kind, status))
            self.assertRegex(error.message, f"^{message}$")

    def test_a_callback_that_raises_stops_the_run_at_once(self):
        # It has ten minutes to do; told to stop, it writes its checkpoint and still says so.
        program = self.program(f"trap 'echo stopping >&2; touch {self.folder}/checkpoint; exit 130' INT; echo started >&2; "
                               "i=0; while [ $i -lt 6000 ]; do sleep 0.1; i=$((i + 1)); done")
        script = self.write("refuse.py", f"""
import sys
import longhaul
try:
    longhaul.run("x.json", "out", program={program!r}, progress=lambda _: 1 // 0)
except ZeroDivisionError:
    sys.exit(7)
""")
        terminal = os.openpty()
        for end in terminal:
            self.addCleanup(os.close, end)
        # In a terminal the signal of Ctrl-C reaches the run by itself, but not the error of a callback.
        for stdin in (subprocess.DEVNULL, terminal[1]):
            done = subprocess.run([sys.executable, script], stdin=stdin, timeout=300, cwd=self.folder, env=WITH_PACKAGE)
            self.assertEqual(done.returncode, 7)
            (self.folder / "checkpoint").unlink()

    def test_names_that_begin_with_a_dash_are_no_options(self):
        program = self.program(f"echo \"$@\" >> {self.folder}/arguments; echo '{{}}'")
        longhaul.check("--help", program=program)
        longhaul.compare(["--format=csv", "-r"], program=program)
        self.assertRaises(longhaul.LonghaulError, longhaul.run, "-s.json", "-o", program=program)  # it writes no run
        self.assertEqual((self.folder / "arguments").read_text(),
                         "check ./--help --json\ncompare ./--format=csv ./-r --format json\n"
                         "run ./-s.json --out ./-o --jobs 1\n")

    def test_what_cannot_be_given_is_an_error_of_ours(self):
        program = self.program("echo 'no JSON'")
        for call in (lambda: longhaul.check("x.json", program=program),
                     lambda: longhaul.check({"replicas": {1, 2}}, program=program),
                     lambda: longhaul.check({"a": 1}, set={"b": object()}, program=program),
                     lambda: longhaul.run({"replicas": 2}, program=program)):
            self.assertRaises(longhaul.LonghaulError, call)

    def test_progress_comes_line_by_line(self):
        said = []
        self.error_of("echo 'training 4 of 4' >&2; echo 'replay 42 %, ETA 3 s: x' >&2; exit 1", progress=said.append)
        self.assertEqual([(one.phase, one.fraction) for one in said], [(None, None), ("replay", 0.42)])
        self.assertEqual(str(said[1]), "replay 42 %, ETA 3 s: x")

    def test_arguments_are_those_of_the_command_line(self):
        self.write("results/r/scenario.json", "{}")
        program = self.program(f"echo \"$@\" > {self.folder}/arguments; echo 'report: {self.folder}/results/r/report.html'")
        run = longhaul.run("a b.json", set={"replicas": 8, "workload.wire": "fp32"}, jobs=2, shard="1/2", resume=True,
                           device="cpu", arguments=["--backend", "loop"], program=program)
        self.assertEqual(run.path, self.folder / "results/r")
        self.assertEqual((self.folder / "arguments").read_text(),
                         'run a b.json --set replicas=8 --set workload.wire="fp32" --jobs 2 --shard 1/2 --device cpu '
                         "--resume --backend loop\n")

    def test_an_executor_gets_a_case_a_task_the_longest_first(self):
        program = self.program(f"""echo "$@" >> {self.folder}/arguments
case "$*" in *--list-cases*) printf 'a,x=1\\t0.5\\t1e8\\nb\\t10\\t1e8\\n' ;;
*"--only-case a"*) exit $(cat {self.folder}/status) ;; esac""")
        out, said = self.folder / "out", []
        self.write("status", "1")
        with concurrent.futures.ThreadPoolExecutor(1) as executor:
            with self.assertRaises(longhaul.RunFailed):
                longhaul.run("s.json", out, jobs=2, executor=executor, program=program, progress=said.append)
            self.assertEqual([(one.phase, one.fraction) for one in said], [("cases", 0.5), ("cases", 1)])
            self.assertEqual([str(one) for one in said], ["b: done", "a,x=1: longhaul ended with status 1"])
            self.write("status", "0")
            self.write("out/scenario.json", "{}")
            with self.assertRaisesRegex(longhaul.InputError, "already holds a run.*resume=True"):
                longhaul.run("s.json", out, executor=executor, program=program)
            (self.folder / "arguments").unlink()
            self.assertEqual(longhaul.run("s.json", out, executor=executor, resume=True, program=program).path, out)
            for wrong in ({}, {"out": out, "overwrite": True}, {"out": out, "shard": "1/2"}):
                with self.assertRaisesRegex(longhaul.InputError, "executor: needs out"):
                    longhaul.run("s.json", executor=executor, program=program, **wrong)
        start = f"run {os.path.abspath('s.json')} --out {out} --jobs 1 "  # a worker may be in another folder
        self.assertEqual((self.folder / "arguments").read_text().splitlines(),
                         [start + more for more in ("--list-cases", "--only-case b", "--only-case a,x=1", "--resume")])

    def test_errors_survive_the_way_from_another_process(self):
        for error in (longhaul.RunFailed("full", 1), longhaul.InputError("no"), longhaul.LonghaulError("killed", 137)):
            copy = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(copy), copy.message, copy.status), (type(error), error.message, error.status))

    def test_the_program_is_found_by_argument_variable_and_path(self):
        program, other = self.program(""), self.write("other/longhaul", "#!/bin/sh\n")
        other.chmod(0o755)
        with mock.patch.dict(os.environ, {"PATH": str(self.folder)}):
            os.environ.pop("LONGHAUL", None)
            self.assertEqual(longhaul.find_program(), program)
            os.environ["LONGHAUL"] = str(other)
            self.assertEqual(longhaul.find_program(), str(other))
            self.assertEqual(longhaul.find_program(program), program)
            os.environ["LONGHAUL"] = str(self.folder / "missing")
            self.assertRaisesRegex(longhaul.InputError, "missing.*LONGHAUL", longhaul.find_program)


class Reading(InAFolder):
    def test_cells_are_what_they_look_like(self):
        self.assertEqual([value_of(text) for text in ("", "3", "-0.5", "1e+10", "mean", "inf")],
                         [None, 3, -0.5, 1e10, "mean", math.inf])

    def test_a_line_without_its_end_is_left_out_and_a_name_may_look_like_a_number(self):
        file = self.write("t.csv", 'case,x\n"a,b=1",1\n01,2\n1_0,3\ninf,4\nc,')
        self.assertEqual(read_csv(file), [{"case": case, "x": x} for case, x in (("a,b=1", 1), ("01", 2), ("1_0", 3), ("inf", 4))])
        for row in read_csv(file):
            self.assertEqual(read_csv(file, row["case"]).column("x"), [row["x"]])

    def test_a_folder_that_is_no_run(self):
        self.assertRaisesRegex(longhaul.InputError, "no run directory", longhaul.open_run, self.folder)

    def test_cases_and_curves(self):
        records = [{"case": "a", "status": "done", "label": "a", "seed": 1, "swept": {"train.steps": 4}, "train.steps": 4,
                    "sync_time_s": {"mean": 2.5, "p95": 3}, "tokens": 320},
                   {"case": "b", "status": "failed", "label": "b", "seed": 1, "swept": {"train.steps": 4}, "train.steps": 4,
                    "error": "no"}]
        self.write("scenario.json", "{}")
        self.write("summary.json", json.dumps({"format": 1, "scenario": "s", "cases": records, "claims": []}))
        self.write("cases/a/case.json", json.dumps({"train": {"steps": 4}}))
        self.write("cases/a/metrics.csv", "step,phase,replica,simulated_s,loss,loss_of_mean,weight_spread,bytes_sent\n"
                                          "2,plain,0,1.5,3,,,10\n2,plain,mean,1.75,3.5,3.25,0.1,12\n4,plain,mean,4,2.5,2,0,20\n")
        run = longhaul.open_run(self.folder)
        cases = run.cases()
        self.assertEqual(cases.columns(), ["case", "status", "label", "seed", "train.steps", "sync_time_s.mean",
                                           "sync_time_s.p95", "tokens", "error"])
        self.assertEqual(cases.column("sync_time_s.mean"), [2.5, None])
        self.assertEqual(len(cases.where(status="done", **{"train.steps": 4})), 1)
        self.assertEqual(run.swept_keys(), ["train.steps"])
        self.assertEqual(run.learning_curve("a", by="time"), [(1.75, 3.5), (4, 2.5)])
        self.assertEqual(run.learning_curve("a", by="bytes", averaged=True), [(12, 3.25), (20, 2)])
        # 320 tokens in 4 steps of all replicas together.
        self.assertEqual(run.learning_curve("a", by="tokens"), [(160, 3.5), (320, 2.5)])
        # All cases in one table; a failed one that trained nothing has no row.
        self.write("metrics.csv", "case,step,phase,replica,simulated_s,loss,loss_of_mean,weight_spread,bytes_sent\n"
                                  "a,2,plain,0,1.5,3,,,10\na,2,plain,mean,1.75,3.5,3.25,0.1,12\na,4,plain,mean,4,2.5,2,0,20\n")
        curves = run.curves()
        self.assertEqual(curves.columns(), ["case", "label", "method", "seed", "train.steps", "step", "phase", "time", "bytes",
                                            "tokens", "loss", "loss_of_mean"])
        self.assertEqual([tuple(row.values())[5:] for row in curves],
                         [(2, "plain", 1.75, 12, 160, 3.5, 3.25), (4, "plain", 4, 20, 320, 2.5, 2)])
        self.assertEqual(curves.column("label"), ["a", "a"])
        self.assertRaisesRegex(longhaul.InputError, "steps, time, bytes, tokens", run.learning_curve, "a", by="epochs")
        for read in (run.case, run.learning_curve, run.metrics, run.exchanges, run.links):
            self.assertRaisesRegex(longhaul.InputError, "found 'c'; allowed: 'a', 'b'", read, "c")
        self.assertRaisesRegex(longhaul.InputError, "found 'sync'; allowed: case, status", cases.column, "sync")
        self.assertRaisesRegex(longhaul.InputError, "exchanges.csv: does not exist", run.exchanges, "a")

    def test_damaged_files_are_errors_that_name_them(self):
        self.write("scenario.json", "{}")
        self.write("manifest.json", "[]")
        for text in ("", "{", "[]", "null", "3", '{"cases": 3}', '{"cases": [3]}', '{"cases": [{}]}', '{"cases": {}}',
                     "[" * 100000, "\udcff"):
            self.folder.joinpath("summary.json").write_bytes(text.encode("utf-8", "surrogateescape"))
            for call in (lambda run: run.claims, lambda run: run.case("a"), lambda run: run.learning_curve("a")):
                with self.assertRaisesRegex(longhaul.InputError, "summary.json|found 'a'", msg=text[:40]):
                    call(longhaul.open_run(self.folder))
        with self.assertRaisesRegex(longhaul.InputError, "manifest.json: is damaged"):
            longhaul.open_run(self.folder).status

    def test_a_case_that_leads_out_of_the_run(self):
        self.write("scenario.json", "{}")
        for name in ("../secret", "..", "/etc", ""):
            self.write("summary.json", json.dumps({"format": 1, "scenario": "s", "claims": [],
                                                   "cases": [{"case": name, "swept": {}}]}))
            run = longhaul.open_run(self.folder)
            for read in (lambda: run.learning_curve(name), run.cases, lambda: run.case(name)):
                self.assertRaisesRegex(longhaul.InputError, "summary.json: found the case", read)

    @unittest.skipUnless(has("pandas"), "pandas is not installed")
    def test_a_table_is_a_frame(self):
        frame = longhaul.Table([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]).frame()
        self.assertEqual(list(frame.columns), ["a", "b"])
        self.assertEqual(frame["a"].sum(), 3)
        frame = longhaul.Curve([(1, 4.5), (2, 4.25)], "time").frame()
        self.assertEqual(list(frame.columns), ["time", "loss"])
        self.assertEqual(frame["loss"].sum(), 8.75)


class RealRuns(InAFolder):
    def test_a_run_of_the_network_alone(self):
        said = []
        run = longhaul.run(NETWORK, self.folder / "net", progress=said.append, program=LONGHAUL)
        self.assertEqual(run.status, "done")
        self.assertTrue(run.report.exists())
        self.assertIn("replaying 8 of 8 cases", [str(one) for one in said])
        cases = run.cases()
        self.assertEqual(len(cases), 8)
        self.assertEqual(sorted(set(cases.column("network.tcp.connections"))), [1, 4])
        # The table's mean is that of the exchanges: done - start over outer steps and replicas.
        row = cases.where(label="diloco", seed=1, **{"network.tcp.connections": 4})[0]
        times = [one["done_s"] - one["start_s"] for one in run.exchanges(row["case"])]
        self.assertEqual(len(times), 4 * 4)
        self.assertAlmostEqual(sum(times) / len(times), row["sync_time_s.mean"], 9)
        self.assertTrue(all(one["bytes"] > 0 for one in run.links(row["case"])))
        self.assertEqual([claim["verdict"] for claim in run.claims], ["fails"])
        self.assertEqual(run.manifest["scenario"]["name"], "net")
        table = longhaul.compare([run], metrics=["sync_time_s.mean"], program=LONGHAUL)
        groups = {group["name"]: group["mean"] for group in table["metrics"][0]["rows"][0]["groups"]}
        means = cases.where(label="diloco", **{"network.tcp.connections": 1}).column("sync_time_s.mean")
        self.assertAlmostEqual(groups["diloco"], sum(means) / 2, 12)
        with self.assertRaisesRegex(longhaul.InputError, "already holds a run.*--overwrite"):
            longhaul.run(NETWORK, self.folder / "net", program=LONGHAUL)
        again = longhaul.run(NETWORK, self.folder / "net", overwrite=True, set={"replicas": 8}, program=LONGHAUL)
        self.assertEqual(set(again.cases().column("replicas")), {8})

    def test_a_check(self):
        checked = longhaul.check(NETWORK, program=LONGHAUL)
        self.assertEqual(len(checked["cases"]), 8)
        self.assertEqual(checked["scenario"]["network"]["tcp"]["queue"], "host")
        with self.assertRaisesRegex(longhaul.InputError, "replicas: found 0; allowed: an integer of at least 1"):
            longhaul.check(NETWORK, set={"replicas": 0}, program=LONGHAUL)
        self.assertRaisesRegex(longhaul.InputError, "^the scenario: replicas: found -1",  # the file of a dict is ours
                               longhaul.check, dict(NETWORK, replicas=-1), program=LONGHAUL)

    @unittest.skipUnless(HAS_TRAINER, "longhaul-train was not built")
    def test_the_example(self):
        done = subprocess.run([sys.executable, SOURCE / "docs/examples/learning_curves.py", self.folder], env=WITH_PACKAGE,
                              capture_output=True, text=True, timeout=250)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = longhaul.open_run(self.folder / "curves")
        loss = run.case("noloco,network.tcp.connections=1,seed=1")["final_loss"]
        self.assertIn(f"noloco: {loss:.3f} nats after", done.stdout)
        self.assertAlmostEqual(run.learning_curve("noloco,network.tcp.connections=1,seed=1")[-1][1], loss, 12)


class GapByReplicas(InAFolder):
    """docs/examples/gap_by_replicas.py, on losses with known slopes."""

    # Seed s is 0.5 + 0.01 s log2 N above a baseline that has a course of its own; at N = 64 `bump` more.
    @staticmethod
    def rows(bump=0.0):
        rows = []
        for seed in (1, 2, 3):
            for replicas in (16, 64, 256):
                base = 2 - 0.1 * seed + 1 / replicas
                gap = 0.5 + 0.01 * seed * math.log2(replicas) + (bump if replicas == 64 else 0)
                rows += [{"label": "ddp", "seed": seed, "replicas": replicas, "final_loss": base},
                         {"label": "noloco", "seed": seed, "replicas": replicas, "final_loss": base + gap}]
        return rows

    def law(self, rows):
        return gap_by_replicas.law_of(gap_by_replicas.gaps(rows, "noloco", "ddp"))

    def test_the_slope_is_the_mean_over_the_seeds_and_its_interval_is_students(self):
        half = 4.303 * 0.01 / math.sqrt(3)  # slopes 0.01, 0.02, 0.03
        # A bump of 0.3 in the middle of three lifts the line by 0.1: it is 0.2 off there, -0.1 at the ends.
        for bump, lifted, worst in ((0, 0, 0), (0.3, 0.1, 0.2)):
            expected = 0.02, 0.02 - half, 0.02 + half, 0.5 + lifted, worst  # slope, its interval, intercept, what is worst
            for found, by_hand in zip(self.law(self.rows(bump)), expected):
                self.assertAlmostEqual(found, by_hand)

    def test_pairs_that_lack_a_case_or_have_two_are_refused(self):
        for rows, words in ((self.rows()[:-1], "same seeds and replicas"),
                            (self.rows() + self.rows()[-1:], "two cases with seed 3 and 256"),
                            ([row for row in self.rows() if row["seed"] == 1], "2 to 10 seeds")):
            self.assertRaisesRegex(ValueError, words, self.law, rows)

    def test_a_table_of_a_run(self):
        rows = [dict(row, case=f"{row['label']}{i}", status="done", swept={"replicas": row["replicas"], "train.batch": batch})
                for batch in (4, 1) for i, row in enumerate(self.rows(bump=0.3 * (batch == 1)))]
        self.write("run/scenario.json", "{}")
        self.write("run/summary.json", json.dumps({"format": 1, "cases": rows}))
        done = subprocess.run([sys.executable, SOURCE / "docs/examples/gap_by_replicas.py", self.folder / "run", "--where",
                               "train.batch=4"], capture_output=True, text=True, check=True, env=WITH_PACKAGE)
        self.assertRegex(done.stdout, r"noloco +\+0\.0200 +\[-0\.0048, \+0\.0448\] +[+-]0\.0000   3, \[16, 64, 256\]")


if __name__ == "__main__":
    unittest.main()
