// SPDX-License-Identifier: MIT
// A template of a device: an alarm clock on the ISA bus. The guest writes a number of microseconds
// to the port of the clock. After this time the clock rings, and the device raises its interrupt. A
// read of the port returns 1 if the clock rings, and stops the ringing.
#include "base/declared.hh"
#include "devices/device.hh"

namespace device::alarm {
namespace {

constexpr uint16_t kPort = 0x320;

class AlarmClock : public device::Device, public device::Ports {
 public:
  void read(base::Settings& settings) override {
    base::check(settings, base::declared::alarm);
    irq_ = uint8_t(settings.number("alarm.irq"));
  }

  void connect(device::Pc& pc) override {
    pc_ = &pc;
    line_ = &pc.plug({"alarm", kPort, kPort, device::kAnyWidth, irq_}, *this);
  }

  uint32_t read(uint32_t, uint32_t) override {
    line_->set(false);
    const bool rang = rings_;
    rings_ = false;
    return rang;
  }

  void write(uint32_t, uint32_t microseconds, uint32_t) override {
    agenda_.at(pc_->now() + microseconds * base::kMicrosecond, [this](base::Time) {
      rings_ = true;
      line_->set(true);
      pc_->count(base::events::Event::AlarmRings, 1);
    });
  }

 private:
  device::Pc* pc_ = nullptr;
  device::Line* line_ = nullptr;
  uint8_t irq_ = 0;
  bool rings_ = false;
};

const device::Registered<AlarmClock> registered(base::events::Part::Alarm);

}  // namespace
}  // namespace device::alarm
