// SPDX-License-Identifier: MIT
#include "session/job.hh"

#include <fstream>
#include <iterator>

#include "base/text_piece.hh"

namespace session {

Job Job::read(base::Settings& settings) {
  Job job;
  job.command = settings.text("run.job");
  job.trace_reads = settings.flag("run.trace_reads");
  job.region = RegionPlace::read(settings);
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
