# SPDX-License-Identifier: MIT
"""Every notebook with a stored sample in JupyterLab, in a real browser without a window: a user
opens the printed address, runs all cells from the menu and saves. The server is the one of
`./p5lab notebook`. The notebooks are copies, because saving writes the file.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import debian
import pytest
from fakelab import REPO
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

pytest.importorskip("jupyterlab", reason="no JupyterLab: ./p5lab notebook --install")
pytestmark = pytest.mark.full  # each notebook takes 20 seconds on a quiet host
PACKAGES = ("chromium", "chromium-driver")
NOTEBOOKS = sorted(
    path.stem
    for path in (REPO / "notebooks").glob("*.ipynb")
    # The others make runs: tests/e2e/test_lab.py.
    if path.stem != "compare" and not path.stem.startswith("lab")
)
SECONDS = 300  # for one step; a busy host is slow


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """Returns a directory of P5LAB_PATH with copies of the notebooks and their samples. Their names
    differ from the checkout's, because each name exists once."""
    place = tmp_path_factory.mktemp("mine")
    shutil.copytree(REPO / "notebooks/samples", place / "notebooks/samples")
    for name in NOTEBOOKS:
        shutil.copy(REPO / f"notebooks/{name}.ipynb", place / f"notebooks/my-{name}.ipynb")
    return place


@pytest.fixture(scope="module")
def address(mine, tmp_path_factory):
    """Starts the command and returns the address with the token that it prints."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = tmp_path_factory.mktemp("home")
    log = home / "server.log"
    command = [sys.executable, "-m", "p5lab", "notebook", f"my-{NOTEBOOKS[0]}"]
    with log.open("w") as file:
        process = subprocess.Popen(
            [*command, "--no-browser", "--port", str(port)],
            env={**os.environ, "P5LAB_PATH": str(mine), "HOME": str(home)},
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    try:
        end = time.monotonic() + SECONDS
        pattern = rf"http://127\.0\.0\.1:{port}/lab\S*token=\w+"
        while not (found := re.search(pattern, log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.2)
        yield found[0]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=SECONDS)


@pytest.fixture(scope="module")
def browser():
    chromedriver = debian.program("chromedriver", "chromium", packages=PACKAGES)
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in (
        "--headless=new",
        "--no-sandbox",  # the sandbox does not work for root
        "--disable-dev-shm-usage",
        "--window-size=1280,1000",
    ):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=Service(chromedriver))
    yield driver
    driver.quit()


def click(browser, menu, item):
    """Clicks an item of a menu. While JupyterLab starts, a picture covers the menus, and the
    function tries again. On a busy host, JupyterLab sometimes asks for the kernel, because it opens
    the notebook before it has the list of kernels; the function accepts its proposal. Any other
    dialog fails the test."""
    paths = [
        f"//div[contains(@class, 'lm-{kind}-itemLabel') and normalize-space(.)='{name}']"
        for kind, name in (("MenuBar", menu), ("Menu", item))
    ]

    def clicked(it):
        for dialog in it.find_elements(By.CSS_SELECTOR, ".jp-Dialog"):
            assert "Select Kernel" in dialog.text, dialog.text
            dialog.find_element(By.CSS_SELECTOR, ".jp-Dialog-button.jp-mod-accept").click()
        if not it.find_elements(By.XPATH, paths[1]):  # the menu is closed
            it.find_element(By.XPATH, paths[0]).click()
        it.find_element(By.XPATH, paths[1]).click()
        return True

    WebDriverWait(browser, SECONDS, ignored_exceptions=[WebDriverException]).until(clicked)


def outputs(path):
    """Returns the outputs of a saved notebook, or None if a code cell has not run yet."""
    cells = json.loads(path.read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    if any(cell["execution_count"] is None for cell in code):
        return None
    return [output for cell in code for output in cell["outputs"]]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_user_opens_runs_and_saves_a_notebook(address, browser, mine, name):
    path = mine / f"notebooks/my-{name}.ipynb"
    browser.get(re.sub(r"/lab\S*?\?", f"/lab/tree/{path.name}?reset&", address))
    ready = "//*[contains(@class, 'jp-Notebook-ExecutionIndicator') and @data-status='idle']"
    idle = WebDriverWait(browser, SECONDS)
    idle.until(lambda it: it.find_elements(By.XPATH, ready))
    end = time.monotonic() + SECONDS
    while (found := outputs(path)) is None and time.monotonic() < end:
        click(browser, "Run", "Run All Cells")  # again, if there was no kernel the first time
        time.sleep(2)
        idle.until(lambda it: it.find_elements(By.XPATH, ready))
        click(browser, "File", "Save Notebook")
        time.sleep(1)
    assert found, "the cells did not run"
    assert [one for one in found if one["output_type"] == "error"] == []
    assert [one for one in found if "image/svg+xml" in one.get("data", {})]
    shown = "//*[contains(@class, 'jp-RenderedSVG')]//img"
    WebDriverWait(browser, SECONDS).until(lambda it: it.find_elements(By.XPATH, shown))
    if screens := os.environ.get("P5LAB_SCREENS"):
        browser.save_screenshot(f"{screens}/{name}.png")


def test_a_stranger_does_not_get_in(address, browser):
    """The server asks for the token."""
    browser.delete_all_cookies()
    browser.switch_to.new_window("tab")  # a notebook that is not saved cannot keep this page
    browser.get(address.partition("?")[0])
    assert "/login" in browser.current_url
