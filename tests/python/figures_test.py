#!/usr/bin/env python3
"""Which figures are made, and what is drawn in them: python/longhaul/figures.py and draw.py.

    figures_test.py SOURCE_FOLDER      without matplotlib only the first
"""
import ast
import importlib.util
import json
import math
import pathlib
import shutil
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
sys.path[:0] = [str(SOURCE / "python/longhaul"), str(SOURCE / "tests/support")]

import figures  # noqa: E402
from folder import InAFolder  # noqa: E402

HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
if HAS_MATPLOTLIB:
    import draw
COLORS = {"diloco": "#0072B2", "noloco": "#D55E00"}
NOTHING = {"colors": COLORS, "quantities": {"500ms": [0.5, "s"], "2s": [2, "s"]}, "points": [], "sweeps": [], "claims": [],
           "matrices": [], "notes": []}


def group(label, **more):
    return {"name": label, "label": label, "seeds": 1, "curve": None, "times": None, "parts": {}, **more}


def curve(xs, losses, half=0, **more):
    """Two seeds half a nat apart where half is set."""
    around = 0.5 if half else 0
    return {"seeds": 2 if half else 1, "time_s": xs, "step": xs, "bytes": xs, "loss": losses,
            "low": [loss - half for loss in losses], "high": [loss + half for loss in losses],
            "least": [loss - around for loss in losses], "greatest": [loss + around for loss in losses], **more}


def made(points=(), log_x=False, **lists):
    maker = figures.Maker({**NOTHING, "points": list(points), **lists}, log_x)
    return {figure["name"]: figure for figure in maker.all()}, maker.notes


def at(groups, **more):
    return {"at": "", "stages": False, "bits": False, "groups": groups, **more}


def swept(key, values, of=lambda value: value, half=0, label="diloco"):
    return [{"point": {key: value}, "label": label, "seeds": 2, "y": of(value), "low": of(value) - half, "high": of(value) + half}
            for value in values]


CLAIM = {"id": "it's ten", "ratio": "sync_time_s.mean", "of": "diloco", "to": "noloco"}


def claimed(**more):
    points = [{"swept": {"replicas": n, "x": x}, "measured": 2.0 * n * x, "low": 1.9 * n * x, "high": 2.1 * n * x, "residual": 0.05}
              for n in (4, 16, 64) for x in (1, 4)]
    return {"claim": CLAIM, "unit": "", "verdicts": ["ten is undecided"], "keys": ["x", "replicas"], "points": points,
            "claims": [{**CLAIM, "at_least": 10}, {**CLAIM, "id": "forty", "equals": 40, "where": {"replicas": 64}}], **more}


MATRIX = {"id": "fast", "words": "sync time", "row_key": "", "column_key": "a.replicas", "rows": [""], "columns": ["4", "64"],
          "points": 5, "cells": [[[2.13, 2.13, 0, 0, 2, 2, 2.2, "2.13"], [8, 34, 1, 1, 1, 7, 36, "8 – 34"]]]}


class Which(unittest.TestCase):
    def test_losses_against_time_steps_and_bytes(self):
        found, notes = made([at([group("diloco", curve=curve([1.5, 3], [4.5, 3.6])),
                                 group("noloco", curve=curve([1, 2], [4, 3], time_s=None))])])
        self.assertEqual(list(found), ["loss-time", "loss-steps", "loss-bytes"])
        self.assertEqual([one["points"] for one in found["loss-time"]["series"]], [[(1.5, 4.5, 4.5, 4.5), (3, 3.6, 3.6, 3.6)]])
        self.assertEqual([one["color"] for one in found["loss-steps"]["series"]], ["#0072B2", "#D55E00"])
        self.assertEqual(found["loss-bytes"]["x"], {"title": "payload sent per replica", "unit": "B", "log": False})
        self.assertEqual(notes, [])

    def test_axis_of_losses_goes_by_the_seeds(self):
        """2 and 3, with 4 % of room; the interval reaches from -3.85 to 8.85."""
        found, _ = made([at([group("diloco", curve=curve([1], [2.5], half=6.35))])])
        self.assertEqual([round(end, 9) for end in found["loss-time"]["y"]["range"]], [1.96, 3.04])

    def test_losses_that_span_decades_are_logarithmic_without_what_is_at_0(self):
        def of(factor):
            return made([at([group("diloco", curve=curve([0, 1e6], [3, 2])),
                             group("noloco", curve=curve([0, factor * 1e6], [3, 2])),
                             group("diloco", curve=curve([0, 0], [3, 2]))])])
        found, notes = of(20)
        self.assertTrue(found["loss-bytes"]["x"]["log"])
        self.assertEqual(found["loss-bytes"]["series"][0]["points"], [(1e6, 2, 2, 2)])
        self.assertIn("diloco: is at 0 and on no logarithmic axis, left out of loss-bytes", notes)
        self.assertFalse(of(19)[0]["loss-bytes"]["x"]["log"])
        self.assertTrue(made([at([group("diloco", curve=curve([1, 2], [3, 2]))])], log_x=True)[0]["loss-time"]["x"]["log"])

    def test_variants_of_a_method_share_its_colour_and_differ_in_dashes(self):
        found, _ = made([at([group("diloco", curve=curve([1], [3])), group("diloco", curve=curve([1], [2]))])])
        first, second = found["loss-time"]["series"]
        self.assertEqual(first["color"], second["color"])
        self.assertNotEqual(first["dash"], second["dash"])

    def test_methods_of_one_colour_differ_in_dashes(self):
        names = [f"m{i}" for i in range(12)]
        maker = figures.Maker({**NOTHING, "colors": {name: f"#00000{i % 3}" for i, name in enumerate(names)}})
        styles = maker.styles_of([group(name) for name in names])
        self.assertEqual(len({(style["color"], style["dash"] % figures.DASHES) for style in styles}), 12)

    @unittest.skipUnless(HAS_MATPLOTLIB, "no matplotlib")
    def test_there_are_as_many_dashes_as_are_told_apart(self):
        self.assertEqual(len(draw.DASHES), figures.DASHES)

    def test_synchronization_times(self):
        times = {"count": 2, "steps": [[0.5, 0], [0.5, 0.5], [12, 1]]}
        found, _ = made([at([group("diloco", times=times)], at="replicas = 8")])
        self.assertEqual(list(found), ["sync-time-replicas-8"])
        self.assertTrue(found["sync-time-replicas-8"]["x"]["log"])
        self.assertEqual(made([at([group("diloco", times={"count": 1, "steps": [[0, 0], [0, 1]]})])])[0], {})

    def test_shares_add_up_to_one(self):
        parts = {"compute_time_s": 5, "exchange_time_s": 2, "wait_time_s": 1.25}
        found, _ = made([at([group("diloco", parts=parts), group("noloco", parts={"compute_time_s": 1})])])
        self.assertEqual([bar["shares"] for bar in found["shares"]["bars"]], [[5 / 8.25, 2 / 8.25, 1.25 / 8.25]])
        staged, _ = made([at([group("diloco", parts={**parts, "bubble_time_s": 1.75})], stages=True)])
        self.assertEqual(staged["shares"]["parts"], ["compute", "bubble", "wait for a stage's message", "exchange", "wait"])
        self.assertEqual(staged["shares"]["bars"][0]["shares"], [0.5, 0.175, 0, 0.2, 0.125])
        inside, _ = made([at([group("diloco", parts={**parts, "inside_wait_time_s": 1.75}), group("noloco", parts=parts)])])
        self.assertEqual(inside["shares"]["parts"], ["compute", "wait inside a step", "exchange", "wait"])
        self.assertEqual([bar["shares"] for bar in inside["shares"]["bars"]], [[0.5, 0.175, 0.2, 0.125], [5 / 8.25, 0, 2 / 8.25, 1.25 / 8.25]])

    def test_each_part_of_the_shares_can_be_drawn(self):
        drawn = ast.parse((SOURCE / "python/longhaul/draw.py").read_text(encoding="utf-8"))  # without matplotlib too
        parts = next(ast.literal_eval(node.value) for node in drawn.body
                     if isinstance(node, ast.Assign) and node.targets[0].id == "PARTS")
        self.assertEqual(set(parts), {name for name, _ in figures.PARTS})

    def test_shares_of_trainers_that_wait_for_samples(self):
        parts = {"compute_time_s": 5, "exchange_time_s": 2, "wait_time_s": 1, "batch_wait_time_s": 2}
        found, _ = made([at([group("diloco", parts=parts)])])
        self.assertEqual(found["shares"]["parts"], ["compute", "wait for samples", "exchange", "wait"])
        self.assertEqual(found["shares"]["bars"][0]["shares"], [0.5, 0.2, 0.2, 0.1])

    def test_a_sweep_is_a_line_a_method_with_intervals(self):
        entries = swept("replicas", [64, 4, 16]) + swept("replicas", [4, 16, 64], lambda _: 2, 6.35, "noloco")
        found, _ = made(sweeps=[{"metric": "sync_time_s.mean", "unit": "s", "entries": entries}])
        figure = found["sweep-sync_time_s_mean-replicas"]
        self.assertEqual(figure["series"][0]["points"], [[4, 4, 4, 4], [16, 16, 16, 16], [64, 64, 64, 64]])
        self.assertEqual(figure["series"][1]["points"][0], [4, 2, -4.35, 8.35])
        self.assertEqual([one["color"] for one in figure["series"]], list(COLORS.values()))
        self.assertTrue(figure["x"]["log"] and figure["y"]["log"])
        self.assertEqual(figure["y"], {"title": "sync time, mean", "unit": "s", "log": True})

    def test_a_sweep_of_texts_or_of_one_value_is_none(self):
        for values, names in ((["ring", "tree"], []), ([4], []), (["500ms", 3], []), (["500ms", "2s"], ["sweep-m-k"])):
            found, _ = made(sweeps=[{"metric": "m", "unit": "", "entries": swept("k", values, lambda _: 1)}])
            self.assertEqual(list(found), names)

    def test_what_else_is_swept_makes_panels_up_to_six(self):
        def of(count):
            entries = [{**entry, "point": {**entry["point"], "other": i}} for i in range(count) for entry in swept("k", [1, 2])]
            return made(sweeps=[{"metric": "m", "unit": "", "entries": entries}])
        self.assertIn("sweep-m-k-other-5", of(6)[0])
        found, notes = of(7)
        self.assertNotIn("sweep-m-k-other-5", found)
        self.assertTrue(any("metrics against k would be 7 figures" in note for note in notes))

    def test_claims_have_bounds_and_lines_by_what_decides(self):
        found, _ = made(claims=[claimed()])
        figure = found["claim-it_s_ten"]
        self.assertEqual([one["name"] for one in figure["series"]], ["x = 1", "x = 4"])
        self.assertEqual(figure["series"][0]["points"], [[n, 2 * n, 2 * n, 2 * n] for n in (4, 16, 64)])
        self.assertEqual(figure["series"][0]["possible"], [[n, 1.9 * n, 2.1 * n] for n in (4, 16, 64)])
        self.assertEqual(figure["thresholds"], [{"name": "claimed: at least 10", "y": 10, "x": None},
                                                {"name": "claimed: 40", "y": 40, "x": 64}])
        self.assertEqual(figure["possible_name"], "with the network model's 5 %")
        self.assertEqual(figure["y"]["title"], "sync time, mean: diloco / noloco")
        self.assertTrue(figure["title"].endswith("ten is undecided."))

    def test_too_many_lines_of_a_claim_become_a_band_around_their_geometric_mean(self):
        points = [{"swept": {"n": n, "x": x, "y": y}, "measured": 1.0 * n * x * y, "low": None, "high": 1, "residual": 1}
                  for n in range(1, 9) for x in (1, 4, 16) for y in (1, 3, 9)]
        found, _ = made(claims=[claimed(points=points, keys=["x", "n"])])
        series = found["claim-it_s_ten"]["series"]
        self.assertEqual([one["name"] for one in series], ["x = 1", "x = 4", "x = 16"])
        for got, expected in zip(series[1]["points"][1], (2, 24, 8, 72)):  # 2 · 4 · (1, 3, 9)
            self.assertAlmostEqual(got, expected)
        self.assertNotIn("possible", series[0])  # one end is not finite

    def test_a_metric_that_is_claimed_has_its_unit(self):
        claim = {"id": "few", "metric": "bytes_sent_per_replica", "of": "noloco"}
        figure = made(claims=[claimed(claim=claim, unit="B", claims=[{**claim, "at_most": 2e7}])])[0]["claim-few"]
        self.assertEqual(figure["y"], {"title": "bytes sent per replica: noloco", "unit": "B", "log": True})
        self.assertEqual(figure["thresholds"][0]["name"], "claimed: at most 20000000")

    def test_a_matrix_that_cannot_be_read_is_left_out(self):
        found, notes = made(matrices=[MATRIX, {**MATRIX, "id": "wide", "columns": list(map(str, range(13)))},
                                     {**MATRIX, "id": "one", "points": 1}])
        self.assertEqual(list(found), ["matrix-fast"])
        self.assertTrue("claim wide has 1 rows and 13 columns" in notes[0])

    def test_names(self):
        self.assertEqual(figures.name_of("loss-time", "network.tcp.connections = 8, replicas = 64"),
                         "loss-time-connections-8-replicas-64")
        self.assertEqual(list(made(matrices=[MATRIX, MATRIX])[0]), ["matrix-fast", "matrix-fast-2"])
        all_of = [{"name": name} for name in ("loss-time", "loss-steps", "shares")]
        self.assertEqual(figures.chosen(all_of, ["loss-*s", "shar*"]), all_of[1:])
        self.assertEqual(figures.chosen(all_of, []), all_of)
        self.assertRaisesRegex(ValueError, 'did you mean "shares"', figures.chosen, all_of, ["share"])

    def test_spacings(self):
        self.assertEqual(list(map(figures.is_geometric, ([4, 8, 16], [1, 2, 3], [0, 1, 10]))), [True, False, False])
        self.assertEqual(list(map(figures.spans_decades, ([1, 100], [0, 100]))), [True, False])


@unittest.skipUnless(HAS_MATPLOTLIB, "needs python3-matplotlib")
class Drawn(InAFolder):
    def svg(self, figure, **style):
        style = {"size": "single", "formats": ["svg"], "theme": "print", **style}
        file = self.write("figure.json", json.dumps({**figure, **style}))
        draw.draw(file)
        return file.with_suffix(".svg").read_text(encoding="utf-8")

    def assert_texts(self, svg, *texts):
        for text in texts:
            self.assertIn(f">{text}</text>", svg)

    def losses(self, **more):
        return made([at([group("diloco", curve=curve([0, 600], [3, 2], half=1)),
                         group("noloco", curve=curve([0, 7200], [3, 2]))], **more)])[0]

    def test_curves_have_axes_with_units_a_band_and_a_key(self):
        svg = self.svg(self.losses()["loss-time"])
        self.assert_texts(svg, "simulated time (h)", "validation loss (nats a token)", "diloco", "noloco")
        self.assertEqual(svg.count("fill: #0072b2; fill-opacity: 0.2"), 1)  # two seeds have one, one has none
        self.assertNotIn("bits a byte", svg)

    def test_losses_of_bytes_are_also_in_bits(self):
        """1.42 to 3.58 nats are 2.05 to 5.17 bits."""
        svg = self.svg(self.losses(bits=True)["loss-time"])
        self.assert_texts(svg, "bits a byte", "3", "4", "5", "2.5")
        self.assertNotIn(">6</text>", svg)

    def test_labels_are_texts_and_no_formulas(self):
        figure = self.losses()["loss-time"]
        for one, name in zip(figure["series"], ("_it's $1 & 'all'", "a\nb")):
            one["name"] = name
        self.assert_texts(self.svg(figure), " _it's $1 &amp; 'all'", "a b")

    def test_claims_have_bounds_and_bands(self):
        svg = self.svg(made(claims=[claimed()])[0]["claim-it_s_ten"])
        self.assert_texts(svg, "x = 1", "claimed: at least 10", "claimed: 40", "with the network model's 5 %", "replicas",
                          "4", "16", "64")
        self.assertEqual(svg.count("fill-opacity: 0.12"), 2)

    def test_bytes_stand_in_their_unit(self):
        entries = swept("replicas", [4, 16], lambda n: 750000 * n)
        found, _ = made(sweeps=[{"metric": "bytes_sent_per_replica", "unit": "B", "entries": entries}])
        svg = self.svg(found["sweep-bytes_sent_per_replica-replicas"])
        self.assert_texts(svg, "bytes sent per replica (MB)", "4", "16", "10")

    def test_shares_are_bars_of_the_colour_of_the_method(self):
        parts = {"compute_time_s": 5, "exchange_time_s": 2, "wait_time_s": 3}
        svg = self.svg(made([at([group("noloco", parts=parts)])])[0]["shares"])
        self.assert_texts(svg, "noloco", "compute", "exchange", "wait", "share of the time of a replica")
        self.assertIn("fill: #d55e00; opacity: 0.35", svg)
        self.assertIn("stroke: #d55e00", svg)

    def test_a_matrix_has_ranges_and_verdicts(self):
        figure = made(matrices=[MATRIX])[0]["matrix-fast"]
        svg = self.svg(figure)
        self.assert_texts(svg, "2.13", "fails", "8 – 34", "1 of 3 hold", "replicas", "all")
        self.assertIn("#e9e9e9", svg)
        self.assertIn("#3a414a", self.svg(figure, theme="dark"))

    def test_dark_is_light_on_dark(self):
        """#440154 becomes #865e91, with 0.4 of the ink, #e8eaed."""
        for figure, stroke, on_dark in ((self.losses()["loss-time"], "#0072b2", "#0072b2"),
                                        (made(claims=[claimed()])[0]["claim-it_s_ten"], "#440154", "#865e91")):
            svg, dark = self.svg(figure), self.svg(figure, theme="dark")
            for color, drawn, other in (("fill: #ffffff", svg, dark), ("fill: #14171b", dark, svg)):
                self.assertIn(color, drawn)
                self.assertNotIn(color, other)
            self.assertIn(f"stroke: {stroke}", svg)
            self.assertIn(f"stroke: {on_dark}", dark)

    def test_many_lines_have_their_key_beside_the_axes(self):
        def places(count):
            groups = [group("diloco", name=f"m{i}", curve=curve([1, 2], [3, 2])) for i in range(count)]
            svg = self.svg(made([at(groups)])[0]["loss-time"], size="double")
            found = [line for line in svg.splitlines() if ">m0</text>" in line or ">m1</text>" in line]
            return [float(line.split('x="')[1].split('"')[0]) for line in found]
        beside, above = places(14), places(3)
        self.assertEqual(beside[0], beside[1])
        self.assertLess(above[0], above[1])
        self.assertGreater(beside[0], 0.8 * 7.2 * 72)

    def test_a_script_runs_alone_in_its_folder_and_draws_the_same(self):
        endings = ["svg", "pdf", "png"]
        request = {"data": {**NOTHING, "points": [at([group("diloco", curve=curve([1, 2], [3, 2]))])]},
                   "out": str(self.folder), "size": "single", "formats": endings, "theme": "print",
                   "only": ["loss-time"], "log_x": False, "list": False}
        self.assertEqual(figures.main(self.write("request.json", json.dumps(request))), 0)
        moved = self.folder / "moved"
        moved.mkdir()
        for ending in ("json", "py"):
            shutil.copy(self.folder / f"loss-time.{ending}", moved)
        subprocess.run([sys.executable, "loss-time.py"], cwd=moved, check=True)
        for name in (f"loss-time.{ending}" for ending in endings):
            self.assertEqual((moved / name).read_bytes(), (self.folder / name).read_bytes(), name)
        if shutil.which("pdffonts"):
            header, _, *fonts = subprocess.run(["pdffonts", moved / "loss-time.pdf"], capture_output=True, text=True).stdout.splitlines()
            embedded = header.index("emb")
            self.assertEqual({font[embedded:embedded + 3] for font in fonts}, {"yes"}, fonts)

    def test_marks_and_units(self):
        self.assertEqual(draw.log_marks(0.9, 60), [1, 2, 5, 10, 20, 50])
        self.assertEqual(draw.log_marks(0.9, 60, 5), [1, 10])
        self.assertEqual([math.log10(mark) for mark in draw.log_marks(1, 1e6, 4)], [0, 2, 4, 6])
        self.assertEqual(draw.log_marks(3, 4), [])
        self.assertEqual(draw.apart([0, 0.5, 1.364, 1.5, 2.5], False), [0, 0.5, 1.364, 2.5])  # 0.136 of 2.5 is too near
        for unit, value, scale in (("s", 7200, (3600, "h")), ("s", 100, (1, "s")), ("s", 0.25, (1e-3, "ms")),
                                   ("nats", 3, (1, "nats"))):
            self.assertEqual(draw.scale_of(unit, value), scale)


if __name__ == "__main__":
    unittest.main()
