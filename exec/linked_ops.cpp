// SPDX-License-Identifier: BSD-3-Clause
#include "linked_ops.hpp"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

#include "base/file_bytes.hpp"
#include "base/system_error.hpp"
#include "bpf_messages.hpp"

namespace urakata {

namespace {

// Names in urakata_op.bpf.h: the function in every file of an operation, and the type of its elements.
constexpr auto kFunction = std::string_view("ura_op_0\0", sizeof("ura_op_0"));  // with the zero at its end
constexpr const char* kElement = "ura_op_element";
constexpr std::size_t kMostName = sizeof(ura_xdp_ops::ura_xdp_own_op::name) - 1;

struct LinkClosed {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
  void operator()(bpf_linker* linker) const { bpf_linker__free(linker); }
  void operator()(btf* types) const { btf__free(types); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
template <class T>
using Owned = std::unique_ptr<T, LinkClosed>;

std::string told(const OwnOp& op) { return "operation " + op.name + " (" + op.file + ")"; }

// Why these operations, sorted by name, cannot be attached together; empty: they can.
std::string why_not(const std::vector<OwnOp>& sorted) {
  if (sorted.size() > URA_XDP_OPS) {
    return "at most " + std::to_string(URA_XDP_OPS) + " operations of programs' own can be attached to an interface";
  }
  for (const OwnOp& op : sorted) {
    const bool plain = std::ranges::all_of(op.name, [](unsigned char one) { return std::isgraph(one) != 0; });
    if (op.name.empty() || op.name.size() > kMostName || !plain) {
      return "an operation's name is 1 to " + std::to_string(kMostName) + " visible characters: " + op.name;
    }
  }
  const auto twice = std::ranges::adjacent_find(sorted, {}, &OwnOp::name);
  return twice != sorted.end() ? "two operations have the name " + twice->name : "";
}

// Bytes of an element of the operation.
Result<std::uint32_t> element_of(const OwnOp& op) {
  const Owned<btf> types(btf__parse_elf(op.file.c_str(), nullptr));
  if (types == nullptr) {
    return bpf_failure(told(op) + " is no eBPF code with its types (clang -target bpf -O2 -g -c)", errno);
  }
  const int type = btf__find_by_name_kind(types.get(), kElement, BTF_KIND_TYPEDEF);
  const auto bytes = type < 0 ? type : btf__resolve_size(types.get(), static_cast<__u32>(type));
  if (bytes > 0 && bytes <= URA_XDP_BYTES) return static_cast<std::uint32_t>(bytes);
  return Error{told(op) + ": no URA_OP(type) of urakata_op.bpf.h in it, or its elements have more than " +
               std::to_string(URA_XDP_BYTES) + " bytes"};
}

// Writes the operation's file to `to`, with this number in the function's name, among the symbols and the types.
Status renumber(const OwnOp& op, unsigned number, const std::string& to) {
  std::string text = file_bytes(op.file);
  for (std::size_t at = 0; (at = text.find(kFunction, at)) != std::string::npos; ++at) {
    text[at + kFunction.size() - 2] = static_cast<char>('0' + number);
  }
  const Owned<std::FILE> file(std::fopen(to.c_str(), "wbe"));
  if (file == nullptr) return system_error("making " + to);
  const bool written =
      std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() && std::fflush(file.get()) == 0;
  return written ? Status(Nothing{}) : Status(system_error("writing " + to));
}

Status join(const std::vector<std::string>& files, const std::string& into) {
  const Owned<bpf_linker> linker(bpf_linker__new(into.c_str(), nullptr));
  if (linker == nullptr) return bpf_failure("making " + into, errno);
  for (const std::string& file : files) {
    if (const int code = bpf_linker__add_file(linker.get(), file.c_str(), nullptr); code != 0) {
      return bpf_failure("linking " + file, code);
    }
  }
  const int code = bpf_linker__finalize(linker.get());
  return code == 0 ? Status(Nothing{}) : Status(bpf_failure("linking " + into, code));
}

// Loads the file, to find out whether the kernel accepts it.
Status try_out(const std::string& file) {
  const Owned<bpf_object> object(bpf_object__open_file(file.c_str(), nullptr));
  if (object == nullptr) return bpf_failure("reading it", errno);
  const int code = bpf_object__load(object.get());
  return code == 0 ? Status(Nothing{}) : Status(bpf_failure("the kernel refuses it", code));
}

}  // namespace

Result<LinkedOps> LinkedOps::link(const std::string& ebpf, std::vector<OwnOp> wanted) {
  std::ranges::sort(wanted, {}, &OwnOp::name);
  if (const std::string why = why_not(wanted); !why.empty()) return Error{why};
  LinkedOps made;
  made.file_ = ebpf;
  if (wanted.empty()) {
    if (const Status taken = try_out(ebpf); !taken.ok()) return Error{ebpf + ": " + taken.error().message};
    return made;
  }
  std::string folder = "/tmp/urakata-ops-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return system_error("making a folder in /tmp");
  made.folder_ = folder;
  made.file_ = folder + "/linked.o";
  std::vector<std::string> parts = {ebpf};
  for (unsigned number = 0; number < wanted.size(); ++number) {
    const OwnOp& op = wanted[number];
    const auto bytes = element_of(op);
    if (!bytes.ok()) return bytes.error();
    op.name.copy(made.ops_.of[number].name, kMostName);
    made.ops_.of[number].bytes = *bytes;
    parts.push_back(folder + "/" + std::to_string(number) + ".o");
    if (Status done = renumber(op, number, parts.back()); !done.ok()) return done.error();
    Status alone = join({ebpf, parts.back()}, made.file_);
    if (alone.ok()) alone = try_out(made.file_);
    if (!alone.ok()) return Error{told(op) + ": " + alone.error().message};
  }
  if (Status all = join(parts, made.file_); !all.ok()) return all.error();
  if (wanted.size() > 1) {
    if (Status all = try_out(made.file_); !all.ok()) return Error{"all these operations: " + all.error().message};
  }
  return made;
}

LinkedOps::LinkedOps(LinkedOps&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), file_(std::move(other.file_)), ops_(other.ops_) {}

LinkedOps::~LinkedOps() {
  if (folder_.empty()) return;
  for (unsigned number = 0; number < URA_XDP_OPS; ++number) {
    unlink((folder_ + "/" + std::to_string(number) + ".o").c_str());
  }
  unlink(file_.c_str());
  rmdir(folder_.c_str());
}

}  // namespace urakata
