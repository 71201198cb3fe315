# SPDX-License-Identifier: MIT
"""What CPUID says: the same as on the embedded engine, whose processor of x86-64 is the first
Athlon 64. The kernel and C libraries choose code by it, such as the instruction that reads the
clock, and how the kernel idles."""

from m5.objects import X86ISA

# By parameter of gem5's X86ISA: EAX, EBX, EDX and ECX of a function (the processor
# athlon64_clawhammer of Bochs). gem5's highest standard function is 13 instead of 1, so the
# functions 7 and 13 exist here, without features.
VALUES = {
    "vendor_string": "AuthenticAMD",
    "name_string": "AMD Athlon(tm) 64 Processor 2800+",
    "FamilyModelStepping": [0x00000F48, 0x00000800, 0x078BFBFF, 0],
    "ExtendedFeatures": [0, 0, 0, 0],
    "FamilyModelSteppingBrandFeatures": [0x00000F48, 0x00000106, 0xE1D3FBFF, 0],
    "L1CacheAndTLB": [0xFF08FF08, 0xFF20FF20, 0x40020140, 0x40020140],
    "L2L3CacheAndL2TLB": [0, 0x42004200, 0, 0x02008140],
    "APMInfo": [0, 0, 0x0000000F, 0],
    "LongModeAddressSize": [0x00003028, 0x00000200, 0, 0],
}


def set_values(isa: X86ISA) -> None:
    """Give gem5's processor these answers. Before 24.0, gem5 has fewer parameters for them."""
    for name, value in VALUES.items():
        if name in X86ISA._params:
            setattr(isa, name, value)
