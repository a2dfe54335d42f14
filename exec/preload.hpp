// Which of the preload libraries a program gets.
#pragma once

#include <string>

#include "linked_tools.hpp"
#include "program.hpp"

namespace urakata {

struct Preload {
  std::string library;    // path; empty: the program runs untouched
  std::string untouched;  // why, as one sentence with what to do
  std::string profile;    // path of what stands in front of the library for a report; empty: nothing does
  LinkedTools tools;      // stand in front of both
  bool follows = false;   // the program is no rank: the library follows it to one
};

// `libraries` is the folder with liburakata-*.so.
Preload choose_preload(const Program& program, const std::string& libraries);

// The folder with the preload libraries beside this program: ../lib/urakata. Empty where /proc is not to be had.
std::string library_folder();

// The program of this name in this program's own folder. Empty where /proc is not to be had.
std::string program_beside(const std::string& name);

// Puts linked tools, profile and library behind what the user preloads: tools loaded before us see us as the MPI library.
// An MPI library among what the user preloads stays behind ours.
void add_preload(const Preload& preload);

}  // namespace urakata
