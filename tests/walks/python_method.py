#!/usr/bin/env python3
"""A researcher with a new method of 20 lines in Python: is it better than NoLoCo, and does it fit my machines?

    python_method.py LONGHAUL SOURCE

From the file to a sentence with intervals and a plan; killed and resumed to the same bytes; and what `check` says of mistakes."""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

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
# A changed line, and what `check` has to say of it.
MISTAKES = [
    ('theta[:] = phi', 'theta[:] = phi[', 'line 16: SyntaxError'),
    ('theta[:] = phi', 'theta[:] = fie', 'line 16: NameError'),
    ('theta[:] = phi', 'theta[:] = phi[:, :3]', 'line 16: ValueError: could not broadcast'),
    ('sent_phi, round', 'sent_fi, round', 'step has the argument "sent_fi"; allowed: theta, phi, momentum'),
    ('"noloco"', '"nolocco"', 'did you mean "noloco"?'),
    ('["agreement"]', '"agreement"', 'line 5: keeps is \'agreement\'; allowed: a list of names'),
    ('phi += momentum', 'phi = phi + momentum', 'line 15: phi = ... makes a new array, and the table stays as it was'),
    ('def step', 'def stepp', 'there is no function step'),
    ('power=1.0', 'power=[1]', 'the default of power is [1]; allowed: a number'),
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
    kills = 0
    while kills < 4:
        run = subprocess.Popen(command + ['--resume'] * (kills > 0), cwd=longhaul.folder, start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1.5 + 0.7 * kills)
        if run.poll() is not None:
            break
        trainers = subprocess.run(['ps', '-o', 'pid=', '--ppid', str(run.pid)], capture_output=True, text=True, check=False).stdout.split()
        for process in (run.pid, *map(int, trainers)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        run.wait()
        kills += 1
        time.sleep(0.5)
    expect(kills > 0, f'the run was killed {kills} times')
    longhaul('run', 'mine.json', '--out', 'killed', '--jobs', '2', '--resume')
    whole, resumed = (tables(longhaul.folder / name) for name in ('run', 'killed'))
    expect(len(whole) >= 18 and whole == resumed, f'{len(whole)} files of the resumed run are those of the whole one, byte by byte')

    def refused(*arguments):
        done = subprocess.run([longhaul.longhaul, *arguments], cwd=longhaul.folder, capture_output=True, text=True, timeout=300, check=False)
        return done.stderr if done.returncode == 2 else f'(status {done.returncode}) {done.stdout}{done.stderr}'

    for written, wrong, said in MISTAKES:
        longhaul.write('mine.py', METHOD.replace(written, wrong))
        words = refused('check', 'mine.json')
        expect(said in words and 'methods[1].file' in words and not words.startswith('('), f'of {wrong}: {words.strip()}')
    longhaul.write('mine.py', METHOD)
    words = refused('check', 'mine.json', '--set', 'methods[1].powr=2')
    expect('unknown key "powr"' in words and 'did you mean "power"?' in words, f'of an unknown parameter: {words.strip()}')

    longhaul.write('mine.py', (source / 'scenarios/methods/python/outer_adam.py').read_text().replace('"diloco"', '"co2"'))
    words = refused('check', 'mine.json', '--set', 'methods=[{"name": "python", "file": "mine.py", "inner_steps": 5}]')
    expect('like = "co2", which does more than' in words, f'of a method whose plan is more than a step: {words.strip()}')

    longhaul.write('mine.py', METHOD.replace('beta * agreement', 'beta'))
    words = refused('run', 'mine.json', '--out', 'killed', '--resume')
    expect('holds a run of another scenario' in words and not words.startswith('('), f'another file does not resume the run: {words.strip()}')
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
    for name in ('diloco', 'noloco'):
        expect(curves[name] == curves[f'{name}.py'], f'{name} declared and written in Python has the bytes and times of {name} in C++')
    expect(len({curve[0] for curve in curves.values()}) == 7, 'and the five others have losses of their own')

    # Groups of four with a codec of the file's own: one message of int8 to each of three others, 1/2 of bf16.
    longhaul.write('mine.py', 'among = 4\nevery = 5\ncodec = "int8"\nsends = ["weights"]\n\n\n'
                              'def step(theta, mean_weights):\n    theta[:] = mean_weights\n')
    longhaul('run', 'mine.json', '--out', 'declared', '--jobs', '2', '--set', 'seeds=[1]', '--set',
             'methods=[{"name": "python", "file": "mine.py"}, {"name": "python", "label": "plain", "file": "mine.py", "codec": "wire"}]')
    small, plain = (record['bytes_sent_per_replica'] for record in longhaul.summary('declared')['cases'])
    expect(0.5 < small / plain < 0.52, f'int8 of a declaration sends {small / plain:.3f} of bf16')
    written = (longhaul.folder / 'mine.py').read_text()
    for before, wrong, said in [('"int8"', '"int9"', 'line 3: codec: found "int9"; allowed: one of wire, int8'),
                                ('every', 'inner_steps', 'line 2: inner_steps is not read here; allowed: every')]:
        longhaul.write('mine.py', written.replace(before, wrong))
        words = refused('check', 'mine.json')
        expect('methods[1].file' in words and said in words, f'of {wrong}: {words.strip()}')
    longhaul.write('mine.py', METHOD.replace('like = "noloco"', 'among = 1'))
    words = refused('check', 'mine.json')
    expect('line 4: among is 1; allowed: "all", "pairs" or' in words, f'of groups of one: {words.strip()}')
    longhaul.write('mine.py', 'among = "all"\nevery = "5"\nsends = ["delta"]\n\n\ndef step(theta, mean_delta):\n    theta -= mean_delta\n')
    words = refused('check', 'mine.json')
    expect('line 2: every is \'5\'; allowed: inner steps' in words, f'of every as a text: {words.strip()}')
    longhaul.write('mine.py', (longhaul.folder / 'mine.py').read_text().replace('"5"', '5'))
    words = refused('check', 'mine.json', '--set', 'methods=[{"name": "python", "file": "mine.py"}]')
    expect('line 3: sends has "delta"; allowed: weights; delta is theta less phi' in words, f'of a change from nothing: {words.strip()}')


main()
