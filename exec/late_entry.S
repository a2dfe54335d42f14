/* SPDX-License-Identifier: BSD-3-Clause */
// Entry points of liburakata-late.so.
#include "base/entry_point.inc"

	.text
	entry dlopen, urakata_before_dlopen
	entry dlsym, urakata_before_dlsym

	.section .note.GNU-stack, "", %progbits
