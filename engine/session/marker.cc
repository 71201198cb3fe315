// SPDX-License-Identifier: MIT
#include "session/marker.hh"

#include "base/text_piece.hh"

namespace session {

MarkerResult twelve_bytes(const std::string& text, size_t offset, uint32_t eax) {
  const base::TextPiece piece = base::text_piece(text, offset);
  return {eax, piece.words[0], piece.words[1], piece.words[2]};
}

}  // namespace session
