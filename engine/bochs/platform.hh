// SPDX-License-Identifier: LGPL-2.1-or-later
// How do the model, the session and the observers reach the emulated machine?
#pragma once

#include "session/emulator.hh"

namespace bochs {

class Platform : public session::Emulator {
 public:
  p5::PageEntry read_physical(uint32_t address) override;
  uint32_t code_physical(p5::Linear linear) override;
  bool code(p5::Linear linear, bool fetched, uint32_t* physical) override;
  const uint8_t* page(uint32_t physical) override;
  observe::Registers registers() override;
  uint16_t x87_control() override;
  bool write_memory(uint32_t address, const uint8_t* bytes, size_t count) override;
  uint8_t* memory(uint32_t physical, bool write) override;
  session::Screen screen() override;
  session::Picture picture() override;
  session::Picture view() override;
  bool key(const std::string& code, bool down) override;
  bool mouse(int right, int down, unsigned buttons) override;
  base::Time report() const override;
  bool insert(unsigned drive, const std::string& path) override;
  bool save_disk(unsigned drive, std::FILE* file) override;
  void let_pass(uint64_t clocks) override;
  void end_at_panic() override;

  // The emulator has removed its devices: there is no screen any more.
  void stop() { stopped_ = true; }

 private:
  bool stopped_ = false;
};

extern Platform platform;

}  // namespace bochs
