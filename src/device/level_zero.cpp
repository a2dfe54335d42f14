// SPDX-License-Identifier: BSD-3-Clause
// Level Zero: libze_loader.so.
//
// We create one context for each driver that the loader lists. Such a context knows all memory of its driver, also
// memory that was allocated in other contexts. Each device seen so far has one immediate command list, used by one
// thread at a time.
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "device/driver.hpp"
#include "device/functions.hpp"

namespace urakata::device {
namespace {

// ze_result_t
constexpr unsigned kUninitialised = 0x78000001;

// ze_structure_type_t
constexpr unsigned kContextDescription = 0xd;
constexpr unsigned kQueueDescription = 0xe;
constexpr unsigned kMemoryProperties = 0x17;

constexpr unsigned kDeviceMemory = 2;  // ze_memory_type_t
constexpr unsigned kSynchronous = 1;   // ze_command_queue_mode_t

struct ContextDescription {  // ze_context_desc_t
  unsigned type = kContextDescription;
  const void* next = nullptr;
  std::uint32_t flags = 0;
};

struct QueueDescription {  // ze_command_queue_desc_t
  unsigned type = kQueueDescription;
  const void* next = nullptr;
  std::uint32_t ordinal = 0;  // the first queue group can compute and copy
  std::uint32_t index = 0;
  std::uint32_t flags = 0;
  unsigned mode = kSynchronous;
  unsigned priority = 0;
};

struct MemoryProperties {  // ze_memory_allocation_properties_t
  unsigned structure = kMemoryProperties;
  void* next = nullptr;
  unsigned type = 0;
  std::uint64_t id = 0;
  std::uint64_t page = 0;
};

struct Region {  // ze_copy_region_t
  std::uint32_t x, y, z, width, height, depth;
};

struct {
  unsigned (*drivers)(std::uint32_t* count, void** drivers);
  unsigned (*make_context)(void* driver, const ContextDescription* description, void** context);
  unsigned (*memory_properties)(void* context, const void* address, MemoryProperties* properties, void** device);
  unsigned (*make_list)(void* context, void* device, const QueueDescription* description, void** list);
  unsigned (*copy)(void* list, void* to, const void* from, std::size_t bytes, void* signal, std::uint32_t waits,
                   void** events);
  unsigned (*copy_rows)(void* list, void* to, const Region* to_region, std::uint32_t to_pitch, std::uint32_t to_slice,
                        const void* from, const Region* from_region, std::uint32_t from_pitch, std::uint32_t from_slice,
                        void* signal, std::uint32_t waits, void** events);
} ze;

struct Device {
  void* context = nullptr;
  void* device = nullptr;
  void* list = nullptr;
};

struct State {
  Mutex lock;                   // guards the other members, and use of the command lists
  std::vector<void*> contexts;  // empty until the program has initialised a driver
  std::deque<Device> devices;   // a Place holds the address of its entry
};
State& state() {
  static auto* the = new State;  // never destroyed
  return *the;
}

Status connect(void* library) {
  return Functions(library)
      .find("zeDriverGet", ze.drivers)
      .find("zeContextCreate", ze.make_context)
      .find("zeMemGetAllocProperties", ze.memory_properties)
      .find("zeCommandListCreateImmediate", ze.make_list)
      .find("zeCommandListAppendMemoryCopy", ze.copy)
      .find("zeCommandListAppendMemoryCopyRegion", ze.copy_rows)
      .status();
}

bool deserted(void* library) {
  unsigned (*initialise)(std::uint32_t flags) = nullptr;
  return Functions(library).find("zeInit", initialise).status() && initialise(0) == kUninitialised;
}

Error error_of(const std::string& what, unsigned code) {
  return Error{"Level Zero cannot " + what + " (error " + std::to_string(code) + ")"};
}

// Creates a context for each driver; none if the program has not initialised Level Zero yet. Returns 0 or a driver's
// error code. The caller holds the lock.
unsigned make_contexts(State& all) {
  std::uint32_t count = 0;
  if (const unsigned code = ze.drivers(&count, nullptr); code != 0) return code == kUninitialised ? 0 : code;
  std::vector<void*> found(count);
  if (const unsigned code = ze.drivers(&count, found.data()); code != 0) return code;
  for (void* driver : found) {
    const ContextDescription description;
    void* context = nullptr;
    if (const unsigned code = ze.make_context(driver, &description, &context); code != 0) return code;
    all.contexts.push_back(context);
  }
  return 0;
}

Result<Place> place_of(const void* address) {
  State& all = state();
  const LockGuard guard(all.lock);
  if (all.contexts.empty()) {
    if (const unsigned code = make_contexts(all); code != 0) return error_of("make a context", code);
  }
  for (void* context : all.contexts) {
    MemoryProperties of;
    void* device = nullptr;
    if (const unsigned code = ze.memory_properties(context, address, &of, &device); code != 0) {
      return error_of("tell what kind of memory a buffer is", code);
    }
    if (of.type != kDeviceMemory) continue;
    for (Device& known : all.devices) {
      if (known.context == context && known.device == device) {
        return Place{&kLevelZero, reinterpret_cast<std::uint64_t>(&known)};
      }
    }
    const QueueDescription description;
    void* list = nullptr;
    if (const unsigned code = ze.make_list(context, device, &description, &list); code != 0) {
      return error_of("make a command list", code);
    }
    all.devices.push_back({context, device, list});
    return Place{&kLevelZero, reinterpret_cast<std::uint64_t>(&all.devices.back())};
  }
  return Place{};
}

unsigned copy_one(void* list, const Rows& rows, Direction direction) {
  const bool fetch = direction == Direction::fetch;
  void* const to = fetch ? rows.host : rows.device;
  const void* const from = fetch ? rows.device : rows.host;
  if (rows.count == 1) return ze.copy(list, to, from, rows.width, nullptr, 0, nullptr);
  const auto pitch = static_cast<std::uint32_t>(rows.pitch);
  const Region region = {0, 0, 0, static_cast<std::uint32_t>(rows.width), static_cast<std::uint32_t>(rows.count), 1};
  return ze.copy_rows(list, to, &region, pitch, 0, from, &region, pitch, 0, nullptr, 0, nullptr);
}

Status copy(const Place& place, std::span<const Rows> all, Direction direction) {
  const LockGuard guard(state().lock);
  void* const list = reinterpret_cast<const Device*>(place.context)->list;  // NOLINT(performance-no-int-to-ptr)
  for (const Rows& rows : all) {
    if (const unsigned code = copy_one(list, rows, direction); code != 0) {
      return error_of(direction == Direction::fetch ? "read a buffer" : "write a buffer", code);
    }
  }
  return Nothing{};
}

// Level Zero cannot register existing memory; only memory that the driver allocates is copied at full speed.
bool pin(const Place& /*place*/, void* /*pages*/, std::size_t /*bytes*/) { return false; }
void unpin(const Place& /*place*/, void* /*pages*/) {}

constexpr std::array<const char*, 3> kNodes = {"/dev/dri/renderD128", "/dev/accel/accel0", "/dev/dxg"};

}  // namespace

constinit const Driver kLevelZero = {"Level Zero", "libze_loader.so", kNodes, connect, deserted, place_of, copy, pin,
                                     unpin};

}  // namespace urakata::device
