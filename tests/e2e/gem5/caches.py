# SPDX-License-Identifier: MIT
"""The caches of the machines in bare.py and coherence.py."""

from m5 import objects
from m5.params import NULL


def cache(size: str, ways: int, tags: str, kind: str = "Cache", **others: object) -> objects.Cache:
    """Returns a cache. `tags`, `kind`: the classes of its tags and of the cache itself."""
    return getattr(objects, kind)(
        size=size,
        assoc=ways,
        tags=getattr(objects, tags)(),
        replacement_policy=objects.LRURP(),
        tag_latency=1,
        data_latency=1,
        response_latency=1,
        mshrs=4,
        tgts_per_mshr=8,
        prefetcher=NULL,
        **others,
    )
