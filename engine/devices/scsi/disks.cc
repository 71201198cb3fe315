// SPDX-License-Identifier: MIT
#include "devices/scsi/disks.hh"

#include <cmath>

#include "base/declared.hh"

namespace device::scsi {
namespace {

Time milliseconds(base::Settings& settings, const std::string& key) {
  return Time(std::llround(settings.real(key) * double(kMillisecond)));
}

Time microseconds(base::Settings& settings, const std::string& key) {
  return Time(std::llround(settings.real(key) * double(kMicrosecond)));
}

DriveConfig::Seek seek(base::Settings& settings, const std::string& prefix) {
  return {milliseconds(settings, prefix + "_single_ms"),
          milliseconds(settings, prefix + "_average_ms"),
          milliseconds(settings, prefix + "_full_ms")};
}

}  // namespace

Config Config::read(base::Settings& settings) {
  Config c;
  DriveConfig& d = c.drive;
  base::check(settings, base::declared::scsi);
  if (!settings.error().empty()) return c;
  c.count = uint32_t(settings.number("disk.count"));
  c.adapters = uint32_t(settings.number("disk.adapters"));
  c.tagged_queueing = settings.flag("disk.tagged_queueing");
  c.ide = settings.text("ide.timing") == "drive";
  c.model = settings.text("disk.model");
  c.vendor = settings.text("disk.vendor");
  c.product = settings.text("disk.product");
  if (settings.has("disk.image")) c.image = settings.text("disk.image");

  parse_zones(settings.text("disk.zones"), &d.zones);
  d.heads = uint32_t(settings.number("disk.heads"));
  d.revolution = Time(std::llround(60 * double(kSecond) / settings.real("disk.rpm")));
  d.track_skew = milliseconds(settings, "disk.track_skew_ms");
  d.cylinder_skew = milliseconds(settings, "disk.cylinder_skew_ms");
  d.read_seek = seek(settings, "disk.read_seek");
  d.write_seek = seek(settings, "disk.write_seek");
  d.knee = uint32_t(settings.number("disk.seek_knee"));
  d.head_switch = milliseconds(settings, "disk.head_switch_ms");
  d.command = microseconds(settings, "disk.command_us");
  d.buffer = uint32_t(settings.number("disk.buffer") / kSector);
  d.segments = uint32_t(settings.number("disk.segments"));
  d.read_ahead = settings.flag("disk.read_ahead");
  d.write_cache = settings.flag("disk.write_cache");

  c.adapter = microseconds(settings, "disk.adapter_us");
  c.select = microseconds(settings, "disk.select_us");
  c.reselect = microseconds(settings, "disk.reselect_us");
  // Millions of bytes.
  c.bus_sector =
      Time(std::llround(kSector / settings.real("disk.bus_mb_s") * double(kMicrosecond)));
  if (settings.flag("ideal.disk")) c.answer_at_once();
  return c;
}

void Config::answer_at_once() {
  drive.at_once = true;
  drive.command = adapter = select = reselect = bus_sector = 0;
}

}  // namespace device::scsi
