// SPDX-License-Identifier: MIT
#include "session/job.hh"

#include <fstream>
#include <iterator>

#include "base/text_piece.hh"

namespace session {

Job Job::read(base::Settings& settings, size_t first) {
  const auto flag = [&](const char* key) { return settings.has(key) && settings.flag(key); };
  Job job;
  job.serve = flag("run.serve");
  if (job.serve) return job;
  job.command = settings.text("run.job");
  job.trace_reads = flag("run.trace_reads");
  job.region = RegionPlace::read(settings);
  job.steps = Step::read_all(settings, first);
  job.live = flag("run.live");
  if (settings.has("run.save_state")) job.save_state = settings.text("run.save_state");
  if (!settings.has("run.program")) return job;
  const std::string path = settings.text("run.program");
  std::ifstream file(path, std::ios::binary);
  job.program.assign(std::istreambuf_iterator<char>(file), {});
  if (!file) settings.fail("run.program", path + " cannot be read");
  return job;
}

MarkerResult Job::program_at(uint32_t offset) const {
  return twelve_bytes(program, offset, base::text_piece(program, offset).bytes);
}

}  // namespace session
