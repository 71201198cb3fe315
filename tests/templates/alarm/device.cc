// SPDX-License-Identifier: MIT
// A template of a device: an alarm clock on the ISA bus. The guest writes a number of microseconds
// to the port of the clock. After this time the clock rings, and the device raises its interrupt. A
// read of the port returns 1 if the clock rings, and stops the ringing.
#include "../device.hh"

#include "declared.hh"

namespace alarm_clock {
namespace {

constexpr uint16_t kPort = 0x320;

class AlarmClock : public device::Device, public device::Ports {
 public:
  void read(base::Settings& settings) override {
    p5::check(settings, p5::declared::alarm);
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
      pc_->count(p5::Event::AlarmRings, 1);
    });
  }

 private:
  device::Pc* pc_ = nullptr;
  device::Line* line_ = nullptr;
  uint8_t irq_ = 0;
  bool rings_ = false;
};

const device::Registered<AlarmClock> registered(p5::Part::Alarm);

}  // namespace
}  // namespace alarm_clock
