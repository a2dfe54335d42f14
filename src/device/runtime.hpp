// SPDX-License-Identifier: BSD-3-Clause
// The drivers that the process has loaded.
//
// Thread-safety: all functions by any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "device/driver.hpp"

namespace urakata::device {

// Searches the loaded libraries for new drivers and connects to them. Returns whether any driver is in use. A driver
// that lacks a function is not used, and a warning says so. A driver without a device is not used either: libraries
// such as hwloc and UCX load every installed driver.
bool find_drivers();

// Names of the drivers in use, separated by commas; empty if there are none.
std::string names();

// The place of an address as the drivers in use report it. Error: a driver failed.
Result<Place> place_of(const void* address);

}  // namespace urakata::device
