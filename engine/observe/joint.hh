// SPDX-License-Identifier: MIT
// Which values do several observers have at the same time? Joint counts are counts by a combination
// of such values, for example by call and machine mode. Each combination that occurs has a number.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "observe/observer.hh"

namespace observe {

class Joint {
 public:
  static constexpr uint32_t kRest = 0;
  // Further combinations share the number kRest, so the sums stay exact.
  static constexpr size_t kMost = 1 << 16;

  Joint() = default;  // of no observer
  // `names`: other observers of the run.
  Joint(std::vector<std::string> names, const Machine& machine)
      : names_(std::move(names)), find_(machine.observer) {}
  // Returns the names in a key of the parameter file, separated by spaces. They must be observers
  // of the run.
  static std::vector<std::string> read(base::Settings& settings, const std::string& key);

  const std::vector<std::string>& names() const { return names_; }
  // Returns the number of the present combination.
  uint32_t now();
  // Adds the members of a combination to a line of a file; none for kRest.
  void members(uint32_t number, base::JsonLine* line) const;

 private:
  using Values = std::vector<uint64_t>;

  std::vector<std::string> names_;
  std::function<Observer*(const std::string&)> find_;
  std::vector<Observer*> parts_;  // empty before the first call of now()
  Values values_;                 // the present ones
  uint32_t last_ = kRest;         // their number
  std::vector<Values> known_{{}};
  std::map<Values, uint32_t> numbers_;
};

}  // namespace observe
