// SPDX-License-Identifier: BSD-3-Clause
// Compares option SITES with the names of hosts, before a program starts.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"

namespace urakata {

// Uses the options in force. An error begins with the line of the list. No error if SITES is no list.
Status check_sites(std::span<const std::string> hosts);  // all hosts of a job
// Checks this node only, in a job whose other nodes are not known.
Status check_own_site();

}  // namespace urakata
