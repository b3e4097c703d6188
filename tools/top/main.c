/*
 * schedq-top: what a running queue does, in a terminal. It reads the metrics that the process
 * serves, once a period.
 */
#define _GNU_SOURCE /* ppoll */
#include "fetch.h"
#include "page.h"
#include "view.h"

#include "support/arguments.h"
#include "support/interrupt.h"

#include <inttypes.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WHY_SIZE = 600, EVERY_MAX = 3600 };

typedef struct options {
    const char *address, *queue;
    uint64_t every_s, frames; /* frames 0: no end */
    bool batch;
} options_t;

/* Two pages, and when each came. */
typedef struct top {
    const options_t *options;
    page_t now, before;
    double now_s, before_s;
    bool has_before;
    size_t chosen; /* number of the queue, where no option named one */
} top_t;

/* ---- options --------------------------------------------------------------------------------- */

static const struct argp_option option_list[] = {
    {"every", 'e', "SECONDS", 0, "Look once in so many; 1..3600, default 2", 1},
    {"queue", 'q', "NAME", 0, "Of several queues, this one; default: the first", 1},
    {"batch", 'b', NULL, 0, "Text to standard output, instead of the terminal's keys", 1},
    {"frames", 'n', "N", 0, "End after so many looks; 1..1000000000, default: none is the last", 1},
    {0},
};

static const char documentation[] =
    "Shows what a running queue does: where its pods are, for how long, what rejected them, how "
    "much happens each second, how long calls take, and its memory. It reads the metrics that the "
    "process serves, as schedq_metrics_write or schedq_metrics_write_named has written them.\n\n"
    "ADDRESS is http://HOST[:PORT][/PATH] (PATH is /metrics by default), or a file with such a "
    "page.\v"
    "Keys: q ends it; n, p: the next queue, the one before; +, -: look less often, more often; up, "
    "down: scroll.\n"
    "A member of a group that waits is aside, wherever its group is: the other places do not count "
    "it, nor its group.\n"
    "A time or number after <= is the upper bound of a histogram's bucket: itself it is not known. "
    "After > it is the greatest bound that there is.\n\n"
    "Exit status: 0 done; 1 the page could not be had, or is none; 2 bad usage; 130 interrupted.";

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    options_t *options = state->input;

    switch (key) {
    case 'e':
        options->every_s = argument_number(state, "every", value, 1, EVERY_MAX);
        break;
    case 'q':
        options->queue = value;
        break;
    case 'b':
        options->batch = true;
        break;
    case 'n':
        options->frames = argument_number(state, "frames", value, 1, 1000000000);
        break;
    case ARGP_KEY_ARG:
        if (options->address != NULL) {
            argument_unexpected(state, value);
        }
        options->address = value;
        break;
    case ARGP_KEY_END:
        if (options->address == NULL) {
            argp_error(state, "no ADDRESS is given: legal are http://HOST[:PORT][/PATH] and a "
                              "file's name");
        }
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- looking --------------------------------------------------------------------------------- */

static double
seconds_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* NULL: the page's only queue has no name, or there is none. */
static const char *
queue_of(const top_t *top)
{
    return top->options->queue != NULL ? top->options->queue : page_queue(&top->now, top->chosen);
}

/* False: `why` says what is wrong. */
static bool
look(top_t *top, char *why, size_t why_size)
{
    char words[100];
    char *text = fetch(top->options->address, why, why_size);
    page_t page;

    if (text == NULL) {
        return false;
    }
    if (!page_read(&page, text, words, sizeof words)) {
        (void)snprintf(why, why_size, "%s: %s", top->options->address, words);
        return false;
    }
    bool had = top->now_s > 0;

    page_free(&top->before);
    top->before = top->now;
    top->before_s = top->now_s;
    top->has_before = had;
    top->now = page;
    top->now_s = seconds_now();
    if (page_find(&top->now, "schedq_workers", queue_of(top), NULL, NULL) == NULL) {
        (void)snprintf(why, why_size, "%s: there is no queue%s%s", top->options->address,
                       top->options->queue != NULL ? " " : " of schedq",
                       top->options->queue != NULL ? top->options->queue : "");
        return false;
    }
    return true;
}

static char *
text_of(const top_t *top)
{
    const view_t view = {.now = &top->now,
                         .before = top->has_before ? &top->before : NULL,
                         .seconds = top->now_s - top->before_s,
                         .queue = queue_of(top),
                         .where = top->options->address};

    return view_text(&view);
}

/* ---- as text --------------------------------------------------------------------------------- */

/* An interruption that comes behind the test waits for a tenth of a second. */
static void
sleep_for(uint64_t seconds)
{
    const struct timespec tenth = {.tv_nsec = 100000000};

    for (uint64_t i = 0; i < 10 * seconds && !interrupt_came(); i++) {
        (void)nanosleep(&tenth, NULL);
    }
}

static int
run_batch(top_t *top)
{
    char why[WHY_SIZE];

    for (uint64_t frame = 1; !interrupt_came(); frame++) {
        char *text = look(top, why, sizeof why) ? text_of(top) : NULL;

        if (text == NULL) {
            fprintf(stderr, "schedq-top: %s\n", why);
            return EXIT_FAILURE;
        }
        printf("%s%s", frame > 1 ? "\n" : "", text);
        (void)fflush(stdout);
        free(text);
        if (frame == top->options->frames) {
            return EXIT_SUCCESS;
        }
        sleep_for(top->options->every_s);
    }
    return EXIT_SUCCESS;
}

/* ---- on the terminal ------------------------------------------------------------------------- */

static int
lines_of(const char *text)
{
    int lines = 0;

    for (; *text != '\0'; text++) {
        lines += *text == '\n';
    }
    return lines;
}

/* As many lines as there is room for, from number `first` on. The last line of all is `said`. */
static void
draw(const char *text, int first, const char *said, attr_t how)
{
    int number = 0;

    (void)erase();
    for (const char *line = text; *line != '\0' && number - first < LINES - 1; number++) {
        int length = (int)strcspn(line, "\n");
        attr_t style = number == 0 ? A_REVERSE : *line >= 'A' && *line <= 'Z' ? A_BOLD : A_NORMAL;

        if (number >= first) {
            (void)attrset((int)style);
            if (number == 0) {
                (void)mvhline(0, 0, ' ', COLS); /* the bar is as wide as the terminal */
            }
            (void)mvaddnstr(number - first, 0, line, length < COLS ? length : COLS);
        }
        line += length + (line[length] == '\n');
    }
    (void)attrset((int)how);
    (void)mvaddnstr(LINES - 1, 0, said, COLS - 1);
    (void)attrset(A_NORMAL);
    (void)refresh();
}

typedef struct screen {
    uint64_t every_s;
    int first; /* line */
    bool ends;
} screen_t;

static void
take_key(screen_t *screen, top_t *top, int key)
{
    switch (key) {
    case 'q':
        screen->ends = true;
        break;
    case 'n':
    case 'p':
        if (key == 'p') {
            top->chosen -= top->chosen > 0 ? 1 : 0;
        } else {
            top->chosen += page_queue(&top->now, top->chosen + 1) != NULL ? 1 : 0;
        }
        break;
    case '+':
        screen->every_s += screen->every_s < EVERY_MAX ? 1 : 0;
        break;
    case '-':
        screen->every_s -= screen->every_s > 1 ? 1 : 0;
        break;
    case KEY_DOWN:
        screen->first++;
        break;
    case KEY_UP:
        screen->first -= screen->first > 0 ? 1 : 0;
        break;
    default:
        break;
    }
}

/* ERR: none came in that time, or an interruption did. `open` lets interruptions through. */
static int
wait_for_key(double seconds, const sigset_t *open)
{
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    const struct timespec most = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

    timeout(0);
    int key = getch(); /* one that was read with the key before */

    return key != ERR || ppoll(&keys, 1, &most, open) <= 0 ? key : getch();
}

/* What the keys do; or why the last look failed, and how old that makes what is shown. */
static void
draw_all(screen_t *screen, const top_t *top, const char *text, const char *why)
{
    int lines = lines_of(text), room = LINES - 1;
    char said[WHY_SIZE + 60];

    screen->first = screen->first < lines - room ? screen->first : lines - room;
    screen->first = screen->first > 0 ? screen->first : 0;
    if (*why != '\0') {
        (void)snprintf(said, sizeof said, "%.0f s old: %s", seconds_now() - top->now_s, why);
        draw(text, screen->first, said, A_REVERSE);
        return;
    }
    int length = snprintf(said, sizeof said, "q: end   + -: every %" PRIu64 " s%s", screen->every_s,
                          page_queue(&top->now, 1) != NULL ? "   n p: queue" : "");

    if (lines > room && length > 0) {
        (void)snprintf(said + length, sizeof said - (size_t)length, "   up down: lines %d-%d of %d",
                       screen->first + 1, screen->first + room, lines);
    }
    draw(text, screen->first, said, A_DIM);
}

/*
 * Draws, and takes keys, until it is time for the next look. False: no memory. Interruptions come
 * in wait_for_key only: else one that came behind the loop's test would wait for the next look.
 */
static bool
show(screen_t *screen, top_t *top, const char *why)
{
    sigset_t interruptions, open;
    bool shows = true;
    double until = top->now_s + (double)screen->every_s;
    double now = seconds_now();

    until = until > now ? until : now + (double)screen->every_s; /* the last look failed */
    (void)sigemptyset(&interruptions);
    (void)sigaddset(&interruptions, SIGINT);
    (void)sigaddset(&interruptions, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &interruptions, &open);
    for (; now < until && !screen->ends && !interrupt_came(); now = seconds_now()) {
        char *text = text_of(top);

        shows = text != NULL;
        if (!shows) {
            break;
        }
        draw_all(screen, top, text, why);
        free(text);
        take_key(screen, top, wait_for_key(until - now, &open));
    }
    (void)sigprocmask(SIG_SETMASK, &open, NULL);
    return shows;
}

static int
run_screen(top_t *top)
{
    screen_t screen = {.every_s = top->options->every_s};
    char why[WHY_SIZE] = "";
    bool shows = true;

    if (!look(top, why, sizeof why)) {
        fprintf(stderr, "schedq-top: %s\n", why);
        return EXIT_FAILURE;
    }
    SCREEN *terminal = newterm(NULL, stdout, stdin);

    if (terminal == NULL) {
        fprintf(stderr, "schedq-top: the terminal is unknown (TERM): --batch needs none\n");
        return EXIT_FAILURE;
    }
    (void)cbreak();
    (void)noecho();
    (void)keypad(stdscr, TRUE);
    (void)curs_set(0);
    for (uint64_t frame = 1; shows && !screen.ends && !interrupt_came(); frame++) {
        shows = show(&screen, top, why);
        if (frame == top->options->frames) {
            break;
        }
        if (shows && !screen.ends && look(top, why, sizeof why)) {
            *why = '\0';
        }
    }
    (void)endwin();
    delscreen(terminal);
    return shows ? EXIT_SUCCESS : EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
    static const struct argp parser = {.options = option_list,
                                       .parser = parse_option,
                                       .args_doc = "ADDRESS",
                                       .doc = documentation};
    options_t options = {.every_s = 2};
    top_t top = {.options = &options};

    (void)setlocale(LC_CTYPE, "");
    arguments_parse(&parser, argc, argv, &options);
    interrupt_catch();
    int status = options.batch ? run_batch(&top) : run_screen(&top);

    page_free(&top.now);
    page_free(&top.before);
    return interrupt_end(status, "and it was looked at until then");
}
