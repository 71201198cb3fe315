// SPDX-License-Identifier: MIT
// How does a device plug into the machine? A device is a folder engine/devices/NAME. The folder
// contains a class that derives from Device, and one line that registers the class (Registered). No
// other file names the device. engine/session reads the keys of the device and calls the device.
// engine/bochs connects the device to the emulated PC. engine/devices/README.md lists the steps to
// add a device.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/agenda.hh"
#include "base/clock.hh"
#include "base/events.hh"
#include "base/registry.hh"
#include "base/settings.hh"

namespace device {

using base::Agenda;
using base::Time;

// Widths of a port access. A sum of these bits represents a set of widths.
enum Width : uint8_t { kByte = 1, kWord = 2, kDouble = 4, kAnyWidth = 7 };

// A device's handlers for accesses to a range of I/O ports. `port` 0 is the first port of the
// range. `bytes` is the width of the access.
class Ports {
 public:
  virtual ~Ports() = default;
  virtual uint32_t read(uint32_t port, uint32_t bytes) = 0;
  virtual void write(uint32_t port, uint32_t value, uint32_t bytes) = 0;
  // PCI only: the guest has written the interrupt number into the device's register.
  virtual void routed(uint8_t irq) { (void)irq; }
};

// An interrupt line into the machine. The line keeps the value that was set last.
class Line {
 public:
  virtual ~Line() = default;
  virtual void set(bool on) = 0;
};

// A card on the ISA bus.
struct IsaCard {
  const char* name;      // shown in the emulator's log
  uint16_t first, last;  // the card's range of ports
  uint8_t widths;        // of Width
  uint8_t irq;
  // Ports of this range that support 16-bit accesses (IOCS16). Each access to these ports costs the
  // time of a 16-bit access.
  uint16_t wide_first = 1, wide_last = 0;
};

// A function on the PCI bus with one range of I/O ports (BAR 0) and the interrupt INTA.
struct PciCard {
  const char* name;         // short name
  const char* title;        // shown in the emulator's log
  uint16_t vendor, device;  // in the configuration space
  uint8_t revision;
  uint32_t class_code;  // 24 bits: class, subclass, interface
  uint16_t ports;       // number of ports, a power of two
  uint8_t widths;       // of Width
};

// How long do the floppy drives of the emulated PC take? The emulator holds their content. The
// functions return times, not before `now`.
struct FloppyPlace {
  uint32_t cylinder = 0, sector = 1;  // the first sector of a track is 1
  uint32_t sectors = 18;              // on a track
};
class FloppyTimes {
 public:
  virtual ~FloppyTimes() = default;
  // Bit N of `on`: the motor of drive N is on.
  virtual void motors(uint32_t on, Time now) = 0;
  // The controller sends steps to the drive, one after each `step`. Returns the end of the last
  // one.
  virtual Time seek(uint32_t drive, uint32_t cylinder, Time step, Time now) = 0;
  // Returns the time at which `count` sectors from `place` on have passed the head.
  virtual Time pass(uint32_t drive, const FloppyPlace& place, uint32_t count, Time now) = 0;
  // Returns the sector whose ID passes the head next. Sets `read` to the end of the ID.
  virtual uint32_t next_id(uint32_t drive, const FloppyPlace& place, Time now, Time* read) = 0;
};

// How long do the IDE disks of the emulated PC take? The emulator holds their content. `disk` is 2
// for each interface, and 1 for the slave.
class DiskTimes {
 public:
  virtual ~DiskTimes() = default;
  // Returns the time from which the disk takes a command: the end of its last write.
  virtual Time ready(uint32_t disk) = 0;
  // The disk begins to read `count` sectors, when it is ready.
  virtual void read(uint32_t disk, uint64_t first, uint32_t count, Time now) = 0;
  // Returns the time at which the disk has all sectors of its read before `end`.
  virtual Time buffered(uint32_t disk, uint64_t end) = 0;
  // The host has taken all sectors of the read.
  virtual void taken(uint32_t disk, Time now) = 0;
  // The host has given a block of `count` sectors. Returns the time at which the disk takes the
  // next block; after the `last` block, the time at which it reports the end of the write.
  virtual Time written(uint32_t disk, uint64_t first, uint32_t count, bool last, Time now) = 0;
};

// The interface between a device and the PC.
class Pc {
 public:
  virtual ~Pc() = default;

  // plug() connects a card to the PC and returns the card's interrupt line. The line exists as long
  // as the PC exists. The order of the plug() calls decides which PCI slot each card gets.
  virtual Line& plug(const IsaCard& card, Ports& ports) = 0;
  virtual Line& plug(const PciCard& card, Ports& ports) = 0;
  // From now on, the drives of the PC take these times. They exist as long as the PC exists.
  virtual void plug(FloppyTimes& times) = 0;
  virtual void plug(DiskTimes& times) = 0;

  // Bus mastering: the device accesses the guest's memory. One access stays within one page of 4
  // KB. Each access causes a snoop of the caches.
  virtual void read_memory(uint32_t address, uint8_t* bytes, uint32_t count) = 0;
  virtual void write_memory(uint32_t address, const uint8_t* bytes, uint32_t count) = 0;

  virtual Time now() const = 0;
  // Converts between clocks of the processor and virtual time.
  virtual const base::Clock& clock() const = 0;

  // Counts an event in the current ring and address space.
  virtual void count(base::events::Event event, uint64_t number) = 0;

  // Creates a file of the run. The engine flushes and checks the file at the end of the run.
  virtual std::FILE* create(const std::string& path) = 0;
  // Ends the run as failed; `reason` is one line.
  [[noreturn]] virtual void fail(const std::string& reason) = 0;
  // Ends the process because a file cannot be written. errno contains the reason.
  [[noreturn]] virtual void cannot_write(const std::string& path) = 0;
  // Ends the run with status "ok" although the guest's program has not ended.
  [[noreturn]] virtual void end(const std::string& reason) = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  // Checks and reads all keys of the device's device.toml, even if the machine does not have the
  // device. `settings` keeps the first error. Called once.
  virtual void read(base::Settings& settings) = 0;
  // Whether the machine has the device (`present` in device.toml). Valid after Devices::read().
  bool present() const { return present_; }

  // Reads the device's keys of a job. Several runs can start from the same boot, each with its own
  // job: the last call counts. A value that does not fit this machine is an error.
  virtual void read_job(base::Settings& settings) { (void)settings; }

  // Plugs the device into the PC. The PC exists longer than the device. Called once, and only if
  // the device is present.
  virtual void connect(Pc& pc) = 0;
  // The guest is ready and the measurement begins. Called only if the device is present.
  virtual void ready() {}

  // The future actions of the device. After ready() and after each access to a port, the PC sets a
  // timer for the next action, and runs the action when the timer fires.
  Agenda& agenda() { return agenda_; }

 protected:
  Agenda agenda_;

 private:
  friend class Devices;
  bool present_ = false;
};

// A kind of device. The devices of a machine are sorted by their `order` in device.toml. This order
// decides which PCI slot each device gets. The order also decides which timer fires first if two
// timers are due in the same clock.
struct Kind {
  base::events::Part part;  // the build derives this name from the folder: scsi -> Scsi
  std::unique_ptr<Device> (*make)();

  bool operator<(const Kind& other) const { return part < other.part; }
};

// Registers a kind. Each device has one static object:
//
//   const device::Registered<Disks> registered(base::events::Part::Scsi);
template <class Type>
struct Registered {
  explicit Registered(base::events::Part part) {
    base::enter(Kind{part, [] { return std::unique_ptr<Device>(std::make_unique<Type>()); }});
  }
};

// The devices of one machine.
class Devices {
 public:
  Devices() = default;  // none
  // One device of each kind.
  static Devices all();

  void read(base::Settings& settings);
  void read_job(base::Settings& settings);
  void ready();
  // The devices that the machine has, sorted by `order`.
  std::vector<Device*> present() const;

 private:
  struct Known {
    base::events::Part part;
    std::unique_ptr<Device> device;
  };
  std::vector<Known> known_;
};

}  // namespace device
