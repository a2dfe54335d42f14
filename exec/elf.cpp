#include "elf.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

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

// A file in memory; every read is checked against its end, since files may be cut or made up.
class Image {
 public:
  explicit Image(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

  std::string text(std::uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    const char* begin = reinterpret_cast<const char*>(bytes_.data() + offset);
    return {begin, strnlen(begin, bytes_.size() - offset)};
  }

 private:
  std::span<const std::byte> bytes_;
};

std::vector<ElfW(Phdr)> program_headers(const Image& image, const ElfW(Ehdr) & header) {
  std::vector<ElfW(Phdr)> headers;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    if (auto one = image.at<ElfW(Phdr)>(header.e_phoff + std::uint64_t{i} * sizeof(ElfW(Phdr))))
      headers.push_back(*one);
  }
  return headers;
}

std::uint64_t file_offset(std::span<const ElfW(Phdr)> headers, std::uint64_t address) {
  for (const auto& one : headers) {
    if (one.p_type == PT_LOAD && address >= one.p_vaddr && address - one.p_vaddr < one.p_filesz) {
      return address - one.p_vaddr + one.p_offset;
    }
  }
  return UINT64_MAX;
}

// Looks for dlopen or dlmopen among the symbols that others must define.
bool imports_dlopen(const Image& image, const ElfW(Ehdr) & header) {
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto section = image.at<ElfW(Shdr)>(header.e_shoff + std::uint64_t{i} * sizeof(ElfW(Shdr)));
    if (!section || section->sh_type != SHT_DYNSYM) continue;
    const auto names = image.at<ElfW(Shdr)>(header.e_shoff + std::uint64_t{section->sh_link} * sizeof(ElfW(Shdr)));
    if (!names) return true;
    for (std::uint64_t at = 0; at + sizeof(ElfW(Sym)) <= section->sh_size; at += sizeof(ElfW(Sym))) {
      const auto symbol = image.at<ElfW(Sym)>(section->sh_offset + at);
      if (!symbol) return true;
      if (symbol->st_shndx != SHN_UNDEF) continue;
      const std::string name = image.text(names->sh_offset + symbol->st_name);
      if (name == "dlopen" || name == "dlmopen") return true;
    }
    return false;
  }
  return true;  // stripped of its sections: it might
}

Result<Elf> parse(const Image& image) {
  const auto header = image.at<ElfW(Ehdr)>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return Error{"not an ELF file"};
  Elf elf;
  constexpr unsigned kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (header->e_ident[EI_CLASS] != kClass || header->e_machine != kMachine) {
    elf.foreign = true;
    return elf;
  }
  const std::vector<ElfW(Phdr)> headers = program_headers(image, *header);
  std::vector<std::uint64_t> needed;
  std::uint64_t strings = UINT64_MAX, soname = UINT64_MAX, rpath = UINT64_MAX, runpath = UINT64_MAX;
  bool interpreter = false;
  for (const auto& one : headers) {
    interpreter = interpreter || one.p_type == PT_INTERP;
    if (one.p_type != PT_DYNAMIC) continue;
    for (std::uint64_t at = 0; at + sizeof(ElfW(Dyn)) <= one.p_filesz; at += sizeof(ElfW(Dyn))) {
      const auto entry = image.at<ElfW(Dyn)>(one.p_offset + at);
      if (!entry || entry->d_tag == DT_NULL) break;
      const std::uint64_t value = entry->d_un.d_val;
      if (entry->d_tag == DT_NEEDED) needed.push_back(value);
      if (entry->d_tag == DT_STRTAB) strings = file_offset(headers, value);
      if (entry->d_tag == DT_SONAME) soname = value;
      if (entry->d_tag == DT_RPATH) rpath = value;
      if (entry->d_tag == DT_RUNPATH) runpath = value;
    }
  }
  elf.dynamic = interpreter || !needed.empty();
  if (strings == UINT64_MAX) return elf;
  for (const std::uint64_t name : needed) elf.needed.push_back(image.text(strings + name));
  if (soname != UINT64_MAX) elf.soname = image.text(strings + soname);
  if (rpath != UINT64_MAX) elf.rpath = image.text(strings + rpath);
  if (runpath != UINT64_MAX) elf.runpath = image.text(strings + runpath);
  elf.imports_dlopen = imports_dlopen(image, *header);
  return elf;
}

}  // namespace

Result<Elf> read_elf(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Error{path + ": " + std::strerror(errno)};
  struct stat about {};
  const bool plain = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
  const auto size = static_cast<std::size_t>(about.st_size);
  void* bytes = plain ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  close(file);
  if (bytes == MAP_FAILED) return Error{path + ": not a readable file"};
  Result<Elf> elf = parse(Image({static_cast<const std::byte*>(bytes), size}));
  munmap(bytes, size);
  if (!elf) return Error{path + ": " + elf.error().message};
  return elf;
}

}  // namespace urakata
