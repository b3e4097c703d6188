/*
 * Where every pod of the queue under test is, and who is nominated where: what a state line is
 * rendered from.
 */
#ifndef CONFORM_SNAPSHOT_H
#define CONFORM_SNAPSHOT_H

#include <schedq/schedq.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Names live as long as the vector. Times are nanoseconds since its time 0. */
struct seen {
    const char *name;
    const char *uid;
    schedq_place_t place;
    int64_t priority;
    int64_t timestamp_ns;
    int64_t expiry_ns;
    uint64_t pop_order;
    size_t position; /* among those of its pop */
    int64_t attempts;
    const char *group; /* of a member; of a record: its own */
    const char *root;  /* of a member whose groups are all declared, or in a cycle; else NULL */
    bool is_record;    /* a root's: its members are those of that root */
};

/**
 * The end of a record's backoff as it was recorded: the root of a size is no whole number of
 * milliseconds.
 */
static inline int64_t
snapshot_cut_to_ms(int64_t time_ns)
{
    return time_ns / 1000000 * 1000000;
}

struct nomination {
    const char *node;
    const char *pod;
    size_t rank; /* of its node's pods */
};

struct snapshot {
    struct seen *pods;
    size_t count;
    struct nomination *nominations; /* a node's in their order */
    size_t nomination_count;
};

void snapshot_add(struct snapshot *snapshot, const struct seen *seen);
void snapshot_nominate(struct snapshot *snapshot, const char *node, const char *pod);
void snapshot_free(struct snapshot *snapshot);

#endif
