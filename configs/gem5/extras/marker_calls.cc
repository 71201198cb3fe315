// SPDX-License-Identifier: MIT
#include "marker_calls.hh"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/logging.hh"
#include "base/text_piece.hh"
#include "marker_numbers.h"
#include "sim/full_system.hh"
#include "sim/sim_exit.hh"

namespace gem5::p5lab {
namespace {

constexpr unsigned kRings = 4;

constexpr uint32_t kAbort = 0x10000;  // this bit in the code of m5_fail: the marker is abort

// The cause with which gem5's event loop ends, as gem5's own operations give it; null for a call
// after which the program goes on.
const char* cause(uint32_t operation, uint32_t argument) {
  switch (operation) {
    case P5_OP_READY:
      return FullSystem ? "checkpoint" : nullptr;
    case P5_OP_BEGIN:
      return "workbegin";
    case P5_OP_END:
      return "workend";
    case P5_OP_EXIT:
      if (!argument) return "m5_exit instruction encountered";
      [[fallthrough]];
    case P5_OP_ABORT:
      return "m5_fail instruction encountered";
    default:
      return nullptr;
  }
}

MarkerRegisters answer(uint32_t eax, const ::base::TextPiece& piece) {
  return {eax, piece.words[0], piece.words[1], piece.words[2]};
}

}  // namespace

MarkerCalls::MarkerCalls(::p5lab::Chip& chip, std::string job, const std::string& delivered,
                         std::string output)
    : chip_(chip), job_(std::move(job)), output_(std::move(output)) {
  if (delivered.empty()) return;
  std::ifstream file(delivered, std::ios::binary);
  fatal_if(!file, "delivered: cannot read %s", delivered);
  delivered_.assign(std::istreambuf_iterator<char>(file), {});
}

bool MarkerCalls::is_call(uint32_t eax) { return eax == P5_MARKER_LEAF; }

MarkerRegisters MarkerCalls::call(const MarkerRegisters& in, uint32_t esi) {
  const uint32_t operation = in.ecx, argument = in.edx;
  if (const char* text = cause(operation, argument)) {
    exitSimLoop(text, int(argument | (operation == P5_OP_ABORT ? kAbort : 0)));
    return {1, 0, 0, 0};
  }
  switch (operation) {
    case P5_OP_READY:
      return {1, 0, 0, 0};
    case P5_OP_DETECT:
      return {P5_MARKER_ABI, P5_MARKER_MAGIC, 0, 0};
    case P5_OP_READ_COUNTER:
      return counter(argument);
    case P5_OP_JOB:
      return answer(1, ::base::text_piece(job_, argument));
    case P5_OP_PROGRAM: {
      const ::base::TextPiece piece = ::base::text_piece(delivered_, argument);
      return answer(piece.bytes, piece);
    }
    case P5_OP_OUTPUT:
      print(argument, esi & 0xFF);
      return {1, 0, 0, 0};
    default:
      return {0, 0, 0, 0};
  }
}

MarkerRegisters MarkerCalls::counter(uint32_t event) {
  uint64_t total = 0;
  for (unsigned ring = 0; ring < kRings && event < chip_.events().size(); ring++) {
    total += chip_.counts(ring)[event];
  }
  return {uint32_t(total), 0, 0, uint32_t(total >> 32)};
}

void MarkerCalls::print(uint32_t bytes, uint32_t count) {
  if (!file_) file_ = simout.create(output_);
  char text[sizeof bytes];
  std::memcpy(text, &bytes, sizeof text);
  file_->stream()->write(text, std::min<uint32_t>(count, sizeof text));
  file_->stream()->flush();
}

}  // namespace gem5::p5lab
