/*
 * Names of pods, and objects, both made from a number: 0..NAMES_MAX-1.
 *
 * Two numbers never give one name. Lengths are of every class from 3 to SCHEDQ_NAME_MAX bytes. An
 * object tells the number of its pod, so that an answer's object names the pod that it has to be.
 */
#ifndef DIFFERENTIAL_NAMES_H
#define DIFFERENTIAL_NAMES_H

#include <schedq/schedq.h>
#include <stdbool.h>

#include "chance.h"

#define NAMES_MAX 32768
#define OBJECT_VARIANTS 4
#define NAME_ROOM (SCHEDQ_NAME_MAX + 16)

/**
 * Writes the name of `number`, ended by a NUL; returns its length. `kube`: namespace/name; else
 * some have no slash, or two.
 */
uint32_t name_write(bool kube, uint32_t number, char text[NAME_ROOM]);

/** Writes something that is no legal name; returns its length. */
uint32_t name_write_bad(bool kube, chance_t *chance, uint32_t number, char text[NAME_ROOM]);

uint64_t object_of(uint32_t number, uint32_t variant);

/**
 * number * OBJECT_VARIANTS + variant; NAMES_MAX * OBJECT_VARIANTS for something that is no object
 * of ours.
 */
uint32_t object_slot(uint64_t object);

/** The number in an object that object_slot knows. */
static inline uint32_t
object_name(uint64_t object)
{
    return object_slot(object) / OBJECT_VARIANTS;
}

#endif
