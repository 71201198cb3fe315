# SPDX-License-Identifier: MIT
#: 115 label RUN TEXT      give stored runs a name, a note or tags
"""`label`: give stored runs a name, a note or tags.

Changes what you call stored runs. Tables, pages and figures show the label as the version of a run,
and every command that takes a run also takes its label. Results do not change. `run --label TEXT`
gives the label at once.

examples:
  ./p5lab label 3f2a91 before
  ./p5lab label before --note "the hash join of Monday" --tag join
  ./p5lab label before ""
"""

import argparse

from p5lab.cli import arguments
from p5lab.errors import UserError
from p5lab.keep import named, selection
from p5lab.lab import Lab


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `label`."""
    arguments.add(
        parser,
        """
        RUN  the first 4 or more characters of a run's id, or a label; or the name of an experiment,
            for the runs that `show` shows of it
        [TEXT]  the new label; an empty text removes the label
        --note TEXT  a sentence; an empty text removes the note
        --tag* WORD  add a tag; may be repeated
        --untag* WORD  remove a tag; may be repeated
        """,
        note={},
    )


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `label`."""
    if args.text is None and args.note is None and not args.tag and not args.untag:
        raise UserError(f"label {args.run}: expected a TEXT, --note, --tag or --untag")
    named.check_label(lab, args.text or "", "label")
    named.check_note(args.note or "")
    named.check_tags(args.tag, "--tag")
    for same in selection.groups(lab, [args.run]):
        one = same[0]
        now = named.change(
            one.directory, label=args.text, note=args.note, add=args.tag, remove=args.untag
        )
        note = f" ({now.note})" if now.note else ""
        tags = "".join(f" #{tag}" for tag in now.tags)
        print(f"{one.id[:10]}  {now.label or '(no label)'}: {one.record['label']}{tags}{note}")
    return 0
