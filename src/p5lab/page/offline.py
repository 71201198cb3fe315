# SPDX-License-Identifier: MIT
"""Pages with a script that need no other file and no network: data, style and scripts stand in the
page, and its content security policy allows no other script and no request."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

HERE = Path(__file__).parent


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
