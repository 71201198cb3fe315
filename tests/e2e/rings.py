# SPDX-License-Identifier: MIT
"""The expected counts of gem5/rings.S, section by section.

gem5's tracer (configs/gem5/extras) and our own engine at ISA level x86-64 must give these counts.
"""

EVENTS = """instructions data_reads data_writes segment_loads hw_interrupts exceptions
    soft_interrupts crossings_int crossings_gate crossings_far crossings_iret crossings_async
    cr3_loads_changed cr3_loads_unchanged locked_cycles io_reads io_writes branches""".split()

# The delivery of an interrupt reads two words of the IDT, a descriptor and a stack pointer. It
# writes five words. IRET reads five words and two descriptors.
DELIVERY = {"data_reads": 4, "data_writes": 5, "segment_loads": 2, "branches": 1}
IRET = {"instructions": 1, "data_reads": 7, "segment_loads": 2, "branches": 1, "crossings_iret": 1}
FAULT = DELIVERY | {"instructions": 1, "exceptions": 1, "crossings_async": 1}

# The counts of each section in ring 0 and in ring 3, without the instructions that end the section.
SECTIONS = {
    1: ({}, {}),
    2: ({"instructions": 5, "data_reads": 3, "data_writes": 3}, {}),
    3: ({"instructions": 5, "data_reads": 7, "data_writes": 3}, {}),
    4: ({"instructions": 8, "data_reads": 8, "data_writes": 12}, {}),
    5: ({"instructions": 3, "data_reads": 3, "data_writes": 3, "locked_cycles": 3}, {}),
    6: ({"instructions": 6, "data_reads": 3, "io_reads": 1, "io_writes": 4}, {}),
    7: (
        {
            "instructions": 11,
            "data_reads": 4,
            "data_writes": 1,
            "segment_loads": 3,
            "branches": 5,
        },
        {},
    ),
    8: (
        {"instructions": 6, "branches": 3, "cr3_loads_unchanged": 1, "cr3_loads_changed": 2},
        {},
    ),
    9: (IRET | {"instructions": 7, "data_writes": 5}, {}),
    10: ({}, {"instructions": 201, "branches": 100}),
    11: (IRET, DELIVERY | {"instructions": 1, "soft_interrupts": 1, "crossings_int": 1}),
    12: (
        {"instructions": 1, "segment_loads": 2, "branches": 1, "crossings_iret": 1},
        {"instructions": 1, "segment_loads": 2, "branches": 1, "crossings_gate": 1},
    ),
    13: (
        IRET | {"instructions": 3, "data_reads": 8, "data_writes": 1},
        FAULT | {"instructions": 2, "data_writes": 6},
    ),
    14: (IRET | {"instructions": 2, "data_reads": 8, "data_writes": 1}, FAULT),
    15: (
        IRET | {"instructions": 3, "data_reads": 8, "data_writes": 1},
        FAULT | {"data_writes": 6},
    ),
    16: (
        {"instructions": 1},
        DELIVERY | {"instructions": 1, "soft_interrupts": 1, "crossings_int": 1},
    ),
    17: ({"instructions": 6, "data_writes": 5}, {}),
    # The interrupt comes in ring 0 and changes neither the stack nor the ring. SS has been null
    # since the change from ring 3. IRET therefore reads no descriptor for SS.
    18: (
        {
            "instructions": 2 + 1 + 3,
            "hw_interrupts": 1,
            "data_reads": 3 + 6,
            "data_writes": 5 + 2,
            "segment_loads": 2,
            "branches": 2,
        },
        {},
    ),
    19: (IRET | {"instructions": 9, "data_writes": 7}, {}),
}
USER_AT_END = {*range(9, 16), 19}  # sections that end in ring 3


def expected(index, *, first, last):
    """Returns the expected counts of a section. `first` is a number of instructions to add in the
    section's first ring. `last` is a number of instructions to add in the section's last ring.
    """
    rings = [dict(events) for events in SECTIONS[index]]
    for count, user in ((first, index - 1 in USER_AT_END), (last, index in USER_AT_END)):
        rings[user]["instructions"] = rings[user].get("instructions", 0) + count
    return tuple({event: value for event, value in ring.items() if value} for ring in rings)
