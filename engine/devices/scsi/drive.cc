// SPDX-License-Identifier: MIT
#include "devices/scsi/drive.hh"

#include <algorithm>
#include <cstring>

namespace device::scsi {
namespace {

bool overlap(uint64_t first, uint64_t count, uint64_t other, uint64_t others) {
  return first < other + others && other < first + count;
}

Mechanism::Moves moves(const Geometry& geometry, const DriveConfig& config, bool write,
                       std::string* problem) {
  const DriveConfig::Seek& seek = write ? config.write_seek : config.read_seek;
  const Time settle = write ? config.write_seek.single - config.read_seek.single : 0;
  return {
      SeekCurve(geometry.cylinders(), config.knee, seek.single, seek.average, seek.full, problem),
      config.head_switch + settle};
}

}  // namespace

Drive::Drive(const DriveConfig& config, Agenda& agenda, std::string* problem)
    : config_(config),
      geometry_(config.zones, config.heads, config.revolution, config.track_skew,
                config.cylinder_skew),
      medium_(geometry_.sectors()),
      mechanism_(geometry_, moves(geometry_, config, false, problem),
                 moves(geometry_, config, true, problem), config.at_once),
      agenda_(agenda),
      segments_(config.segments) {}

void Drive::start(RequestPtr request, Time now) {
  request->arrived = now;
  if (!request->write && from_buffer(request, now)) return;
  if (request->write) {
    // A write makes read-ahead data of these sectors invalid.
    for (Segment& segment : segments_) {
      if (!overlap(request->first, request->count, segment.first, segment.buffered.size()))
        continue;
      if (filling_ == &segment) stop_filling(now);
      segment = Segment();
    }
    if (config_.write_cache && unwritten() + request->count <= config_.buffer) {
      request->cached = true;
      dirty_.push_back(request);
      agenda_.at(request->buffered.back(), [request](Time then) { request->ready(then); });
      return next(now);
    }
  }
  if (request->tag == Tag::HeadOfQueue)
    queue_.push_front(std::move(request));
  else
    queue_.push_back(std::move(request));
  next(now);
}

// Answers a read from the buffer. The read does not wait in the queue if its sectors are in the
// buffer, or if the read-ahead in progress will read these sectors.
bool Drive::from_buffer(const RequestPtr& request, Time now) {
  if (request->tag == Tag::Ordered && (active_ || !queue_.empty())) return false;
  for (const RequestPtr& other : queue_) {
    if (other->tag == Tag::Ordered && request->tag != Tag::HeadOfQueue) return false;
    if (other->write && overlap(request->first, request->count, other->first, other->count)) {
      return false;
    }
  }
  for (Segment& segment : segments_) {
    const bool inside = request->first >= segment.first && request->first < segment.end();
    const bool goes_on = filling_ == &segment && !active_ && request->first == segment.end();
    const uint64_t end = request->first + request->count;
    if (!inside && !goes_on) continue;
    if (end > segment.end()) {
      if (filling_ != &segment || active_) return false;
      fill(&segment, end, now + config_.command);
    }
    const auto begin = segment.buffered.begin() + int64_t(request->first - segment.first);
    request->buffered.assign(begin, begin + request->count);
    segment.used = ++uses_;
    const Time last = request->buffered.back(), begun = now + config_.command;
    request->spent.transfer = last > begun ? last - begun : 0;
    send(request, begun);
    return true;
  }
  return false;
}

// Starts the transfer of a read so late that the bus never has to wait for the media.
void Drive::send(const RequestPtr& request, Time now) {
  Time when = now;
  for (size_t i = 0; i < request->buffered.size(); i++) {
    const Time before = request->bus_sector * i;
    if (request->buffered[i] > before) when = std::max(when, request->buffered[i] - before);
  }
  agenda_.at(when, [request](Time then) { request->ready(then); });
}

void Drive::taken(const Request& request, Time now) {
  const uint64_t end = request.first + request.count;
  if (!config_.read_ahead || !filling_ || active_) return;
  if (end < filling_->first || end > filling_->end()) return;
  fill(filling_, end + segment_size(), now);
  // The segment also keeps sectors that were already sent, if there is room for them.
  const uint64_t size = filling_->buffered.size(), keep = 2 * uint64_t(segment_size());
  if (size <= keep) return;
  filling_->buffered.erase(filling_->buffered.begin(),
                           filling_->buffered.begin() + int64_t(size - keep));
  filling_->first += size - keep;
}

void Drive::flush(Time now, Agenda::Action done) {
  flushed_.push_back(std::move(done));
  next(now);
}

void Drive::fetch(uint64_t sector, uint8_t* bytes) const {
  const auto holds = [&](const RequestPtr& request) {
    if (!request || !request->write || sector < request->first ||
        sector >= request->first + request->count) {
      return false;
    }
    std::memcpy(bytes, &request->data[(sector - request->first) * kSector], kSector);
    return true;
  };
  // The newest cached write contains the valid data. A write that waits in the queue has no effect
  // yet.
  for (auto it = dirty_.rbegin(); it != dirty_.rend(); ++it) {
    if (holds(*it)) return;
  }
  if (!holds(active_)) medium_.read(sector, bytes);
}

void Drive::cut_power(Time now) {
  if (active_ && active_->write) {
    for (uint32_t i = 0; i < active_->count && active_->ends[i] <= now; i++) {
      medium_.write(active_->first + i, &active_->data[size_t(i) * kSector]);
    }
  }
  active_ = nullptr;
  queue_.clear();
  dirty_.clear();
}

// --- the mechanism ----------------------------------------------------------------------------

// Starts the next request or cached write, if the mechanism is free.
void Drive::next(Time now) {
  if (active_) return;
  const RequestPtr request = choose();
  if (!request) {
    if (dirty_.empty() && queue_.empty()) {
      const auto flushed = std::move(flushed_);
      flushed_.clear();
      for (const Agenda::Action& done : flushed) agenda_.at(now, done);
    }
    return;
  }
  active_ = request;
  const Time begin = std::max(now, request->arrived + config_.command);
  stop_filling(begin);
  if (request->write)
    write_media(request, begin);
  else
    read_media(request, begin);
}

// Chooses the request for the mechanism: the head of the queue, or the shortest seek among the
// allowed requests. Cached writes come after these requests. If the chosen request is a write that
// did not fit into the cache, the cached writes come before this write.
RequestPtr Drive::choose() {
  size_t best = queue_.size();
  for (size_t i = 0; i < queue_.size(); i++) {
    const Request& one = *queue_[i];
    if (one.tag == Tag::Ordered && i > 0) break;
    bool allowed = true;
    for (size_t earlier = 0; earlier < i && allowed; earlier++) {
      const Request& other = *queue_[earlier];
      allowed =
          !(one.write || other.write) || !overlap(one.first, one.count, other.first, other.count);
    }
    if (!allowed) continue;
    if (best == queue_.size() ||
        mechanism_.distance(one.first) < mechanism_.distance(queue_[best]->first)) {
      best = i;
    }
    // This request is a head-of-queue request, or an ordered request that is now the first in the
    // queue. No later request of the queue may overtake such a request.
    if (one.tag != Tag::Simple) break;
  }
  const bool behind = best < queue_.size() && queue_[best]->write && !dirty_.empty();
  std::deque<RequestPtr>& from = best < queue_.size() && !behind ? queue_ : dirty_;
  if (from.empty()) return nullptr;
  const auto chosen = from.begin() + int64_t(&from == &queue_ ? best : 0);
  RequestPtr request = *chosen;
  from.erase(chosen);
  return request;
}

void Drive::read_media(const RequestPtr& request, Time begin) {
  Segment* segment = oldest();
  *segment = Segment();
  segment->first = request->first;
  segment->used = ++uses_;
  const Pass pass =
      mechanism_.pass(request->first, request->count, begin, false, &segment->buffered);
  request->buffered = segment->buffered;
  request->spent = {pass.seek, pass.rotation, pass.transfer};
  send(request, begin);
  agenda_.at(segment->buffered.back(), [this, request, segment](Time now) {
    active_ = nullptr;
    // A later write may have made the segment invalid.
    if (config_.read_ahead && segment->end() == request->first + request->count) {
      filling_ = segment;
      fill(segment, segment->first + segment_size(), now);
    }
    next(now);
  });
}

void Drive::write_media(const RequestPtr& request, Time begin) {
  // The media must never wait for a sector from the bus.
  const Place place = geometry_.place(request->first);
  const Time sector = config_.at_once ? 0 : geometry_.angle(1, place.sectors);
  Time data = 0;
  for (size_t i = 0; i < request->buffered.size(); i++) {
    if (request->buffered[i] > sector * i) data = std::max(data, request->buffered[i] - sector * i);
  }
  const Pass pass =
      mechanism_.pass(request->first, request->count, begin, true, &request->ends, data);
  request->spent = {pass.seek, pass.rotation, pass.transfer};
  agenda_.at(request->ends.back(), [this, request](Time now) {
    written(*request);
    active_ = nullptr;
    if (!request->cached) request->ready(now);
    next(now);
  });
}

void Drive::written(const Request& request) {
  if (request.data.empty()) return;
  for (uint32_t i = 0; i < request.count; i++) {
    medium_.write(request.first + i, &request.data[size_t(i) * kSector]);
  }
}

// --- the buffer -------------------------------------------------------------------------------

// Continues the read-ahead into a segment, up to the sector `end`. If the previous read-ahead has
// not ended yet, the drive continues this read-ahead without a pause.
void Drive::fill(Segment* segment, uint64_t end, Time now) {
  end = std::min(end, sectors());
  if (end <= segment->end()) return;
  const Time begin = std::max(now, segment->buffered.back());
  mechanism_.pass(segment->end(), uint32_t(end - segment->end()), begin, false, &segment->buffered);
}

// Ends the read-ahead, because the head must move to another place. The drive does not read the
// sectors that would reach the buffer after `now`.
void Drive::stop_filling(Time now) {
  if (!filling_) return;
  auto& buffered = filling_->buffered;
  const auto read = std::upper_bound(buffered.begin(), buffered.end(), now);
  if (read != buffered.end()) {
    mechanism_.stand_at(filling_->first + uint64_t(read - buffered.begin()));
    buffered.erase(read, buffered.end());
  }
  filling_ = nullptr;
}

Drive::Segment* Drive::oldest() {
  return &*std::min_element(segments_.begin(), segments_.end(),
                            [](const Segment& a, const Segment& b) { return a.used < b.used; });
}

// Number of sectors in the buffer that are not yet on the media.
uint32_t Drive::unwritten() const {
  uint32_t sum = 0;
  for (const RequestPtr& request : dirty_) sum += request->count;
  return sum + (active_ && active_->write ? active_->count : 0);
}

}  // namespace device::scsi
