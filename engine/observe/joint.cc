// SPDX-License-Identifier: MIT
#include "observe/joint.hh"

#include <sstream>

namespace observe {

std::vector<std::string> Joint::read(base::Settings& settings, const std::string& key) {
  std::vector<std::string> names;
  if (!settings.has(key)) return names;
  std::istringstream words(settings.text(key));
  for (std::string name; words >> name;) {
    if (!settings.has("run." + name))
      settings.fail(key, "expected names of observers of this run, found `" + name + "`");
    names.push_back(name);
  }
  return names;
}

uint32_t Joint::now() {
  bool changed = parts_.size() < names_.size();
  for (size_t i = parts_.size(); i < names_.size(); i++) parts_.push_back(find_(names_[i]));
  values_.resize(parts_.size());
  for (size_t i = 0; i < parts_.size(); i++) {
    const uint64_t value = parts_[i]->value();
    changed |= value != values_[i];
    values_[i] = value;
  }
  if (!changed) return last_;
  const auto found = numbers_.find(values_);
  if (found != numbers_.end()) return last_ = found->second;
  if (known_.size() > kMost) return last_ = kRest;
  known_.push_back(values_);
  return last_ = numbers_[values_] = uint32_t(known_.size() - 1);
}

void Joint::members(uint32_t number, base::JsonLine* line) const {
  for (size_t i = 0; i < parts_.size() && number != kRest; i++) {
    parts_[i]->members(known_[number][i], line);
  }
}

}  // namespace observe
