# SPDX-License-Identifier: MIT
"""bitblt: the cost of a frame on each path, and the detection of a wrong pixel."""

import hostcc
import pytest

from p5lab.engines import EVENTS

ROWS = 760
DIRECT_1 = ROWS * 18  # words of 32 pixels
DIRECT_8 = ROWS * 143  # words of 4 pixels
FRAMES = 3


def per_frame(boot, job, event):
    run = boot(f"bitblt {job} frames={FRAMES}")
    assert (run.outcome.status, run.output) == ("ok", ""), run.outcome.reason
    return run.totals(0, event)[0] / FRAMES


@pytest.mark.parametrize(("depth", "words"), [(1, DIRECT_1), (8, DIRECT_8)])
def test_a_program_writes_each_word_once(boot, depth, words):
    assert per_frame(boot, f"depth={depth}", "uncached_writes") == words
    assert words <= per_frame(boot, f"depth={depth}", "data_writes") < 1.03 * words
    # A repeated move counts as one instruction. For each row, the copy executes one repeated move
    # and a few other instructions.
    assert per_frame(boot, f"depth={depth}", "instructions") < 40 * ROWS


def test_a_server_writes_an_expanded_picture_word_by_word(boot):
    """Before these writes, the picture (one bit for each pixel) is copied three times: to the
    request, into the kernel and out of the kernel. Each copy moves words of 32 pixels.
    """
    job = "path=server depth=8"
    assert per_frame(boot, job, "uncached_writes") == DIRECT_8
    copies = 3 * DIRECT_1
    assert DIRECT_8 + copies < per_frame(boot, job, "data_writes") < 1.2 * (DIRECT_8 + copies)
    assert per_frame(boot, job, "instructions") > 4 * DIRECT_8


def test_a_server_can_copy(boot):
    assert per_frame(boot, "path=server depth=1", "uncached_writes") == DIRECT_1


def test_the_same_each_time(boot):
    first, again = (boot("bitblt path=server depth=8 frames=2").directory for _ in range(2))
    assert (first / EVENTS).read_bytes() == (again / EVENTS).read_bytes()


# The last sent or drawn frame differs from the array in one bit, at row 5, column 8.
SENT = """
    #include <unistd.h>
    static ssize_t spoiled(int file, unsigned char *from, size_t size) {
      if (size == 54720) from[5 * 72 + 1] ^= 0x80;
      return write(file, from, size);
    }
    #define write(file, from, size) spoiled(file, (unsigned char *)from, size)
    #include "bitblt.c"
"""
# The program itself checks the drawn frame. It draws one frame before the measured frames.
DRAWN = """
    #include "string1995.h"
    static void spoiled(uint8_t *to, const uint8_t *from, size_t size) {
      static int rows;
      uint8_t row[570];
      __builtin_memcpy(row, from, size);
      if (rows++ == 2 * 760 + 5) row[size == 72 ? 1 : 8] ^= 0x80;
      memcpy_1995(to, row, size);
    }
    #define memcpy_1995 spoiled
    #include "bitblt.c"
"""


@pytest.mark.parametrize(
    ("job", "wrong"),
    [("path=server depth=8", SENT), ("depth=1", DRAWN), ("depth=8", DRAWN)],
)
def test_a_wrong_pixel_is_noticed(boot, tmp_path, job, wrong):
    source, program = tmp_path / "spoiled.c", tmp_path / "spoiled"
    source.write_text(wrong)
    hostcc.for_guests(program, source, (*hostcc.INCLUDE, "workloads/micro/bitblt"))
    run = boot(f"@program {job} frames=2", program=program)
    assert run.events.guest_status == 1
    assert run.output == "bitblt: row 5, column 8 of the window is wrong\n"
