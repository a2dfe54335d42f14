// SPDX-License-Identifier: BSD-3-Clause
#include "xdp/table.hpp"

#include <linux/bpf.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/system_error.hpp"
#include "xdp/owner.hpp"
#include "xdp/places.hpp"

namespace urakata::xdp {

namespace {

constexpr std::size_t kBytes = sizeof(ura_xdp_slot) * URA_XDP_SLOTS;

int open_pinned(const std::string& path, std::uint32_t flags) {
  bpf_attr wish{};
  wish.pathname = reinterpret_cast<std::uint64_t>(path.c_str());
  wish.file_flags = flags;
  return static_cast<int>(syscall(SYS_bpf, BPF_OBJ_GET, &wish, sizeof wish));
}

}  // namespace

ura_xdp_ops ops_at(unsigned interface) {
  ura_xdp_ops ops{};
  const int map = open_pinned(ops_of(interface), BPF_F_RDONLY);
  if (map < 0) return ops;
  std::uint32_t only = 0;
  bpf_attr wish{};
  wish.map_fd = static_cast<std::uint32_t>(map);
  wish.key = reinterpret_cast<std::uint64_t>(&only);
  wish.value = reinterpret_cast<std::uint64_t>(&ops);
  if (syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &wish, sizeof wish) != 0) ops = {};
  close(map);
  return ops;
}

Result<std::shared_ptr<Table>> Table::open(unsigned interface) {
  const std::string path = table_of(interface, geteuid());
  const int map = open_pinned(path, 0);
  if (map < 0) {
    const int error = errno;
    if (error == ENOENT) return Error{"no eBPF code is attached for this user (urakata kernel attach, by root)"};
    return system_error(path, error);
  }
  void* const mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
  const int error = errno;
  close(map);
  if (mapped == MAP_FAILED) return system_error("mapping " + path, error);
  return std::shared_ptr<Table>(new Table(static_cast<ura_xdp_slot*>(mapped), true, ops_at(interface)));
}

bool Table::any() {
  const std::unique_ptr<struct if_nameindex, void (*)(struct if_nameindex*)> all(if_nameindex(), if_freenameindex);
  for (const struct if_nameindex* one = all.get(); one != nullptr && one->if_index != 0; ++one) {
    if (access(table_of(one->if_index, geteuid()).c_str(), F_OK) == 0) return true;
  }
  return false;
}

Table::~Table() {
  if (mapped_) munmap(slots_, kBytes);
}

ura_xdp_slot* Table::claim() {
  const std::uint64_t own = own_owner();
  for (ura_xdp_slot* slot = slots_; slot != slots_ + URA_XDP_SLOTS; ++slot) {
    unsigned long long before = __atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE);
    if (before != 0 && may_live(before)) continue;
    if (!__atomic_compare_exchange_n(&slot->owner, &before, own, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
    __atomic_store_n(&slot->token, 0, __ATOMIC_SEQ_CST);
    return slot;
  }
  return nullptr;
}

void Table::release(ura_xdp_slot& slot) {
  __atomic_store_n(&slot.token, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n(&slot.owner, 0, __ATOMIC_RELEASE);
}

}  // namespace urakata::xdp
