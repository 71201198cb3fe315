// SPDX-License-Identifier: MIT
// A disk drive behind its interface: queue, buffer with read-ahead, write cache, mechanism. It is
// told of commands and says when it has something for the bus.
#pragma once

#include <deque>
#include <memory>

#include "mechanism.hh"
#include "medium.hh"

namespace disk {

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
  Time command = 0;     // the drive's own work on a request, before it acts
  uint32_t buffer = 0;  // sectors, all segments together
  uint32_t segments = 1;
  bool read_ahead = true;
  bool write_cache = false;
};

// Where the time of a request went.
struct Spent {
  Time seek = 0, rotation = 0, transfer = 0;
};

// The queue tag that a request came with; one without a tag is alone anyway.
enum class Tag : uint8_t { Simple, HeadOfQueue, Ordered };

struct Request {
  bool write = false;
  Tag tag = Tag::Simple;
  uint64_t first = 0;
  uint32_t count = 0;
  // When each sector is in the drive's buffer: of a write set by who sends it, of a read by the
  // drive.
  std::vector<Time> buffered;
  std::vector<uint8_t> data;  // of a write, sent sector by sector up to those times
  // The drive wants the bus: a read can be sent from now on without a pause, a write is done.
  Agenda::Action ready;
  Spent spent;          // when `ready` is called
  Time bus_sector = 0;  // that long a sector takes on the bus

  // The drive's own.
  Time arrived = 0;
  bool cached = false;     // acknowledged before it is on the media
  std::vector<Time> ends;  // on the media
};
using RequestPtr = std::shared_ptr<Request>;

class Drive {
 public:
  // `problem`: why there is no such drive.
  Drive(const DriveConfig& config, Agenda& agenda, std::string* problem);

  uint64_t sectors() const { return geometry_.sectors(); }
  const Geometry& geometry() const { return geometry_; }
  Medium& medium() { return medium_; }
  bool write_cache() const { return config_.write_cache; }

  void start(RequestPtr request, Time now);
  // The host has all of a read: there is room in the buffer again.
  void taken(const Request& request, Time now);
  // Once nothing is left that is not on the media, what was kept in the cache included.
  void flush(Time now, Agenda::Action done);
  // A sector as the host sees it, whether it is on the media yet or not.
  void fetch(uint64_t sector, uint8_t* bytes) const;
  // Nothing but the media survives.
  void cut_power(Time now);

 private:
  // Part of the buffer: consecutive sectors, and when each of them is in it.
  struct Segment {
    uint64_t first = 0;
    std::vector<Time> buffered;
    uint64_t used = 0;  // the larger, the later
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
  std::deque<RequestPtr> queue_;  // for the mechanism, in the order of arrival
  std::deque<RequestPtr> dirty_;  // acknowledged from the cache, not yet begun on the media
  RequestPtr active_;             // what the mechanism is at
  std::vector<Segment> segments_;
  Segment* filling_ = nullptr;  // where read-ahead goes, up to the end of its times
  uint64_t uses_ = 0;
  std::vector<Agenda::Action> flushed_;  // to be told once all is written
};

}  // namespace disk
