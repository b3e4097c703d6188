/*
 * What gates say of a group's members. Each member keeps what was said of it, and its word says
 * whether it has passed since it came to ASIDE (FLAG_PASSED, state.h): a pop takes no other.
 *
 * Without memory an answer cannot be noted. The member's word says so (FLAG_UNNOTED), and the gate
 * that was noted before is ignored: so no record stays gated for a member that passed. If the
 * answer was a refusal, a tick may find the record gated and no member refused; it then asks about
 * all again. The same follows if the flag is set late, over a newer note. The next answer that is
 * noted clears the flag. FLAG_PASSED stays: a popper that has claimed the record looks at the flag
 * again, and must find it in each member that it chose.
 *
 * Gates are asked outside of a section, so the thread that asks keeps no address of a block or an
 * entry meanwhile.
 *
 * ORDERING
 *   the answer, note_gate's description or set_flags -> the pop's load of the word
 *       the gates were asked about a member that is taken, in this stay
 *   switch to GATED, members' gates | a member leaves ASIDE, gather_left's look at the record
 *       the refused member is still there, or its leaver or the switcher sees that it is not
 *
 * PROGRESS. Lock-free: one attempt to note each answer. A joiner that stops before it asks leaves a
 * member that the next pop asks about.
 *
 * EVIDENCE. tests/model: group (GATES); stress/explore: group_newcomer, group_gone;
 * tests/unit/test_group_gates.c.
 */
#ifndef SCHEDQ_LOCKFREE_GATHER_GATE_H
#define SCHEDQ_LOCKFREE_GATHER_GATE_H

#include "lockfree/moves/gather.h"

/**
 * The gate that keeps a group out; 0: none. Leaves the section while gates are asked. False: no
 * memory, and no gate was asked.
 */
bool gather_ask(struct worker *worker, uint64_t number, uint8_t *gate);

/** May a pop of its group take the member whose word this is? */
static inline bool
gather_passed(const struct queue *queue, uint64_t state)
{
    return !queue->base.registry.has_gates || (state & FLAG_PASSED) != 0;
}

/** The gate that refuses a member that waits; 0: none, or it does not wait. Leaves the section. */
uint8_t gather_ask_one(struct worker *worker, uint32_t record, uint64_t life);

/**
 * Does a member of the group, or of one below, wait that this gate refused? A member whose answer
 * could not be noted counts as one that no gate refused. The search ends at the first.
 */
bool gather_is_gated_by(struct worker *worker, uint64_t number, uint8_t gate);

#endif
