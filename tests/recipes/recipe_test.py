#!/usr/bin/env python3
"""A recipe of docs/examples for sweeps on what a site has: with two workers, one of which is killed in the middle, then
continued. The report and all tables are those of the unsplit run, byte for byte.

    recipe_test.py RECIPE LONGHAUL SOURCE      status 77, with the reason, where the recipe's program is not installed
                                               (1 with LONGHAUL_RECIPES=all, as make test-recipes sets it)
"""
import contextlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path += [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ('support', 'walks')]
import slurm
from run_contents import contents, differences
from walk import expect

RECIPE, LONGHAUL, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
EXAMPLES = SOURCE / 'docs/examples'
PATIENCE_S = 120
# Four cases and two trainings: each training is shared by two cases, on networks with 1 and with 4 connections.
SCENARIO = {
    'name': 'sweep', 'replicas': 4,
    'methods': [{'name': 'ddp'}, {'name': 'noloco', 'inner_steps': 5}],
    'train': {'steps': 120, 'checkpoint_every': 5, 'batch': 2, 'evaluate_every': 20, 'evaluate_sequences': 4,
              'model': {'hidden': 32, 'layers': 2, 'heads': 2, 'ffn': 64, 'context': 32},
              'data': {'synthetic': {'branching': 4, 'tokens': 20000}}},
    'workload': {'step_time': {'lognormal': {'mean': '100ms', 'sigma': 0.3}}},
    'network': {'topology': {'star': {'rate': '100Mbps', 'rtt': '50ms'}}},
    'sweep': {'network.tcp.connections': [1, 4]}}

EXECUTOR = [EXAMPLES / 'sweep_executor.py', 's.json', 'out']
# Programs and Python modules that each needs here, and its command.
RECIPES = {
    'parallel': (['parallel'], [], ['sh', EXAMPLES / 'sweep_parallel.sh', 's.json', 'out', '-j', '2']),
    'snakemake': (['snakemake'], [], ['snakemake', '--cores', '2', '--rerun-incomplete', '--quiet', 'all', '-s', EXAMPLES / 'Snakefile',
                                      '--config', 'scenario=s.json', 'out=out']),
    'processes': ([], [], [sys.executable, *EXECUTOR]),
    'mpi': (['mpirun'], ['mpi4py'], ['mpirun', '--allow-run-as-root', '--oversubscribe', '-n', '3', sys.executable, '-m', 'mpi4py.futures',
                                     *EXECUTOR]),
    'dask': ([], ['distributed'], [sys.executable, *EXECUTOR]),
    'slurm': (['slurmctld', 'slurmd', 'sbatch', 'munged'], [], [])}


def until(condition, what):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.005)
    raise AssertionError(f'not within {PATIENCE_S} s: {what}')


def training_worker(out):
    """The pid of a worker whose training has a checkpoint and is not done."""
    for claim in out.glob('train/*/.claim'):
        folder = claim.parent
        if any(folder.glob('checkpoints/step-*.json')) and not (folder / 'done').exists():
            words = claim.read_text().split()
            return int(words[2]) if len(words) == 4 else None
    return None


def kill_worker(out, group):
    """kill -9 of a worker's process group, or of it alone where that group is all of the recipe."""
    worker = until(lambda: training_worker(out), 'a worker that trains')
    command = pathlib.Path(f'/proc/{worker}/cmdline').read_bytes()
    expect(b'--only-case' in command and str(out.name).encode() in command, f'pid {worker} is a worker of ours: {command}')
    parent = int(re.search(r'PPid:\t(\d+)', pathlib.Path(f'/proc/{worker}/status').read_text()).group(1))
    expect(os.getpgid(worker) != os.getpgid(0), 'it is not in the group of this test')
    if os.getpgid(worker) != group:
        os.killpg(os.getpgid(worker), signal.SIGKILL)
    else:
        os.kill(worker, signal.SIGKILL)
        if RECIPE == 'processes':  # the pool's process that waits for it
            os.kill(parent, signal.SIGKILL)
    print(f'killed pid {worker}')


class Recipe:
    """Runs and continues the sweep in the folder of this test."""

    def __init__(self, folder):
        self.folder = folder
        self.programs, self.modules, self.command = RECIPES[RECIPE]

    def missing(self):
        return ([name for name in self.programs if not shutil.which(name)]
                + [f'Python module {name}' for name in self.modules if not importlib.util.find_spec(name)])

    def services(self, stack):
        """Starts what the recipe needs beside it."""

    def start(self, command):
        return subprocess.Popen([str(word) for word in command], cwd=self.folder, start_new_session=True)

    def interrupted(self):
        """Runs the sweep with a worker that is killed."""
        process = self.start(self.command)
        kill_worker(self.folder / 'out', process.pid)
        return process.wait(PATIENCE_S)

    def continued(self):
        expect(self.start(self.command).wait(PATIENCE_S) == 0, 'the same command continues')


class Dask(Recipe):
    """Its scheduler gives what a lost worker was at to another one: nothing has to be continued by hand."""

    def services(self, stack):
        file = self.folder / 'scheduler.json'
        self.background(stack, 'scheduler', '--port', '0', '--no-dashboard', '--scheduler-file', file)
        until(file.exists, 'a scheduler')
        address = json.loads(until(file.read_text, 'its address'))['address']
        self.command = [*self.command, address]
        for _ in range(2):
            self.background(stack, 'worker', address, '--nthreads', '1', '--no-dashboard', '--local-directory', self.folder / 'dask')

    def background(self, stack, program, *arguments):
        process = self.start([sys.executable, '-m', f'distributed.cli.dask_{program}', *arguments])
        stack.callback(process.wait)
        stack.callback(lambda: process.poll() is None and os.killpg(process.pid, signal.SIGKILL))

    def interrupted(self):
        expect(super().interrupted() == 0, 'the other worker does the case of the killed one')
        return 1


class Slurm(Recipe):
    """A controller and a node on this machine, of this test alone."""

    def missing(self):
        return super().missing() + ['root, which slurmd wants'] * (os.geteuid() != 0)

    def services(self, stack):
        os.environ['SLURM_CONF'] = str(slurm.start(self.folder / 'slurm', stack))
        until(lambda: 'idle' in slurm.said('sinfo', '--noheader', '--format', '%T', check=False), 'a node that is idle')

    def submit(self):
        count = len(slurm.said('longhaul', 'run', 's.json', '--list-cases', cwd=self.folder).splitlines())
        return slurm.said('sbatch', '--parsable', f'--array=1-{count}%2', '--mem=400', EXAMPLES / 'sweep.sbatch', 's.json', 'out',
                          cwd=self.folder).strip()

    def wait_for(self, job):
        until(lambda: job not in slurm.said('squeue', '--noheader', '--format', '%F').split(), f'the end of job {job}')

    def interrupted(self):
        job = self.submit()
        kill_worker(self.folder / 'out', None)
        self.wait_for(job)
        return 1

    def continued(self):
        self.wait_for(self.submit())
        report = slurm.said('sbatch', '--parsable', '--wait', '--wrap', 'longhaul run s.json --out out --resume', cwd=self.folder)
        expect(report.strip().isdigit(), f'the report is made by a job: {report}')


def main():
    with tempfile.TemporaryDirectory(prefix='recipe-') as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        recipe = {'dask': Dask, 'slurm': Slurm}.get(RECIPE, Recipe)(folder)
        os.environ.update(PATH=f'{LONGHAUL.parent}:{os.environ["PATH"]}', PYTHONPATH=str(SOURCE / 'python'))
        if recipe.missing():
            print('missing here:', *recipe.missing())
            sys.exit(1 if os.environ.get('LONGHAUL_RECIPES') == 'all' else 77)
        (folder / 's.json').write_text(json.dumps(SCENARIO))
        subprocess.run([LONGHAUL, 'run', 's.json', '--out', 'whole', '--quiet'], cwd=folder, check=True)
        recipe.services(stack)
        status = recipe.interrupted()
        expect(status != 0, 'a recipe whose worker was killed says so')
        if not isinstance(recipe, Dask):
            expect(not (folder / 'out/report.html').exists(), 'and makes no report')
            recipe.continued()
        different = differences(folder / 'out', folder / 'whole')
        expect(not different, f'{len(different)} of {len(contents(folder / "out"))} files differ: {different}')


main()
