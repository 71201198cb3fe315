// SPDX-License-Identifier: MIT
// Which access evicted the line that is missed now? misses.jsonl (docs/reference/formats.md)
// contains one line for each miss of a cache or TLB inside the brackets: the instruction that
// misses and how long it takes, the access that loaded the entry last, and the access that took it
// away.
//
// The classes of misses (measure/miss_classes.hh) know these accesses. This observer tells them
// each instruction and its clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "observe/attribution/attribution.hh"
#include "observe/observer.hh"

namespace observe {

class Misses : public Observer, public MissClasses::Trace {
 public:
  // Writes at most `limit` misses.
  Misses(const Machine& machine, uint64_t limit);
  static Make read(base::Settings& settings);

  void open(const std::vector<uint32_t>&, Write write) override;
  void start() override;
  bool sees_each() const override { return classes_; }
  void arrive(const Entrance&, Position, p5::Linear) override {}
  void begin(uint32_t phase) override;
  void end() override;
  void stop() override;
  void missed(const MissClasses::Miss& miss) override;
  std::string differs() const override;
  std::string text(const std::vector<uint32_t>&) const override;

 protected:
  void move(p5::Linear linear, p5::Linear) override;

 private:
  void bracket(const char* type);
  void write_pending();
  void write(const MissClasses::Miss& miss, uint64_t waited);
  std::string past(const MissClasses::Past& past);
  uint32_t site(const MissClasses::User& user);

  p5::Pentium& model_;
  MissClasses* classes_;
  const Machine machine_;
  const Functions* functions_ = nullptr;
  Write write_;
  const uint64_t limit_;
  uint64_t began_ = 0;                      // clock at which the current instruction began
  std::vector<MissClasses::Miss> pending_;  // of the current instruction
  struct Open {
    uint32_t phase;
    uint64_t beyond;  // misses that are not written, without those of the brackets inside
  };
  std::vector<Open> open_;                                   // nested brackets
  std::map<uint32_t, uint64_t> written_;                     // [phase]
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> sites_;  // [function, instruction]
};

}  // namespace observe
