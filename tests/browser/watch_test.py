"""longhaul report --watch in a real browser: the page of a run in progress reloads itself and keeps what was chosen.

    watch_test.py LONGHAUL CHROMIUM CHROMEDRIVER PICTURES"""
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    from page import Page
except ImportError as missing:
    print(f'skipped: {missing} (Debian: python3-selenium)')
    sys.exit(77)
from runs import TINY, Runs, swept, trained

LONGHAUL, CHROMIUM, CHROMEDRIVER, PICTURES = sys.argv[1:5]


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class WatchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='longhaul-browser-')
        self.addCleanup(folder.cleanup)
        self.runs = Runs(LONGHAUL, folder.name)
        self.page = Page(CHROMIUM, CHROMEDRIVER, PICTURES)
        self.addCleanup(self.page.close)

    def start(self, *command):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def end():
            if child.poll() is None:
                child.kill()
            child.wait()
        self.addCleanup(end)
        return child

    def reloaded(self):
        """Whether the page that has the mark is gone and another is drawn."""
        return self.page.wait_for('window.mark === undefined && document.readyState === "complete"')

    def follow(self, run_command, run):
        """A run, and who watches it; the page is open with a mark in it."""
        going = self.start(*run_command)
        self.assertTrue(wait_until(lambda: (run / 'manifest.json').exists()))
        watching = self.start(LONGHAUL, 'report', '--watch', '--every', '1', str(run))
        self.assertTrue(wait_until((run / 'live.html').exists))
        self.page.open(run / 'live.html')
        self.page.run('window.mark = 1;')
        return going, watching

    def test_a_training_in_progress(self):
        if not self.runs.trains:
            self.skipTest('longhaul-train is not built')
        scenario = {**trained(), 'name': 'going', 'seeds': [1], 'train': {**TINY, 'steps': 100000}}
        run = self.runs.folder / 'going'
        going, watching = self.follow(self.runs.command(scenario, '--jobs', '1'), run)
        self.assertTrue(self.page.wait_for("CHARTS.some(chart => chart.drawn && chart.id === 'loss-steps' && chart.drawn.data.datasets[0].data.length > 1)"))
        self.assertIn('In progress', self.page.text('#notes'))
        self.page.picture('live')
        last = self.page.chart('loss-steps')['datasets'][0]['data'][-1][0]
        self.page.click('#chart-loss-steps .controls label:nth-of-type(4) input')  # log y
        self.page.run('window.mark = 1; scrollTo(0, 300);')
        self.assertTrue(self.reloaded())
        self.page.settle()
        self.assertEqual(self.page.chart('loss-steps')['y'], 'logarithmic')
        self.assertEqual(self.page.run('return scrollY;'), 300)
        newest = "CHARTS.find(chart => chart.id === 'loss-steps').drawn.data.datasets[0].data.slice(-1)[0].x"
        self.assertTrue(self.page.wait_for(f'{newest} > {last}'), 'no newer losses')
        going.send_signal(signal.SIGINT)
        going.wait(timeout=60)
        self.assertEqual(watching.wait(timeout=60), 0)
        self.assertTrue(self.page.wait_for("!document.querySelector('#notes .live')"))
        self.assertIn('did not finish', self.page.text('#notes'))
        self.assertEqual(self.page.console_errors(), [])

    def test_of_a_run_that_has_ended_is_written_once(self):
        if not self.runs.simulates:
            self.skipTest('longhaul-sim is not built')
        run = self.runs.finished({**swept(), 'sweep': {}})
        self.assertEqual(subprocess.run([LONGHAUL, 'report', '--watch', str(run)], stdout=subprocess.DEVNULL, timeout=60, check=False).returncode, 0)
        self.page.open(run / 'live.html')
        self.assertIsNone(self.page.text('#notes .live'))
        self.assertIn('sync', self.page.visible_charts())


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
