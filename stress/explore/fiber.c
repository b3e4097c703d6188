/* The switch of fiber.h. */
#define _GNU_SOURCE /* MAP_STACK */
#include "fiber.h"

#include "sanitized.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define GUARD_BYTES 4096

static struct fiber *left, *entered;

static void
before_switch(struct fiber *from, struct fiber *to)
{
    left = from;
    entered = to;
#if defined(EXPLORE_SANITIZED)
    const void *bottom = to->stack != NULL ? to->stack : to->sanitizer_bottom;
    size_t bytes = to->stack != NULL ? FIBER_STACK_BYTES : to->sanitizer_bytes;

    __sanitizer_start_switch_fiber(&from->sanitizer_fake, bottom, bytes);
#endif
}

static void
after_switch(void)
{
#if defined(EXPLORE_SANITIZED)
    const void *bottom;
    size_t bytes;

    __sanitizer_finish_switch_fiber(entered->sanitizer_fake, &bottom, &bytes);
    if (left->stack == NULL) {
        left->sanitizer_bottom = bottom;
        left->sanitizer_bytes = bytes;
    }
#endif
}

static void
begin(void)
{
    after_switch();
    entered->entry();
    abort();
}

static char *
map_stack(void)
{
    char *memory = mmap(NULL, GUARD_BYTES + FIBER_STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED || mprotect(memory, GUARD_BYTES, PROT_NONE) != 0) {
        perror("schedq-explore: no memory for a stack");
        exit(2);
    }
    return memory + GUARD_BYTES;
}

#if !defined(FIBER_UCONTEXT)

/*
 * Saves what the ABI lets a function keep in registers, and nothing else: the switch is an ordinary
 * call for both sides.
 */
void fiber_swap(void **from, void *to);
__asm__(".text\n"
        ".p2align 4\n"
        ".type fiber_swap, @function\n"
        "fiber_swap:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size fiber_swap, . - fiber_swap\n");

#define SAVED_REGISTERS 6

static void
prepare_registers(struct fiber *fiber)
{
    uintptr_t *top = (uintptr_t *)(void *)(fiber->stack + FIBER_STACK_BYTES);

    /* where `begin` would return to; also what makes the stack pointer odd, as after a call */
    *--top = 0;
    *--top = (uintptr_t)begin;
    for (unsigned i = 0; i < SAVED_REGISTERS; i++) {
        *--top = 0;
    }
    fiber->stack_pointer = top;
}

static void
swap_registers(struct fiber *from, struct fiber *to)
{
    fiber_swap(&from->stack_pointer, to->stack_pointer);
}

#else

static void
prepare_registers(struct fiber *fiber)
{
    (void)getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = FIBER_STACK_BYTES;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, begin, 0);
}

static void
swap_registers(struct fiber *from, struct fiber *to)
{
    (void)swapcontext(&from->context, &to->context);
}

#endif

void
fiber_prepare(struct fiber *fiber, void (*entry)(void))
{
    if (fiber->stack == NULL) {
        fiber->stack = map_stack();
    }
#if defined(EXPLORE_SANITIZED)
    /* What ran here before may have been left in the middle of a function. */
    __asan_unpoison_memory_region(fiber->stack, FIBER_STACK_BYTES);
#endif
    fiber->sanitizer_fake = NULL;
    fiber->entry = entry;
    prepare_registers(fiber);
}

void
fiber_switch(struct fiber *from, struct fiber *to)
{
    before_switch(from, to);
    swap_registers(from, to);
    after_switch();
}
