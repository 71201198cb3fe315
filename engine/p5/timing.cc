// SPDX-License-Identifier: MIT
#include "p5/timing.hh"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

namespace p5 {
namespace {

constexpr const char* kHeader =
    "class,real,v86,prot,prot_inner,prot_user,per_iteration,zero,int_overlap,fp_overlap,"
    "pairing,confidence,source,note";
constexpr size_t kFields = 14;
constexpr size_t kPairingField = 10;

// Splits the row at its commas. Notes contain no comma, so the table needs no quotes.
std::vector<std::string_view> split(std::string_view row) {
  std::vector<std::string_view> fields;
  size_t start = 0;
  while (true) {
    const size_t comma = row.find(',', start);
    fields.push_back(row.substr(start, comma - start));
    if (comma == std::string_view::npos) return fields;
    start = comma + 1;
  }
}

bool parse_pairing(std::string_view text, Pairing* out) {
  if (text == "NP")
    *out = Pairing::NP;
  else if (text == "UV")
    *out = Pairing::UV;
  else if (text == "PU")
    *out = Pairing::PU;
  else if (text == "PV")
    *out = Pairing::PV;
  else if (text == "FX")
    *out = Pairing::FX;
  else
    return false;
  return true;
}

// Number of single-character edits that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (size_t i = 0; i < a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); j++) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

std::string nearest_class(std::string_view name) {
  return *std::min_element(std::begin(kClassNames), std::end(kClassNames),
                           [&](const char* a, const char* b) {
                             return edit_distance(name, a) < edit_distance(name, b);
                           });
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

}  // namespace

ClassId class_by_name(std::string_view name) {
  const auto found = std::find(std::begin(kClassNames), std::end(kClassNames), name);
  return ClassId(found - std::begin(kClassNames));
}

TimingTable::TimingTable() : pairing_(Class::Count, Pairing::NP) {
  for (auto& column : columns_) column.assign(Class::Count, 0);
}

TimingTable TimingTable::flat() {
  TimingTable table;
  for (const Column column : {kReal, kV86, kProt, kInner, kUser, kZero}) {
    table.columns_[column].assign(Class::Count, 1);
  }
  return table;
}

// Returns an empty text if the row has no error. Otherwise returns the error.
std::string TimingTable::parse_row(std::string_view row, std::vector<bool>* seen) {
  static constexpr std::array<const char*, kColumns> kNames = {
      "real",          "v86",  "prot",        "prot_inner", "prot_user",
      "per_iteration", "zero", "int_overlap", "fp_overlap"};
  const auto fields = split(row);
  if (fields.size() != kFields) {
    return "expected " + std::to_string(kFields) + " fields, found " +
           std::to_string(fields.size());
  }
  const ClassId cls = class_by_name(fields[0]);
  if (cls == Class::Count) {
    return "unknown class " + quoted(fields[0]) + " (nearest is " +
           quoted(nearest_class(fields[0])) + ")";
  }
  if ((*seen)[cls]) return "second row for class " + quoted(fields[0]);
  (*seen)[cls] = true;

  for (int column = 0; column < kColumns; column++) {
    const std::string_view text = fields[1 + column];
    uint16_t value = 0;
    if (text.empty()) {
      // If a field of column prot_inner or prot_user is empty, the clocks of column prot apply.
      if (column == kInner || column == kUser) value = columns_[kProt][cls];
    } else {
      const auto [end, status] = std::from_chars(text.begin(), text.end(), value);
      if (status != std::errc() || end != text.end()) {
        return std::string(kNames[column]) + " of class " + quoted(fields[0]) + " is " +
               quoted(text) + ", expected clocks (0 to 65535)";
      }
    }
    columns_[column][cls] = value;
  }
  if (fields[3].empty()) return "class " + quoted(fields[0]) + " has no clocks in column prot";
  if (!parse_pairing(fields[kPairingField], &pairing_[cls])) {
    return "pairing of class " + quoted(fields[0]) + " is " + quoted(fields[kPairingField]) +
           ", expected NP, UV, PU, PV or FX";
  }
  if (fields[11].size() != 1 || fields[11].find_first_of("ABCE") != 0) {
    return "confidence of class " + quoted(fields[0]) + " is " + quoted(fields[11]) +
           ", expected A, B, C or E";
  }
  return "";
}

bool TimingTable::parse(std::string_view text, const std::string& name, std::string* error) {
  TimingTable table;
  std::vector<bool> seen(Class::Count, false);
  bool header = false;
  int number = 0;
  const auto fail = [&](int line, const std::string& what) {
    *error = name + ":" + std::to_string(line) + ": " + what;
    return false;
  };

  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    number++;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line[0] == '#') continue;
    if (!header) {
      if (line != kHeader) return fail(number, "expected the header " + quoted(kHeader));
      header = true;
      continue;
    }
    const std::string problem = table.parse_row(line, &seen);
    if (!problem.empty()) return fail(number, problem);
  }
  if (!header) return fail(number, "expected the header " + quoted(kHeader));
  for (ClassId cls = 0; cls < Class::Count; cls++) {
    if (!seen[cls]) return fail(number, "no row for class " + quoted(kClassNames[cls]));
  }
  *this = std::move(table);
  return true;
}

bool TimingTable::load(const std::string& path, std::string* error) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  const std::string name = path.substr(path.find_last_of('/') + 1);
  if (!file) {
    *error = name + ":0: cannot read " + path;
    return false;
  }
  return parse(text.str(), name, error);
}

}  // namespace p5
