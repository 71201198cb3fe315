// SPDX-License-Identifier: MIT
// How does National Semiconductor's DP8390 network controller work? The controller has registers,
// remote DMA, transmission, and a ring of 256-byte pages for received frames. The sources are the
// DP8390D/NS32490D data sheet (1995) and Linux's drivers (drivers/net/ethernet/8390).
#pragma once

#include <array>

#include "devices/ne2000/wire.hh"

namespace device::ne2000 {

using Address = std::array<uint8_t, 6>;

// The board around the controller: its memory and its interrupt pin.
class Board {
 public:
  virtual ~Board() = default;
  virtual uint8_t read_memory(uint16_t address) = 0;
  virtual void write_memory(uint16_t address, uint8_t value) = 0;
  virtual void interrupt(bool on) = 0;
};

// Observes the frames that arrive for the guest.
class CardWitness {
 public:
  virtual ~CardWitness() = default;
  virtual void received(size_t bytes) = 0;
  virtual void missed() = 0;  // the ring had no room
};

class Dp8390 : public Station {
 public:
  static constexpr uint32_t kRegisters = 16;

  Dp8390(Wire& wire, uint32_t station, Agenda& agenda, Board& board, CardWitness& witness)
      : wire_(wire), station_(station), agenda_(agenda), board_(board), witness_(witness) {
    reset();
  }

  void reset();
  uint8_t read(uint32_t index);
  void write(uint32_t index, uint8_t value, Time now);

  // Remote DMA: one bus transfer. DCR selects whether the transfer moves a byte or a word.
  uint16_t read_data();
  void write_data(uint16_t value);

  void sent(Time now, uint32_t collisions, bool aborted) override;
  void incoming(Time first, Time last, const FramePtr& frame) override;
  bool has_room(const Frame& frame) const override;

 private:
  void write_register(uint32_t index, uint8_t value);
  void command(uint8_t value, Time now);
  void transmit(Time now);
  void done(bool aborted, uint32_t collisions);
  void stopped();
  bool accepts(const Frame& frame) const;
  void need_page(uint32_t page, Time now);
  void store(Time now);
  void miss();
  void advance();
  void raise(uint8_t bits);
  void update();
  uint8_t next_page(uint32_t page) const;
  bool online() const;

  Wire& wire_;
  uint32_t station_;
  Agenda& agenda_;
  Board& board_;
  CardWitness& witness_;

  uint8_t command_, isr_, imr_, dcr_, tcr_, rcr_, tsr_, rsr_;
  uint8_t pstart_, pstop_, boundary_, current_, tpsr_, collisions_, missed_;
  uint16_t tbcr_, rsar_, rbcr_;
  Address address_;
  std::array<uint8_t, 8> multicast_;
  bool line_ = false;
  bool running_ = false;
  bool sending_ = false;  // a frame is on the wire, waits for the wire, or is in loopback
  bool on_wire_ = false;  // the wire has a frame of this card, perhaps from before a reset
  FramePtr next_;         // the frame to send after the frame on the wire
  uint32_t epoch_ = 0;    // number of resets
  // The frame that the card now receives, its sequence number, and the current page of the ring.
  FramePtr coming_;
  uint32_t coming_number_ = 0;
  Time coming_first_ = 0;
  uint8_t page_ = 0;
};

}  // namespace device::ne2000
