# SPDX-License-Identifier: MIT
"""Pages with a script that need no other file and no network: data, style and scripts stand in the
page, and its content security policy allows no other script and no request."""

import base64
import hashlib
import html
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from p5lab.errors import writing
from p5lab.files import replace_text

HERE = Path(__file__).parent
HEIGHT = 900  # pixels, in a notebook


class Page(ABC):
    """A page of this kind. A notebook shows it, and `save` writes it."""

    title: str

    @abstractmethod
    def page(self) -> str:
        """The HTML of the page. The same contents always give the same HTML."""

    def _repr_html_(self) -> str:
        page = html.escape(self.page(), quote=True)
        return (
            f'<iframe title="{html.escape(self.title)}" srcdoc="{page}" width="100%"'
            f' height="{HEIGHT}" style="border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.title!r})"

    def save(self, path: str | Path) -> None:
        """Writes the page. Raises UserError if the file cannot be written."""
        with writing(Path(path)):
            replace_text(Path(path), self.page())


def render(
    template: str, styles: Sequence[str], script: str, data: Mapping[str, Any], **more: object
) -> str:
    """The HTML of a page. `template`, `styles`, `script`: files of this directory. `more`: further
    values of the template. The same data always give the same HTML."""
    style = "".join((HERE / name).read_text(encoding="utf-8") for name in styles)
    program = (HERE / script).read_text(encoding="utf-8")
    # In HTML, a script ends at the first </, also inside a text of JSON.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template(template).render(
        style=Markup(style),
        style_digest=digest(style),
        script=Markup(program),
        script_digest=digest(program),
        data=Markup(text),
        **more,
    )


def digest(text: str) -> str:
    """The digest of a style or script, for a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
