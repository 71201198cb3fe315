# SPDX-License-Identifier: MIT
"""The generated part of a document, between two comments in Markdown."""

import re

from p5lab.errors import UserError

END = "<!-- end -->"


def replace(text: str, command: str, content: str) -> str:
    """Replaces the text between the lines `<!-- COMMAND -->` and `<!-- end -->` with `content`.

    The first line may contain arguments after the command. Raises UserError if there is no such
    block.
    """
    pattern = re.compile(
        rf"(<!-- {re.escape(command)}(?: [^>]*)? -->\n)(.*?)({re.escape(END)})", re.DOTALL
    )
    if not pattern.search(text):
        raise UserError(f"expected a line <!-- {command} --> and a line {END}")
    return pattern.sub(lambda match: match[1] + content + match[3], text)
