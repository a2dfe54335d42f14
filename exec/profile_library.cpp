// SPDX-License-Identifier: BSD-3-Clause
#include "profile_library.hpp"

#include <unistd.h>

#include "base/options/options.hpp"
#include "base/preload_env.hpp"

namespace urakata {

std::string profile_library(Abi abi, const std::string& folder) {
  if (options().report.empty()) return {};
  const std::string path = folder + "/" + std::string(kLibraryPrefix) + "profile-" + std::string(name(abi)) + ".so";
  return access(path.c_str(), R_OK) == 0 ? path : std::string();
}

}  // namespace urakata
