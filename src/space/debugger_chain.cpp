// SPDX-License-Identifier: BSD-3-Clause
#include "space/debugger_chain.hpp"

#include <gnu/libc-version.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "base/clock.hpp"

namespace urakata::space {
namespace {

constexpr int kChained = 2;  // r_version from which the list has r_next
// A program whose linker has not begun by then was stopped, or has executed another program: it is given up.
constexpr std::uint64_t kDebugEntryTimeout = 5'000'000'000;  // ns

bool library_has_chain() {
  int major = 0;
  int minor = 0;
  return std::sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 &&
         (major > 2 || (major == 2 && minor >= 35));
}

// The list that the linker has entered in the program's dynamic section for debuggers; nullptr: not yet.
const r_debug* list_of(const ElfW(Dyn) * dynamic) {
  for (const ElfW(Dyn)* one = dynamic; one->d_tag != DT_NULL; ++one) {
    if (one->d_tag != DT_DEBUG) continue;
    const std::atomic_ref<ElfW(Addr)> value(const_cast<ElfW(Dyn)*>(one)->d_un.d_ptr);
    return reinterpret_cast<const r_debug*>(value.load(std::memory_order_acquire));  // NOLINT
  }
  return nullptr;
}

}  // namespace

DebuggerChain::DebuggerChain() {
  if (!library_has_chain()) return;
  for (last_ = reinterpret_cast<Node*>(&_r_debug); last_->list.r_version >= kChained && last_->next != nullptr;) {
    last_ = last_->next;
  }
}

void DebuggerChain::add(const LoadedProgram& program) {
  if (last_ == nullptr || program.dynamic == 0) return;
  Entry& entry = entries_.emplace_back();
  entry.file = program.file;
  entry.until = now_ns() + kDebugEntryTimeout;
  entry.dynamic = reinterpret_cast<ElfW(Dyn)*>(program.dynamic);  // NOLINT(performance-no-int-to-ptr)
  entry.program.l_addr = program.base;
  entry.program.l_name = entry.file.data();
  entry.program.l_ld = entry.dynamic;
}

void DebuggerChain::append(Node& node) {
  node.next = nullptr;
  node.list.r_version = kChained;
  last_->next = &node;
  last_->list.r_version = kChained;
  last_ = &node;
}

bool DebuggerChain::link() {
  const std::uint64_t now = now_ns();
  bool some_left = false;
  for (Entry& one : entries_) {
    if (one.linked) continue;
    const r_debug* const list = list_of(one.dynamic);
    if (list == nullptr || list->r_map == nullptr) {
      some_left = some_left || now < one.until;
      continue;
    }
    // Copies, since the linker's own list may lack the field r_next. r_map points to the linker's live list.
    one.libraries.list = *list;
    one.named.list = *list;
    one.named.list.r_map = &one.program;
    append(one.named);
    append(one.libraries);
    one.linked = true;
  }
  return some_left;
}

}  // namespace urakata::space
