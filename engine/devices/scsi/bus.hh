// SPDX-License-Identifier: MIT
// Which device gets the SCSI bus? One device uses the bus at a time. If several devices wait, the
// device whose ID has the highest priority is next [SCSI-2 6.1.2].
#pragma once

#include <map>

#include "devices/scsi/time.hh"

namespace device::scsi {

class Bus {
 public:
  explicit Bus(Agenda& agenda) : agenda_(agenda) {}

  // Calls `granted` when the device gets the bus. The device keeps the bus until release().
  void request(uint32_t id, Time now, Agenda::Action granted) {
    waiting_.emplace(priority(id), std::move(granted));
    grant(now);
  }
  void release(Time now) {
    busy_ = false;
    grant(now);
  }

 private:
  // Returns the place of an ID in the order of service. The order is IDs 7 down to 0, then IDs 15
  // down to 8.
  static uint32_t priority(uint32_t id) { return id < 8 ? 7 - id : 8 + 15 - id; }

  void grant(Time now) {
    if (busy_ || waiting_.empty()) return;
    busy_ = true;
    agenda_.at(now, std::move(waiting_.begin()->second));
    waiting_.erase(waiting_.begin());
  }

  Agenda& agenda_;
  std::multimap<uint32_t, Agenda::Action> waiting_;
  bool busy_ = false;
};

}  // namespace device::scsi
