// Entry points of liburakata-late.so. Each asks a C++ function where to go, handing it its own two arguments and the
// caller's address, and jumps there with registers and stack as they were: the C library tells by the return address on
// whose behalf it works.
#if defined(__x86_64__)

.macro entry name, ask
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	endbr64
	pushq %rdi
	.cfi_adjust_cfa_offset 8
	pushq %rsi
	.cfi_adjust_cfa_offset 8
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	movq 24(%rsp), %rdx
	call \ask
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	popq %rsi
	.cfi_adjust_cfa_offset -8
	popq %rdi
	.cfi_adjust_cfa_offset -8
	jmp *%rax
	.cfi_endproc
	.size \name, . - \name
.endm

#elif defined(__aarch64__)

.macro entry name, ask
	.globl \name
	.type \name, %function
\name:
	.cfi_startproc
	stp x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov x29, sp
	stp x0, x1, [sp, #16]
	mov x2, x30
	bl \ask
	mov x16, x0
	ldp x0, x1, [sp, #16]
	ldp x29, x30, [sp], #32
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	br x16
	.cfi_endproc
	.size \name, . - \name
.endm

#else
#error "write this machine's entry points"
#endif

	.text
	entry dlopen, urakata_before_dlopen
	entry dlsym, urakata_before_dlsym

	.section .note.GNU-stack, "", %progbits
