// SPDX-License-Identifier: MIT
// How do the floppy drives connect to the machine as one device?
#include "devices/device.hh"

#include <cmath>
#include <memory>

#include "base/declared.hh"
#include "devices/floppy/floppies.hh"

namespace device::floppy {
namespace {

class Floppies : public device::Device {
 public:
  void read(base::Settings& settings) override {
    base::check(settings, base::declared::floppy);
    if (!settings.error().empty()) return;
    const auto time = [&](const char* key) {
      return Time(std::llround(settings.real(key) * double(base::kMillisecond)));
    };
    settings.text("floppy.timing");
    config_ = {time("floppy.step_ms"), time("floppy.settle_ms"), time("floppy.motor_ms")};
  }

  void connect(device::Pc& pc) override {
    drives_ = std::make_unique<Drives>(config_);
    pc.plug(*drives_);
  }

 private:
  Config config_;
  std::unique_ptr<Drives> drives_;
};

const device::Registered<Floppies> registered(base::events::Part::Floppy);

}  // namespace
}  // namespace device::floppy
