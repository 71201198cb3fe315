// SPDX-License-Identifier: MIT
// Time: when does the processor run, and how does gem5's time follow the chip's clock?
#include "p5cpu.hh"

#include <algorithm>

#include "arch/x86/process.hh"
#include "base/logging.hh"
#include "p5isa.hh"
#include "sim/full_system.hh"
#include "sim/mem_state.hh"
#include "sim/process.hh"
#include "sim/system.hh"

namespace p5lab {
extern const char kTimingTable[];  // engine/p5/timing.csv (chip.scons makes timing_table.cc)
}

namespace gem5::p5lab {
namespace {

// The event gives control back to gem5 after this number of instructions, so that gem5 notices the
// signals of its process.
constexpr unsigned kMostInstructions = 100'000;
// All other events of a tick come first. So gem5's event loop ends directly behind the marker that
// ends it, and not behind the next instruction.
constexpr Event::Priority kPriority = Event::Sim_Exit_Pri + 1;

// Where Linux 6.1 places the stack and the maps of a 32-bit program if it places nothing randomly.
// The last pages below kMapsEnd are the vDSO and its data.
constexpr Addr kStackEnd = 0xC0000000, kMapsEnd = 0xB8000000, kVdsoBytes = 5 * 4096;

// With the addresses of Linux, a page has the set of the TLBs and the entry of the page tables that
// it has there.
void place_as_linux(Process* process) {
  if (!dynamic_cast<X86ISA::I386Process*>(process)) return;
  process->memState->setStackBase(kStackEnd);
  process->memState->setMmapEnd(kMapsEnd - kVdsoBytes);
}

::p5lab::ChipOptions options(const P5CPUParams& params) {
  ::p5lab::ChipOptions found;
  for (const std::string& line : params.machine) found.machine += line + "\n";
  found.timing_table = ::p5lab::kTimingTable;
  found.cmov = params.cpu_isa == "pentium+cmov";
  found.cpi = params.cpi;
  found.clocks = params.clocks;
  found.feedback = params.feedback;
  return found;
}

}  // namespace

P5CPU::P5CPU(const Params& params)
    : AtomicSimpleCPU(params), run_event_([this] { run(); }, name() + ".run", false, kPriority) {
  fatal_if(numThreads != 1, "%s: expected one thread; a Pentium has no others", name());
  const bool long_mode = params.cpu_isa == "x86-64";
  std::string error;
  chip_ =
      (long_mode ? ::p5lab::x86_64::make : ::p5lab::pentium::make)(options(params), *this, &error);
  fatal_if(!chip_, "%s: %s", name(), error);
  // gem5's microcode delivers no interrupt in the legacy modes.
  fatal_if(FullSystem && !long_mode, "%s: cpu_isa: expected x86-64 for a whole system", name());
  const double hz = double(sim_clock::Frequency) / double(clockPeriod());
  fatal_if(std::abs(hz / double(chip_->clock_hz()) - 1) > 1e-3,
           "%s: the machine has %d Hz, but the clock domain has %d Hz", name(), chip_->clock_hz(),
           uint64_t(hz));
  for (Process* process : params.workload) place_as_linux(process);
  statistics_ = std::make_unique<ChipStatistics>(this, *chip_);
  markers_ = std::make_unique<MarkerCalls>(*chip_, params.job, params.delivered, params.output);
}

P5CPU::~P5CPU() {
  if (run_event_.scheduled()) deschedule(run_event_);
}

void P5CPU::init() {
  AtomicSimpleCPU::init();
  if (!FullSystem) process_ = threadContexts[0]->getProcessPtr();
  auto* isa = dynamic_cast<P5ISA*>(threadContexts[0]->getIsaPtr());
  fatal_if(!isa, "%s: isa: expected P5ISA", name());
  isa->listen([this](const Packet& packet) { hear_write(packet); });
}

// gem5's class has scheduled its own event, which would execute a micro-operation each clock.
void P5CPU::replace_tick() {
  if (tickEvent.scheduled()) deschedule(tickEvent);
  if (_status != Running || run_event_.scheduled()) return;
  wake();
  schedule(run_event_, std::max(now(), clockEdge()));
}

// The processor begins to run, or goes on after HLT. The time since its last instruction is idle,
// if no other processor model ran in it.
void P5CPU::wake() {
  const Tick edge = clockEdge();
  if (!in_time_) {
    in_time_ = true;
    origin_ = edge - Tick(chip_->clock()) * clockPeriod();
    const unsigned levels = params().cpu_isa == "x86-64" ? 4 : 2;
    if (process_ && !tables_) tables_ = std::make_unique<PageTables>(*process_, levels);
    if (!process_) forget_translations();
  } else if (edge > now()) {
    chip_->idle((edge - now()) / clockPeriod());
  }
}

// While another processor model ran, the kernel may have changed page tables. Without paging, the
// chip has no TLBs.
void P5CPU::forget_translations() {
  ::p5lab::ChipState unpaged = state();
  unpaged.paging = false;
  chip_->set_state(unpaged);
  stale_ = true;
}

void P5CPU::activateContext(ThreadID thread) {
  AtomicSimpleCPU::activateContext(thread);
  replace_tick();
}

void P5CPU::suspendContext(ThreadID thread) {
  AtomicSimpleCPU::suspendContext(thread);
  if (_status == Idle && run_event_.scheduled()) deschedule(run_event_);
}

DrainState P5CPU::drain() {
  const DrainState state = AtomicSimpleCPU::drain();
  if (state == DrainState::Drained && run_event_.scheduled()) deschedule(run_event_);
  return state;
}

void P5CPU::drainResume() {
  AtomicSimpleCPU::drainResume();
  if (switchedOut()) return;
  stale_ = true;
  replace_tick();
}

// Caches and branch target buffer keep what they held when the chip last ran.
void P5CPU::takeOverFrom(BaseCPU* other) {
  AtomicSimpleCPU::takeOverFrom(other);
  in_time_ = false;
  statistics_->begin_warming();
}

// Executes instructions until another event of gem5 is due.
void P5CPU::run() {
  EventQueue* queue = eventQueue();
  for (unsigned i = 0; i < kMostInstructions; i++) {
    step();
    if (tryCompleteDrain() || _status == Idle) return;
    const Tick next = std::max(now(), curTick());
    if (!queue->empty() && next >= queue->nextTick()) break;
    queue->setCurTick(next);
  }
  schedule(run_event_, std::max(now(), curTick()));
}

void P5CPU::preDumpStats() {
  AtomicSimpleCPU::preDumpStats();
  baseStats.numCycles = double(statistics_->clocks());
}

}  // namespace gem5::p5lab
