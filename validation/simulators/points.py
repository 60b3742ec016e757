"""The twenty points on which simulators are held beside the kernel, and what the kernel took.

The rule: four classes (the sender's own queue, a FIFO and fq_codel with ECN between two hosts out of transfers.csv; groups of
hosts out of rings.csv), CUBIC alone, without other traffic, trunks, outages and links that change. The points of a class are sorted by their
columns; five are taken, each from the middle of a fifth of the list.
"""
import csv
import dataclasses
import pathlib
import statistics

KERNEL = pathlib.Path(__file__).resolve().parents[2] / "results/reference/kernel"
OF_TRANSFERS = ["queue", "rate_bps", "rtt_s", "connections", "directions", "products", "bytes"]
OF_GROUPS = ["class", "members", "bytes", "connections", "rate_bps", "rtt_s", "fifo_products", "loss", "pattern"]
TRANSFER, GROUP = ("cold", "10 ms later", "1 s later"), ("cold", "later")
FRAME = 1538
EACH = 5


@dataclasses.dataclass
class Point:
    """rate in bit/s; limit of the FIFO in bytes as the measuring program counts them; loss a link. bytes: of one direction; of a
    message in rings and pairs, of the vector in halving-doubling. runs: by exchange, seconds of the kernel's runs."""
    kind: str     # host, fifo, fq_codel-ecn or group
    pattern: str  # transfer, pairs, ring or halving-doubling
    members: int
    bytes: int
    connections: int
    directions: int
    rate: float
    rtt_s: float
    products: float  # of the FIFO; of the transfer in a class without one
    limit: int
    loss: float
    runs: dict

    @property
    def exchanges(self):
        return list(self.runs)

    @property
    def pauses_s(self):
        """Between the end of an exchange and the begin of the next."""
        return [0.7] * 11 if self.kind == "group" else [0.01, 1]

    def named(self, times_s):
        """{exchange: s} of the times of all exchanges in their order. The later ones of a group are one figure, their mean."""
        if self.kind == "group":
            times_s = [times_s[0], statistics.fmean(times_s[1:])]
        return dict(zip(self.exchanges, times_s))

    @property
    def name(self):
        size = f"{self.bytes / 1e6:g} MB" if self.bytes >= 1e6 else f"{self.bytes / 1e3:g} kB"
        words = [f"{self.rate / 1e6:g} Mb/s", f"{1e3 * self.rtt_s:g} ms", size, f"{self.connections} conn."]
        if self.kind != "group":
            return ", ".join([self.kind.replace("-", "+"), *words, "both ways" if self.directions == 2 else "one way"])
        many = self.pattern if self.pattern == "pairs" else f"{self.pattern} of {self.members}"
        return ", ".join([many, *words, f"FIFO {self.products:g}"] + ([f"loss {self.loss:g}"] if self.loss else []))


def rows_of(name):
    with open(KERNEL / name, newline="") as file:
        return [row for row in csv.DictReader(file) if row["congestion_control"] == "cubic"]


def in_order(rows, columns):
    """{values of `columns`: its rows}, sorted by them; numbers are sorted as numbers."""
    found = {}
    for row in rows:
        values = [row[column] for column in columns]
        key = tuple(value if value[0].isalpha() else float(value) for value in values)
        found.setdefault(key, []).append(row)
    return [(dict(zip(columns, key)), found[key]) for key in sorted(found)]


def middles(items, count=EACH):
    return [items[(2 * i + 1) * len(items) // (2 * count)] for i in range(count)]


def seconds(rows, columns):
    return {name: [float(row[column]) for row in rows] for name, column in columns.items()}


def transfer(point, rows):
    limit = max(20 * FRAME, int(point["rate_bps"] / 8 * point["rtt_s"]))
    return Point(point["queue"], "transfer", 2, int(point["bytes"]), int(point["connections"]), int(point["directions"]),
                 point["rate_bps"], point["rtt_s"], point["products"], limit, 0,
                 seconds(rows, dict(zip(TRANSFER, ("cold_s", "warm_s", "after_idle_s")))))


def group(point, rows):
    limit = int(point["fifo_products"] * point["rate_bps"] / 8 * point["rtt_s"])
    return Point("group", point["pattern"], int(point["members"]), int(point["bytes"]), int(point["connections"]), 2,
                 point["rate_bps"], point["rtt_s"], point["fifo_products"], limit, point["loss"],
                 seconds(rows, dict(zip(GROUP, ("cold_s", "later_s")))))


def twenty():
    transfers = rows_of("transfers.csv") + rows_of("repeats.csv")
    chosen = [transfer(*one) for queue in ("host", "fifo", "fq_codel-ecn")
              for one in middles(in_order([row for row in transfers if row["queue"] == queue], OF_TRANSFERS))]
    groups = [row for row in rows_of("rings.csv")
              if row["trunk"] == "0" and float(row["outage_s"]) == 0 and row["background"] == "none"
              and row["change"] == "none"]
    return chosen + [group(*one) for one in middles(in_order(groups, OF_GROUPS))]
