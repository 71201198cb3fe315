// SPDX-License-Identifier: MIT
#include "session/new_text.hh"

#include <algorithm>

namespace session {
namespace {

// Returns the offset of each character of a UTF-8 text, and the size of the text behind them.
std::vector<size_t> offsets(const std::string& row) {
  std::vector<size_t> found;
  for (size_t i = 0; i < row.size(); i++) {
    if ((uint8_t(row[i]) & 0xC0) != 0x80) found.push_back(i);
  }
  found.push_back(row.size());
  return found;
}

}  // namespace

void NewText::look(const std::vector<std::string>& rows) {
  if (rows == rows_) return;
  if (rows.size() != rows_.size()) {
    rows_.clear();
    new_.clear();
  }
  const size_t shift = scrolled(rows);
  std::vector<Row> now;
  for (size_t i = 0; i < rows.size(); i++) {
    const bool moved = i + shift < rows_.size() && rows[i] == rows_[i + shift];
    now.push_back(compared(rows[i], !moved && stayed(rows, i, shift) ? i : i + shift));
  }
  rows_ = rows;
  new_ = now;
}

// Returns true if a row did not move with the others. A row that moved can also be equal to the row
// that follows it at its old place: a prompt after an empty command.
bool NewText::stayed(const std::vector<std::string>& rows, size_t row, size_t shift) const {
  if (row >= rows_.size() || rows[row] != rows_[row]) return false;
  return row < shift || rows[row - shift] != rows_[row];
}

// Returns the number of rows by which the text has moved up: the number that explains most rows.
size_t NewText::scrolled(const std::vector<std::string>& rows) const {
  size_t best = 0, most = 0;
  for (size_t shift = 0; shift < rows_.size(); shift++) {
    size_t equal = 0;
    for (size_t i = 0; i + shift < rows_.size(); i++) {
      equal += !rows[i].empty() && rows[i] == rows_[i + shift];
    }
    if (equal > most) best = shift, most = equal;
  }
  return best;
}

// Returns which characters of a row are new. `before` is the number of the row in the last look.
NewText::Row NewText::compared(const std::string& row, size_t before) const {
  const bool known = before < rows_.size();
  const std::string old = known ? rows_[before] : "";
  const Row old_new = known ? new_[before] : Row();
  const std::vector<size_t> at = offsets(row), old_at = offsets(old);
  Row result(at.size() - 1, true);
  for (size_t i = 0; i < std::min(result.size(), old_new.size()); i++) {
    const bool equal =
        row.compare(at[i], at[i + 1] - at[i], old, old_at[i], old_at[i + 1] - old_at[i]) == 0;
    result[i] = !equal || old_new[i];
  }
  return result;
}

void NewText::forget() {
  for (Row& row : new_) row.assign(row.size(), false);
}

bool NewText::has(const Pattern& pattern) const {
  for (size_t i = 0; i < rows_.size(); i++) {
    const std::vector<size_t> at = offsets(rows_[i]);
    for (size_t begin = 0, end = 0; pattern.find(rows_[i], &begin, &end); begin++) {
      for (size_t k = 0; k < new_[i].size(); k++) {
        if (new_[i][k] && at[k] < end && at[k + 1] > begin) return true;
      }
    }
  }
  return false;
}

}  // namespace session
