"""What a report concludes, in a real browser: the first block, losses at equal time and bytes, the target in the chart, folded claims.

    decision_test.py LONGHAUL CHROMIUM CHROMEDRIVER PICTURES

Writes a picture of each view into PICTURES. Exit status 77 (skipped) where the browser or selenium is missing."""
import sys
import unittest

from page import ReportPage
from runs import TINY, summary, swept, trained

TARGET = 4.5


def decided():
    """Three seeds, a target that all reach."""
    return {**trained(), 'name': 'decided', 'seeds': [1, 2, 3], 'train': {**TINY, 'target_loss': TARGET, 'optimizer': {'lr': 0.01}}}


def judged():
    """A sweep with a claim on each of its points."""
    scenario = swept()
    each = {'id': 'each', 'statement': 'slower at every point', 'ratio': 'sync_time_s.mean', 'of': 'diloco', 'to': 'noloco', 'at_least': 1.2, 'quantifier': 'each'}
    return {**scenario, 'name': 'judged', 'claims': [*scenario['claims'], each]}


class DecisionTest(ReportPage):
    def test_the_first_block_has_the_sentences(self):
        self.open(self.finished(decided()), 'decided')
        tops = self.page.run("""return ['conclusions', 'conclusions-of-runs', 'run', 'results', 'equal', 'pictures'].map(
            id => document.getElementById(id).getBoundingClientRect().top);""")
        self.assertEqual(tops, sorted(tops))
        said = self.page.texts('#conclusions .decisions > li')
        decisions = self.page.value('DATA.runs[0].conclusions.points[0].decisions')
        self.assertEqual(said, [one['opening'] + ''.join(part['badge'] + part['words'] for part in one['parts']) for one in decisions])
        badges = self.page.texts('#conclusions .parts .verdict')
        self.assertEqual(badges, [part['badge'] for one in decisions for part in one['parts']])
        self.assertGreater(len(badges), len(decisions))  # three methods: a badge for each comparison, not for each question
        self.assertEqual([one['question'] for one in decisions][:3], ['at equal tokens', 'after the same simulated time', 'after the same bytes'])
        self.assertIn('3 seeds', self.page.text('#conclusions .conditions'))

    def test_tables_at_equal_time_and_bytes(self):
        self.open(self.finished(decided()))
        for row in ('ddp', 'diloco', 'noloco'):
            self.assertIn(row, self.page.text('#equal-tables'))
        ends = self.page.value("[...document.querySelectorAll('#equal-tables thead th')].map(one => one.innerText)")
        self.assertEqual(len(ends), 8)
        self.assertTrue(ends[3].endswith('all') and ends[1].endswith('a quarter'), ends)

    def test_the_target_is_a_column_a_line_and_a_mark_on_each_method(self):
        run = self.open(self.finished(decided()))
        self.assertIn('Time to target', self.page.text('#results-table thead'))
        times = {}
        for record in summary(run)['cases']:
            times.setdefault(record['label'], []).append(record['time_to_target_s'])
        means = sorted(sum(of_seeds) / len(of_seeds) for of_seeds in times.values())
        shown = self.page.value("CHARTS.find(one => one.id === 'loss-time').drawn.config.options.plugins.crossings")
        self.assertEqual(shown['loss'], TARGET)
        self.assertEqual(len(shown['crossings']), 3)
        for known, x in zip(means, sorted(one['x'] for one in shown['crossings'])):
            self.assertAlmostEqual(known, x, delta=1e-5 * known)
        line = """const {drawn} = CHARTS.find(one => one.id === 'loss-time');
                  const y = Math.round(drawn.scales.y.getPixelForValue(arguments[0])), {left, width} = drawn.chartArea;
                  const {data} = drawn.canvas.getContext('2d').getImageData(left, y - 1, width, 3);
                  let dark = 0;
                  for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 150 && data[i] + data[i + 1] + data[i + 2] < 240) ++dark;
                  return dark / width;"""
        self.assertGreater(self.page.run(line, TARGET), 0.4, 'no dashed line across')
        self.page.choose('#chart-loss-time select', 'step')
        self.assertEqual(self.page.value("CHARTS.find(one => one.id === 'loss-time').drawn.config.options.plugins.crossings.crossings"), [])

    def test_a_sweep_says_what_holds_over_it_and_folds_the_points(self):
        self.open(self.finished(judged()), 'judged')
        self.assertRegex(self.page.text('#conclusions'), r'In the time of a synchronization: .*points')
        self.assertEqual(self.page.count('#conclusions details > div'), 0)
        self.page.click('#conclusions summary')
        points = self.page.value('DATA.runs[0].conclusions.points.length')
        self.assertEqual(self.page.count('#conclusions details > div'), points)
        self.page.picture('judged-open')
        self.expect_no_scrolling()

    def test_a_claim_on_each_point_is_one_item(self):
        run = self.open(self.finished(judged()))
        self.assertEqual(self.page.count('#verdicts > li'), 3)
        same = [one for one in summary(run)['claims'] if one['id'] == 'each']
        self.assertIn(f'of {len(same)} points', self.page.text('#verdicts'))
        self.assertNotIn('(at ', self.page.text('#verdicts > li:last-child'))
        self.page.click('#verdicts > li:last-child summary')
        self.assertEqual(self.page.text('#verdicts > li:last-child').count('(at '), len(same))
        undecided = next(one for one in same if one['residual'] == 0.07)
        self.assertIn("the network model's 7 % make that", self.page.text('#verdicts'), undecided)

    def test_every_look(self):
        for scenario in (decided(), judged()):
            run = self.finished(scenario)
            self.expect_every_look(run, scenario['name'])
            self.page.size(390, 844)
            self.open(run)
            self.page.run("for (const one of document.querySelectorAll('details')) one.open = true;")
            self.page.settle()
            self.expect_no_scrolling()


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
