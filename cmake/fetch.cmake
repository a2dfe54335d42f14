# SPDX-License-Identifier: BSD-3-Clause
# cmake -DFILE=F -DSHA256=S -DADDRESSES=A[,A...] -P fetch.cmake: F from the first of these addresses that has just this.
string(REPLACE "," ";" addresses "${ADDRESSES}")
foreach(address ${addresses})
  file(DOWNLOAD ${address} ${FILE} TIMEOUT 120 STATUS status)
  list(GET status 1 reason)
  file(SHA256 ${FILE} found)
  if(found STREQUAL SHA256)
    return()
  endif()
  string(APPEND failures "\n  ${address}: ${reason}, SHA-256 ${found}; ${SHA256} is wanted")
endforeach()
message(FATAL_ERROR "cannot fetch ${FILE}:${failures}")
