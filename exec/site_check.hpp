// Option SITES against hosts, before a program starts.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"

namespace urakata {

// By the options in force. An error begins with the line of the list; where SITES is no list there is none.
Status check_sites(std::span<const std::string> hosts);  // all hosts of a job
// What is wrong with this node's own, in a job of which the others are not known.
Status check_own_site();

}  // namespace urakata
