"""New weights from a trainer to groups of rollouts over HTTP: through a store, or down a tree of relays.

    longhaul emulate relay.json -- python3 weights_over_http.py --out D         # as root; the scenario has a section rollouts

The scenario says who passes on to whom (`distribution`, `fan_out`), how many bytes a version has and into which pieces it
is cut. Every host runs a web server for those below it. A GET waits until what it asks for has arrived.

- A relay: a group asks the host above it once a version, and gets the pieces in one body as they arrive. With --requests 1
  it asks for each piece, one after another, as the relays of SHARDCAST do (arXiv 2505.07291); with more it has several
  requests open.
- A store: the trainer PUTs the pieces, one after another; a group has as many GETs open as the scenario's `concurrent`.

Building, unpacking and swapping take no time here, and there is one source. Rank 0 compares each group's SHA-256 with its
own, prints the time from the release of each version until the last group has all of it, and writes OUT/refits.csv: when
each group had each version. Only the standard library; measured with Python 3.11.
"""
import argparse
import csv
import hashlib
import http.client
import http.server
import ipaddress
import json
import os
import pathlib
import re
import threading
import time

PORT = 8000
RANK = int(os.environ["RANK"])


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--versions", type=int, default=3)
    parser.add_argument("--pause", type=float, default=1, help="seconds from all groups having a version to the next release")
    parser.add_argument("--requests", type=int, default=0, help="for single pieces, open at once; 0: a version is one body")
    return parser.parse_args()


def bytes_of(size):
    """Of "10MB" or "64KiB"."""
    number, prefix, binary = re.fullmatch(r"([\d.]+) ?([kKMG]?)(i?)B", size).groups()
    return int(float(number) * (1024 if binary else 1000) ** " KMG".index(prefix.upper() or " "))


class Shelf:
    """What a host has, by path: pieces of versions, and reports. A reader waits until its path is there."""

    def __init__(self):
        self.bodies, self.changed = {}, threading.Condition()

    def put(self, path, body):
        with self.changed:
            self.bodies[path] = body
            self.changed.notify_all()

    def get(self, path):
        with self.changed:
            self.changed.wait_for(lambda: path in self.bodies)
            return self.bodies[path]


def serve(shelf, sizes):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # connections stay open
        disable_nagle_algorithm = True  # the header is a packet of its own; the end of a short body would wait for its ACK

        def do_GET(self):
            version, _, what = self.path[1:].partition("/")
            parts = [f"/{version}/{number}" for number in range(len(sizes))] if what == "all" else [self.path]
            first = shelf.get(parts[0])
            self.answer(200, sum(sizes) if what == "all" else len(first))
            for part in parts:
                self.wfile.write(shelf.get(part))

        def do_PUT(self):
            shelf.put(self.path, self.rfile.read(int(self.headers["Content-Length"])))
            self.answer(201, 0)

        def answer(self, status, length):
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            self.end_headers()

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = False  # this process ends once all who are below it have hung up
        request_queue_size = 128  # the default of 5 drops some of many connections at once; they come a second later

    threading.Thread(target=Server(("", PORT), Handler).serve_forever, daemon=True).start()


class Client:
    """A connection to a host, which may not listen yet."""

    def __init__(self, rank):
        address = ipaddress.ip_address(os.environ["MASTER_ADDR"]) + rank
        self.connection = http.client.HTTPConnection(str(address), PORT)
        while self.connection.sock is None:
            try:
                self.connection.connect()
            except ConnectionRefusedError:
                time.sleep(0.1)

    def open(self, method, path, body=None):
        self.connection.request(method, path, body)
        return self.connection.getresponse()

    def ask(self, method, path, body=None):
        return self.open(method, path, body).read()


def at_once(count, rank, jobs, work):
    """Does work(client, job) over `count` connections to a host, the jobs in their order."""
    jobs, turn = iter(jobs), threading.Lock()

    def connected():
        client = Client(rank)
        while True:
            with turn:
                job = next(jobs, None)
            if job is None:
                return
            work(client, job)

    for _ in range(count):
        threading.Thread(target=connected).start()


class World:
    """Who is who, by the resolved case."""

    def __init__(self):
        case = json.loads(pathlib.Path(os.environ["LONGHAUL_CASE"]).read_text())
        trainers, groups = case["replicas"], case["rollouts"]["groups"]
        weights = case["rollouts"]["weights"]
        self.groups = range(trainers, trainers + groups)
        self.store = trainers + groups if weights["distribution"] == "store" else None
        self.concurrent = weights.get("store", {}).get("concurrent", 4)
        self.fan_out = {"broadcast": groups, "chain": 1}.get(weights["distribution"], weights["fan_out"])
        size = bytes_of(weights["payload"]["bytes"])
        count = -(-size // bytes_of(weights["piece"]))
        self.sizes = [size // count + (i < size % count) for i in range(count)]

    def above(self, rank):
        """From whom a group downloads."""
        if self.store is not None:
            return self.store
        above = (rank - self.groups[0]) // self.fan_out
        return 0 if above == 0 else self.groups[above - 1]


def train(world, options, shelf):
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    for group in world.groups:
        shelf.get(f"/0/of/{group}")  # it is connected
    times, wrong = [], []
    with (out / "refits.csv").open("w") as file:
        table = csv.writer(file)
        table.writerow(["version", "group", "arrived_s"])
        for version in range(1, options.versions + 1):
            pieces = [os.urandom(size) for size in world.sizes]
            digest = hashlib.sha256(b"".join(pieces)).hexdigest()
            time.sleep(options.pause)
            released = time.monotonic()  # of one machine: the hosts of an emulated world share it
            for number, piece in enumerate(pieces):
                shelf.put(f"/{version}/{number}", piece)
            refit = 0
            for group in world.groups:
                report = json.loads(shelf.get(f"/{version}/of/{group}"))
                if report["sha256"] != digest:
                    wrong.append(f"group {group} has other bytes of version {version}")
                table.writerow([version, group, f"{report['at'] - released:.6f}"])
                refit = max(refit, report["at"] - released)
            times.append(refit)
            print(f"version {version}: {refit:.3f} s", flush=True)
    print(f"refit time, mean: {sum(times) / len(times):.3f} s", flush=True)
    shelf.put("/end", b"")
    if wrong:
        raise SystemExit("\n".join(wrong))


def upload(world, shelf, names):
    store = Client(world.store)
    for name in names:
        store.ask("PUT", name, shelf.get(name))


def download(world, options, shelf, names):
    above = world.above(RANK)

    def whole(client, version):
        body = client.open("GET", f"/{version}/all")
        for number, size in enumerate(world.sizes):
            shelf.put(f"/{version}/{number}", body.read(size))

    requests = options.requests if world.store is None else world.concurrent
    if requests == 0:
        at_once(1, above, range(1, options.versions + 1), whole)
    else:
        at_once(requests, above, names, lambda client, name: shelf.put(name, client.ask("GET", name)))


def roll_out(world, options, shelf):
    """Generates nothing: it says when it has a version, and with what hash."""
    trainer = Client(0)
    trainer.ask("PUT", f"/0/of/{RANK}", b"")
    for version in range(1, options.versions + 1):
        pieces = [shelf.get(f"/{version}/{number}") for number in range(len(world.sizes))]
        report = {"at": time.monotonic(), "sha256": hashlib.sha256(b"".join(pieces)).hexdigest()}
        trainer.ask("PUT", f"/{version}/of/{RANK}", json.dumps(report))
    trainer.ask("GET", "/end")


def main():
    options, world, shelf = arguments(), World(), Shelf()
    serve(shelf, world.sizes)
    names = [f"/{version}/{number}" for version in range(1, options.versions + 1) for number in range(len(world.sizes))]
    if RANK == 0:
        if world.store is not None:
            threading.Thread(target=upload, args=(world, shelf, names)).start()
        train(world, options, shelf)
    elif RANK in world.groups:
        download(world, options, shelf, names)
        roll_out(world, options, shelf)
    elif RANK == world.store:
        Client(0).ask("GET", "/end")


if __name__ == "__main__":
    main()
