// SPDX-License-Identifier: MIT
// How do the SCSI host adapters, the disks and the times of the IDE disks connect to the machine as
// one device?
#include "devices/device.hh"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "devices/scsi/disks.hh"
#include "devices/scsi/ide_disk.hh"
#include "devices/scsi/multimaster.hh"

namespace device::scsi {
namespace {

using base::events::Event;

constexpr uint16_t kVendor = 0x104B, kDevice = 0x1040;  // BusLogic, MultiMaster
constexpr uint32_t kPartitions = 446, kPartitionStart = 8, kPartitionSize = 12;  // in the MBR

uint32_t number(const uint8_t* bytes) {
  return uint32_t(bytes[0] | bytes[1] << 8 | bytes[2] << 16) | uint32_t(bytes[3]) << 24;
}

// Counts the costs that the adapters report, summed over all disks.
class Accounts {
 public:
  explicit Accounts(device::Pc& pc) : pc_(pc) {}

  // Counts the requests in progress on all disks. The disks are busy while at least one request is
  // in progress. The busy time is counted at the end of each request, not only at the end of the
  // last request.
  void begun(Time now) {
    if (active_++ == 0) busy_since_ = now;
  }
  void done(Time now, const Account& account) {
    active_--;
    pc_.count(Event::DiskBusy, clocks(now) - clocks(busy_since_));
    busy_since_ = now;
    if (!account.read && !account.write) return;
    pc_.count(account.read ? Event::DiskReads : Event::DiskWrites, 1);
    pc_.count(account.read ? Event::DiskSectorsRead : Event::DiskSectorsWritten, account.sectors);
    pc_.count(Event::DiskSeek, clocks(account.seek));
    pc_.count(Event::DiskRotation, clocks(account.rotation));
    pc_.count(Event::DiskTransfer, clocks(account.transfer));
    pc_.count(Event::DiskWait, clocks(account.wait));
  }

 private:
  uint64_t clocks(Time time) const { return pc_.clock().clocks(time); }

  device::Pc& pc_;
  uint32_t active_ = 0;
  Time busy_since_ = 0;
};

// One host adapter in its slot.
class Adapter : public device::Ports, public Host {
 public:
  Adapter(const Config& config, Agenda& agenda, device::Pc& pc, Accounts& accounts)
      : pc_(pc),
        accounts_(accounts),
        card_({0, config.adapter, config.select, config.reselect, config.bus_sector}, agenda,
              *this),
        line_(pc.plug({"p5scsi", "SCSI host adapter", kVendor, kDevice, 0x08, 0x010000,
                       MultiMaster::kPorts, device::kByte},
                      *this)) {}

  void attach(uint32_t id, std::unique_ptr<Target> target) { card_.attach(id, std::move(target)); }

  uint32_t read(uint32_t port, uint32_t) override { return card_.read_port(port, pc_.now()); }
  void write(uint32_t port, uint32_t value, uint32_t) override {
    card_.write_port(port, uint8_t(value), pc_.now());
  }
  void routed(uint8_t irq) override { card_.set_irq(irq); }

  void read_memory(uint32_t address, uint8_t* bytes, uint32_t count) override {
    pc_.read_memory(address, bytes, count);
  }
  void write_memory(uint32_t address, const uint8_t* bytes, uint32_t count) override {
    pc_.write_memory(address, bytes, count);
  }
  void interrupt(bool on) override { line_.set(on); }
  void begun(Time now) override { accounts_.begun(now); }
  void done(Time now, const Account& account) override { accounts_.done(now, account); }

 private:
  device::Pc& pc_;
  Accounts& accounts_;
  MultiMaster card_;
  device::Line& line_;
};

class Disks : public device::Device {
 public:
  void read(base::Settings& settings) override { config_ = Config::read(settings); }

  void read_job(base::Settings& settings) override {
    cut_us_ = settings.has("run.power_cut_us") ? settings.number("run.power_cut_us") : 0;
    if (!cut_us_) return;
    cut_image_ = settings.text("run.power_cut_image");
    if (!config_.count) settings.fail("run.power_cut_us", "expected a machine with disks");
  }

  void connect(device::Pc& pc) override {
    pc_ = &pc;
    if (config_.ide) {
      ide_ = std::make_unique<IdeDisks>(config_.drive, config_.model, pc);
      pc.plug(*ide_);
    }
    if (!config_.count) return;
    accounts_ = std::make_unique<Accounts>(pc);
    for (uint32_t i = 0; i < config_.adapters; i++) {
      adapters_.push_back(std::make_unique<Adapter>(config_, agenda_, pc, *accounts_));
    }
    std::string problem;
    for (uint32_t i = 0; i < config_.count; i++) {
      drives_.push_back(std::make_unique<Drive>(config_.drive, agenda_, &problem));
      adapters_[i % config_.adapters]->attach(
          id(i / config_.adapters),
          std::make_unique<Target>(*drives_[i], config_.vendor, config_.product,
                                   config_.tagged_queueing));
    }
    if (!config_.image.empty() && !drives_[0]->medium().load(config_.image, &problem)) {
      pc.fail(problem);
    }
  }

  // Schedules the power cut, if the run has one. The power cut ends the run. Only the data on the
  // media survives.
  void ready() override {
    if (!cut_us_) return;
    agenda_.at(pc_->now() + cut_us_ * kMicrosecond, [this](Time now) {
      for (const auto& drive : drives_) drive->cut_power(now);
      save(cut_image_);
      char text[80];
      std::snprintf(text, sizeof text, "power cut %.6f s after the guest was ready",
                    double(cut_us_) / 1e6);
      pc_->end(text);
    });
  }

 private:
  static uint32_t id(uint32_t number) {  // skips the adapter's own ID
    return number < MultiMaster::kId ? number : number + 1;
  }

  // Writes the first partition of the first disk to a file, for the tools of its file system.
  void save(const std::string& image) {
    const Medium& medium = drives_[0]->medium();
    uint8_t record[kSector];
    medium.read(0, record);
    const uint8_t* entry = record + kPartitions;
    const uint64_t start = number(entry + kPartitionStart), size = number(entry + kPartitionSize);
    if (start > drives_[0]->sectors() || size > drives_[0]->sectors() - start) {
      pc_->fail("the first disk has no first partition");
    }
    if (!medium.save(image, start, size)) pc_->cannot_write(image);
  }

  Config config_;
  device::Pc* pc_ = nullptr;
  std::unique_ptr<Accounts> accounts_;
  std::unique_ptr<IdeDisks> ide_;
  std::vector<std::unique_ptr<Adapter>> adapters_;
  std::vector<std::unique_ptr<Drive>> drives_;
  uint64_t cut_us_ = 0;  // time from the ready marker; 0: no power cut
  std::string cut_image_;
};

const device::Registered<Disks> registered(base::events::Part::Scsi);

}  // namespace
}  // namespace device::scsi
