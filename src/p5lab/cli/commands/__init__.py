# SPDX-License-Identifier: MIT
"""The commands: one module for each, with the name of the command (`_` for `-`).

A module has:

    #: NUMBER USAGE        a line of `./p5lab --help`, which the launcher prints in the order of the
                           numbers; a comment, because the launcher runs before Python
    a docstring            its help: `NAME`: one line; optional, a text above the options; and
                           `examples:`, command lines of which a test parses each
    add(parser)            adds the arguments
    run(args, lab)         executes the command and returns its exit status
    OWN_OPTIONS = True     optional: `run` gets the words after the name as `args.words`

No other file names a command.
"""
