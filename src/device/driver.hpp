// SPDX-License-Identifier: BSD-3-Clause
// The drivers of accelerators whose memory a program may hand to MPI: one table row and one file for each driver.
//
// No vendor header is needed. Each file declares the few types that it passes to the driver, as the driver's binary
// interface has them. The driver's functions are looked up in the library that the program has loaded.
//
// Thread-safety: find_drivers() calls connect() and then deserted(), each at most once. After that any thread may call
// the other functions of the driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.hpp"

namespace urakata::device {

struct Driver;

// The location of memory. Without a driver it is host memory, which the processor reads and writes directly.
struct Place {
  const Driver* driver = nullptr;
  std::uint64_t context = 0;  // CUDA: the context's handle; HIP: the device's number; Level Zero: our record's address
  bool operator==(const Place&) const = default;
};

// `count` rows of `width` bytes. Their starts are `pitch` bytes apart on both sides; pitch >= width if count > 1.
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
  std::string_view library;  // prefix of the library's file name

  // Device files of the kernel. If none of them exists, this machine has no local device of the driver.
  std::span<const char* const> nodes;

  // Looks up the driver's functions in the library. Error: a function is missing.
  Status (*connect)(void* library);
  // Initialises the driver. Returns whether the driver reports that there is no device. Called only if no device file
  // exists: after initialisation a program can no longer choose its devices, and some choose them by environment
  // variables after MPI_Init.
  bool (*deserted)(void* library);
  // The place of an address. Callers must not keep it, since programs reuse addresses. Managed memory counts as host
  // memory. Until the program has initialised the driver, all memory counts as host memory. Error: the driver failed.
  Result<Place> (*place_of)(const void* address);
  // Copies all rows, whose device sides lie in `place`, on our own stream, and waits for the copies. The calling
  // thread's current context or device is the same afterwards.
  Status (*copy)(const Place& place, std::span<const Rows> rows, Direction direction);
  // Registers our pages with the driver, which then copies them at full speed. False: the driver did not register them.
  bool (*pin)(const Place& place, void* pages, std::size_t bytes);
  void (*unpin)(const Place& place, void* pages);
};

extern const Driver kCuda;
extern const Driver kHip;
extern const Driver kLevelZero;

// All drivers of the table.
std::span<const Driver* const> drivers();

}  // namespace urakata::device
