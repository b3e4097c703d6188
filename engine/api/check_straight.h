/*
 * The checks that each new pod passes, in line in schedq_add: a pass over the name, which is hashed
 * there, and one question for all fields of the spec.
 */
#ifndef SCHEDQ_API_CHECK_STRAIGHT_H
#define SCHEDQ_API_CHECK_STRAIGHT_H

#include "api/check.h"
#include "platform/hash.h"

#include <string.h>

/** False, and words. */
COLD bool check_says_length(schedq_worker_t *worker, const char *text, size_t length);

/** Of any text. False, and words: it is no name. */
COLD bool check_is_name(schedq_worker_t *worker, const char *text, size_t length);

/** Of a spec all but the name; `flags`: those that it may have. False, and words: it is not. */
RARELY bool check_is_legal(schedq_worker_t *worker, const schedq_pod_spec_t *spec, uint8_t flags);

#define BYTES (UINT64_MAX / 0xff) /* 1 in each byte */
#define HIGH (BYTES * 0x80)

/*
 * What was seen of a text, by the highest bits of a word's bytes. Of bytes below 0x80 a sum with
 * 0x7f has it, but for 0.
 */
struct letters {
    uint64_t all;    /* set: some byte here is not below 0x80 */
    uint64_t filled; /* not set: some byte here is NUL */
    uint64_t none;   /* not set: some byte here is '/' */
    uint64_t once;   /* not set: more than one is */
};

static inline void
see_word(struct letters *letters, uint64_t word)
{
    letters->all |= word;
    letters->filled &= word + BYTES * 0x7f;
}

static inline void
see_slashes(struct letters *letters, uint64_t word)
{
    uint64_t other = (word ^ BYTES * '/') + BYTES * 0x7f;

    letters->once &= letters->none | other;
    letters->none &= other;
}

/* Surely without a NUL? False: perhaps. */
static inline bool
letters_are_filled(const struct letters *letters)
{
    return (((letters->all ^ HIGH) & letters->filled) & HIGH) == HIGH;
}

/* Surely one '/'? False: perhaps. */
static inline bool
letters_have_a_slash(const struct letters *letters)
{
    uint64_t slashes = ~letters->none & HIGH;

    return (letters->once & HIGH) == HIGH && slashes != 0 && (slashes & (slashes - 1)) == 0;
}

/* Hashes the text, and returns whether it surely is a name. */
STRAIGHT bool
read_name(uint64_t seed, const char *text, uint32_t length, bool kube, struct hashed_name *name)
{
    uint64_t hash = hash_begin(seed, length);
    struct letters letters = {0, UINT64_MAX, UINT64_MAX, UINT64_MAX};

    for (uint32_t i = 0; i < length / TEXT_WORD; i++) {
        uint64_t word = text_word(text, i);

        hash = hash_word(hash, word);
        see_word(&letters, word);
        if (kube) {
            see_slashes(&letters, word);
        }
    }
    uint64_t tail = text_tail(text, length), padded = tail | (text_padding(length) & BYTES);

    see_word(&letters, padded);
    if (kube) {
        see_slashes(&letters, padded);
    }
    *name = (struct hashed_name){.text = text, .length = length, .hash = hash_end(hash, tail)};
    return letters_are_filled(&letters) &&
           (!kube || (letters_have_a_slash(&letters) && text[0] != '/' && text[length - 1] != '/'));
}

STRAIGHT bool
check_bytes(schedq_worker_t *worker, const char *text, size_t length, struct hashed_name *name)
{
    if (!check_not_null(worker, text, "name")) {
        return false;
    }
    if (length - 1 >= SCHEDQ_NAME_MAX) {
        return check_says_length(worker, text, length);
    }
    uint32_t bytes = (uint32_t)length;
    uint64_t seed = worker->queue->seed;
    bool plain = worker->queue->config.kube_minor == 0 ? read_name(seed, text, bytes, false, name)
                                                       : read_name(seed, text, bytes, true, name);

    return plain || check_is_name(worker, text, length);
}

/* One question that nearly all specs pass, before each is asked for itself. */
static inline bool
spec_is_plain(const schedq_worker_t *worker, const schedq_pod_spec_t *spec, uint8_t flags)
{
    uint32_t reserved;

    memcpy(&reserved, &spec->reserved[1], sizeof reserved);
    reserved |= (uint32_t)((spec->flags & ~flags) | spec->gate | spec->reserved[0]);
    return spec->struct_size == sizeof *spec && reserved == 0 &&
           (spec->only.bits | spec->group) == 0 &&
           (spec->timestamp_ns | spec->not_before_ns) >= 0 &&
           spec->profile < registry_profile_count(&worker->queue->registry);
}

static inline bool
check_any(schedq_worker_t *worker, const schedq_pod_spec_t *spec, uint8_t flags)
{
    return spec_is_plain(worker, spec, flags) || check_is_legal(worker, spec, flags);
}

/** A new pod's spec, and its name: *hashed. */
STRAIGHT bool
check_spec(schedq_worker_t *worker, const char *name, size_t length, const schedq_pod_spec_t *spec,
           struct hashed_name *hashed)
{
    return check_not_null(worker, spec, "spec") && check_bytes(worker, name, length, hashed) &&
           check_any(worker, spec, POD_FLAGS);
}

#endif
