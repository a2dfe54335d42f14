// urakata-stand-in: what urakata-exec --space becomes when its program runs in the space. One stays for every rank, so it
// is small: linked statically, and with as little memory as a process can have.
#include <sys/prctl.h>

#include <cstdio>

#include "space/stand_in.hpp"

int main() {
  prctl(PR_SET_NAME, "urakata-exec");  // as it was started
  if (urakata::space::stand_in_as_told()) return 0;
  std::fputs("urakata-stand-in is started by urakata-exec --space, and not by hand\n", stderr);
  return 2;
}
