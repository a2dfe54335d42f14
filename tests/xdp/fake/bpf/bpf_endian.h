/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#define bpf_htons(value) __builtin_bswap16(value)
