// SPDX-License-Identifier: MIT
// How does the SCSI host adapter work? The adapter has the programming interface of BusLogic's
// MultiMaster cards. The interface consists of four ports, and of mailboxes and command blocks in
// the host's memory. The model is a BT-956C with firmware 4.28D: PCI, fast and wide SCSI, 15
// targets. The source for the interface is Linux's driver (drivers/scsi/BusLogic.h).
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>

#include "devices/scsi/bus.hh"
#include "devices/scsi/target.hh"

namespace device::scsi {

// The costs of a completed request. The sum of the four times is the whole duration of the request.
struct Account {
  bool read = false, write = false;
  uint32_t sectors = 0;
  Time seek = 0, rotation = 0, transfer = 0, wait = 0;
};

// The interface between the adapter and the PC.
class Host {
 public:
  virtual ~Host() = default;
  virtual void read_memory(uint32_t address, uint8_t* bytes, uint32_t count) = 0;
  virtual void write_memory(uint32_t address, const uint8_t* bytes, uint32_t count) = 0;
  virtual void interrupt(bool on) = 0;
  virtual void begun(Time now) = 0;
  virtual void done(Time now, const Account& account) = 0;
};

struct MultiMasterConfig {
  uint8_t irq = 0;    // the number that PCI has assigned
  Time firmware = 0;  // work on a request, half before and half after the request
  Time select = 0, reselect = 0, bus_sector = 0;
};

class MultiMaster {
 public:
  static constexpr uint32_t kPorts = 4, kTargets = 16, kId = 7;

  MultiMaster(const MultiMasterConfig& config, Agenda& agenda, Host& host)
      : config_(config), agenda_(agenda), host_(host), bus_(agenda) {}

  void attach(uint32_t id, std::unique_ptr<Target> target) { targets_[id] = std::move(target); }
  void set_irq(uint8_t irq) { config_.irq = irq; }

  uint8_t read_port(uint32_t port, Time now);
  void write_port(uint32_t port, uint8_t value, Time now);

 private:
  struct Segment {
    uint32_t address, bytes;
  };
  // A command control block in progress.
  struct Job {
    uint32_t block = 0, epoch = 0;
    uint8_t opcode = 0;
    uint32_t id = 0, lun = 0;
    bool abort = false;  // request to abort a command that has already ended
    bool tagged = false;
    Tag tag = Tag::Simple;
    std::vector<uint8_t> cdb;
    std::vector<Segment> segments;
    uint32_t segment = 0, offset = 0;  // position of the transfer
    bool overrun = false;
    uint32_t sense_address = 0, sense_bytes = 0;
    uint8_t adapter_status = 0, target_status = 0;
    Time begun = 0;
    Command command;
    RequestPtr request;
  };
  using JobPtr = std::shared_ptr<Job>;

  void reset(Time now);
  void begin_command(uint8_t code, Time now);
  void end_command(bool valid);
  void answer(std::vector<uint8_t> bytes);
  void execute(Time now);
  uint16_t installed() const;
  uint8_t local_ram(uint32_t address) const;
  std::vector<uint8_t> setup(uint32_t length) const;
  void raise(uint8_t bits);

  Time firmware(Time now);
  void look(Time now);
  JobPtr load(uint32_t block);
  void dispatch(uint32_t id, Time now);
  void select(const JobPtr& job, Time now);
  void reply(const JobPtr& job, Time now);
  void read(const JobPtr& job, Time now);
  void read_sector(const JobPtr& job, uint32_t index, Time now);
  void write(const JobPtr& job, Time now);
  void status(const JobPtr& job, Time now);
  void release(const JobPtr& job, Time now);
  void finish(const JobPtr& job, Time now);
  void post(const JobPtr& job, Time now);
  void copy(Job* job, uint8_t* bytes, uint32_t count, bool to_memory);
  bool alive(const Job& job) const { return job.epoch == epoch_; }

  MultiMasterConfig config_;
  Agenda& agenda_;
  Host& host_;
  Bus bus_;
  std::array<std::unique_ptr<Target>, kTargets> targets_;
  std::array<std::deque<JobPtr>, kTargets> waiting_;
  struct Active {
    uint32_t jobs = 0;
    bool untagged = false;  // the command in progress is the only command of its target
  };
  std::array<Active, kTargets> active_ = {};

  // State of the ports.
  Time diagnostic_until_ = 0;
  bool initialized_ = false;  // the driver has set the mailboxes up
  bool invalid_ = false, busy_ = false, interrupts_ = true;
  uint8_t code_ = 0, interrupt_ = 0;
  uint32_t expected_ = 0;
  std::vector<uint8_t> parameters_;
  std::deque<uint8_t> answer_;

  // State of the mailboxes.
  uint32_t mailboxes_ = 0, count_ = 0, out_ = 0, in_ = 0;
  bool strict_ = false, extended_luns_ = false;
  uint32_t epoch_ = 0;  // number of resets; jobs of an older epoch end without a report
  Time firmware_free_ = 0;
};

}  // namespace device::scsi
