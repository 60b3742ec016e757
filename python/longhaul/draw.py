"""Draws one figure of `longhaul plot` with matplotlib.

A copy of this file stands beside every figure: NAME.py reads NAME.json in its folder and writes the "formats" that it
names, of svg, pdf and png. Change either and run it again: python3 NAME.py
"""
import json
import math
import pathlib
import textwrap

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

WIDTH = {"single": 3.5, "double": 7.2}   # inches: a column of the usual page, and the page
HEIGHT = {"single": 2.2, "double": 2.9}  # without the key
THEMES = {"print": {"page": "#ffffff", "ink": "#000000", "quiet": "#666666", "grid": "#dddddd", "cell": "#e9e9e9"},
          "dark": {"page": "#14171b", "ink": "#e8eaed", "quiet": "#a5adb8", "grid": "#2b3038", "cell": "#3a414a"}}
HOLDS = "#7fc8a9"  # darker than the others in print, so that a copy without colour shows it too
DASHES = ["-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)), (0, (5, 2, 1, 2, 1, 2))]
MARKERS = "os^vDPX<>*"
ROOM = 1.15         # at both ends of a logarithmic axis
MOST_TICKS = 8
MANY_ENTRIES = 12   # of a key: more stand beside a wide figure
# From this value on: divided by that, called so.
UNITS = {"s": [(2 * 86400, 86400, "d"), (7200, 3600, "h"), (120, 60, "min"), (1, 1, "s"), (1e-3, 1e-3, "ms"), (0, 1e-6, "µs")],
         "bit/s": [(1e9, 1e9, "Gbit/s"), (1e6, 1e6, "Mbit/s"), (1e3, 1e3, "kbit/s"), (0, 1, "bit/s")],
         "B": [(1e12, 1e12, "TB"), (1e9, 1e9, "GB"), (1e6, 1e6, "MB"), (1e3, 1e3, "kB"), (0, 1, "B")]}
# Of the bars of shares: how opaque the colour of the method is, and the hatch of what is empty.
PARTS = {"compute": (0.35, ""), "exchange": (1, ""), "wait": (0, "/////"), "bubble": (0, ""),
         "wait for a stage's message": (0, "\\\\\\\\\\"), "wait inside a step": (0, "....."), "wait for samples": (0, "xxxxx")}


def scale_of(unit, largest):
    """What values in `unit` are divided by on their axis, and the unit there."""
    for least, divisor, name in UNITS.get(unit, [(0, 1, unit)]):
        if largest >= least:
            return divisor, name
    return 1, unit


def log_marks(low, high, most=MOST_TICKS):
    """1, 2 and 5 times powers of ten; where these are too many every power, or every second, third ... one."""
    powers = range(math.floor(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    marks = [digit * 10.0 ** power for power in powers for digit in (1, 2, 5)]
    marks = [mark for mark in marks if low * 0.999999 <= mark <= high * 1.000001]
    tens = [mark for mark in marks if round(math.log10(mark), 6).is_integer()]
    return marks if len(marks) <= most or len(tens) < 2 else tens[::-(-len(tens) // most)]


def set_ticks(axis, marks=None):
    """At these marks, or at a few round numbers."""
    axis.set_major_locator(FixedLocator(marks) if marks else MaxNLocator(MOST_TICKS, steps=[1, 2, 2.5, 5, 10]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: f"{value:g}")


def apart(values, by_ratio):
    """Of ascending values those whose marks do not touch, the first on."""
    place = [math.log(value) if by_ratio else value for value in values]
    kept = []
    for i, at in enumerate(place):
        if not kept or at - place[kept[-1]] > 0.06 * (place[-1] - place[0]):
            kept.append(i)
    return [values[i] for i in kept]


def set_log(axes, name, values):
    low, high = min(values) / ROOM, max(values) * ROOM
    getattr(axes, f"set_{name}scale")("log")
    getattr(axes, f"set_{name}lim")(low, high)
    set_ticks(getattr(axes, f"{name}axis"), log_marks(low, high))


def plain(text):
    """On one line, of signs that can be printed; a key leaves out what begins with an underscore."""
    text = "".join(sign if sign.isprintable() else " " for sign in text)
    return " " + text if text.startswith("_") else text


def color_of(series, theme):
    """Of a series; what is darker than the darkest of methods is mixed with the ink where that is light."""
    color = to_rgb(theme["ink"] if series["color"] == "ink" else series["color"])
    brightness = [sum(share * part for share, part in zip((0.21, 0.72, 0.07), one)) for one in (color, to_rgb(theme["ink"]))]
    if brightness[0] < 0.3 < brightness[1]:
        color = [0.6 * part + 0.4 * ink for part, ink in zip(color, to_rgb(theme["ink"]))]
    return to_hex(color)


def draw_curves(axes, figure, theme):
    """Lines over a number: "style" lines, steps or points; "intervals" as band or bars. Returns the entries of the key."""
    x_axis, y_axis, series = figure["x"], figure["y"], figure["series"]
    points = [point for one in series for point in one["points"]]
    bands = [point for one in series for point in one.get("possible", [])]
    thresholds = figure.get("thresholds", [])
    middles = [point[1] for point in points] + [threshold["y"] for threshold in thresholds]
    all_y = middles + [end for point in points + bands for end in point[-2:]]
    x_by, x_unit = scale_of(x_axis["unit"], max(point[0] for point in points))
    y_by, y_unit = scale_of(y_axis["unit"], max(all_y))
    entries = []
    for place, one in enumerate(series):
        color, band = color_of(one, theme), one.get("possible")
        if band:
            axes.fill_between([x / x_by for x, _, _ in band], [low / y_by for _, low, _ in band],
                              [high / y_by for _, _, high in band], color=color, alpha=0.12, linewidth=0)
        x, y, low, high = ([value / by for value in column] for column, by in zip(zip(*one["points"]), (x_by, y_by, y_by, y_by)))
        if low != high and figure["intervals"] == "band":
            axes.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)
        elif low != high:
            axes.errorbar(x, y, [[a - b for a, b in zip(y, low)], [a - b for a, b in zip(high, y)]], fmt="none", ecolor=color,
                          elinewidth=0.8, capsize=1.5)
        line, = axes.plot(x, y, color=color, linestyle=DASHES[one["dash"] % len(DASHES)], linewidth=1.2, markersize=3.5,
                          marker=MARKERS[place % len(MARKERS)] if figure["style"] == "points" else None,
                          drawstyle="steps-post" if figure["style"] == "steps" else "default")
        entries.append((line, one["name"]))
    banded = [one for one in series if one.get("possible")]
    if banded:
        entries.append((Patch(color=color_of(banded[0], theme), alpha=0.12, linewidth=0), figure["possible_name"]))
    for threshold in thresholds:
        if threshold["x"] is None:
            line = axes.axhline(threshold["y"] / y_by, color=theme["ink"], linestyle="--", linewidth=1)
        else:
            line, = axes.plot(threshold["x"] / x_by, threshold["y"] / y_by, "x", color=theme["ink"], markersize=6)
        entries.append((line, threshold["name"]))

    axes.set_xlabel(x_axis["title"] + (f" ({x_unit})" if x_unit else ""))
    axes.set_ylabel(textwrap.fill(y_axis["title"] + (f" ({y_unit})" if y_unit else ""), 30))
    set_ticks(axes.xaxis)
    set_ticks(axes.yaxis)
    all_x = sorted({point[0] / x_by for point in points})
    if x_axis["log"]:
        set_log(axes, "x", all_x)
    elif figure["style"] != "points":
        axes.set_xlim(left=0)
    if figure["style"] == "points" and len(all_x) <= MOST_TICKS:
        set_ticks(axes.xaxis, apart(all_x, x_axis["log"]))
    if y_axis.get("range"):
        axes.set_ylim(*y_axis["range"])
    elif y_axis["log"]:
        set_log(axes, "y", [value / y_by for value in middles])
    elif min(all_y) >= 0 and y_axis["unit"] != "nats":
        axes.set_ylim(0, 1.05 * max(all_y) / y_by or 1)
    if figure.get("bits"):
        bits = axes.secondary_yaxis("right", functions=(lambda y: y / math.log(2), lambda y: y * math.log(2)))
        bits.set_ylabel("bits a byte")
        set_ticks(bits.yaxis)
    return entries


def draw_shares(axes, figure, theme):
    """A bar a method of "parts", which add up to 1."""
    for place, bar in enumerate(figure["bars"]):
        left = 0
        for part, share in zip(figure["parts"], bar["shares"]):
            axes.add_patch(part_of(part, color_of(bar, theme), Rectangle, (left, place - 0.35), share, 0.7))
            left += share
    axes.set_xlim(0, 1)
    axes.set_ylim(len(figure["bars"]) - 0.5, -0.5)
    axes.set_yticks(range(len(figure["bars"])), [textwrap.fill(plain(bar["name"]), 24) for bar in figure["bars"]])
    axes.set_xlabel("share of the time of a replica")
    axes.grid(False)
    return [(part_of(part, theme["quiet"], Patch), part) for part in figure["parts"]]


def part_of(name, color, shape, *place):
    opaque, hatch = PARTS[name]
    if opaque:
        return shape(*place, facecolor=color, alpha=opaque, linewidth=0)
    return shape(*place, fill=False, edgecolor=color, hatch=hatch, linewidth=0.8)


def draw_matrix(axes, figure, theme):
    """The verdicts at each point: what was measured there, and how many of its points hold."""
    rows, columns = figure["rows"], figure["columns"]
    room = 72 * 0.8 * WIDTH[figure["size"]] / len(columns)  # points, for a text
    for y, row in enumerate(figure["cells"]):
        for x, cell in enumerate(row):
            if not cell:
                continue
            count = cell["holds"] + cell["undecided"] + cell["fails"]
            alike = [word for word in ("holds", "undecided", "fails") if cell[word] == count]
            verdict = alike[0] if alike else f"{cell['holds']} of {count} hold"
            color = {"holds": HOLDS, "fails": theme["page"]}.get(verdict, theme["cell"])
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=color, edgecolor=theme["quiet"], linewidth=0.6))
            for text, size, shift in ((cell["range"], 7, -0.16), (verdict, 5.5, 0.22)):
                axes.text(x, y + shift, text, ha="center", va="center", fontsize=min(size, room / (0.6 * len(text))),
                          color="#000000" if verdict == "holds" else theme["ink"])
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xticks(range(len(columns)), [plain(name) for name in columns])
    axes.set_yticks(range(len(rows)), [textwrap.fill(plain(name), 16) or "all" for name in rows])
    axes.set_xlabel(figure["column_key"])
    axes.set_ylabel(textwrap.fill(figure["row_key"], 30))
    axes.tick_params(length=0)
    axes.grid(False)
    return []


def height_of(figure):
    if figure["kind"] == "matrix":
        return 0.75 + 0.36 * len(figure["rows"])
    return max(HEIGHT[figure["size"]], 0.6 + 0.14 * len(figure.get("bars", [])))


def add_key(page, entries, width, height, is_wide):
    """The key above the axes, in as many columns as there is room for, or beside them; the page grows by what it takes."""
    once = {textwrap.fill(plain(name), 110 if is_wide else 50): handle for handle, name in reversed(entries)}
    names, handles = list(reversed(once)), list(reversed(once.values()))
    beside = is_wide and len(entries) > MANY_ENTRIES
    extent, columns = None, 1
    while True:
        key = page.legend(handles, names, ncol=columns, loc="upper right" if beside else "upper left", borderaxespad=0.3,
                          columnspacing=1.2)
        box = key.get_window_extent(FigureCanvasAgg(page).get_renderer())
        if extent and box.width / page.dpi > width - 0.05:  # one too many
            key.remove()
            columns -= 1
            page.legend(handles, names, ncol=columns, loc="upper left", borderaxespad=0.3, columnspacing=1.2)
            break
        extent = (box.width / page.dpi, box.height / page.dpi)
        if beside or columns == len(names):
            break
        columns += 1
        key.remove()
    if beside:
        height, rect = max(height, extent[1] + 0.1), (0, 0, 1 - (extent[0] + 0.1) / width, 1)
    else:
        height, rect = height + extent[1], (0, 0, 1, height / (height + extent[1]))
    page.set_size_inches(width, height)
    return rect


def draw(file):
    """NAME.json: writes the pictures beside it."""
    file = pathlib.Path(file)
    figure = json.loads(file.read_text(encoding="utf-8"))
    theme, width, height = THEMES[figure["theme"]], WIDTH[figure["size"]], height_of(figure)
    look = {"font.size": 7, "font.sans-serif": ["DejaVu Sans", "Arial"], "legend.fontsize": 6.5, "legend.frameon": False,
            "text.parse_math": False, "axes.linewidth": 0.8, "axes.spines.top": False, "axes.spines.right": False,
            "axes.grid": True, "axes.axisbelow": True, "grid.linewidth": 0.6, "grid.color": theme["grid"],
            "xtick.major.size": 2.5, "ytick.major.size": 2.5, "hatch.linewidth": 0.7,
            "figure.facecolor": theme["page"], "savefig.facecolor": theme["page"], "axes.facecolor": theme["page"],
            "svg.fonttype": "none", "svg.hashsalt": file.stem, "pdf.fonttype": 42,
            **{key: theme["ink"] for key in ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")}}
    with rc_context(look):
        page = Figure(figsize=(width, height))
        axes = page.add_subplot()
        entries = {"curves": draw_curves, "shares": draw_shares, "matrix": draw_matrix}[figure["kind"]](axes, figure, theme)
        rect = add_key(page, entries, width, height, figure["size"] == "double") if entries else (0, 0, 1, 1)
        page.set_layout_engine(ConstrainedLayoutEngine(rect=rect, w_pad=0.05, h_pad=0.03))
        for ending in figure["formats"]:
            undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[ending]
            page.savefig(file.with_suffix("." + ending), dpi=200, metadata=undated)


if __name__ == "__main__":
    draw(pathlib.Path(__file__).with_suffix(".json"))
