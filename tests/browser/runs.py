"""The run directories that the browser tests look at, made by longhaul itself in a few seconds."""
import json
import os
import pathlib
import signal
import subprocess
import time

STAR = {'topology': {'star': {'rate': '100Mbps', 'rtt': '50ms'}}}
TINY = {'steps': 40, 'model': {'hidden': 16, 'layers': 1, 'heads': 2, 'ffn': 32, 'context': 32},
        'data': {'synthetic': {'branching': 4, 'tokens': 50000}}, 'evaluate_every': 5, 'evaluate_sequences': 4, 'batch': 2}


def trained():
    """Three methods and two seeds: curves with bands, means with intervals."""
    return {'name': 'trained', 'description': 'Four replicas of a tiny model on a star.', 'seeds': [1, 2], 'replicas': 4,
            'methods': [{'name': 'ddp'}, {'name': 'diloco', 'inner_steps': 10}, {'name': 'noloco', 'inner_steps': 5}],
            'train': TINY, 'workload': {'step_time': {'lognormal': {'mean': '100ms', 'sigma': 0.3}}}, 'network': STAR}


def swept():
    """Nothing trained, a sweep over two keys between regions, claims."""
    return {'name': 'swept', 'description': 'A sweep over the network, without training.', 'seed': 1, 'replicas': 8,
            'methods': [{'name': 'diloco', 'inner_steps': 20}, {'name': 'noloco', 'inner_steps': 20}],
            'workload': {'model': 'llama-small', 'steps': 60, 'step_time': {'lognormal': {'mean': '1s', 'sigma': 0.3}}},
            'network': {'topology': {'regions': {'matrix': 'aws-2022', 'replicas': 'even'}}},
            'sweep': {'replicas': [8, 16], 'network.tcp.connections': [1, 8], 'methods.diloco.all_reduce': ['ring', 'tree']},
            'claims': [{'id': 'ten', 'statement': 'ten times faster', 'ratio': 'sync_time_s.mean', 'of': 'diloco', 'to': 'noloco', 'at_least': 10},
                       {'id': 'half-idle', 'metric': 'sync_time_s.mean', 'of': 'noloco', 'at_most': 30}]}


def doubled():
    """Doublings of replicas up to 64 over decades of rates on a star: two swept keys with long names."""
    return {'name': 'doubled', 'seed': 1, 'replicas': 8, 'methods': [{'name': 'diloco', 'inner_steps': 10}, {'name': 'noloco', 'inner_steps': 10}],
            'workload': {'parameters': 1000000, 'steps': 30, 'step_time': {'lognormal': {'mean': '1s', 'sigma': 0.3}}}, 'network': STAR,
            'sweep': {'replicas': [8, 16, 32, 64], 'network.topology.star.rate': ['10Mbps', '100Mbps']}}


def many(cases):
    """Closed forms of a sweep with so many cases."""
    return {**doubled(), 'name': 'many', 'network': {'fidelity': 'analytic', 'topology': {'star': {'rate': '1Gbps', 'rtt': '50ms'}}},
            'sweep': {'workload.parameters': [1000000 * (1 + i) for i in range(-(-cases // 20))], 'replicas': [4, 8, 16, 32, 64],
                      'network.topology.star.rtt': ['20ms', '100ms']},
            'claims': [{'id': 'ten', 'ratio': 'sync_time_s.mean', 'of': 'diloco', 'to': 'noloco', 'at_least': 10}]}


def summary(run):
    return json.loads((run / 'summary.json').read_text())


class Runs:
    def __init__(self, longhaul, folder):
        self.longhaul, self.folder = longhaul, pathlib.Path(folder)
        self.trains = os.path.exists(os.path.join(os.path.dirname(longhaul), 'longhaul-train'))
        self.simulates = os.path.exists(os.path.join(os.path.dirname(longhaul), 'longhaul-sim'))

    def command(self, scenario, *more):
        file = self.folder / f'{scenario["name"]}.json'
        file.write_text(json.dumps(scenario))
        return [self.longhaul, 'run', str(file), '--out', str(self.folder / scenario['name']), '--quiet', *(more or ('--jobs', '2'))]

    def finished(self, scenario, *more):
        subprocess.run(self.command(scenario, *more), check=True, stdout=subprocess.DEVNULL, timeout=300)
        return self.folder / scenario['name']

    def interrupted(self, scenario, ready, *more):
        """Ends the run with Ctrl-C as soon as `ready(run directory)`, and in any case after a minute."""
        run = self.folder / scenario['name']
        with subprocess.Popen(self.command(scenario, *more), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            try:
                end = time.monotonic() + 60
                while child.poll() is None and not ready(run) and time.monotonic() < end:
                    time.sleep(0.02)
                child.send_signal(signal.SIGINT)
                child.wait(timeout=60)
            finally:
                child.kill()
        return run

    def interrupted_training(self):
        """Three methods: one has trained a bit, the others have not begun."""
        def has_evaluated(run):
            return any(file.read_text().count('mean') >= 3 for file in run.glob('train/*/metrics.csv'))
        return self.interrupted({**trained(), 'name': 'stopped', 'seeds': [1], 'train': {**TINY, 'steps': 100000}}, has_evaluated, '--jobs', '1')

    def interrupted_replay(self):
        """Some cases of a sweep are done; the last would take minutes."""
        scenario = {**swept(), 'name': 'stopped-replay', 'methods': [{'name': 'diloco', 'inner_steps': 20}], 'sweep': {'workload.steps': [60, 5000000]},
                    'claims': []}
        return self.interrupted(scenario, lambda run: any(run.glob('cases/*/done')), '--jobs', '1')

    def report(self, *arguments):
        return subprocess.run([self.longhaul, 'report', *map(str, arguments)], capture_output=True, text=True, timeout=120, check=True)
