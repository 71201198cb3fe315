# SPDX-License-Identifier: MIT
"""The pixmaps of the engine become PNG files (p5lab.engines.bochs.pictures)."""

import subprocess
import sys

import pytest
from PIL import Image

from p5lab.engines.bochs import pictures

PIXMAP = b"P6\n2 1\n255\n\x01\x02\x03\xfd\xfe\xff"


def test_a_pixmap_becomes_a_picture(tmp_path):
    (tmp_path / "screen.ppm").write_bytes(PIXMAP)
    (tmp_path / "screen.txt").write_text("(a graphics mode: 2 dots x 1 lines)\n")
    pictures.convert(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["screen.png", "screen.txt"]
    with Image.open(tmp_path / "screen.png") as image:
        assert image.size == (2, 1)
        assert image.getpixel((0, 0)) == (1, 2, 3)
        assert image.getpixel((1, 0)) == (253, 254, 255)
    first = (tmp_path / "screen.png").read_bytes()
    (tmp_path / "screen.ppm").write_bytes(PIXMAP)
    pictures.convert(tmp_path)
    assert (tmp_path / "screen.png").read_bytes() == first


@pytest.mark.parametrize("length", range(len(PIXMAP)))
def test_a_pixmap_that_was_not_finished_leaves_nothing(tmp_path, length):
    (tmp_path / "screen.ppm").write_bytes(PIXMAP[:length])
    pictures.convert(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_no_part_of_a_picture(tmp_path):
    (tmp_path / "screen.ppm").write_bytes(PIXMAP)
    (tmp_path / "screen.png.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        pictures.convert(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_run_without_a_picture_does_not_load_the_library(tmp_path):
    """Most runs have no picture, and the import takes time."""
    code = (
        "import sys, pathlib; from p5lab.engines.bochs import pictures;"
        " pictures.convert(pathlib.Path(sys.argv[1])); assert 'PIL' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True)
