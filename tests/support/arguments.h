/**
 * Values on the command lines of test programs: a bad one is named with the legal range, and ends the program.
 */
#ifndef SCHEDQ_TESTS_SUPPORT_ARGUMENTS_H
#define SCHEDQ_TESTS_SUPPORT_ARGUMENTS_H

#include <argp.h>
#include <stdint.h>

/** The number in `text`, decimal, octal (0...) or hexadecimal (0x...), which must be low..high. `option` is without its --. */
uint64_t argument_number(struct argp_state *state, const char *option, const char *text, uint64_t low, uint64_t high);

#endif
