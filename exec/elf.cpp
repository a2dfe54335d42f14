// SPDX-License-Identifier: BSD-3-Clause
#include "elf.hpp"

#include <elf.h>

#include <cstdint>
#include <string_view>

#include "base/elf_file.hpp"

namespace urakata {
namespace {

// Calls `visit(symbol, offset of its name in the file)` for each dynamic symbol. False: not all can be read.
template <class Visit>
bool each_dynamic_symbol(const ElfFile& file, Visit visit) {
  const ElfW(Ehdr)& header = file.header();
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto section = file.at<ElfW(Shdr)>(header.e_shoff + std::uint64_t{i} * sizeof(ElfW(Shdr)));
    if (!section || section->sh_type != SHT_DYNSYM) continue;
    const auto names = file.at<ElfW(Shdr)>(header.e_shoff + std::uint64_t{section->sh_link} * sizeof(ElfW(Shdr)));
    if (!names) return false;
    for (std::uint64_t at = 0; at + sizeof(ElfW(Sym)) <= section->sh_size; at += sizeof(ElfW(Sym))) {
      const auto symbol = file.at<ElfW(Sym)>(section->sh_offset + at);
      if (!symbol) return false;
      visit(*symbol, names->sh_offset + symbol->st_name);
    }
    return true;
  }
  return false;  // the file has no section headers
}

// Whether dlopen or dlmopen is among the symbols that other objects must define.
bool imports_dlopen(const ElfFile& file) {
  bool found = false;
  const bool whole = each_dynamic_symbol(file, [&](const ElfW(Sym) & symbol, std::uint64_t name) {
    if (found || symbol.st_shndx != SHN_UNDEF) return;
    const std::string text = file.text(name);
    found = text == "dlopen" || text == "dlmopen";
  });
  return found || !whole;  // if not all symbols can be read, one of them may be dlopen
}

// The bits of st_info and st_other have the same meaning in 32 and 64 bits.
bool exported_function(const ElfW(Sym) & symbol) {
  const unsigned binding = ELF64_ST_BIND(symbol.st_info);
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  const unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  return symbol.st_shndx != SHN_UNDEF && (binding == STB_GLOBAL || binding == STB_WEAK) &&
         (type == STT_FUNC || type == STT_GNU_IFUNC) && (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
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

std::vector<std::string> exported_functions(const std::string& path, std::string_view prefix) {
  std::vector<std::string> names;
  const Result<ElfFile> file = ElfFile::open(path);
  if (!file || file->foreign()) return names;
  each_dynamic_symbol(*file, [&](const ElfW(Sym) & symbol, std::uint64_t name) {
    if (exported_function(symbol) && file->part(name, prefix.size()) == prefix) names.push_back(file->text(name));
  });
  return names;
}

}  // namespace urakata
