// SPDX-License-Identifier: MIT
#include "session/markers.hh"

namespace session {

MarkerResult Markers::operator()(const MarkerCall& call) {
  const MarkerResult done{1, 0, 0, 0};
  switch (call.op) {
    case kDetect:
      return {kMarkerVersion, kMarkerEbx, 0, 0};
    case kReady:
      return course_.marked_ready() ? done : MarkerResult();
    case kBegin:
      end_.check(measurement_.begin(call.arg0));
      return done;
    case kEnd:
      end_.check(measurement_.end(call.arg0));
      return done;
    case kAbort:
      abort(call.arg0);
    case kExit:
      course_.ending(call.arg0);
      end_.exit(call.arg0);
    case kReadCounter:
      return read_counter(call.arg0);
    case kJob:
      return job_.command_at(call.arg0);
    case kOutput:
      program_output(call.arg0, call.arg1 & 0xFF);
      return done;
    case kProgram:
      return job_.program_at(call.arg0);
    case kBootLoad:
      return call.real_mode ? course_.load() : MarkerResult();
    case kText:
    case kJobText:
    case kName:
      return with_buffer(call);
    default:
      return {};
  }
}

void Markers::abort(uint32_t code) {
  measurement_.events().marker("marker", "abort", code);
  end_.fail("the guest program aborted with code " + std::to_string(code));
}

MarkerResult Markers::read_counter(uint32_t number) const {
  uint64_t total = 0;
  if (!measurement_.total(number, &total)) return {1, 0, 0, 0};
  return {uint32_t(total), 0, 0, uint32_t(total >> 32)};
}

void Markers::program_output(uint32_t bytes, uint32_t count) {
  for (uint32_t i = 0; i < count && i < 4; i++) {
    std::fputc(int(bytes >> (8 * i) & 0xFF), output_.file());
  }
  output_.check();
}

// The operations that use a buffer in the guest's memory. They happen completely or not at all.
MarkerResult Markers::with_buffer(const MarkerCall& call) {
  const bool write = call.op == kJobText;
  const uint32_t length = write              ? uint32_t(job_.command.size() + 1)
                          : call.op == kText ? call.arg0
                                             : call.arg2;
  if (write && call.arg0 < length) return {0, kTooShort, 0, length};
  const GuestBuffer buffer = find_buffer(write ? call.target : call.source, length, write,
                                         model_.state(), emulator_, emulator_);
  if (buffer.refusal) return {0, buffer.refusal, uint32_t(buffer.at), length};
  if (write) {
    copy_to(buffer, job_.command.c_str());
    return {1, 0, 0, length};
  }
  const std::string text = text_of(buffer);
  const bool named = call.op != kName || measurement_.name_phase(call.arg0, text);
  if (!named) return {0, kBadName, uint32_t(buffer.at), length};
  if (call.op == kText) {
    output_.write(text);
    output_.check();
  }
  return {1, 0, 0, length};
}

}  // namespace session
