// SPDX-License-Identifier: BSD-3-Clause
// The TOML file that option LINK_RATES names (job/known_links.hpp): a table [[link]] for each measurement, the newest
// last.
#pragma once

#include <string>

#include "base/result.hpp"

namespace urakata {

// "$XDG_CONFIG_HOME/urakata/links.toml", below ~/.config without that variable; empty where neither is known.
std::string users_link_file();

// The links that the file knows, in the form in which the ranks get them. An empty file knows none; the job adds to it.
// Error: file and line, what is wrong, what to do.
Result<std::string> known_links_of(const std::string& path);

}  // namespace urakata
