// SPDX-License-Identifier: BSD-3-Clause
// Chooses the preload libraries for a program.
#pragma once

#include <string>

#include "linked_tools.hpp"
#include "program.hpp"

namespace urakata {

struct Preload {
  std::string library;    // path of the preload library; empty: the program runs untouched
  std::string untouched;  // reason why it runs untouched, with what to do, as one sentence
  std::string profile;    // path of the profile library, in front of `library`; empty: none
  LinkedTools tools;      // PMPI tools, in front of both
  bool follows = false;   // whether the program is no rank, but starts one
};

// `libraries` is the folder with liburakata-*.so.
Preload choose_preload(const Program& program, const std::string& libraries);

// The folder with the preload libraries beside this program: ../lib/urakata. Empty if /proc is not available.
std::string library_folder();

// The program of this name in this program's own folder. Empty if /proc is not available.
std::string program_beside(const std::string& name);

// Adds linked tools, profile library and preload library to LD_PRELOAD, behind the files that the user preloads: to
// tools in front, Urakata is the MPI library. An MPI library among the user's files stays behind Urakata's.
void add_preload(const Preload& preload);

}  // namespace urakata
