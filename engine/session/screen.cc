// SPDX-License-Identifier: MIT
#include "session/screen.hh"

#include <sstream>

namespace session {
namespace {

// The symbols of the IBM PC's character generator. Unicode's own table for this code page
// (CP437.TXT) has the codes from 128. The symbols below 32 and the symbol 127 follow IBM's table of
// graphics for control codes (IBMGRAPH.TXT).
constexpr char16_t kSymbols[] =
    u" ☺☻♥♦♣♠•◘○◙♂♀♪♫☼►◄↕‼¶§▬↨↑↓→←∟↔▲▼"
    u" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_"
    u"`abcdefghijklmnopqrstuvwxyz{|}~⌂"
    u"ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»"
    u"░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀"
    u"αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■ ";
static_assert(sizeof kSymbols / sizeof *kSymbols == 256 + 1, "one symbol for each code");

void append(std::string* text, char16_t symbol) {
  if (symbol < 0x80) {
    *text += char(symbol);
  } else if (symbol < 0x800) {
    *text += char(0xC0 | symbol >> 6);
    *text += char(0x80 | (symbol & 0x3F));
  } else {
    *text += char(0xE0 | symbol >> 12);
    *text += char(0x80 | (symbol >> 6 & 0x3F));
    *text += char(0x80 | (symbol & 0x3F));
  }
}

}  // namespace

std::string Screen::text() const {
  if (rows.empty() && !width) return "";
  if (rows.empty()) {
    return "(a graphics mode: " + std::to_string(width) + " dots x " + std::to_string(height) +
           " lines)\n";
  }
  std::string all;
  for (const std::string& row : rows) all += row + "\n";
  return all;
}

std::string Screen::indented() const {
  std::istringstream lines(text());
  std::string all, row, empty;
  while (std::getline(lines, row)) {
    empty += row.empty() ? "\n" : "  " + row + "\n";
    if (row.empty()) continue;
    all += empty;
    empty.clear();
  }
  return all;
}

std::string row_of(const std::vector<uint8_t>& codes) {
  std::string row;
  for (const uint8_t code : codes) append(&row, kSymbols[code]);
  return row.substr(0, row.find_last_not_of(' ') + 1);
}

}  // namespace session
