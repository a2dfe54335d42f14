/* SPDX-License-Identifier: BSD-3-Clause */
// This machine's address, for sockets of a benchmark's own. Needs _GNU_SOURCE.
#ifndef URAKATA_BENCH_OWN_ADDRESS_H
#define URAKATA_BENCH_OWN_ADDRESS_H

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>

// The first IPv4 address of this machine that is up and no loopback; the loopback where there is none.
static inline in_addr_t own_address(void) {
  in_addr_t found = htonl(INADDR_LOOPBACK);
  struct ifaddrs* all;
  if (getifaddrs(&all) != 0) return found;
  for (const struct ifaddrs* i = all; i; i = i->ifa_next) {
    if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !(i->ifa_flags & IFF_UP)) continue;
    if (i->ifa_flags & IFF_LOOPBACK) continue;
    found = ((const struct sockaddr_in*)(const void*)i->ifa_addr)->sin_addr.s_addr;
    break;
  }
  freeifaddrs(all);
  return found;
}

#endif
