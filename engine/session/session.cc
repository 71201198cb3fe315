// SPDX-License-Identifier: MIT
#include "session/session.hh"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

#include "base/declared.hh"
#include "base/json.hh"
#include "session/counted.hh"
#include "session/saved_state.hh"
#include "session/server.hh"

namespace session {
namespace {

// CPUID.1:EDX of a P54C: FPU VME DE PSE TSC MSR MCE CX8 [Intel 242480]. CMOV is bit 15.
constexpr uint32_t kFeatures = 0x1BF, kCmovFeature = 1u << 15;
constexpr unsigned kPage = 4096, kShownBytes = 8;
constexpr unsigned kStackWords = 160;
constexpr int kLinuxCall = 0x80;  // INT 80h
const char *const kBootConf = "boot.conf", *const kJobConf = "job.conf";
const char* const kRegisters[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};

// Bytes as hexadecimal digits, with a space after each.
std::string digits(const uint8_t* bytes, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; i++) text += base::hex(bytes[i]).substr(8) + " ";
  return text;
}

}  // namespace

// --- start ------------------------------------------------------------------------------------

void Session::start(p5::Pentium* storage, Emulator& emulator) {
  read_settings();
  model_ = new (storage) p5::Pentium(config_.machine, timing_, emulator);
  model_->set_timing(config_.timing);
  emulator_ = &emulator;
  phase_ = config_.phase;
  registers_ = std::make_unique<CounterRegisters>(*model_);
  observers_ = std::make_unique<Observers>(*model_, config_, emulator);
  open_files();
  // Each run that shares the boot has observations of its own (take_job).
  if (!job_.serve || config_.media.on) open_observations();
  if (config_.media.on) observers_->start();
  if (config_.media.on) begin(kBoot);
  if (!config_.media.on || (steps().empty() && !job_.live)) return;
  // Programs that run before the ready point get no job, because runs with other jobs can share it.
  if (config_.media.has_ready_point()) job_.command.clear();
  begin_script();
  if (!job_.live) return;
  script_->wait_for_person();
  viewer_ = std::make_unique<Viewer>(STDIN_FILENO, emulator, *script_,
                                     [&emulator] { return emulator.view(); });
}

// All steps of the run's script.
std::vector<Step> Session::steps() const {
  std::vector<Step> steps = config_.media.steps;
  steps.insert(steps.end(), job_.steps.begin(), job_.steps.end());
  return steps;
}

void Session::begin_script() {
  script_ = std::make_unique<Script>(steps(), config_.media.serial, *emulator_,
                                     [this](const Step& step) { step_done(step); });
}

void Session::read_settings() {
  std::string error;
  if (!settings_.load(kBootConf, &error)) reject(error);
  config_ = RunConfig::read(settings_);
  devices_ = device::Devices::all();
  devices_.read(settings_);
  if (config_.media.on)
    observation_ = Observation::read(settings_, config_);
  else
    files_ = GuestFiles::read(settings_);
  if (!settings_.finish().empty()) reject(settings_.error());
  if (config_.machine.flat)
    timing_ = p5::TimingTable::flat();
  else if (!timing_.load(config_.timing_table, &error))
    reject(error);
  read_job();
}

void Session::read_job() {
  base::Settings settings;
  std::string error;
  if (!settings.load(kJobConf, &error)) reject(error);
  job_ = Job::read(settings, config_.media.steps.size());
  devices_.read_job(settings);
  if (!config_.media.on) observation_ = Observation::read(settings, config_);
  if (!settings.finish().empty()) reject(settings.error());
}

void Session::open_files() {
  open_events();
  output_.create(config_.output);
  if (!config_.media.step_screens.empty()) step_screens_.create(config_.media.step_screens);
}

void Session::open_events() {
  const auto has = [this](base::events::Part part) {
    return base::present(settings_, base::declaration(part));
  };
  events_ = std::make_unique<EventStream>(
      *model_, counted_events(has, observation_.cpi, config_.cmov, config_.nominal),
      config_.shadow_names, observers_->shadows());
  events_->open(config_.events, config_.machine.clock_hz());
}

void Session::open_observations() {
  observers_->open(
      observation_,
      [this](const char* op, uint32_t number) { events_->marker("interval", op, number); },
      events_->counted());
}

uint32_t Session::cpuid_features() const { return kFeatures | (config_.cmov ? kCmovFeature : 0); }

std::FILE* Session::create(const std::string& path) {
  created_.emplace_back().create(path);
  return created_.back().file();
}

// --- markers ----------------------------------------------------------------------------------

MarkerResult Session::marker(const MarkerCall& call) {
  if (model_) endless_.disturbed(model_->clock());
  const MarkerResult done{1, 0, 0, 0};
  switch (call.op) {
    case kDetect:
      return {kMarkerVersion, kMarkerEbx, 0, 0};
    case kReady:
      if (config_.media.on) return {};  // there is no boot that runs could share
      ready();
      return done;
    case kBegin:
      begin(call.arg0);
      return done;
    case kEnd:
      end(call.arg0);
      return done;
    case kAbort:
      abort(call.arg0);
    case kExit:
      if (script_ && !config_.media.on) end_script(call.arg0);
      exit(call.arg0);
    case kReadCounter:
      return read_counter(call.arg0);
    case kJob:
      return job_.command_at(call.arg0);
    case kOutput:
      program_output(call.arg0, call.arg1 & 0xFF);
      return done;
    case kProgram:
      return job_.program_at(call.arg0);
    case kBootLoad:
      return call.real_mode && !config_.media.on ? load_guest() : MarkerResult();
    case kText:
    case kJobText:
    case kName:
      return with_buffer(call);
    default:
      return {};
  }
}

// The operations that use a buffer in the guest's memory. They happen completely or not at all.
MarkerResult Session::with_buffer(const MarkerCall& call) {
  const bool write = call.op == kJobText;
  const uint32_t length = write              ? uint32_t(job_.command.size() + 1)
                          : call.op == kText ? call.arg0
                                             : call.arg2;
  if (write && call.arg0 < length) return {0, kTooShort, 0, length};
  const GuestBuffer buffer = find_buffer(write ? call.target : call.source, length, write,
                                         model_->state(), *emulator_, *emulator_);
  if (buffer.refusal) return {0, buffer.refusal, uint32_t(buffer.at), length};
  if (write) {
    copy_to(buffer, job_.command.c_str());
    return {1, 0, 0, length};
  }
  const std::string text = text_of(buffer);
  const bool named = call.op != kName || name_phase(call.arg0, text);
  if (!named) return {0, kBadName, uint32_t(buffer.at), length};
  if (call.op == kText) {
    output_.write(text);
    output_.check();
  }
  return {1, 0, 0, length};
}

// Names a phase. Returns false if the phase cannot have this name.
bool Session::name_phase(uint32_t phase, const std::string& name) {
  bool is_new = false;
  if (!names_.add(phase, name, &is_new)) return false;
  if (is_new) events_->note("phase-name", name, phase);
  return true;
}

void Session::ready() {
  first_space_ = model_->state().cr3;
  if (phase_) emulator_->let_pass(std::exchange(phase_, 0));
  events_->marker("marker", "ready", 0);
  if (job_.serve) {
    session::serve(closed_files());
    check_boot();
    take_job();
  } else if (!job_.save_state.empty() && session::save_state(job_.save_state, closed_files())) {
    take_job();
  } else if (config_.media.on) {
    read_job();
  }
  if (job_.trace_reads) {
    registers_->trace([this](const char* insn, uint32_t index, uint64_t value) {
      events_->read(insn, index, value);
    });
  }
  devices_.ready();
  observers_->ready(events_->counted());
  if (!config_.media.on && !job_.steps.empty()) begin_script();
  if (job_.region.name.empty()) return;
  region_ = std::make_unique<Region>(job_.region, *emulator_);
  model_->watch_each(true);  // the engine must see each instruction
}

// Returns the names of files that a process of its own needs, also if they are closed.
std::vector<std::string> Session::closed_files() const {
  std::vector<std::string> closed = config_.media.floppies;
  closed.insert(closed.end(), pictures_.begin(), pictures_.end());
  return closed;
}

// Compares the boot of this process with the one that its run expects.
void Session::check_boot() {
  base::Settings own;
  std::string error;
  if (!own.load(kBootConf, &error)) reject(error);
  const std::string other = own.difference(settings_);
  if (!other.empty())
    reject(std::string(kBootConf) + ": " + other +
           ": differs from the value of the booted machine");
}

// This process has begun as a copy of another one. Takes the job of its own run.
void Session::take_job() {
  read_job();
  if (script_) script_->replace(steps());
  if (!config_.media.on) observe_anew();
}

// Begins the observations of this run at its ready marker. They decide which events the file of the
// events contains, so this file begins anew. Until now, it has only its header and the marker.
void Session::observe_anew() {
  open_events();
  events_->marker("marker", "ready", 0);
  open_observations();
}

void Session::begin(uint32_t phase) {
  const std::string problem = brackets_.begin(phase);
  if (!problem.empty()) fail(problem);
  events_->marker("marker", "begin", phase);
  observers_->begin(phase, brackets_);
}

void Session::cross_region(Region::Step step) {
  if (step == Region::Step::None || !region_->measures()) return;
  step == Region::Step::Enter ? begin(kRegion) : end(kRegion);
}

void Session::end(uint32_t phase) {
  if (region_ && phase == kWhole) cross_region(region_->program_ended());
  const std::string problem = brackets_.end(phase);
  if (!problem.empty()) fail(problem);
  events_->marker("marker", "end", phase);
  brackets_.close();
  observers_->end(brackets_);
}

void Session::abort(uint32_t code) {
  events_->marker("marker", "abort", code);
  fail("the guest program aborted with code " + std::to_string(code));
}

void Session::exit(uint32_t status, const std::string& reason) {
  // The guest has ended the program, because the program does not handle the exception.
  if (status == 128 + SIGILL && invalid_opcodes_) {
    fail("invalid opcode (#UD) at " + base::hex(last_invalid_.linear) + ", ring " +
         std::to_string(last_invalid_.ring) + ", CR3 " + base::hex(last_invalid_.cr3));
  }
  if (brackets_.is_open(kBoot)) end(kBoot);
  if (status > 128) note_entries();
  events_->marker("marker", "exit", status);
  const std::string problem = brackets_.exit(), differs = observers_->differs();
  if (!problem.empty()) fail(problem);
  if (!differs.empty()) fail(differs);
  finish("ok", reason, status, 0);
}

MarkerResult Session::read_counter(uint32_t number) {
  if (number >= events_->counted().size()) return {1, 0, 0, 0};
  const uint64_t total = model_->counters().total(p5::Event(events_->counted()[number]));
  return {uint32_t(total), 0, 0, uint32_t(total >> 32)};
}

MarkerResult Session::load_guest() {
  const std::string problem =
      files_.load([this](uint32_t address, const uint8_t* bytes, size_t count) {
        return emulator_->write_memory(address, bytes, count);
      });
  if (!problem.empty()) fail(problem);
  return files_.entry();
}

void Session::program_output(uint32_t bytes, uint32_t count) {
  for (uint32_t i = 0; i < count && i < 4; i++) {
    std::fputc(int(bytes >> (8 * i) & 0xFF), output_.file());
  }
  output_.check();
}

// --- the end ----------------------------------------------------------------------------------

void Session::finish(const std::string& status, const std::string& reason, uint32_t guest_status,
                     int exit_status) {
  finished_ = true;
  if (!config_.media.screen.empty()) save_screens();
  if (config_.media.on) save_media(status == "ok");
  observers_->finish(events_->counted());
  if (region_) {
    events_->note("region-calls", region_->name(), region_->calls());
    events_->note("region-measured", region_->name(), region_->measured());
  }
  events_->end(status, reason, guest_status);
  if (!reason.empty()) std::fprintf(stderr, "%s\n", reason.c_str());
  events_->finish();
  output_.finish();
  for (Output& output : created_) output.finish();
  std::fflush(nullptr);  // the emulator's own files: serial lines, log
  _exit(exit_status);
}

void Session::fail(const std::string& reason) { finish("failed", reason, 0, kGuestFailed); }

void Session::end_run(const std::string& reason) { finish("ok", reason, 0, 0); }

uint64_t Session::next_look() const {
  const uint64_t next = std::min(config_.limit, observers_->started().deadline());
  if (!script_) return next;
  const base::Time act = std::min(script_->next(), viewer_ ? viewer_->next() : base::kNever);
  const uint64_t due = clock().first_clock(act);
  return std::min(next, due ? due - 1 : 0);
}

uint64_t Session::look(uint64_t now) {
  observers_->started().look(now);
  if (script_) follow(script_->run(clock().time(now)));
  if (viewer_ && clock().time(now) >= viewer_->next() && !viewer_->look(clock().time(now))) {
    end_run("the person has left at " + seconds(now));
  }
  if (now > config_.limit) time_is_up();
  return next_look();
}

void Session::time_is_up() {
  const std::string reached = "virtual-time limit of " + seconds(config_.limit) + " reached";
  if (script_) late(reached);
  if (invalid_opcodes_) events_->note("invalid-opcode", first_invalid_, invalid_opcodes_);
  if (config_.media.on) exit(0, reached);
  finish("timeout", reached + about_program(), 0, kTimeLimit);
}

void Session::program_entered(KernelEntry entry, bool with_stack) {
  if (!first_space_ || entry.cr3 == first_space_) return;
  entry_ = std::move(entry);
  entry_.clock = model_->clock();
  if (entry_.vector == kLinuxCall)
    endless_.calls(uint32_t(entry_.registers[0]), uint32_t(entry_.registers[1]), entry_.clock);
  else
    endless_.disturbed(entry_.clock);
  const p5::Linear stack = p5::Linear(entry_.registers[4]);
  for (unsigned i = 0; with_stack && i < kStackWords; i++) {
    const p5::Linear at = stack + i * sizeof(p5::Linear);
    uint32_t physical = 0;
    if (!emulator_->code(at, false, &physical)) break;
    const uint8_t* bytes = emulator_->page(physical);
    if (!bytes || physical % kPage + sizeof(p5::Linear) > kPage) break;
    p5::Linear word = 0;
    std::memcpy(&word, bytes, sizeof word);
    entry_.stack.push_back(word);
  }
  if (with_stack && entry_.vector == kLinuxCall) sent_ = entry_;
}

void Session::program_seen(p5::Linear at, p5::Space cr3) {
  if (!first_space_ || cr3 == first_space_) return;
  seen_at_ = at;
  seen_ = model_->clock();
}

bool Session::may_be_endless(p5::Space cr3) const {
  // A person or a script can type a signal. System calls of x86-64 are no interrupts.
  if (p5::kX86_64 || script_ || viewer_ || entry_.vector < 0 || cr3 != entry_.cr3) return false;
  return endless_.searches(model_->clock(), uint64_t(config_.machine.clock_mhz * 1e6));
}

void Session::program_state(const std::string& registers, p5::Space cr3) {
  const uint64_t now = model_->clock(), before = endless_.found(registers, cr3, now, *emulator_);
  if (!before) return;
  fail("the program cannot end" + about_program() +
       ", and all its registers and its memory are as they were " + seconds(now - before) +
       " before");
}

void Session::note_entries() {
  for (const KernelEntry* one : {&entry_, &sent_}) {
    if (one->vector < 0) continue;
    std::string text = "error=" + std::to_string(one->error) + " at=" + base::hex(one->at) +
                       " cr2=" + base::hex(one->cr2);
    for (unsigned i = 0; i < 8; i++)
      text += std::string(" ") + kRegisters[i] + "=" + base::hex(one->registers[i]);
    text += " stack=";
    for (const p5::Linear word : one->stack) text += base::hex(word) + ",";
    events_->note("kernel-entry", text, uint64_t(one->vector));
  }
}

std::string Session::about_program() const {
  const uint64_t now = model_->clock();
  if (p5::kX86_64 || entry_.vector < 0) return "";  // SYSCALL is no interrupt
  const std::string since = seconds(now - entry_.clock);
  if (seen_ > entry_.clock && now - seen_ < uint64_t(config_.machine.clock_mhz * 1e6))
    return "; the program runs at " + base::hex(seen_at_) + ", for " + since +
           " without a system call";
  if (entry_.vector != kLinuxCall) return "";
  return "; the program waits for " + since + " in system call " +
         std::to_string(uint32_t(entry_.registers[0])) + ", first argument " +
         std::to_string(uint32_t(entry_.registers[3]));
}

std::string Session::seconds(uint64_t clocks) const {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f s", double(clocks) / (config_.machine.clock_mhz * 1e6));
  return text;
}

// --- guests that boot from their own media ------------------------------------------------------

void Session::follow(Script::State state) {
  const Step& step = script_->step();
  switch (state) {
    case Script::State::Runs:
      return;
    case Script::State::Ended:
      if (config_.media.on) script_ended();
      script_.reset();  // the program ends the run
      return;
    case Script::State::Late:
      late("limit of the step of " + seconds(clock().first_clock(step.within)) + " reached");
    case Script::State::Refused:
      fail(step.title + ": " + script_->problem());
  }
}

void Session::step_done(const Step& step) {
  if (step.kind == Step::Kind::Begin) begin(step.phase);
  if (step.kind == Step::Kind::End) end(step.phase);
  keep_screen(step.title + ": done at " + seconds(model_->clock()));
  if (step.kind == Step::Kind::Ready) ready_point();
}

void Session::ready_point() {
  if (brackets_.is_open(kBoot)) end(kBoot);
  ready();
}

void Session::keep_screen(const std::string& about) {
  if (!step_screens_) return;
  std::string shown = emulator_->screen().indented();
  const std::string picture = "step-" + std::to_string(script_->number());
  const std::filesystem::path screens = config_.media.step_screens;
  if (write_picture(screens.parent_path() / picture)) {
    pictures_.push_back((screens.parent_path() / (picture + ".ppm")).string());
    shown += "  picture: " + picture + ".png\n";
  }
  step_screens_.write(about + "\n" + (shown == kept_screen_ ? "  (the same screen)\n" : shown));
  kept_screen_ = shown;
}

void Session::late(const std::string& reached) {
  finish("timeout", not_done() + reached + about_invalid_opcodes(), 0, kTimeLimit);
}

std::string Session::about_invalid_opcodes() const {
  if (invalid_opcodes_ == 0) return "";
  return "; the guest executed " + std::to_string(invalid_opcodes_) +
         " invalid opcodes, the first: " + first_invalid_;
}

std::string Session::not_done() {
  const Step& step = script_->step();
  const bool waits = step.kind == Step::Kind::Wait;
  const std::string what = waits ? "`" + step.wanted.text() + "` did not appear: " : "";
  if (step.title.empty()) return what;
  keep_screen(step.title + ": not done at " + seconds(model_->clock()));
  return step.title + ": " + (waits ? "did not appear: " : "");
}

// The program has ended. Its script must have nothing left that needs the program.
void Session::end_script(uint32_t status) {
  follow(script_->run_out(clock().time(model_->clock())));
  if (!script_) return;
  const std::string with = status ? " with status " + std::to_string(status) : "";
  fail(not_done() + "the program has ended" + with);
}

void Session::script_ended() {
  const Step& last = script_->step();
  const std::string when = " at " + seconds(model_->clock());
  if (last.kind != Step::Kind::Wait) exit(0, "the script ended" + when);
  exit(0, "`" + last.wanted.text() + "` " + script_->place() + when);
}

void Session::guest_reset() {
  if (model_->clock() > 0) resets_++;
}

void Session::guest_reset_early() {
  fail("the guest reset the machine (panic, triple fault or reboot)" + about_invalid_opcodes());
}

void Session::guest_invalid_opcode(p5::Linear linear) {
  last_invalid_ = {linear, model_->state().ring, model_->state().cr3};
  if (invalid_opcodes_++) return;
  uint32_t physical = 0;
  if (!emulator_->code(linear, false, &physical)) return;
  const uint8_t* bytes = emulator_->page(physical);
  const unsigned count = std::min(kShownBytes, kPage - physical % kPage);
  first_invalid_ = (bytes ? digits(bytes, count) : "") + "at " + base::hex(linear);
}

void Session::guest_halted() { guest_stands("the guest halted with interrupts off at "); }

void Session::guest_locked(p5::Linear linear) {
  const std::string flaw = "F0 0F C7 C8 (LOCK CMPXCHG8B with a register) at " + base::hex(linear) +
                           " stops a Pentium until it is reset; executed at ";
  if (!config_.media.on) fail(flaw + seconds(model_->clock()));
  guest_stands(flaw);
}

// Nothing can happen in the guest any more.
void Session::guest_stands(const std::string& why) {
  const uint64_t now = model_->clock();
  if (script_) follow(script_->run_out(clock().time(now)));
  if (!script_) exit(0, why + seconds(now));
  fail(not_done() + why + seconds(now));
}

void Session::write_screen(const std::string& path) {
  Output text;
  text.create(path);
  text.write(emulator_->screen().text());
  text.finish();
  write_picture(path);
}

bool Session::write_picture(const std::filesystem::path& path) {
  const Picture picture = emulator_->picture();
  if (picture.empty()) return false;
  Output dots;
  dots.create(std::filesystem::path(path).replace_extension("ppm"));
  dots.write(picture.pixmap());
  dots.finish();
  return true;
}

void Session::save_screens() {
  write_screen(config_.media.screen);
  if (step_screens_) step_screens_.finish();
}

void Session::save_media(bool is_ok) {
  if (resets_) events_->note("reset", "machine", resets_);
  // After a failure the emulator may have closed the image. Nobody needs it then.
  if (config_.media.keep.empty() || !is_ok) return;
  Output image;
  image.create(config_.media.keep);
  if (!emulator_->save_disk(unsigned(config_.media.keep_drive), image.file())) {
    cannot_write(config_.media.keep);
  }
  image.finish();
}

void Session::stopped_early() {
  if (!finished_ && events_)
    fail("the emulator stopped without a marker; engine.log contains the reason");
}

void Session::decoder_differs(const uint8_t* bytes, unsigned length, unsigned ours) {
  std::fprintf(stderr, "decoder: %s: %u bytes in the emulator, %u in the model\n",
               digits(bytes, length).c_str(), length, ours);
}

}  // namespace session
