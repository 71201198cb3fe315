// SPDX-License-Identifier: MIT
#include "no_write_allocate_tags.hh"

namespace gem5::p5lab {
namespace {

// When a write misses in the level above, that level sends a read for ownership.
bool writes_only(const Packet& packet) {
  return (packet.isWrite() && !packet.isRead()) || packet.cmd == MemCmd::ReadExReq;
}

}  // namespace

NoWriteAllocateTags::NoWriteAllocateTags(const Params& params) : BaseSetAssoc(params) {}

CacheBlk* NoWriteAllocateTags::accessBlock(const PacketPtr packet, Cycles& latency) {
  CacheBlk* block = BaseSetAssoc::accessBlock(packet, latency);
  if (!block && (packet->isRead() || packet->isWrite())) {
    wanted_[blkAlign(packet->getAddr())] |= !writes_only(*packet);
  }
  return block;
}

CacheBlk* NoWriteAllocateTags::findVictim(Addr address, const bool secure, const std::size_t bits,
                                          std::vector<CacheBlk*>& evicted,
                                          const uint64_t partition) {
  const auto missed = wanted_.find(blkAlign(address));
  if (missed != wanted_.end()) {
    const bool wanted = missed->second;
    wanted_.erase(missed);
    if (!wanted) return nullptr;
  }
  return BaseSetAssoc::findVictim(address, secure, bits, evicted, partition);
}

}  // namespace gem5::p5lab
