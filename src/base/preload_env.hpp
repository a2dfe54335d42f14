// SPDX-License-Identifier: BSD-3-Clause
// The preloaded libraries serve the rank alone: what the rank starts must not inherit them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace urakata {

// Every preload library's file name begins so.
inline constexpr std::string_view kLibraryPrefix = "liburakata-";

// In front of the absolute path of a tool that urakata-exec preloads because the program is linked to it. The path
// leads to the same file, and the entry is told from one of the user's.
inline constexpr std::string_view kLinkedToolMark = "/.";

// The entries of a list as LD_PRELOAD has it (separated by colons or blanks), without our libraries and linked tools.
std::vector<std::string> other_preloads(std::string_view list);

// Takes our libraries and linked tools out of such a list, in place.
void keep_other_preloads(char* list);

// Takes our libraries and linked tools out of LD_PRELOAD in the process's environment and leaves what the user has
// there. Edits the strings in place: allocates nothing, so a constructor of a preloaded library may call it. No other
// thread may use the environment meanwhile (there is none that early).
void forget_preload();

}  // namespace urakata
