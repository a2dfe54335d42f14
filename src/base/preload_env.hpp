// The preloaded libraries serve the rank alone: what the rank starts must not inherit them.
#pragma once

#include <string_view>

namespace urakata {

// Every preload library's file name begins so.
inline constexpr std::string_view kLibraryPrefix = "liburakata-";

// Takes our libraries out of a list as LD_PRELOAD has it (separated by colons or blanks), in place.
void keep_other_preloads(char* list);

// Takes our libraries out of LD_PRELOAD in the process's environment and leaves what the user has there. Edits the
// strings in place: allocates nothing, so a constructor of a preloaded library may call it. No other thread may use the
// environment meanwhile (there is none that early).
void forget_preload();

}  // namespace urakata
