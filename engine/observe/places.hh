// SPDX-License-Identifier: MIT
// How often did each event happen at each value of a dimension, such as a machine mode? The banks
// of the chip do not change: at each change of the value or of the bank (ring and address space),
// the observer adds the growth of the old bank to the old value.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "observe/late_clock.hh"
#include "observe/observer.hh"

namespace observe {

class Places : public Observer {
 public:
  using Events = std::array<uint64_t, p5::kEventCount>;
  // The counts of one value in one bank, and how control reached each vector. `own`: of the events
  // that only this observer counts.
  struct Counts {
    Events events{};
    std::vector<uint64_t> own;
    std::map<std::pair<p5::Entry, uint8_t>, uint64_t> vectors;
  };
  using Place = std::pair<const p5::Bank*, uint64_t>;
  using Banks = std::map<const p5::Bank*, Events>;
  struct Phase {
    std::vector<std::pair<Place, Counts>> counts;  // in the order of the first use
    std::map<Place, size_t> numbers;               // their places in `counts`
    Banks began, grown;                            // of all banks: at the begin; in all brackets
  };

  // `dimension`: the name of the values in the file, and the type of its lines.
  Places(p5::Pentium& model, const char* dimension)
      : model_(model),
        dimension_(dimension),
        late_(model, [this](p5::Event component) { explain(component); }) {}

  void start() override;
  void arrive(const Entrance&, Position, p5::Linear) override { look(); }
  void delivered(p5::Entry entry, uint8_t vector, Position back) override;
  void begin(uint32_t phase) override;
  void end() override;
  void stop() override;
  std::string differs() const override;
  // The counts of each phase by address space, ring and value, as in modes.jsonl
  // (docs/reference/formats.md).
  std::string text(const std::vector<uint32_t>& counted) const override;

  const std::map<uint32_t, Phase>& phases() const { return phases_; }

 protected:
  // The value of the dimension in the model's present state.
  uint64_t value() const override = 0;
  // A value in the file.
  virtual std::string shown(uint64_t value) const { return std::to_string(value); }
  void members(uint64_t value, base::JsonLine* line) const override {
    line->member(dimension_, shown(value));
  }
  // An event that only this observer counts: its name, and its place in Counts::own.
  struct OwnEvent {
    std::string name;
    size_t place;
  };
  virtual std::vector<OwnEvent> own_events(const std::vector<uint32_t>& /*counted*/) const {
    return {};
  }
  // The counts at the present place have grown.
  virtual void grew(const Events& /*growth*/) {}

  // The value may have changed. An observer that sees each instruction calls this in move().
  void look() {
    if (value() != place_.second || &model_.bank() != place_.first) enter_place();
  }
  // Adds the growth of the current bank since the last flush to the current place.
  void flush();
  // Further growth belongs to the present value and bank.
  void take_place();
  static Counts& counts_at(Phase* phase, const Place& place);

  p5::Pentium& model_;
  Place place_;
  std::vector<Phase*> open_;  // the open brackets, nested; each of them gets the counts

 private:
  void enter_place() {
    flush();
    take_place();
  }

  void explain(p5::Event component);

  const char* dimension_;
  LateClock late_;
  Place late_at_;
  Events seen_;  // counts of the current bank at the last flush
  std::map<uint32_t, Phase> phases_;
};

}  // namespace observe
