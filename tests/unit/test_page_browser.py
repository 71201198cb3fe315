# SPDX-License-Identifier: MIT
"""The page of `./p5lab report` in a real browser, Debian's chromium without a window. The page
loads from a file without errors and without requests to hosts. The charts of the page have the
right colours on a desktop and on a phone, in light and in dark mode.
"""

import json
import shutil

import debian
import fakelab
import pytest
import test_profile
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from p5lab.cli import main as cli

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
PACKAGES = ("chromium", "chromium-driver")
PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}  # page.css
OVERFLOW = """
    const wide = document.documentElement.clientWidth;
    return [...document.querySelectorAll("h1, p, svg, figure, summary, .scroll")]
      .filter(one => one.getBoundingClientRect().right > wide + 0.5).length;
"""
SMALLEST = """
    const boxes = [...document.querySelectorAll("svg")].map(one => one.getBoundingClientRect());
    return [boxes.length, Math.min(...boxes.map(one => one.width)),
            Math.min(...boxes.map(one => one.height))];
"""
# The sizes of the charts' letters on the screen.
LETTERS = """
    return Math.min(...[...document.querySelectorAll("svg")].map(one =>
      12 * one.getBoundingClientRect().width / one.viewBox.baseVal.width));
"""
# The texts of the first column of numbers in the first table, and their right edges.
RATIOS = """
    return [...document.querySelectorAll("#summary tbody tr")].map(row => {
      const cell = row.querySelector("td");
      return [cell.textContent, cell.getBoundingClientRect().right];
    });
"""
# The smallest distance from a number to the right edge of its table, in pixels.
EDGES = """
    return Math.min(...[...document.querySelectorAll("td.number:last-child")].map(one =>
      parseFloat(getComputedStyle(one).paddingRight)));
"""


@pytest.fixture(scope="session")
def chromedriver():
    """Returns the path of Debian's driver. Installs the driver and the browser if possible."""
    return debian.program("chromedriver", "chromium", packages=PACKAGES)


@pytest.fixture(scope="module")
def browser(chromedriver):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    # The browser runs without its sandbox, because the sandbox does not work for root. It runs
    # without /dev/shm, because /dev/shm is small in containers.
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(chromedriver))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(hostile_page):
    return hostile_page[1].as_uri()


@pytest.fixture(scope="module")
def plain_address(tmp_path_factory):
    """Returns the address of a page about two systems with short names."""
    lab = fakelab.make(tmp_path_factory.mktemp("plain") / "lab")
    lab.run_two_guests("toy-server", 479_000)
    both = ("--guest", "toy", "--guest", "toy-server")
    assert cli.main(["report", "tests", *both], lab) == 0
    return (lab.results / "tests.html").as_uri()


def requested(browser):
    """Returns the addresses that the browser has requested since the last call."""
    messages = (json.loads(entry["message"])["message"] for entry in browser.get_log("performance"))
    return [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]


def opened(browser, address, size, scheme):
    """Opens a page in a window of this size, without the messages of the page before."""
    width, height = SIZES[size]
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(address)


@pytest.mark.parametrize("scheme", PAPER)
@pytest.mark.parametrize("size", SIZES)
def test_page(browser, address, size, scheme):
    width, height = SIZES[size]
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"},
    )
    requested(browser)
    browser.get_log("browser")
    browser.get(address)

    # No script ran. The browser requested only the file and its empty icon. There was no error
    # message.
    assert browser.title.startswith("tests: ")
    assert "hacked" in browser.title  # as whole text
    assert browser.title.endswith("(p5lab)")
    assert set(requested(browser)) <= {address, "data:,"}
    assert browser.get_log("browser") == []

    count, narrowest, lowest = browser.execute_script(SMALLEST)
    assert count > 5
    assert narrowest > 300
    assert lowest > 30
    assert browser.execute_script(LETTERS) > 11.5
    # The page is not wider than the window. Wide tables scroll in their own boxes.
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(OVERFLOW) == 0

    style = "return getComputedStyle(document.{}).{}"
    assert browser.execute_script(style.format("body", "backgroundColor")) == PAPER[scheme]
    ink = browser.execute_script(style.format("body", "color"))
    label = browser.execute_script(style.format("querySelector('svg text[fill*=ink]')", "fill"))
    assert label == ink


def test_a_phone_shows_the_ratios_of_all_benchmarks(browser, plain_address):
    """The ratios are the message of the page. The other columns of the table may scroll."""
    width, height = SIZES["phone"]
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": True},
    )
    browser.get(plain_address)
    shown = browser.execute_script(RATIOS)
    assert [text for text, _ in shown] == ["4,355.5", "1.00"]
    assert max(right for _, right in shown) < width
    assert browser.execute_script(EDGES) >= 5


def test_a_closed_table_opens(browser, address):
    browser.get(address)
    opened = browser.execute_script(
        "const one = document.querySelector('figure details');"
        "const before = one.getBoundingClientRect().height; one.open = true;"
        "return [before, one.getBoundingClientRect().height]"
    )
    assert opened[1] > opened[0] + 50


@pytest.fixture(scope="module")
def profile_address(tmp_path_factory):
    """Returns the address of a page of `profile`."""
    lab = fakelab.make(tmp_path_factory.mktemp("profile") / "lab")
    lab.behave()
    assert cli.main(["run", "tests", "--no-build", "--workload", "call"], lab) == 0
    (directory,) = (path.parent for path in lab.results.glob("tests/*/run.json"))
    fakelab.written(directory / "attribution.jsonl", test_profile.lines(test_profile.STACKS))
    page = lab.root / "profile.html"
    assert cli.main(["profile", directory.name, "--output", str(page)], lab) == 0
    return page.as_uri()


@pytest.mark.parametrize("scheme", PAPER)
@pytest.mark.parametrize("size", SIZES)
def test_the_page_of_a_profile_is_used_without_a_mouse(browser, profile_address, size, scheme):
    opened(browser, profile_address, size, scheme)
    assert {url for url in requested(browser) if not url.startswith("data:")} == {profile_address}
    assert browser.get_log("browser") == []
    assert browser.execute_script(OVERFLOW) == 0
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert paper == PAPER[scheme]

    def status():
        return browser.find_element(By.ID, "status").text

    def press(*keys):
        for key in keys:
            browser.switch_to.active_element.send_keys(key)
        return status()

    browser.find_element(By.CSS_SELECTOR, "#icicle [tabindex='0']").send_keys(Keys.ARROW_DOWN)
    assert status().startswith("main ")
    # Three brackets: 161 cycles below sys_dup, without those of main and (idle).
    assert "52.3 total, 33.3 self" in press(Keys.ARROW_DOWN)
    assert press(Keys.ARROW_RIGHT).startswith("(idle) ")
    assert press(Keys.ARROW_LEFT, Keys.ARROW_DOWN, Keys.ENTER).startswith("memcpy ")
    assert "2 bars match dup" in press("/", "dup")
    assert press(Keys.ESCAPE).startswith("all ")
    rows = browser.find_elements(By.CSS_SELECTOR, "#rows tr")
    assert [row.text.split()[0] for row in rows] == ["sys_dup", "memcpy", "main", "(idle)"]


@pytest.fixture(scope="module")
def explore_address(results_by_size, tmp_path_factory):
    """Returns the address of a page of `report --explore` about two systems."""
    lab = fakelab.make(tmp_path_factory.mktemp("explore") / "lab")
    shutil.copytree(results_by_size, lab.results, dirs_exist_ok=True)
    # The ids, and so their order, depend on the place of the checkout.
    records = [json.loads(path.read_text()) for path in lab.results.glob("tests/*/run.json")]
    runs = [one["run"] for one in records if "l2.size=64K" not in one["label"]]
    assert len(runs) == 4  # two benchmarks, each on both systems
    page = lab.root / "explore.html"
    assert cli.main(["report", *runs, "--explore", "--output", str(page)], lab) == 0
    return page.as_uri()


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_a_choice_changes_the_figure_and_its_python_line(browser, explore_address, size, scheme):
    opened(browser, explore_address, size, scheme)
    WebDriverWait(browser, 30).until(lambda one: one.find_elements(By.CSS_SELECTOR, "svg[role]"))
    assert {url for url in requested(browser) if not url.startswith("data:")} == {explore_address}
    assert browser.get_log("browser") == []
    assert browser.execute_script(OVERFLOW) == 0

    def line():
        return browser.find_element(By.ID, "line").text

    assert line().startswith("p5lab.plot(p5lab.by(['") and "kind" not in line()
    before = browser.find_element(By.CSS_SELECTOR, "#figure svg").get_attribute("aria-label")
    browser.find_element(By.ID, "dimension").send_keys("space")
    browser.find_element(By.ID, "kind").send_keys("difference")
    assert "'space'" in line() and line().endswith(', kind="difference")')
    WebDriverWait(browser, 30).until(
        lambda one: (
            one.find_element(By.CSS_SELECTOR, "#figure svg").get_attribute("aria-label")
            not in (None, before)
        )
    )
