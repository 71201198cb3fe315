// SPDX-License-Identifier: MIT
// What does a run need from the emulator, which executes the instructions?
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "observe/observer.hh"
#include "p5/pentium.hh"
#include "session/console.hh"
#include "session/guest_buffer.hh"
#include "session/picture.hh"

namespace session {

class Emulator : public p5::Platform, public observe::Guest, public Console, public GuestMemory {
 public:
  // Copies bytes into the guest's memory. Returns false if there is no memory at this address.
  virtual bool write_memory(uint32_t address, const uint8_t* bytes, size_t count) = 0;
  // Returns the picture of a graphics mode; an empty picture in a text mode. The call changes
  // nothing in the machine.
  virtual Picture picture() = 0;
  // Returns a picture of the screen, also in a text mode. The call changes nothing in the machine.
  virtual Picture view() = 0;
  // Writes the content of an IDE disk. Returns false if the disk does not exist or the write fails.
  virtual bool save_disk(unsigned drive, std::FILE* file) = 0;
  // Lets time pass in which the processor executes nothing. Devices go on.
  virtual void let_pass(uint64_t clocks) = 0;
  // From now on, a panic of the emulator ends the run at once.
  virtual void end_at_panic() = 0;
};

}  // namespace session
