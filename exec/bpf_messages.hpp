// SPDX-License-Identifier: BSD-3-Clause
// Keeps what the kernel's verifier, libbpf and libxdp say, for the text of errors. Thread-safety: by one thread.
#pragma once

#include <string>

#include "base/result.hpp"

namespace urakata {

// From now on messages are kept instead of printed on standard error.
void keep_bpf_messages();
// The error that `doing` has failed. `code`: an error number, or its negative. Ends with the last of the kept messages,
// which tell why. All kept messages are then dropped.
Error bpf_failure(const std::string& doing, int code);

}  // namespace urakata
