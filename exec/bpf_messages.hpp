// SPDX-License-Identifier: BSD-3-Clause
// What the kernel's verifier, libbpf and libxdp say, for the reason of an error.
#pragma once

#include <string>

#include "base/result.hpp"

namespace urakata {

// From now on, instead of on standard error.
void keep_bpf_messages();
// `code`: an error number, or its negative. With the last lines that were said, which tell why; they are forgotten
// then.
Error bpf_failure(const std::string& doing, int code);

}  // namespace urakata
