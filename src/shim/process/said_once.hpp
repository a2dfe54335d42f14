// SPDX-License-Identifier: BSD-3-Clause
// What all ranks of a communicator find out alike is said once, and by one of them: its first rank.
//
// Thread-safety: by any thread.
#pragma once

#include <string_view>

namespace urakata::shim {

// Is this the first time that this process finds out about `kind`? For each rank of the communicator to ask, since
// those that are not its first one may be another's.
bool first_to_find(std::string_view kind);

}  // namespace urakata::shim
