// SPDX-License-Identifier: MIT
#include "owner_cache.hh"

#include <memory>
#include <vector>

namespace gem5::p5lab {

OwnerCache::OwnerCache(const Params& params) : Cache(params) {}

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

void OwnerCache::recvTimingSnoopReq(PacketPtr packet) {
  drop_older_copy(*packet);
  Cache::recvTimingSnoopReq(packet);
}

Tick OwnerCache::recvAtomicSnoop(PacketPtr packet) {
  drop_older_copy(*packet);
  return Cache::recvAtomicSnoop(packet);
}

void OwnerCache::functionalAccess(PacketPtr packet, const bool from_cpu_side) {
  if (!from_cpu_side && cpuSidePort.isSnooping()) {
    cpuSidePort.sendFunctionalSnoop(packet);
    if (packet->isResponse()) return;
  }
  Cache::functionalAccess(packet, from_cpu_side);
}

void OwnerCache::drop_older_copy(const Packet& packet) {
  if (!inRange(packet.getAddr())) return;
  const Addr line = packet.getBlockAddr(blkSize);
  CacheBlk* block = tags->findBlock(line, packet.isSecure());
  const bool modified_here = block && block->isSet(CacheBlk::DirtyBit);
  WriteQueueEntry* leaving = writeBuffer.findMatch(line, packet.isSecure());
  if ((!modified_here && !leaving) || !modified_above(line)) return;
  if (modified_here) block->clearCoherenceBits(CacheBlk::DirtyBit);
  if (leaving) {
    PacketPtr written_back = leaving->getTarget()->pkt;
    markInService(leaving);  // removes the entry from the write buffer
    delete written_back;
  }
}

bool OwnerCache::modified_above(const Addr line) const {
  // gem5's caches answer a functional read only from a modified copy.
  std::vector<uint8_t> data(blkSize);
  Packet probe(std::make_shared<Request>(line, blkSize, 0, Request::funcRequestorId),
               MemCmd::ReadReq);
  probe.dataStatic(data.data());
  cpuSidePort.sendFunctionalSnoop(&probe);
  return probe.isResponse();
}

}  // namespace gem5::p5lab
