// SPDX-License-Identifier: LGPL-2.1-or-later
// When has a sector of a floppy or an IDE disk of the emulated PC passed the head? If the machine
// has no modelled drives, the emulator's own times stay. All results are microseconds from now on.
#include <algorithm>

#include "bochs.h"
#include "bochs/glue.hh"
#include "devices/device.hh"
#include "pc_system.h"

namespace {

device::FloppyTimes* floppies;
device::DiskTimes* disks;
base::Clock virtual_clock;

base::Time now() { return virtual_clock.time(bx_pc_system.time_ticks()); }

// A timer needs at least one microsecond.
Bit32u until(base::Time when) {
  const base::Time left = when > now() ? when - now() : 0;
  return std::max<Bit32u>(1, Bit32u((left + base::kMicrosecond - 1) / base::kMicrosecond));
}

}  // namespace

void bochs::use_times(device::FloppyTimes& times, const base::Clock& clock) {
  floppies = &times;
  virtual_clock = clock;
}
void bochs::use_times(device::DiskTimes& times, const base::Clock& clock) {
  disks = &times;
  virtual_clock = clock;
}

void p5_floppy_motors(unsigned on) {
  if (floppies) floppies->motors(on, now());
}

Bit32u p5_floppy_seek(unsigned drive, unsigned cylinder, Bit32u step, Bit32u usual) {
  if (!floppies) return usual;
  return until(floppies->seek(drive, cylinder, step * base::kMicrosecond, now()));
}

Bit32u p5_floppy_sectors(unsigned drive, unsigned cylinder, unsigned sector, unsigned count,
                         unsigned sectors) {
  if (!floppies) return 200000 / sectors * count;
  return until(floppies->pass(drive, {cylinder, sector, sectors}, count, now()));
}

Bit32u p5_floppy_id(unsigned drive, unsigned cylinder, Bit8u* sector, unsigned sectors,
                    Bit32u usual) {
  if (!floppies) return usual;
  base::Time read = 0;
  *sector = Bit8u(floppies->next_id(drive, {cylinder, *sector, sectors}, now(), &read));
  return until(read);
}

Bit32u p5_disk_read(unsigned disk, Bit64u first, unsigned count, unsigned ready, Bit32u usual) {
  if (!disks) return usual;
  disks->read(disk, first, count, now());
  return until(disks->buffered(disk, first + ready));
}

Bit32u p5_disk_ready(unsigned disk) {
  return disks && disks->ready(disk) > now() ? until(disks->ready(disk)) : 0;
}

Bit32u p5_disk_buffered(unsigned disk, Bit64u end) {
  return disks ? until(disks->buffered(disk, end)) : 0;
}

void p5_disk_taken(unsigned disk) {
  if (disks) disks->taken(disk, now());
}

Bit32u p5_disk_written(unsigned disk, Bit64u end, unsigned count, bool last) {
  return disks ? until(disks->written(disk, end - count, count, last, now())) : 0;
}
