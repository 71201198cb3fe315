// SPDX-License-Identifier: MIT
#include "devices/scsi/multimaster.hh"

#include <algorithm>

namespace device::scsi {
namespace {

// I/O ports, for reading and for writing.
enum : uint32_t { kStatus = 0, kData = 1, kInterrupt = 2, kGeometry = 3 };
enum : uint8_t {
  kInvalid = 0x01,
  kDataReady = 0x04,
  kReady = 0x10,
  kNeedsMailboxes = 0x20,
  kDiagnostic = 0x80
};
enum : uint8_t { kInterruptReset = 0x20, kSoftReset = 0x40, kHardReset = 0x80 };
enum : uint8_t { kMailLoaded = 0x01, kCommandComplete = 0x04, kInterruptValid = 0x80 };
constexpr uint8_t kExtendedTranslation = 0x80;
// During this time, the driver sees that a reset is in progress. The real card's diagnostics took
// about a second.
constexpr Time kDiagnosticTime = 150 * kMicrosecond;
constexpr Time kRetry = 10 * kMicrosecond;

// Command codes.
enum : uint8_t {
  kTestComplete = 0x00,
  kStartMailbox = 0x02,
  kBoardId = 0x04,
  kAvailableInterrupt = 0x05,
  kSelectTimeout = 0x06,
  kPreemptTime = 0x07,
  kTimeOffBus = 0x08,
  kTransferRate = 0x09,
  kInstalled0 = 0x0A,
  kConfiguration = 0x0B,
  kSetup = 0x0D,
  kEcho = 0x1F,
  kInstalled8 = 0x23,
  kTargets16 = 0x24,
  kDisableInterrupt = 0x25,
  kMailboxes = 0x81,
  kFirmwareDigit = 0x84,
  kFirmwareLetter = 0x85,
  kPciInformation = 0x86,
  kModel = 0x8B,
  kPeriods = 0x8C,
  kExtendedSetup = 0x8D,
  kRoundRobin = 0x8F,
  kFetchRam = 0x91,
  kModifyIo = 0x95,
  kBlockFormat = 0x96
};

// Number of parameter bytes of a command; -1: no such command.
int parameters(uint8_t code) {
  switch (code) {
    case kTestComplete:
    case kBoardId:
    case kInstalled0:
    case kConfiguration:
    case kInstalled8:
    case kTargets16:
    case kFirmwareDigit:
    case kFirmwareLetter:
    case kPciInformation:
      return 0;
    case kAvailableInterrupt:
    case kPreemptTime:
    case kTimeOffBus:
    case kTransferRate:
    case kSetup:
    case kEcho:
    case kDisableInterrupt:
    case kModel:
    case kPeriods:
    case kExtendedSetup:
    case kRoundRobin:
    case kModifyIo:
    case kBlockFormat:
      return 1;
    case kFetchRam:
      return 2;
    case kSelectTimeout:
      return 4;
    case kMailboxes:
      return 5;
    default:
      return -1;
  }
}

// Codes of an outgoing mailbox, an incoming mailbox and a command block.
enum : uint8_t { kFree = 0, kStart = 1, kAbort = 2 };
enum : uint8_t { kDoneGood = 1, kAbortNotFound = 3, kDoneError = 4 };
enum : uint8_t {
  kSingle = 0,
  kList = 2,
  kSingleResidual = 3,
  kListResidual = 4,
  kDeviceReset = 0x81
};
enum : uint8_t { kSelectionTimeout = 0x11, kDataOverrun = 0x12, kInvalidOpcode = 0x16 };
constexpr uint32_t kMailboxBytes = 8, kBlockBytes = 40, kCdbBytes = 12, kListBytes = 8;
constexpr uint32_t kListLimit = 8192;  // bytes in the segment list of one command

uint32_t little(const uint8_t* bytes) {
  return bytes[0] | uint32_t(bytes[1]) << 8 | uint32_t(bytes[2]) << 16 | uint32_t(bytes[3]) << 24;
}

}  // namespace

// --- the ports --------------------------------------------------------------------------------

uint8_t MultiMaster::read_port(uint32_t port, Time now) {
  switch (port) {
    case kStatus: {
      if (now < diagnostic_until_) return kDiagnostic;
      uint8_t status = invalid_ ? kInvalid : 0;
      if (!answer_.empty()) status |= kDataReady;
      if (!busy_) status |= kReady;
      if (!initialized_) status |= kNeedsMailboxes;
      return status;
    }
    case kData: {
      if (answer_.empty()) return 0;
      const uint8_t byte = answer_.front();
      answer_.pop_front();
      if (answer_.empty()) end_command(true);
      return byte;
    }
    case kInterrupt:
      return interrupt_;
    default:
      return kExtendedTranslation;
  }
}

void MultiMaster::write_port(uint32_t port, uint8_t value, Time now) {
  if (port == kStatus) {
    if (value & (kHardReset | kSoftReset)) return reset(now);
    if (value & kInterruptReset) {
      interrupt_ = 0;
      host_.interrupt(false);
    }
    return;
  }
  if (port != kData) return;
  if (!busy_) return begin_command(value, now);
  if (parameters_.size() < expected_) parameters_.push_back(value);
  if (parameters_.size() == expected_) execute(now);
}

// Also drops the commands in progress. These commands end without a report.
void MultiMaster::reset(Time now) {
  diagnostic_until_ = now + kDiagnosticTime;
  initialized_ = invalid_ = busy_ = false;
  interrupts_ = true;
  interrupt_ = 0;
  host_.interrupt(false);
  parameters_.clear();
  answer_.clear();
  mailboxes_ = count_ = out_ = in_ = 0;
  strict_ = extended_luns_ = false;
  epoch_++;
  for (auto& jobs : waiting_) {
    for (; !jobs.empty(); jobs.pop_front()) host_.done(now, Account());
  }
}

void MultiMaster::begin_command(uint8_t code, Time now) {
  if (code == kStartMailbox) {
    if (initialized_)
      agenda_.at(firmware(now), [this, epoch = epoch_](Time then) {
        if (epoch == epoch_) look(then);
      });
    return;
  }
  code_ = code;
  parameters_.clear();
  answer_.clear();
  busy_ = true;
  const int count = parameters(code);
  if (count < 0) return end_command(false);
  expected_ = uint32_t(count);
  if (expected_ == 0) execute(now);
}

void MultiMaster::end_command(bool valid) {
  busy_ = false;
  invalid_ = !valid;
  if (code_ != kModifyIo) raise(kCommandComplete);
}

void MultiMaster::answer(std::vector<uint8_t> bytes) {
  answer_.assign(bytes.begin(), bytes.end());
  if (answer_.empty()) end_command(true);
}

void MultiMaster::raise(uint8_t bits) {
  interrupt_ |= uint8_t(bits | kInterruptValid);
  if (interrupts_) host_.interrupt(true);
}

void MultiMaster::execute(Time) {
  const auto sized = [this](std::vector<uint8_t> bytes) {
    bytes.resize(parameters_[0]);
    answer(std::move(bytes));
  };
  const uint16_t present = installed();
  switch (code_) {
    case kBoardId:
      return answer({'A', 'A', '4', '2'});
    case kFirmwareDigit:
      return answer({'8'});
    case kFirmwareLetter:
      return answer({'D'});
    case kModel:
      return sized({'9', '5', '6', 'C', ' '});
    case kConfiguration: {
      // One bit for each of IRQ 9 to 15.
      const uint8_t irq =
          config_.irq >= 9 && config_.irq <= 15 ? uint8_t(1 << (config_.irq - 9)) : 0;
      return answer({0, irq, kId});
    }
    case kSetup:
      return answer(setup(parameters_[0]));
    case kExtendedSetup: {
      std::vector<uint8_t> bytes = {'E', 0, kListLimit & 0xFF, kListLimit >> 8, uint8_t(count_)};
      for (int i = 0; i < 4; i++) bytes.push_back(uint8_t(mailboxes_ >> (8 * i)));
      bytes.insert(bytes.end(), {0x40, '2', '8', 'D', 0x01});  // level interrupts; wide
      return sized(std::move(bytes));
    }
    case kPciInformation:
      return answer({6, config_.irq, 0x83, 0});  // no ISA ports; terminated bus
    case kPeriods:
      return sized(std::vector<uint8_t>(kTargets, 10));  // in units of 10 ns
    case kTargets16:
      return answer({uint8_t(present), uint8_t(present >> 8)});
    case kInstalled0:
    case kInstalled8: {
      std::vector<uint8_t> units;
      for (int i = 0; i < 8; i++)
        units.push_back(present >> (i + (code_ == kInstalled8 ? 8 : 0)) & 1);
      return answer(std::move(units));
    }
    case kFetchRam: {
      std::vector<uint8_t> bytes;
      for (uint32_t i = 0; i < parameters_[1]; i++) bytes.push_back(local_ram(parameters_[0] + i));
      return answer(std::move(bytes));
    }
    case kEcho:
      return answer({parameters_[0]});
    case kMailboxes:
      count_ = parameters_[0];
      mailboxes_ = little(&parameters_[1]);
      out_ = in_ = 0;
      initialized_ = count_ != 0;
      return end_command(initialized_);
    case kRoundRobin:
      strict_ = parameters_[0] == 1;
      break;
    case kBlockFormat:
      extended_luns_ = parameters_[0] == 1;
      break;
    case kDisableInterrupt:
      interrupts_ = parameters_[0] == 1;
      break;
    default:
      break;  // has no effect in this model
  }
  end_command(true);
}

uint16_t MultiMaster::installed() const {
  uint16_t present = 0;
  for (uint32_t id = 0; id < kTargets; id++) present |= uint16_t(targets_[id] ? 1 << id : 0);
  return present;
}

// Returns one byte of the adapter's local RAM. The driver reads the AutoSCSI configuration, which
// begins at address 64.
uint8_t MultiMaster::local_ram(uint32_t address) const {
  switch (address) {
    case 64 + 14:
      return kId;
    case 64 + 15:
      return 0x27;  // terminated bus, parity, resets the bus
    // All targets may use wide, fast and synchronous transfers, and disconnection.
    case 64 + 21:
    case 64 + 22:
    case 64 + 23:
    case 64 + 24:
    case 64 + 25:
    case 64 + 26:
    case 64 + 27:
    case 64 + 28:
      return 0xFF;
    default:
      return 0;
  }
}

std::vector<uint8_t> MultiMaster::setup(uint32_t length) const {
  std::vector<uint8_t> bytes(std::max<uint32_t>(length, 34));
  bytes[0] = 0x03;  // synchronous negotiation, parity
  bytes[4] = uint8_t(count_);
  for (uint32_t i = 0; i < 8; i++) {
    const uint8_t fast = 0x80 | 15;  // synchronous at the shortest period, offset 15
    bytes[8 + i] = targets_[i] ? fast : 0;
    bytes[22 + i] = targets_[8 + i] ? fast : 0;
  }
  bytes[16] = bytes[30] = bytes[20] = bytes[32] = 0xFF;  // disconnection, wide transfers
  bytes.resize(length);
  return bytes;
}

// --- the mailboxes ----------------------------------------------------------------------------

// Returns the time at which the firmware has done half of its work on a request. The firmware works
// on one request at a time.
Time MultiMaster::firmware(Time now) {
  return firmware_free_ = std::max(now, firmware_free_) + config_.firmware / 2;
}

// Reads a command from the next outgoing mailbox. If the driver has not set the strict order, the
// command may be in any outgoing mailbox.
void MultiMaster::look(Time now) {
  for (uint32_t tried = 0; tried < (strict_ ? 1 : count_); tried++) {
    const uint32_t mailbox = mailboxes_ + (out_ + tried) % count_ * kMailboxBytes;
    uint8_t entry[kMailboxBytes];
    host_.read_memory(mailbox, entry, sizeof entry);
    if (entry[7] == kFree) continue;
    const uint8_t action = entry[7];
    entry[7] = kFree;
    host_.write_memory(mailbox + 7, &entry[7], 1);
    out_ = (out_ + tried + 1) % count_;
    const JobPtr job = load(little(entry));
    job->begun = now;
    host_.begun(now);
    job->abort = action == kAbort;
    if (job->abort || job->opcode == kDeviceReset || job->adapter_status) {
      return post(job, now);
    }
    waiting_[job->id].push_back(job);
    return dispatch(job->id, now);
  }
}

MultiMaster::JobPtr MultiMaster::load(uint32_t block) {
  const JobPtr job = std::make_shared<Job>();
  uint8_t bytes[kBlockBytes];
  host_.read_memory(block, bytes, sizeof bytes);
  job->block = block;
  job->epoch = epoch_;
  job->opcode = bytes[0];
  job->id = bytes[16] % kTargets;
  job->lun = bytes[17] & (extended_luns_ ? 0x1F : 0x07);
  const uint8_t tags = bytes[extended_luns_ ? 1 : 17];
  job->tagged = tags & 0x20;
  if (job->tagged && tags >> 6 == 1) job->tag = Tag::HeadOfQueue;
  if (job->tagged && tags >> 6 == 2) job->tag = Tag::Ordered;
  job->cdb.assign(bytes + 18, bytes + 18 + std::min<uint32_t>(bytes[2], kCdbBytes));
  // The value 0 requests 14 bytes of sense data, and the value 1 requests none.
  job->sense_bytes = bytes[3] == 0 ? 14 : bytes[3] == 1 ? 0 : bytes[3];
  job->sense_address = little(bytes + 36);
  const uint32_t length = little(bytes + 4), data = little(bytes + 8);
  if (job->opcode == kSingle || job->opcode == kSingleResidual) {
    if (length) job->segments.push_back({data, length});
  } else if (job->opcode == kList || job->opcode == kListResidual) {
    for (uint32_t i = 0; i < std::min(length / kListBytes, kListLimit); i++) {
      uint8_t entry[kListBytes];
      host_.read_memory(data + i * kListBytes, entry, sizeof entry);
      job->segments.push_back({little(entry + 4), little(entry)});
    }
  } else if (job->opcode != kDeviceReset) {
    job->adapter_status = kInvalidOpcode;
  }
  if (job->cdb.empty()) job->adapter_status = kInvalidOpcode;
  return job;
}

// --- the SCSI bus -----------------------------------------------------------------------------

// Sends the next command to a target. A command without a tag is the only command in progress on
// its target.
void MultiMaster::dispatch(uint32_t id, Time now) {
  while (!waiting_[id].empty()) {
    const JobPtr job = waiting_[id].front();
    Active& active = active_[id];
    if (active.untagged || (active.jobs && !job->tagged)) return;
    waiting_[id].pop_front();
    active.jobs++;
    active.untagged = !job->tagged;
    if (!targets_[id]) {
      // The adapter's own inquiry has found out which targets exist.
      job->adapter_status = kSelectionTimeout;
      finish(job, now);
      continue;
    }
    bus_.request(kId, now, [this, job](Time then) {
      agenda_.at(then + config_.select, [this, job](Time chosen) { select(job, chosen); });
    });
  }
}

// The target has received the command.
void MultiMaster::select(const JobPtr& job, Time now) {
  Target& target = *targets_[job->id];
  job->command = target.decode(job->cdb.data(), uint32_t(job->cdb.size()), job->lun);
  Command& command = job->command;
  job->target_status = command.status;
  if (command.kind == Command::Reply) return reply(job, now);
  if (command.kind == Command::Flush) {
    target.drive().flush(now, [this, job](Time then) { status(job, then); });
    return bus_.release(now);
  }
  const RequestPtr request = job->request = std::make_shared<Request>();
  request->write = command.kind == Command::Write;
  request->tag = job->tag;
  request->first = command.first;
  request->count = command.count;
  request->bus_sector = config_.bus_sector;
  if (request->write)
    write(job, now);
  else
    read(job, now);
}

// Completes a command that does not use the media. The target does not release the bus before the
// end of the command.
void MultiMaster::reply(const JobPtr& job, Time now) {
  Command& command = job->command;
  if (command.status == kCheckCondition) {
    // The adapter itself fetches the sense data.
    std::vector<uint8_t> sense = targets_[job->id]->take_sense();
    sense.resize(job->sense_bytes);
    if (alive(*job) && !sense.empty()) {
      host_.write_memory(job->sense_address, sense.data(), job->sense_bytes);
    }
    now += config_.reselect + config_.select;
  }
  const uint32_t bytes = uint32_t(command.reply.size());
  if (bytes) copy(job.get(), command.reply.data(), bytes, true);
  job->overrun = false;  // sense data of another length is no error
  now += config_.bus_sector * (bytes + command.parameters) / kSector + config_.reselect;
  agenda_.at(now, [this, job](Time then) { release(job, then); });
}

void MultiMaster::read(const JobPtr& job, Time now) {
  job->request->ready = [this, job](Time then) {
    bus_.request(job->id, then,
                 [this, job](Time granted) { read_sector(job, 0, granted + config_.reselect); });
  };
  targets_[job->id]->drive().start(job->request, now);
  bus_.release(now);
}

void MultiMaster::read_sector(const JobPtr& job, uint32_t index, Time now) {
  const Time there = std::max(now, job->request->buffered[index]) + config_.bus_sector;
  agenda_.at(there, [this, job, index](Time then) {
    const Request& request = *job->request;
    uint8_t bytes[kSector];
    targets_[job->id]->drive().fetch(request.first + index, bytes);
    copy(job.get(), bytes, kSector, true);
    if (index + 1 < request.count) return read_sector(job, index + 1, then);
    targets_[job->id]->drive().taken(request, then);
    release(job, then);
  });
}

// Transfers the data to the drive's buffer at once, while the arm moves.
void MultiMaster::write(const JobPtr& job, Time now) {
  Request& request = *job->request;
  request.data.resize(size_t(request.count) * kSector);
  for (uint32_t i = 0; i < request.count; i++) {
    const Time there = now + config_.bus_sector * (i + 1);
    request.buffered.push_back(there);
    agenda_.at(there, [this, job, i](Time then) {
      Request& sent = *job->request;
      copy(job.get(), &sent.data[size_t(i) * kSector], kSector, false);
      if (i + 1 == sent.count) bus_.release(then);
    });
  }
  request.ready = [this, job](Time then) { status(job, then); };
  targets_[job->id]->drive().start(job->request, now);
}

// The target reconnects and sends only its status.
void MultiMaster::status(const JobPtr& job, Time now) {
  bus_.request(job->id, now, [this, job](Time granted) {
    agenda_.at(granted + config_.reselect, [this, job](Time then) { release(job, then); });
  });
}

void MultiMaster::release(const JobPtr& job, Time now) {
  bus_.release(now);
  finish(job, now);
}

// --- the end of a command ---------------------------------------------------------------------

void MultiMaster::finish(const JobPtr& job, Time now) {
  Active& active = active_[job->id];
  active.jobs--;
  active.untagged = false;
  agenda_.at(firmware(now), [this, job](Time then) { post(job, then); });
  dispatch(job->id, now);
}

// Puts the command block into the next incoming mailbox and raises an interrupt.
void MultiMaster::post(const JobPtr& job, Time now) {
  if (!alive(*job)) return host_.done(now, Account());
  const uint32_t mailbox = mailboxes_ + (count_ + in_) * kMailboxBytes;
  uint8_t entry[kMailboxBytes] = {};
  host_.read_memory(mailbox + 7, &entry[7], 1);
  if (entry[7] != kFree) {
    agenda_.at(now + kRetry, [this, job](Time then) { post(job, then); });
    return;
  }
  if (job->overrun) job->adapter_status = kDataOverrun;
  const bool good = !job->adapter_status && !job->target_status;
  const uint8_t states[] = {job->adapter_status, job->target_status};
  host_.write_memory(job->block + 14, states, sizeof states);
  for (int i = 0; i < 4; i++) entry[i] = uint8_t(job->block >> (8 * i));
  entry[4] = job->adapter_status;
  entry[5] = job->target_status;
  entry[7] = job->abort ? kAbortNotFound : good ? kDoneGood : kDoneError;
  host_.write_memory(mailbox, entry, sizeof entry);
  in_ = (in_ + 1) % count_;
  Account account;
  if (job->request) {
    const Spent& spent = job->request->spent;
    account = {!job->request->write,
               job->request->write,
               job->request->count,
               spent.seek,
               spent.rotation,
               spent.transfer,
               0};
    const Time moving = spent.seek + spent.rotation + spent.transfer, all = now - job->begun;
    account.wait = all > moving ? all - moving : 0;
  }
  host_.done(now, account);
  raise(kMailLoaded);
}

// Copies the next bytes of a transfer, to or from the segments in the host's memory.
void MultiMaster::copy(Job* job, uint8_t* bytes, uint32_t count, bool to_memory) {
  while (count && alive(*job)) {
    if (job->segment >= job->segments.size()) {
      job->overrun = true;
      return;
    }
    const Segment& segment = job->segments[job->segment];
    const uint32_t part = std::min(count, segment.bytes - job->offset);
    if (to_memory)
      host_.write_memory(segment.address + job->offset, bytes, part);
    else
      host_.read_memory(segment.address + job->offset, bytes, part);
    bytes += part;
    count -= part;
    job->offset += part;
    if (job->offset == segment.bytes) {
      job->segment++;
      job->offset = 0;
    }
  }
}

}  // namespace device::scsi
