/**
 * Reference counts of COUNTED objects: numbers below LEDGER_OBJECTS, as the queue's retain and
 * release see them.
 */
#ifndef SCHEDQ_TESTS_SUPPORT_LEDGER_H
#define SCHEDQ_TESTS_SUPPORT_LEDGER_H

#include <stdatomic.h>
#include <stdint.h>

#define LEDGER_OBJECTS 4096u

typedef struct ledger {
    atomic_int counts[LEDGER_OBJECTS];
    atomic_int faults;   /* released below zero, or a number out of range */
    atomic_int retains;  /* calls ever */
    atomic_int releases; /* calls ever */
} ledger_t;

void ledger_init(ledger_t *ledger);
/** The queue's callbacks; ctx is the ledger. */
void ledger_retain(void *ctx, uint64_t object);
void ledger_release(void *ctx, uint64_t object);
int ledger_count(ledger_t *ledger, uint64_t object);
/** References held on all objects together. */
int ledger_sum(ledger_t *ledger);

#endif
