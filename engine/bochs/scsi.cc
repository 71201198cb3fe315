// SPDX-License-Identifier: LGPL-2.1-or-later
#include "scsi.hh"

#include <memory>
#include <string>
#include <vector>

#include "bochs.h"
#include "disks.hh"
#include "ethernet.hh"
#include "iodev/iodev.h"
#include "multimaster.hh"
#include "pc_system.h"
#include "run.hh"

namespace {

constexpr unsigned kFirstSlot = 3;  // PCI device number of the first adapter
constexpr Bit8u kIntA = 1;
constexpr Bit16u kVendor = 0x104B, kDevice = 0x1040;                  // BusLogic, MultiMaster
constexpr Bit8u kPortMask[disk::MultiMaster::kPorts] = {1, 1, 1, 1};  // byte accesses
constexpr unsigned kPartitions = 446, kPartitionStart = 8, kPartitionSize = 12;  // in the MBR

class Disks;
extern std::unique_ptr<Disks> disks;

// One host adapter: its PCI function, its ports, its way to memory and interrupts.
class Adapter : public bx_pci_device_c, public disk::Host {
 public:
  Adapter(const disk::Config& config, disk::Agenda& agenda, unsigned number)
      : devfunc_(Bit8u((kFirstSlot + number) << 3)),
        card(disk::MultiMasterConfig{0, config.adapter, config.select, config.reselect,
                                     config.bus_sector},
             agenda, *this) {
    put("scsi", "SCSI");
    DEV_register_pci_handlers(this, &devfunc_, "p5scsi", "SCSI host adapter");
    init_pci_conf(kVendor, kDevice, 0x08, 0x010000, 0x00, kIntA);
    init_bar_io(0, disk::MultiMaster::kPorts, read_handler, write_handler, kPortMask);
  }

  void pci_write_handler(Bit8u address, Bit32u value, unsigned length) override {
    for (unsigned i = 0; i < length; i++, value >>= 8) {
      if (address + i == 4) pci_conf[4] = Bit8u(value & 5);  // I/O space, bus master
    }
    card.set_irq(pci_conf[0x3C]);
  }

  void read_memory(uint32_t address, uint8_t* bytes, uint32_t count) override {
    DEV_MEM_READ_PHYSICAL_DMA(address, count, bytes);
  }
  void write_memory(uint32_t address, const uint8_t* bytes, uint32_t count) override {
    DEV_MEM_WRITE_PHYSICAL_DMA(address, count, const_cast<Bit8u*>(bytes));
  }
  void interrupt(bool on) override { DEV_pci_set_irq(devfunc_, pci_conf[0x3D], on); }
  void begun(disk::Time now) override;
  void done(disk::Time now, const disk::Account& account) override;

 private:
  static Bit32u read_handler(void* adapter, Bit32u address, unsigned length);
  static void write_handler(void* adapter, Bit32u address, Bit32u value, unsigned length);
  uint32_t port(Bit32u address) const { return address - pci_bar[0].addr; }

  Bit8u devfunc_;

 public:
  disk::MultiMaster card;
};

// All of them, and the one timer that they share.
class Disks {
 public:
  explicit Disks(const disk::Config& config, uint64_t clock_hz) : config_(config), hz_(clock_hz) {
    timer_ = bx_pc_system.register_timer_ticks(this, timer, 1, false, false, "p5 disks");
    for (unsigned i = 0; i < config.adapters; i++) {
      adapters_.push_back(std::make_unique<Adapter>(config, agenda_, i));
    }
    std::string problem;
    for (unsigned i = 0; i < config.count; i++) {
      drives_.push_back(std::make_unique<disk::Drive>(config.drive, agenda_, &problem));
      adapters_[i % config.adapters]->card.attach(
          id(i / config.adapters),
          std::make_unique<disk::Target>(*drives_[i], config.vendor, config.product,
                                         config.tagged_queueing));
    }
    if (!config.image.empty() && !drives_[0]->medium().load(config.image, &problem)) {
      p5::Run::instance().fail(problem);
    }
  }

  disk::Time now() const { return time(bx_pc_system.time_ticks()); }

  // What is due, and when to be called for the next.
  void go_on() {
    agenda_.run(now());
    const disk::Time next = agenda_.next();
    if (next == disk::kNever) return bx_pc_system.deactivate_timer(timer_);
    const Bit64u ticks = Bit64u((wide(next) * hz_ + disk::kSecond - 1) / disk::kSecond);
    bx_pc_system.activate_timer_ticks(timer_, ticks - bx_pc_system.time_ticks(), false);
  }

  // Requests of all disks that are under way: some disk is busy as long as there is one. What has
  // passed is counted at the end of each, so that a long row of them is not counted at its end
  // only.
  void begun(disk::Time now) {
    if (active_++ == 0) busy_since_ = now;
  }
  void done(disk::Time now, const disk::Account& account) {
    using p5::Event;
    active_--;
    count(Event::DiskBusy, clocks(now) - clocks(busy_since_));
    busy_since_ = now;
    if (!account.read && !account.write) return;
    count(account.read ? Event::DiskReads : Event::DiskWrites, 1);
    count(account.read ? Event::DiskSectorsRead : Event::DiskSectorsWritten, account.sectors);
    count(Event::DiskSeek, clocks(account.seek));
    count(Event::DiskRotation, clocks(account.rotation));
    count(Event::DiskTransfer, clocks(account.transfer));
    count(Event::DiskWait, clocks(account.wait));
  }

  void cut_power(disk::Time when, const std::string& image) {
    agenda_.at(when, [this, image](disk::Time then) {
      for (const auto& drive : drives_) drive->cut_power(then);
      save(image);
      p5::Run::instance().power_cut();
    });
    go_on();
  }

 private:
  using wide = unsigned __int128;

  static void timer(void* self) { static_cast<Disks*>(self)->go_on(); }

  static uint32_t id(unsigned number) {  // all but the adapter's own
    return number < disk::MultiMaster::kId ? number : number + 1;
  }

  disk::Time time(uint64_t clocks) const { return disk::Time(wide(clocks) * disk::kSecond / hz_); }
  uint64_t clocks(disk::Time time) const { return uint64_t(wide(time) * hz_ / disk::kSecond); }

  static void count(p5::Event event, uint64_t number) { p5::count_event(event, number); }

  // The first partition of the first disk, for the tools of its file system.
  void save(const std::string& image) {
    const disk::Medium& medium = drives_[0]->medium();
    uint8_t record[disk::kSector];
    medium.read(0, record);
    const uint8_t* entry = record + kPartitions;
    const uint64_t start = number(entry + kPartitionStart), size = number(entry + kPartitionSize);
    if (start > drives_[0]->sectors() || size > drives_[0]->sectors() - start) {
      p5::Run::instance().fail("the first disk has no first partition");
    }
    if (!medium.save(image, start, size)) p5::Run::instance().no_output(image);
  }
  static uint32_t number(const uint8_t* bytes) {
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | uint32_t(bytes[3]) << 24;
  }

  disk::Config config_;
  uint64_t hz_;
  disk::Agenda agenda_;
  std::vector<std::unique_ptr<Adapter>> adapters_;
  std::vector<std::unique_ptr<disk::Drive>> drives_;
  int timer_ = 0;
  uint32_t active_ = 0;
  disk::Time busy_since_ = 0;
};

std::unique_ptr<Disks> disks;

void Adapter::begun(disk::Time now) { disks->begun(now); }
void Adapter::done(disk::Time now, const disk::Account& account) { disks->done(now, account); }

Bit32u Adapter::read_handler(void* self, Bit32u address, unsigned) {
  Adapter* adapter = static_cast<Adapter*>(self);
  return adapter->card.read_port(adapter->port(address), disks->now());
}

void Adapter::write_handler(void* self, Bit32u address, Bit32u value, unsigned) {
  Adapter* adapter = static_cast<Adapter*>(self);
  adapter->card.write_port(adapter->port(address), Bit8u(value), disks->now());
  disks->go_on();
}

}  // namespace

void p5_devices(void) {
  const disk::Config& config = p5::Run::instance().disks();
  if (config.count) disks = std::make_unique<Disks>(config, p5::Run::instance().clock_hz());
  p5::add_network();
}

void p5::cut_power_in(uint64_t microseconds, const std::string& image) {
  disks->cut_power(disks->now() + microseconds * disk::kMicrosecond, image);
}
