/* The parts of the checker, made once for all rounds. */
#include "check.h"

#include <stdlib.h>

struct checker {
    lives_t lives;
    automaton_t *automaton;
    order_t *order;
    events_rule_t *events;
    due_rule_t *due;
    caps_rule_t *caps;
    labels_rule_t *labels;
    line_rule_t *line;
};

checker_t *
checker_make(const book_t *book, size_t operations, uint32_t names)
{
    checker_t *checker = calloc(1, sizeof *checker);
    if (checker == NULL) {
        fprintf(stderr, "schedq-history: no memory\n");
        exit(1);
    }
    lives_make(&checker->lives, book, operations);
    checker->automaton = automaton_make(book, names);
    checker->order = order_make(book);
    checker->events = events_rule_make(book);
    checker->due = due_rule_make(book);
    checker->caps = caps_rule_make(book);
    checker->labels = labels_rule_make(book, names);
    checker->line = line_rule_make(book);
    return checker;
}

void
checker_free(checker_t *checker)
{
    lives_free(&checker->lives);
    automaton_free(checker->automaton);
    order_free(checker->order);
    events_rule_free(checker->events);
    due_rule_free(checker->due);
    caps_rule_free(checker->caps);
    labels_rule_free(checker->labels);
    line_rule_free(checker->line);
    free(checker);
}

void
checker_run(checker_t *checker, book_t *book, report_t *report)
{
    record_t *touches;
    lives_resolve(&checker->lives, book, report);
    labels_rule_resolve(checker->labels, &checker->lives, book);
    once_check(&checker->lives, book, report);
    size_t touch_count = labels_rule_touches(checker->labels, &touches);
    automaton_check(checker->automaton, book, touches, touch_count, report);
    order_check(checker->order, &checker->lives, book, report);
    events_rule_check(checker->events, book, report);
    due_rule_check(checker->due, &checker->lives, book, report);
    clock_check(book, report);
    close_check(book, report);
    nominations_check(book, report);
    caps_rule_check(checker->caps, &checker->lives, book, report);
    labels_rule_check(checker->labels, book, report);
    line_rule_check(checker->line, &checker->lives, book, report);
}

lives_t *
checker_lives(checker_t *checker)
{
    return &checker->lives;
}
