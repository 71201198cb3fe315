// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run.hh"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <set>
#include <sstream>

#include "declared.hh"
#include "ethernet.hh"
#include "scsi.hh"
#include "server.hh"

namespace p5 {
namespace {

// CPUID.1:EDX of a P54C: FPU VME DE PSE TSC MSR MCE CX8 [Intel 242480]; CMOV is bit 15.
constexpr uint32_t kTr12 = 0x0E;  // MSR [INTEL-DM 16]
constexpr uint32_t kFeatures = 0x1BF, kCmovFeature = 1u << 15;

[[noreturn]] void reject(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
  std::fflush(nullptr);
  _exit(kBadInput);
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    char escaped[8];
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (uint8_t(c) >= 0x20)
      out += c;
    else
      out += (std::snprintf(escaped, sizeof escaped, "\\u%04x", unsigned(c)), escaped);
  }
  return out + '"';
}

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%08" PRIx64, value);
  return text;
}

template <class Events>
bool in(const Events& events, uint32_t event) {
  return std::find(std::begin(events), std::end(events), event) != std::end(events);
}

// Of these a trace of crossings has the counts.
constexpr Event kTraced[] = {CodeMisses,    DataReadMisses, DataWriteMisses, L2ReadMisses,
                             L2WriteMisses, ItlbMisses,     DtlbMisses};

// Twelve bytes of the text from `offset`, zeros behind its end, in the registers of an answer.
MarkerResult twelve_bytes(const std::string& text, size_t offset, uint32_t eax) {
  uint32_t words[3] = {0, 0, 0};
  if (offset < text.size()) {
    std::memcpy(words, text.data() + offset, std::min(text.size() - offset, sizeof words));
  }
  return {eax, words[0], words[1], words[2]};
}

const char* mode_name(MachineMode mode) {
  switch (mode) {
    case MachineMode::Real:
      return "real";
    case MachineMode::V86:
      return "v86";
    case MachineMode::Prot16:
      return "prot16";
    case MachineMode::Prot32:
      return "prot32";
    default:
      return "long64";
  }
}

const char* entry_name(Entry entry) {
  switch (entry) {
    case Entry::Irq:
      return "irq";
    case Entry::Fault:
      return "fault";
    default:
      return "soft";
  }
}

}  // namespace

Run& Run::instance() {
  static Run run;
  return run;
}

void Run::start(Pentium* storage, Platform& platform, Attribution::Guest& guest) {
  const char* path = std::getenv("P5LAB_ENGINE_CONF");
  if (!path) reject("P5LAB_ENGINE_CONF: not set; it must name the engine's parameter file");
  conf_path_ = path;
  std::string error;
  if (!settings_.load(conf_path_, &error)) reject(error);

  config_ = Config::read(settings_);
  disks_ = disk::Config::read(settings_);
  network_ = net::Config::read(settings_);
  signature_ = uint32_t(settings_.number("cpu.signature"));
  const std::string isa = settings_.text("cpu.isa");
  if (kX86_64 && isa != "x86-64") {
    settings_.fail("cpu.isa", "`" + isa + "` is not x86-64, for which this engine was built");
  } else if (!kX86_64 && isa != "pentium" && isa != "pentium+cmov") {
    settings_.fail("cpu.isa", "`" + isa + "` is neither pentium nor pentium+cmov");
  }
  cmov_ = isa == "pentium+cmov";
  const std::string table = kX86_64 ? "" : settings_.text("run.timing_table");
  events_path_ = settings_.text("run.events");
  output_path_ = settings_.text("run.output");
  limit_ = settings_.number("run.limit_cycles");
  const bool timing_on = settings_.flag("run.timing");
  if (settings_.has("run.crossings")) crossings_path_ = settings_.text("run.crossings");
  if (settings_.has("run.accesses")) {
    accesses_path_ = settings_.text("run.accesses");
    access_limit_ = settings_.number("run.access_limit");
    if (settings_.has("shadow.0.name")) settings_.fail("run.accesses", "expected without shadows");
    if (config_.l1d.line < 32) settings_.fail("l1d.line", "expected 32 or more with run.accesses");
  }
  fast_paths_ = !settings_.has("run.fast_paths") || settings_.flag("run.fast_paths");
  server_ = settings_.has("run.server") && settings_.flag("run.server");
  read_shadows();
  read_blocks();
  read_attribution();
  if (kX86_64) {
    if (!shadow_configs_.empty() || !accesses_path_.empty()) {
      settings_.fail("run", "geometries of misses and traces of accesses: not on x86-64");
    }
    config_ = config_.without_clocks();
  }
  if (settings_.has("run.feedback") && !settings_.flag("run.feedback")) {
    config_ = config_.without_feedback();
  }
  read_job();
  read_boot();
  for (const char* described : {"machine.name", "machine.title", "cpu.timing", "devices.chipset"}) {
    if (settings_.has(described)) settings_.text(described);  // for people, or consumed elsewhere
  }
  if (!settings_.finish().empty()) reject(settings_.error());
  if (kX86_64)
    timing_ = TimingTable::flat();
  else if (!timing_.load(table, &error))
    reject(error);

  model_ = new (storage) Pentium(config_, timing_, platform);
  model_->set_timing(timing_on);
  if (!shadow_configs_.empty()) {
    model_->set_shadows(std::make_unique<Shadows>(shadow_configs_, fast_paths_));
    written_.resize(shadow_configs_.size());
  }
  guest_ = &guest;
  if (classes_) {
    miss_classes_ = std::make_unique<MissClasses>(config_);
    const std::vector<Config> own{config_};
    model_->set_shadows(std::make_unique<Shadows>(own, false, miss_classes_.get()));
  }
  events_ = create(events_path_);
  output_ = create(output_path_);
  if (!crossings_path_.empty()) crossings_ = create(crossings_path_);
  if (!accesses_path_.empty()) accesses_ = create(accesses_path_);
  if (!attribution_path_.empty()) attributed_ = create(attribution_path_);
  if (!vectors_path_.empty() || !sample_.empty()) blocks_ = std::make_unique<Blocks>(*model_);
  if (!vectors_path_.empty()) {
    vectors_ = create(vectors_path_);
    blocks_->write_vectors(vectors_, vector_interval_);
  }
  if (!sample_.empty()) {
    blocks_->sample(sample_, warm_up_, [this](const char* op, uint32_t number) {
      write_marker("interval", op, number);
    });
  }
  write_header();
}

// Frequency vectors of basic blocks, or intervals to be simulated in detail (blocks.hh).
void Run::read_blocks() {
  if (settings_.has("run.vectors")) {
    vectors_path_ = settings_.text("run.vectors");
    vector_interval_ = settings_.number("run.vector_interval");
    if (vector_interval_ == 0) settings_.fail("run.vector_interval", "expected at least 1");
  }
  if (!settings_.has("run.sample")) return;
  if (!Blocks::parse(settings_.text("run.sample"), &sample_)) {
    settings_.fail("run.sample", "expected `number:begin:end:weight ...` in the order of time");
  }
  warm_up_ = settings_.number("run.warm_up");
  if (!vectors_path_.empty() || !shadow_names_.empty() || settings_.has("run.accesses")) {
    settings_.fail("run.sample", "expected without run.vectors, shadows and run.accesses");
  }
}

// Counts by function, and with them the calls or the classes of misses (attribution.hh).
void Run::read_attribution() {
  if (!settings_.has("run.attribution")) return;
  attribution_path_ = settings_.text("run.attribution");
  stacks_ = settings_.flag("run.attribution_stacks");
  classes_ = settings_.flag("run.attribution_misses");
  if (!sample_.empty()) settings_.fail("run.attribution", "expected without run.sample");
  if (classes_ && (kX86_64 || !shadow_names_.empty() || settings_.has("run.accesses"))) {
    settings_.fail("run.attribution_misses",
                   "expected without shadows and run.accesses, and not on x86-64");
  }
  const std::string path = settings_.text("run.functions");
  std::ifstream file(path, std::ios::binary);
  std::string error;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file)
    settings_.fail("run.functions", path + " cannot be read");
  else if (!functions_.parse(text, path, &error))
    settings_.fail("run.functions", error);
}

// Geometries beside the machine's own: its keys, but for those that each of them sets.
void Run::read_shadows() {
  for (int i = 0;; i++) {
    const std::string prefix = "shadow." + std::to_string(i), key = prefix + ".set";
    if (!settings_.has(prefix + ".name")) return;
    shadow_names_.push_back(settings_.text(prefix + ".name"));
    std::istringstream words(settings_.text(key));
    Settings own = settings_;
    for (std::string word; words >> word;) {
      const std::string name = word.substr(0, word.find('='));
      if (!is_geometry(declared::p5, name) || name.size() == word.size() ||
          !own.replace(name, word.substr(name.size() + 1))) {
        return settings_.fail(key, "expected keys of cache and TLB geometry, found `" + word + "`");
      }
    }
    const Config config = Config::read(own);
    if (settings_.error().empty() && !own.error().empty()) settings_.fail(key, own.error());
    if (config.l1d.line != config_.l1d.line || config.l1i.line != config_.l1i.line) {
      settings_.fail(key, "the L1 lines of a shadow are as long as the machine's");
    }
    shadow_configs_.push_back(config);
  }
}

// What may differ between runs that share a boot.
void Run::read_job() {
  job_ = settings_.text("run.job");
  reads_asked_ = settings_.flag("run.trace_reads");
  program_.clear();
  power_cut_us_ = settings_.has("run.power_cut_us") ? settings_.number("run.power_cut_us") : 0;
  if (power_cut_us_) {
    power_cut_image_ = settings_.text("run.power_cut_image");
    if (!disks_.count) settings_.fail("run.power_cut_us", "expected a machine with disks");
  }
  capture_path_.clear();
  if (settings_.has("run.pcap")) {
    capture_path_ = settings_.text("run.pcap");
    if (!network_.card) settings_.fail("run.pcap", "expected a machine with a network card");
  }
  if (!settings_.has("run.program")) return;
  const std::string path = settings_.text("run.program");
  std::ifstream file(path, std::ios::binary);
  program_.assign(std::istreambuf_iterator<char>(file), {});
  if (!file) settings_.fail("run.program", path + " cannot be read");
}

void Run::capture() {
  if (capture_path_.empty()) return;
  capture_ = create(capture_path_);
  capture_wire(capture_);
}

void Run::read_boot() {
  for (int i = 0;; i++) {
    const std::string key = "boot.blob." + std::to_string(i);
    if (!settings_.has(key)) break;
    const std::string text = settings_.text(key);
    Blob blob;
    char length[32];
    int used = 0;
    if (std::sscanf(text.c_str(), "%" SCNi32 " %" SCNi64 " %31s %n",
                    reinterpret_cast<int32_t*>(&blob.address),
                    reinterpret_cast<int64_t*>(&blob.offset), length, &used) != 3 ||
        !used) {
      return settings_.fail(key, "expected `address offset length|- file`");
    }
    if (std::strcmp(length, "-") != 0) blob.length = std::strtoull(length, nullptr, 0);
    blob.file = text.substr(size_t(used));
    blobs_.push_back(blob);
  }
  unsigned cs = 0, ip = 0;
  if (std::sscanf(settings_.text("boot.entry").c_str(), "%x:%x", &cs, &ip) != 2) {
    settings_.fail("boot.entry", "expected segment:offset in hexadecimal");
  }
  entry_ = cs << 16 | ip;
  segment_ = uint32_t(settings_.number("boot.segment"));
  stack_ = uint32_t(settings_.number("boot.sp"));
}

// Whether this run counts an event: the machine has what it belongs to, and this engine counts it.
bool Run::counted(uint32_t event) {
  const EventInfo& info = kEvents[event];
  return (kX86_64 ? info.x86_64 : info.pentium) && present(settings_, declaration(info.part));
}

uint32_t Run::cpuid_features() const { return kFeatures | (cmov_ ? kCmovFeature : 0); }

// --- markers ----------------------------------------------------------------------------------

MarkerResult Run::marker(const MarkerCall& call) {
  MarkerResult result;
  result.eax = 1;
  switch (call.op) {
    case kDetect:
      result.eax = kMarkerVersion;
      result.ebx = kMarkerEbx;
      break;
    case kReady:
      write_marker("marker", "ready", 0);
      if (server_) serve();
      trace_reads_ = reads_asked_;
      capture();
      if (power_cut_us_) cut_power_in(power_cut_us_, power_cut_image_);
      attribute();
      break;
    case kBegin:
      begin(call.arg0);
      break;
    case kEnd:
      end(call.arg0);
      break;
    case kAbort:
      write_marker("marker", "abort", call.arg0);
      fail("the guest program aborted with code " + std::to_string(call.arg0));
    case kExit:
      write_marker("marker", "exit", call.arg0);
      if (!open_.empty()) {
        fail("unbalanced markers: phase " + std::to_string(open_.back()) + " was not ended");
      }
      if (attribution_ && !attribution_->differs().empty()) {
        fail("the sum over all functions is not what was counted: " + attribution_->differs());
      }
      finish("ok", "", call.arg0, 0);
    case kReadCounter:
      if (call.arg0 < counted_.size()) {
        const uint64_t total = model_->counters().total(Event(counted_[call.arg0]));
        result.eax = uint32_t(total);
        result.edx = uint32_t(total >> 32);
      }
      break;
    case kJob:
      return job_text(call.arg0);
    case kOutput:
      program_output(call.arg0, call.arg1 & 0xFF);
      break;
    case kProgram:
      return program_bytes(call.arg0);
    case kBootLoad:
      return call.real_mode ? load_guest() : MarkerResult();
    default:
      result.eax = 0;
  }
  return result;
}

// From here on every run is a process of its own, with a job of its own.
void Run::serve() {
  server_ = false;
  p5::serve();
  Settings own;
  std::string error;
  if (!own.load(conf_path_, &error)) reject(error);
  const std::string other =
      own.difference(settings_, {"run.job", "run.program", "run.server", "run.trace_reads",
                                 "run.power_cut_us", "run.power_cut_image", "run.pcap"});
  if (!other.empty()) reject(conf_path_ + ": " + other + ": differs from what was booted");
  settings_ = own;
  read_job();
  if (!settings_.error().empty()) reject(settings_.error());
}

void Run::begin(uint32_t phase) {
  for (const uint32_t open : open_) {
    if (open == phase) {
      fail("unbalanced markers: phase " + std::to_string(phase) + " began twice");
    }
  }
  open_.push_back(phase);
  write_marker("marker", "begin", phase);
  if (attribution_) attribution_->begin(phase);
  measure_blocks();
  if (accesses_) trace_accesses();
  trace_bracket("begin", phase);
}

// From the first bracket on that is not empty, until the limit has been reached.
void Run::trace_accesses() {
  if (!access_trace_ && open_.back() != kEmpty) {
    access_trace_ = std::make_unique<AccessTrace>(accesses_, config_.l1d.line, access_limit_);
    const std::vector<Config> own{config_};
    model_->set_shadows(std::make_unique<Shadows>(own, false, access_trace_.get()));
  } else if (access_trace_ && access_trace_->full()) {
    end_access_trace();
  }
}

void Run::end_access_trace() {
  if (!model_->shadows()) return;
  model_->shadows()->play();
  model_->set_shadows(nullptr);
}

void Run::end(uint32_t phase) {
  if (std::find(open_.begin(), open_.end(), phase) == open_.end()) {
    fail("unbalanced markers: end of phase " + std::to_string(phase) + " without its begin");
  }
  if (open_.back() != phase) {
    fail("unbalanced markers: phase " + std::to_string(open_.back()) +
         " was not ended before phase " + std::to_string(phase));
  }
  trace_bracket("end", phase);
  write_marker("marker", "end", phase);
  if (attribution_) attribution_->end(phase);
  open_.pop_back();
  measure_blocks();
}

// Inside any bracket but that around nothing.
void Run::measure_blocks() {
  if (blocks_) blocks_->measure(!open_.empty() && open_.front() != kEmpty);
}

MarkerResult Run::job_text(uint32_t offset) const { return twelve_bytes(job_, offset, 1); }

MarkerResult Run::program_bytes(uint32_t offset) const {
  const size_t left = program_.size() - std::min<size_t>(offset, program_.size());
  return twelve_bytes(program_, offset, uint32_t(std::min<size_t>(left, 12)));
}

void Run::program_output(uint32_t bytes, uint32_t count) {
  for (uint32_t i = 0; i < count && i < 4; i++) std::fputc(int(bytes >> (8 * i) & 0xFF), output_);
  if (std::ferror(output_)) output_failed(output_path_);
}

MarkerResult Run::load_guest() {
  for (const Blob& blob : blobs_) {
    std::ifstream file(blob.file, std::ios::binary);
    file.seekg(std::streamoff(blob.offset));
    std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    if (!file) fail("boot file " + blob.file + " cannot be read");
    if (bytes.size() < blob.length) {
      fail("boot file " + blob.file + " is shorter than its " + std::to_string(blob.length) +
           " bytes from " + std::to_string(blob.offset));
    }
    if (blob.length) bytes.resize(blob.length);
    if (!write_guest_memory(blob.address, bytes.data(), bytes.size())) {
      fail("a boot file does not fit into memory at " + hex(blob.address));
    }
  }
  MarkerResult result;
  result.eax = blobs_.empty() ? 0 : 1;
  result.ebx = entry_;
  result.ecx = segment_;
  result.edx = stack_;
  return result;
}

// --- counter registers ------------------------------------------------------------------------

bool Run::read_msr(uint32_t index, uint64_t* value) {
  if (index == kTr12) {
    *value = model_->tr12();
    return true;
  }
  if (index < 0x11 || index > 0x13) return false;
  const CounterMsrs& msrs = model_->msrs();
  *value = index == 0x11 ? msrs.cesr() : msrs.read(index - 0x12);
  if (trace_reads_) write_read("rdmsr", index, *value);
  return true;
}

bool Run::write_msr(uint32_t index, uint64_t value) {
  if (index == kTr12) {
    model_->write_tr12(uint32_t(value));
    return true;
  }
  if (index < 0x11 || index > 0x13) return false;
  if (index == 0x11)
    model_->msrs().write_cesr(uint32_t(value));
  else
    model_->msrs().write(index - 0x12, value);
  if (trace_reads_) write_read("wrmsr", index, value);
  return true;
}

uint64_t Run::read_tsc(int64_t adjust) {
  const uint64_t value = model_->clock() + uint64_t(adjust);
  if (trace_reads_) write_read("rdtsc", 0x10, value);
  return value;
}

// --- event stream -----------------------------------------------------------------------------

// ,"key":["name",...]
template <class Names>
void Run::write_names(const char* key, const Names& names) {
  line_.append(",\"").append(key).append("\":[");
  const char* comma = "";
  for (const auto& name : names) {
    line_.append(comma).append(quoted(name));
    comma = ",";
  }
  line_ += ']';
}

void Run::write_header() {
  std::vector<std::string> names, units, misses, stream;
  for (uint32_t event = 0; event < kEventCount; event++) {
    if (!counted(event)) continue;
    counted_.push_back(event);
    names.push_back(event_name(event));
    units.push_back(event_unit(event));
  }
  line_ = "{\"type\":\"header\",\"schema_version\":1,\"engine\":\"bochs\",\"clock_hz\":";
  append(config_.clock_hz());
  write_names("events", names);
  write_names("units", units);
  if (!shadow_names_.empty()) {
    for (const Event event : kMissEvents) misses.push_back(event_name(event));
    for (const Event event : kStreamEvents) stream.push_back(event_name(event));
    write_names("shadows", shadow_names_);
    write_names("shadow_events", misses);
    write_names("stream_events", stream);
  }
  line_ += "}\n";
  write_line();
}

// A line of the given leading fields, the clock and all counts.
void Run::write_snapshot(const char* fields, bool shadows) {
  const auto& banks = model_->counters().banks();
  line_.assign("{").append(fields).append(",\"tsc\":");
  append(model_->clock());
  line_ += ",\"banks\":[";
  const char* comma = "";
  for (const auto& bank : banks) {
    size_t used = counted_.size();
    while (used && bank->count[counted_[used - 1]] == 0) used--;
    if (!used) continue;
    append_bank(comma, *bank);
    for (size_t i = 0; i < used; i++) {
      line_ += i ? ',' : '[';
      append(bank->count[counted_[i]]);
    }
    line_ += "]]";
    comma = ",";
  }
  line_ += "],\"vectors\":[";
  comma = "";
  for (const auto& bank : banks) {
    for (const auto& [key, count] : bank->vectors) {
      append_bank(comma, *bank);
      line_.append("\"").append(entry_name(key.first)).append("\",");
      append(key.second);
      line_ += ',';
      append(count);
      line_ += ']';
      comma = ",";
    }
  }
  line_ += ']';
  if (shadows && !shadow_names_.empty()) append_shadows();
  line_ += "}\n";
  write_line();
}

void Run::write_line() {
  if (std::fwrite(line_.data(), 1, line_.size(), events_) != line_.size()) {
    output_failed(events_path_);
  }
}

// What each shadow has counted since the last marker, in banks where any of them has.
void Run::append_shadows() {
  Shadows& shadows = *model_->shadows();
  line_ += ",\"shadows\":[";
  const char* comma = "";
  for (const uint32_t bank : shadows.used()) {
    std::vector<MissCounts> counts;
    bool changed = false;
    for (size_t i = 0; i < shadows.size(); i++) {
      written_[i].resize(shadows.banks().size());
      counts.push_back(shadows.counts(i, bank));
      changed |= counts[i] != written_[i][bank];
    }
    if (!changed) continue;
    append_bank(comma, *shadows.banks()[bank]);
    for (size_t i = 0; i < shadows.size(); i++) {
      line_ += i ? ",[" : "[[";
      for (const Event event : kMissEvents) {
        if (event != kMissEvents[0]) line_ += ',';
        append(counts[i][event] - written_[i][bank][event]);
      }
      line_ += ']';
      written_[i][bank] = counts[i];
    }
    line_ += "]]";
    comma = ",";
  }
  line_ += ']';
}

void Run::append(uint64_t number) {
  char digits[20];
  line_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// "[cr3,ring," of a bank's entry.
void Run::append_bank(const char* comma, const Bank& bank) {
  line_.append(comma).append("[");
  append(bank.cr3);
  line_ += ',';
  append(bank.ring);
  line_ += ',';
}

void Run::write_marker(const char* type, const char* op, uint32_t arg) {
  char fields[80];
  std::snprintf(fields, sizeof fields, "\"type\":\"%s\",\"op\":\"%s\",\"arg\":%" PRIu32, type, op,
                arg);
  write_snapshot(fields, true);
}

void Run::write_read(const char* insn, uint32_t index, uint64_t value) {
  char fields[120];
  std::snprintf(fields, sizeof fields,
                "\"type\":\"read\",\"insn\":\"%s\",\"index\":%" PRIu32 ",\"value\":%" PRIu64, insn,
                index, value);
  write_snapshot(fields, false);
}

void Run::trace_bracket(const char* what, uint32_t phase) {
  if (!crossings_ || phase == kEmpty) return;
  std::fprintf(crossings_, "{\"kind\":\"%s\",\"phase\":%" PRIu32 ",\"tsc\":%" PRIu64 "%s}\n", what,
               phase, model_->clock(), traced_counts().c_str());
}

// ,"counts":{"code_misses":N,...}: since reset, over all rings and address spaces.
std::string Run::traced_counts() const {
  std::string text = ",\"counts\":{";
  for (const Event event : kTraced) {
    text += event == kTraced[0] ? "\"" : ",\"";
    text += event_name(event);
    text += "\":" + std::to_string(model_->banks().total(event));
  }
  return text + '}';
}

void Run::trace_crossing(const Crossed& how, const State& to, const Registers& registers) {
  const State& from = model_->state();
  const bool reload = how.kind && std::strcmp(how.kind, "cr3") == 0;
  if (from.ring == to.ring && from.cr3 == to.cr3 && from.mode == to.mode && !reload) return;
  char vector[8];
  std::snprintf(vector, sizeof vector, "%d", how.vector);
  std::fprintf(crossings_,
               "{\"kind\":\"%s\",\"vector\":%s,\"tsc\":%" PRIu64 ",\"instructions\":%" PRIu64
               ",\"ring\":[%u,%u],\"cr3\":[%" PRIu64 ",%" PRIu64
               "],\"mode\":[\"%s\",\"%s\"]"
               ",\"eip\":%" PRIu64 ",\"eax\":%" PRIu64 ",\"ebx\":%" PRIu64 ",\"ecx\":%" PRIu64
               ",\"edx\":%" PRIu64 ",\"cr2\":%" PRIu64 "%s}\n",
               how.kind ? how.kind : "mode", how.vector < 0 ? "null" : vector, model_->clock(),
               model_->counters().total(Event::Instructions), from.ring, to.ring,
               uint64_t(from.cr3), uint64_t(to.cr3), mode_name(from.mode), mode_name(to.mode),
               registers.eip, registers.eax, registers.ebx, registers.ecx, registers.edx,
               registers.cr2, traced_counts().c_str());
  if (std::ferror(crossings_)) output_failed(crossings_path_);
}

// --- attribution ------------------------------------------------------------------------------

// From the ready marker on: what runs before it is not measured.
void Run::attribute() {
  if (!attributed_ || attribution_) return;
  attribution_ = std::make_unique<Attribution>(*model_, *guest_, std::move(functions_), stacks_,
                                               miss_classes_.get());
}

// docs/formats.md, attribution.jsonl.
void Run::write_attribution() {
  std::vector<std::string> names;
  for (const uint32_t event : counted_) names.push_back(event_name(event));
  for (size_t i = 0; classes_ && i < MissClasses::kCounts; i++)
    names.push_back(MissClasses::name(i));
  line_ = "{\"type\":\"header\",\"schema_version\":1,\"stacks\":";
  line_.append(stacks_ ? "true" : "false");
  write_names("events", names);
  line_ += "}\n";
  if (attribution_) append_attribution();
  line_ += "{\"type\":\"end\"}\n";
  if (std::fwrite(line_.data(), 1, line_.size(), attributed_) != line_.size()) {
    output_failed(attribution_path_);
  }
  finish_output(attributed_, attribution_path_);
}

void Run::append_attribution() {
  const Attribution& found = *attribution_;
  std::set<uint32_t> functions, nodes;
  for (const auto& [number, phase] : found.phases()) {
    for (uint32_t node = 0; node < phase.counts.size(); node++) {
      if (!phase.counts[node]) continue;
      for (uint32_t at = node; at && nodes.insert(at).second; at = found.nodes()[at].parent) {
        functions.insert(found.nodes()[at].function);
      }
    }
  }
  if (miss_classes_) {
    for (const auto& [pair, count] : miss_classes_->pairs()) {
      functions.insert({pair.loser.function, pair.winner.function});
    }
  }
  for (const uint32_t id : functions) {
    const Functions::Function& function = found.functions()[id];
    append_fields("function", {{"id", id}});
    line_.append(",\"name\":").append(quoted(function.name));
    line_.append(",\"module\":").append(quoted(function.module)).append("}\n");
  }
  for (uint32_t id = 1; id < found.entrances().size(); id++) {
    const Attribution::Entrance& entrance = found.entrances()[id];
    append_fields("entrance", {{"id", id}, {"number", entrance.number}});
    line_.append(",\"kind\":").append(entrance.kind ? quoted(entrance.kind) : "null");
    line_.append(",\"vector\":");
    line_.append(entrance.vector < 0 ? "null" : std::to_string(entrance.vector)).append("}\n");
  }
  for (const uint32_t id : nodes) {
    const Attribution::Node& node = found.nodes()[id];
    const Bank& bank = found.bank(node.bank);
    append_fields("node", {{"id", id},
                           {"parent", node.parent},
                           {"function", node.function},
                           {"cr3", bank.cr3},
                           {"ring", bank.ring},
                           {"entrance", node.entrance}});
    line_ += "}\n";
  }
  for (const auto& [number, phase] : found.phases()) {
    for (uint32_t node = 0; node < phase.counts.size(); node++) {
      if (phase.counts[node]) append_counts(number, node, *phase.counts[node]);
    }
  }
  if (!miss_classes_) return;
  static const char* const whats[] = {"code", "data", "table"};
  for (const auto& [pair, count] : miss_classes_->pairs()) {
    append_fields("eviction", {{"loser", pair.loser.function},
                               {"winner", pair.winner.function},
                               {"colour", pair.colour},
                               {"count", count}});
    line_.append(",\"lost\":\"").append(whats[size_t(pair.loser.what)]);
    line_.append("\",\"won\":\"").append(whats[size_t(pair.winner.what)]).append("\"}\n");
  }
}

// Of one node in one phase; zeros at the end are left out.
void Run::append_counts(uint32_t phase, uint32_t node, const Attribution::Counts& counts) {
  std::vector<uint64_t> written;
  for (const uint32_t event : counted_) written.push_back(counts[event]);
  if (classes_) written.insert(written.end(), counts.begin() + kEventCount, counts.end());
  while (!written.empty() && written.back() == 0) written.pop_back();
  append_fields("counts", {{"phase", phase}, {"node", node}});
  line_ += ",\"counts\":[";
  for (size_t i = 0; i < written.size(); i++) {
    if (i) line_ += ',';
    // What a function takes back of what another was charged can make its part negative.
    line_ += std::to_string(int64_t(written[i]));
  }
  line_ += "]}\n";
}

// {"type":"...","key":number, and so on, not yet closed.
void Run::append_fields(const char* type,
                        std::initializer_list<std::pair<const char*, uint64_t>> fields) {
  line_.append("{\"type\":\"").append(type).append("\"");
  for (const auto& [key, value] : fields) {
    line_.append(",\"").append(key).append("\":");
    append(value);
  }
}

// --- the end ----------------------------------------------------------------------------------

void Run::finish(const char* status, const std::string& reason, uint32_t guest_status,
                 int exit_status) {
  finished_ = true;
  if (blocks_) blocks_->finish();
  if (vectors_) finish_output(vectors_, vectors_path_);
  if (attributed_) write_attribution();
  for (const auto& [opcode, count] : model_->unknown()) {
    std::fprintf(events_,
                 "{\"type\":\"note\",\"what\":\"unknown-class\",\"name\":\"%s%02x\","
                 "\"count\":%" PRIu64 "}\n",
                 opcode >> 8 ? "0f" : "", opcode & 0xFF, count);
  }
  std::fprintf(events_,
               "{\"type\":\"end\",\"status\":\"%s\",\"reason\":%s,\"guest_status\":%" PRIu32
               ",\"tsc\":%" PRIu64 "}\n",
               status, quoted(reason).c_str(), guest_status, model_->clock());
  if (!reason.empty()) std::fprintf(stderr, "%s\n", reason.c_str());
  finish_output(events_, events_path_);
  if (crossings_) finish_output(crossings_, crossings_path_);
  if (accesses_) {
    end_access_trace();
    finish_output(accesses_, accesses_path_);
  }
  finish_output(output_, output_path_);
  if (capture_) finish_output(capture_, capture_path_);
  std::fflush(nullptr);  // the emulator's own files: serial lines, log
  _exit(exit_status);
}

void Run::fail(const std::string& reason) { finish("failed", reason, 0, kGuestFailed); }

void Run::time_is_up() {
  char text[80];
  std::snprintf(text, sizeof text, "virtual-time limit of %.3f s reached",
                double(limit_) / (config_.clock_mhz * 1e6));
  finish("timeout", text, 0, kTimeLimit);
}

// The program is not asked: the run ends as if it had come to its end.
void Run::power_cut() {
  char text[80];
  std::snprintf(text, sizeof text, "power cut %.6f s after the guest was ready",
                double(power_cut_us_) / 1e6);
  finish("ok", text, 0, 0);
}

void Run::undefined_instruction(Linear linear) {
  const State& state = model_->state();
  fail("invalid opcode (#UD) at " + hex(linear) + ", ring " + std::to_string(state.ring) +
       ", CR3 " + hex(state.cr3));
}

void Run::decoder_differs(const uint8_t* bytes, unsigned length, unsigned ours) {
  std::string text;
  for (unsigned i = 0; i < length; i++) text += hex(bytes[i]).substr(8) + " ";
  std::fprintf(stderr, "decoder: %s: %u bytes for the emulator, %u for the model\n", text.c_str(),
               length, ours);
}

void Run::stopped_early() {
  if (!finished_ && events_) fail("the emulator stopped by itself; its log tells why");
}

std::FILE* Run::create(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) output_failed(path);
  return file;
}

void Run::finish_output(std::FILE* file, const std::string& path) {
  if (std::fflush(file) || std::ferror(file)) output_failed(path);
}

void Run::output_failed(const std::string& path) {
  finished_ = true;
  std::fprintf(stderr, "%s: cannot be written: %s\n", path.c_str(), std::strerror(errno));
  _exit(kNoOutput);
}

}  // namespace p5
