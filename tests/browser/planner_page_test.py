"""The planner's page in Debian's chromium, opened from the disk: a form, an answer equal to that of `longhaul plan`, what may be
changed, and what is wrong; pictures at 1280 and 390 pixels and in the dark.

usage: planner_page_test.py LONGHAUL CHROMIUM CHROMEDRIVER PICTURES PAGE   (status 77: something is missing here)
PAGE: what `make planner-page` has made
"""
import base64
import json
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

from page import PageTest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TABLE = 'measured-on-the-page.csv'  # of the page's own table
SIMPLE = {'parameters': 100000000, 'step_time': '1s', 'tokens': 1000000000, 'tokens_per_step': 32768,
          'sites': [{'name': 'Oslo', 'nodes': 2, 'rate': '1Gbps', 'latitude': 59.91, 'longitude': 10.75},
                    {'name': 'Paris', 'nodes': 2, 'rate': '2Gbps', 'latitude': 48.86, 'longitude': 2.35}],
          'candidates': {'methods': ['diloco'], 'inner_steps': [100], 'all_reduce': ['ring'], 'connections': [8], 'rank_orders': ['blocks']}}


class PlannerPage(PageTest):
    @classmethod
    def setUpClass(cls):
        if not pathlib.Path(sys.argv[5]).exists():
            print(f'skipped: there is no {sys.argv[5]} (make planner-page)')
            sys.exit(77)
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.addCleanup(self.expect_quiet)

    def expect_quiet(self):
        """It has asked for nothing but its own worker, and complained about nothing."""
        self.assertEqual(self.page.console_errors(), [])
        self.assertEqual([url for url in self.page.requests() if not url.startswith('blob:')], [])

    def open(self, plan=None, files=None):
        address = pathlib.Path(sys.argv[5]).resolve().as_uri()
        if plan is not None:
            packed = {name: base64.b64encode(content.encode()).decode() for name, content in (files or {}).items()}
            text = json.dumps({'name': 'drawn', 'plan': plan, 'files': packed})
            address += '#plan=' + base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')
        self.page.driver.get('about:blank')
        for kind in ('browser', 'performance'):
            self.page.driver.get_log(kind)
        self.page.driver.get(address)
        self.wait('lists.models.length > 0')

    def wait(self, condition, most_s=120):
        end = time.monotonic() + most_s
        while not self.page.value(condition):
            self.assertLess(time.monotonic(), end, condition)
            time.sleep(0.1)
        self.page.settle()

    def plan(self):
        self.page.click('#plan')
        self.wait("place('stop').hidden")

    def answer(self):
        return self.page.value('answer')

    def change(self, label, value):
        """As a user does, in the field of that label."""
        self.page.run("""const box = [...document.querySelectorAll('#form input')].find(
              one => one.ariaLabel === arguments[0] || (one.parentNode.firstChild.textContent === arguments[0]));
            box.value = arguments[1];
            box.dispatchEvent(new Event('change', {bubbles: true}));""", label, value)

    def native(self, plan, *files):
        folder = pathlib.Path(self.folder.name) / self.id().rsplit('.', maxsplit=1)[-1]
        folder.mkdir()
        (folder / 'drawn.json').write_text(json.dumps(plan))
        for name, text in files:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        subprocess.run([sys.argv[1], 'plan', folder / 'drawn.json', '-o', folder / 'out', '--quiet'], check=True, capture_output=True, timeout=300)
        return folder / 'out'

    def expect_answer_of(self, out):
        answer = self.answer()
        self.assertEqual(sorted(answer), sorted(file.name for file in out.iterdir()))
        for name in ('plan.json', 'scenario.json', 'launch.sh'):
            self.assertEqual(answer[name], (out / name).read_text(), name)

    def test_answers_as_the_command_does(self):
        plan = json.loads((SOURCE / 'scenarios/plans/sites.json').read_text())
        self.open(plan)
        self.plan()
        self.assertEqual(self.page.text('#error'), '')
        self.expect_answer_of(self.native(plan))
        inside = "document.getElementById('page').contentDocument"
        self.wait(f"!!{inside} && !!{inside}.querySelector('#decision')")
        self.assertEqual(self.page.value(f"{inside}.querySelector('#decision').textContent"), json.loads(self.answer()['plan.json'])['decision'])
        self.wait(f"{inside}.documentElement.scrollHeight <= document.getElementById('page').clientHeight + 1")
        drawn = f"""(canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.filter(value => value > 0).length)(
            {inside}.querySelector('#chart'))"""
        self.wait(f'{drawn} > 1000')
        self.expect_no_scrolling()
        self.page.picture('planner-light')
        height = self.page.value("document.getElementById('page').clientHeight")
        time.sleep(0.5)
        self.assertEqual(self.page.value("document.getElementById('page').clientHeight"), height, 'the answer grows by itself')
        self.page.emulate(scheme='dark')
        self.page.picture('planner-dark')
        self.page.emulate()
        self.page.size(390, 844)
        self.page.settle()
        time.sleep(0.5)
        self.expect_no_scrolling()
        self.page.picture('planner-narrow')

    def test_fields_change_the_plan_file_and_back(self):
        self.open(SIMPLE)
        self.change('Tokens', '2T')
        self.change('Price an hour', '2.5')
        self.change('Up of Oslo', '500Mbps')
        self.change('Round trip between Oslo and Paris', '33ms')
        self.change('Name of Paris', 'Lyon')
        self.change('One connection, Mb/s between Oslo and Lyon', '740')
        request = json.loads(self.page.value("place('text').value"))
        self.assertEqual(request['tokens'], 2000000000000)
        self.assertEqual(request['accelerator'], {'price': 2.5})
        self.assertEqual(request['sites'][0], {'name': 'Oslo', 'nodes': 2, 'up': '500Mbps', 'down': '1Gbps', 'latitude': 59.91, 'longitude': 10.75})
        self.assertEqual(request['paths'], [{'between': ['Oslo', 'Lyon'], 'rtt': '33ms'}])
        self.assertEqual(request['measurements'], [TABLE])
        self.assertEqual(request['candidates'], SIMPLE['candidates'])
        self.assertEqual(self.page.value("new TextDecoder().decode(state.files[MEASURED_TABLE])"), 'from,to,rate_mbps,streams\nOslo,Lyon,740,1\n')
        self.page.run("""place('text').value = JSON.stringify({...state.request, tokens: 5e9});
                         place('text').dispatchEvent(new Event('change'));""")
        self.assertEqual(self.page.value("FIELDS.map(spec => get(state.request, spec.path))[2]"), 5000000000)
        self.page.run("place('whole').open = true; place('text').value = '{'; place('text').dispatchEvent(new Event('change'));")
        self.assertIn('This is no plan file', self.page.text('#whole'))
        self.page.click('#plan')
        self.assertIn('This is no plan file', self.page.text('#error'))
        self.assertTrue(self.page.value("place('stop').hidden"), 'it plans what the text does not say')

    def test_measurements_are_read(self):
        plan = {**SIMPLE, 'measurements': [TABLE, 'oslo-paris.txt']}
        table = 'from,to,rate_mbps,streams\nOslo,Paris,740,1\nOslo,Paris,1900,8\n'
        ping = ('PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=25.1 ms\n\n'
                '--- 10.0.0.2 ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\n'
                'rtt min/avg/max/mdev = 25.100/25.100/25.100/0.000 ms\n')
        self.open(plan, {TABLE: table, 'oslo-paris.txt': ping})
        self.assertEqual(self.page.value('state.measured'), {'["Oslo","Paris"]': {'one': '740', 'many': '1900', 'streams': '8'}})
        self.plan()
        self.assertEqual(self.page.text('#error'), '')
        self.expect_answer_of(self.native(plan, (TABLE, table), ('oslo-paris.txt', ping)))

    def test_files_of_a_plan_that_names_a_folder(self):
        file = SOURCE / 'scenarios/plans/iperf3.json'
        plan = json.loads(file.read_text())
        plan['candidates'] = {'methods': ['diloco'], 'inner_steps': [500], 'all_reduce': ['ring'], 'connections': [8]}
        self.open(plan)
        self.assertIn('iperf3/paris-frankfurt.iperf3', self.page.text('#error'))
        given = [file.parent / name for name in plan['measurements']]
        self.page.driver.find_element('id', 'measurements').send_keys('\n'.join(map(str, given)))
        self.wait('Object.keys(state.files).length === 8')
        self.assertEqual(self.page.value('state.request'), plan)
        self.plan()
        self.assertEqual(self.page.text('#error'), '')
        out = self.native(plan, *((name, (file.parent / name).read_text()) for name in plan['measurements']))
        self.expect_answer_of(out)

    def test_measurements_follow_their_sites(self):
        self.open(SIMPLE)
        self.change('One connection, Mb/s between Oslo and Paris', '740')
        table = lambda: self.page.value('new TextDecoder().decode(state.files[MEASURED_TABLE])').splitlines()[1:]
        self.page.run("""place('text').value = JSON.stringify({...state.request, sites: [...state.request.sites].reverse()});
                         place('text').dispatchEvent(new Event('change'));""")
        self.assertEqual(table(), ['Paris,Oslo,740,1'])
        for before, name in (('Oslo', 'a|b'), ('Paris', 'c'), ('a|b', 'x')):
            self.change(f'Name of {before}', name)
        self.assertEqual(table(), ['c,x,740,1'])
        self.change('Name of x', 'c')
        self.assertIn('There is a site c already', self.page.text('#error'))
        self.assertEqual(table(), ['c,x,740,1'])
        # Another plan has none of it.
        other = pathlib.Path(self.folder.name) / 'other.json'
        other.write_text(json.dumps(SIMPLE))
        self.page.driver.find_element('id', 'open').send_keys(str(other))
        self.wait("state.name === 'other'")
        self.assertEqual(self.page.value('state.request'), SIMPLE)
        self.assertEqual(self.page.value('Object.keys(state.files)'), [])

    def test_a_table_of_ones_own_stays(self):
        folder = pathlib.Path(self.folder.name) / 'own'
        folder.mkdir()
        (folder / 'links.csv').write_bytes('from,to,rate_mbps,rtt_ms\nOslo,Paris,100,35\n'.encode('utf-16'))
        self.open(SIMPLE)
        self.page.driver.find_element('id', 'measurements').send_keys(str(folder / 'links.csv'))
        self.wait("'links.csv' in state.files")
        self.assertEqual(self.page.value('state.request.measurements'), ['links.csv'])
        self.page.click('#link')
        self.plan()
        self.assertEqual(self.page.text('#error'), '')
        address = self.page.value('location.href')
        self.page.driver.get('about:blank')
        self.page.driver.get(address)
        self.wait('lists.models.length > 0')
        self.plan()
        self.assertEqual(self.page.text('#error'), '')

    def test_files_in_other_folders_and_of_a_pattern(self):
        plan = json.loads((SOURCE / 'scenarios/plans/abilene.json').read_text())
        plan['candidates'] = {'methods': ['diloco'], 'inner_steps': [500], 'all_reduce': ['ring'], 'connections': [8], 'rank_orders': ['blocks']}
        self.open(plan)
        self.page.driver.find_element('id', 'others').send_keys(str(SOURCE / 'scenarios/networks/abilene.graphml'))
        self.wait("'../networks/abilene.graphml' in state.files")
        self.plan()
        self.assertEqual(self.page.text('#error'), '')
        self.assertTrue(self.page.value("place('if-rate').disabled"), 'the rates stand in the graph')
        for named, path in (('iperf/*.csv', 'iperf/table.csv'), ('iperf', 'iperf/table.csv')):
            self.open({**SIMPLE, 'measurements': named})
            self.assertIn(named, self.page.text('#error'))
            table = pathlib.Path(self.folder.name) / 'table.csv'
            table.write_text('from,to,rate_mbps,rtt_ms\nOslo,Paris,100,35\n')
            self.page.driver.find_element('id', 'measurements').send_keys(str(table))
            self.wait('Object.keys(state.files).length === 1')
            self.assertEqual(self.page.value('Object.keys(state.files)'), [path])
            self.assertEqual(self.page.value('state.request.measurements'), named)
            self.plan()
            self.assertEqual(self.page.text('#error'), '')

    def test_numbers_as_people_write_them(self):
        for text, count, other in (('65,536', 65536, '65,536'), ('0,050', '0,050', '0,050'), ('1.5B', 1500000000, 1500000000), ('2e12', 2e12, 2e12),
                                   ('1,5', '1,5', '1,5'), ('1e400', '1e400', '1e400'), ('.5', 0.5, 0.5), ('', None, None), ('ten', 'ten', 'ten')):
            self.open(SIMPLE) if text == '65,536' else None
            self.assertEqual(self.page.value(f'[numberOf({json.dumps(text)}, true) ?? null, numberOf({json.dumps(text)}) ?? null]'), [count, other], text)

    def test_by_the_keyboard(self):
        self.open(SIMPLE)
        focused = lambda: self.page.value("document.activeElement.closest('label') && document.activeElement.closest('label').firstChild.textContent")
        self.page.run("[...document.querySelectorAll('#fields label')].find(one => one.firstChild.textContent === 'Tokens').querySelector('input').select();")
        keys = self.page.keys
        keys('2000000000', 'TAB')
        self.assertEqual(focused(), 'Tokens a step')
        keys('65536', 'ENTER')
        self.wait("place('stop').hidden && answer")
        self.assertEqual(self.page.value("[JSON.parse(answer['plan.json']).plan.tokens, JSON.parse(answer['plan.json']).plan.tokens_per_step]"), [2000000000, 65536])
        # A click right after typing is not lost.
        self.change('Budget', '5')
        self.page.run("[...document.querySelectorAll('#fields label')].find(one => one.firstChild.textContent === 'Budget').querySelector('input').select();")
        keys('7000')
        self.page.driver.find_element('css selector', '[aria-label="Remove Paris"]').click()
        self.assertEqual(self.page.value('[state.request.budget, state.request.sites.length]'), [7000, 1])
        self.page.click('#add-site')
        self.page.click('#add-site')
        self.assertEqual(self.page.value('state.request.sites.map(site => site.name)'), ['Oslo', 'Site 2', 'Site 3'])

    def test_a_plan_of_other_kinds_of_values(self):
        self.open({'sites': [None, 5, {'name': 'Oslo', 'nodes': 2}], 'paths': [None, {'between': 3}], 'faults': 7, 'egress': {'sites': 3}, 'measurements': 4})
        self.assertEqual(self.page.value("document.querySelectorAll('#sites tbody tr').length"), 1)
        self.change('Name of Oslo', 'Bergen')
        self.plan()
        self.assertIn('drawn.json', self.page.text('#error'))
        for fragment in ('eyJhIjoxfQ', '!!!!'):
            self.page.run("location.hash = '#plan=' + arguments[0];", fragment)
            self.wait("place('error').textContent.includes('has no plan')")
            self.assertEqual(self.page.value('state.request.sites.length'), 3, 'the plan is lost')

    def test_what_if(self):
        self.open({**SIMPLE, 'accelerator': {'name': 'H100', 'price': 2}, 'egress': 0.1})
        self.plan()
        first = json.loads(self.answer()['plan.json'])
        for slider, value in (('if-rate', -2), ('if-price', 2), ('if-inner', 6)):
            self.page.run("""place(arguments[0]).value = arguments[1]; place(arguments[0]).dispatchEvent(new Event('input'));
                             place(arguments[0]).dispatchEvent(new Event('change'));""", slider, value)
            self.wait("place('stop').hidden")
        changed = json.loads(self.answer()['plan.json'])['plan']
        self.assertEqual([site['rate'] for site in changed['sites']], ['0.25Gbps', '0.5Gbps'])
        self.assertEqual((changed['accelerator']['price'], changed['egress'], changed['candidates']['inner_steps']), (4, 0.2, [50]))
        self.page.click('#if-reset')
        self.wait("place('stop').hidden")
        self.assertEqual(json.loads(self.answer()['plan.json']), first)

    def test_what_if_acts_or_is_off(self):
        of_network = {key: value for key, value in SIMPLE.items() if key not in ('sites', 'paths')}
        of_network['nodes'] = 4
        for topology, rates in (({'homes': {'up': {'median': '20Mbps'}}}, '40Mbps'), ({'homes': {}}, None)):
            self.open({**of_network, 'network': {'topology': topology}})
            self.assertEqual(self.page.value("place('if-rate').disabled"), rates is None)
            changed = self.page.value("whatIf(state.request, {inner: 0, rate: 2, price: 1})")
            self.assertEqual(changed['network']['topology']['homes'].get('up', {}).get('median'), rates)
        self.open({**SIMPLE, 'candidates': {'methods': [{'name': 'diloco', 'inner_steps': 200}]}})
        changed = self.page.value("whatIf(state.request, {inner: 2000, rate: 1, price: 1})")
        self.assertEqual(changed['candidates'], {'methods': [{'name': 'diloco'}], 'inner_steps': [2000]})

    def test_sites_take_the_place_of_a_network_in_sight(self):
        of_network = {key: value for key, value in SIMPLE.items() if key not in ('sites', 'paths')}
        self.open({**of_network, 'nodes': 8, 'network': {'topology': {'star': {'rate': '1Gbps', 'rtt': '50ms'}}}})
        self.page.click('#add-site')
        self.assertFalse(self.page.value("place('network-replaced').hidden"))
        self.assertEqual(self.page.value("[state.request.network, state.request.nodes, state.request.sites.length]"), [None, None, 1])
        self.page.click('#add-site')
        self.assertTrue(self.page.value("place('network-replaced').hidden"))

    def test_says_what_is_wrong_as_the_command_does(self):
        wrong = {**SIMPLE, 'sites': [{**SIMPLE['sites'][0], 'rate': '1 parsec'}, SIMPLE['sites'][1]]}
        self.open(wrong)
        self.plan()
        said = self.page.text('#error')
        for words in ('drawn.json', 'sites[0].rate', 'parsec'):
            self.assertIn(words, said)
        self.assertTrue(self.page.value("place('answer').hidden"))

    def test_a_search_can_be_stopped(self):
        self.open({**SIMPLE, 'parameters': 10000000000, 'candidates': {}})
        self.page.click('#plan')
        self.wait("place('progress').textContent.includes(' of ')")
        self.page.click('#stop')
        self.assertIn('Stopped', self.page.text('#progress'))
        self.assertFalse(self.page.value("place('plan').disabled"))

    def test_the_page_of_the_command_links_here(self):
        folder = pathlib.Path(self.folder.name) / 'a folder'
        folder.mkdir()
        for file in (sys.argv[1], sys.argv[5]):
            shutil.copy(file, folder / ('longhaul-planner.html' if file.endswith('.html') else 'longhaul'))
        (folder / 'simple.json').write_text(json.dumps(SIMPLE))
        subprocess.run([folder / 'longhaul', 'plan', folder / 'simple.json', '-o', folder / 'out', '--quiet'], check=True, capture_output=True, timeout=300)
        self.page.driver.get((folder / 'out/plan.html').as_uri())
        self.assertIn('Change this plan', self.page.text('#change'))
        self.page.click('#planner')
        self.wait("typeof state === 'object' && lists.models.length > 0")
        self.assertEqual(self.page.value('[state.name, state.request]'), ['simple', SIMPLE])

    def test_a_link_has_the_whole_plan(self):
        self.open(SIMPLE)
        self.page.click('#link')
        address = self.page.value('location.href')
        self.page.driver.get('about:blank')
        self.page.driver.get(address)
        self.wait('lists.models.length > 0')
        self.assertEqual(self.page.value('state.request'), SIMPLE)
        self.assertEqual(self.page.value('state.name'), 'drawn')


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
