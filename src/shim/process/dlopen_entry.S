/* SPDX-License-Identifier: BSD-3-Clause */
// dlopen of the preload libraries: see devices.cpp.
#include "base/entry_point.inc"

	.text
	entry dlopen, urakata_before_dlopen

	.section .note.GNU-stack, "", %progbits
