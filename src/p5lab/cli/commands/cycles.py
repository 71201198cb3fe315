# SPDX-License-Identifier: MIT
#: 025 cycles loop.s        time a few instructions, without an operating system
"""`cycles`: time a few instructions, without an operating system.

Executes a fragment of code on the machine's Pentium, with warm caches, and prints for each
instruction the pipe, the clocks and why it did not go into V; and the clocks of an iteration in the
steady state. An iteration is one round of the fragment's loop, one call of a function, or one copy
of straight code, which is repeated behind itself. docs/start/cycles.md explains the table.

examples:
  ./p5lab cycles loop.s
  ./p5lab cycles "add %eax, %ebx; mov (%esi), %ecx"
  ./p5lab cycles "8b 06 01 c2"
  ./p5lab cycles sum.c --function sum --args memory,100
  ./p5lab cycles loop.s --konata loop.kanata --set ideal.pairing=true
"""

import argparse

from p5lab.cli import arguments, options
from p5lab.describe import machine as machines
from p5lab.errors import UserError, writing
from p5lab.execute import fragment as execution
from p5lab.lab import Lab
from p5lab.prepare import fragment as preparation
from p5lab.present import counts, fragment_clocks, konata


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `cycles`."""
    registers = ", ".join(f"{name}={value}" for name, value in preparation.REGISTERS.items())
    arguments.add(
        parser,
        f"""
        what=FRAGMENT  a file in assembly language (.s, .S) or C, bytes in hexadecimal, or assembler
            text
        --function NAME  call this function of the file; default: the first instruction of a file in
            assembly language, the only function of a file in C
        --args VALUE,...  arguments of the function: numbers, symbols of the file, or `memory`, a
            page of words that are 1
        --with REGISTER=VALUE,...  values of registers at the beginning; default: {registers}
        --cflags OPTIONS  more options of the compiler
        --konata FILE  also write the last call as a trace for the viewer Konata (Kanata format,
            version 4)
        """,
        **{"with": {"default": "", "dest": "registers"}},
    )
    options.add(parser, "machine format no-build")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `cycles`."""
    arguments.check_output(args.konata, "--konata")
    board = machines.load(lab, args.machine)
    if args.settings:
        board = board.with_set(machines.parse_settings(args.settings), "--set")
    fragment = preparation.made(
        lab,
        args.what,
        function=args.function,
        arguments=[number for number in args.args.split(",") if number],
        registers=_registers(args.registers),
        cflags=args.cflags,
    )
    if not args.no_build:
        execution.ensure(lab)
    fragment, issues = execution.traced(lab, board, fragment)
    name = " ".join(filter(None, (board.name, board.geometry)))
    fragment_clocks.show(counts.stdout(), fragment_clocks.of(fragment, issues), name, args.form)
    if args.konata:
        with writing(args.konata):
            args.konata.write_text(konata.trace(fragment, issues), encoding="utf-8")
    return 0


def _registers(text: str) -> dict[str, str]:
    registers = {}
    for assignment in filter(None, text.split(",")):
        name, equals, value = assignment.partition("=")
        if not equals or not value:
            raise UserError(f"--with {assignment}: expected REGISTER=VALUE, such as ecx=100")
        registers[name.strip()] = value.strip()
    return registers
