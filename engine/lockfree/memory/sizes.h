/*
 * How large things are, where only cost depends on it.
 *
 * Under the controlled scheduler they are small, so that short programs meet what takes thousands
 * of pods otherwise: full segments, full pages, merges, growth, clearing.
 */
#ifndef SCHEDQ_LOCKFREE_SIZES_H
#define SCHEDQ_LOCKFREE_SIZES_H

#if defined(SCHEDQ_ATOMICS_CONTROLLED)
#define SIZE(usual, small) (small)
#else
#define SIZE(usual, small) (usual)
#endif

#define MAGAZINE SIZE(64, 4) /* objects that workers exchange at once (slab.h) */
/* 1 << that records of pods, or names, are allocated at once; at least MAGAZINE */
#define RECORD_PAGE_BITS SIZE(8, 4)
#define DESCRIPTION_PAGE_BITS SIZE(8, 4)
#define SEGMENT_SLOTS_MIN SIZE(16, 4) /* of a lane; a power of two */
#define SEGMENT_SLOTS_MAX SIZE(512, 8)
#define HEAD_LAG SIZE(4, 2) /* refs that lie behind a bound, and that a head is not yet past */
#define PASSED_LAG \
    SIZE(8, 2) /* stale refs that consumers know of, and that a head is not yet past */
#define KNOWN_MIN SIZE(4, 2) /* refs that make a tail worth telling other consumers */
/* stale refs that make a copy of a segment worth its cost (lane.h) */
#define SEGMENT_STALE_MIN SIZE(16, 2)
#define NOMINATOR_BUCKETS SIZE(512, 2)
#define LABEL_BUCKETS SIZE(65536, 2)
#define BIN_RUNS SIZE(16, 4)         /* slots for runs in a bin */
#define RUN_FEW SIZE(16, 2)          /* refs: into so few another ref is copied (bin_put_beside) */
#define BANK_LANES SIZE(64, 2)       /* workers whose lanes are in one bin or bank; at most 64 */
#define FRONTS_LINE SIZE(8, 1)       /* fronts of lanes in a cache line (bin.h) */
#define FRONTS_READ SIZE(16, 1)      /* lanes of which all fronts are read */
#define BAND_ROWS SIZE(64, 3)        /* of a leaf of the band table; at most 64 */
#define BAND_PASSES SIZE(15, 2)      /* looks for nothing before bits are taken */
#define BAND_LEAVES_KEPT SIZE(64, 1) /* leaves that may stay in the table without pods */
#define KNOWN_GROUPS SIZE(4, 2)      /* that a worker finds without the index; a power of two */
#define INDEX_LINES_FIRST SIZE(64, 2)

#endif
