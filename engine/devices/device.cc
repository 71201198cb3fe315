// SPDX-License-Identifier: MIT
#include "devices/device.hh"

#include "base/declared.hh"

namespace device {

Devices Devices::all() {
  Devices all;
  for (const Kind& kind : base::registry<Kind>()) all.known_.push_back({kind.part, kind.make()});
  return all;
}

void Devices::read(base::Settings& settings) {
  for (const Known& known : known_) {
    known.device->read(settings);
    if (!settings.error().empty()) return;
    known.device->present_ = base::present(settings, base::declaration(known.part));
  }
}

void Devices::read_job(base::Settings& settings) {
  for (const Known& known : known_) known.device->read_job(settings);
}

void Devices::ready() {
  for (Device* device : present()) device->ready();
}

std::vector<Device*> Devices::present() const {
  std::vector<Device*> present;
  for (const Known& known : known_) {
    if (known.device->present()) present.push_back(known.device.get());
  }
  return present;
}

}  // namespace device
