// SPDX-License-Identifier: BSD-3-Clause
// Where a task's memory goes, and what its forks have of it. The tests are tasks of a registry of their own.
#include "space/address_ranges.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>

#include "space/address_layout.hpp"
#include "space/fork_guard.hpp"
#include "space/maps.hpp"
#include "space/own_mappings.hpp"
#include "space/robust_lock.hpp"

namespace urakata::space {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::uint64_t kTerabyte = std::uint64_t{1} << 40U;

bool within(std::uint64_t address, AddressRange range) { return address >= range.begin && address < range.end; }
bool within(const void* address, AddressRange range) { return within(reinterpret_cast<std::uint64_t>(address), range); }

int code_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class Place : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result<AddressLayout> layout = own_address_layout();
    ASSERT_TRUE(layout) << layout.error().message;
    ASSERT_TRUE(choose_address_ranges(*registry, range_left_free(*layout), {4711, 815}));
    ASSERT_TRUE(address_ranges_can_be_mapped(*registry));
    open_address_ranges(*registry, kSlot);
  }

  AddressRange main_range(std::size_t slot = kSlot) const { return main_range_of(*registry, slot); }
  AddressRange overflow_range(std::size_t slot = kSlot) const { return overflow_range_of(*registry, slot); }

  Membership task() const { return {registry.get(), kSlot}; }
  Membership ended() const { return {registry.get(), kSlot + 1}; }

  static constexpr std::size_t kSlot = 3;
  std::unique_ptr<Registry> registry = std::make_unique<Registry>();
};

TEST_F(Place, IsBelowTheLast) {
  const std::uint64_t first = claim(task(), 5 * kPage);
  EXPECT_EQ(first, main_range().end - 5 * kPage);
  EXPECT_EQ(claim(task(), kPage), first - kPage);
}

TEST_F(Place, BeginsWhereAHugePageMay) {
  claim(task(), kPage);
  EXPECT_EQ(claim(task(), 4 * kMiB) % (2 * kMiB), 0U);
}

TEST_F(Place, IsInTheOverflowRangeIfTheMainRangeIsFull) {
  const std::uint64_t large = claim(task(), kMainRangeBytes);
  EXPECT_TRUE(within(large, overflow_range()));
  EXPECT_TRUE(within(claim(task(), kPage), main_range()));
}

TEST_F(Place, IsThereForTheLastSlot) {
  constexpr std::size_t kLast = kMostTasks - 1;
  open_address_ranges(*registry, kLast);
  EXPECT_EQ(claim({registry.get(), kLast}, kPage), main_range(kLast).end - kPage);
  EXPECT_EQ(claim({registry.get(), kLast}, kMainRangeBytes), overflow_range(kLast).end - kMainRangeBytes);
}

TEST_F(Place, IsUsedAgainWhenAllHasBeenUsed) {
  const std::uint64_t large = registry->overflow_range_bytes / 4;
  for (int i = 0; i < 9; ++i) {
    const std::uint64_t place = claim(task(), large);
    EXPECT_TRUE(within(place, overflow_range()) && within(place + large - 1, overflow_range())) << i;
  }
}

TEST_F(Place, IsNobodyElses) {
  for (const std::uint64_t tib : {2U, 25U, 41U, 64U, 69U, 128U}) {
    const AddressRange free{5 * kTerabyte + kPage, (5 + tib) * kTerabyte - kPage};
    for (const std::uint64_t random : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x123456789abcdef}}) {
      ASSERT_TRUE(choose_address_ranges(*registry, free, {random, random})) << tib;
      for (std::size_t slot = 1; slot < kMostTasks; ++slot) {
        EXPECT_EQ(main_range(slot - 1).end, main_range(slot).begin);
        EXPECT_EQ(overflow_range(slot - 1).end, overflow_range(slot).begin);
      }
      EXPECT_GE(main_range(0).begin, free.begin);
      EXPECT_LE(main_range(kMostTasks - 1).end, overflow_range(0).begin);
      EXPECT_LE(overflow_range(kMostTasks - 1).end, free.end);
      EXPECT_EQ(main_range(0).begin % (2 * kMiB), 0U);
      EXPECT_GE(registry->overflow_range_bytes * kMostTasks, std::min(tib * kTerabyte / 2, 64 * kTerabyte)) << tib;
    }
  }
}

TEST_F(Place, IsRefusedWhereAddressesAreFew) {
  const Status few = choose_address_ranges(*registry, {512 * 1024 * kMiB, 1024 * 1024 * kMiB}, {1, 2});
  ASSERT_FALSE(few);
  EXPECT_NE(few.error().message.find("512 GiB"), std::string::npos) << few.error().message;
}

// In a process of its own, since the C library's mmap() stays changed.
class OwnMappings : public Place {
 protected:
#if defined(__SANITIZE_ADDRESS__)
  void SetUp() override {
    GTEST_SKIP() << "the address sanitizer's malloc() does not call the C library's mmap(), and its shadow lies where "
                    "these tests want a page (12 TiB)";
  }
#endif

  // What `check` says, as an exit code, in a process that is task kSlot.
  template <class Check>
  int in_task(Check check) {
    const pid_t child = fork();
    if (child != 0) return code_of(child);
    registry->tasks[kSlot].pid = getpid();
    registry->tasks[kSlot].state = TaskState::running;
    if (!map_in_own_ranges(task())) _exit(77);
    leave_others_out_of_forks(task());
    _exit(check());
  }
};

#define IN_TASK(...)                                                            \
  const int code = in_task(__VA_ARGS__);                                        \
  if (code == 77) GTEST_SKIP() << "this C library's mmap() is of another form"; \
  EXPECT_EQ(code, 0)

TEST_F(OwnMappings, AreWhatTheCLibraryMaps) {
  IN_TASK([this] {
    void* const large = std::malloc(100 * kMiB);
    if (!within(large, main_range())) return 1;
    pthread_attr_t unusual;  // so that no stack of an earlier thread is used again
    pthread_attr_init(&unusual);
    pthread_attr_setstacksize(&unusual, 11 * kMiB);
    pthread_t thread{};
    void* stack = nullptr;
    pthread_create(
        &thread, &unusual, [](void*) { return __builtin_frame_address(0); }, nullptr);
    pthread_join(thread, &stack);
    if (!within(stack, main_range())) return 2;
    if (!within(std::malloc(300 * kMiB), overflow_range())) return 3;
    std::free(large);
    return 0;
  });
}

TEST_F(OwnMappings, AreWhereTheCallerWantsThem) {
  IN_TASK([this] {
    const auto nowhere = [](void* at, std::size_t bytes, int flags, off_t offset) {
      return mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE | flags, -1, offset);
    };
    void* const wanted = reinterpret_cast<void*>(std::uint64_t{12} << 40U);  // NOLINT(performance-no-int-to-ptr)
    if (nowhere(wanted, kPage, MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, 0) != wanted) return 1;
    // As large as that it is a reservation of addresses.
    if (within(nowhere(nullptr, registry->overflow_range_bytes, MAP_ANONYMOUS, 0), overflow_range())) return 2;
    if (nowhere(nullptr, 0, MAP_ANONYMOUS, 0) != MAP_FAILED || errno != EINVAL) return 3;
    if (nowhere(nullptr, kPage, 0, 0) != MAP_FAILED || errno != EBADF) return 4;
    if (nowhere(nullptr, kPage, MAP_ANONYMOUS, 1) != MAP_FAILED || errno != EINVAL) return 5;
    return 0;
  });
}

// What two ranks do that map a launcher's topology, done twice by one.
TEST_F(OwnMappings, AreOneWhereTasksReadAFileAtTheSamePlace) {
  constexpr long kSeal = 462;
  if (syscall(kSeal, nullptr, 0, 0) != 0) GTEST_SKIP() << "this kernel has no mseal(): a task could unmap it for all";
  IN_TASK([this] {
    constexpr std::size_t kBytes = 3 * kPage;
    void* const wanted = reinterpret_cast<void*>(std::uint64_t{12} << 40U);  // NOLINT(performance-no-int-to-ptr)
    const auto read_at_place = [&](int file, std::size_t bytes, off_t offset = 0, int rights = PROT_READ) {
      return mmap(wanted, bytes, rights, MAP_SHARED, file, offset);
    };
    const int file = memfd_create("topology", 0);
    const int other = memfd_create("another", 0);
    if (ftruncate(file, 2 * kBytes) != 0 || ftruncate(other, kBytes) != 0) return 1;
    if (read_at_place(file, kBytes) != wanted || read_at_place(file, kBytes) == wanted)
      return 2;  // not while the MPI library starts
    if (munmap(wanted, kBytes) != 0) return 3;
    {
      const SharedFiles shared(task());
      if (read_at_place(file, kBytes, 0, PROT_READ | PROT_WRITE) != wanted || munmap(wanted, kBytes) != 0) return 4;
      if (read_at_place(file, kBytes) != wanted || read_at_place(file, kBytes) != wanted) return 5;
      if (read_at_place(other, kBytes) == wanted || read_at_place(file, kBytes, kPage) == wanted) return 6;
      if (read_at_place(file, kPage) == wanted) return 7;
    }
    if (read_at_place(file, kBytes) == wanted) return 8;
    if (munmap(wanted, kBytes) == 0 || errno != EPERM) return 9;
    return 0;
  });
}

TEST_F(OwnMappings, AreInAForkWithoutThoseOfOthers) {
  IN_TASK([this] {
    auto* const own = static_cast<char*>(std::malloc(kMiB));
    own[5] = 'x';
    const auto map_at = [](std::uint64_t address) {
      void* const place = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
      void* const got =
          mmap(place, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      return got == place ? static_cast<char*>(got) : nullptr;
    };
    char* const before = map_at(main_range(kSlot - 1).begin);
    char* const after = map_at(overflow_range(kSlot + 1).begin);
    if (before == nullptr || after == nullptr) return 1;
    const auto gone = [](void* place) {
      unsigned char held = 0;
      return mincore(place, kPage, &held) != 0 && errno == ENOMEM;
    };
    for (int i = 0; i < 3; ++i) {
      const pid_t child = fork();
      if (child == 0) _exit(own[5] == 'x' && gone(before) && gone(after) ? 0 : 1);
      if (code_of(child) != 0) return 2;
      *before = *after = 'y';  // as it was
    }
    return 0;
  });
}

// Two ranks mark a page each by madvise(). This task's forks have neither, and the marks are there afterwards.
TEST_F(OwnMappings, AreNotInAForkWhereTheProgramLeavesThemOut) {
  IN_TASK([this] {
    const auto map_at = [](std::uint64_t address) {
      void* const place = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
      return mmap(place, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    };
    char* const others = static_cast<char*>(map_at(main_range(kSlot + 1).begin + kMiB)) + kPage;
    char* const own = static_cast<char*>(map_at(main_range().begin + kMiB)) + kPage;
    if (madvise(others, kPage, MADV_DONTFORK) != 0 || madvise(own, kPage, MADV_DONTFORK) != 0) return 1;
    if (madvise(own + 1, kPage, MADV_DONTFORK) == 0 || errno != EINVAL) return 2;
    const auto is_marked = [](const char* place) {
      bool here = false;
      ProcLines lines("/proc/self/smaps");
      while (const auto line = lines.next()) {
        if (const auto mapping = maps_line(*line)) here = within(place, {mapping->begin, mapping->end});
        if (here && line->starts_with("VmFlags:")) return line->find(" dc") != std::string_view::npos;
      }
      return false;
    };
    const auto gone = [](char* place) {
      unsigned char held = 0;
      return mincore(place, kPage, &held) != 0 && errno == ENOMEM;
    };
    for (int i = 0; i < 2; ++i) {
      const pid_t child = fork();
      if (child == 0) _exit(gone(own) && !gone(own - kPage) && gone(others - kPage) ? 0 : 1);
      if (code_of(child) != 0) return 3;
      if (!is_marked(own) || !is_marked(others) || is_marked(others - kPage) || is_marked(others + kPage)) return 4;
    }
    // The same after a task died while it forked.
    const AddressRange page{reinterpret_cast<std::uint64_t>(own), reinterpret_cast<std::uint64_t>(own) + kPage};
    registry->fork_marks.of_programs = &page;
    registry->fork_marks.count = 1;
    registry->fork_marks.set = true;
    advise_own(task(), MADV_DONTFORK);
    registry->forking = lock_word(ended());
    if (madvise(others, kPage, MADV_DOFORK) != 0) return 5;
    return is_marked(own) && !is_marked(own - kPage) && !is_marked(others) ? 0 : 6;
  });
}

TEST_F(OwnMappings, AreInAForkAfterATaskDiedWithTheLock) {
  IN_TASK([this] {
    auto* const own = static_cast<char*>(std::malloc(kMiB));
    own[5] = 'x';
    advise_own(task(), MADV_DONTFORK);
    registry->fork_marks.set = true;
    registry->forking = lock_word(ended());
    const pid_t child = fork();
    if (child == 0) _exit(own[5] == 'x' ? 0 : 1);
    return code_of(child) == 0 ? 0 : 2;
  });
}

}  // namespace
}  // namespace urakata::space
