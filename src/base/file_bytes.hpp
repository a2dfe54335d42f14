// SPDX-License-Identifier: BSD-3-Clause
// Reads a whole file without C++ streams. With streams the space daemon and each library of a rank in a space would
// link the C++ library's locales: a third of a MiB on every node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace urakata {

// The file's first bytes, at most so many; empty where it cannot be read. Also of files whose length nobody knows
// before, as those of /proc. Any thread.
std::string file_bytes(const std::string& path, std::size_t most = SIZE_MAX);

}  // namespace urakata
