/*
 * What plants are made of: a look (find) of some thread at the right time, which becomes another
 * call.
 */
#ifndef SCHEDQ_HISTORY_PLANT_PARTS_H
#define SCHEDQ_HISTORY_PLANT_PARTS_H

#include "lives.h"

/** A find of a thread inside (after, before); NULL if there is none. */
record_t *plant_look_between(const book_t *book, uint64_t after, uint64_t before);
/** Keeps thread and interval. */
void plant_rewrite(record_t *record, uint8_t call, schedq_status_t status);
/** A call that is OK, about the pod as it was made. */
void plant_rewrite_about(record_t *record, uint8_t call, const life_t *life);
/** A find that saw the pod of this stay. */
void plant_rewrite_as_look(record_t *record, const stay_t *stay, schedq_place_t place);
/** No call held it: rules leave out pods that one held. */
bool plant_is_never_held(const life_t *life);
/** One stay, one description, never held. */
bool plant_is_plain(const life_t *life);
/** The pop of a life that has one stay; else NULL. */
record_t *plant_only_pop(const life_t *life);
bool plant_is_done_life(const life_t *life);

/* plant_waiting.c: plants about pods that wait. */
bool plant_missed_event(book_t *book, lives_t *lives);
bool plant_missed_in_flight(book_t *book, lives_t *lives);
bool plant_missed_activation(book_t *book, lives_t *lives);
bool plant_gated(book_t *book, lives_t *lives);
bool plant_gated_add(book_t *book, lives_t *lives);
bool plant_overdue(book_t *book, lives_t *lives);
bool plant_kept(book_t *book, lives_t *lives);
bool plant_moved_back(book_t *book, lives_t *lives);
bool plant_attempts(book_t *book, lives_t *lives);
bool plant_empty_backoff(book_t *book, lives_t *lives);

/* plant_line.c: plants about labels and the line. */
bool plant_label_missed(book_t *book, lives_t *lives);
bool plant_label_count(book_t *book, lives_t *lives);
bool plant_label_kept(book_t *book, lives_t *lives);
bool plant_label_other(book_t *book, lives_t *lives);
bool plant_position_low(book_t *book, lives_t *lives);
bool plant_position_high(book_t *book, lives_t *lives);
bool plant_peek_order(book_t *book, lives_t *lives);
bool plant_peek_gap(book_t *book, lives_t *lives);
bool plant_peek_twice(book_t *book, lives_t *lives);
bool plant_peek_few(book_t *book, lives_t *lives);

#endif
