// What a stand-in has to know, handed from urakata-exec to the program urakata-stand-in in its environment.
#pragma once

#include <sys/types.h>

namespace urakata::space {

struct Post {
  int socket = -1;       // to the keeper
  pid_t task = 0;        // whom it stands in for
  pid_t keeper = 0;      // as it sees itself
  int shared_group = 0;  // 1: the task is in the stand-in's own process group
  pid_t parent = 0;      // the launcher, where there is one
  int rank = -1;         // as the launcher says; -1: there is none
};

// The six numbers in this order, in decimal digits, each after the first behind one blank.
inline constexpr const char kPostVariable[] = "URAKATA_STAND_IN";

}  // namespace urakata::space
