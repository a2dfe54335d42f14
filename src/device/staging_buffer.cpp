// SPDX-License-Identifier: BSD-3-Clause
#include "device/staging_buffer.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "device/runtime.hpp"
#include "layout/cursor.hpp"

namespace urakata::device {
namespace {

// Rows of memory, as Rows. Addresses are numbers, since elements at MPI_BOTTOM need not lie within one object.
struct Stretch {
  std::uintptr_t address = 0;
  std::uint64_t width = 0;
  std::uint64_t count = 1;
  std::uint64_t pitch = 0;
};

// Longest distance of two rows, in bytes, that is handed to a driver as a pitch.
constexpr std::uint64_t kMostPitch = std::uint64_t{1} << 30U;

// Visits rows that are `pitch` bytes apart: all at once if a driver accepts the pitch, otherwise one by one.
template <class Visit>
Status visit_rows(Stretch rows, std::int64_t pitch, Visit visit) {
  if (rows.count > 1 && pitch >= static_cast<std::int64_t>(rows.width) &&
      pitch <= static_cast<std::int64_t>(kMostPitch)) {
    rows.pitch = static_cast<std::uint64_t>(pitch);
    return visit(rows);
  }
  const std::uint64_t count = std::exchange(rows.count, 1);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (Status done = visit(rows); !done) return done;
    rows.address += static_cast<std::uintptr_t>(pitch);
  }
  return Nothing{};
}

// Visits the memory of one run of a cursor: all its rows at once if there is one column, otherwise row by row.
template <class Visit>
Status visit_run(const layout::Run& run, std::uintptr_t base, Visit visit) {
  for (std::uint64_t row = 0; row < run.rows; ++row) {
    const std::uintptr_t at = base + static_cast<std::uintptr_t>(run.offset) +
                              static_cast<std::uintptr_t>(run.row_stride) * static_cast<std::uintptr_t>(row);
    if (run.offsets == nullptr) {
      if (run.columns == 1) return visit_rows({at, run.block, run.rows, 0}, run.row_stride, visit);
      if (Status done = visit_rows({at, run.block, run.columns, 0}, run.stride, visit); !done) return done;
      continue;
    }
    for (std::uint64_t i = 0; i < run.columns; ++i) {
      const std::uint64_t width = run.block != 0 ? run.block : run.positions[i + 1] - run.positions[i];
      const Stretch piece = {at + static_cast<std::uintptr_t>(run.offsets[i]), width, 1, 0};
      if (Status done = visit(piece); !done) return done;
    }
  }
  return Nothing{};
}

// Visits the stretches of memory that hold the first `bytes` bytes of the elements' payload, in payload order.
template <class Visit>
Status visit_all(const Elements& elements, std::uint64_t bytes, Visit visit) {
  const auto base = reinterpret_cast<std::uintptr_t>(elements.address);
  const layout::Layout* layout = elements.layout;
  const std::uint64_t size = layout != nullptr ? layout->size * elements.count : elements.count;
  bytes = std::min(bytes, size);
  if (bytes == 0) return Nothing{};
  if (layout == nullptr || layout->contiguous) return visit(Stretch{base, bytes, 1, 0});
  layout::Cursor cursor(*layout->shape(), elements.count);
  for (std::uint64_t position = 0; position < bytes;) {
    const layout::Run run = cursor.run(position, bytes - position);
    if (Status done = visit_run(run, base, visit); !done) return done;
    position += run.bytes();
  }
  return Nothing{};
}

// The place of an address. Asks the drivers only if the page differs from the last call's, since a page has one place.
// Callers ask for the first row of a stretch only: its rows are taken to lie in one allocation.
class Asking {
 public:
  Result<Place> operator()(std::uintptr_t address) {
    constexpr unsigned kPageBits = 12;
    if (address >> kPageBits != page_) {
      Result<Place> place = place_of(reinterpret_cast<const void*>(address));  // NOLINT(performance-no-int-to-ptr)
      if (!place) return place;
      page_ = address >> kPageBits;
      place_ = *place;
    }
    return place_;
  }

 private:
  std::uintptr_t page_ = std::numeric_limits<std::uintptr_t>::max();
  Place place_;
};

struct Span {
  std::uintptr_t low = std::numeric_limits<std::uintptr_t>::max();
  std::uintptr_t high = 0;
};

// The range from the lowest byte of the elements to one past the highest; low > high: there are no bytes.
Span span_of(const Elements& elements) {
  const auto base = reinterpret_cast<std::uintptr_t>(elements.address);
  if (elements.count == 0) return {};
  if (elements.layout == nullptr) return {base, base + elements.count};
  const layout::Layout& layout = *elements.layout;
  if (layout.size == 0) return {};
  const std::uintptr_t first = base + static_cast<std::uintptr_t>(layout.true_lb);
  const std::uintptr_t last = first + layout.extent * (elements.count - 1);  // before the first, if extent is negative
  const bool forward = static_cast<std::int64_t>(layout.extent) >= 0;
  return {forward ? first : last, (forward ? last : first) + layout.true_extent};
}

// Whether the elements' layout hides its blocks: it has only pack() and unpack().
bool closed(const Elements& elements) {
  return elements.layout != nullptr && !elements.layout->contiguous && elements.layout->shape() == nullptr;
}

std::byte* pointer(std::uintptr_t address) {
  return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Stores in `found` the place of the elements' first bytes that are in device memory. No driver in `found`: none are.
// Error: a driver failed, or a layout hides its blocks and one of its ends is in device memory.
Status find_device(const Elements& elements, Asking& asking, Place& found) {
  const Span span = span_of(elements);
  if (closed(elements) && span.low < span.high) {
    for (const std::uintptr_t end : {span.low, span.high - 1}) {
      const Result<Place> place = asking(end);
      if (!place) return place.error();
      if (place->driver != nullptr) {
        return Error{"a buffer in memory of a " + std::string(place->driver->name) +
                     " device has a datatype whose blocks Urakata does not know; use one that is made of blocks, "
                     "vectors, structs or subarrays"};
      }
    }
    return Nothing{};
  }
  return visit_all(elements, UINT64_MAX, [&](const Stretch& rows) -> Status {
    if (found.driver != nullptr) return Nothing{};
    const Result<Place> place = asking(rows.address);
    if (!place) return place.error();
    found = *place;
    return Nothing{};
  });
}

std::atomic<std::uint64_t> fetched{0};
std::atomic<std::uint64_t> stored{0};

}  // namespace

Traffic traffic() { return {fetched.load(std::memory_order_relaxed), stored.load(std::memory_order_relaxed)}; }

Result<std::unique_ptr<StagingBuffer>> StagingBuffer::of(std::vector<Part> parts) {
  Asking asking;
  Place device;
  Span all;
  for (const Part& part : parts) {
    if (device.driver == nullptr) {
      if (const Status asked = find_device(part.elements, asking, device); !asked) return asked.error();
    }
    const Span span = span_of(part.elements);
    all = {std::min(all.low, span.low), std::max(all.high, span.high)};
  }
  if (device.driver == nullptr) return std::unique_ptr<StagingBuffer>();
  for (const Part& part : parts) {
    if (closed(part.elements)) {
      return Error{"one buffer has memory of a " + std::string(device.driver->name) +
                   " device and a datatype whose blocks Urakata does not know"};
    }
  }
  std::unique_ptr<StagingBuffer> made(new StagingBuffer);
  made->parts_ = std::move(parts);
  made->low_ = all.low;
  made->pages_ = Pages(device, all.high - all.low);
  if (made->pages_.data() == nullptr) {
    return Error{"no memory to stage a buffer of " + std::to_string(all.high - all.low) + " bytes in memory of a " +
                 std::string(device.driver->name) + " device"};
  }
  return made;
}

Status StagingBuffer::move(const Elements& elements, std::uint64_t bytes, Direction direction) {
  constexpr std::size_t kAtOnce = 512;
  Asking asking;
  Place place;
  std::vector<Rows> rows;  // in `place`
  const auto flush = [&]() -> Status {
    if (rows.empty()) return Nothing{};
    Status done = place.driver->copy(place, rows, direction);
    rows.clear();
    return done;
  };
  std::uint64_t moved = 0;
  Status done = visit_all(elements, bytes, [&](const Stretch& stretch) -> Status {
    const Result<Place> at_place = asking(stretch.address);
    if (!at_place) return at_place.error();
    std::byte* const own = at(pointer(stretch.address));
    if (at_place->driver == nullptr) {
      for (std::uint64_t i = 0; i < stretch.count; ++i) {
        std::byte* const theirs = pointer(stretch.address + i * stretch.pitch);
        std::byte* const ours = own + i * stretch.pitch;
        direction == Direction::fetch ? std::memcpy(ours, theirs, stretch.width)
                                      : std::memcpy(theirs, ours, stretch.width);
      }
      return Nothing{};
    }
    if (*at_place != place || rows.size() == kAtOnce) {
      if (Status flushed = flush(); !flushed) return flushed;
      place = *at_place;
    }
    rows.push_back({pointer(stretch.address), own, stretch.width, stretch.count, stretch.pitch});
    moved += stretch.width * stretch.count;
    return Nothing{};
  });
  if (done) done = flush();
  if (done) (direction == Direction::fetch ? fetched : stored).fetch_add(moved, std::memory_order_relaxed);
  return done;
}

Status StagingBuffer::fetch() {
  for (const Part& part : parts_) {
    if (!part.in) continue;
    if (Status done = move(part.elements, UINT64_MAX, Direction::fetch); !done) return done;
  }
  return Nothing{};
}

Status StagingBuffer::store(std::uint64_t bytes) {
  for (const Part& part : parts_) {
    if (!part.out) continue;
    if (Status done = move(part.elements, bytes, Direction::store); !done) return done;
  }
  return Nothing{};
}

}  // namespace urakata::device
