# SPDX-License-Identifier: MIT
"""SimObjects for parts of a Pentium that stock gem5 does not have. README.md describes them."""

from m5.objects.Cache import Cache
from m5.objects.InstTracer import InstTracer
from m5.objects.Tags import BaseSetAssoc
from m5.objects.X86TLB import X86TLB
from m5.params import Param, VectorParam
from m5.proxy import Parent


class NoWriteAllocateTags(BaseSetAssoc):
    """Tags of a cache that allocates no line on a write miss."""

    type = "NoWriteAllocateTags"
    cxx_class = "gem5::p5lab::NoWriteAllocateTags"
    cxx_header = "no_write_allocate_tags.hh"


class OwnerCache(Cache):
    """A cache that stays the owner of a modified line when it sends the line to the cache above."""

    type = "OwnerCache"
    cxx_class = "gem5::p5lab::OwnerCache"
    cxx_header = "owner_cache.hh"

    above = VectorParam.OwnerCache([], "the caches above that can modify a line")


class P5TLB(X86TLB):
    """A set-associative TLB for 4 KB pages, with a separate array for large pages."""

    type = "P5TLB"
    cxx_class = "gem5::p5lab::P5TLB"
    cxx_header = "p5tlb.hh"

    entries = Param.Unsigned("entries for 4 KB pages: ways times a power of two")
    ways = Param.Unsigned(4, "ways of the array for 4 KB pages")
    large_entries = Param.Unsigned(
        0, "entries for large pages; 0: a large page takes an entry for each 4 KB page in use"
    )
    large_ways = Param.Unsigned(4, "ways of the array for large pages")
    replacement = Param.String("plru", "plru (1, 2, 4 or 8 ways) or lru")
    size = 256  # of X86TLB's own array, which must hold all translations


class P5Tracer(InstTracer):
    """Counts events, split by the privilege ring of the processor."""

    type = "P5Tracer"
    cxx_class = "gem5::p5lab::P5Tracer"
    cxx_header = "p5tracer.hh"

    cache_line_size = Param.Unsigned(Parent.cache_line_size, "bytes in a line of the caches")
