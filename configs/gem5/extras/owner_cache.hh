// SPDX-License-Identifier: MIT
// A cache that stays the owner of a modified line when it sends the line to the cache above. The L2
// of a Pentium's board is such a cache, because a line fill never puts a modified line into L1D:
// the line is shared or exclusive [INTEL-DM 3].
//
// gem5's Cache passes the modified state to the cache above. That cache then writes the line back
// at the next eviction, even if the processor only read the line.
//
// With this class the line can be modified in both caches. The newer copy is then the copy above.
// So the parameter `above` names the caches above that can modify a line, and this cache asks them
// before it answers a snoop. They are also of this class.
#pragma once

#include <vector>

#include "mem/cache/cache.hh"
#include "params/OwnerCache.hh"

namespace gem5::p5lab {

class OwnerCache : public Cache {
 public:
  PARAMS(OwnerCache);
  explicit OwnerCache(const Params& params);

 protected:
  void satisfyRequest(PacketPtr packet, CacheBlk* block, bool deferred_response,
                      bool pending_downgrade) override;
  void recvTimingReq(PacketPtr packet) override;
  void recvTimingSnoopReq(PacketPtr packet) override;
  Tick recvAtomicSnoop(PacketPtr packet) override;
  void functionalAccess(PacketPtr packet, bool from_cpu_side) override;

 private:
  bool modified_above(const Packet& packet) const;
  bool has_modified(Addr line, bool secure) const;
  // Gives up this cache's copy of the packet's line, which is older than a modified copy above.
  void drop_older_copy(const Packet& packet);

  const std::vector<OwnerCache*> above_;
};

}  // namespace gem5::p5lab
