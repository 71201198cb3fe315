# SPDX-License-Identifier: MIT
#: 115 label RUN TEXT      give stored runs a name, a note or tags
"""`label`: give stored runs a name, a note or tags.

Changes what you call stored runs. Tables, pages and figures show the label as the version of a run,
and every command that takes a run also takes its label. Results do not change. `run --label TEXT`
gives the label at once; a stored run that gets another label by it is still found by its earlier
ones.

examples:
  ./p5lab label 3f2a91 before
  ./p5lab label before --note "the hash join of Monday" --tag join
  ./p5lab label before ""
"""

import argparse

from p5lab.cli import arguments
from p5lab.errors import UserError
from p5lab.keep import named, selection
from p5lab.keep.store import Stored
from p5lab.lab import Lab


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `label`."""
    arguments.add(
        parser,
        """
        RUN  the first 4 or more characters of a run's id, or a label; or the name of an experiment,
            for the runs that `show` shows of it
        [TEXT]  the new label, in the place of the old one; an empty text removes the label, or all
            labels of a run that an id names
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
        stored = same[0]
        now = named.change(
            stored.directory,
            label=args.text,
            instead_of=_replaced(stored, args),
            note=args.note,
            add=args.tag,
            remove=args.untag,
        )
        note = f" ({now.note})" if now.note else ""
        tags = "".join(f" #{tag}" for tag in now.tags)
        print(
            f"{stored.id[:10]}  {now.label or '(no label)'}: {stored.record['label']}{tags}{note}"
        )
    return 0


def _replaced(stored: Stored, args: argparse.Namespace) -> str:
    """The label that a text replaces: the one by which the run was named, or else the one that is
    shown. An empty text for a run that was named otherwise replaces all."""
    own = named.of(stored.record)
    if args.run in own.labels:
        return str(args.run)
    return own.label if args.text else ""
