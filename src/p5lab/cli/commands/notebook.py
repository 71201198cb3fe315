# SPDX-License-Identifier: MIT
#: 160 notebook [NAME]     open the notebooks in JupyterLab
"""`notebook`: open the notebooks in JupyterLab.

Opens JupyterLab on the notebooks in your browser, and prints an address with a token for another
browser. Only this host reaches the server. Ctrl-C ends the server. The messages of JupyterLab are
in build/notebook.log; errors are also printed. The first use installs JupyterLab into .venv. For VS
Code or your own Jupyter, see docs/start/python.md.

examples:
  ./p5lab notebook
  ./p5lab notebook lab
  ./p5lab notebook what-if
  ./p5lab notebook --no-browser --port 9000
"""

import argparse
import json
import os
import sys
from pathlib import Path

from p5lab import packages
from p5lab.cli import arguments
from p5lab.describe.observation.kind import positive
from p5lab.errors import UserError, disk_error, unknown
from p5lab.host import jupyter
from p5lab.lab import Lab, shown
from p5lab.progress import Progress

LAST_PORT = 65535
GROUPS = ("notebook", "report")  # Jupyter, and the packages for figures
ADDRESS = "127.0.0.1"  # only this host reaches the server
KERNEL, TITLE = "python3", "Python 3 (p5lab)"  # the notebooks name the kernel python3
# JupyterLab asks at its first start whether it may fetch news. The setting prevents the question.
PAGE = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `notebook`."""
    arguments.add(
        parser,
        """
        [NAME]  a notebook that `p5lab list notebooks` shows
        --no-browser  print the address and open no browser
        --port N  the port of the server (default: 8888, or the next free port)
        --install  only install JupyterLab and the kernel, for example for VS Code
        """,
        port={"type": _port},
    )


def _port(text: str) -> int:
    if (number := positive("--port")(text)) > LAST_PORT:
        raise UserError(f"--port: expected a number of at most {LAST_PORT}; found {text!r}")
    return number


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Runs JupyterLab until the user stops it."""
    files = lab.files("notebook")
    name = args.name and args.name.removesuffix(".ipynb")
    if name and name not in files:
        raise unknown("notebook", name, files)
    for group in GROUPS:
        packages.ensure(group)
    _register(Path(sys.prefix))
    if args.install:
        Progress().say(f"The notebooks run with {sys.executable}.")
        return 0
    place = files[name].parent if name else lab.root / "notebooks"
    command = [sys.executable, "-m", "jupyterlab", *_arguments(args, place, name)]
    log = lab.root / jupyter.LOG
    return jupyter.serve(command, lab.environment, log, shown(log), name)


def _arguments(args: argparse.Namespace, place: Path, name: str | None) -> list[str]:
    """The arguments of JupyterLab. `place`: the directory that JupyterLab shows."""
    arguments = [f"--ServerApp.ip={ADDRESS}", f"--ServerApp.root_dir={place}"]
    if name:
        arguments.append(f"--LabApp.default_url=/lab/tree/{name}.ipynb")
    if args.port:
        arguments.append(f"--ServerApp.port={args.port}")
    if args.no_browser:
        arguments.append("--no-browser")
    if os.geteuid() == 0:
        arguments.append("--allow-root")  # Jupyter otherwise refuses to start in a container
    return arguments


def _register(prefix: Path) -> None:
    """Registers the kernel in the environment, and switches off JupyterLab's question about
    news."""
    from ipykernel import kernelspec

    try:
        kernelspec.install(prefix=str(prefix), kernel_name=KERNEL, display_name=TITLE)
        page = prefix / "etc/jupyter/labconfig/page_config.json"
        if not page.exists():
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(json.dumps(PAGE), encoding="utf-8")
    except OSError as error:
        raise disk_error(error, prefix) from None
