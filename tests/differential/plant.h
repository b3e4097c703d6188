/*
 * Everything that is compared has a name, and each can be distorted on purpose: a comparison that
 * cannot fail is none.
 *
 * `fields` of the structs of the API stand in tables (see compare.h); what is no field of a struct
 * stands in `others`.
 */
#ifndef DIFFERENTIAL_PLANT_H
#define DIFFERENTIAL_PLANT_H

#include <stddef.h>
#include <stdint.h>

enum field_kind {
    FIELD_EQUAL, /* the same bytes */
    FIELD_HINT,  /* the other engine may say 1 where the mutex engine says 0 */
    FIELD_SET,   /* both 0, or neither */
    FIELD_BOUND  /* a time: the other engine's may be earlier */
};

typedef struct field {
    const char *name; /* "result.place" */
    uint16_t offset;
    uint8_t size;
    uint8_t kind; /* enum field_kind */
} field_t;

/** What is compared besides fields of structs. */
enum other {
    OTHER_STATUS,
    OTHER_STATUSES,
    OTHER_COUNT,
    OTHER_POD,
    OTHER_HANDLE_REUSED,
    OTHER_TOKEN_REUSED,
    OTHER_NAME,
    OTHER_NAME_KEPT,
    OTHER_ERROR,
    OTHER_TEXT,
    OTHER_NEXT,
    OTHER_OBJECTS,
    OTHER_OBJECTS_LEFT,
    OTHER_RESERVED,
    OTHER_VISITS,
    OTHER_POSITION,
    OTHER_REASONS,
    OTHER_READABLE,
    OTHER_ORDER,
    OTHER_HEARD,
    OTHER_METRICS,
    OTHER_BIT,
    OTHER_CANDIDATES,
    OTHER_HINT,
    OTHER_GATE,
    OTHER_NESTED,
    OTHER_WOKEN,
    OTHER_SENTENCE,
    OTHER_OVERDUE,
    OTHER_BLOCKS,
    OTHERS
};

extern const field_t plant_others[OTHERS];

/** By name or by number, over all tables; NULL: there is none. */
const field_t *plant_find(const char *name);
const field_t *plant_at(size_t number);

#endif
