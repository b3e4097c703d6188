/*
 * Texts, eight bytes at a time. No byte behind a text is read.
 */
#ifndef SCHEDQ_PLATFORM_TEXT_H
#define SCHEDQ_PLATFORM_TEXT_H

#include <stdint.h>
#include <string.h>

#define TEXT_WORD ((uint32_t)sizeof(uint64_t))

/** Word i of a text, a whole one. */
static inline uint64_t
text_word(const char *text, uint32_t i)
{
    uint64_t word;

    memcpy(&word, text + (size_t)i * TEXT_WORD, sizeof word);
    return word;
}

/**
 * What is left of a text behind its whole words, padded with NULs; 0 if nothing is.
 *
 * Nearly all texts have a whole word: there it is cut out of the last eight bytes.
 */
static inline uint64_t
text_tail(const char *text, uint32_t length)
{
    uint32_t rest = length % TEXT_WORD;
    uint64_t word = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (length >= TEXT_WORD) {
        memcpy(&word, text + length - TEXT_WORD, sizeof word);
        return word >> (8 * (TEXT_WORD - 1 - rest)) >> 8;
    }
#endif
    memcpy(&word, text + length - rest, rest);
    return word;
}

/** The bytes with which text_tail pads, all ones. */
static inline uint64_t
text_padding(uint32_t length)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return UINT64_MAX << (8 * (length % TEXT_WORD));
#else
    return UINT64_MAX >> (8 * (length % TEXT_WORD));
#endif
}

#endif
