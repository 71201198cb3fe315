// SPDX-License-Identifier: LGPL-2.1-or-later
// Where is the model of this process?
#pragma once

#include "p5/pentium.hh"

namespace bochs {

// The storage is static, so that the hooks reach the model's fields without a pointer. The session
// makes the model in it.
union ModelStorage {
  ModelStorage() {}
  ~ModelStorage() {}
  p5::Pentium pentium;
};
extern ModelStorage storage;

inline p5::Pentium& model() { return storage.pentium; }

extern p5::Linear last_linear;  // the address of the last instruction that began

}  // namespace bochs
