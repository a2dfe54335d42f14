// SPDX-License-Identifier: BSD-3-Clause
/* A false driver: libcuda, libamdhip64 or libze_loader (FACE) with a device whose memory the processor cannot touch. An
 * address of it has no access rights; the bytes lie in a second mapping that only the copy functions know. Copies to a
 * stream happen when it is synchronised and not before; a copy in another context than the memory's fails. What the
 * program itself writes there (cudaMemcpy, from memory that is not pinned) goes by the default stream of CUDA and HIP
 * and may be under way when that returns: it is there when the program reads, or when a stream that waits for the
 * default one is synchronised, and not before. DESERTED: it finds no device when it is initialised, and tells nothing.
 * */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CUDA 1
#define HIP 2
#define LEVEL_ZERO 3

enum { MOST = 4096, QUEUE = 8192 };
enum { FAILED = 700 };

struct memory {
  char* address; /* NULL: free */
  char* bytes;   /* where they are */
  size_t size;
  int owner; /* its context or device */
  int managed;
};
static struct memory memories[MOST];
static struct copy {
  void* to;
  const void* from;
  size_t width, rows, pitch;
  int context;
} queue[QUEUE];
static int queued;
static struct write {
  char* to; /* the bytes' place */
  char* bytes;
  size_t size;
  int context;
} writes[QUEUE];
static int written;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int current;
#ifdef DESERTED
static int mute = 1, broken;
#else
static int mute, broken;
#endif
static long bytes_copied, pins, wrong_context;

static struct memory* find(const void* address) {
  for (int i = 0; i < MOST; ++i) {
    const char* at = memories[i].address;
    if (at != NULL && (const char*)address >= at && (const char*)address < at + memories[i].size) return &memories[i];
  }
  return NULL;
}

/* What was written by the default stream of the context arrives; of 0, of all. */
static void land(int context) {
  int kept = 0;
  for (int i = 0; i < written; ++i) {
    if (context != 0 && writes[i].context != context) {
      writes[kept++] = writes[i];
      continue;
    }
    memcpy(writes[i].to, writes[i].bytes, writes[i].size);
    free(writes[i].bytes);
  }
  written = kept;
}

/* What the test's program calls. */
__attribute__((visibility("default"))) void* false_make(size_t size, int owner, int managed) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t mapped = (size + page) / page * page;
  const int file = memfd_create("device", 0);
  if (file < 0 || ftruncate(file, (off_t)mapped) != 0) abort();
  char* bytes = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  char* address = mmap(NULL, mapped, managed ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_SHARED, file, 0);
  close(file);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST; ++i) {
    if (memories[i].address != NULL) continue;
    memories[i] = (struct memory){address, bytes, mapped, owner, managed};
    pthread_mutex_unlock(&lock);
    return address;
  }
  abort();
}
/* The addresses stay, as memory of the processor's, where `reuse` says so. */
__attribute__((visibility("default"))) void false_free(void* address, int reuse) {
  pthread_mutex_lock(&lock);
  land(0);
  struct memory* of = find(address);
  munmap(of->bytes, of->size);
  if (reuse) {
    mmap(of->address, of->size, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  } else {
    munmap(of->address, of->size);
  }
  of->address = NULL;
  pthread_mutex_unlock(&lock);
}
__attribute__((visibility("default"))) void false_write(void* to, const void* from, size_t size) {
  pthread_mutex_lock(&lock);
  struct memory* of = find(to);
  if (written == QUEUE) land(0);
  char* bytes = malloc(size + 1);
  memcpy(bytes, from, size);
  writes[written++] = (struct write){of->bytes + ((char*)to - of->address), bytes, size, of->owner};
  if (FACE == LEVEL_ZERO || of->managed) land(0);
  pthread_mutex_unlock(&lock);
}
__attribute__((visibility("default"))) void false_read(void* to, const void* from, size_t size) {
  pthread_mutex_lock(&lock);
  land(0);
  struct memory* of = find(from);
  memcpy(to, of->bytes + ((const char*)from - of->address), size);
  pthread_mutex_unlock(&lock);
}
__attribute__((visibility("default"))) void false_use(int context) { current = context; }
__attribute__((visibility("default"))) int false_used(void) { return current; }
__attribute__((visibility("default"))) void false_mute(int on) { mute = on; }
__attribute__((visibility("default"))) void false_break(int on) { broken = on; }
__attribute__((visibility("default"))) long false_copied(void) { return bytes_copied; }
__attribute__((visibility("default"))) long false_wrong(void) { return wrong_context; }
__attribute__((visibility("default"))) long false_pins(void) { return pins; }

static char* reachable(const void* address) {
  struct memory* of = find(address);
  return of != NULL ? of->bytes + ((const char*)address - of->address) : (char*)address;
}

static void run(const struct copy* one) {
  char* to = reachable(one->to);
  const char* from = reachable(one->from);
  for (size_t row = 0; row < one->rows; ++row) memcpy(to + row * one->pitch, from + row * one->pitch, one->width);
  bytes_copied += (long)(one->rows * one->width);
}

/* One end must be the device's, of this context. */
static int enqueue(void* to, const void* from, size_t width, size_t rows, size_t pitch, int context) {
  if (broken) return FAILED;
  pthread_mutex_lock(&lock);
  const struct memory* of = find(to) != NULL ? find(to) : find(from);
  int code = 0;
  if (of == NULL || queued == QUEUE) code = 1;
  if (of != NULL && of->owner != context) {
    ++wrong_context;
    code = 201;
  }
  if (code == 0) queue[queued++] = (struct copy){to, from, width, rows, pitch, context};
  pthread_mutex_unlock(&lock);
  return code;
}

static int synchronise(int context, int waits_for_default) {
  pthread_mutex_lock(&lock);
  if (waits_for_default) land(context);
  int kept = 0;
  for (int i = 0; i < queued; ++i) {
    if (queue[i].context == context) {
      run(&queue[i]);
    } else {
      queue[kept++] = queue[i];
    }
  }
  queued = kept;
  pthread_mutex_unlock(&lock);
  return 0;
}

#define API __attribute__((visibility("default")))

#if FACE == CUDA
/* A context is its number; a stream is its context's number, and has a bit if it waits for the default one. */
enum { BLOCKING = 1 << 8 };
static int context_of(const void* stream) { return (int)(intptr_t)stream & ~BLOCKING; }
static _Thread_local int stack[16];
static _Thread_local int depth;

API int cuPointerGetAttributes(unsigned count, int* attributes, void** data, unsigned long long address) {
  if (mute) return 999;
  pthread_mutex_lock(&lock);
  const struct memory* of = find((void*)(uintptr_t)address);
  for (unsigned i = 0; i < count; ++i) {
    switch (attributes[i]) {
      case 1:
        *(void**)data[i] = of != NULL ? (void*)(intptr_t)of->owner : NULL;
        break;
      case 2:
        *(unsigned*)data[i] = of != NULL ? 2 : 0;
        break;
      case 8:
        *(unsigned*)data[i] = of != NULL && of->managed;
        break;
      default:
        *(int*)data[i] = 0;
    }
  }
  pthread_mutex_unlock(&lock);
  return 0;
}
API int cuCtxPushCurrent_v2(void* context) {
  stack[depth++] = current;
  current = (int)(intptr_t)context;
  return 0;
}
API int cuCtxPopCurrent_v2(void** context) {
  *context = (void*)(intptr_t)current;
  current = stack[--depth];
  return 0;
}
API int cuDevicePrimaryCtxRetain(void** context, int device) {
  (void)context, (void)device;
  return 1;
}
API int cuStreamCreate(void** stream, unsigned flags) {
  if (flags > 1) return 1;
  *stream = (void*)(intptr_t)(flags == 0 ? current | BLOCKING : current);
  return 0;
}
API int cuStreamDestroy_v2(void* stream) { return context_of(stream) == current ? 0 : 400; }
API int cuStreamSynchronize(void* stream) {
  return context_of(stream) == current ? synchronise(current, ((intptr_t)stream & BLOCKING) != 0) : 400;
}
API int cuMemcpyDtoHAsync_v2(void* host, unsigned long long device, size_t bytes, void* stream) {
  return context_of(stream) == current ? enqueue(host, (void*)(uintptr_t)device, bytes, 1, 0, current) : 400;
}
API int cuMemcpyHtoDAsync_v2(unsigned long long device, const void* host, size_t bytes, void* stream) {
  return context_of(stream) == current ? enqueue((void*)(uintptr_t)device, host, bytes, 1, 0, current) : 400;
}
struct copy2d {
  size_t sx, sy;
  unsigned stype;
  const void* shost;
  unsigned long long sdevice;
  void* sarray;
  size_t spitch, tx, ty;
  unsigned ttype;
  void* thost;
  unsigned long long tdevice;
  void* tarray;
  size_t tpitch, width, height;
};
API int cuMemcpy2DAsync_v2(const struct copy2d* c, void* stream) {
  if (context_of(stream) != current) return 400;
  void* to = c->ttype == 1 ? c->thost : (void*)(uintptr_t)c->tdevice;
  const void* from = c->stype == 1 ? c->shost : (void*)(uintptr_t)c->sdevice;
  return c->spitch == c->tpitch ? enqueue(to, from, c->width, c->height, c->spitch, current) : 1;
}
API int cuMemHostRegister_v2(void* pages, size_t bytes, unsigned flags) {
  (void)pages, (void)bytes, (void)flags;
  ++pins;
  return 0;
}
API int cuMemHostUnregister(void* pages) { return pages == NULL; }
API int cuGetErrorString(int code, const char** text) {
  *text = code == FAILED ? "the false device is broken" : "a false error";
  return 0;
}
#endif

#if FACE == HIP
struct attributes {
  int type, device;
  void *device_address, *host_address;
  int managed;
  unsigned flags;
};
static _Thread_local int last_error;
API int hipRuntimeGetVersion(int* version) {
  *version = 60300000;
  return 0;
}
API int hipPointerGetAttributes(struct attributes* out, const void* address) {
  if (mute) return last_error = 999;
  pthread_mutex_lock(&lock);
  const struct memory* of = find(address);
  pthread_mutex_unlock(&lock);
  if (of == NULL) return last_error = 1;
  *out = (struct attributes){of->managed ? 3 : 2, of->owner, (void*)address, NULL, of->managed, 0};
  return 0;
}
API int hipGetLastError(void) {
  const int code = last_error;
  last_error = 0;
  return code;
}
API int hipGetDevice(int* device) {
  *device = current;
  return 0;
}
API int hipSetDevice(int device) {
  current = device;
  return 0;
}
/* A stream is its device's number and 1, and has a bit if it waits for the default one. */
enum { BLOCKING = 1 << 8 };
static int device_of(const void* stream) { return ((int)(intptr_t)stream & ~BLOCKING) - 1; }
API int hipStreamCreateWithFlags(void** stream, unsigned flags) {
  if (flags > 1) return 1;
  *stream = (void*)(intptr_t)(flags == 0 ? (current + 1) | BLOCKING : current + 1);
  return 0;
}
API int hipStreamDestroy(void* stream) { return device_of(stream) == current ? 0 : 400; }
API int hipStreamSynchronize(void* stream) {
  return synchronise(device_of(stream), ((intptr_t)stream & BLOCKING) != 0);
}
API int hipMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void* stream) {
  (void)kind;
  return enqueue(to, from, bytes, 1, 0, device_of(stream));
}
API int hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         int kind, void* stream) {
  (void)kind;
  return to_pitch == from_pitch ? enqueue(to, from, width, height, to_pitch, device_of(stream)) : 1;
}
API int hipHostRegister(void* pages, size_t bytes, unsigned flags) {
  (void)pages, (void)bytes, (void)flags;
  ++pins;
  return 0;
}
API int hipHostUnregister(void* pages) { return pages == NULL; }
API const char* hipGetErrorString(int code) { return code == FAILED ? "the false device is broken" : "a false error"; }
#endif

#if FACE == LEVEL_ZERO
struct properties {
  unsigned structure;
  void* next;
  unsigned type;
  uint64_t id, page;
};
struct region {
  uint32_t x, y, z, width, height, depth;
};
API unsigned zeDriverGet(uint32_t* count, void** drivers) {
  if (drivers != NULL) drivers[0] = (void*)1;
  *count = 1;
  return 0;
}
API unsigned zeContextCreate(void* driver, const void* description, void** context) {
  if (driver != (void*)1 || *(const unsigned*)description != 0xd) return 1;
  *context = (void*)2;
  return 0;
}
API unsigned zeMemGetAllocProperties(void* context, const void* address, struct properties* out, void** device) {
  if (mute || context != (void*)2 || out->structure != 0x17) return 0x7ffffffe;
  pthread_mutex_lock(&lock);
  const struct memory* of = find(address);
  out->type = of == NULL ? 0 : of->managed ? 3 : 2;
  *device = of == NULL ? NULL : (void*)(intptr_t)(of->owner + 1);
  pthread_mutex_unlock(&lock);
  return 0;
}
API unsigned zeCommandListCreateImmediate(void* context, void* device, const void* description, void** list) {
  if (context != (void*)2 || *(const unsigned*)description != 0xe) return 1;
  *list = device;
  return 0;
}
API unsigned zeCommandListAppendMemoryCopyRegion(void* list, void* to, const struct region* to_region,
                                                 uint32_t to_pitch, uint32_t to_slice, const void* from,
                                                 const struct region* from_region, uint32_t from_pitch,
                                                 uint32_t from_slice, void* signal, uint32_t waits, void** events) {
  (void)to_slice, (void)from_region, (void)from_slice, (void)signal, (void)waits, (void)events;
  const int device = (int)(intptr_t)list - 1;
  if (to_pitch != from_pitch) return 1;
  const int code = enqueue(to, from, to_region->width, to_region->height, to_pitch, device);
  return code != 0 ? (unsigned)code : (unsigned)synchronise(device, 0);
}
API unsigned zeCommandListAppendMemoryCopy(void* list, void* to, const void* from, size_t bytes, void* signal,
                                           uint32_t waits, void** events) {
  const struct region all = {0, 0, 0, (uint32_t)bytes, 1, 1};
  return zeCommandListAppendMemoryCopyRegion(list, to, &all, 0, 0, from, &all, 0, 0, signal, waits, events);
}
#endif

#ifdef DESERTED
API int cuInit(unsigned flags) { return flags == 0 ? 100 : 1; }
API int hipGetDeviceCount(int* count) {
  *count = 0;
  return 100;
}
API unsigned zeInit(uint32_t flags) { return flags == 0 ? 0x78000001 : 1; }
#endif
