"""`iperf3 --json` and `--json-stream`, of a client or a server, in either direction or both.

Tried with 3.7, 3.9, 3.12, 3.16, 3.18 and 3.22. `sender` of a sum is true where the machine that wrote the file sent. A server's file has
no figure of the receiver where the server itself sent: 0. 3.12 does not mark --bidir in test_start; 3.7 and 3.9 write the sums
of both directions under the same keys (documents.py).
"""
from __future__ import annotations

from typing import Any, Dict, List, Optional

from ..errors import InputError
from .documents import SECOND
from .measurement import Measured, Sites, megabits

SHORTEST_S, SHORT_S = 0.5, 2.9  # refused; said. The window of a connection grows for seconds on a long path.
FEWEST_BYTES = 1e6  # of -n and -k: less is one window
STILL_GROWING = 1.25  # the second half of a test over all of it
REACHED = 0.9  # of the rate that -b allowed


def is_test(document: Any) -> bool:
    return isinstance(document, dict) and (isinstance(document.get("start"), dict) or document.get("event") in (
        "start", "interval", "end", "error") or (set(document) & {"error", "end"} != set() and "report" not in document))


def joined_events(file: str, documents: List[dict]) -> List[dict]:
    """The tests of --json-stream, whose events come one by one; other documents as they are."""
    tests: List[dict] = []
    for document in documents:
        event, data = document.get("event"), document.get("data")
        if event is None:
            tests.append(document)
        elif event == "start" or (event == "error" and (not tests or "end" in tests[-1])):
            tests.append({"start": data, "intervals": []} if event == "start" else {"error": data})
        elif tests and event == "interval":
            tests[-1].setdefault("intervals", []).append(data)
        elif tests and event in ("end", "error"):
            tests[-1][event] = data
    for test in tests:
        if "start" in test and not test.get("end") and not test.get("error"):  # 3.9 says nothing where the server refused
            raise InputError(f"{file}: has no results (end): the test was cut off, or did not begin; measure again, or leave the file out")
    return tests


def different(tests: List[dict]) -> List[dict]:
    """Without repeats: 3.17 prints the same document twice (esnet/iperf, issue 1716)."""
    kept: List[dict] = []
    for test in tests:
        cookie = test.get("start", {}).get("cookie")
        if test not in kept and not (cookie and any(one.get("start", {}).get("cookie") == cookie for one in kept)):
            kept.append(test)
    return kept


def error_of(test: dict) -> str:
    """"" where there is none, as in {"error": {}} of some events."""
    return str(test.get("error") or "").strip()


def refuse_short(file: str, seconds: Optional[float], amount: Optional[float], how: str) -> None:
    """`amount`: bytes that -n or -k allowed."""
    if amount is not None and amount < FEWEST_BYTES:
        raise InputError(f"{file}: sent {amount:.6g} bytes, which {how} allowed and one round trip carries: it says nothing of what a "
                         f"connection carries; allowed: {'-e of 128M or more' if how == '-e' else 'a test of 10 s (iperf3 -t 10)'}")
    if seconds is not None and 0 < seconds < SHORTEST_S:
        raise InputError(f"{file}: lasted {seconds:.3g} s, too little to say what a connection carries; allowed: at least "
                         f"{SHORTEST_S} s, better 10 (iperf3 -t 10)")


def short_note(file: str, seconds: Optional[float], is_by_amount: bool) -> List[str]:
    if seconds is None or seconds >= (2 * SHORT_S if is_by_amount else SHORT_S):
        return []
    return [f"{file}: lasted {seconds:.3g} s, most of which a connection may have needed to find its pace"
            + (" (and with -n or -k newer iperf3 count to the end of the second)" if is_by_amount else "")
            + "; measure 10 s (iperf3 -t 10)"]


def growth_note(file: str, test: dict, suffix: str, rate: float) -> List[str]:
    sums = [one.get("sum" + suffix) or {} for one in test.get("intervals") or []]
    rates = [one.get("bits_per_second", 0) for one in sums if not one.get("omitted") and one.get("seconds", 1) > 0.5]
    later = rates[len(rates) // 2:]
    if len(rates) < 4 or sum(later) / len(later) < STILL_GROWING * rate:
        return []
    return [f"{file}: {megabits(rate)} Mb/s in the whole test, {megabits(sum(later) / len(later))} in its second half: the connection "
            "was still finding its pace; measure longer, or leave out the beginning (iperf3 -O 5 -t 30)"]


def limit_of(start: dict, test: dict, streams: int, rate: float) -> str:
    """Why the path may carry more than `rate`; "" where nothing says so."""
    for option, each in (("-b", test.get("target_bitrate") or start.get("target_bitrate")), ("--fq-rate", test.get("fqrate") or start.get("fq_rate"))):
        if each and rate >= REACHED * each * streams:
            return f"iperf3 was held to {megabits(each * streams)} Mb/s ({option})"
    return ""


def directions(file: str, start: dict, end: dict) -> List[Dict[str, Any]]:
    """`sent`, `received` (sums), `suffix` of their keys, whether the writer of the file sent, and whether it was the server."""
    reverse = bool(start["test_start"].get("reverse"))
    flags = [stream["sender"].get("sender") for stream in end.get("streams") or [] if isinstance(stream.get("sender"), dict)]
    is_both_ways = "sum_received" + SECOND in end
    result = []
    for suffix in (("", SECOND) if is_both_ways else ("",)):
        sent, received = end.get("sum_sent" + suffix) or {}, end.get("sum_received" + suffix)
        if not isinstance(received, dict):
            raise InputError(f"{file}: has no end.sum_received{suffix}: the test did not end; measure again, or leave the file out")
        sends = received.get("sender", sent.get("sender"))
        if sends is None and not is_both_ways and flags:
            sends = flags[0]
        if sends is None:
            sends = ("accepted_connection" in start) == (reverse or bool(suffix))
        result.append({"sent": sent, "received": received, "suffix": suffix, "sends": bool(sends),
                       "is_server": bool(sends) == (reverse or bool(suffix))})
    return result


def measured_in(file: str, run: dict, sites: Sites) -> List[Measured]:
    start, end = run["start"], run.get("end") or {}
    test, connected = start.get("test_start"), (start.get("connected") or [None])[0]
    if not isinstance(test, dict) or not isinstance(connected, dict):
        raise InputError(f"{file}: iperf3 did not begin the test; measure again, or leave the file out")
    protocol = test.get("protocol", "TCP")
    if protocol != "TCP":
        raise InputError(f"{file}: is of {protocol}" + (", which sends at the rate that -b says whatever the path carries" if protocol == "UDP" else "")
                         + "; allowed: TCP, as iperf3 measures without -u and --sctp")
    there, client = start.get("connecting_to", {}).get("host"), start.get("accepted_connection", {}).get("host")
    local, remote = sites.ends(file, [connected.get("local_host")], [connected.get("remote_host"), there, client])
    streams = int(test.get("num_streams") or 1)
    amount = test.get("bytes") or (test.get("blocks") or 0) * (test.get("blksize") or 0) or None
    found = []
    for way in directions(file, start, end):
        sent, received = way["sent"], way["received"]
        rate, notes = received.get("bits_per_second") or 0, []
        if rate <= 0 and way["is_server"] and way["sends"]:
            rate = sent.get("bits_per_second") or 0
            notes.append(f"{file}: is the server's file of a test in which the server sent, and has no figure of the receiver; what "
                         "was sent is taken: the client's file has what arrived")
        if rate <= 0:
            raise InputError(f"{file}: nothing arrived, or the figure of the receiver is missing; measure again, or leave the file out")
        seconds = received.get("seconds") or sent.get("seconds") or test.get("duration") or None
        refuse_short(file, seconds, amount, "-n" if test.get("bytes") else "-k")
        notes += short_note(file, seconds, amount is not None) or growth_note(file, run, way["suffix"], rate)
        buffer = start.get("sock_bufsize")
        if buffer:
            notes.append(f"{file}: ran with a buffer of {buffer / 1024:.6g} KiB (-w): with the kernel's own a connection may carry more")
        # Of streams that the other side sent there is no round trip: 0, or with --bidir a few microseconds.
        round_trips = [one["sender"]["min_rtt"] for one in end.get("streams") or [] if way["sends"] and isinstance(one.get("sender"), dict)
                       and one["sender"].get("sender", True) and (one["sender"].get("min_rtt") or 0) > 0]
        found.append(Measured(file, frozenset((local, remote)), local if way["sends"] else remote, rate, streams,
                              min(round_trips) * 1e-6 if round_trips else None, True, limit_of(start, test, streams, rate),
                              "sum_received" + SECOND in end, tuple(notes), start.get("cookie") or "", rate == sent.get("bits_per_second") and way["is_server"]))
    return found


def read(file: str, documents: List[dict], sites: Sites) -> List[Measured]:
    """Each test of the file. One that failed counts only where all did."""
    tests = different(joined_events(file, [one for one in documents if is_test(one)]))
    right = [test for test in tests if not error_of(test) and "start" in test]
    failed = [error_of(test) for test in tests if error_of(test)]
    if not tests and documents:
        raise InputError(f"{file}: has no event \"start\", which says what was tested; allowed: all that --json-stream printed")
    if not right:
        raise InputError(f"{file}: iperf3 ended with \"{(failed or ['no test'])[0]}\": measure again, or leave the file out")
    found = [one for test in right for one in measured_in(file, test, sites)]
    if failed:
        found[0] = found[0]._replace(notes=found[0].notes + (f"{file}: {len(failed)} of {len(tests)} tests ended with an error "
                                                             f"(\"{failed[0]}\") and are left out",))
    return found
