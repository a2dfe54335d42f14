// SPDX-License-Identifier: BSD-3-Clause
/* What device_buffers.h asks of a driver, by the one that is installed: libcuda.so.1 and its first device, with two
 * contexts for buffers and a third that is none of theirs. `real_cuda` as a program says why there is none, and ends
 * with 77. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define API __attribute__((visibility("default")))
typedef unsigned long long address; /* CUdeviceptr */

static int (*init)(unsigned);
static int (*device_get)(int*, int);
static int (*context_create)(void**, unsigned, int);
static int (*context_set)(void*);
static int (*context_get)(void**);
static int (*context_push)(void*);
static int (*context_pop)(void**);
static int (*allocate)(address*, size_t);
static int (*allocate_managed)(address*, size_t, unsigned);
static int (*release)(address);
static int (*to_device)(address, const void*, size_t);
static int (*from_device)(void*, address, size_t);
static int (*attribute)(void*, int, address);

static void* contexts[3]; /* of buffers: 1 and 2; of nobody: 7 */
static int device;

static const char* why_not(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) return "libcuda.so.1 is not installed";
  struct {
    const char* name;
    void* place;
  } functions[] = {{"cuInit", &init},
                   {"cuDeviceGet", &device_get},
                   {"cuCtxCreate_v2", &context_create},
                   {"cuCtxSetCurrent", &context_set},
                   {"cuCtxGetCurrent", &context_get},
                   {"cuCtxPushCurrent_v2", &context_push},
                   {"cuCtxPopCurrent_v2", &context_pop},
                   {"cuMemAlloc_v2", &allocate},
                   {"cuMemAllocManaged", &allocate_managed},
                   {"cuMemFree_v2", &release},
                   {"cuMemcpyHtoD_v2", &to_device},
                   {"cuMemcpyDtoH_v2", &from_device},
                   {"cuPointerGetAttribute", &attribute}};
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
    *(void**)functions[i].place = dlsym(library, functions[i].name);
    if (*(void**)functions[i].place == NULL) return functions[i].name;
  }
  if (init(0) != 0) return "libcuda.so.1 finds no device";
  return device_get(&device, 0) == 0 ? NULL : "there is no first device";
}

static void must(int code, const char* what) {
  if (code == 0) return;
  fprintf(stderr, "%s: CUDA error %d\n", what, code);
  exit(3);
}

static void* context_of(int number) { return contexts[number == 7 ? 2 : number - 1]; }

__attribute__((constructor)) static void begin(void) {
#ifndef PROGRAM
  const char* why = why_not();
  if (why != NULL) {
    fprintf(stderr, "%s\n", why);
    exit(3);
  }
  for (int i = 0; i < 3; ++i) must(context_create(&contexts[i], 0, device), "cuCtxCreate");
#endif
}

/* For copies one of the buffer's own contexts is current. */
static void enter_owner(address of) {
  void* context = NULL;
  must(attribute(&context, 1, of), "cuPointerGetAttribute");
  must(context_push(context), "cuCtxPushCurrent");
}
static void leave(void) {
  void* context;
  must(context_pop(&context), "cuCtxPopCurrent");
}

API void* false_make(size_t size, int owner, int managed) {
  address made = 0;
  must(context_push(context_of(owner)), "cuCtxPushCurrent");
  must(managed ? allocate_managed(&made, size + 1, 1) : allocate(&made, size + 1), "cuMemAlloc");
  leave();
  return (void*)made;
}
API void false_free(void* at, int reuse) {
  (void)reuse;
  enter_owner((address)at);
  must(release((address)at), "cuMemFree");
  leave();
}
API void false_write(void* to, const void* from, size_t size) {
  if (size == 0) return;
  enter_owner((address)to);
  must(to_device((address)to, from, size), "cuMemcpyHtoD");
  leave();
}
API void false_read(void* to, const void* from, size_t size) {
  if (size == 0) return;
  enter_owner((address)from);
  must(from_device(to, (address)from, size), "cuMemcpyDtoH");
  leave();
}
API void false_use(int number) { must(context_set(context_of(number)), "cuCtxSetCurrent"); }
API int false_used(void) {
  void* now = NULL;
  must(context_get(&now), "cuCtxGetCurrent");
  return now == contexts[2] ? 7 : now == contexts[0] ? 1 : now == contexts[1] ? 2 : 0;
}
API void false_mute(int on) { (void)on; }
API void false_break(int on) { (void)on; }
API long false_copied(void) { return 1; } /* it does not tell; what was not copied is seen in the bytes */
API long false_wrong(void) { return 0; }  /* an error of its own */

#ifdef PROGRAM
int main(void) {
  const char* why = why_not();
  if (why != NULL) printf("%s\n", why);
  return why != NULL ? 77 : 0;
}
#endif
