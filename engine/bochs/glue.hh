// SPDX-License-Identifier: LGPL-2.1-or-later
// Which functions do the files of the glue share?
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "base/events.hh"
#include "devices/device.hh"
#include "session/session.hh"

class bx_cpuid_t;

extern bool p5_flawed_divider;  // (patch 0020, x87.cc)

namespace bochs {

// The only run of this process.
session::Session& run();

// Returns what Bochs asks about the processor's identity and its model-specific registers
// (processor.cc).
bx_cpuid_t* make_processor();

// Counts an event of a device in the current ring and address space.
void count_event(p5::Event event, uint64_t number);

// Declares that a card on the ISA bus supports 16-bit accesses at these ports.
void wide_ports(uint16_t first, uint16_t last);

// Sets each device's timer to the next action of its agenda (devices.cc).
void run_agendas();

// The drives of the PC take these times (drives.cc). `clock`: of the processor.
void use_times(device::FloppyTimes& times, const base::Clock& clock);
void use_times(device::DiskTimes& times, const base::Clock& clock);

// The last instruction was not executed: the model has counted it, and will see it again.
void hold();

// From now on, a panic of the emulator ends the run at once (panic.cc).
void end_at_panic();

// Returns the place that a segment register and a general register (BX_SEG_REG_...,
// BX_32BIT_REG_...) give in the present mode (place.cc).
session::Place place(unsigned segment, unsigned general);

// Returns what the video card shows (screen.cc). Changes nothing in the emulated machine.
session::Screen screen();

// The functions of session::Console (keyboard.cc, mouse.cc, floppy.cc).
bool key(const std::string& code, bool down);
bool mouse(int right, int down, unsigned buttons);
base::Time mouse_report();
bool insert(unsigned drive, const std::string& path);

// Returns the picture of a graphics mode; an empty picture in a text mode (picture.cc). Changes
// nothing in the emulated machine.
session::Picture picture();

// Returns a picture of the screen, also in a text mode (picture.cc). Changes nothing in the
// emulated machine.
session::Picture view();

// Writes the present content of an IDE disk to a file. `drive` is the number of the disk in the
// order of the configuration. Returns false if the disk does not exist or the write fails
// (disk.cc).
bool save_disk(unsigned drive, std::FILE* file);

}  // namespace bochs
