"""Checks what longhaul.timeline makes of real replays, as a viewer reads it: slices of a lane nest, every arrow begins in a slice of its sender and
ends in one of its receiver, compute adds up to what replicas.csv says, and who is gone does nothing. Faults and passes are the scenario's.

    timeline_check.py LONGHAUL"""
import bisect
import collections
import csv
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PYTHON = str(pathlib.Path(__file__).resolve().parents[2] / 'python')
sys.path.insert(0, PYTHON)
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


def rows_of(folder, name):
    with open(folder / name, newline='') as file:
        return list(csv.DictReader(file))


def check_compute(folder, lanes):
    for row in rows_of(folder, 'replicas.csv'):
        slices = lanes[int(row['replica']), 1]
        missing = float(row['compute_s']) - sum(end - start for start, end, _, _ in slices) / 1e9
        # A pass that a crash cut off is in no table.
        cut = max(end - start for start, end, _, _ in slices) / 1e9 if 'stage' in row and float(row.get('gone_s', 0)) else 0
        rounded = 1e-9 * (1 + len(slices))
        assert -rounded <= missing <= cut + rounded, f'replica {row["replica"]}: {missing} s of compute, {row["compute_s"]}, are not drawn'


def check_absences(folder, lanes):
    """Nobody computes, waits or exchanges who is gone. Returns the downloads of those who come back."""
    absences, stages = rows_of(folder, 'absences.csv'), 1 + max(int(row.get('stage', 0)) for row in rows_of(folder, 'replicas.csv'))
    assert absences
    for row in absences:
        left, joined = (round(float(row[name]) * 1e9) if row[name] else float('inf') for name in ('left_s', 'joined_s'))
        for stage in range(stages):
            for lane in (1, 2, 3):
                for start, end, name, _ in lanes[int(row['replica']) * stages + stage, lane]:
                    assert end <= left or start >= joined, f'{row}: {name} from {start} to {end}'
    return stages * sum(int(row['source']) >= 0 for row in absences)


def check_faults(folder, lanes):
    """Those of FAULTS, in nanoseconds, at the replica and behind all replicas."""
    drawn = sorted((pid, name, start, end) for (pid, _), slices in lanes.items() for start, end, name, category in slices if category == 'fault')
    end = round(json.loads((folder / 'replay.json').read_text())['simulated_s'] * 1e9)
    assert drawn == [(2, 'crash', 3 * 10**9, 5 * 10**9), (5, 'crash', 5 * 10**9, end), (8, 'link', 10**9, 4 * 10**9)], drawn


def check_passes(folder, lanes, steps=12, microbatches=4):
    """Of a worker that is always there, each once a step, and nothing else."""
    there = [row for row in rows_of(folder, 'replicas.csv') if float(row['gone_s']) == 0]
    assert len(there) == 4
    for row in there:
        names = collections.Counter(name for _, _, name, _ in lanes[int(row['replica']), 1])
        expected = {f'{way} {number}, part {row["stage"]}': steps for way in ('forward', 'backward') for number in range(microbatches)}
        assert names == expected, names


def check(folder, has_faults, has_stages):
    timeline.main([str(folder)])
    text = (folder / 'timeline.json').read_text()
    events = json.loads(text)['traceEvents']
    lanes = lanes_of(events)
    check_nesting(lanes)
    arrows = check_arrows(events, lanes)
    check_compute(folder, lanes)
    downloads = check_absences(folder, lanes) if has_faults else 0
    # replay.json leaves out those of passes of a step that a replica never ended.
    counted = json.loads((folder / 'replay.json').read_text())['transfers'] + downloads
    assert arrows == (len(rows_of(folder, 'transfers.csv')) if has_stages else counted)
    if has_faults:
        check_faults(folder, lanes)
    if has_stages:
        check_passes(folder, lanes)
    packed = folder / 'packed.json.gz'
    timeline.main([str(folder), '-o', str(packed)])
    assert gzip.decompress(packed.read_bytes()).decode() == text
    return arrows


def check_refusal(folder):
    """A folder without tables is named, with what it lacks."""
    done = subprocess.run([sys.executable, '-m', 'longhaul.timeline', str(folder)], capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, PYTHONPATH=PYTHON))
    assert done.returncode == 2 and not list(folder.iterdir()), done
    assert f'{folder} has no replicas.csv, steps.csv, exchanges.csv, trace.jsonl; allowed: ' in done.stderr, done.stderr


FAULTS = {'faults': [{'kind': 'crash', 'replicas': '2', 'at': '3s', 'for': '2s'}, {'kind': 'crash', 'replicas': '5', 'at': '5s'},
                     {'kind': 'link', 'link': 'replica0*', 'rate': 0.1, 'at': '1s', 'for': '3s'}],
          'methods': [{'name': 'diloco', 'inner_steps': 4, 'all_reduce': 'ring'}, {'name': 'noloco', 'inner_steps': 4}],
          'network': {'topology': {'star': {'rate': '100Mbps', 'rtt': '50ms'}}}}
# Four replicas of two stages: eight workers.
STAGES = {'replicas': 4, 'pipeline': {'stages': 2, 'microbatches': 4, 'bytes_per_token': 128},
          'workload': {'parameters': 1000000, 'tokens': 1024, 'steps': 12, 'step_time': {'lognormal': {'mean': '1s', 'sigma': 0.3}}}}


def scenario(**more):
    return {'name': 'timelines', 'seed': 1, 'replicas': 8,
            'methods': [{'name': 'ddp', 'all_reduce': 'ring'}, {'name': 'diloco', 'inner_steps': 4, 'all_reduce': 'direct'},
                        {'name': 'diloco', 'label': 'buckets', 'inner_steps': 4, 'overlap_backward': 0.5, 'buckets': 3},
                        {'name': 'noloco', 'inner_steps': 4}, {'name': 'noloco', 'label': 'ahead', 'inner_steps': 4, 'pattern': 'presend'}],
            'workload': {'parameters': 1000000, 'steps': 12, 'step_time': {'lognormal': {'mean': '1s', 'sigma': 0.3}}},
            'network': {'topology': {'homes': {}}}, **more}


def main(longhaul):
    with tempfile.TemporaryDirectory(prefix='longhaul-timeline-') as folder:
        check_refusal(pathlib.Path(folder))
        for name, more in (('whole', {}), ('faults', FAULTS), ('stages', {**FAULTS, **STAGES})):
            file, out = pathlib.Path(folder, 'scenario.json'), pathlib.Path(folder, name)
            file.write_text(json.dumps(scenario(**more)))
            subprocess.run([longhaul, 'run', str(file), '--out', str(out), '--quiet'], check=True, stdout=subprocess.DEVNULL, timeout=200)
            for case in sorted(out.glob('cases/*')):
                arrows = check(case, has_faults=name != 'whole', has_stages=name == 'stages')
                print(f'{name} {case.name}: {arrows} arrows')


if __name__ == '__main__':
    main(sys.argv[1])
