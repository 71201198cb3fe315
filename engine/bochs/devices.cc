// SPDX-License-Identifier: LGPL-2.1-or-later
// How are the devices of engine/devices connected to the PC that Bochs emulates? This file supplies
// ports, interrupts, PCI functions, memory and timers to the devices. It names no device.
#include <memory>
#include <string>
#include <vector>

#include "bochs.h"
#include "bochs/glue.hh"
#include "devices/device.hh"
#include "iodev/iodev.h"
#include "pc_system.h"

namespace {

constexpr unsigned kFirstSlot = 3;  // PCI device number of the first function
constexpr Bit8u kIntA = 1;

class Connection;

// A card in an ISA slot.
class IsaSlot : public device::Line {
 public:
  IsaSlot(Connection& connection, const device::IsaCard& card, device::Ports& ports)
      : connection_(connection), card_(card), ports_(ports) {
    DEV_register_irq(card.irq, card.name);
    DEV_register_ioread_handler_range(this, read, card.first, card.last, card.name, card.widths);
    DEV_register_iowrite_handler_range(this, write, card.first, card.last, card.name, card.widths);
    if (card.wide_first <= card.wide_last) bochs::wide_ports(card.wide_first, card.wide_last);
  }

  void set(bool on) override {
    if (on)
      DEV_pic_raise_irq(card_.irq);
    else
      DEV_pic_lower_irq(card_.irq);
  }

 private:
  static Bit32u read(void* slot, Bit32u address, unsigned bytes);
  static void write(void* slot, Bit32u address, Bit32u value, unsigned bytes);

  Connection& connection_;
  const device::IsaCard card_;
  device::Ports& ports_;
};

// A function in a PCI slot.
class PciSlot : public bx_pci_device_c, public device::Line {
 public:
  PciSlot(Connection& connection, const device::PciCard& card, device::Ports& ports)
      : connection_(connection),
        ports_(ports),
        devfunc_(Bit8u(next_slot++ << 3)),
        widths_(card.ports, card.widths) {
    put(card.name);
    DEV_register_pci_handlers(this, &devfunc_, card.name, card.title);
    init_pci_conf(card.vendor, card.device, card.revision, card.class_code, 0x00, kIntA);
    init_bar_io(0, card.ports, read, write, widths_.data());
  }

  void pci_write_handler(Bit8u address, Bit32u value, unsigned length) override {
    for (unsigned i = 0; i < length; i++, value >>= 8) {
      if (address + i == 4) pci_conf[4] = Bit8u(value & 5);  // I/O space, bus master
    }
    ports_.routed(pci_conf[0x3C]);
  }

  void set(bool on) override { DEV_pci_set_irq(devfunc_, pci_conf[0x3D], on); }

 private:
  static unsigned next_slot;
  static Bit32u read(void* slot, Bit32u address, unsigned bytes);
  static void write(void* slot, Bit32u address, Bit32u value, unsigned bytes);

  Connection& connection_;
  device::Ports& ports_;
  Bit8u devfunc_;
  std::vector<Bit8u> widths_;  // [port]
};

unsigned PciSlot::next_slot = kFirstSlot;

// One device and its timer.
class Connection : public device::Pc {
 public:
  Connection(device::Device& device, const base::Clock& clock) : device_(device), clock_(clock) {
    timer_ = bx_pc_system.register_timer_ticks(this, timer, 1, false, false, "p5 device");
    device.connect(*this);
    go_on();
  }

  device::Line& plug(const device::IsaCard& card, device::Ports& ports) override {
    isa_.push_back(std::make_unique<IsaSlot>(*this, card, ports));
    return *isa_.back();
  }
  device::Line& plug(const device::PciCard& card, device::Ports& ports) override {
    pci_.push_back(std::make_unique<PciSlot>(*this, card, ports));
    return *pci_.back();
  }

  void plug(device::FloppyTimes& times) override { bochs::use_times(times, clock_); }
  void plug(device::DiskTimes& times) override { bochs::use_times(times, clock_); }

  void read_memory(uint32_t address, uint8_t* bytes, uint32_t count) override {
    DEV_MEM_READ_PHYSICAL_DMA(address, count, bytes);
  }
  void write_memory(uint32_t address, const uint8_t* bytes, uint32_t count) override {
    DEV_MEM_WRITE_PHYSICAL_DMA(address, count, const_cast<Bit8u*>(bytes));
  }

  base::Time now() const override { return clock_.time(bx_pc_system.time_ticks()); }
  const base::Clock& clock() const override { return clock_; }
  void count(base::events::Event event, uint64_t number) override {
    bochs::count_event(event, number);
  }

  std::FILE* create(const std::string& path) override {
    return bochs::run().end().create(path).file();
  }
  void fail(const std::string& reason) override { bochs::run().end().fail(reason); }
  void cannot_write(const std::string& path) override { session::cannot_write(path); }
  void end(const std::string& reason) override { bochs::run().end().stop(reason); }

  // Runs the actions that are due, and sets the timer for the next action.
  void go_on() {
    base::Agenda& agenda = device_.agenda();
    agenda.run(now());
    next_ = agenda.next();
    if (next_ == base::kNever) return bx_pc_system.deactivate_timer(timer_);
    const Bit64u ticks = clock_.first_clock(next_) - bx_pc_system.time_ticks();
    bx_pc_system.activate_timer_ticks(timer_, ticks, false);
  }
  // Most reads of a port do not change the agenda.
  void go_on_if_changed() {
    if (device_.agenda().next() != next_) go_on();
  }

 private:
  static void timer(void* self) { static_cast<Connection*>(self)->go_on(); }

  device::Device& device_;
  const base::Clock clock_;
  int timer_;
  base::Time next_ = base::kNever;  // time for which the timer is set
  std::vector<std::unique_ptr<IsaSlot>> isa_;
  std::vector<std::unique_ptr<PciSlot>> pci_;
};

Bit32u IsaSlot::read(void* self, Bit32u address, unsigned bytes) {
  IsaSlot* slot = static_cast<IsaSlot*>(self);
  const Bit32u value = slot->ports_.read(address - slot->card_.first, bytes);
  slot->connection_.go_on_if_changed();
  return value;
}

void IsaSlot::write(void* self, Bit32u address, Bit32u value, unsigned bytes) {
  IsaSlot* slot = static_cast<IsaSlot*>(self);
  slot->ports_.write(address - slot->card_.first, value, bytes);
  slot->connection_.go_on();
}

Bit32u PciSlot::read(void* self, Bit32u address, unsigned bytes) {
  PciSlot* slot = static_cast<PciSlot*>(self);
  const Bit32u value = slot->ports_.read(address - slot->pci_bar[0].addr, bytes);
  slot->connection_.go_on_if_changed();
  return value;
}

void PciSlot::write(void* self, Bit32u address, Bit32u value, unsigned bytes) {
  PciSlot* slot = static_cast<PciSlot*>(self);
  slot->ports_.write(address - slot->pci_bar[0].addr, value, bytes);
  slot->connection_.go_on();
}

std::vector<std::unique_ptr<Connection>> connections;

}  // namespace

void p5_devices(void) {
  const base::Clock clock(bochs::run().conf().config().machine.clock_hz());
  for (device::Device* device : bochs::run().conf().devices().present()) {
    connections.push_back(std::make_unique<Connection>(*device, clock));
  }
}

void bochs::run_agendas() {
  for (const auto& connection : connections) connection->go_on();
}
