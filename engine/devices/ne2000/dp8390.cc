// SPDX-License-Identifier: MIT
#include "devices/ne2000/dp8390.hh"

#include <algorithm>
#include <utility>

#include "devices/ne2000/check.hh"

namespace device::ne2000 {
namespace {

// Command register.
constexpr uint8_t kStop = 0x01, kStart = 0x02, kTransmit = 0x04, kRemote = 0x38;
constexpr uint8_t kRemoteRead = 0x08, kRemoteWrite = 0x10, kSendPacket = 0x18, kNoRemote = 0x20;
// Interrupt status: received, transmitted, receive error, transmit error, ring full, tally
// counters, remote DMA done, and the reset state, which causes no interrupt.
constexpr uint8_t kPrx = 0x01, kPtx = 0x02, kTxe = 0x08, kOvw = 0x10, kCnt = 0x20, kRdc = 0x40,
                  kRst = 0x80;
constexpr uint8_t kWord = 0x01;      // DCR: 16 bits wide
constexpr uint8_t kLoopback = 0x06;  // TCR
constexpr uint8_t kSent = 0x01, kCollided = 0x04, kAborted = 0x08, kUnderrun = 0x20;  // TSR
constexpr uint8_t kRunts = 0x02, kBroadcast = 0x04, kMulticast = 0x08, kPromiscuous = 0x10,
                  kMonitor = 0x20;                                // RCR
constexpr uint8_t kIntact = 0x01, kMissed = 0x10, kGroup = 0x20;  // RSR
constexpr uint8_t kTallyMax = 192, kTallyHalf = 128;

constexpr uint32_t kPage = 256, kHeader = 4;
constexpr uint32_t kAddressBytes = 6;

void set_low(uint16_t* word, uint8_t value) { *word = uint16_t((*word & 0xFF00) | value); }
void set_high(uint16_t* word, uint8_t value) { *word = uint16_t((*word & 0x00FF) | value << 8); }

}  // namespace

void Dp8390::reset() {
  command_ = kStop | kNoRemote;
  isr_ = kRst;
  imr_ = dcr_ = tcr_ = rcr_ = tsr_ = rsr_ = 0;
  pstart_ = pstop_ = boundary_ = current_ = tpsr_ = collisions_ = missed_ = 0;
  tbcr_ = rsar_ = rbcr_ = 0;
  address_.fill(0);
  multicast_.fill(0);
  coming_ = next_ = nullptr;
  running_ = sending_ = false;
  epoch_++;
  update();
}

uint8_t Dp8390::read(uint32_t index) {
  if (index == 0) return command_;
  switch (command_ >> 6) {
    case 0:
      switch (index) {
        case 0x1:
          return 0;  // CLDA: position of the local DMA between two frames
        case 0x2:
          return current_;
        case 0x3:
          return boundary_;
        case 0x4:
          return tsr_;
        case 0x5:
          return collisions_;
        case 0x7:
          return isr_;
        case 0x8:
          return uint8_t(rsar_);
        case 0x9:
          return uint8_t(rsar_ >> 8);
        case 0xC:
          return rsr_;
        case 0xD:
        case 0xE:
          return 0;  // frames with errors: this wire has no such frames
        case 0xF: {
          const uint8_t value = missed_;  // a read clears the counter
          missed_ = 0;
          return value;
        }
        default:
          return 0xFF;
      }
    case 1:
      if (index <= 6) return address_[index - 1];
      return index == 7 ? current_ : multicast_[index - 8];
    case 2:
      switch (index) {
        case 0x1:
          return pstart_;
        case 0x2:
          return pstop_;
        case 0x4:
          return tpsr_;
        case 0xC:
          return rcr_ | 0xC0;
        case 0xD:
          return tcr_ | 0xE0;
        case 0xE:
          return dcr_ | 0x80;
        case 0xF:
          return imr_ | 0x80;
        default:
          return 0xFF;
      }
    default:
      return 0xFF;
  }
}

void Dp8390::write(uint32_t index, uint8_t value, Time now) {
  if (index == 0)
    command(value, now);
  else
    write_register(index, value);
  wire_.go_on(now);  // perhaps the ring has room again
}

void Dp8390::write_register(uint32_t index, uint8_t value) {
  const uint8_t page = command_ >> 6;
  if (page == 1) {
    if (index <= 6)
      address_[index - 1] = value;
    else if (index == 7)
      current_ = value;
    else
      multicast_[index - 8] = value;
  }
  if (page != 0) return;  // page 2 is for reading
  switch (index) {
    case 0x1:
      pstart_ = value;
      break;
    case 0x2:
      pstop_ = value;
      break;
    case 0x3:
      boundary_ = value;
      // After an overflow, RST stays set until the driver has removed a packet.
      if (running_) isr_ &= uint8_t(~kRst);
      break;
    case 0x4:
      tpsr_ = value;
      break;
    case 0x5:
      set_low(&tbcr_, value);
      break;
    case 0x6:
      set_high(&tbcr_, value);
      break;
    case 0x7:
      isr_ &= uint8_t(~value | kRst);
      // A driver may clear PRX before it has read all frames, because the next frame sets PRX. An
      // ideal wire does not send this frame into a full ring.
      if (wire_.waits_for(station_)) isr_ |= kPrx;
      update();
      break;
    case 0x8:
      set_low(&rsar_, value);
      break;
    case 0x9:
      set_high(&rsar_, value);
      break;
    case 0xA:
      set_low(&rbcr_, value);
      break;
    case 0xB:
      set_high(&rbcr_, value);
      break;
    case 0xC:
      rcr_ = value & 0x3F;
      break;
    case 0xD:
      tcr_ = value & 0x1F;
      break;
    case 0xE:
      dcr_ = value & 0x7F;
      break;
    case 0xF:
      imr_ = value & 0x7F;
      update();
      break;
    default:
      break;
  }
}

void Dp8390::command(uint8_t value, Time now) {
  // TXP stays set until the frame has ended. A write of 0 does not clear TXP.
  command_ = uint8_t((value & ~kTransmit) | (sending_ ? kTransmit : 0));
  // STA starts the card, and STP stops the card. A driver that only selects a page sets neither
  // bit, and the card keeps its state.
  if (value & kStop) {
    running_ = false;
    if (!sending_ && !coming_) stopped();
  } else if (value & kStart && !running_) {
    running_ = true;
    isr_ &= uint8_t(~kRst);
  }
  const uint8_t remote = value & kRemote;
  if (remote == kSendPacket) {
    // The transfer reads the next packet of the ring. The header of the packet contains the length.
    rsar_ = uint16_t(boundary_ * kPage);
    rbcr_ = uint16_t(board_.read_memory(uint16_t(rsar_ + 2)) |
                     board_.read_memory(uint16_t(rsar_ + 3)) << 8);
  }
  // Drivers use a transfer of 0 bytes to find the number of the card's interrupt.
  if ((remote == kRemoteRead || remote == kRemoteWrite) && rbcr_ == 0 && running_) {
    raise(kRdc);
  }
  if (value & kTransmit && !sending_ && running_) transmit(now);
}

void Dp8390::stopped() { isr_ |= kRst; }

// --- transmission -------------------------------------------------------------------------------

void Dp8390::transmit(Time now) {
  tsr_ = collisions_ = 0;
  if (tbcr_ == 0) {
    tsr_ = kUnderrun;
    return raise(kTxe);
  }
  sending_ = true;
  command_ |= kTransmit;
  // The frame is copied here. (The real local DMA reads the frame during the transmission.) If a
  // driver changes the memory during the transmission, the model sends the old frame.
  auto frame = std::make_shared<Frame>(tbcr_);
  for (uint32_t i = 0; i < tbcr_; i++) {
    (*frame)[i] = board_.read_memory(uint16_t(tpsr_ * kPage + i));
  }
  if (tcr_ & kLoopback) {
    agenda_.at(now + wire_.frame_time(frame->size()), [this, epoch = epoch_](Time) {
      if (epoch == epoch_) done(false, 0);
    });
  } else if (on_wire_) {
    next_ = std::move(frame);
  } else {
    on_wire_ = true;
    wire_.send(station_, std::move(frame), now);
  }
}

void Dp8390::sent(Time now, uint32_t collisions, bool aborted) {
  on_wire_ = false;
  if (next_) {  // this frame waited, because a reset came during a transmission
    on_wire_ = true;
    wire_.send(station_, std::exchange(next_, nullptr), now);
  } else if (sending_) {
    done(aborted, collisions);
  }
}

void Dp8390::done(bool aborted, uint32_t collisions) {
  sending_ = false;
  command_ &= uint8_t(~kTransmit);
  collisions_ = uint8_t(collisions & 0x0F);
  tsr_ = uint8_t((aborted ? kAborted : kSent) | (collisions ? kCollided : 0));
  if (!running_ && !coming_) stopped();
  raise(aborted ? kTxe : kPtx);
}

// --- reception ----------------------------------------------------------------------------------

bool Dp8390::online() const { return running_ && !(tcr_ & kLoopback) && pstart_ < pstop_; }

bool Dp8390::accepts(const Frame& frame) const {
  if (frame.size() < kAddressBytes) return false;
  if (frame.size() < kMinFrame && !(rcr_ & kRunts)) return false;
  if (rcr_ & kPromiscuous) return true;
  if (!(frame[0] & 1)) return std::equal(address_.begin(), address_.end(), frame.begin());
  if (std::all_of(frame.begin(), frame.begin() + kAddressBytes,
                  [](uint8_t byte) { return byte == 0xFF; })) {
    return rcr_ & kBroadcast;
  }
  if (!(rcr_ & kMulticast)) return false;
  // The hash contains the six highest bits of the address's check sequence. The first of these bits
  // is the highest bit of the hash.
  uint32_t check = ~crc32(0, frame.data(), kAddressBytes), hash = 0;
  for (int bit = 0; bit < 6; bit++, check >>= 1) hash = hash << 1 | (check & 1);
  return multicast_[hash >> 3] >> (hash & 7) & 1;
}

uint8_t Dp8390::next_page(uint32_t page) const {
  return uint8_t(page + 1 >= pstop_ ? pstart_ : page + 1);
}

void Dp8390::incoming(Time first, Time last, const FramePtr& frame) {
  if (!online() || !accepts(*frame)) return;
  if (rcr_ & kMonitor) return miss();
  coming_ = frame;
  coming_first_ = first;
  const uint32_t number = ++coming_number_;
  page_ = current_;
  agenda_.at(first + wire_.time((kPreamble + kAddressBytes) * 8), [this, number](Time then) {
    if (coming_ && number == coming_number_) need_page(0, then);
  });
  agenda_.at(last, [this, number](Time then) {
    if (coming_ && number == coming_number_) store(then);
  });
}

bool Dp8390::has_room(const Frame& frame) const {
  if (!online() || !accepts(frame) || rcr_ & kMonitor) return true;  // the frame needs no room
  const uint32_t pages = uint32_t((kHeader + frame.size() + kCheck + kPage - 1) / kPage);
  if (pages >= uint32_t(pstop_ - pstart_)) return true;  // no ring of this size can hold the frame
  // Linux's driver writes the page before the ring as the boundary, instead of the last page of the
  // ring. The controller then overwrites frames that the driver has not read.
  const bool inside = boundary_ >= pstart_ && boundary_ < pstop_;
  const uint8_t last = inside ? boundary_ : uint8_t(pstop_ - 1);
  uint8_t page = current_;
  for (uint32_t i = 0; i < pages; i++, page = next_page(page)) {
    if (page == last) return false;
  }
  return true;
}

// The local DMA needs a new page for the frame. Reception stops at the boundary pointer, because
// the driver has not yet read the page at this pointer.
void Dp8390::need_page(uint32_t page, Time now) {
  if (page) page_ = next_page(page_);
  if (page_ == boundary_) {
    coming_ = nullptr;
    miss();
    isr_ |= kRst;
    return raise(kOvw);
  }
  const uint32_t next = (page + 1) * kPage - kHeader;  // bytes of the frame before the next page
  if (next >= coming_->size() + kCheck) return;
  const uint32_t number = coming_number_;
  const Time when = coming_first_ + wire_.time((kPreamble + next) * 8);
  if (when == now) return need_page(page + 1, now);  // the wire takes no time
  agenda_.at(when, [this, number, page](Time then) {
    if (coming_ && number == coming_number_) need_page(page + 1, then);
  });
}

void Dp8390::store(Time) {
  const FramePtr frame = std::move(coming_);
  coming_ = nullptr;
  const uint32_t length = uint32_t(frame->size()) + kCheck;
  const uint32_t check = crc32(0, frame->data(), frame->size());
  const uint8_t next = next_page(page_);
  rsr_ = uint8_t(kIntact | ((*frame)[0] & 1 ? kGroup : 0));
  const uint8_t header[kHeader] = {rsr_, next, uint8_t(length), uint8_t(length >> 8)};
  uint32_t page = current_, offset = 0;
  const auto put = [&](uint8_t byte) {
    if (offset == kPage) {
      page = next_page(page);
      offset = 0;
    }
    board_.write_memory(uint16_t(page * kPage + offset++), byte);
  };
  for (const uint8_t byte : header) put(byte);
  for (const uint8_t byte : *frame) put(byte);
  for (int shift = 0; shift < 32; shift += 8) put(uint8_t(check >> shift));
  current_ = next;
  witness_.received(frame->size());
  if (!running_ && !sending_) stopped();
  raise(kPrx);
}

void Dp8390::miss() {
  rsr_ |= kMissed;
  witness_.missed();
  if (missed_ < kTallyMax) missed_++;
  if (missed_ == kTallyHalf) raise(kCnt);
}

// --- remote DMA ---------------------------------------------------------------------------------

void Dp8390::advance() {
  const uint16_t step = dcr_ & kWord ? 2 : 1;
  rsar_ = uint16_t(rsar_ + step);
  if (rsar_ == uint16_t(pstop_ * kPage)) rsar_ = uint16_t(pstart_ * kPage);  // wrap around the ring
  rbcr_ = rbcr_ > step ? uint16_t(rbcr_ - step) : 0;
  if (rbcr_ == 0) raise(kRdc);
}

uint16_t Dp8390::read_data() {
  const uint8_t remote = command_ & kRemote;
  if (rbcr_ == 0 || (remote != kRemoteRead && remote != kSendPacket)) return 0xFFFF;
  uint16_t value = board_.read_memory(rsar_);
  if (dcr_ & kWord) {
    const uint16_t at = rsar_ & 0xFFFE;
    value = uint16_t(board_.read_memory(at) | board_.read_memory(uint16_t(at + 1)) << 8);
  }
  advance();
  return value;
}

void Dp8390::write_data(uint16_t value) {
  if (rbcr_ == 0 || (command_ & kRemote) != kRemoteWrite) return;
  if (dcr_ & kWord) {
    const uint16_t at = rsar_ & 0xFFFE;
    board_.write_memory(at, uint8_t(value));
    board_.write_memory(uint16_t(at + 1), uint8_t(value >> 8));
  } else {
    board_.write_memory(rsar_, uint8_t(value));
  }
  advance();
}

// --- interrupts ---------------------------------------------------------------------------------

void Dp8390::raise(uint8_t bits) {
  isr_ |= bits;
  update();
}

void Dp8390::update() {
  const bool on = isr_ & imr_ & uint8_t(~kRst);
  if (on != line_) board_.interrupt(line_ = on);
}

}  // namespace device::ne2000
