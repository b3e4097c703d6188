/**
 * Command lines of schedq's tools: one style of messages, one table of engines, one way to say the
 * version.
 *
 * What is not legal is said as `TOOL: --OPTION is "VALUE": legal are ...`, and ends the program
 * with status 2.
 */
#ifndef SCHEDQ_TESTS_SUPPORT_ARGUMENTS_H
#define SCHEDQ_TESTS_SUPPORT_ARGUMENTS_H

#include <argp.h>
#include <stddef.h>
#include <stdint.h>

/** Exit status of bad usage. */
enum { ARGUMENTS_BAD = 2 };

/** A name on the command line, and what it stands for. A table of them ends with a NULL name. */
typedef struct argument_choice {
    const char *name;
    int64_t value;
} argument_choice_t;

/** SCHEDQ_ENGINE_ numbers. */
extern const argument_choice_t argument_engines[];
/** schedq_preset_t. */
extern const argument_choice_t argument_presets[];

/** The choice of that name; NULL: there is none. */
const argument_choice_t *argument_find(const argument_choice_t *choices, const char *name);
/** The engine that schedq_config_init chooses. */
const argument_choice_t *argument_engine_default(void);

/**
 * Refuses the value of an option, which is given without its --. `legal`, as of printf: what would
 * be right.
 */
void argument_bad(const struct argp_state *state, const char *option, const char *value,
                  const char *legal, ...) __attribute__((format(printf, 4, 5)));
/** Refuses an argument that is no option. */
void argument_unexpected(const struct argp_state *state, const char *value);
/** Refuses a value by the names of a table. */
void argument_bad_choice(const struct argp_state *state, const char *option, const char *value,
                         const argument_choice_t *choices);
/** The choice that is named, or a refusal. */
const argument_choice_t *argument_choice(const struct argp_state *state, const char *option,
                                         const char *value, const argument_choice_t *choices);
/** The number in `text`, decimal, octal (0...) or hexadecimal (0x...), which must be low..high. */
uint64_t argument_number(const struct argp_state *state, const char *option, const char *text,
                         uint64_t low, uint64_t high);

/** argp_parse, with --version and the exit status of bad usage. */
void arguments_parse(const struct argp *parser, int argc, char **argv, void *input);

#endif
