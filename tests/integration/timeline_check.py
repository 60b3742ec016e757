"""Checks what longhaul.timeline makes of real replays, as a viewer reads it: slices of a lane nest, every arrow begins in a slice of its sender and
ends in one of its receiver, and compute adds up to what replicas.csv says.

    timeline_check.py LONGHAUL"""
import bisect
import collections
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'python'))
from longhaul import timeline


def lanes_of(events):
    """(pid, tid) → [(start, end, name)] in whole nanoseconds, by start; of one start the longest first."""
    lanes = collections.defaultdict(list)
    for event in events:
        if event['ph'] == 'X':
            start = round(event['ts'] * 1000)
            lanes[event['pid'], event['tid']].append((start, start + round(event['dur'] * 1000), event['name'], event['cat']))
    for slices in lanes.values():
        slices.sort(key=lambda one: (one[0], -one[1]))
    return lanes


def check_nesting(lanes):
    for lane, slices in lanes.items():
        open_until = []
        for start, end, name, _ in slices:
            while open_until and open_until[-1] <= start:
                open_until.pop()
            assert not open_until or end <= open_until[-1], f'{lane}: {name} from {start} to {end} crosses a slice that ends at {open_until[-1]}'
            open_until.append(end)


def enclosing(lanes, event):
    """The category and name of the slice that an arrow's end is in."""
    slices, at = lanes[event['pid'], event['tid']], round(event['ts'] * 1000)
    start, end, name, category = slices[bisect.bisect_right([one[0] for one in slices], at) - 1]
    assert start <= at < end, f'the arrow {event["id"]} ends outside of a slice'
    return category, name


def check_arrows(events, lanes):
    tails = {event['id']: event for event in events if event['ph'] == 's'}
    heads = {event['id']: event for event in events if event['ph'] == 'f'}
    assert tails.keys() == heads.keys(), 'an arrow lacks an end'
    for number, tail in tails.items():
        head = heads[number]
        assert tail['ts'] < head['ts'], f'the arrow {number} points back in time'
        sent, received = enclosing(lanes, tail), enclosing(lanes, head)
        assert sent[0] == 'send' and sent[1].endswith(f'to {head["pid"]}'), (sent, head)
        assert received[0] == 'receive' and received[1].endswith(f'from {tail["pid"]}'), (received, tail)
    return len(tails)


def check_compute(folder, lanes):
    with open(folder / 'replicas.csv', newline='') as file:
        for row in csv.DictReader(file):
            drawn = sum(end - start for start, end, _, _ in lanes[int(row['replica']), 1]) / 1e9
            steps = len(lanes[int(row['replica']), 1])
            assert abs(drawn - float(row['compute_s'])) <= 1e-9 * (1 + steps), f'replica {row["replica"]}: {drawn} s of compute, not {row["compute_s"]}'


def check(folder):
    timeline.main([str(folder)])
    events = json.loads((folder / 'timeline.json').read_text())['traceEvents']
    lanes = lanes_of(events)
    check_nesting(lanes)
    arrows = check_arrows(events, lanes)
    check_compute(folder, lanes)
    assert arrows == json.loads((folder / 'replay.json').read_text())['transfers']
    return arrows


def scenario(**more):
    return {'name': 'timelines', 'seed': 1, 'replicas': 8,
            'methods': [{'name': 'ddp', 'all_reduce': 'ring'}, {'name': 'diloco', 'inner_steps': 4, 'all_reduce': 'direct'},
                        {'name': 'diloco', 'label': 'buckets', 'inner_steps': 4, 'overlap_backward': 0.5, 'buckets': 3},
                        {'name': 'noloco', 'inner_steps': 4}, {'name': 'noloco', 'label': 'ahead', 'inner_steps': 4, 'pattern': 'presend'}],
            'workload': {'parameters': 1000000, 'steps': 12, 'step_time': {'lognormal': {'mean': '1s', 'sigma': 0.3}}},
            'network': {'topology': {'homes': {}}}, **more}


def main(longhaul):
    with tempfile.TemporaryDirectory(prefix='longhaul-timeline-') as folder:
        file, out = pathlib.Path(folder, 'scenario.json'), pathlib.Path(folder, 'run')
        file.write_text(json.dumps(scenario()))
        subprocess.run([longhaul, 'run', str(file), '--out', str(out), '--quiet'], check=True, stdout=subprocess.DEVNULL, timeout=200)
        for case in sorted(out.glob('cases/*')):
            print(f'{case.name}: {check(case)} arrows')


if __name__ == '__main__':
    main(sys.argv[1])
