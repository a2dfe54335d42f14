// SPDX-License-Identifier: BSD-3-Clause
#include "observe/python.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "base/address_memory.hpp"
#include "base/mutex.hpp"
#include "base/program_file.hpp"

namespace urakata::observe {
namespace {

constexpr std::size_t kMostLines = 4096;  // each keeps a code object alive, and a program may make ever new ones

// The functions used of the interpreter's C interface. Its objects are void* here.
struct Interpreter {
  void* (*own_state)() = nullptr;  // the calling thread's, also without the GIL; nullptr: not a thread of Python's
  int (*finalizing)() = nullptr;
  int (*ensure)() = nullptr;
  void (*release)(int) = nullptr;
  void* (*error)() = nullptr;
  void (*clear_error)() = nullptr;
  void* (*frame)() = nullptr;  // a borrowed reference
  void* (*code)(void* frame) = nullptr;
  int (*instruction)(void* frame) = nullptr;
  int (*line)(void* frame) = nullptr;
  void* (*attribute)(void* object, const char* name) = nullptr;
  const char* (*utf8)(void* text) = nullptr;
  void (*drop)(void* object) = nullptr;
  bool complete = false;
  // For find_python_line().
  void* (*main)() = nullptr;
  void* (*interpreter_of)(void* thread) = nullptr;
  void* (*frame_of)(void* thread) = nullptr;  // a new reference
  bool sees_threads = false;

  Interpreter() {
    complete = find("PyGILState_GetThisThreadState", own_state) &&
               (find("Py_IsFinalizing", finalizing) || find("_Py_IsFinalizing", finalizing)) &&
               find("PyGILState_Ensure", ensure) && find("PyGILState_Release", release) &&
               find("PyErr_Occurred", error) && find("PyErr_Clear", clear_error) && find("PyEval_GetFrame", frame) &&
               find("PyFrame_GetCode", code) && find("PyFrame_GetLineNumber", line) &&
               (find("PyFrame_GetLasti", instruction) || find("PyFrame_GetLineNumber", instruction)) &&
               find("PyObject_GetAttrString", attribute) && find("PyUnicode_AsUTF8", utf8) && find("Py_DecRef", drop);
    // A build without a GIL has this function. Threads run there while others read their frames.
    const bool has_gil = dlsym(RTLD_DEFAULT, "PyUnstable_Module_SetGIL") == nullptr;
    sees_threads = complete && has_gil && find("PyInterpreterState_Main", main) &&
                   find("PyThreadState_GetInterpreter", interpreter_of) && find("PyThreadState_GetFrame", frame_of);
  }

  std::string text(void* object, const char* name) const {
    void* const value = attribute(object, name);
    const char* const found = value != nullptr ? utf8(value) : nullptr;
    std::string result = found != nullptr ? found : "?";
    if (found == nullptr) clear_error();
    if (value != nullptr) drop(value);
    return result;
  }

 private:
  template <class Function>
  static bool find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
    return function != nullptr;
  }
};

// Whether the address lies in a library MODULE.*.so with the function PyInit_MODULE, by which Python imports a module.
bool look_for_init(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return false;
  void* const module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (module == nullptr) return false;
  const std::string_view file = base_name(info.dli_fname);
  const std::string init = "PyInit_" + std::string(file.substr(0, file.find('.')));
  const bool found = dlsym(module, init.c_str()) != nullptr;
  dlclose(module);
  return found;
}

bool in_extension(const void* address) {
  static AddressMemory seen;
  return seen.ask(address, look_for_init);
}

// The lines seen. The code object of each is kept alive, so that no other one gets its address. A Python without a GIL
// lets several threads in at once, so there is a lock; nothing of Python is called while it is held.
class Lines {
 public:
  const PythonLine* at(const Interpreter& python, void* frame) {
    void* const code = python.code(frame);
    const Key key{code, python.instruction(frame)};
    const PythonLine* found = nullptr;
    bool full = false;
    {
      const LockGuard hold(lock_);
      const auto place = lines_.find(key);
      if (place != lines_.end()) found = &place->second;
      full = lines_.size() >= kMostLines;
    }
    bool added = false;
    if (found == nullptr && !full) {
      PythonLine line{python.text(code, "co_filename"), python.text(code, "co_qualname"), python.line(frame)};
      if (line.function == "?") line.function = python.text(code, "co_name");  // before Python 3.11
      const LockGuard hold(lock_);
      const auto [place, is_new] = lines_.try_emplace(key, std::move(line));
      found = &place->second;
      added = is_new;
    }
    if (!added) python.drop(code);
    return found;
  }

 private:
  using Key = std::pair<const void*, int>;  // code object, instruction
  Mutex lock_;
  std::map<Key, PythonLine> lines_ URAKATA_GUARDED_BY(lock_);
};

// First called when an extension module has made a call: the interpreter is loaded then.
const Interpreter& interpreter() {
  static const Interpreter python;
  return python;
}

Lines& known_lines() {
  static Lines& lines = *new Lines;  // never destroyed: the report is written late
  return lines;
}

}  // namespace

bool from_python(const void* address) { return in_extension(address); }

const void* python_thread() {
  const Interpreter& python = interpreter();
  return python.complete ? python.own_state() : nullptr;
}

// The thread's state is read with the GIL alone. CPython changes the list of states under a lock of its own
// (HEAD_LOCK), and PyThreadState_New() and PyThreadState_Delete() need no GIL, so the list is not looked at. What makes
// the state safe to read is that its thread is inside a call (`still`, asked with the GIL):
// - It exists. CPython takes a state away on its own thread (PyThreadState_DeleteCurrent, also for PyGILState_Release),
//   or after PyThreadState_Clear(); both need the GIL, which the thread takes when its call returns. So does the end of
//   the interpreter.
// - Its frames stay as they are. They change while Python code runs, which needs the GIL, too.
// Another interpreter of the process may have a GIL of its own (PEP 684): its threads have no line.
void find_python_line(const void* thread, const std::function<bool()>& still,
                      const std::function<void(const PythonLine&)>& found) {
  const Interpreter& python = interpreter();
  if (!python.sees_threads || thread == nullptr || python.finalizing() != 0) return;
  const int before = python.ensure();
  if (still() && python.interpreter_of(const_cast<void*>(thread)) == python.main()) {
    if (void* const frame = python.frame_of(const_cast<void*>(thread))) {
      if (const PythonLine* const line = known_lines().at(python, frame)) found(*line);
      python.drop(frame);
    }
  }
  python.release(before);
}

const PythonLine* python_line(const void* address) {
  if (!in_extension(address)) return nullptr;
  const Interpreter& python = interpreter();
  // An interpreter that is ending does not let a thread that asks for the GIL return.
  if (!python.complete || python.own_state() == nullptr || python.finalizing() != 0) return nullptr;
  const int before = python.ensure();
  const PythonLine* found = nullptr;
  if (python.error() == nullptr) {  // Python may not be asked while an exception is pending
    if (void* const frame = python.frame()) found = known_lines().at(python, frame);
  }
  python.release(before);
  return found;
}

}  // namespace urakata::observe
