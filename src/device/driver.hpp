// The drivers of accelerators whose memory a program may hand to MPI: one row a driver, one file a row.
//
// No header of a vendor is needed: each file declares the few types that it hands over, as the driver's binary
// interface has them, and its functions are looked up in the library that the program has loaded.
//
// Thread-safety: `connect` once, before all else; the rest by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.hpp"

namespace urakata::device {

struct Driver;

// Where memory lies. No driver: the processor reads and writes it as any other.
struct Place {
  const Driver* driver = nullptr;
  std::uint64_t context = 0;  // whatever the driver needs to know of it
  bool operator==(const Place&) const = default;
};

// `count` rows of `width` bytes, `pitch` from one to the next on both sides. pitch >= width where there are several.
struct Rows {
  std::byte* device = nullptr;
  std::byte* host = nullptr;
  std::uint64_t width = 0;
  std::uint64_t count = 1;
  std::uint64_t pitch = 0;
};

enum class Direction : std::uint8_t { fetch, store };  // from the device, to the device

struct Driver {
  std::string_view name;
  std::string_view library;  // what its file name begins with

  // Without any of these files of the kernel's there is none of its devices on this machine, or it is a far one.
  std::span<const char* const> nodes;

  // Looks its functions up in the library. Error: one is missing.
  Status (*connect)(void* library);
  // Initialises it, and says whether it finds that there is no device. Called only where there is no node: else the
  // program could no longer choose its devices, which some do by the environment, after MPI_Init.
  bool (*deserted)(void* library);
  // Asked each time, since addresses are used again. Managed memory counts as the processor's, and so does everything
  // as long as the program has not initialised the driver. Error: the driver does not tell.
  Result<Place> (*place_of)(const void* address);
  // Copies all rows, which lie in this place, on a stream of ours, and waits for it. What is current in the calling
  // thread stays so.
  Status (*copy)(const Place& place, std::span<const Rows> rows, Direction direction);
  // Makes pages of ours known to the driver, which then copies them at full speed. False: it does not.
  bool (*pin)(const Place& place, void* pages, std::size_t bytes);
  void (*unpin)(const Place& place, void* pages);
};

extern const Driver kCuda;
extern const Driver kHip;
extern const Driver kLevelZero;

// All that are known.
std::span<const Driver* const> drivers();

}  // namespace urakata::device
