// SPDX-License-Identifier: MIT
#include "disks.hh"

#include <cmath>

namespace disk {
namespace {

constexpr uint32_t kTargets = 15;  // of one adapter

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
  c.count = uint32_t(settings.number("disk.count"));
  c.adapters = uint32_t(settings.number("disk.adapters"));
  if (!c.adapters || c.adapters > 4)
    settings.fail("disk.adapters", "expected 1 to 4");
  else if (c.count > c.adapters * kTargets) {
    settings.fail("disk.count", "expected at most 15 disks for each adapter");
  }
  c.tagged_queueing = settings.flag("disk.tagged_queueing");
  settings.text("disk.model");  // for people
  c.vendor = settings.text("disk.vendor");
  c.product = settings.text("disk.product");
  if (settings.has("disk.image")) c.image = settings.text("disk.image");

  if (!parse_zones(settings.text("disk.zones"), &d.zones)) {
    settings.fail("disk.zones", "expected CYLINDERSxSECTORS,...");
  }
  d.heads = uint32_t(settings.number("disk.heads"));
  const double rpm = settings.real("disk.rpm");
  d.revolution = rpm > 0 ? Time(std::llround(60 * double(kSecond) / rpm)) : 0;
  if (!d.heads) settings.fail("disk.heads", "expected at least 1");
  if (!d.revolution) settings.fail("disk.rpm", "expected more than 0");
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
  if (!d.segments || d.segments > d.buffer) {
    settings.fail("disk.segments", "expected 1 to as many as the buffer has sectors");
  }
  if (d.write_seek.single < d.read_seek.single) {
    settings.fail("disk.write_seek_single_ms", "expected not less than disk.read_seek_single_ms");
  }

  c.adapter = microseconds(settings, "disk.adapter_us");
  c.select = microseconds(settings, "disk.select_us");
  c.reselect = microseconds(settings, "disk.reselect_us");
  const double rate = settings.real("disk.bus_mb_s");  // millions of bytes
  c.bus_sector = rate > 0 ? Time(std::llround(kSector / rate * double(kMicrosecond))) : 0;
  if (!c.bus_sector) settings.fail("disk.bus_mb_s", "expected more than 0");

  if (settings.error().empty() && c.count) {
    Agenda agenda;
    std::string problem;
    Drive drive(d, agenda, &problem);
    if (!problem.empty()) settings.fail("disk.seek_knee", problem);
  }
  return c;
}

}  // namespace disk
