// The drivers that the process has loaded.
//
// Thread-safety: all functions by any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "device/driver.hpp"

namespace urakata::device {

// Looks through the process's libraries for drivers that are new, and connects to them. Returns whether there is any,
// now or before. A driver that lacks a function is told of, and not used; neither is one that has no device: libraries such
// as hwloc and UCX load what is installed.
bool find_drivers();

// Names of those that are there, with commas; empty: none.
std::string names();

// Where the byte lies, by what find_drivers() has found. Error: a driver does not tell.
Result<Place> place_of(const void* address);

}  // namespace urakata::device
