// SPDX-License-Identifier: BSD-3-Clause
/* A false Python: the interpreter and an extension module of it in one. Its objects count their references; what may
 * only be asked with the GIL ends the program without it. */
#include <stdlib.h>
#include <string.h>

#define SEEN __attribute__((visibility("default")))

struct object {
  int references;
  const char* text; /* of a string */
};

/* What the test's program sets and reads. */
SEEN struct object false_code = {1, NULL}, false_frame = {1, NULL};
SEEN struct object* false_current = &false_frame; /* NULL: no Python code is running */
SEEN int false_instruction, false_line, false_is_thread = 1, false_ends, false_exception;
SEEN int false_taken, false_asked; /* the GIL, attributes: how often */
SEEN int false_gil;                /* how often it is held now */

static struct object texts[] = {{1, "/a/app.py"}, {1, "Solver.step"}};

static void* with_gil(void* result) {
  if (false_gil == 0) abort();
  return result;
}

SEEN void* PyInit_false_python(void) { return NULL; }
/* An address inside this module. */
SEEN const void* false_place(void) { return (const char*)(void*)&PyInit_false_python + 1; }

SEEN void* PyGILState_GetThisThreadState(void) { return false_is_thread ? &texts : NULL; }
SEEN int Py_IsFinalizing(void) { return false_ends; }
SEEN int PyGILState_Ensure(void) {
  ++false_taken;
  return false_gil++ == 0;
}
SEEN void PyGILState_Release(int was_free) {
  if (--false_gil != !was_free) abort();
}
SEEN void* PyErr_Occurred(void) { return with_gil(false_exception ? texts : NULL); }
SEEN void PyErr_Clear(void) { with_gil(NULL); }
SEEN void* PyEval_GetFrame(void) { return with_gil(false_current); }
/* Another thread's frame is given, not lent. */
SEEN int false_other_interpreter; /* the thread's */
SEEN void* PyInterpreterState_Main(void) { return texts; }
SEEN void* PyThreadState_GetInterpreter(void* thread) {
  return with_gil(thread == texts && !false_other_interpreter ? texts : NULL);
}
/* CPython changes the list of threads under a lock that is not the GIL. */
SEEN void* PyInterpreterState_ThreadHead(void* interpreter) {
  (void)interpreter;
  abort();
}
SEEN void* PyThreadState_GetFrame(void* thread) {
  if (thread == texts && false_current != NULL) ++false_current->references;
  return with_gil(thread == texts ? false_current : NULL);
}
SEEN void* PyFrame_GetCode(void* frame) {
  ++false_code.references;
  return with_gil(frame == &false_frame ? &false_code : NULL);
}
SEEN int PyFrame_GetLasti(void* frame) { return with_gil(frame) == &false_frame ? false_instruction : -1; }
SEEN int PyFrame_GetLineNumber(void* frame) { return with_gil(frame) == &false_frame ? false_line : -1; }
/* As before Python 3.11: without co_qualname. */
SEEN void* PyObject_GetAttrString(void* object, const char* name) {
  ++false_asked;
  struct object* found = strcmp(name, "co_filename") == 0 ? &texts[0] : strcmp(name, "co_name") == 0 ? &texts[1] : NULL;
  if (found != NULL) ++found->references;
  return with_gil(object == &false_code ? found : NULL);
}
SEEN const char* PyUnicode_AsUTF8(void* text) { return ((struct object*)with_gil(text))->text; }
SEEN void Py_DecRef(void* object) { --((struct object*)with_gil(object))->references; }
/* Of the strings, beyond their own. */
SEEN int false_texts_held(void) { return texts[0].references + texts[1].references - 2; }
