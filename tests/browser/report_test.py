"""Reports in a real browser: they open without a network and without console errors, every chart has drawn its data, choices work.

    report_test.py LONGHAUL CHROMIUM CHROMEDRIVER PICTURES

Writes a picture of each view into PICTURES. Exit status 77 (skipped) where the browser or selenium is missing."""
import csv
import re
import sys
import unittest

from page import ReportPage
from runs import doubled, summary, swept, trained


def mean_rows(run, case):
    """The rows `mean` of a case's metrics.csv."""
    with open(run / 'cases' / case / 'metrics.csv', newline='') as file:
        return [row for row in csv.DictReader(file) if row['replica'] == 'mean']


def sync_times(run, name, replicas, connections):
    """The means of the cases that the page may call so: with a swept option of the method, or without."""
    return [record['sync_time_s']['mean'] for record in summary(run)['cases']
            if (record['swept']['replicas'], record['swept']['network.tcp.connections']) == (replicas, connections) and
            name in (record['label'], f'{record["label"]} (all_reduce = {record["swept"].get("methods.diloco.all_reduce")})')]


class ReportTest(ReportPage):
    def expect_drawn(self, charts):
        """Each of the charts, and no other, has pixels in the colour of each of its methods that has numbers."""
        self.assertEqual(sorted(self.page.visible_charts()), sorted(charts))
        for chart in charts:
            self.page.focus(f'#chart-{chart} canvas')  # into sight
            if chart == 'breakdown':
                continue  # greys with transparency: its data are checked, and it is on the pictures
            color = self.page.run("""const chart = CHARTS.find(one => one.id === arguments[0]).drawn;
                const colors = chart.data.datasets.filter(one => one.data.some(value => value !== null)).flatMap(one => one.borderColor).map(String);
                return colors.find(one => /^#[0-9a-f]{6}$/i.test(one)) || null;""", chart)
            self.assertIsNotNone(color, chart)
            self.assertGreater(self.page.pixels(chart, color), 20, f'{chart} has nothing in {color}')

    def test_curves_are_those_of_the_tables(self):
        run = self.open(self.finished(trained()))
        shown = {}
        for dataset in self.page.chart('loss-time')['datasets']:
            shown.setdefault(dataset['label'], []).append(dataset)
        for label, datasets in shown.items():
            seeds = [mean_rows(run, record['case']) for record in summary(run)['cases'] if record['label'] == label]
            self.assertEqual([one['hover'] for one in datasets], ['one seed', 'one seed', 'mean of the seeds'])
            for rows, dataset in zip(seeds, datasets):
                self.assertEqual(len(rows), len(dataset['data']))
                for row, (x, y) in zip(rows, dataset['data']):
                    self.assertAlmostEqual(float(row['simulated_s']), x, delta=1e-5 * (1 + x))
                    self.assertAlmostEqual(float(row['loss']), y, delta=1e-5 * y)
            last = sum(float(rows[-1]['loss']) for rows in seeds) / len(seeds)
            self.assertAlmostEqual(last, datasets[2]['data'][-1][1], delta=1e-5 * last)

    def test_bars_are_those_of_the_summary(self):
        run = self.open(self.finished(trained()))
        chart = self.page.chart('sync')
        for label, value in zip(chart['labels'], chart['datasets'][0]['data']):
            means = [record['sync_time_s']['mean'] for record in summary(run)['cases'] if record['label'] == label]
            self.assertAlmostEqual(sum(means) / len(means), value, delta=1e-5 * value)
        for label, dataset in ((dataset['label'], dataset) for dataset in self.page.chart('distribution')['datasets']):
            longest = max(record['sync_time_s']['max'] for record in summary(run)['cases'] if record['label'] == label)
            self.assertLessEqual(dataset['data'][-1][0], longest * (1 + 1e-5))
            self.assertEqual(dataset['data'][-1][1], 1)

    def test_the_parts_of_a_synchronization_add_up(self):
        run = self.open(self.finished(swept()))
        chart = self.page.chart('breakdown')
        for i, label in enumerate(chart['labels']):
            parts = sum(dataset['data'][i] for dataset in chart['datasets'])
            known = sync_times(run, label, 8, 1)[0]
            self.assertAlmostEqual(parts, known, delta=1e-5 * known)

    def test_axes_can_be_switched(self):
        self.open(self.finished(trained()))
        box = '#chart-loss-time select'
        for key, title in (('bytes', 'payload sent per replica'), ('step', 'inner steps'), ('time_s', 'simulated time')):
            self.page.choose(box, key)
            self.assertEqual(self.page.chart('loss-time')['xTitle'], title)
        self.assertIn('simulated time', self.page.text('#chart-loss-time h3'))
        for chart, axis, place in (('loss-time', 'x', 0), ('loss-time', 'y', 1), ('distribution', 'x', 0)):
            before = self.page.chart(chart)[axis]
            self.page.run('document.querySelectorAll(`#chart-${arguments[0]} input`)[arguments[1]].click();', chart, place)
            self.assertNotEqual(before, self.page.chart(chart)[axis])
        self.assertEqual(self.page.console_errors(), [])

    def test_legend_hides_a_method_everywhere(self):
        self.open(self.finished(trained()))
        color = '#009E73'  # that of ddp, the first method
        for chart in ('loss-time', 'loss-steps', 'sync', 'shares'):
            self.assertGreater(self.page.pixels(chart, color), 20, chart)
        lanes = self.page.count('#lanes figure')
        self.page.click('#choices input')
        for chart in ('loss-time', 'loss-steps', 'sync', 'shares'):
            self.assertEqual(self.page.pixels(chart, color), 0, chart)
        self.assertEqual(self.page.count('#lanes figure'), lanes - 1)

    def test_keys_reach_everything_and_say_values(self):
        self.open(self.finished(trained()))
        reached = self.page.tab_through(200)
        for needed in ('a.skip', 'input', 'select', 'canvas', 'th button', 'summary'):
            self.assertTrue(any(self.page.run('return arguments[0].matches(arguments[1]);', one, needed) for one in reached), f'Tab never reaches {needed}')
        self.page.focus('#chart-loss-steps canvas')
        self.page.press('ARROW_RIGHT', 'ARROW_RIGHT')
        rows = mean_rows(self.finished(trained()), summary(self.finished(trained()))['cases'][0]['case'])
        said = self.page.value("document.querySelector('#chart-loss-steps .only-said').textContent")
        self.assertIn(f'inner steps: {rows[1]["step"]};', said)
        self.assertIn('diloco', said)

    def test_tables_sort_and_show_seeds(self):
        run = self.open(self.finished(trained()))
        first = [row.split('\t')[0].strip() for row in self.page.text('#results-table tbody').split('\n')]
        self.assertEqual(first, ['ddp', 'diloco', 'noloco'])
        self.assertIn('±', self.page.text('#results-table tbody'))
        self.page.choose('#results-table select', 'cases')
        self.assertEqual(self.page.count('#results-table tbody tr'), len(summary(run)['cases']))
        place = self.page.value("[...document.querySelectorAll('#results-table th button')].findIndex(one => one.textContent === 'Final loss')")
        self.page.run("document.querySelectorAll('#results-table th button')[arguments[0]].click();", place)
        losses = [float(row.split('\t')[place].split()[0]) for row in self.page.text('#results-table tbody').split('\n')]
        self.assertEqual(losses, sorted(losses))

    def test_every_look(self):
        self.expect_every_look(self.finished(trained()), 'finished')
        self.expect_every_look(self.finished(swept()), 'swept')

    def test_a_sweep_shows_claims_and_its_network(self):
        run = self.open(self.finished(swept()), 'swept')
        for claim in summary(run)['claims']:
            self.assertIn(claim['verdict'], self.page.text('#verdicts'))
        self.assertEqual(self.page.text('#claim .matrix thead th'), 'all_reduce \\ replicas')
        judged = sum(self.page.value('PICTURES[0].cells.flat().map(cell => cell[2] + cell[3] + cell[4])'))
        self.assertEqual(judged, 8)  # 2 replicas × 2 connections × 2 collectives
        ratios = sorted(sync_times(run, 'diloco (all_reduce = ring)', 8, connections)[0] / sync_times(run, 'noloco', 8, connections)[0]
                        for connections in (1, 8))
        shown = self.page.value('PICTURES[0].cells[PICTURES[0].rows.indexOf("ring")][PICTURES[0].columns.indexOf("8")]')[:2]
        for here, there in zip(ratios, shown):
            self.assertAlmostEqual(here, there, delta=1e-5 * here)
        self.assertIn('Bottleneck: ', self.page.text('#map h3'))
        self.assertEqual(self.page.count('#map .router'), 8)

    def test_the_sweep_chart_follows_the_choices(self):
        run = self.open(self.finished(swept()))
        self.page.choose('#sweep-chart select', 'sync_time_s.mean')
        lines = self.page.value('SWEEP.drawn.data.datasets.map(one => [one.label, one.data.map(point => [point.x, point.y])])')
        for label, points in lines:
            for replicas, seconds in points:
                known = sync_times(run, label, replicas, 1)
                self.assertEqual(len(known), 1)
                self.assertAlmostEqual(seconds, known[0], delta=1e-5 * seconds)
        self.assertEqual(self.page.value('SWEEP.drawn.options.plugins.thresholds.lines.map(line => line.value)'), [30])
        self.page.run("const boxes = document.querySelectorAll('#sweep-chart select'); boxes[1].value = 'network.tcp.connections'; boxes[1].dispatchEvent(new Event('change'));")
        self.assertEqual(self.page.value('SWEEP.drawn.options.scales.x.title.text'), 'network.tcp.connections')
        self.page.choose('#view select', '1')
        self.assertEqual(self.page.console_errors(), [])

    def test_lines_have_a_key_that_needs_no_colour_and_is_printed(self):
        self.open(self.finished(trained()))
        shown = self.page.value("""[...document.querySelectorAll('#chart-loss-time .key.lines > span')].map(one => [one.textContent,
            one.querySelector('line').getAttribute('stroke-dasharray') || '', one.querySelector('path').getAttribute('d')])""")
        self.assertEqual([name for name, _, _ in shown], ['ddp', 'diloco', 'noloco'])
        self.assertEqual(len({dash for _, dash, _ in shown}), 3)
        self.assertEqual(len({marker for _, _, marker in shown}), 3)
        drawn = self.page.run("""return CHARTS.find(one => one.id === 'loss-time').drawn.data.datasets.filter(one => one.hoverLabel === 'mean of the seeds')
            .map(one => [one.label, one.borderDash.join(' '), one.pointStyle]);""")
        self.assertEqual([[name, dash] for name, dash, _ in drawn], [[name, dash] for name, dash, _ in shown])
        self.page.emulate(media='print')
        self.assertEqual(self.page.value("getComputedStyle(document.querySelector('#choices')).display"), 'none')
        self.assertGreater(self.page.value("document.querySelector('#chart-loss-time .key.lines').getBoundingClientRect().height"), 8)

    def test_links_of_several_seeds_say_whose_they_are(self):
        self.open(self.finished(trained()))
        self.assertIn('Of seed 1, one of 2.', self.page.text('#links-table p.quiet'))
        self.open(self.finished(swept()))
        self.assertNotIn('Of seed', self.page.text('#links-table p.quiet'))

    def test_the_links_begin_with_the_bottleneck_that_the_map_names(self):
        self.open(self.finished(swept()))
        for method in self.page.value("[...document.querySelector('#links select').options].map(one => one.value)"):
            self.page.choose('#links select', method)
            first = self.page.run("const cells = document.querySelectorAll('#links-table .scroll tbody tr.bottleneck > *'); return [cells[0].firstChild.textContent, cells[1].textContent];")
            self.assertTrue(self.page.text('#map h3').startswith(f'Bottleneck: {first[0]}, {first[1]}'), first)
        rows = '#links-table .scroll tbody tr'
        self.assertEqual(self.page.count(rows), 12)
        self.page.click('#links-table input[type=checkbox]')
        used = self.page.value("DATA.cases[VIEWS[0].cases[2]].links.used")  # of the method that was chosen last
        self.assertGreater(used, 12)
        self.assertEqual(self.page.count(rows), used)

    def test_doublings_have_a_logarithmic_axis_and_many_lanes_are_folded(self):
        run = self.open(self.finished(doubled()), 'doubled')
        self.assertEqual(self.page.value('SWEEP.drawn.options.scales.x.type'), 'logarithmic')
        self.assertEqual(self.page.value('SWEEP.drawn.scales.x.ticks.map(one => one.value)'), [8, 16, 32, 64])
        views = self.page.texts('#view select option')
        self.page.choose('#view select', str(next(i for i, view in enumerate(views) if 'replicas = 64' in view)))
        lanes = "return document.querySelectorAll('#lanes svg[role=img]')[0].querySelectorAll('text[text-anchor=end]').length;"
        self.assertEqual(self.page.run(lanes), 32)
        self.page.run("[...document.querySelectorAll('#lanes .controls label')].find(one => one.textContent.includes('every lane')).querySelector('input').click();")
        self.assertEqual(self.page.run(lanes), 64)
        self.page.size(390, 844)
        self.open(run, 'doubled-narrow')
        self.assertEqual(self.page.console_errors(), [])

    def test_marks_and_units(self):
        self.open(self.finished(trained()))
        for script, value in {
                'logMarks(0.9, 60, 8, false)': [1, 2, 5, 10, 20, 50],
                'logMarks(0.9, 6000, 5, false)': [1, 10, 100, 1000],
                'logMarks(45, 8000, 8, true)': [60, 120, 300, 600, 1200, 3600, 7200],  # 1, 2, 5, 10, 20 min, 1, 2 h
                'logMarks(110, 190, 5, false)': [120, 140, 160, 180],
                'logMarks(110, 190, 5, true)': [120, 150, 180],
                'linearMarks(0, 100, 6, true)': [0, 30, 60, 90],
                'linearMarks(0, 10000, 5)': [0, 2000, 4000, 6000, 8000, 10000],
                '[60, 1200, 7200, 0.02].map(markDuration)': ['1 min', '20 min', '2 h', '20 ms'],
                '[[8, 16, 32], [10, 20, 30], [1, 100], [0, 1, 10]].map(isGeometric)': [True, False, True, False],
                'apart([1, 2, 3, 100], value => value, () => 10)': [3, 100]}.items():
            self.assertEqual(self.page.value(script), value, script)

    def test_an_interrupted_training(self):
        self.finished(trained())
        self.open(self.runs.interrupted_training(), 'interrupted')
        self.assertIn('did not finish', self.page.text('#notes'))
        self.expect_drawn(['loss-steps', 'spread'])
        self.assertTrue(self.page.chart('loss-steps')['datasets'][0]['data'])

    def test_an_interrupted_replay(self):
        self.finished(swept())
        self.open(self.runs.interrupted_replay(), 'interrupted-replay')
        self.assertIn('did not finish', self.page.text('#notes'))
        self.assertIn('sync', self.page.visible_charts())

    def test_two_runs_of_different_scenarios(self):
        both = self.finished(trained()).parent / 'both.html'
        self.runs.report(self.finished(trained()), self.finished(swept()), '-o', both)
        self.open(both, 'two-runs')
        views = self.page.texts('#view select option')
        self.assertTrue(any(view.startswith('trained') for view in views) and any(view.startswith('swept') for view in views))
        self.expect_drawn(['loss-time', 'loss-steps', 'sync', 'distribution', 'breakdown', 'shares', 'replicas', 'spread'])
        self.page.choose('#view select', str(len(views) - 1))
        self.assertNotIn('loss-time', self.page.visible_charts())
        self.assertIn('sync', self.page.visible_charts())
        self.assertEqual(self.page.console_errors(), [])

    def test_bad_directories_are_named_and_the_rest_is_shown(self):
        run = self.finished(swept())
        empty = run.parent / 'empty'
        empty.mkdir(exist_ok=True)
        out = run.parent / 'partly.html'
        self.assertIn(str(empty), self.runs.report(run, empty, '-o', out).stderr)
        self.open(out)
        self.assertRegex(self.page.text('#notes'), re.escape(str(empty)))
        self.assertIn('sync', self.page.visible_charts())


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
