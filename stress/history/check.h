/*
 * The rules, one function each. All look at the lives and the book that lives_resolve has filled.
 */
#ifndef SCHEDQ_HISTORY_CHECK_H
#define SCHEDQ_HISTORY_CHECK_H

#include "lives.h"

typedef struct checker checker_t;

/**
 * For rounds of about `operations` records and names below `names`; ends the process if there is no
 * memory.
 */
checker_t *checker_make(const book_t *book, size_t operations, uint32_t names);
void checker_free(checker_t *checker);
/** Resolves the lives, then checks every rule but the counters. */
void checker_run(checker_t *checker, book_t *book, report_t *report);
lives_t *checker_lives(checker_t *checker);

/** once.c: every life ends once or is pending; its token is STALE after its use and not before. */
void once_check(const lives_t *lives, const book_t *book, report_t *report);

typedef struct labels_rule labels_rule_t;

/** labels.c: label calls reach each pod of their label, and tell no others. */
labels_rule_t *labels_rule_make(const book_t *book, uint32_t names);
void labels_rule_free(labels_rule_t *rule);
/** Which lives the round's calls reach; before any other rule looks at them. */
void labels_rule_resolve(labels_rule_t *rule, const lives_t *lives, const book_t *book);
void labels_rule_check(labels_rule_t *rule, const book_t *book, report_t *report);
/** label_hold and label_release as calls on single pods, by begin. */
size_t labels_rule_touches(labels_rule_t *rule, record_t **touches);

typedef struct line_rule line_rule_t;

/** line.c: what peek, peek_many and position say. */
line_rule_t *line_rule_make(const book_t *book);
void line_rule_free(line_rule_t *rule);
void line_rule_check(line_rule_t *rule, const lives_t *lives, const book_t *book, report_t *report);

typedef struct automaton automaton_t;

/**
 * automaton.c: for each name, some order of its calls explains every answer. `touches`: calls
 * beside those of the book, by begin.
 */
automaton_t *automaton_make(const book_t *book, uint32_t names);
void automaton_free(automaton_t *automaton);
void automaton_check(automaton_t *automaton, const book_t *book, record_t *touches,
                     size_t touch_count, report_t *report);

typedef struct order order_t;

/** order.c: strict order, EMPTY, TIMEDOUT. */
order_t *order_make(const book_t *book);
void order_free(order_t *order);
void order_check(order_t *order, const lives_t *lives, const book_t *book, report_t *report);

typedef struct events_rule events_rule_t;

/** events_rule.c: no event is missed by a parked or a gated pod that it helps. */
events_rule_t *events_rule_make(const book_t *book);
void events_rule_free(events_rule_t *rule);
void events_rule_check(events_rule_t *rule, const book_t *book, report_t *report);

typedef struct due_rule due_rule_t;

/** due_rule.c: a tick leaves nothing in a backoff that is over. */
due_rule_t *due_rule_make(const book_t *book);
void due_rule_free(due_rule_t *rule);
void due_rule_check(due_rule_t *rule, const lives_t *lives, const book_t *book, report_t *report);

/** clock_rule.c: Timestamps follow real time; nothing enters after close. */
void clock_check(const book_t *book, report_t *report);
void close_check(const book_t *book, report_t *report);

/** nominations.c: a pod is nominated where the last nomination said. */
void nominations_check(const book_t *book, report_t *report);
/** The same of all pods when all is quiet; `said`: schedq_words has so many nominations. */
void nominations_look(const lives_t *lives, schedq_worker_t *worker, uint64_t said,
                      report_t *report);

typedef struct caps_rule caps_rule_t;

/** caps.c: FULL is true, and max_pods is kept. */
caps_rule_t *caps_rule_make(const book_t *book);
void caps_rule_free(caps_rule_t *rule);
void caps_rule_check(caps_rule_t *rule, const lives_t *lives, const book_t *book, report_t *report);

#endif
