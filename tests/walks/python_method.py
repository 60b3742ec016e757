#!/usr/bin/env python3
"""A researcher with a new method of 20 lines in Python: is it better than NoLoCo, and does it fit my machines?

    python_method.py LONGHAUL SOURCE

From the file to a sentence with intervals and a plan; killed and resumed to the same bytes; and what `check` says of mistakes."""
import csv
import os
import pathlib
import signal
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'soak'))
from disturbed import Command, gone, marked, send
from walk import Walk, bullets, expect

METHOD = '''"""NoLoCo in which the shorter change of a group counts more, tensor by tensor."""
import numpy

like = "noloco"
keeps = ["agreement"]


def step(theta, phi, momentum, agreement, sent_delta, mean_phi, sent_phi, round, *, alpha, beta, gamma, power=1.0):
    length = numpy.linalg.norm(sent_delta, axis=1, keepdims=True) + 1e-12
    weight = length**-power
    delta = (weight * sent_delta).sum(axis=0) / weight.sum()
    agreement += ((numpy.sign(sent_delta) == numpy.sign(delta)) - agreement) / round
    momentum *= alpha
    momentum += beta * agreement * delta - gamma * (sent_phi - mean_phi)
    phi += momentum
    theta[:] = phi
'''
SCENARIO = {
    'name': 'mine', 'seeds': [1, 2, 3], 'replicas': 4,
    'methods': [{'name': 'noloco', 'inner_steps': 5},
                {'name': 'python', 'label': 'mine', 'file': 'mine.py', 'inner_steps': 5, 'power': 0.5}],
    'train': {'steps': 60, 'model': {'hidden': 32, 'layers': 2, 'heads': 2, 'ffn': 64, 'context': 32},
              'data': {'synthetic': {'branching': 4, 'tokens': 100000}}, 'batch': 2, 'evaluate_every': 20, 'evaluate_sequences': 16,
              'checkpoint_every': 4},
    'workload': {'step_time': {'constant': '100ms'}},
    'network': {'topology': {'star': {'rate': '100Mbps', 'rtt': '50ms'}}},
}
PLAN = {'parameters': 1000000000, 'tokens': 20000000000, 'tokens_per_step': 65536, 'nodes': 8, 'step_time': '2s',
        'network': {'topology': {'star': {'rate': '1Gbps', 'rtt': '50ms'}}},
        'candidates': {'methods': ['diloco', {'name': 'python', 'label': 'mine', 'file': 'mine.py'}], 'inner_steps': [50, 100]}}
# Groups of four with a codec of the file's own.
DECLARED = '''among = 4
every = 5
codec = "int8"
sends = ["weights"]


def step(theta, mean_weights):
    theta[:] = mean_weights
'''
MEDIAN = '''import numpy

among = "all"
sends = ["weights"]
columnwise = True


def step(theta, sent_weights):
    theta[:] = numpy.median(sent_weights, axis=0)
'''
ROWS = {'name': 'rows', 'replicas': 6,
        'methods': [{'name': 'diloco', 'inner_steps': 1},
                    {'name': 'python', 'label': 'median', 'file': 'mine.py', 'inner_steps': 1}],
        'workload': {'parameters': 50_000_000, 'wire': 'bf16', 'steps': 2, 'step_time': {'constant': '1s'}},
        'network': {'topology': {'star': {'rate': '1Gbps', 'rtt': '50ms'}}}}
STUCK = '''among = "all"
every = 5
sends = ["weights"]


def step(theta, mean_weights, round):
    while round == 3:
        pass
    theta[:] = mean_weights
'''
FROM_NOTHING = 'among = "all"\nevery = 5\nsends = ["delta"]\n\n\ndef step(theta, mean_delta):\n    theta -= mean_delta\n'
# Of a file the line that is changed, and what `check` has to say of it.
MISTAKES = [
    (METHOD, 'theta[:] = phi', 'theta[:] = phi[', 'line 16: SyntaxError'),
    (METHOD, 'theta[:] = phi', 'theta[:] = fie', 'line 16: NameError'),
    (METHOD, 'theta[:] = phi', 'theta[:] = phi[:, :3]', 'line 16: ValueError: could not broadcast'),
    (METHOD, 'sent_phi, round', 'sent_fi, round', 'step has the argument "sent_fi"; allowed: theta, phi, momentum'),
    (METHOD, '"noloco"', '"nolocco"', 'did you mean "noloco"?'),
    (METHOD, '["agreement"]', '"agreement"', 'line 5: keeps is \'agreement\'; allowed: a list of names'),
    (METHOD, 'phi += momentum', 'phi = phi + momentum',
     'line 15: phi = ... makes a new array, and the table stays as it was'),
    (METHOD, 'def step', 'def stepp', 'there is no function step'),
    (METHOD, 'power=1.0', 'power=[1]', 'the default of power is [1]; allowed: a number'),
    (METHOD, 'like = "noloco"', 'among = 1', 'line 4: among is 1; allowed: "all", "pairs" or'),
    (DECLARED, '"int8"', '"int9"', 'line 3: codec: found "int9"; allowed: one of wire, int8'),
    (DECLARED, 'every', 'inner_steps', 'line 2: inner_steps is not read here; allowed: every'),
    (FROM_NOTHING, 'every = 5', 'every = "5"', 'line 2: every is \'5\'; allowed: inner steps'),
    (METHOD, 'theta[:] = phi', 'import os; os._exit(7)', 'its step ended the process with exit status 7; allowed: a step that returns'),
    (METHOD, 'theta[:] = phi', 'import os; os.abort()', 'its step ended the process by signal 6 (Aborted)'),
]


def tables(folder):
    """Everything that a training leaves and that no clock is in, by file."""
    kept = [file for pattern in ('metrics.csv', 'exchanges.jsonl', 'checkpoints/*.json') for file in folder.glob(f'train/*/{pattern}')]
    return {str(file.relative_to(folder)): file.read_bytes() for file in kept}


def main():
    longhaul = Walk(sys.argv[1])
    source = pathlib.Path(sys.argv[2])
    longhaul.write('mine.py', METHOD)
    longhaul.write('mine.json', SCENARIO)
    expect(len(METHOD.splitlines()) <= 30, f'the method has {len(METHOD.splitlines())} lines')
    expect('is a valid scenario' in longhaul('check', 'mine.json'), 'check takes the scenario')
    began = time.monotonic()
    terminal = longhaul('run', 'mine.json', '--out', 'run', '--jobs', '2')
    print(f'trained and replayed in {time.monotonic() - began:.0f} s')
    sentences = bullets(terminal)
    expect(any('mine' in one and '[' in one for one in sentences), f'the method is compared with an interval: {sentences[0]}')
    expect(bullets(longhaul('compare', 'run')) == sentences, 'compare says the same')
    expect('mine' in (longhaul.folder / 'run/report.html').read_text(), 'it is in the report')

    command = [longhaul.longhaul, 'run', 'mine.json', '--out', 'killed', '--jobs', '2', '--quiet']
    for kills in range(4):
        run = Command(command + ['--resume'] * (kills > 0), f'{os.getpid()}', longhaul.folder)
        run.wait(300, 1.5 + 0.7 * kills, lambda it: send(marked(it.word), signal.SIGKILL))
        run.finish()
        if not run.sent:
            break
        gone(run.word, 30)
    expect(kills > 0, 'the run was killed')
    longhaul('run', 'mine.json', '--out', 'killed', '--jobs', '2', '--resume')
    whole, resumed = (tables(longhaul.folder / name) for name in ('run', 'killed'))
    expect(len(whole) >= 18 and whole == resumed, f'{len(whole)} files of the resumed run are those of the whole one, byte by byte')

    def refused(text, *said, of=('check', 'mine.json'), more=()):
        longhaul.write('mine.py', text)
        words = longhaul.refused(*of, *more)
        expect(all(one in words for one in said), words)

    for text, written, wrong, said in MISTAKES:
        refused(text.replace(written, wrong), said, 'methods[1].file')
    of_python = 'methods=[{"name": "python", "file": "mine.py"%s}]'
    refused(FROM_NOTHING, 'line 3: sends has "delta"; allowed: weights; delta is theta less phi',
            more=('--set', of_python % ''))
    adam = (source / 'scenarios/methods/python/outer_adam.py').read_text()
    refused(adam.replace('"diloco"', '"co2"'), 'like = "co2", which does more than',
            more=('--set', of_python % ', "inner_steps": 5'))
    refused(METHOD, 'unknown key "powr"', 'did you mean "power"?', more=('--set', 'methods[1].powr=2'))
    refused(METHOD.replace('beta * agreement', 'beta'), 'holds a run of another scenario',
            of=('run', 'mine.json', '--out', 'killed', '--resume'))
    longhaul('run', 'mine.json', '--out', 'changed', '--jobs', '2', '--set', 'seeds=[1]')
    losses = {run: {record['label']: record['final_loss'] for record in longhaul.summary(run)['cases'] if record['seed'] == 1}
              for run in ('run', 'changed')}
    expect(losses['run']['noloco'] == losses['changed']['noloco'] and losses['run']['mine'] != losses['changed']['mine'],
           'a changed file trains anew')

    longhaul.write('mine.py', METHOD)
    longhaul.write('plan.json', PLAN)
    expect('mine' in longhaul('plan', 'plan.json', '-o', 'plan'), 'the plan has the method')

    longhaul('run', str(source / 'scenarios/methods/python.json'), '--out', 'shipped', '--jobs', '2', '--set', 'seeds=[1]')
    curves = {}
    for record in longhaul.summary('shipped')['cases']:
        folder = longhaul.folder / 'shipped' / 'cases' / record['case']
        curves[record['label']] = [record['final_loss'], record['weight_spread'],
                                   *((folder / table).read_bytes() for table in ('metrics.csv', 'exchanges.csv'))]
    for name in ('diloco', 'noloco', 'gasloc'):
        expect(curves[name] == curves[f'{name}.py'], f'{name} declared and written in Python has the bytes and times of {name} in C++')
    def sent(label):
        folder = next(record['case'] for record in longhaul.summary('shipped')['cases'] if record['label'] == label)
        with open(longhaul.folder / 'shipped' / 'cases' / folder / 'exchanges.csv', encoding='utf-8') as table:
            return [(row['step'], row['replica'], int(row['bytes'])) for row in csv.DictReader(table)]
    half = [(step, replica, 2 * size) for step, replica, size in sent('gasloc')]
    expect(half and half == sent('noloco'), 'in pairs gasloc sends half of the bytes of noloco, at the same steps')
    expect(len({curve[0] for curve in curves.values()}) == 8, 'and the five others have losses of their own')

    # 6 replicas with 100 MB each. Their mean around a ring is 2 · 5/6 of that; their median needs all of it of the five others:
    # 500 MB, which take 5 · (25 ms + 100 MB · 1538/1448 at 1 Gb/s) = 4.37 s and the growth of TCP's windows.
    longhaul.write('rows.json', ROWS)
    longhaul.write('mine.py', MEDIAN)
    longhaul('run', 'rows.json', '--out', 'rows')
    mean, median = longhaul.summary('rows')['cases']
    for record, megabytes in ((mean, 1000 / 6), (median, 500)):
        sent = record['bytes_sent_per_replica'] / 2e6
        expect(abs(sent / megabytes - 1) < 1e-6, f"{record['label']} sends {sent:.1f} MB a sync and replica")
    expect(4.37 < median['sync_time_s']['mean'] < 5, f"the median takes {median['sync_time_s']['mean']:.2f} s")

    longhaul.write('mine.py', STUCK)
    for which in (signal.SIGKILL, signal.SIGTERM):
        run = Command([longhaul.longhaul, 'run', 'mine.json', '--out', f'stuck-{which}', '--jobs', '1', '--set', 'seeds=[1]', '--set',
                       'methods=[{"name": "python", "file": "mine.py"}]'], f'{os.getpid()}', longhaul.folder)
        run.wait(300, 20, lambda it: send([it.process.pid], which))
        left = gone(run.word, 20)
        expect(not left, f'a step that does not return does not outlive {signal.Signals(which).name} to longhaul')
        expect('mine.py: its step has not returned for' in run.finish(), 'and the run said whose step it was')

    longhaul.write('mine.py', DECLARED)
    longhaul('run', 'mine.json', '--out', 'declared', '--jobs', '2', '--set', 'seeds=[1]', '--set',
             'methods=[{"name": "python", "file": "mine.py"}, {"name": "python", "label": "plain", "file": "mine.py", "codec": "wire"}]')
    small, plain = (record['bytes_sent_per_replica'] for record in longhaul.summary('declared')['cases'])
    expect(0.5 < small / plain < 0.52, f'a message of int8 to each of three others is {small / plain:.3f} of bf16')


main()
