// SPDX-License-Identifier: BSD-3-Clause
#include "observe/whole_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
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

Status may_replace(const std::string& path, std::string_view mark) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Nothing{};  // if there is an obstacle, the attempt to write tells it
  std::string begin(mark.size(), '\0');
  const ssize_t taken = read(file, begin.data(), begin.size());
  close(file);
  begin.resize(taken > 0 ? static_cast<std::size_t>(taken) : 0);
  const bool empty = begin.find_first_not_of('\0') == std::string::npos;
  if (empty || mark.starts_with(begin)) return Nothing{};
  return Error{"report: " + path + " is not a file of a report; move it, or name another folder"};
}

std::string draft_of(const std::string& path) { return path + "." + std::to_string(getpid()) + ".part"; }

void* map_new_file(const std::string& path, std::size_t bytes) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return nullptr;
  int reason = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  void* memory = MAP_FAILED;
  if (reason == 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) reason = errno;
  }
  close(file);
  if (reason == 0) return memory;
  unlink(path.c_str());
  errno = reason;
  return nullptr;
}

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
