// SPDX-License-Identifier: MIT
#include "observe/attribution/file.hh"

#include <set>

#include "base/events.hh"
#include "base/json.hh"
#include "observe/names.hh"

namespace observe {

using base::JsonLine;

namespace {

// Returns the nodes that have counts, and all their callers.
std::set<uint32_t> used_nodes(const Attribution& found) {
  std::set<uint32_t> nodes;
  for (const auto& [number, phase] : found.phases()) {
    for (uint32_t node = 0; node < phase.counts.size(); node++) {
      if (!phase.counts[node]) continue;
      for (uint32_t at = node; at && nodes.insert(at).second;) at = found.nodes()[at].parent;
    }
  }
  return nodes;
}

class File {
 public:
  File(const Attribution& found, const std::vector<uint32_t>& counted)
      : found_(found), counted_(counted), classes_(found.classes()) {}

  std::string text() {
    append_header();
    append_functions();
    append_entrances();
    append_nodes();
    append_counts();
    if (classes_) append_evictions();
    return text_ + JsonLine("end").line();
  }

 private:
  void append_header();
  void append_functions();
  void append_entrances();
  void append_nodes();
  void append_counts();
  void append_evictions();
  std::vector<uint64_t> written(const Attribution::Counts& counts) const;

  const Attribution& found_;
  const std::vector<uint32_t>& counted_;
  const MissClasses* classes_;
  std::string text_;
};

void File::append_header() {
  std::vector<std::string> names = event_names(counted_);
  for (size_t i = 0; classes_ && i < MissClasses::kCounts; i++) {
    names.push_back(MissClasses::name(i));
  }
  JsonLine header("header");
  header.member("schema_version", 1).raw("stacks", found_.stacks() ? "true" : "false");
  if (!found_.joint().names().empty()) header.names("joint", found_.joint().names());
  text_ += header.names("events", names).line();
}

void File::append_functions() {
  std::set<uint32_t> functions;
  for (const uint32_t node : used_nodes(found_)) functions.insert(found_.nodes()[node].function);
  if (classes_) {
    for (const auto& [phase, pairs] : classes_->pairs()) {
      for (const auto& [pair, count] : pairs) {
        functions.insert({pair.loser.function, pair.winner.function});
      }
    }
  }
  for (const uint32_t id : functions) {
    const measure::Functions::Function& function = found_.functions()[id];
    JsonLine line("function");
    line.member("id", id).member("name", function.name).member("module", function.module);
    text_ += line.line();
  }
}

void File::append_entrances() {
  for (uint32_t id = 1; id < found_.entrances().size(); id++) {
    const Entrance& entrance = found_.entrances()[id];
    JsonLine line("entrance");
    line.member("id", id).member("number", entrance.number);
    line.raw("kind", entrance.kind ? base::quoted(entrance.kind) : "null");
    line.raw("vector", entrance.vector < 0 ? "null" : std::to_string(entrance.vector));
    text_ += line.line();
  }
}

void File::append_nodes() {
  for (const uint32_t id : used_nodes(found_)) {
    const Attribution::Node& node = found_.nodes()[id];
    const p5::Bank& bank = found_.bank(node.bank);
    JsonLine line("node");
    line.member("id", id).member("parent", node.parent).member("function", node.function);
    line.member("cr3", bank.cr3).member("ring", bank.ring).member("entrance", node.entrance);
    found_.joint().members(node.joint, &line);
    text_ += line.line();
  }
}

void File::append_counts() {
  for (const auto& [number, phase] : found_.phases()) {
    for (uint32_t node = 0; node < phase.counts.size(); node++) {
      if (!phase.counts[node]) continue;
      JsonLine line("counts");
      line.member("phase", number).member("node", node);
      text_ += line.numbers("counts", written(*phase.counts[node])).line();
    }
  }
}

// Returns the counts without the zeros at the end.
std::vector<uint64_t> File::written(const Attribution::Counts& counts) const {
  std::vector<uint64_t> numbers;
  for (const uint32_t event : counted_) numbers.push_back(counts[event]);
  if (classes_) numbers.insert(numbers.end(), counts.begin() + p5::kEventCount, counts.end());
  while (!numbers.empty() && numbers.back() == 0) numbers.pop_back();
  return numbers;
}

void File::append_evictions() {
  for (const auto& [phase, pairs] : classes_->pairs()) {
    for (const auto& [pair, count] : pairs) {
      JsonLine line("eviction");
      line.member("phase", phase).member("cache", MissClasses::name(pair.level));
      line.member("cause", MissClasses::name(pair.cls));
      line.member("loser", pair.loser.function).member("winner", pair.winner.function);
      line.member("colour", pair.colour).member("count", count);
      line.member("lost", MissClasses::name(pair.loser.use));
      text_ += line.member("won", MissClasses::name(pair.winner.use)).line();
    }
  }
}

}  // namespace

std::string attribution_text(const Attribution& found, const std::vector<uint32_t>& counted) {
  return File(found, counted).text();
}

}  // namespace observe
