// SPDX-License-Identifier: BSD-3-Clause
// Removes Urakata's entries from LD_PRELOAD: processes that a rank starts must not inherit its preloaded libraries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace urakata {

// How the file name of every preload library of Urakata begins.
inline constexpr std::string_view kLibraryPrefix = "liburakata-";

// A prefix of the absolute path of an MPI tool that urakata-exec preloads because the program is linked to it. The path
// with the prefix names the same file, and the prefix tells the entry from one of the user's.
inline constexpr std::string_view kLinkedToolMark = "/.";

// The entries of a list like LD_PRELOAD's (separated by colons or blanks), without our libraries and linked tools.
std::vector<std::string> other_preloads(std::string_view list);

// Takes our libraries and linked tools out of a list like LD_PRELOAD's, in place. Colons separate what remains.
void keep_other_preloads(char* list);

// Takes our libraries and linked tools out of LD_PRELOAD in the process's environment; without other entries it removes
// the variable. Edits the strings in place and allocates nothing, so a constructor of a preloaded library may call it.
// No other thread may use the environment meanwhile.
void forget_preload();

}  // namespace urakata
