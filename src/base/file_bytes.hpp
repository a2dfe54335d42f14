// What stands in a file. Without streams: the keeper and a space's libraries would each bring all of the C++ library's
// locales with them, a third of a MiB of every node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace urakata {

// The file's first bytes, at most so many; empty where it cannot be read. Also of files whose length nobody knows
// before, as those of /proc. Any thread.
std::string file_bytes(const std::string& path, std::size_t most = SIZE_MAX);

}  // namespace urakata
