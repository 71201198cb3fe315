// SPDX-License-Identifier: MIT
#include "no_write_allocate_tags.hh"

namespace gem5::p5lab {
namespace {

// When a write misses in the level above, that level sends a read for ownership.
bool writes_only(const Packet& packet) {
  return (packet.isWrite() && !packet.isRead()) || packet.cmd == MemCmd::ReadExReq;
}

}  // namespace

NoWriteAllocateTags::Statistics::Statistics(statistics::Group* parent)
    : statistics::Group(parent),
      ADD_STAT(passedFetches, statistics::units::Count::get(),
               "line fetches of write misses that filled no line") {}

NoWriteAllocateTags::NoWriteAllocateTags(const Params& params)
    : RefusingTags(params), statistics_(this) {}

CacheBlk* NoWriteAllocateTags::accessBlock(const PacketPtr packet, Cycles& latency) {
  CacheBlk* block = BaseSetAssoc::accessBlock(packet, latency);
  if (!block && (packet->isRead() || packet->isWrite())) {
    Missed& missed = missed_[blkAlign(packet->getAddr())];
    missed.wanted |= !writes_only(*packet);
    missed.fetched |= !packet->isWriteback();
  }
  return block;
}

bool NoWriteAllocateTags::refuses(const Addr address) {
  const auto found = missed_.find(blkAlign(address));
  if (found == missed_.end()) return false;
  const Missed missed = found->second;
  missed_.erase(found);
  if (missed.wanted) return false;
  if (missed.fetched) ++statistics_.passedFetches;
  return true;
}

}  // namespace gem5::p5lab
