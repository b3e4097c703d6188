/*
 * Objects of SCHEDQ_OBJECTS_COUNTED: a thread that read one from a pod of another thread must not
 * retain it after its last release.
 *
 * Each worker has a slot; slots stay until the queue ends. Pinning publishes the object in the
 * slot, then reads again whether the pod still has it. A worker that took an object out of the
 * queue scans the slots, and keeps the release for later while a slot holds the object. What is
 * kept is tried again with the worker's next releases, by the slot's next owner, and by
 * hazards_drain. A thread that dies inside a call loses what it kept.
 *
 * THREE PINS. One for a pod's object, two for the objects of an event (event_log.h), independent of
 * each other: all three hold while a hint is asked about a pod and an event.
 *
 * BOUND. Between calls a slot keeps at most three different objects for each slot that there is: it
 * keeps only what a scan found, and a scan finds at most three objects in each slot. A release adds
 * one object before it scans, so the list has room for one more (hazard_room). `times` counts the
 * releases of one object.
 *
 * The caller's config.release runs while nothing here is half done. It must not call the queue
 * (api/ refuses that).
 */
#ifndef SCHEDQ_LOCKFREE_HAZARD_H
#define SCHEDQ_LOCKFREE_HAZARD_H

#include "engine.h"
#include "platform/atomic.h"
#include "platform/inside.h"

enum hazard_pins { HAZARD_POD, HAZARD_EVENT_OLD, HAZARD_EVENT_NEW, HAZARD_PINS };

/** An object whose releases wait. */
struct hazard_kept {
    uint64_t object;
    uint64_t times : 63, pinned : 1; /* pinned: as the last scan found it */
};

/** How many objects the list of a slot needs room for, if there are so many slots. */
static inline uint32_t
hazard_room(uint32_t slots)
{
    return HAZARD_PINS * slots + 1;
}

struct hazard_slot {
    _Alignas(CACHE_LINE) atomic_u64 objects[HAZARD_PINS];
    /* 1 << pin: that object is pinned; a pod's may be 0. Written by the owner only */
    atomic_u32 pinned;
    uint32_t kept;             /* and the list: the owner's only */
    struct hazard_kept *list;  /* NULL if nothing is ever released */
    struct hazard_slot *older; /* the next of all slots */
};

struct hazards {
    void (*release)(void *ctx, uint64_t object);
    void *ctx;
    atomic_ptr slots; /* all of them, the newest first */
};

void hazards_open(struct hazards *hazards, void (*release)(void *ctx, uint64_t object), void *ctx);

/** The caller's code: releases an object that no pin rests on. */
static inline void
hazards_call(const struct hazards *hazards, uint64_t object)
{
    inside_calls(CALLBACK_RELEASE);
    hazards->release(hazards->ctx, object);
    inside_calls(CALLBACK_NONE);
}

/** When no other thread uses it: releases everything that is kept. */
void hazards_drain(struct hazards *hazards);

/**
 * Lets scans see a slot, which is zeroed and stays, before its first pin. `list` has hazard_room
 * and stays the slot's; NULL if nothing is ever released. Lock-free.
 */
void hazard_join(struct hazards *hazards, struct hazard_slot *slot, struct hazard_kept *list);

/**
 * Publishes an object in the caller's slot; a full fence.
 *
 * The caller then reads the object's source again. If the object is still there, it may retain or
 * use it until hazard_unpin. Else it unpins, and must not touch the object. One pod's object at a
 * time.
 */
void hazard_pin(struct hazard_slot *slot, uint64_t object);
void hazard_unpin(struct hazard_slot *slot);

/**
 * The same for the two objects of an event, with one full fence; with none if both are 0, no
 * object.
 *
 * One event at a time. The pod's pin is left alone, here and in hazard_unpin_event.
 */
void hazard_pin_event(struct hazard_slot *slot, uint64_t old_object, uint64_t new_object);
void hazard_unpin_event(struct hazard_slot *slot);

/**
 * Ends the pins of a thread that died inside a call, and forgets what it kept: the list may be half
 * changed.
 */
void hazard_forget(struct hazard_slot *slot);

/**
 * Releases one reference to an object that can no longer be found in the queue, at once or when no
 * slot holds it.
 *
 * It was taken out by a read-modify-write, or a full fence came since.
 */
void hazard_release(struct hazards *hazards, struct hazard_slot *slot, uint64_t object);

/** Tries again to release what the slot keeps. Cheap if that is nothing. */
void hazard_retry(struct hazards *hazards, struct hazard_slot *slot);

#endif
