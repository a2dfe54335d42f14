// SPDX-License-Identifier: BSD-3-Clause
// The false driver of tests/programs, loaded into this process as a driver's library.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <string>

namespace urakata::test {

struct FalseLibrary {
  explicit FalseLibrary(const std::string& file) : library(dlopen(file.c_str(), RTLD_NOW)) {
    find("false_make", make);
    find("false_free", free);
    find("false_write", write);
    find("false_read", read);
    find("false_use", use);
    find("false_used", used);
    find("false_mute", mute);
    find("false_break", fail);
    find("false_copied", copied);
    find("false_wrong", wrong);
    find("false_pins", pins);
  }

  void* library;
  void* (*make)(std::size_t size, int owner, int managed) = nullptr;
  void (*free)(void* address, int reuse) = nullptr;
  void (*write)(void* to, const void* from, std::size_t size) = nullptr;
  void (*read)(void* to, const void* from, std::size_t size) = nullptr;
  void (*use)(int context) = nullptr;
  int (*used)() = nullptr;
  void (*mute)(int on) = nullptr;
  void (*fail)(int on) = nullptr;
  long (*copied)() = nullptr;
  long (*wrong)() = nullptr;
  long (*pins)() = nullptr;

 private:
  template <class F>
  void find(const char* name, F*& function) {
    if (library != nullptr) function = reinterpret_cast<F*>(dlsym(library, name));
  }
};

}  // namespace urakata::test
