// What tells the nodes of reports apart.
#pragma once

#include <string>

namespace urakata::observe {

std::string host_name();

// Processes with the same one have the same CLOCK_MONOTONIC; empty: not known.
std::string clock_name();

}  // namespace urakata::observe
