// SPDX-License-Identifier: MIT
// How do the shadows handle each reference that the chip reports? The shadows drop references that
// change nothing, and record the other references.
#include "measure/shadow.hh"

namespace measure {

// If the set of `key` has a reference that is not recorded yet, records this reference. Call this
// function before the next reference in the set is recorded.
void Shadows::record_first(Recent& recent, Reference::Kind kind, uint32_t key, uint32_t shift) {
  const uint32_t before = recent.unrecorded(key);
  if (before == kNone) return;
  if (kind == Reference::DataPage || kind == Reference::CodePage) {
    record_page(kind, before << shift, p5::PageWalk());  // this reference hits
  } else {
    record(kind, before << shift);
  }
}

void Shadows::read(uint32_t address, p5::Fill fill) {
  const uint32_t line = address >> line_shift_;
  if (lines_.find(line)) return;
  forget_code(address);  // a miss removes the line from L1I
  record_first(lines_, Reference::Read, line, line_shift_);
  record(Reference::Read, line << line_shift_, fill, coded(address));
  if (!filter_) return;
  if (fill != p5::Fill::None || lines_.has(line))
    lines_.enter(line);
  else
    lines_.hide(line, false);
}

// If the line is modified in every geometry, counts the write and returns true. Otherwise returns
// false.
bool Shadows::counts_write_hit(uint32_t address) {
  const Recent::Entry* entry = write_back_ ? lines_.find(address >> line_shift_) : nullptr;
  if (!entry || entry->writes < 2) return false;
  (*common_)[p5::WriteHitsME]++;
  return true;
}

bool Shadows::repeats_last_write(uint32_t address, p5::Fill fill) const {
  if (!filter_ || last_write_ == kNone) return false;
  const Reference& last = recorded_.references[last_write_];
  return last.address == address && last.fill == fill && last.times < 255;
}

void Shadows::write(uint32_t address, p5::Fill fill) {
  if (counts_write_hit(address)) return;
  const uint32_t line = address >> line_shift_;
  address = line << line_shift_;
  if (repeats_last_write(address, fill)) {
    recorded_.references[last_write_].times++;
  } else {
    forget_code(address);  // a write on the bus removes the line from L1I
    if (!lines_.has(line)) record_first(lines_, Reference::Read, line, line_shift_);
    record(Reference::Write, address, fill, coded(address));
    last_write_ = uint32_t(recorded_.references.size() - 1);
  }
  if (!filter_) return;
  if (lines_.has(line) || (fill != p5::Fill::None && all_allocate_)) {
    Recent::Entry& entry = lines_.enter(line);
    if (entry.writes < 2 && fill == p5::Fill::Exclusive) entry.writes++;
  } else {
    lines_.hide(line, fill != p5::Fill::None && !none_allocates_);
  }
}

void Shadows::code(uint32_t address, p5::Fill fill) {
  const uint32_t line = address >> line_shift_;
  if (code_.find(line)) return;
  coded_.set(address >> kPageShift);
  forget(address);  // a miss removes the line from L1D
  record_first(code_, Reference::Code, line, line_shift_);
  record(Reference::Code, line << line_shift_, fill);
  if (!filter_) return;
  if (fill != p5::Fill::None || code_.has(line))
    code_.enter(line);
  else
    code_.hide(line, false);
}

void Shadows::locked(uint32_t address) {
  (*common_)[p5::DataReadMisses]++;
  (*common_)[p5::DataWriteMisses]++;
  forget(address);
  forget_code(address);
  record(Reference::Locked, address);
}

void Shadows::table_update(uint32_t address) {
  forget(address);
  record(Reference::TableUpdate, address);
}

void Shadows::snoop(uint32_t address, bool write) {
  forget(address);
  if (write) forget_code(address);
  record(Reference::Snoop, address, p5::Fill::Exclusive, write);
}

void Shadows::forget(uint32_t address) {
  const uint32_t line = address >> line_shift_;
  if (!lines_.has(line)) return;
  record_first(lines_, Reference::Read, line, line_shift_);
  lines_.remove(line);
}

void Shadows::forget_code(uint32_t address) {
  const uint32_t line = address >> line_shift_;
  if (!code_.has(line)) return;
  record_first(code_, Reference::Code, line, line_shift_);
  code_.remove(line);
}

void Shadows::record_page(Reference::Kind kind, uint32_t linear, const p5::PageWalk& walk,
                          bool present) {
  record(kind, linear, p5::Fill::Exclusive, present);
  recorded_.walks.push_back(walk);
  // After a page walk, the lines that contain the page-table entries are clean.
  for (uint32_t i = 0; i < walk.reads; i++) lines_.clean(walk.entries[i] >> line_shift_);
}

void Shadows::data_page(p5::Linear address, const p5::PageWalk& walk) {
  if (knows_page(address)) return;
  const uint32_t linear = uint32_t(address);
  record_first(pages_, Reference::DataPage, page_of(linear), kPageShift);
  record_first(large_pages_, Reference::DataPage, large_page_of(linear), kLargeShift);
  record_page(Reference::DataPage, linear, walk);
  if (!filter_) return;
  if (mixed(linear, walk.large)) {
    pages_.hide(page_of(linear), true);
    large_pages_.hide(large_page_of(linear), true);
  } else if (walk.large) {
    large_pages_.enter(large_page_of(linear));
  } else {
    pages_.enter(page_of(linear));
  }
}

// Call this function after the use of a page. Returns whether the page's area of 4 MB has pages of
// both sizes.
bool Shadows::mixed(uint32_t linear, bool large) {
  const uint32_t area = large_page_of(linear);
  auto& seen = large ? large_ : small_;
  if (!seen[area]) {
    seen.set(area);
    if (small_[area] && large_[area]) {
      const auto record = [&](uint32_t at) {
        record_page(Reference::DataPage, at, p5::PageWalk());
      };
      pages_.clear([&](uint32_t page) { record(page << kPageShift); });
      large_pages_.clear([&](uint32_t page) { record(page << kLargeShift); });
    }
  }
  return small_[area] && large_[area];
}

void Shadows::code_page(p5::Linear address, const p5::PageWalk& walk) {
  if (knows_code_page(address)) return;
  const uint32_t linear = uint32_t(address);
  record_first(code_pages_, Reference::CodePage, page_of(linear), kPageShift);
  record_page(Reference::CodePage, linear, walk);
  if (filter_) code_pages_.enter(page_of(linear));
}

void Shadows::page_fault(p5::Linear address, bool code, bool present, const p5::PageWalk& walk) {
  const uint32_t linear = uint32_t(address);
  forget_pages(linear, code);
  record_page(code ? Reference::CodeFault : Reference::DataFault, linear, walk, present);
  if (!code) mixed(linear, walk.large);
}

// Call this function if the TLB sets of this address may have changed in any way.
void Shadows::forget_pages(uint32_t linear, bool code) {
  if (code) {
    record_first(code_pages_, Reference::CodePage, page_of(linear), kPageShift);
    code_pages_.hide(page_of(linear), true);
  } else {
    record_first(pages_, Reference::DataPage, page_of(linear), kPageShift);
    record_first(large_pages_, Reference::DataPage, large_page_of(linear), kLargeShift);
    pages_.hide(page_of(linear), true);
    large_pages_.hide(large_page_of(linear), true);
  }
}

void Shadows::flush_tlbs() {
  record(Reference::FlushTlbs, 0);
  pages_.clear();
  large_pages_.clear();
  code_pages_.clear();
  small_.reset();
  large_.reset();
}

void Shadows::flush_page(p5::Linear address) {
  const uint32_t linear = uint32_t(address);
  forget_pages(linear, false);
  forget_pages(linear, true);
  record(Reference::FlushPage, linear);
}

void Shadows::flush_caches(bool write_back) {
  record(Reference::FlushCaches, 0, p5::Fill::Exclusive, write_back);
  lines_.clear();
  code_.clear();
}

}  // namespace measure
