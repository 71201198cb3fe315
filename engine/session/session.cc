// SPDX-License-Identifier: MIT
#include "session/session.hh"

#include <algorithm>
#include <new>
#include <utility>

#include "base/json.hh"
#include "session/image_session.hh"
#include "session/media_session.hh"

namespace session {
namespace {

p5::Pentium& built(p5::Pentium* storage, const Conf& conf, Emulator& emulator) {
  auto* model = new (storage) p5::Pentium(conf.config().machine, conf.timing(), emulator);
  model->set_timing(conf.config().timing);
  return *model;
}

}  // namespace

Session::Session(Conf conf, p5::Pentium* storage, Emulator& emulator)
    : conf_(std::move(conf)),
      model_(built(storage, conf_, emulator)),
      emulator_(emulator),
      time_(model_, conf_.config().machine),
      registers_(model_),
      measurement_(model_, conf_.config(), conf_.observation(), conf_.boot(), emulator),
      program_(time_, emulator),
      invalid_(model_, emulator),
      screens_(conf_.config().screens, emulator),
      end_(measurement_, program_, invalid_, [this](bool is_ok) { keep(is_ok); }),
      driver_(emulator, screens_, measurement_, end_, invalid_, time_,
              {[this] { script_ready(); }, [this] { script_ended(); }}),
      phase_(conf_.config().phase) {}

void Session::begin() {
  measurement_.open_events();
  Output& output = end_.create(conf_.config().output);
  markers_ =
      std::make_unique<Markers>(*this, conf_.job(), measurement_, end_, output, model_, emulator_);
  screens_.open();
}

MarkerResult Session::marker(const MarkerCall& call) {
  program_.disturbed();
  return (*markers_)(call);
}

void Session::ready() {
  program_.begin(model_.state().cr3);
  if (phase_) emulator_.let_pass(std::exchange(phase_, 0));
  measurement_.events().marker("marker", "ready", 0);
  // The process may fork now, without the thread of the shadows.
  if (measure::Shadows* shadows = measurement_.observers().shadows()) shadows->settle();
  take_job(conf_.share(changed_files()));
  if (conf_.job().trace_reads) {
    registers_.trace([this](const char* insn, uint32_t index, uint64_t value) {
      measurement_.events().read(insn, index, value);
    });
  }
  conf_.devices().ready();
  measurement_.ready(conf_.job().region);
}

// The script has reached its ready point.
void Session::script_ready() {
  if (measurement_.is_open(kBoot)) end_.check(measurement_.end(kBoot));
  ready();
}

void Session::cross_region(Region::Step step) { end_.check(measurement_.cross(step)); }

void Session::program_seen(p5::Linear at, p5::Space cr3, std::string (*registers)()) {
  program_.seen(at, cr3);
  // A person or a script can type a signal.
  if (!driver_.drives() && program_.may_be_endless(cr3))
    end_.check(program_.found(registers(), cr3));
}

void Session::guest_locked(p5::Linear linear) {
  stands("F0 0F C7 C8 (LOCK CMPXCHG8B with a register) at " + base::hex(linear) +
         " stops a Pentium until it is reset; executed at ");
}

uint64_t Session::next_look() {
  return std::min({conf_.config().limit, measurement_.next_look(), driver_.next_look()});
}

uint64_t Session::look(uint64_t now) {
  measurement_.look(now);
  driver_.look(now);
  const uint64_t limit = conf_.config().limit;
  if (now > limit) {
    const std::string reached = "virtual-time limit of " + time_.text(limit) + " reached";
    driver_.late(reached);
    if (invalid_.count())
      measurement_.events().note("invalid-opcode", invalid_.first(), invalid_.count());
    time_is_up(reached);
  }
  return next_look();
}

void Session::keep(bool) { screens_.finish(); }

std::unique_ptr<Session> Session::of_files(p5::Pentium* storage, Emulator& emulator) {
  Conf conf;
  if (std::holds_alternative<MediaBoot>(conf.config().boot))
    return std::make_unique<MediaSession>(std::move(conf), storage, emulator);
  return std::make_unique<ImageSession>(std::move(conf), storage, emulator);
}

void decoder_differs(const uint8_t* bytes, unsigned length, unsigned ours) {
  std::fprintf(stderr, "decoder: %s: %u bytes in the emulator, %u in the model\n",
               digits(bytes, length).c_str(), length, ours);
}

}  // namespace session
