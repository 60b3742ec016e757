"""A report in Debian's headless chromium: opening it, what it asked the network for, what it said on the console, pixels and pictures.

The browser resolves no name, so that a page which needs the network cannot pass by luck."""
import base64
import json
import os
import pathlib
import sys
import tempfile
import unittest

try:
    from selenium import webdriver
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.chrome.service import Service
except ImportError as missing:
    print(f'skipped: {missing} (Debian: python3-selenium)')
    sys.exit(77)

from runs import Runs

# How many pixels of a canvas have about the given colour.
COUNT_PIXELS = """
  const [id, red, green, blue] = arguments;
  const canvas = document.querySelector(`#chart-${id} canvas`);
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4)
    if (data[i + 3] > 200 && Math.abs(data[i] - red) + Math.abs(data[i + 1] - green) + Math.abs(data[i + 2] - blue) < 24) ++count;
  return count;
"""

# What a chart shows, as Chart.js holds it.
CHART_DATA = """
  const chart = CHARTS.find(one => one.id === arguments[0]);
  if (!chart || !chart.drawn) return null;
  const {data, scales} = chart.drawn;
  return {labels: data.labels || [], x: scales.x.type, y: scales.y.type, xTitle: scales.x.options.title.text,
          datasets: data.datasets.map(one => ({label: one.label, hover: one.hoverLabel || '',
                                               data: one.data.map(point => (point && typeof point === 'object' ? [point.x, point.y] : point))}))};
"""


class Page:
    """One browser; open() may be called again and again."""

    def __init__(self, chromium, chromedriver, pictures):
        options = webdriver.ChromeOptions()
        for argument in ('--headless=new', '--disable-gpu', '--hide-scrollbars', '--force-device-scale-factor=1',
                         '--disable-dev-shm-usage', '--disable-background-networking', '--disable-component-update',
                         '--host-resolver-rules=MAP * ~NOTFOUND'):
            options.add_argument(argument)
        if os.geteuid() == 0:
            options.add_argument('--no-sandbox')  # chromium refuses to run as root with it
        options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
        options.binary_location = chromium
        self.driver = webdriver.Chrome(service=Service(chromedriver), options=options)
        self.pictures = pathlib.Path(pictures)
        self.pictures.mkdir(parents=True, exist_ok=True)
        self.size(1280, 900)

    def size(self, width, height):
        self.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride',
                                    {'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': width < 600})

    def emulate(self, media='', scheme='light'):
        self.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {
            'media': media, 'features': [{'name': 'prefers-color-scheme', 'value': scheme}]})
        self.settle()

    def settle(self):
        """Until what the last change asked for is drawn: two frames."""
        self.driver.execute_async_script(
            'const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));')

    def open(self, file):
        for kind in ('browser', 'performance'):
            self.driver.get_log(kind)
        self.driver.get(pathlib.Path(file).resolve().as_uri())
        self.settle()

    def seconds_until_usable(self):
        """From the beginning of the navigation until everything is drawn and the page answers."""
        return self.driver.execute_async_script("""
            const done = arguments[0];
            requestAnimationFrame(() => setTimeout(() => done(performance.now() / 1000)));""")

    def console_errors(self):
        return [entry['message'] for entry in self.driver.get_log('browser') if entry['level'] in ('SEVERE', 'WARNING')]

    def requests(self):
        """The addresses of everything that was asked for, without the page itself and data in it."""
        messages = [json.loads(entry['message'])['message'] for entry in self.driver.get_log('performance')]
        urls = [message['params']['request']['url'] for message in messages
                if message['method'] == 'Network.requestWillBeSent']
        return [url for url in urls if not url.startswith(('file:', 'data:'))]

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def value(self, expression):
        return self.run(f'return {expression};')

    def count(self, selector):
        return self.run('return document.querySelectorAll(arguments[0]).length;', selector)

    def texts(self, selector):
        return self.run('return [...document.querySelectorAll(arguments[0])].map(one => one.textContent);', selector)

    def visible_charts(self):
        return self.value('CHARTS.filter(one => one.drawn).map(one => one.id)')

    def chart(self, name):
        return self.run(CHART_DATA, name)

    def pixels(self, name, color):
        return self.run(COUNT_PIXELS, name, *bytes.fromhex(color[1:]))

    def text(self, selector):
        return self.run('const found = document.querySelector(arguments[0]); return found ? found.innerText : null;', selector)

    def choose(self, selector, value):
        """As a user does: changes a select box."""
        self.run("""const box = document.querySelector(arguments[0]); box.value = arguments[1];
                    box.dispatchEvent(new Event('change', {bubbles: true}));""", selector, value)
        self.settle()

    def click(self, selector):
        self.run('document.querySelector(arguments[0]).click();', selector)
        self.settle()

    def focus(self, selector):
        self.run('document.querySelector(arguments[0]).focus();', selector)
        self.settle()

    def press(self, *keys):
        for key in keys:
            ActionChains(self.driver).send_keys(getattr(Keys, key)).perform()
        self.settle()

    def keys(self, *texts):
        """Typed where the focus is; a word in capitals is a key."""
        for text in texts:
            ActionChains(self.driver).send_keys(getattr(Keys, text) if text.isupper() else text).perform()
        self.settle()

    def tab_through(self, most):
        """What has the focus one after another, from the top of the page until it comes round."""
        reached = []
        self.run('document.activeElement.blur(); scrollTo(0, 0);')
        for _ in range(most):
            ActionChains(self.driver).send_keys(Keys.TAB).perform()
            element = self.run('return document.activeElement === document.body ? null : document.activeElement;')
            if element is None or element in reached:
                break
            reached.append(element)
        return reached

    def picture(self, name, full=True):
        """The whole page, or what is in sight, as a PNG in the folder of pictures."""
        shot = self.driver.execute_cdp_cmd('Page.captureScreenshot', {'format': 'png', 'captureBeyondViewport': full})
        (self.pictures / f'{name}.png').write_bytes(base64.b64decode(shot['data']))

    def print(self, name):
        pdf = self.driver.execute_cdp_cmd('Page.printToPDF', {'printBackground': True, 'paperWidth': 8.27, 'paperHeight': 11.69})
        data = base64.b64decode(pdf['data'])
        (self.pictures / f'{name}.pdf').write_bytes(data)
        return data


class PageTest(unittest.TestCase):
    """One browser and one folder for all tests of a class, each of which begins at 1280 pixels in the light.

    The programs are those of the command line: LONGHAUL CHROMIUM CHROMEDRIVER PICTURES."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix='longhaul-browser-')
        cls.addClassCleanup(cls.folder.cleanup)
        cls.page = Page(*sys.argv[2:5])
        cls.addClassCleanup(cls.page.driver.quit)

    def setUp(self):
        self.page.size(1280, 900)
        self.page.emulate()

    def expect_quiet(self):
        """It has asked for nothing and complained about nothing."""
        self.assertEqual(self.page.console_errors(), [])
        self.assertEqual(self.page.requests(), [])

    def expect_no_scrolling(self):
        # Not innerWidth, which grows with a page that is too wide on a telephone.
        self.assertFalse(self.page.value('document.body.scrollWidth > document.documentElement.clientWidth'),
                         'the page scrolls sideways')

    def open(self, file, name=None):
        """Opens a page, or the report of a run; returns `file`."""
        self.page.open(file / 'report.html' if file.is_dir() else file)
        self.expect_quiet()
        self.expect_no_scrolling()
        if name:
            self.page.picture(name)
        return file

    def expect_every_look(self, file, name):
        self.open(file, f'{name}-light')
        color = 'getComputedStyle(document.body).backgroundColor'
        light = self.page.value(color)
        self.page.emulate(scheme='dark')
        self.assertNotEqual(light, self.page.value(color))
        self.page.picture(f'{name}-dark')
        self.page.emulate()
        self.page.size(390, 844)
        self.open(file, f'{name}-narrow')
        self.page.size(1280, 900)
        self.open(file)
        printed = self.page.print(f'{name}-print')
        self.assertTrue(printed.startswith(b'%PDF') and len(printed) > 10000)
        self.expect_quiet()


class ReportPage(PageTest):
    """The same with runs, each made once, and their reports."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.runs = Runs(sys.argv[1], cls.folder.name)
        cls.made = {}

    def finished(self, scenario):
        if not self.runs.simulates or ('train' in scenario and not self.runs.trains):
            self.skipTest('longhaul-sim or longhaul-train is not built')
        if scenario['name'] not in self.made:
            self.made[scenario['name']] = self.runs.finished(scenario)
        return self.made[scenario['name']]
