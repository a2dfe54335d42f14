// SPDX-License-Identifier: BSD-3-Clause
#include "observe/python.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace urakata::observe {
namespace {

// The false interpreter of tests/programs. One for the process, as Python is.
class Python : public ::testing::Test {
 protected:
  static void* library() {
    static void* const loaded = dlopen(FALSE_PYTHON, RTLD_NOW | RTLD_GLOBAL);
    return loaded;
  }
  template <class T>
  static T& variable(const char* name) {
    return *static_cast<T*>(dlsym(library(), name));
  }
  static const void* place() { return reinterpret_cast<const void* (*)()>(dlsym(library(), "false_place"))(); }
  static int texts_held() { return reinterpret_cast<int (*)()>(dlsym(library(), "false_texts_held"))(); }
  static const PythonLine* look(int instruction, int line) {
    variable<int>("false_instruction") = instruction;
    variable<int>("false_line") = line;
    return python_line(place());
  }

  void SetUp() override { ASSERT_NE(library(), nullptr) << dlerror(); }
  void TearDown() override { EXPECT_EQ(variable<int>("false_gil"), 0); }

  // Code object and frame begin with their number of references.
  int& code_references() { return variable<int>("false_code"); }
};

TEST_F(Python, EachInstructionIsALineAndIsAskedForOnce) {
  const int references = code_references();
  const PythonLine* const first = look(10, 12);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->file, "/a/app.py");
  EXPECT_EQ(first->function, "Solver.step");
  EXPECT_EQ(first->line, 12);
  const PythonLine* const second = look(20, 13);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, first);
  EXPECT_EQ(second->line, 13);

  const int asked = variable<int>("false_asked");
  EXPECT_EQ(look(10, 12), first);
  EXPECT_EQ(look(20, 13), second);
  EXPECT_EQ(variable<int>("false_asked"), asked);
  EXPECT_EQ(code_references(), references + 2);  // one for each line, so that its address means no other code
  EXPECT_EQ(texts_held(), 0);
}

TEST_F(Python, TheGilIsNotTakenWhereItMustNotBe) {
  const int taken = variable<int>("false_taken");
  EXPECT_EQ(python_line(reinterpret_cast<const void*>(&python_line)), nullptr);  // no extension module
  EXPECT_EQ(python_line(nullptr), nullptr);
  variable<int>("false_is_thread") = 0;
  EXPECT_EQ(look(10, 12), nullptr);
  variable<int>("false_is_thread") = 1;
  variable<int>("false_ends") = 1;
  EXPECT_EQ(look(10, 12), nullptr);
  variable<int>("false_ends") = 0;
  EXPECT_EQ(variable<int>("false_taken"), taken);
  EXPECT_NE(look(10, 12), nullptr);
  EXPECT_EQ(variable<int>("false_taken"), taken + 1);
}

TEST_F(Python, NoFrameOrAnExceptionUnderWayIsNoLine) {
  void*& current = variable<void*>("false_current");
  void* const frame = current;
  current = nullptr;
  EXPECT_EQ(look(10, 12), nullptr);
  current = frame;
  variable<int>("false_exception") = 1;
  EXPECT_EQ(look(10, 12), nullptr);
  variable<int>("false_exception") = 0;
  EXPECT_NE(look(10, 12), nullptr);
}

TEST_F(Python, AnotherThreadsLineIsFoundWhileItIsInItsCall) {
  const int references = variable<int>("false_frame");
  variable<int>("false_instruction") = 30;
  variable<int>("false_line") = 17;
  ASSERT_TRUE(from_python(place()));
  const void* const thread = python_thread();
  ASSERT_NE(thread, nullptr);
  const auto found = [&](bool still) {
    int line = 0;
    const auto is_still = [&] {
      EXPECT_EQ(variable<int>("false_gil"), 1);  // while it is held the caller cannot go on
      return still;
    };
    find_python_line(thread, is_still, [&](const PythonLine& its) { line = its.line; });
    return line;
  };
  EXPECT_EQ(found(true), 17);
  EXPECT_EQ(found(false), 0);
  variable<int>("false_other_interpreter") = 1;
  EXPECT_EQ(found(true), 0);
  variable<int>("false_other_interpreter") = 0;
  variable<int>("false_ends") = 1;
  EXPECT_EQ(found(true), 0);
  variable<int>("false_ends") = 0;
  EXPECT_EQ(variable<int>("false_frame"), references);
}

TEST_F(Python, TooManyInstructionsHaveNoLineAndKeepNoCode) {
  for (int i = 0; i < 5000; ++i) look(1000 + i, i);
  const int references = code_references();
  EXPECT_EQ(look(1'000'000, 1), nullptr);
  EXPECT_EQ(code_references(), references);
  EXPECT_NE(look(1000, 0), nullptr);
}

}  // namespace
}  // namespace urakata::observe
