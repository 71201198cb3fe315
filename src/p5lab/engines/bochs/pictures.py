# SPDX-License-Identifier: MIT
"""The pictures that the engine leaves in a run directory: portable pixmaps, converted to PNG."""

from pathlib import Path

PIXMAP, PICTURE = ".ppm", ".png"
PART = ".part"  # the end of the name of a file that is being written


def convert(directory: Path) -> None:
    """Replaces each pixmap in a run directory by a PNG of the same name. A pixmap that an engine
    did not finish is removed. Raises OSError if a file cannot be written; then no part of a PNG
    stays."""
    pixmaps = sorted(directory.glob(f"*{PIXMAP}"))
    if not pixmaps:
        return
    # The import takes a tenth of a second, and few runs have a picture.
    from PIL import Image

    for pixmap in pixmaps:
        part = pixmap.with_suffix(f"{PICTURE}{PART}")
        try:
            with Image.open(pixmap, formats=["PPM"]) as image:
                image.save(part, format="PNG")
            part.replace(pixmap.with_suffix(PICTURE))
        except (ValueError, SyntaxError, OSError) as error:
            part.unlink(missing_ok=True)
            if isinstance(error, OSError) and error.errno:  # of the host, not of the pixmap
                raise
        finally:
            pixmap.unlink(missing_ok=True)
