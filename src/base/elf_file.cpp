// SPDX-License-Identifier: BSD-3-Clause
#include "base/elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace urakata {
namespace {

#if defined(__x86_64__)
constexpr unsigned kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kMachine = EM_AARCH64;
#elif defined(__powerpc64__)
constexpr unsigned kMachine = EM_PPC64;
#elif defined(__riscv)
constexpr unsigned kMachine = EM_RISCV;
#else
#error "name this machine's EM_ number"
#endif
constexpr unsigned kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

Error unreadable(int reason) { return Error{"cannot be read (" + std::string(std::strerror(reason)) + ")"}; }

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return unreadable(errno);
  struct stat about {};
  const bool plain = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
  const auto size = static_cast<std::size_t>(about.st_size);
  void* const start = plain ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  const int reason = errno;
  close(file);
  if (!plain) return Error{"is no file that can be run"};
  if (start == MAP_FAILED) return unreadable(reason);
  ElfFile elf({static_cast<const char*>(start), size});
  if (Status good = elf.read_headers(); !good) return good.error();
  return elf;
}

ElfFile::ElfFile(ElfFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})),
      header_(other.header_),
      program_headers_(std::move(other.program_headers_)) {}

ElfFile::~ElfFile() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

Status ElfFile::read_headers() {
  const auto header = at<ElfW(Ehdr)>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return Error{"is no ELF program"};
  header_ = *header;
  if (foreign()) return Nothing{};
  for (unsigned i = 0; i < header_.e_phnum; ++i) {
    const auto one = at<ElfW(Phdr)>(header_.e_phoff + std::uint64_t{i} * sizeof(ElfW(Phdr)));
    if (!one) return Error{"is cut off: headers are missing"};
    program_headers_.push_back(*one);
  }
  return Nothing{};
}

bool ElfFile::foreign() const { return header_.e_ident[EI_CLASS] != kClass || header_.e_machine != kMachine; }

std::vector<ElfW(Dyn)> ElfFile::dynamic() const {
  std::vector<ElfW(Dyn)> entries;
  for (const ElfW(Phdr) & one : program_headers_) {
    if (one.p_type != PT_DYNAMIC) continue;
    for (std::uint64_t at_byte = 0; at_byte + sizeof(ElfW(Dyn)) <= one.p_filesz; at_byte += sizeof(ElfW(Dyn))) {
      const auto entry = at<ElfW(Dyn)>(one.p_offset + at_byte);
      if (!entry || entry->d_tag == DT_NULL) break;
      entries.push_back(*entry);
    }
  }
  return entries;
}

bool ElfFile::has(std::uint64_t offset, std::uint64_t bytes) const {
  return offset <= bytes_.size() && bytes <= bytes_.size() - offset;
}

std::string_view ElfFile::part(std::uint64_t offset, std::uint64_t bytes) const {
  return offset > bytes_.size() ? std::string_view() : bytes_.substr(offset, bytes);
}

std::string ElfFile::text(std::uint64_t offset) const {
  const std::string_view rest = part(offset, bytes_.size());
  return std::string(rest.substr(0, rest.find('\0')));
}

std::uint64_t ElfFile::offset_of(std::uint64_t address) const {
  for (const ElfW(Phdr) & one : program_headers_) {
    if (one.p_type == PT_LOAD && address >= one.p_vaddr && address - one.p_vaddr < one.p_filesz) {
      return address - one.p_vaddr + one.p_offset;
    }
  }
  return UINT64_MAX;
}

}  // namespace urakata
