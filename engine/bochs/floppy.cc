// SPDX-License-Identifier: LGPL-2.1-or-later
// How does a script replace the floppy in a drive?
#include "bochs.h"
#include "bochs/glue.hh"
#include "gui/paramtree.h"
#include "gui/siminterface.h"
#include "param_names.h"

bool bochs::insert(unsigned drive, const std::string& path) {
  const auto list = dynamic_cast<bx_list_c*>(SIM->get_param(drive ? BXPN_FLOPPYB : BXPN_FLOPPYA));
  bx_param_enum_c* status = SIM->get_param_enum("status", list);
  status->set(BX_EJECTED);
  SIM->update_runtime_options();  // the drive reports to the guest that the floppy was changed
  SIM->get_param_string("path", list)->set(path.c_str());
  SIM->get_param_enum("type", list)->set(BX_FLOPPY_AUTO);  // from the size of the file
  status->set(BX_INSERTED);
  SIM->update_runtime_options();
  return status->get() == BX_INSERTED;
}
