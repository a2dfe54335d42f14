#include "observe/whole_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/system_error.hpp"

namespace urakata::observe {

Status make_folder(const std::string& directory) {
  std::error_code code;
  std::filesystem::create_directories(directory, code);
  if (code) return Error{"report: cannot create the directory " + directory + ": " + code.message()};
  return Nothing{};
}

std::string draft_of(const std::string& path) { return path + "." + std::to_string(getpid()) + ".part"; }

Status write_whole(const std::string& path, std::string_view bytes) {
  const std::string draft = draft_of(path);
  std::FILE* file = std::fopen(draft.c_str(), "we");
  if (file == nullptr) return system_error("report: cannot create " + draft);
  bool good = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  int reason = errno;
  if (std::fclose(file) != 0 && good) {
    good = false;
    reason = errno;
  }
  if (good && std::rename(draft.c_str(), path.c_str()) != 0) {
    good = false;
    reason = errno;
  }
  if (good) return Nothing{};
  std::remove(draft.c_str());
  return system_error("report: cannot write " + path, reason);
}

}  // namespace urakata::observe
