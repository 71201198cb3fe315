// SPDX-License-Identifier: MIT
// How a device plugs into the machine. A device is a folder engine/devices/NAME with a class that
// derives from Device and one line that registers it (Registered). Nothing else names it:
// engine/session reads its keys and calls it, engine/bochs connects it to the emulated PC.
// engine/devices/README.md is the recipe.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "agenda.hh"
#include "clock.hh"
#include "events.hh"
#include "settings.hh"

namespace device {

using base::Agenda;
using base::Time;

// Widths of a port access, as bits.
enum Width : uint8_t { kByte = 1, kWord = 2, kDouble = 4, kAnyWidth = 7 };

// What answers at a range of I/O ports. `port` counts from the first port of the range, `bytes` is
// the width of the access.
class Ports {
 public:
  virtual ~Ports() = default;
  virtual uint32_t read(uint32_t port, uint32_t bytes) = 0;
  virtual void write(uint32_t port, uint32_t value, uint32_t bytes) = 0;
  // PCI only: the guest has written the register that holds the number of the interrupt.
  virtual void routed(uint8_t irq) { (void)irq; }
};

// An interrupt line into the machine. A level: it stays as set.
class Line {
 public:
  virtual ~Line() = default;
  virtual void set(bool on) = 0;
};

// A card on the ISA bus.
struct IsaCard {
  const char* name;      // in the emulator's log
  uint16_t first, last;  // its ports
  uint8_t widths;        // of Width
  uint8_t irq;
  // The ports of these that answer with 16 bits (IOCS16). They cost the time of a 16-bit access.
  uint16_t wide_first = 1, wide_last = 0;
};

// A function on the PCI bus with one range of I/O ports (BAR 0) and the interrupt INTA.
struct PciCard {
  const char* name;         // short
  const char* title;        // in the emulator's log
  uint16_t vendor, device;  // of the configuration space
  uint8_t revision;
  uint32_t class_code;  // 24 bits: class, subclass, interface
  uint16_t ports;       // a power of two
  uint8_t widths;       // of Width
};

// The PC around a device.
class Pc {
 public:
  virtual ~Pc() = default;

  // Plug a card in. The line that is returned is its interrupt; it lives as long as the PC. The
  // slots of PCI are given in the order of calls.
  virtual Line& plug(const IsaCard& card, Ports& ports) = 0;
  virtual Line& plug(const PciCard& card, Ports& ports) = 0;

  // Bus mastering: the device itself reads and writes the guest's memory, within a page of 4 KB.
  // The caches are asked about it.
  virtual void read_memory(uint32_t address, uint8_t* bytes, uint32_t count) = 0;
  virtual void write_memory(uint32_t address, const uint8_t* bytes, uint32_t count) = 0;

  virtual Time now() const = 0;
  // Clocks of the processor and virtual time, one by the other.
  virtual const base::Clock& clock() const = 0;

  // Counts an event in the ring and address space that runs now.
  virtual void count(p5::Event event, uint64_t number) = 0;

  // A new file of the run. What is written to it is flushed and checked at the end of the run.
  virtual std::FILE* create(const std::string& path) = 0;
  // The run fails, for a reason of one line.
  [[noreturn]] virtual void fail(const std::string& reason) = 0;
  // The run fails: a file cannot be written (errno says why).
  [[noreturn]] virtual void cannot_write(const std::string& path) = 0;
  // The run ends well, without the guest's program having ended it.
  [[noreturn]] virtual void end(const std::string& reason) = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  // Checks and reads all keys of its device.toml, whether the machine has it or not. Errors are
  // kept in `settings`. Called once.
  virtual void read(base::Settings& settings) = 0;
  // Whether the machine has it, as its device.toml says. Valid after Devices::read().
  bool present() const { return present_; }

  // The options that may differ between runs that share a boot, and their reading: at the start
  // and, of runs that share a boot, again in each of them. An option that the machine cannot have
  // is an error.
  virtual std::vector<std::string> job_keys() const { return {}; }
  virtual void read_job(base::Settings& settings) { (void)settings; }

  // Plugs itself into the PC, which outlives it. Called once, and only if it is present.
  virtual void connect(Pc& pc) = 0;
  // The guest is ready: what is measured begins. Only if it is present.
  virtual void ready() {}

  // What it is to do, and when. The PC runs it: a timer is set for its next action after each
  // access to a port and after ready().
  Agenda& agenda() { return agenda_; }

 protected:
  Agenda agenda_;

 private:
  friend class Devices;
  bool present_ = false;
};

// A kind of device. Its `order` in device.toml sorts the devices of a machine: it decides their
// slots on PCI and which timer comes first of those due in the same clock.
struct Kind {
  p5::Part part;  // the build makes it of the folder's name: scsi -> Scsi
  std::unique_ptr<Device> (*make)();
};

// Enters a kind in the list. One static object for each device:
//
//   const device::Registered<Disks> registered(p5::Part::Scsi);
void enter(const Kind& kind);
template <class Type>
struct Registered {
  explicit Registered(p5::Part part) {
    enter({part, [] { return std::unique_ptr<Device>(std::make_unique<Type>()); }});
  }
};

// All kinds, in the order of their device.toml.
const std::vector<Kind>& kinds();

// The devices of one machine.
class Devices {
 public:
  Devices() = default;  // none
  // One of each kind.
  static Devices all();

  void read(base::Settings& settings);
  void read_job(base::Settings& settings);
  std::vector<std::string> job_keys() const;
  void ready();
  // Those that the machine has, in order.
  std::vector<Device*> present() const;

 private:
  struct Known {
    p5::Part part;
    std::unique_ptr<Device> device;
  };
  std::vector<Known> known_;
};

}  // namespace device
