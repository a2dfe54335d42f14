#include "shim/refusal.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/log.hpp"
#include "shim/host.hpp"

namespace urakata::shim {

void refuse_job(const std::string& message) {
  char node[256] = {};
  gethostname(node, sizeof node - 1);
  log::error("%s: %s", node, message.c_str());
  host.Abort(MPI_COMM_WORLD, 2);
  std::_Exit(2);
}

void refuse_other_launcher(const Launcher& started) {
#if defined(URAKATA_ABI_OPENMPI)
  constexpr std::string_view kOther = "Hydra";
#else
  constexpr std::string_view kOther = "Open MPI";
#endif
  int ranks = 0;
  host.Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 1 || started.ranks <= 1 || started.name != kOther) return;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  host.Get_library_version(version, &length);
  const std::string_view text(version);
  refuse_job("the launcher is " + std::string(kOther) + "'s and started " + std::to_string(started.ranks) +
             " ranks, but the program's MPI library is of another family, and each rank is alone: " +
             std::string(text.substr(0, text.find_first_of("\n,"))) + ". Use the launcher that belongs to it");
}

}  // namespace urakata::shim
