// SPDX-License-Identifier: BSD-3-Clause
// HIP: libamdhip64.so.
#include <array>
#include <string>

#include "device/driver.hpp"
#include "device/functions.hpp"
#include "device/streamed.hpp"

namespace urakata::device {
namespace {

// hipError_t
constexpr int kInvalidValue = 1;
constexpr int kNotInitialised = 3;
constexpr int kDeinitialised = 4;
constexpr int kNoDevice = 100;

constexpr int kToDevice = 1;  // hipMemcpyKind
constexpr int kToHost = 2;

struct Attributes {  // hipPointerAttribute_t
  int type = 0;
  int device = 0;
  void* device_address = nullptr;
  void* host_address = nullptr;
  int managed = 0;
  unsigned flags = 0;
};

struct {
  int (*version)(int* version);
  int (*pointer_attributes)(Attributes* attributes, const void* address);
  int (*last_error)();
  int (*device)(int* device);
  int (*set_device)(int device);
  int (*make_stream)(void** stream, unsigned flags);
  int (*destroy_stream)(void* stream);
  int (*synchronise)(void* stream);
  int (*copy)(void* to, const void* from, std::size_t bytes, int kind, void* stream);
  int (*copy_rows)(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                   std::size_t height, int kind, void* stream);
  int (*pin)(void* pages, std::size_t bytes, unsigned flags);
  int (*unpin)(void* pages);
  const char* (*text)(int code);
} hip;

// hipMemoryTypeDevice; its number changed with version 6.
int device_memory = 2;

Status connect(void* library) {
  Status found = Functions(library)
                     .find("hipRuntimeGetVersion", hip.version)
                     .find("hipPointerGetAttributes", hip.pointer_attributes)
                     .find("hipGetLastError", hip.last_error)
                     .find("hipGetDevice", hip.device)
                     .find("hipSetDevice", hip.set_device)
                     .find("hipStreamCreateWithFlags", hip.make_stream)
                     .find("hipStreamDestroy", hip.destroy_stream)
                     .find("hipStreamSynchronize", hip.synchronise)
                     .find("hipMemcpyAsync", hip.copy)
                     .find("hipMemcpy2DAsync", hip.copy_rows)
                     .find("hipHostRegister", hip.pin)
                     .find("hipHostUnregister", hip.unpin)
                     .find("hipGetErrorString", hip.text)
                     .status();
  constexpr int kVersion6 = 60'000'000;
  int version = 0;
  if (found && hip.version(&version) == 0 && version < kVersion6) device_memory = 1;
  return found;
}

bool deserted(void* library) {
  int (*count)(int* devices) = nullptr;
  int devices = 0;
  if (!Functions(library).find("hipGetDeviceCount", count).status()) return false;
  const bool none = count(&devices) == kNoDevice;
  if (none) hip.last_error();
  return none;
}

Error error_of(const std::string& what, int code) {
  return Error{"HIP cannot " + what + ": " + hip.text(code) + " (" + std::to_string(code) + ")"};
}

Result<Place> place_of(const void* address) {
  Attributes of;
  const int code = hip.pointer_attributes(&of, address);
  if (code != 0) hip.last_error();  // clears the error, which the program would otherwise take for its own
  if (code == kInvalidValue || code == kNotInitialised || code == kDeinitialised || code == kNoDevice) return Place{};
  if (code != 0) return error_of("tell what kind of memory a buffer is", code);
  if (of.type != device_memory || of.managed != 0) return Place{};
  return Place{&kHip, static_cast<std::uint64_t>(of.device)};
}

// Makes a place's device current while the object lives.
class Current {
 public:
  explicit Current(const Place& place) : code_(hip.device(&before_)) {
    if (code_ == 0) code_ = hip.set_device(static_cast<int>(place.context));
  }
  ~Current() {
    if (code_ == 0) hip.set_device(before_);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  int code() const { return code_; }

 private:
  int before_ = 0;
  int code_;
};

int copy_one(const Rows& rows, Direction direction, void* stream) {
  const bool fetch = direction == Direction::fetch;
  void* const to = fetch ? rows.host : rows.device;
  const void* const from = fetch ? rows.device : rows.host;
  const int kind = fetch ? kToHost : kToDevice;
  if (rows.count == 1) return hip.copy(to, from, rows.width, kind, stream);
  return hip.copy_rows(to, rows.pitch, from, rows.pitch, rows.width, rows.count, kind, stream);
}

using Copies = Streamed<hip, Current, copy_one, error_of>;

constexpr std::array<const char*, 2> kNodes = {"/dev/kfd", "/dev/dxg"};

}  // namespace

constinit const Driver kHip = {"HIP",    "libamdhip64.so", kNodes,      connect,      deserted,
                               place_of, Copies::copy,     Copies::pin, Copies::unpin};

}  // namespace urakata::device
