// SPDX-License-Identifier: MIT
// How does a disk drive work behind its interface? A drive has a queue, a buffer with read-ahead, a
// write cache and a mechanism. The drive receives commands and reports when it needs the bus.
#pragma once

#include <deque>
#include <memory>

#include "devices/scsi/mechanism.hh"
#include "devices/scsi/medium.hh"

namespace device::scsi {

struct DriveConfig {
  std::vector<Zone> zones;
  uint32_t heads = 0;
  Time revolution = 0;
  Time track_skew = 0, cylinder_skew = 0;
  struct Seek {
    Time single, average, full;
  } read_seek = {}, write_seek = {};
  uint32_t knee = 0;  // cylinders
  Time head_switch = 0;
  Time command = 0;     // time of the drive's controller for a request
  uint32_t buffer = 0;  // sectors in all segments together
  uint32_t segments = 1;
  bool read_ahead = true;
  bool write_cache = false;
  bool at_once = false;  // the arm and the platters take no time
};

// The parts of the time of a request.
struct Spent {
  Time seek = 0, rotation = 0, transfer = 0;
};

// The queue tag of a request. A request without a tag is the only request in progress on its
// target.
enum class Tag : uint8_t { Simple, HeadOfQueue, Ordered };

struct Request {
  bool write = false;
  Tag tag = Tag::Simple;
  uint64_t first = 0;
  uint32_t count = 0;
  // The time at which each sector is in the drive's buffer. The host adapter sets these times for a
  // write. The drive sets these times for a read.
  std::vector<Time> buffered;
  // Of a write; each sector arrives at its time in `buffered`. Empty if the drive has no content.
  std::vector<uint8_t> data;
  // Called when the drive needs the bus. For a read, the drive can now send all data without a
  // pause. For a write, the write has ended.
  Agenda::Action ready;
  Spent spent;          // valid when `ready` is called
  Time bus_sector = 0;  // time of one sector on the bus

  // Only the drive uses the members that follow.
  Time arrived = 0;
  bool cached = false;     // acknowledged before its data is on the media
  std::vector<Time> ends;  // time at which each sector has passed on the media
};
using RequestPtr = std::shared_ptr<Request>;

class Drive {
 public:
  // If the configuration is impossible, `problem` receives the reason.
  Drive(const DriveConfig& config, Agenda& agenda, std::string* problem);

  uint64_t sectors() const { return geometry_.sectors(); }
  const Geometry& geometry() const { return geometry_; }
  Medium& medium() { return medium_; }
  bool write_cache() const { return config_.write_cache; }

  void start(RequestPtr request, Time now);
  // The host has all data of a read, so the buffer has room again.
  void taken(const Request& request, Time now);
  // Calls `done` when all data is on the media, including the data of cached writes.
  void flush(Time now, Agenda::Action done);
  // Reads the data that the host gets for a sector, including writes that are not on the media yet.
  void fetch(uint64_t sector, uint8_t* bytes) const;
  // Cuts the power: only data on the media survives.
  void cut_power(Time now);

 private:
  // A part of the buffer: consecutive sectors, and the time at which each sector is in the buffer.
  struct Segment {
    uint64_t first = 0;
    std::vector<Time> buffered;
    uint64_t used = 0;  // number of the last use
    uint64_t end() const { return first + buffered.size(); }
  };

  bool from_buffer(const RequestPtr& request, Time now);
  void send(const RequestPtr& request, Time now);
  void next(Time now);
  RequestPtr choose();
  void read_media(const RequestPtr& request, Time begin);
  void write_media(const RequestPtr& request, Time begin);
  void written(const Request& request);
  void fill(Segment* segment, uint64_t end, Time now);
  void stop_filling(Time now);
  Segment* oldest();
  uint32_t unwritten() const;
  uint32_t segment_size() const { return config_.buffer / config_.segments; }

  DriveConfig config_;
  Geometry geometry_;
  Medium medium_;
  Mechanism mechanism_;
  Agenda& agenda_;
  std::deque<RequestPtr> queue_;  // waits for the mechanism, in the order of arrival
  std::deque<RequestPtr> dirty_;  // cached writes that the mechanism has not begun
  RequestPtr active_;             // the request on which the mechanism works
  std::vector<Segment> segments_;
  Segment* filling_ = nullptr;  // segment of the read-ahead in progress
  uint64_t uses_ = 0;
  std::vector<Agenda::Action> flushed_;  // called when all data is on the media
};

}  // namespace device::scsi
