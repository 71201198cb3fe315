# SPDX-License-Identifier: MIT
"""Examples of each command. `--help` shows these examples after the options. A test parses every
example."""

EXAMPLES = {
    "run": (
        "run smoke",
        "run smoke --all-tables",
        "run chen95-core --sweep l2.size=128K,256K,512K",
        "run smoke --sweep l2.size=128K,256K --metric cycles,l2_read_misses",
        "run micro --workload dup --seed 0-4 --json",
        "run geometries --workers 2",
        "run geometries --scheduler tcp://node1:8786",
        'run --program ./a.out --args "-n 3" --guest linux',
        "run --program hello.c --cflags=-O3 --region work --attribute lines",
    ),
    "plan": ("plan chen95-core --sweep l2.size=128K,256K,512K", "plan micro --only dup"),
    "report": (
        "report chen95-core",
        "report lai96-memory --output lai96.html --export figures",
        "report chen95-core --sweep l2.size=128K,256K",
        "report program",
        "report 3f2a91 91bc04 --output two-runs.html",
    ),
    "rerun": ("rerun 3f2a91",),
    "validate": ("validate", "validate --source lai96 --strict", "validate --all --format csv"),
    "matrix": ("matrix", "matrix --format csv"),
    "cross-check": ("cross-check --explain", "cross-check micro --workload dup"),
    "simpoint": (
        "simpoint phases --parameter rounds=20 --full",
        "simpoint --vectors m5out/simpoint.bb.gz",
    ),
    "shell": ("shell linux", "shell linux --set l2.present=false"),
    "image": ("image debian", "image ubuntu --tarball ubuntu-base.tar.gz --size 256M"),
    "list": ("list", "list runs --json"),
    "show": ("show 3f2a91", "show 3f2a91 --crossings", "show smoke --metric cycles,cpi"),
    "explain": (
        "explain chen95-core linux mach",
        "explain 3f2a91 91bc04 --single",
        "explain chen95-core linux linux-uml --only dup --format markdown",
    ),
    "diff": ("diff 3f2a91 91bc04", "diff 3f2a91 91bc04 --rings --format markdown"),
    "query": (
        'query "SELECT guest, status, count(*) FROM runs GROUP BY ALL"',
        'query "SELECT run, event, sum(value) FROM counts GROUP BY ALL"',
        'query "FROM counts" --all-rows',
    ),
    "notebook": ("notebook", "notebook what-if", "notebook --no-browser --port 9000"),
    "keys": ("keys", "keys l2", "keys --json"),
    "gc": ("gc", "gc --cache --older-than 30 --yes"),
    "build": ("build", "build build/engine/p5bochs"),
    "doctor": ("doctor", "doctor --json"),
    "docs": ("docs", "docs matrix machine-keys", "docs --check"),
    "bench": ("bench", "bench -n 1 --profile"),  # bench/run.py prints its help
    "test": (
        "test",
        "test unit test_cli",
        'test engine "write once"',
        "test e2e smoke",
        "test --full",
        "test -- -k cache",
    ),
    "completion": (
        "completion bash > ~/.local/share/bash-completion/completions/p5lab",
        "completion zsh > ~/.zfunc/_p5lab",
        "completion fish > ~/.config/fish/completions/p5lab.fish",
    ),
    "help": ("help run",),
}
EXIT_STATUS = """exit status:
  0    done
  1    a run, a build or a check has failed, or a file cannot be read
  2    bad input; nothing was run
  130  stopped by the user (Ctrl-C, SIGTERM); finished runs are kept"""


def of(command: str) -> str:
    """Returns the examples of a command, which are the last part of the command's help text.
    Returns an empty text if the command has no example."""
    lines = EXAMPLES.get(command, ())
    return "\n".join(["examples:", *(f"  ./p5lab {line}" for line in lines)]) if lines else ""
