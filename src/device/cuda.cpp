// SPDX-License-Identifier: BSD-3-Clause
// CUDA through its driver interface, libcuda.so.1, on which cudart and the bindings of all languages rest.
#include <array>
#include <string>

#include "device/driver.hpp"
#include "device/functions.hpp"
#include "device/streamed.hpp"

namespace urakata::device {
namespace {

// CUresult
constexpr int kInvalidValue = 1;
constexpr int kNotInitialised = 3;
constexpr int kDeinitialised = 4;
constexpr int kNoDevice = 100;

// CUpointer_attribute
constexpr int kContext = 1;
constexpr int kMemoryType = 2;
constexpr int kIsManaged = 8;
constexpr int kDeviceOrdinal = 9;

// CUmemorytype
constexpr unsigned kHostMemory = 1;
constexpr unsigned kDeviceMemory = 2;

using Address = unsigned long long;  // CUdeviceptr

struct Copy2D {  // CUDA_MEMCPY2D
  std::size_t source_x = 0;
  std::size_t source_y = 0;
  unsigned source_type = 0;
  const void* source_host = nullptr;
  Address source_device = 0;
  void* source_array = nullptr;
  std::size_t source_pitch = 0;
  std::size_t target_x = 0;
  std::size_t target_y = 0;
  unsigned target_type = 0;
  void* target_host = nullptr;
  Address target_device = 0;
  void* target_array = nullptr;
  std::size_t target_pitch = 0;
  std::size_t width = 0;
  std::size_t height = 0;
};

struct {
  int (*pointer_attributes)(unsigned count, int* attributes, void** data, Address address);
  int (*push)(void* context);
  int (*pop)(void** context);
  int (*retain_primary)(void** context, int device);
  int (*make_stream)(void** stream, unsigned flags);
  int (*destroy_stream)(void* stream);
  int (*synchronise)(void* stream);
  int (*fetch)(void* host, Address device, std::size_t bytes, void* stream);
  int (*store)(Address device, const void* host, std::size_t bytes, void* stream);
  int (*copy_rows)(const Copy2D* copy, void* stream);
  int (*pin)(void* pages, std::size_t bytes, unsigned flags);
  int (*unpin)(void* pages);
  int (*text)(int code, const char** text);
} cuda;

Status connect(void* library) {
  return Functions(library)
      .find("cuPointerGetAttributes", cuda.pointer_attributes)
      .find("cuCtxPushCurrent_v2", cuda.push)
      .find("cuCtxPopCurrent_v2", cuda.pop)
      .find("cuDevicePrimaryCtxRetain", cuda.retain_primary)
      .find("cuStreamCreate", cuda.make_stream)
      .find("cuStreamDestroy_v2", cuda.destroy_stream)
      .find("cuStreamSynchronize", cuda.synchronise)
      .find("cuMemcpyDtoHAsync_v2", cuda.fetch)
      .find("cuMemcpyHtoDAsync_v2", cuda.store)
      .find("cuMemcpy2DAsync_v2", cuda.copy_rows)
      .find("cuMemHostRegister_v2", cuda.pin)
      .find("cuMemHostUnregister", cuda.unpin)
      .find("cuGetErrorString", cuda.text)
      .status();
}

bool deserted(void* library) {
  int (*initialise)(unsigned flags) = nullptr;
  return Functions(library).find("cuInit", initialise).status() && initialise(0) == kNoDevice;
}

Error error_of(const std::string& what, int code) {
  const char* text = nullptr;
  cuda.text(code, &text);
  return Error{"CUDA cannot " + what + ": " + (text != nullptr ? text : "unknown error") + " (" + std::to_string(code) +
               ")"};
}

Result<Place> place_of(const void* address) {
  unsigned type = 0;
  unsigned managed = 0;
  void* context = nullptr;
  int device = 0;
  std::array<int, 4> attributes = {kMemoryType, kIsManaged, kContext, kDeviceOrdinal};
  std::array<void*, 4> data = {&type, &managed, &context, &device};
  const int code = cuda.pointer_attributes(static_cast<unsigned>(attributes.size()), attributes.data(), data.data(),
                                           reinterpret_cast<Address>(address));
  if (code == kInvalidValue || code == kNotInitialised || code == kDeinitialised || code == kNoDevice) return Place{};
  if (code != 0) return error_of("tell what kind of memory a buffer is", code);
  if (type != kDeviceMemory || managed != 0) return Place{};
  // Memory of a pool belongs to a device and to no context.
  if (context == nullptr) {
    if (const int got = cuda.retain_primary(&context, device); got != 0) return error_of("use a device's context", got);
  }
  return Place{&kCuda, reinterpret_cast<std::uint64_t>(context)};
}

// Makes a place's context current while the object lives.
class Current {
 public:
  explicit Current(const Place& place)
      : code_(cuda.push(reinterpret_cast<void*>(place.context))) {}  // NOLINT(performance-no-int-to-ptr)
  ~Current() {
    void* before = nullptr;
    if (code_ == 0) cuda.pop(&before);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  int code() const { return code_; }

 private:
  int code_;
};

int copy_one(const Rows& rows, Direction direction, void* stream) {
  const auto device = reinterpret_cast<Address>(rows.device);
  if (rows.count == 1) {
    return direction == Direction::fetch ? cuda.fetch(rows.host, device, rows.width, stream)
                                         : cuda.store(device, rows.host, rows.width, stream);
  }
  Copy2D copy;
  copy.source_pitch = copy.target_pitch = rows.pitch;
  copy.width = rows.width;
  copy.height = rows.count;
  if (direction == Direction::fetch) {
    copy.source_type = kDeviceMemory;
    copy.source_device = device;
    copy.target_type = kHostMemory;
    copy.target_host = rows.host;
  } else {
    copy.source_type = kHostMemory;
    copy.source_host = rows.host;
    copy.target_type = kDeviceMemory;
    copy.target_device = device;
  }
  return cuda.copy_rows(&copy, stream);
}

using Copies = Streamed<cuda, Current, copy_one, error_of>;

constexpr std::array<const char*, 4> kNodes = {"/dev/nvidiactl", "/dev/nvmap", "/dev/nvgpu", "/dev/dxg"};

}  // namespace

constinit const Driver kCuda = {"CUDA",   "libcuda.so", kNodes,      connect,      deserted,
                                place_of, Copies::copy, Copies::pin, Copies::unpin};

}  // namespace urakata::device
