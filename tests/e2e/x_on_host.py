# SPDX-License-Identifier: MIT
"""An X server of a guest's image on the processor of this host, and a program that shows pages.

Xvfb writes its screen to a file in the format XWD (XWDFile.h of the X Window System): a head of
numbers of 32 bits with the highest byte first, the colours, and the dots.
"""

import signal
import struct
import subprocess
import time
from contextlib import contextmanager

from PIL import Image

DISPLAY = ":7"
SCREEN = "/tmp/screen"
# Runs a program in the root file system `$0`, with the environment that init gives (init.c).
IN_ROOT = f"""for name in dev proc; do mount --rbind /$name "$0/$name"; done
exec chroot "$0" /usr/bin/env -i HOME=/root TERM=linux DISPLAY={DISPLAY} \
PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@" """


def unpacked(archive, place):
    """The root file system of an archive, in a directory. Returns the directory."""
    subprocess.run(["tar", "-xf", archive, "-C", place, "--no-same-owner"], check=True)
    for name in ("dev", "proc", "root", "tmp", SCREEN[1:]):
        (place / name).mkdir(exist_ok=True)
    return place


def start(root, *command, **options):
    words = ["unshare", "-rm", "sh", "-c", IN_ROOT, root, *command]
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, **options)


@contextmanager
def server(root, size):
    """The X server with a screen of this size and depth, such as 1024x768x8. Gives a function that
    returns the picture on the screen."""
    file = root / SCREEN[1:] / "Xvfb_screen0"
    socket = root / "tmp/.X11-unix/X7"
    process = start(
        root,
        "Xvfb",
        DISPLAY,
        "-screen",
        "0",
        size,
        "-fbdir",
        SCREEN,
        "-nolisten",
        "tcp",
        "-noreset",
    )
    try:
        while not socket.exists():
            assert process.poll() is None, "Xvfb has ended"
            time.sleep(0.05)
        yield lambda: picture(file.read_bytes())
    finally:
        process.terminate()
        process.wait()


def picture(content):
    """The picture of a file in the format XWD, with 8 bits a dot."""
    head = struct.unpack(">25I", content[:100])
    head_size, _, _, _, width, height = head[:6]
    bits, row, colours = head[11], head[12], head[19]
    assert bits == 8, "expected 8 bits a dot"
    palette = [0] * 768
    for number in range(colours):
        dot, *colour = struct.unpack_from(">I3H", content, head_size + 12 * number)
        palette[3 * dot : 3 * dot + 3] = [one >> 8 for one in colour]
    dots = content[head_size + 12 * colours :][: row * height]
    image = Image.frombytes("P", (width, height), dots, "raw", "P", row)
    image.putpalette(palette)
    return image.convert("RGB")


def pages(root, screen, program, *arguments):
    """Runs the workload ghostscript. Yields the picture after each page, as soon as the program
    has printed the number of the page."""
    process = start(root, program, *arguments, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        assert line.startswith("page "), line
        yield screen()
        process.send_signal(signal.SIGUSR1)
    assert process.wait() == 0
