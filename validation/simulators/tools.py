"""The simulators that are held beside the kernel: what each is told of a point, and the seconds that it says."""
import pathlib
import resource
import signal
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parents[1] / "second_ns3")]
import compare
from replays import ROOT, Replays, StatusError, seconds

IP_PACKET, FRAME = 1500, 1538
FAST = "1Gbps"        # of hosts in front of a router's queue
IN_THE_DEVICE = 2     # packets that the kernel's routers held between the FIFO and the one under way
MOST_CPU_S = 600
WHEEL = "3.44.post0"  # of the package ns3
STATUS = {1: "stalled", 2: "refused", 3: "stalled", -signal.SIGXCPU: "unfinished"}


class Failed(Exception):
    """A point that a simulator refuses, or does not end."""


def limit_cpu():
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S + 5))


def output_of(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, preexec_fn=limit_cpu)
    if done.returncode != 0:
        raise Failed(STATUS.get(done.returncode, "crashed"))
    return done.stdout


def fifo_bytes(point):
    """IP packets that wait, without the one under way, in bytes."""
    if point.kind == "group":  # bytes on the wire, the packet under way counted
        return (point.limit - FRAME) * IP_PACKET // FRAME
    return point.limit + IN_THE_DEVICE * IP_PACKET


def network_of(point, fidelity):
    """As a scenario says it, with keys of `tcp` that are no defaults."""
    tcp = {"connections": point.connections, "congestion_control": "cubic"}
    rate, rtt = f"{point.rate!r}bps", f"{point.rtt_s!r}s"
    if point.loss:
        tcp["loss"] = point.loss
        if fidelity == "packet":
            tcp["loss_response"] = "ns3-3.37"  # packets know no other
    if point.kind == "host":
        topology = {"star": {"up": rate, "down": "10Gbps", "rtt": rtt}}
    elif point.kind == "group":
        # Packets have the FIFO at each link, also of hosts: products leave hosts three times the room.
        size = point.products if fidelity == "packet" else f"{fifo_bytes(point)}B"
        tcp |= {"queue": "fifo", "queue_size": size}
        topology = {"star": {"up": f"{3 * point.rate!r}bps", "down": rate, "rtt": rtt}}
    else:
        if point.kind == "fifo":
            # ns-3's devices hold two packets beside the queue, as those of the measurement.
            size = point.limit if fidelity == "packet" else fifo_bytes(point)
            tcp |= {"trunk_queue": "fifo", "queue_size": f"{size}B"}
        else:
            tcp |= {"queue": "fq_codel", "ecn": True}
        topology = {"graphml": {"file": str(ROOT / "validation/grid/two-sites.graphml"), "replicas": {"near": 1, "far": 1}, "rate": FAST,
                                "rtt": "0s", "inflation": 1, "routing": "hops", "default_rate": rate,
                                "default_delay": f"{point.rtt_s / 2!r}s"}}
    return {"fidelity": fidelity, "tcp": tcp, "topology": topology}


def sent_in(point):
    """Bytes of each replica, and how they are sent (validation/replays.py)."""
    if point.pattern in ("transfer", "pairs"):
        return point.bytes, [[1], [0] if point.directions == 2 else []]
    return point.bytes * (point.members if point.pattern == "ring" else 1), point.pattern


class Longhaul:
    def __init__(self, fidelity, replays):
        self.fidelity, self.replays = fidelity, replays

    def times_s(self, point, seed):
        step_s, steps = (0.7, range(1, 13)) if point.kind == "group" else (0.01, (1, 2, 102))
        try:
            exchanges = self.replays.exchanges("point", network_of(point, self.fidelity), point.members, sent_in(point), step_s,
                                               list(steps), seed, limit_cpu)
        except StatusError as error:
            print(f"{self.fidelity}: {point.name}: {error}", file=sys.stderr)
            raise Failed(STATUS.get(error.status, "crashed")) from error
        return [max(seconds(rows).values()) for rows in exchanges]


class SimGrid:
    """Knows no connections, so that each exchange is like the first."""

    def __init__(self, replays, *options):
        self.replays, self.options = replays, [f"--cfg={option}" for option in options]

    def times_s(self, point, _):
        folder = self.replays.write("point", network_of(point, "linux"), point.members, sent_in(point))
        told = output_of(self.replays.programs / "simgrid_exchange", folder / "case.json", folder / "trace.jsonl", *self.options)
        return [float(told.split()[0])] * (1 + len(point.pauses_s))


class Ns3:
    """ns-3's own TCP: validation/simulators/ns3_exchanges.cc."""

    def __init__(self, program):
        self.program = program

    def times_s(self, point, seed):
        told = {"pattern": point.pattern, "members": point.members, "bytes": point.bytes, "connections": point.connections,
                "queue": "star" if point.kind == "group" else point.kind, "rate": point.rate, "rtt": point.rtt_s, "limit": point.limit,
                "loss": point.loss, "rto": point.rtt_s + 0.2, "pauses": ",".join(map(str, point.pauses_s)), "seed": seed,
                "directions": point.directions}
        return [float(line) for line in output_of(self.program, *(f"{name}={value}" for name, value in told.items())).split()]


def build_ns3(folder, *options):
    subprocess.run(["cmake", "-S", ROOT / "validation/simulators", "-B", folder, *options], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder], check=True, stdout=subprocess.DEVNULL)
    return folder / "ns3_exchanges"


def makers(work, programs):
    """{tool: what makes it}; work: a folder for what is fetched and built."""
    replays = Replays(programs)
    return {
        "SimGrid LV08": lambda: SimGrid(replays),
        "SimGrid LV08, 64 MiB": lambda: SimGrid(replays, "network/TCP-gamma:67108864"),
        "SimGrid CM02": lambda: SimGrid(replays, "network/model:CM02"),
        "ns-3.37, plain": lambda: Ns3(build_ns3(work / "ns-3.37")),
        "ns-3 3.44": lambda: Ns3(build_ns3(work / "ns-3.44", f"-DNS3_WHEEL={compare.fetch(work, WHEEL)}")),
        "packet": lambda: Longhaul("packet", replays),
        "linux": lambda: Longhaul("linux", replays),
        "flow": lambda: Longhaul("flow", replays),
    }
