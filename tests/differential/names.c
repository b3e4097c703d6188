/*
 * Names: <first digit><filler>/<filler><last digits>, or without the slash, or with two. The digits
 * stand at the same positions in all names of a length, so different numbers differ there.
 */
#include "names.h"

#include <string.h>

#define DIGITS 62
#define OBJECT_NUMBER_BITS 20

static const char digits[DIGITS + 1] =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* The ends of the classes in which an implementation may store names, and their neighbours. */
static const uint16_t lengths[] = {3,   4,   5,   7,   8,   9,   12,  15,  16,  17,  20,  23,
                                   24,  25,  31,  32,  33,  40,  40,  40,  40,  47,  48,  49,
                                   55,  56,  57,  62,  63,  64,  65,  79,  80,  95,  96,  127,
                                   128, 129, 191, 192, 193, 255, 256, 257, 300, 315, 316, 317};

static uint32_t
length_of(uint32_t number)
{
    uint32_t length = lengths[chance_mix(number + 1) % (sizeof lengths / sizeof *lengths)];

    /* Three bytes hold two digits. */
    return length == 3 && number >= DIGITS * DIGITS ? 4 : length;
}

uint32_t
name_write(bool kube, uint32_t number, char text[NAME_ROOM])
{
    uint32_t length = length_of(number);
    uint32_t slash = length == 3 ? 1 : 1 + (uint32_t)(chance_mix(number + 77) % (length - 3));
    uint32_t high = length == 3 ? number / DIGITS : number / (DIGITS * DIGITS);

    memset(text, '-', length);
    if (kube || number % 3 != 0) {
        text[slash] = '/';
    }
    if (!kube && number % 3 == 1 && length > 4) {
        text[length - 3] = '/';
    }
    text[0] = digits[high % DIGITS];
    text[length - 1] = digits[number % DIGITS];
    if (length > 3) {
        text[length - 2] = digits[number / DIGITS % DIGITS];
    }
    text[length] = '\0';
    return length;
}

uint32_t
name_write_bad(bool kube, chance_t *chance, uint32_t number, char text[NAME_ROOM])
{
    uint32_t length = name_write(kube, number, text);

    switch (chance_below(chance, kube ? 7 : 3)) {
    case 0:
        return 0;
    case 1:
        memset(text + length, 'x', SCHEDQ_NAME_MAX + 1 - length);
        return SCHEDQ_NAME_MAX + 1;
    case 2:
        text[length - 1] = '\0';
        return length;
    case 3:
        return 1;
    case 4:
        *strchr(text, '/') = '.';
        return length;
    case 5:
        text[0] = '/';
        return length;
    default:
        text[length - 1] = '/';
        return length;
    }
}

uint64_t
object_of(uint32_t number, uint32_t variant)
{
    uint64_t low = (uint64_t)variant << OBJECT_NUMBER_BITS | number;

    /* Pod 0 in its first variant is the object 0; the others fill all 64 bits. */
    return chance_mix(low) << 32 | low;
}

uint32_t
object_slot(uint64_t object)
{
    uint32_t number = (uint32_t)object & ((1U << OBJECT_NUMBER_BITS) - 1);
    uint32_t variant = (uint32_t)object >> OBJECT_NUMBER_BITS;

    if (number >= NAMES_MAX || variant >= OBJECT_VARIANTS || object_of(number, variant) != object) {
        return NAMES_MAX * OBJECT_VARIANTS;
    }
    return number * OBJECT_VARIANTS + variant;
}
