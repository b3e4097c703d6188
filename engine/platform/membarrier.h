/*
 * A full fence in every thread of the process, for the one that asks: membarrier(2).
 *
 * What a thread pays at each of its own accesses can so be paid by another, seldom: the frequent
 * side keeps its program order with atomic_light_fence (atomic.h), the rare side asks here.
 *
 * A kernel that has no such call, or a sandbox that refuses it, is found by membarrier_register. It
 * costs half a microsecond, but in the first call of a process that has threads already: tens of
 * milliseconds. membarrier_ask interrupts the processors that run threads of this process, 0.5 us
 * to 20 us, and takes a lock of the kernel's: no other thread is waited for.
 */
#ifndef SCHEDQ_PLATFORM_MEMBARRIER_H
#define SCHEDQ_PLATFORM_MEMBARRIER_H

#include <stdbool.h>

/** Called before the first membarrier_ask, any number of times. False: there is none here. */
bool membarrier_register(void);

/**
 * Each other thread of the process passes a full fence between the beginning and the end of this
 * call, and so does the caller at both.
 *
 * False: the kernel refused, perhaps only this time.
 */
bool membarrier_ask(void);

#endif
