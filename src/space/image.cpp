#include "space/image.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "space/descriptor.hpp"

namespace urakata::space {
namespace {

using namespace std::string_view_literals;

#if defined(__x86_64__)
constexpr unsigned kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kMachine = EM_AARCH64;
#else
#error "a space needs x86-64 or AArch64"
#endif

// Names in a program's dynamic string table that give its sanitizer away: a needed library, or the runtime's own entry.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kSanitizers = {{
    {"libasan.so"sv, "AddressSanitizer"sv},
    {"__asan_init"sv, "AddressSanitizer"sv},
    {"libtsan.so"sv, "ThreadSanitizer"sv},
    {"__tsan_init"sv, "ThreadSanitizer"sv},
    {"liblsan.so"sv, "LeakSanitizer"sv},
    {"__lsan_init"sv, "LeakSanitizer"sv},
    {"__msan_init"sv, "MemorySanitizer"sv},
    {"__hwasan_init"sv, "HWAddressSanitizer"sv},
}};

// The file's bytes; what reaches beyond their end is refused.
class Bytes {
 public:
  explicit Bytes(std::string_view all) : all_(all) {}

  template <class T>
  bool read(std::uint64_t offset, T& value) const {
    if (!has(offset, sizeof(T))) return false;
    std::memcpy(&value, all_.data() + offset, sizeof(T));
    return true;
  }
  bool has(std::uint64_t offset, std::uint64_t bytes) const {
    return offset <= all_.size() && bytes <= all_.size() - offset;
  }
  std::string_view part(std::uint64_t offset, std::uint64_t bytes) const {
    return offset > all_.size() ? std::string_view() : all_.substr(offset, bytes);
  }

 private:
  std::string_view all_;
};

bool sane(const Segment& segment) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 46U;
  const std::uint64_t alignment = std::max<std::uint64_t>(segment.alignment, 1);
  return segment.file_bytes <= segment.memory_bytes && (alignment & (alignment - 1)) == 0 &&
         segment.address % alignment == segment.offset % alignment && segment.address < kMost &&
         segment.memory_bytes < kMost - segment.address;
}

std::uint64_t file_offset(const std::vector<Segment>& segments, std::uint64_t address) {
  for (const Segment& one : segments) {
    if (address >= one.address && address - one.address < one.file_bytes) return address - one.address + one.offset;
  }
  return UINT64_MAX;
}

void find_sanitizer(const Bytes& bytes, std::string_view dynamic, Image& image) {
  std::uint64_t strings = UINT64_MAX;
  std::uint64_t size = 0;
  for (std::size_t at = 0; at + sizeof(ElfW(Dyn)) <= dynamic.size(); at += sizeof(ElfW(Dyn))) {
    ElfW(Dyn) entry;
    std::memcpy(&entry, dynamic.data() + at, sizeof entry);
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) strings = file_offset(image.segments, entry.d_un.d_ptr);
    if (entry.d_tag == DT_STRSZ) size = entry.d_un.d_val;
  }
  const std::string_view table = bytes.part(strings, size);
  for (const auto& [name, sanitizer] : kSanitizers) {
    if (table.find(name) != std::string_view::npos) image.sanitizer = sanitizer;
  }
}

Status parse(const Bytes& bytes, Image& image) {
  ElfW(Ehdr) header;
  if (!bytes.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return Error{"is no ELF program"};
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachine) {
    return Error{"is built for another processor or word size"};
  }
  if (header.e_phentsize != sizeof(ElfW(Phdr)) || (header.e_type != ET_DYN && header.e_type != ET_EXEC)) {
    return Error{"is no program (its ELF header is of another kind)"};
  }
  image.movable = header.e_type == ET_DYN;
  image.entry = header.e_entry;
  image.header_count = header.e_phnum;
  image.header_bytes = header.e_phentsize;
  std::string_view dynamic;
  bool headers_named = false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) one;
    if (!bytes.read(header.e_phoff + std::uint64_t{i} * sizeof one, one))
      return Error{"is cut off: headers are missing"};
    if (one.p_type == PT_LOAD) {
      const Segment segment{one.p_vaddr, one.p_offset, one.p_filesz, one.p_memsz, one.p_align, one.p_flags};
      if (!sane(segment) || (!image.segments.empty() && image.segments.back().address > segment.address)) {
        return Error{"has a segment that cannot be mapped"};
      }
      if (!bytes.has(segment.offset, segment.file_bytes)) return Error{"is cut off: a segment is incomplete"};
      image.segments.push_back(segment);
    } else if (one.p_type == PT_INTERP) {
      image.interpreter = bytes.part(one.p_offset, one.p_filesz);
      image.interpreter.resize(std::strlen(image.interpreter.c_str()));
    } else if (one.p_type == PT_DYNAMIC) {
      image.dynamic = one.p_vaddr;
      dynamic = bytes.part(one.p_offset, one.p_filesz);
    } else if (one.p_type == PT_PHDR) {
      image.headers = one.p_vaddr;
      headers_named = true;
    } else if (one.p_type == PT_GNU_STACK) {
      image.executable_stack = (one.p_flags & PF_X) != 0;
    }
  }
  if (image.segments.empty()) return Error{"has nothing to be mapped"};
  if (!headers_named) {
    for (const Segment& one : image.segments) {
      if (header.e_phoff >= one.offset && header.e_phoff - one.offset < one.file_bytes) {
        image.headers = header.e_phoff - one.offset + one.address;
      }
    }
  }
  find_sanitizer(bytes, dynamic, image);
  return Nothing{};
}

}  // namespace

Result<Image> read_image(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return Error{"cannot be read (" + std::string(std::strerror(errno)) + ")"};
  struct stat about {};
  if (fstat(file.number(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size <= 0) {
    return Error{"is no file that can be run"};
  }
  const auto size = static_cast<std::size_t>(about.st_size);
  void* const start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (start == MAP_FAILED) return Error{"cannot be read (" + std::string(std::strerror(errno)) + ")"};
  Image image;
  image.path = path;
  const Status parsed = parse(Bytes({static_cast<const char*>(start), size}), image);
  munmap(start, size);
  if (!parsed) return parsed.error();
  return image;
}

}  // namespace urakata::space
