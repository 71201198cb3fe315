// SPDX-License-Identifier: MIT
#include "devices/scsi/target.hh"

#include <algorithm>

namespace device::scsi {
namespace {

// Operation codes.
enum : uint8_t {
  kTestUnitReady = 0x00,
  kRequestSense = 0x03,
  kRead6 = 0x08,
  kWrite6 = 0x0A,
  kInquiry = 0x12,
  kModeSelect6 = 0x15,
  kModeSense6 = 0x1A,
  kStartStop = 0x1B,
  kPreventRemoval = 0x1E,
  kReadCapacity = 0x25,
  kRead10 = 0x28,
  kWrite10 = 0x2A,
  kVerify10 = 0x2F,
  kSynchronize = 0x35,
  kModeSense10 = 0x5A
};
// Sense keys and additional codes.
constexpr uint8_t kIllegalRequest = 5;
constexpr uint8_t kInvalidCommand = 0x20, kOutOfRange = 0x21, kInvalidField = 0x24;
constexpr uint8_t kNoSuchUnit = 0x25;

uint32_t big(const uint8_t* bytes, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; i++) value = value << 8 | bytes[i];
  return value;
}

void put_big(uint8_t* bytes, uint32_t value, int count) {
  for (int i = count - 1; i >= 0; i--, value >>= 8) bytes[i] = uint8_t(value);
}

std::vector<uint8_t> cut(std::vector<uint8_t> reply, uint32_t allocated) {
  if (reply.size() > allocated) reply.resize(allocated);
  return reply;
}

void pad(uint8_t* to, size_t length, const std::string& text) {
  for (size_t i = 0; i < length; i++) to[i] = uint8_t(i < text.size() ? text[i] : ' ');
}

}  // namespace

Command Target::decode(const uint8_t* cdb, uint32_t length, uint32_t lun) {
  // The group of the operation code determines the length of a command block.
  const uint8_t code = cdb[0];
  const uint32_t needed = code < 0x20 ? 6 : code < 0x60 ? 10 : 12;
  if (length < needed) return check(kIllegalRequest, kInvalidField);
  if (code == kInquiry) return inquiry(cdb, lun);
  if (code == kRequestSense) {
    Command command;
    command.reply = cut(take_sense(), cdb[4]);
    return command;
  }
  if (lun) return check(kIllegalRequest, kNoSuchUnit);
  switch (code) {
    case kTestUnitReady:
    case kStartStop:
    case kPreventRemoval:
      return {};
    case kRead6:
    case kWrite6:
      return access(big(cdb + 1, 3) & 0x1FFFFF, cdb[4] ? cdb[4] : 256,
                    code == kRead6 ? Command::Read : Command::Write);
    case kRead10:
    case kWrite10:
      return access(big(cdb + 2, 4), big(cdb + 7, 2),
                    code == kRead10 ? Command::Read : Command::Write);
    case kVerify10: {  // the drive compares no data; the media are always readable
      Command command = access(big(cdb + 2, 4), big(cdb + 7, 2), Command::Reply);
      if (cdb[1] & 2) return check(kIllegalRequest, kInvalidField);
      return command;
    }
    case kSynchronize: {
      Command command;
      command.kind = Command::Flush;
      return command;
    }
    case kReadCapacity:
      return capacity();
    case kModeSense6:
      return mode_sense(cdb, false);
    case kModeSense10:
      return mode_sense(cdb, true);
    case kModeSelect6: {  // no parameter of this drive can be changed
      Command command;
      command.parameters = cdb[4];
      return command;
    }
    default:
      return check(kIllegalRequest, kInvalidCommand);
  }
}

Command Target::access(uint64_t first, uint32_t count, Command::Kind kind) {
  if (first > drive_.sectors() || count > drive_.sectors() - first) {
    return check(kIllegalRequest, kOutOfRange);
  }
  Command command;
  if (count == 0) return command;
  command.kind = kind;
  command.first = first;
  command.count = count;
  return command;
}

Command Target::inquiry(const uint8_t* cdb, uint32_t lun) const {
  std::vector<uint8_t> data(36);
  data[0] = lun ? 0x7F : 0x00;  // no such unit: a disk, connected
  data[2] = data[3] = 2;        // SCSI-2, also the format of this answer
  data[4] = uint8_t(data.size() - 5);
  data[7] = uint8_t(0x10 | (tagged_queueing_ ? 0x02 : 0));  // synchronous transfer, queueing
  pad(&data[8], 8, vendor_);
  pad(&data[16], 16, product_);
  pad(&data[32], 4, "0014");
  Command command;
  command.reply = cut(std::move(data), cdb[4]);
  return command;
}

Command Target::capacity() const {
  Command command;
  command.reply.resize(8);
  put_big(&command.reply[0], uint32_t(drive_.sectors() - 1), 4);
  put_big(&command.reply[4], kSector, 4);
  return command;
}

// Returns the pages that a host may request: caching, and the geometry in page 4.
Command Target::mode_sense(const uint8_t* cdb, bool long_form) {
  const uint8_t page = cdb[2] & 0x3F;
  const bool changeable = cdb[2] >> 6 == 1;
  const bool descriptor = !(cdb[1] & 0x08);
  std::vector<uint8_t> pages;
  if (page == 0x04 || page == 0x3F) {
    uint8_t geometry[24] = {0x04, 22};
    if (!changeable) {
      put_big(geometry + 2, drive_.geometry().cylinders(), 3);
      geometry[5] = uint8_t(drive_.geometry().heads());
      put_big(geometry + 20, uint32_t(60 * kSecond / drive_.geometry().revolution()), 2);
    }
    pages.insert(pages.end(), geometry, geometry + sizeof geometry);
  }
  if (page == 0x08 || page == 0x3F) {
    uint8_t caching[12] = {0x08, 10};
    if (!changeable) caching[2] = drive_.write_cache() ? 0x04 : 0x00;  // WCE
    pages.insert(pages.end(), caching, caching + sizeof caching);
  }
  if (pages.empty() || cdb[2] >> 6 == 3) return check(kIllegalRequest, kInvalidField);
  std::vector<uint8_t> data(long_form ? 8 : 4);
  data[long_form ? 7 : 3] = descriptor ? 8 : 0;
  if (descriptor) {
    uint8_t block[8] = {};
    put_big(block + 5, kSector, 3);
    data.insert(data.end(), block, block + sizeof block);
  }
  data.insert(data.end(), pages.begin(), pages.end());
  if (long_form)
    put_big(&data[0], uint32_t(data.size() - 2), 2);
  else
    data[0] = uint8_t(data.size() - 1);
  Command command;
  command.reply = cut(std::move(data), long_form ? big(cdb + 7, 2) : cdb[4]);
  return command;
}

Command Target::check(uint8_t key, uint8_t code) {
  sense_key_ = key;
  sense_code_ = code;
  Command command;
  command.status = kCheckCondition;
  return command;
}

std::vector<uint8_t> Target::take_sense() {
  std::vector<uint8_t> sense(18);
  sense[0] = 0x70;  // current error
  sense[2] = sense_key_;
  sense[7] = uint8_t(sense.size() - 8);
  sense[12] = sense_code_;
  sense_key_ = sense_code_ = 0;
  return sense;
}

}  // namespace device::scsi
