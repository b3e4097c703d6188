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
/** The engine of SCHEDQ_CONFIG_INIT. */
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

/** An option, and where its value goes. */
typedef struct argument {
    const char *name;  /* without --; a table of them ends with NULL */
    int key;           /* a letter, or a number of its own from 256 */
    const char *value; /* what --help calls it; NULL: there is none */
    const char *help;
    size_t offset, size; /* of the member that gets it */
    uint64_t low, high;  /* a number: the legal ones */
    const argument_choice_t *choices;
    enum {
        ARGUMENT_IS_FLAG,   /* bool: true */
        ARGUMENT_IS_NUMBER, /* any integer */
        ARGUMENT_IS_TEXT,   /* const char *: as given */
        ARGUMENT_IS_CHOICE, /* const argument_choice_t * */
        ARGUMENT_IS_CALL    /* `take` */
    } kind;
    void (*take)(const struct argp_state *state, void *options, char *value);
} argument_t;

/* `type` is that of the options. */
#define ARGUMENT_MEMBER(type, member) offsetof(type, member), sizeof(((type *)0)->member)
#define ARGUMENT_FLAG(type, member, name, key, help)                                             \
    {                                                                                            \
        name, key, NULL, help, ARGUMENT_MEMBER(type, member), 0, 0, NULL, ARGUMENT_IS_FLAG, NULL \
    }
#define ARGUMENT_NUMBER(type, member, name, key, low, high, help)                                 \
    {                                                                                             \
        name, key, "N", help, ARGUMENT_MEMBER(type, member), low, high, NULL, ARGUMENT_IS_NUMBER, \
            NULL                                                                                  \
    }
#define ARGUMENT_TEXT(type, member, name, key, value, help)                                       \
    {                                                                                             \
        name, key, value, help, ARGUMENT_MEMBER(type, member), 0, 0, NULL, ARGUMENT_IS_TEXT, NULL \
    }
#define ARGUMENT_CHOICE(type, member, name, key, choices, help)                                    \
    {                                                                                              \
        name, key, "NAME", help, ARGUMENT_MEMBER(type, member), 0, 0, choices, ARGUMENT_IS_CHOICE, \
            NULL                                                                                   \
    }
#define ARGUMENT_CALL(name, key, value, help, take)                      \
    {                                                                    \
        name, key, value, help, 0, 0, 0, 0, NULL, ARGUMENT_IS_CALL, take \
    }
#define ARGUMENTS_END \
    {                 \
        0             \
    }

/** A command line of options. */
typedef struct command_line {
    const argument_t *table;
    const char *doc; /* as of argp */
    /** when all were read: what does not go together; NULL: anything does */
    void (*finish)(const struct argp_state *state, void *options);
    /** as of argp; NULL: none */
    char *(*filter)(int key, const char *text, void *input);
} command_line_t;

/** Reads it into `options`, which has the defaults. What is wrong ends the program. */
void arguments_read(const command_line_t *line, int argc, char **argv, void *options);

/** argp_parse, with --version and the exit status of bad usage. */
void arguments_parse(const struct argp *parser, int argc, char **argv, void *input);
/** The same: arguments stay between the options where they stand. */
void arguments_parse_in_order(const struct argp *parser, int argc, char **argv, void *input);

#endif
