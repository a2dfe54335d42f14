#include "elf.hpp"

#include <elf.h>

#include <cstdint>

#include "base/elf_file.hpp"

namespace urakata {
namespace {

// Looks for dlopen or dlmopen among the symbols that others must define.
bool imports_dlopen(const ElfFile& file) {
  const ElfW(Ehdr)& header = file.header();
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto section = file.at<ElfW(Shdr)>(header.e_shoff + std::uint64_t{i} * sizeof(ElfW(Shdr)));
    if (!section || section->sh_type != SHT_DYNSYM) continue;
    const auto names = file.at<ElfW(Shdr)>(header.e_shoff + std::uint64_t{section->sh_link} * sizeof(ElfW(Shdr)));
    if (!names) return true;
    for (std::uint64_t at = 0; at + sizeof(ElfW(Sym)) <= section->sh_size; at += sizeof(ElfW(Sym))) {
      const auto symbol = file.at<ElfW(Sym)>(section->sh_offset + at);
      if (!symbol) return true;
      if (symbol->st_shndx != SHN_UNDEF) continue;
      const std::string name = file.text(names->sh_offset + symbol->st_name);
      if (name == "dlopen" || name == "dlmopen") return true;
    }
    return false;
  }
  return true;  // stripped of its sections: it might
}

}  // namespace

Result<Elf> read_elf(const std::string& path) {
  const Result<ElfFile> file = ElfFile::open(path);
  if (!file) return Error{path + " " + file.error().message};
  Elf elf;
  elf.foreign = file->foreign();
  if (elf.foreign) return elf;
  const std::vector<ElfW(Dyn)> entries = file->dynamic();
  std::uint64_t strings = UINT64_MAX;
  for (const ElfW(Dyn) & one : entries) {
    if (one.d_tag == DT_STRTAB) strings = file->offset_of(one.d_un.d_val);
    if (one.d_tag == DT_NEEDED) elf.dynamic = true;
  }
  for (const ElfW(Phdr) & one : file->program_headers()) elf.dynamic = elf.dynamic || one.p_type == PT_INTERP;
  if (strings == UINT64_MAX) return elf;
  for (const ElfW(Dyn) & one : entries) {
    const auto text = [&] { return file->text(strings + one.d_un.d_val); };
    if (one.d_tag == DT_NEEDED) elf.needed.push_back(text());
    if (one.d_tag == DT_SONAME) elf.soname = text();
    if (one.d_tag == DT_RPATH) elf.rpath = text();
    if (one.d_tag == DT_RUNPATH) elf.runpath = text();
  }
  elf.imports_dlopen = imports_dlopen(*file);
  return elf;
}

}  // namespace urakata
