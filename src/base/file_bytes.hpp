// SPDX-License-Identifier: BSD-3-Clause
// Reads a whole file without C++ streams. With streams the space daemon and each library of a rank in a space would
// link the C++ library's locales: a third of a MiB on every node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace urakata {

// The first bytes of the file, at most `most`; after a failure of read(2) only those before it. Empty if the file
// cannot be opened. Works for files without a known length, such as those of /proc. Thread-safety: by any thread.
std::string file_bytes(const std::string& path, std::size_t most = SIZE_MAX);

}  // namespace urakata
