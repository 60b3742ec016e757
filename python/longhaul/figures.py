"""Which figures there are to make of runs. `longhaul plot` runs it with what analysis/figures/figure_data.h describes.

    figures.py REQUEST      JSON: "data", "out", "size", "formats", "theme", "only", "log_x", "list"
"""
import difflib
import fnmatch
import itertools
import json
import logging
import math
import pathlib
import re
import shutil
import sys
import warnings

MOST_PANELS = 6                     # of one metric against one key
MOST_LINES = 8                      # of a claim
MOST_COLUMNS, MOST_ROWS = 12, 24    # of a matrix that can be read
MANY_FIGURES = 24
DASHES = 5  # that draw.py has
LOSS_AXES = (("loss-time", "time_s", "simulated time", "s"), ("loss-steps", "step", "inner steps", ""),
             ("loss-bytes", "bytes", "payload sent per replica", "B"))
PARTS = (("compute", "compute_time_s"), ("bubble", "bubble_time_s"), ("wait for a stage's message", "stage_wait_time_s"),
         ("wait inside a step", "inside_wait_time_s"), ("wait for samples", "batch_wait_time_s"), ("exchange", "exchange_time_s"), ("wait", "wait_time_s"))
OF_STAGES, WHERE_SOME_HAVE_THEM = ("bubble_time_s", "stage_wait_time_s"), ("inside_wait_time_s", "batch_wait_time_s")
CELL = ("low", "high", "holds", "undecided", "fails", "possible_low", "possible_high", "range")
# viridis, whose order is seen without colour too; its lightest end is lost on white. What has these is no method.
RAMP = ("#440154", "#443983", "#31688e", "#21918c", "#35b779", "#7ad151", "#b8c920")


def spans_decades(values):
    return bool(values) and min(values) > 0 and max(values) >= 20 * min(values)


def is_geometric(values):
    """Whether ascending positive values, three at least, are spaced more evenly by ratio than by difference: 4, 8, 16."""
    if len(values) < 3 or values[0] <= 0:
        return False
    ratios = [math.log(b / a) for a, b in zip(values, values[1:])]
    steps = [b - a for a, b in zip(values, values[1:])]
    return max(ratios) / min(ratios) < max(steps) / min(steps)


def axis_words(path):
    """"sync_time_s.mean" as "sync time, mean": the unit stands beside it."""
    name, _, rest = path.partition(".")
    return (re.sub("(?<=.)_s$", "", name) + (", " + rest if rest else "")).replace("_", " ")


def text_of(value):
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def last_key(key):
    return key.rpartition(".")[2]


def is_method_option(key):
    return key.startswith("methods.")


def name_of(kind, point=""):
    """"loss-time" at "network.tcp.connections = 8, replicas = 64" is "loss-time-connections-8-replicas-64"."""
    parts = [kind] + ["-".join((last_key(key), value)) if equals else key
                      for key, equals, value in (part.partition(" = ") for part in point.split(", ") if part)]
    return re.sub(r"[^A-Za-z0-9+-]", "_", "-".join(parts))[:120]


class Maker:
    def __init__(self, data, log_x=False):
        self.data, self.log_x = data, log_x
        self.labels = list(data["colors"])
        self.notes = list(data["notes"])
        self.figures = []

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def add(self, name, title, **figure):
        """Two points may have one name where it is cut or a sign is replaced."""
        taken = {one["name"] for one in self.figures}
        unique = next(one for one in itertools.chain([name], (f"{name}-{i}" for i in itertools.count(2))) if one not in taken)
        self.figures.append({"name": unique, "title": title, **figure})

    def all(self):
        for point in self.data["points"]:
            styles = self.styles_of(point["groups"])
            self.losses(point, styles)
            self.synchronization_times(point, styles)
            self.shares(point, styles)
        for sweep in self.data["sweeps"]:
            self.sweep(sweep)
        for claim in self.data["claims"]:
            self.claim(claim)
        for matrix in self.data["matrices"]:
            self.matrix(matrix)
        return self.figures

    def styles_of(self, groups):
        """Variants of one method share its colour; dashes differ. So do those of methods that share a colour, as long as
        there are others."""
        styles, seen, taken = [], {}, set()
        for group in groups:
            label = group["label"]
            color, first = self.data["colors"][label], self.labels.index(label) + seen.setdefault(label, 0)
            dash = next((dash for dash in range(first, first + DASHES) if (color, dash % DASHES) not in taken), first)
            styles.append({"name": group["name"], "color": color, "dash": dash})
            taken.add((color, dash % DASHES))
            seen[label] += 1
        return styles

    def losses(self, point, styles):
        at = ", at " + point["at"] if point["at"] else ""
        for name, key, title, unit in LOSS_AXES:
            known = [(style, group["curve"]) for style, group in zip(styles, point["groups"])
                     if group["curve"] and group["curve"][key]]
            log = self.log_x or spans_decades([curve[key][-1] for _, curve in known if curve[key][-1] > 0])
            series, seen = [], []
            for style, curve in known:
                rows = [row for row in zip(*(curve[column] for column in (key, "loss", "low", "high", "least", "greatest")))
                        if row[0] > 0 or not log]
                if not rows:
                    self.note(f"{style['name']}: is at 0 and on no logarithmic axis, left out of {name}")
                    continue
                series.append({**style, "about": f"seeds: {curve['seeds']}", "points": [row[:4] for row in rows]})
                seen += [value for row in rows for value in row[4:]]  # with two seeds the interval is a dozen times as wide
            if not series:
                continue
            room = 0.04 * (max(seen) - min(seen)) or 0.5
            self.add(name_of(name, point["at"]),
                     f"Validation loss against {title}{at}. Line: mean over seeds. Band: its 95 % interval (Student's t).",
                     kind="curves", style="lines", intervals="band", series=series, bits=point["bits"],
                     x={"title": title, "unit": unit, "log": log},
                     y={"title": "validation loss (nats a token)", "unit": "", "log": False,
                        "range": [min(seen) - room, max(seen) + room]})

    def synchronization_times(self, point, styles):
        series = [{**style, "about": f"{group['times']['count']} exchanges, seeds: {group['seeds']}",
                   "points": [[time, share, share, share] for time, share in group["times"]["steps"]]}
                  for style, group in zip(styles, point["groups"]) if group["times"]]
        ends = [one["points"][i][0] for one in series for i in (0, -1)]
        if not ends or max(ends) <= 0:  # where communication is free there is nothing to see
            return
        self.add(name_of("sync-time", point["at"]),
                 "Synchronization time (done - start) of exchanges: share that took at most so long"
                 + (f", at {point['at']}." if point["at"] else "."),
                 kind="curves", style="steps", intervals="band", series=series,
                 x={"title": "synchronization time", "unit": "s", "log": spans_decades(ends) or (self.log_x and min(ends) > 0)},
                 y={"title": "share of exchanges", "unit": "", "log": False, "range": [0, 1]})

    def shares(self, point, styles):
        nobody_has = [key for key in WHERE_SOME_HAVE_THEM if all(key not in group["parts"] for group in point["groups"])]
        left_out = [*(() if point["stages"] else OF_STAGES), *nobody_has]
        shown = [(name, key) for name, key in PARTS if key not in left_out]
        bars = []
        for style, group in zip(styles, point["groups"]):
            times = [group["parts"].get(key, 0 if key in OF_STAGES + WHERE_SOME_HAVE_THEM else None) for _, key in shown]
            if None not in times and sum(times) > 0:
                bars.append({**style, "shares": [time / sum(times) for time in times]})
        if bars:
            self.add(name_of("shares", point["at"]), "Where the time of a replica goes, mean over replicas and seeds"
                     + (f", at {point['at']}." if point["at"] else "."),
                     kind="shares", parts=[name for name, _ in shown], bars=bars)

    def number(self, value):
        """A swept value as (number, unit); None where it is none."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value, ""
        return self.data["quantities"].get(value) if isinstance(value, str) else None

    def lines(self, name, title, x_key, x_unit, y, series, **more):
        xs = sorted({point[0] for one in series for point in one["points"]})
        middles = [point[1] for one in series for point in one["points"]] + [one["y"] for one in more.get("thresholds", [])]
        self.add(name, title, kind="curves", style="points", series=series,
                 x={"title": axis_words(last_key(x_key)), "unit": x_unit,
                    "log": xs[0] > 0 and (self.log_x or spans_decades(xs) or is_geometric(xs))},
                 y={**y, "log": spans_decades(middles)}, **more)

    def sweep(self, sweep):
        """A metric against each swept number: a line a method, one figure for each value of everything else."""
        entries, metric = sweep["entries"], sweep["metric"]
        for x in sorted({key for entry in entries for key in entry["point"]}):
            numbers = [self.number(entry["point"][x]) for entry in entries if x in entry["point"]]
            if None in numbers or len({unit for _, unit in numbers}) > 1 or len({number for number, _ in numbers}) < 2:
                continue
            panels = {}
            for entry in entries:
                if x in entry["point"]:
                    rest = [(key, value) for key, value in entry["point"].items() if key != x]
                    at = ", ".join(f"{key} = {text_of(value)}" for key, value in rest if not is_method_option(key))
                    options = ", ".join(f"{last_key(key)} = {text_of(value)}" for key, value in rest if is_method_option(key))
                    name = f"{entry['label']} ({options})" if options else entry["label"]
                    panels.setdefault(at, {}).setdefault(name, []).append(entry)
            if len(panels) > MOST_PANELS:
                self.note(f"metrics against {x} would be {len(panels)} figures each and are left out; choose a part of the sweep "
                          "with --where key=value")
                continue
            for at, lines in sorted(panels.items()):
                series = []
                for name, members in lines.items():
                    label = members[0]["label"]
                    variant = sum(one["label"] == label for one in series)
                    points = sorted([self.number(one["point"][x])[0], one["y"], one["low"], one["high"]] for one in members)
                    series.append({"name": name, "label": label, "about": f"seeds: {members[0]['seeds']}", "points": points,
                                   "color": self.data["colors"][label], "dash": variant})
                if all(len(one["points"]) < 2 for one in series) or not any(y for one in series for _, y, _, _ in one["points"]):
                    continue
                self.lines(name_of(f"sweep-{metric}-{last_key(x)}", at),
                           f"{metric} against {x}{', at ' + at if at else ''}. Point: mean over seeds. Bar: 95 % interval of the "
                           "mean (Student's t).", x, numbers[0][1], {"title": axis_words(metric), "unit": sweep["unit"]}, series,
                           intervals="bars")

    def claim(self, data):
        """What claims are about against the swept number with most values, with what they demand."""
        claim, points = data["claim"], data["points"]
        x = self.x_of(points)
        if not x:
            return
        keys = self.line_keys(data, x)
        groups = {}
        for point in points:
            name = ", ".join(("" if key == "method" else last_key(key) + " = ") + text_of(point["swept"][key])
                             for key in keys if key in point["swept"]) or "measured"
            groups.setdefault(name, {}).setdefault(self.number(point["swept"][x])[0], []).append(point)
        series = []
        for name, at in groups.items():
            one = {"name": name, "dash": 0, "color": RAMP[len(series) * 6 // max(1, len(groups) - 1)], "points": []}
            for number, members in sorted(at.items()):
                values = [point["measured"] for point in members]
                middle = math.exp(sum(map(math.log, values)) / len(values)) if min(values) > 0 else sum(values) / len(values)
                one["points"].append([number, values[0] if min(values) == max(values) else middle, min(values), max(values)])
            ends = [[number, *([point[end] for point in members] for end in ("low", "high"))]
                    for number, members in sorted(at.items())]
            if any(point["residual"] > 0 for point in points) and not any(None in low + high for _, low, high in ends):
                one["possible"] = [[number, min(low + high), max(low + high)] for number, low, high in ends]
            series.append(one)
        of = f": {claim['of']}" if claim.get("of") else ""
        about = f"{claim['ratio']}, {claim['of']} / {claim['to']}" if "ratio" in claim else \
            claim["metric"] + (f" of {claim['of']}" if of else "")
        title = axis_words(claim.get("ratio") or claim["metric"]) + of + (f" / {claim['to']}" if "ratio" in claim else "")
        self.lines(name_of(f"claim-{data['claims'][0]['id']}"),
                   f"{about} against {x}. A band spans the other swept values, the line is their geometric mean; the light band is "
                   "widened by the network model's error." + "".join(f" {line}." for line in data["verdicts"]),
                   x, self.number(points[0]["swept"][x])[1], {"title": title, "unit": data["unit"]}, series, intervals="band",
                   thresholds=self.thresholds_of(data["claims"], x),
                   possible_name=f"with the network model's {100 * max(point['residual'] for point in points):.0f} %")

    @staticmethod
    def go_together(points, a, b):
        """Each value of one goes with one value of the other: they say the same."""
        pairs = {(json.dumps(point["swept"].get(a)), json.dumps(point["swept"].get(b))) for point in points}
        return len(pairs) == len({pair[0] for pair in pairs}) == len({pair[1] for pair in pairs})

    def x_of(self, points):
        """Of keys that go together a method's own, which is what a figure is about."""
        best, most = "", 1
        for key in sorted({key for point in points for key in point["swept"]}):
            if not all(self.number(point["swept"].get(key)) for point in points):
                continue
            count = len({json.dumps(point["swept"][key]) for point in points})
            if count > most or (best and count == most and is_method_option(key) and not is_method_option(best)
                                and self.go_together(points, key, best)):
                best, most = key, count
        return best

    def line_keys(self, data, x):
        """The keys that tell lines apart; of too many the one that decides most: the others then make the band."""
        points = data["points"]
        values = {key: {json.dumps(point["swept"].get(key)) for point in points} for point in points for key in point["swept"]}
        keys = [key for key in sorted(values) if len(values[key]) > 1 and not self.go_together(points, key, x)]
        if len({tuple(json.dumps(point["swept"].get(key)) for key in keys) for point in points}) <= MOST_LINES:
            return keys
        return [key for key in data["keys"] if key in keys][:1]

    def thresholds_of(self, claims, x):
        thresholds = []
        for claim in claims:
            for bound, words in (("at_least", "at least "), ("at_most", "at most "), ("equals", "")):
                if bound in claim:
                    where = claim.get("where", {})
                    at = self.number(where.get(x)) if isinstance(where, dict) else None
                    one = {"name": f"claimed: {words}{claim[bound]:.15g}", "y": claim[bound], "x": at[0] if at else None}
                    if one not in thresholds:
                        thresholds.append(one)
        return thresholds

    def matrix(self, data):
        """The verdicts of a claim as a picture."""
        rows, columns = len(data["rows"]), len(data["columns"])
        if data["points"] < 2:
            return
        if columns > MOST_COLUMNS or rows > MOST_ROWS:
            self.note(f"the matrix of claim {data['id']} has {rows} rows and {columns} columns and is left out; choose a part of "
                      "the sweep with --where key=value")
            return
        self.add(name_of(f"matrix-{data['id']}"),
                 f"Verdicts on {data['words']}. A cell has what was measured there, over all other swept values.", kind="matrix",
                 rows=data["rows"], columns=data["columns"],
                 cells=[[cell and dict(zip(CELL, cell)) for cell in row] for row in data["cells"]],
                 row_key=last_key(data["row_key"]), column_key=last_key(data["column_key"]))


def chosen(figures, patterns):
    names = [figure["name"] for figure in figures]
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            near = "".join(f"; did you mean \"{name}\"?" for name in difflib.get_close_matches(pattern, names, 1))
            raise ValueError(f"--only: no figure is called \"{pattern}\"; allowed: one of those that longhaul plot --list names; "
                             f"* stands for any text{near}")
    return [figure for figure in figures if not patterns or any(fnmatch.fnmatchcase(figure["name"], one) for one in patterns)]


def main(file):
    request = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    maker = Maker(request["data"], request["log_x"])
    try:
        figures = chosen(maker.all(), request["only"])
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for note in maker.notes:
        print(f"warning: {note}", file=sys.stderr)
    if not figures:
        print("error: there is nothing to draw: no finished case has tables or numbers", file=sys.stderr)
        return 1
    if request["list"]:
        for figure in figures:
            print(f"{figure['name']}: {figure['title']}")
        return 0
    if len(figures) > MANY_FIGURES:
        print(f"warning: {len(figures)} figures are made; longhaul plot --list names them, --only NAME and --where key=value "
              "choose some", file=sys.stderr)
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it says when it looks for fonts
    warnings.showwarning = lambda message, *_, **__: print(f"warning: {message}", file=sys.stderr)
    import draw  # beside this file; matplotlib is needed from here on
    style = {key: request[key] for key in ("size", "formats", "theme")}
    for figure in figures:
        path = pathlib.Path(request["out"], figure["name"] + ".json")
        path.write_text(json.dumps({**figure, **style}, ensure_ascii=False), encoding="utf-8")
        shutil.copyfile(draw.__file__, path.with_suffix(".py"))
        draw.draw(path)
    print(f"{len(figures)} figure{'s' * (len(figures) != 1)} ({', '.join(request['formats'])}): {request['out']}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
