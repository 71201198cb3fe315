// SPDX-License-Identifier: MIT
// A marker answers with text in three registers, piece by piece. Also for P5CPU of gem5's extras.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace base {

struct TextPiece {
  uint32_t bytes = 0;      // of the text, at most 12
  uint32_t words[3] = {};  // for EBX, ECX and EDX; zeros follow the end of the text
};

inline TextPiece text_piece(const std::string& text, size_t offset) {
  TextPiece piece;
  if (offset >= text.size()) return piece;
  piece.bytes = uint32_t(std::min(text.size() - offset, sizeof piece.words));
  std::memcpy(piece.words, text.data() + offset, piece.bytes);
  return piece;
}

}  // namespace base
