# SPDX-License-Identifier: MIT
"""The part of a document that a command makes: what stands between two comments of Markdown."""

import re

from p5lab.errors import UserError

END = "<!-- end -->"


def replace(text: str, command: str, content: str) -> str:
    """The text with `content` between the line `<!-- COMMAND -->` and the line `<!-- end -->`.

    The comment may give arguments after the command. UserError when there is no such block.
    """
    pattern = re.compile(
        rf"(<!-- {re.escape(command)}(?: [^>]*)? -->\n)(.*?)({re.escape(END)})", re.DOTALL
    )
    if not pattern.search(text):
        raise UserError(f"expected a line <!-- {command} --> and a line {END}")
    return pattern.sub(lambda match: match[1] + content + match[3], text)
