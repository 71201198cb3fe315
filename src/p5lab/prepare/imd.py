# SPDX-License-Identifier: MIT
"""ImageDisk files (IMD) of floppies.

The format is that of ImageDisk 1.18 (Dave Dunfield, IMD.TXT): a comment that ends with 1Ah, then a
record for each track with its mode, cylinder, head, number and size of sectors, the numbers of the
sectors, optional maps of cylinders and heads, and a record for each sector.
"""

from dataclasses import dataclass, field

from p5lab.errors import UserError

COMMENT_END = b"\x1a"
MODES, SIZES, SECTOR = 6, 7, 512
CYLINDER_MAP, HEAD_MAP, HEAD = 0x80, 0x40, 0x3F
UNAVAILABLE, KINDS, COMPRESSED = 0, 9, (2, 4, 6, 8)
WITH_ERROR = (5, 6, 7, 8)


@dataclass
class _Reader:
    """Reads the bytes of a file in order."""

    data: bytes
    where: str
    at: int
    track: str = "the first track"
    tracks: dict[tuple[int, int], dict[int, bytes]] = field(default_factory=dict)

    def take(self, count: int) -> bytes:
        piece = self.data[self.at : self.at + count]
        if len(piece) < count:
            raise UserError(f"{self.where}: ImageDisk (IMD): cut short in {self.track}")
        self.at += count
        return piece

    def wrong(self, problem: str) -> UserError:
        return UserError(f"{self.where}: ImageDisk (IMD): {self.track}: {problem}")


def raw(data: bytes, where: str) -> bytes:
    """The sectors of the floppy in the order of a raw image: by cylinder, head and number. `where`:
    the beginning of messages. Raises UserError for a damaged file, and for a floppy that a raw
    image cannot hold: sectors that are not 512 bytes, that could not be read, or that are not the
    same on each track."""
    start = data.find(COMMENT_END)
    if start < 0:
        raise UserError(f"{where}: ImageDisk (IMD): expected 1Ah at the end of the comment")
    reader = _Reader(data, where, start + 1)
    while reader.at < len(data):
        _track(reader)
    if not reader.tracks:
        raise UserError(f"{where}: ImageDisk (IMD): no tracks")
    cylinders = 1 + max(cylinder for cylinder, _ in reader.tracks)
    heads = 1 + max(head for _, head in reader.tracks)
    sectors = max(map(len, reader.tracks.values()))
    image = bytearray()
    for cylinder in range(cylinders):
        for head in range(heads):
            reader.track = f"cylinder {cylinder}, head {head}"
            track = reader.tracks.get((cylinder, head), {})
            if sorted(track) != list(range(1, sectors + 1)):
                raise reader.wrong(f"expected the sectors 1 to {sectors}, found {_names(track)}")
            image += b"".join(track[number] for number in sorted(track))
    return bytes(image)


def _names(track: dict[int, bytes]) -> str:
    return ", ".join(map(str, sorted(track)))[:60] or "none"


def _track(reader: _Reader) -> None:
    """Reads one track."""
    mode, cylinder, head, sectors, size = reader.take(5)
    reader.track = f"cylinder {cylinder}, head {head & HEAD}"
    if mode >= MODES or size >= SIZES or head & HEAD > 1:
        raise reader.wrong(f"a wrong header: mode {mode}, head {head}, size {size}")
    numbers = reader.take(sectors)
    for wanted in (CYLINDER_MAP, HEAD_MAP):
        if head & wanted:
            reader.take(sectors)
    bytes_each = 128 << size
    if sectors and bytes_each != SECTOR:
        raise reader.wrong(f"sectors of {bytes_each} bytes; expected {SECTOR}, as on a PC")
    track = reader.tracks.setdefault((cylinder, head & HEAD), {})
    for number in numbers:
        (kind,) = reader.take(1)
        if kind >= KINDS:
            raise reader.wrong(f"sector {number}: a wrong type, {kind}")
        if kind == UNAVAILABLE:
            raise reader.wrong(f"sector {number} could not be read from the floppy")
        content = reader.take(1) * SECTOR if kind in COMPRESSED else reader.take(SECTOR)
        if kind in WITH_ERROR:
            raise reader.wrong(f"sector {number} was read with an error")
        if number in track:
            raise reader.wrong(f"sector {number} a second time")
        track[number] = content
