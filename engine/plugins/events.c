/*
 * Events: objects in a row of slots, an event's id being its slot and one.
 *
 * A definition goes through the row. It ends at the same event, or puts its own into the first free
 * slot by a CAS; if it loses the slot it goes on from there, with the winner as one more event to
 * look at. So a definition that fills a slot has seen all slots before it, and an event's label
 * number follows from its slot. Wait-free but for the allocator: a thread that stops between its
 * CAS and event_count leaves an event that the next definition counts.
 */
#include "plugins/parts.h"
#include "policy/label.h"

#include <string.h>

#define LABEL_UNKNOWN UINT32_MAX

/** What a caller wants defined, and how far the row was searched for it. */
struct definition {
    const char *resource, *label;
    uint32_t actions;
    uint32_t label_number; /* LABEL_UNKNOWN: no label with this text was seen */
    uint32_t slot;
};

/* ---- the row --------------------------------------------------------------------------------- */

struct event *
event_find(const struct registry *registry, uint32_t slot)
{
    const atomic_ptr *chunk = ptr_load_acquire(&registry->event_chunks[slot / EVENT_CHUNK]);

    return chunk == NULL ? NULL : ptr_load_acquire(&chunk[slot % EVENT_CHUNK]);
}

/* NULL: no memory for the chunk that it lies in. */
static atomic_ptr *
make_slot(struct registry *registry, uint32_t slot)
{
    atomic_ptr *place = &registry->event_chunks[slot / EVENT_CHUNK];
    atomic_ptr *chunk = ptr_load_acquire(place);

    if (chunk == NULL) {
        atomic_ptr *own =
            memory_alloc(registry->memory, MEMORY_OTHER, EVENT_CHUNK * sizeof *own, CACHE_LINE);

        if (own == NULL) {
            return NULL;
        }
        chunk = ptr_cas_value(place, NULL, own);
        if (chunk == NULL) {
            chunk = own;
        } else {
            memory_free(registry->memory, MEMORY_OTHER, own, EVENT_CHUNK * sizeof *own);
        }
    }
    return &chunk[slot % EVENT_CHUNK];
}

static bool
is_wanted(const struct event *event, const struct definition *wanted)
{
    return event->actions == wanted->actions && strcmp(event->resource, wanted->resource) == 0 &&
           strcmp(event->label_text, wanted->label) == 0;
}

/* Goes on until `slot` is that of the wanted event (true), or is free, or the row ends. */
static bool
search_events(const struct registry *registry, struct definition *wanted)
{
    for (; wanted->slot < registry->events_max; wanted->slot++) {
        const struct event *event = event_find(registry, wanted->slot);

        if (event == NULL || is_wanted(event, wanted)) {
            return event != NULL;
        }
        if (wanted->label_number == LABEL_UNKNOWN &&
            strcmp(event->label_text, wanted->label) == 0) {
            wanted->label_number = event->label;
        }
    }
    return false;
}

/* ---- one event ------------------------------------------------------------------------------- */

struct event_kind
event_kind(const struct registry *registry, const struct event *event)
{
    return (struct event_kind){.resource = resource_find(registry, event->resource),
                               .actions = event->actions};
}

static size_t
event_bytes(const char *resource, const char *label)
{
    return sizeof(struct event) + strlen(resource) + 1 + strlen(label) + 1;
}

static void
event_free(struct registry *registry, struct event *event)
{
    for (uint32_t i = 0; event->matches != NULL && i < registry->profile_count; i++) {
        match_clear(registry, &event->matches[i]);
    }
    memory_free(registry->memory, MEMORY_OTHER, event->matches,
                event->match_capacity * sizeof *event->matches);
    memory_free(registry->memory, MEMORY_OTHER, event,
                event_bytes(event->resource, event->label_text));
}

static bool
match_profiles(struct registry *registry, struct event *event, struct event_kind kind)
{
    event->matches =
        memory_alloc(registry->memory, MEMORY_OTHER,
                     registry->profile_count * sizeof *event->matches, _Alignof(struct match));
    if (event->matches == NULL) {
        return false;
    }
    event->match_capacity = registry->profile_count;
    for (uint32_t i = 0; i < registry->profile_count; i++) {
        if (!match_add_profile(registry, &event->matches[i], registry->profiles[i], kind)) {
            return false;
        }
    }
    return true;
}

/* All but the label's number. NULL: no memory. */
static struct event *
event_make(struct registry *registry, const struct definition *wanted)
{
    size_t resource_bytes = strlen(wanted->resource) + 1;
    struct event *event =
        memory_alloc(registry->memory, MEMORY_OTHER, event_bytes(wanted->resource, wanted->label),
                     _Alignof(struct event));

    if (event == NULL) {
        return NULL;
    }
    event->resource = strcpy(event->texts, wanted->resource);
    event->label_text = strcpy(event->texts + resource_bytes, wanted->label);
    event->actions = wanted->actions;
    struct event_kind kind = event_kind(registry, event);

    event->wildcard = match_is_wildcard(kind);
    if (!match_profiles(registry, event, kind)) {
        event_free(registry, event);
        return NULL;
    }
    return event;
}

/* ---- definitions ----------------------------------------------------------------------------- */

static uint32_t
fixed_label(const struct registry *registry, const char *text)
{
    for (uint32_t i = 0; i < LABEL_FIRST_EVENT; i++) {
        if (strcmp(registry->fixed_labels[i], text) == 0) {
            return i;
        }
    }
    return LABEL_UNKNOWN;
}

/*
 * SCHEDQ_OK: wanted->slot is that of the event, which may be another's. `*own` was made if it is
 * not NULL.
 */
static schedq_status_t
find_or_publish_event(struct registry *registry, struct definition *wanted, struct event **own)
{
    while (!search_events(registry, wanted)) {
        if (wanted->slot == registry->events_max) {
            return SCHEDQ_FULL;
        }
        if (*own == NULL) {
            *own = event_make(registry, wanted);
        }
        atomic_ptr *slot = *own == NULL ? NULL : make_slot(registry, wanted->slot);

        if (slot == NULL) {
            return SCHEDQ_NOMEM;
        }
        (*own)->label = wanted->label_number == LABEL_UNKNOWN ? LABEL_FIRST_EVENT + wanted->slot
                                                              : wanted->label_number;
        if (ptr_cas(slot, NULL, *own)) {
            *own = NULL;
            return SCHEDQ_OK;
        }
    }
    return SCHEDQ_OK;
}

schedq_status_t
registry_define_event(struct registry *registry, const char *resource, uint32_t actions,
                      const char *label, schedq_event_t *event)
{
    struct event_kind kind = {.resource = resource_find(registry, resource), .actions = actions};
    char composed[REGISTRY_NAME_MAX + 1];
    struct event *own = NULL;

    if (label == NULL || label[0] == '\0') {
        label_compose(composed, sizeof composed, resource, kind, registry->rules->kube_minor);
        label = composed;
    }
    struct definition wanted = {.resource = resource,
                                .label = label,
                                .actions = actions,
                                .label_number = fixed_label(registry, label)};
    schedq_status_t status = find_or_publish_event(registry, &wanted, &own);

    if (own != NULL) {
        event_free(registry, own);
    }
    if (status == SCHEDQ_OK) {
        (void)u64_max(&registry->event_count, wanted.slot + 1);
        *event = (schedq_event_t)(wanted.slot + 1);
    }
    return status;
}

/* ---- all events ------------------------------------------------------------------------------ */

bool
events_make_profile_room(struct registry *registry)
{
    struct event *event;

    for (uint32_t i = 0; i < registry->events_max && (event = event_find(registry, i)) != NULL;
         i++) {
        if (!make_room(registry->memory, (void **)&event->matches, registry->profile_count,
                       &event->match_capacity, sizeof *event->matches)) {
            return false;
        }
    }
    return true;
}

void
events_free(struct registry *registry)
{
    struct event *event;

    for (uint32_t i = 0; i < registry->events_max && (event = event_find(registry, i)) != NULL;
         i++) {
        event_free(registry, event);
    }
    /* A row is filled in order, so its chunks are. */
    for (uint32_t i = 0; i < EVENT_CHUNKS && ptr_load(&registry->event_chunks[i]) != NULL; i++) {
        memory_free(registry->memory, MEMORY_OTHER, ptr_load(&registry->event_chunks[i]),
                    EVENT_CHUNK * sizeof(atomic_ptr));
    }
}
