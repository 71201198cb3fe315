// SPDX-License-Identifier: LGPL-2.1-or-later
// How does the run of a guest end that boots from its own media, if the emulator or its BIOS
// panics? The run ends at once, while the video card still exists, so that the screen is saved.
#include "bochs.h"
#include "bochs/glue.hh"
#include "gui/siminterface.h"

namespace {

bxevent_handler others;  // the handler of the other events, and its argument
void* argument;

BxEvent* handle(void*, BxEvent* event) {
  if (event->type == BX_SYNC_EVT_LOG_DLG) {
    bochs::run().end().fail(std::string("the emulator stopped: ") + event->u.logmsg.msg);
  }
  return others(argument, event);
}

}  // namespace

void bochs::end_at_panic() {
  SIM->get_notify_callback(&others, &argument);
  SIM->set_notify_callback(handle, nullptr);
}
