// SPDX-License-Identifier: MIT
#include "owner_cache.hh"

#include <algorithm>

#include "line_key.hh"

namespace gem5::p5lab {

OwnerCache::OwnerCache(const Params& params) : Cache(params), above_(params.above) {}

void OwnerCache::satisfyRequest(PacketPtr packet, CacheBlk* block, const bool deferred_response,
                                const bool pending_downgrade) {
  // A response to this cache's own miss is deferred. gem5 then gives the cache above a shared line,
  // which passes no state.
  const bool keeps = packet->fromCache() && packet->isRead() && !packet->needsWritable() &&
                     !deferred_response && block->isSet(CacheBlk::DirtyBit);
  if (keeps) block->clearCoherenceBits(CacheBlk::DirtyBit);
  Cache::satisfyRequest(packet, block, deferred_response, pending_downgrade);
  if (keeps) block->setCoherenceBits(CacheBlk::DirtyBit);
}

void OwnerCache::recvTimingReq(PacketPtr packet) {
  // A cache above sends its modified copy to another cache above.
  if (packet->cacheResponding()) drop_older_copy(*packet);
  Cache::recvTimingReq(packet);
}

void OwnerCache::recvTimingSnoopReq(PacketPtr packet) {
  if (modified_above(*packet)) drop_older_copy(*packet);
  Cache::recvTimingSnoopReq(packet);
}

Tick OwnerCache::recvAtomicSnoop(PacketPtr packet) {
  if (modified_above(*packet)) drop_older_copy(*packet);
  return Cache::recvAtomicSnoop(packet);
}

void OwnerCache::functionalAccess(PacketPtr packet, const bool from_cpu_side) {
  if (!from_cpu_side && cpuSidePort.isSnooping()) {
    cpuSidePort.sendFunctionalSnoop(packet);
    if (packet->isResponse()) return;
  }
  // A line on its way to a cache above must get the new value too. Cache leaves this line out if it
  // finds a modified copy of its own first.
  if (packet->isWrite()) cpuSidePort.trySatisfyFunctional(packet);
  Cache::functionalAccess(packet, from_cpu_side);
}

bool OwnerCache::modified_above(const Packet& packet) const {
  const Addr line = packet.getBlockAddr(blkSize);
  return std::any_of(above_.begin(), above_.end(), [&](const OwnerCache* cache) {
    return cache->has_modified(line, packet.isSecure());
  });
}

void OwnerCache::drop_older_copy(const Packet& packet) {
  const Addr line = packet.getBlockAddr(blkSize);
  if (CacheBlk* block = find_block(*tags, line, packet.isSecure())) {
    block->clearCoherenceBits(CacheBlk::DirtyBit);
  }
  if (WriteQueueEntry* leaving = writeBuffer.findMatch(line, packet.isSecure())) {
    PacketPtr written_back = leaving->getTarget()->pkt;
    markInService(leaving);  // removes the entry from the write buffer
    delete written_back;
  }
}

bool OwnerCache::has_modified(const Addr line, const bool secure) const {
  const CacheBlk* block = find_block(*tags, line, secure);
  if (block && block->isSet(CacheBlk::DirtyBit)) return true;
  WriteQueueEntry* leaving = writeBuffer.findMatch(line, secure);
  return leaving && leaving->getTarget()->pkt->cmd == MemCmd::WritebackDirty;
}

}  // namespace gem5::p5lab
