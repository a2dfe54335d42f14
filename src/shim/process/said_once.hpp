// SPDX-License-Identifier: BSD-3-Clause
// If all ranks of a communicator find out the same, only the communicator's first rank says it, and only once.
//
// Thread-safety: by any thread.
#pragma once

#include <string_view>

namespace urakata::shim {

// Whether this process finds out about `kind` for the first time. Each rank of the communicator asks, not only the
// first: another rank of it may be the first of a later communicator, and must not say the same again.
bool first_to_find(std::string_view kind);

}  // namespace urakata::shim
