/** @file
 * schedq/preemption: which running pods have to go, on which node, for a pod that fits nowhere.
 *
 * A schedq_cluster_t is a snapshot (schedq/cluster.h) of nodes, the pods that run on them,
 * disruption budgets and nominated pods. schedq_preempt reads it, and decides as kube-scheduler's
 * DefaultPreemption does. A dry run finds the candidates: nodes that the pod fits once victims are
 * gone. The best one is chosen. schedq_preempt changes nothing itself: schedq/eviction.h or the
 * caller deletes the victims, and the caller nominates the pod, in the snapshot
 * (schedq_cluster_nominate) and in the queue (schedq_nominate).
 *
 * TERMS. The preemptor is the pod that room is made for. A victim is a running pod that is evicted
 * for it. The more important of two running pods has the higher priority, else the earlier start. A
 * workspace is the memory of one evaluation.
 *
 * Use it for a pod for which scheduling found no node. Do not use it to place pods: a node where
 * the pod fits without an eviction is an error, except with no_victims TAKE.
 *
 * NOMINATIONS are promises that the scheduler has to keep. When it looks for a node for a pod, each
 * other pod of at least the same priority takes its requests on the node that it is nominated to,
 * as if it ran there. schedq_cluster_fits asks that way, and schedq_cluster_first_fit finds a node.
 * A scheduler that ignores nominations gives the room of the victims to the victims: they queue
 * again, are placed before the preemptor, and are evicted again, without end (docs/PREEMPTION.md,
 * examples/preempt.c).
 *
 * RESOURCES (cpu, memory, pod slots, named extended ones) are added up here. Every other constraint
 * is a callback, schedq_filter_fn.
 *
 * THREADS. [cluster] calls change the snapshot: each overlaps with no other call on this snapshot.
 * [read] calls may overlap with each other, on any threads; those with a workspace only if the
 * workspaces differ. A caller that updates while other threads evaluate keeps two snapshots. It
 * applies every update to both in turn, and swaps them when the older one has no reader (as RCU).
 *
 * LIBRARY. schedq::preemption (pkg-config schedq-preemption) holds this header and cluster.h, and
 * needs nothing but libc. Neither it nor schedq::schedq calls the other: where a text below names a
 * function of the queue, the caller calls it.
 *
 * ALLOCATION. Memory is libc's (posix_memalign, free), or comes from the schedq_allocator_t that a
 * snapshot or a workspace is made with. Both keep what they grew to. The same evaluation again with
 * the same workspace allocates nothing. Another one of no greater size (nodes, pods, budgets,
 * candidates, tasks) seldom does: lists of victims lie in blocks, and some orders need more blocks.
 *
 * ARGUMENTS. What is out of range is SCHEDQ_INVALID and changes nothing. schedq_cluster_error
 * (after [cluster] calls) or schedq_preemption_error then tells argument, value and legal range.
 * Texts end with a NUL and are copied. A list of n elements may be NULL if n is 0.
 *
 * DETERMINISM. The same snapshot, built by the same calls, and the same arguments give the same
 * decision, with an executor or without. The same calls give the same node numbers, handles and
 * generations, as long as none is NOMEM. Nodes are visited in the order of their numbers; equally
 * important pods in the order in which they came to their node.
 */
#ifndef SCHEDQ_PREEMPTION_H
#define SCHEDQ_PREEMPTION_H

#include <schedq/cluster.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A workspace: the memory of one evaluation at a time. */
typedef struct schedq_preemption schedq_preemption_t;

/* ---- how to decide --------------------------------------------------------------------------- */

enum { SCHEDQ_VICTIMS_BY_IMPORTANCE = 0, SCHEDQ_VICTIMS_BY_PRIORITY = 1 }; /* config.victim_order */
enum { SCHEDQ_BUDGETS_COUNT_DOWN = 0, SCHEDQ_BUDGETS_BY_ALLOWED = 1 };     /* config.budget_rule */
/* config.terminating_rule */
enum { SCHEDQ_BLOCKED_BY_TARGET = 0, SCHEDQ_BLOCKED_BY_ANY = 1 };
enum { SCHEDQ_NO_VICTIMS_ERROR = 0, SCHEDQ_NO_VICTIMS_TAKE = 1 };          /* config.no_victims */

/**
 * Returns what it costs to evict this pod; less is better. Called for victims of candidates, on the
 * caller's thread. It may make [read] calls. With extenders it is called again for the victims that
 * they leave, and should return the same.
 */
typedef uint32_t (*schedq_victim_cost_fn)(void *ctx, const schedq_cluster_t *cluster,
                                          schedq_running_t pod);

/**
 * How to decide. Begin with SCHEDQ_PREEMPTION_CONFIG_INIT, whose values are the defaults below, or
 * with a kube preset. Change what you want.
 */
typedef struct schedq_preemption_config {
    uint32_t struct_size;           /**< set by the initializer */
    uint32_t candidates_percentage; /**< the dry run looks for this share of the nodes where
                                         preemption might help; default 10; 0..100 */
    uint32_t candidates_absolute;   /**< or for this many, if that is more; default 100 */
    uint32_t candidates_min;        /**< and at least for this many, as far as there are; default 1;
                                         kube: 0, with which a small cluster may never preempt */
    /** BY_IMPORTANCE (default): priority, then start; BY_PRIORITY: priority, then arrival */
    uint8_t victim_order;
    uint8_t budget_rule;            /**< COUNT_DOWN (default): each potential victim takes one from
                                         `allowed`; BY_ALLOWED: a budget is violated if allowed <=
                                         0, by disrupted pods too */
    uint8_t terminating_rule;       /**< what blocks another preemption. BY_TARGET (default): a pod
                                         that the scheduler evicts; BY_ANY: any that terminates */
    uint8_t no_victims;             /**< a node where the pod fits with every pod kept: ERROR
                                         (default), or TAKE: it is taken at once */
    /** 0..1: 1 (default): victims that violate a budget and others are in one order */
    uint8_t sorts_again;
    uint8_t start_criterion;        /**< 0..1: 1 (default): of nodes that tie, the one wins whose
                                         victims of highest priority started last */
    uint8_t heeds_never;            /**< 0..1: 1 (default): preemptionPolicy Never counts */
    uint8_t asynchronous;           /**< 0..1: 1 (default): the preemptor is held back while its
                                         victims are evicted; if all victims terminate already, no
                                         nomination is cleared */
    /* Beyond kube-scheduler: 0 or NULL (default) = off, as in all presets. */
    uint32_t max_victims;           /**< a node that needs more victims is no candidate */
    int64_t min_run_ns;             /**< a pod that started less than this before now_ns is no
                                         victim (unless it terminates); 0..INT64_MAX */
    int64_t evict_again_ns;         /**< a pod whose workload lost one less than this before now_ns
                                         is no victim (unless it terminates); 0..INT64_MAX */
    int64_t nomination_lease_ns;    /**< decision.nomination_expires_ns is now_ns + this;
                                         expired nominations do not count; 0..INT64_MAX */
    schedq_victim_cost_fn victim_cost; /**< of nodes with the fewest violations the one with the
                                            least sum of costs wins; other criteria break ties */
    void    *victim_cost_ctx;       /**< its first argument */
    uint64_t reserved; /**< zero */
} schedq_preemption_config_t;

/** As kube-scheduler 1.34, but the dry run looks for at least one candidate. */
#define SCHEDQ_PREEMPTION_CONFIG_INIT                                         \
    {                                                                         \
        sizeof(schedq_preemption_config_t), 10, /* candidates_percentage */   \
            100,                                /* candidates_absolute */     \
            1,                                  /* candidates_min */          \
            SCHEDQ_VICTIMS_BY_IMPORTANCE, SCHEDQ_BUDGETS_COUNT_DOWN,          \
            SCHEDQ_BLOCKED_BY_TARGET, SCHEDQ_NO_VICTIMS_ERROR,                \
            1,                                  /* sorts_again */             \
            1,                                  /* start_criterion */         \
            1,                                  /* heeds_never */             \
            1,                                  /* asynchronous */            \
            0, 0, 0, 0, NULL, NULL, 0           /* max_victims .. reserved */ \
    }

/**
 * Sets every field to a preset: SCHEDQ_PRESET_DEFAULT, _KUBE_1_12 or _KUBE_1_34 (1.26 has none).
 *
 * @param preset which one
 * @param config its struct_size is as SCHEDQ_PREEMPTION_CONFIG_INIT sets it
 * @retval SCHEDQ_OK       every field is set
 * @retval SCHEDQ_INVALID  config is NULL, struct_size or preset unknown; nothing is written
 *
 * Threads: [any]  Progress: wait-free.
 */
SCHEDQ_API schedq_status_t schedq_preemption_config_preset(schedq_preemption_config_t *config,
                                                           schedq_preset_t preset);

/** Sets the behaviour of kube-scheduler 1.34. */
static inline void
schedq_preemption_config_kube_1_34(schedq_preemption_config_t *config)
{
    const schedq_preemption_config_t defaults = SCHEDQ_PREEMPTION_CONFIG_INIT;

    *config = defaults;
    (void)schedq_preemption_config_preset(config, SCHEDQ_PRESET_KUBE_1_34);
}

/** Sets the behaviour of kube-scheduler 1.12. */
static inline void
schedq_preemption_config_kube_1_12(schedq_preemption_config_t *config)
{
    const schedq_preemption_config_t defaults = SCHEDQ_PREEMPTION_CONFIG_INIT;

    *config = defaults;
    (void)schedq_preemption_config_preset(config, SCHEDQ_PRESET_KUBE_1_12);
}

/* ---- what an evaluation is told -------------------------------------------------------------- */

/** What the search for a node said of one. Preemption may help with UNSCHEDULABLE only. */
enum { SCHEDQ_NODE_UNRESOLVABLE = 0, SCHEDQ_NODE_UNSCHEDULABLE = 1 };

/** A filter's answer; any other value counts as ERROR. */
typedef enum schedq_fit {
    SCHEDQ_FIT_YES = 0,
    SCHEDQ_FIT_UNSCHEDULABLE,
    SCHEDQ_FIT_UNRESOLVABLE,
    SCHEDQ_FIT_ERROR
} schedq_fit_t;

/** The node as a filter has to see it. Valid during the call. */
typedef struct schedq_filter_question {
    const schedq_cluster_t *cluster; /**< the snapshot that is asked about */
    uint64_t preemptor;        /**< the preemptor's object */
    uint32_t node;             /**< the number of the node */
    uint32_t removed_count;    /**< elements of `removed` */
    /** running pods of the node that the filter has to take as gone */
    const schedq_running_t *removed;
    const uint64_t *nominated; /**< objects of pods that the filter has to take as running there */
    uint32_t nominated_count;  /**< elements of `nominated` */
    uint32_t reserved; /**< zero */
} schedq_filter_question_t;

/**
 * A filter: does the preemptor fit there, for all constraints but resources?
 *
 * It is asked where resources suffice (with filter_first: everywhere). Where pods of at least the
 * preemptor's priority are nominated, it is asked with them, and if it says yes also without. With
 * an executor it runs on several threads at once, and for nodes whose answer is not needed in the
 * end. It may make [read] calls.
 */
typedef schedq_fit_t (*schedq_filter_fn)(void *ctx, const schedq_filter_question_t *question);

/** A candidate: a node, and the pods it would lose. Extenders may change it. */
typedef struct schedq_candidate_node {
    uint32_t node;                  /**< its number */
    uint32_t violations;            /**< victims whose eviction violates a budget */
    uint32_t victim_count;          /**< elements of `victims` */
    uint32_t dropped;               /**< extenders only: 1 takes the node out */
    /** most important first; without sorts_again those that violate a budget come first */
    schedq_running_t *victims;
    int32_t  first_priority;        /**< of victims[0]. This and the members below rank the
                                         candidate; extenders need not keep them up to date */
    int32_t  highest_priority;      /**< of the victims */
    uint64_t priority_sum;          /**< of the victims: sum of (priority + 2^31) */
    int64_t  earliest_start_ns;     /**< of the victims with highest_priority */
    /** sum of config.victim_cost; 0 without it */
    uint64_t cost;
} schedq_candidate_node_t;

enum { SCHEDQ_EXTENDER_DONE = 0, SCHEDQ_EXTENDER_UNINTERESTED = 1, SCHEDQ_EXTENDER_FAILED = 2 };

/** A program beside the scheduler that may drop candidates, or some of their victims. */
typedef struct schedq_extender {
    /**
     * May set `dropped` and `violations`, and shorten or reorder `victims`, in place. The list is
     * valid during the call. Returns SCHEDQ_EXTENDER_DONE; or UNINTERESTED: its changes are
     * dropped. FAILED and any other value count as a failure, and so do victims that are more than
     * before, of another node, or named twice: its changes are dropped too. Called on the caller's
     * thread, with one candidate or more. It may make [read] calls.
     */
    int (*process)(void *ctx, const schedq_cluster_t *cluster, schedq_candidate_node_t *candidates,
                   uint32_t count);
    void    *ctx;       /**< its first argument */
    uint32_t ignorable; /**< 0..1: 1: its failure is ignored, and a node that it leaves without
                             victims is dropped; 0: both are errors */
    uint32_t reserved; /**< zero */
} schedq_extender_t;

/** Threads of the caller for the dry run; the library makes none. */
typedef struct schedq_executor {
    /**
     * Calls task(argument, i) once for each i from 0 to count - 1, in any order, on any threads,
     * and returns when all of them have returned. Called several times a decision, with count =
     * `tasks`.
     */
    void (*run)(void *ctx, void (*task)(void *argument, uint32_t i), void *argument,
                uint32_t count);
    void    *ctx;   /**< its first argument */
    uint32_t tasks; /**< tasks that may run at once, 1..64; the workspace grows with them */
    uint32_t reserved; /**< zero */
} schedq_executor_t;

/** A pod that needs a node, and what the search for a node found out. */
typedef struct schedq_preemptor {
    uint32_t struct_size;   /**< set by SCHEDQ_PREEMPTOR_INIT */
    int32_t  priority;      /**< evicts lower ones only */
    /** "namespace/name": its own nomination does not count; NULL = it has none */
    const char *name;
    uint64_t object;        /**< for filters */
    schedq_amounts_t requests; /**< what it needs of one node */
    uint32_t nominated_node; /**< the node that it is nominated to; SCHEDQ_NO_NODE (default): none,
                                  or not in the snapshot; any other number must be a node's. The
                                  queue counts nodes from 1: popped.nominated_node - 1 */
    uint32_t never;         /**< 0..1: preemptionPolicy Never */
    /**
     * SCHEDQ_NODE_... by the number of the node (0 is UNRESOLVABLE); NULL: all UNSCHEDULABLE, as
     * after a refusal by PreFilter.
     */
    const uint8_t *statuses;
    uint32_t status_count;  /**< schedq_cluster_nodes_end, or 0 with NULL */
    /** the dry run begins at that one of the potential nodes, modulo their number; vary it */
    uint32_t offset;
    int64_t  now_ns;        /**< any clock of the caller's, 0 or more. Needed with min_run_ns,
                                 evict_again_ns and leases; with 0 min_run_ns spares every pod
                                 whose start_ns is not negative */
    schedq_filter_fn filter; /**< NULL: only resources count */
    void    *filter_ctx;    /**< its first argument */
    uint32_t filter_first;  /**< 0..1: 1: ask the filter before looking at resources, in kube's
                                 order. It changes only reasons of refusals, and errors, and costs
                                 a call for each node; default 0 */
    uint32_t extender_count; /**< elements of `extenders` */
    const schedq_extender_t *extenders; /**< asked in this order */
    const schedq_executor_t *executor;  /**< NULL: all on the caller's thread */
} schedq_preemptor_t;

/** The defaults, without name and amounts. */
#define SCHEDQ_PREEMPTOR_INIT                                                                \
    {                                                                                        \
        sizeof(schedq_preemptor_t), 0, NULL, 0, {0, 0, NULL, 0, 0}, SCHEDQ_NO_NODE, 0, NULL, \
            0, 0, 0, NULL, NULL, 0, 0, NULL, NULL                                            \
    }

/* ---- the decision ---------------------------------------------------------------------------- */

/** May the pod evict others? */
typedef enum schedq_eligibility {
    SCHEDQ_ELIGIBLE = 0,
    SCHEDQ_INELIGIBLE_NEVER,      /**< preemptionPolicy Never */
    /** pods on its nominated node are on their way out: wait for them */
    SCHEDQ_INELIGIBLE_TERMINATING
} schedq_eligibility_t;

/** What a decision came to. */
typedef enum schedq_outcome {
    SCHEDQ_PREEMPT_SUCCESS = 0,   /**< `chosen` is a node */
    SCHEDQ_PREEMPT_UNSCHEDULABLE, /**< preemption does not help, or not now */
    SCHEDQ_PREEMPT_NO_NODES,      /**< kube: an error; the snapshot has no node */
    SCHEDQ_PREEMPT_NODE_ERRORS,   /**< kube: an error; no candidate, and some nodes gave an error */
    SCHEDQ_PREEMPT_EXTENDER       /**< kube: an error; an extender failed */
} schedq_outcome_t;

/** What becomes of the preemptor's status.nominatedNodeName. */
typedef enum schedq_nomination {
    SCHEDQ_NOMINATION_KEEP = 0,
    SCHEDQ_NOMINATION_CLEAR, /**< also of a pod that has none: then unnominate says NOT_FOUND */
    SCHEDQ_NOMINATION_SET    /**< to `chosen` */
} schedq_nomination_t;

/** A nomination to be cleared: the pod is less important than the preemptor. */
typedef struct schedq_lower_nomination {
    uint64_t object;     /**< the nominated pod's own */
    uint64_t generation; /**< for schedq_cluster_unnominate */
} schedq_lower_nomination_t;

/**
 * What schedq_preempt decided. Its lists are the workspace's: they are valid until the workspace's
 * next schedq_preempt or its end. Changes of the snapshot do not change them.
 */
typedef struct schedq_preemption_decision {
    uint32_t struct_size; /**< set by SCHEDQ_PREEMPTION_DECISION_INIT */
    uint8_t  eligibility; /**< schedq_eligibility_t */
    uint8_t  outcome;     /**< schedq_outcome_t */
    uint8_t  nomination;  /**< schedq_nomination_t */
    uint8_t  holds;       /**< 1: asynchronous, and there is something to delete. PreEnqueue has to
                               refuse the preemptor until just before the last delete is sent
                               (schedq_evictor_holds does it). If it refuses longer, the event of
                               that deletion finds the preemptor refused */
    uint32_t potential;   /**< nodes where preemption might help */
    uint32_t offset;      /**< which of these the dry run began at, from 0 */
    uint32_t wanted;      /**< candidates that the dry run looked for */
    /** nodes that it looked at and that are no candidates; schedq_preemption_verdict tells why */
    uint32_t rejected;
    uint32_t errors;      /**< those of `rejected` that gave an error */
    uint32_t chosen;      /**< the node, or SCHEDQ_NO_NODE. Numbers begin at 0; in the queue 0 is no
                               node: pass chosen + 1 to schedq_nominate */
    uint32_t candidate_count; /**< elements of `candidates` */
    uint32_t victim_count; /**< elements of `victims` */
    uint32_t delete_count; /**< elements of `deletes` */
    uint32_t clear_count;  /**< elements of `clears` */
    uint32_t extender;    /**< outcome EXTENDER: which one failed, from 0 */
    uint32_t reserved; /**< zero */
    /** of the dry run: those without violations first, then the others, each as visited */
    const schedq_candidate_node_t *candidates;
    const schedq_running_t   *victims;    /**< of `chosen`; extenders may have changed them */
    const schedq_running_t   *deletes;    /**< the victims that do not terminate yet; delete the
                                               last one last: its event brings the preemptor back */
    const schedq_lower_nomination_t *clears; /**< in the order of their nominations */
    /** for the nomination to `chosen`; SCHEDQ_NO_DEADLINE without leases */
    int64_t  nomination_expires_ns;
} schedq_preemption_decision_t;

/** To be filled. */
#define SCHEDQ_PREEMPTION_DECISION_INIT                                                    \
    {                                                                                      \
        sizeof(schedq_preemption_decision_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, NULL, NULL, NULL, NULL, 0                                                   \
    }

/** What the dry run found out about a node. */
typedef enum schedq_verdict_kind {
    /** not evaluated: unresolvable before, or the search had ended */
    SCHEDQ_VERDICT_UNSEEN = 0,
    SCHEDQ_VERDICT_CANDIDATE,     /**< also if there were enough of its kind before it */
    SCHEDQ_VERDICT_UNSCHEDULABLE, /**< does not fit without the victims either, or needs too many */
    /** preemption cannot help there; or no pod there may be a victim now */
    SCHEDQ_VERDICT_UNRESOLVABLE,
    SCHEDQ_VERDICT_ERROR          /**< the filter gave an error, or reason FITS */
} schedq_verdict_kind_t;

/** Why a node is no candidate. */
typedef enum schedq_reason {
    SCHEDQ_REASON_NONE = 0,
    /** verdict.resource is the first that is missing; with PODS: too many pods */
    SCHEDQ_REASON_RESOURCE,
    SCHEDQ_REASON_FILTER,      /**< the callback said so */
    SCHEDQ_REASON_NO_VICTIMS,  /**< no pod there may be evicted for the preemptor */
    SCHEDQ_REASON_FITS,        /**< ERROR: it fits without any victim */
    SCHEDQ_REASON_MAX_VICTIMS  /**< more victims than config.max_victims */
} schedq_reason_t;

/** Why a node is a candidate or none. */
typedef struct schedq_verdict {
    uint8_t  kind;     /**< schedq_verdict_kind_t */
    uint8_t  reason;   /**< schedq_reason_t */
    uint16_t resource; /**< reason RESOURCE: which */
} schedq_verdict_t;

/**
 * Makes a workspace.
 *
 * @param allocator  copied; NULL or all zero: libc's malloc. With an executor several threads use
 *                   it at once
 * @param preemption receives it, NULL if there is none
 * @retval SCHEDQ_OK       *preemption is the caller's until schedq_preemption_destroy
 * @retval SCHEDQ_INVALID  *preemption is NULL; `why` says what is wrong
 * @retval SCHEDQ_NOMEM    *preemption is NULL
 *
 * Threads: any thread  Progress: wait-free but for the allocator; allocates.
 */
SCHEDQ_API schedq_status_t schedq_preemption_create(const schedq_allocator_t *allocator,
                                                    schedq_preemption_t **preemption, char *why,
                                                    size_t why_size);

/**
 * Frees a workspace, and the lists of its last decision; NULL is allowed.
 *
 * Threads: overlaps with no other call on it  Progress: O(its memory).
 */
SCHEDQ_API void schedq_preemption_destroy(schedq_preemption_t *preemption);

/**
 * Says what the last schedq_preempt, schedq_cluster_fits or schedq_cluster_first_fit with this
 * workspace found wrong; "" if it found nothing wrong, or was NOMEM. Valid until the next one.
 *
 * Threads: as schedq_preempt  Progress: wait-free.
 */
SCHEDQ_API const char *schedq_preemption_error(const schedq_preemption_t *preemption);

/**
 * Tells whether a pod fits a node as things are. The pods that run there count, and each other pod
 * of at least its priority that is nominated there counts as if it ran there.
 *
 * schedq_preempt asks the same of a node before it removes a pod. So the two calls agree if they
 * get the same description: where the pod fits, no eviction is needed. Changes nothing but the
 * workspace.
 * The lists of its last decision stay valid; schedq_preemption_verdict is INVALID afterwards.
 *
 * @param node     the number of a node
 * @param config   as for schedq_preempt; nomination_lease_ns decides whether leases count
 * @param pod      read are priority, name (its own nomination does not count), object, requests,
 *                 now_ns, filter, filter_ctx, filter_first; the filter finds no pod removed
 * @param fit      receives YES; UNSCHEDULABLE: not as things are; UNRESOLVABLE: it asks for more
 *                 than all of the node, or its filter said so; ERROR: its filter said so. In
 *                 schedq_preemptor.statuses YES and UNSCHEDULABLE are SCHEDQ_NODE_UNSCHEDULABLE,
 *                 the others SCHEDQ_NODE_UNRESOLVABLE
 * @param resource receives the first resource that is short, SCHEDQ_NO_RESOURCE if none is or the
 *                 filter refused; may be NULL
 * @retval SCHEDQ_OK         *fit and *resource are set
 * @retval SCHEDQ_NOT_FOUND  no node has that number; *fit and *resource are as they were
 * @retval SCHEDQ_INVALID    *fit and *resource are as they were
 * @retval SCHEDQ_NOMEM      *fit and *resource are as they were
 *
 * Threads: [read], one call at a time per workspace  Progress: O(resources asked for + pods
 *          nominated to the node); allocates while the workspace grows.
 */
SCHEDQ_API schedq_status_t schedq_cluster_fits(const schedq_cluster_t *cluster,
                                               schedq_preemption_t *preemption,
                                               const schedq_preemption_config_t *config,
                                               const schedq_preemptor_t *pod, uint32_t node,
                                               schedq_fit_t *fit, uint32_t *resource);

/**
 * Finds a node that a pod fits, as schedq_cluster_fits tells it: the node that it is nominated to,
 * else the one with the lowest number.
 *
 * @param config as for schedq_cluster_fits
 * @param pod  as for schedq_cluster_fits, and nominated_node is read. Of other nodes the filter is
 *             asked only if they have room without regard to nominations, with filter_first too
 * @param node receives the number, SCHEDQ_NO_NODE if there is none
 * @retval SCHEDQ_OK         *node is a node that the pod fits
 * @retval SCHEDQ_NOT_FOUND  it fits nowhere (schedq_cluster_fits tells what a node is short of);
 *                           schedq_preempt may help, with the same description
 * @retval SCHEDQ_INVALID    *node is SCHEDQ_NO_NODE
 * @retval SCHEDQ_NOMEM      *node is SCHEDQ_NO_NODE
 *
 * Threads: [read], one call at a time per workspace  Progress: O(nodes * resources asked for), and
 *          schedq_cluster_fits for each node with room up to the one found; allocates while the
 *          workspace grows.
 */
SCHEDQ_API schedq_status_t schedq_cluster_first_fit(const schedq_cluster_t *cluster,
                                                    schedq_preemption_t *preemption,
                                                    const schedq_preemption_config_t *config,
                                                    const schedq_preemptor_t *pod, uint32_t *node);

/**
 * Decides which pods to evict for a pod that fits nowhere. Changes nothing but the workspace and
 * *decision.
 *
 * What to do next, while the preemptor is in flight (examples/preempt.c):
 *   1 copy what is needed out of the decision: objects of `deletes` (schedq_cluster_pod) and of
 *     `clears`
 *   2 nomination SET: schedq_cluster_nominate, and schedq_nominate with chosen + 1, before a victim
 *     is deleted: else another pod takes the room. From here on schedq_cluster_fits keeps the room
 *     for the pod. CLEAR: schedq_cluster_unnominate, and schedq_nominate with 0. KEEP: nothing
 *   3 mark each of `deletes`, so that no later decision takes it again: schedq_cluster_update_pod
 *     with its whole description, terminating 1, disruption_status 1, disruption_reason
 *     "PreemptionByScheduler". If evict_again_ns is used: schedq_cluster_record_eviction
 *   4 schedq_evictor_evict with later = holds (schedq/eviction.h); or delete them, the last one
 *     last, and end the nominations in `clears`, in the snapshot and in the queue
 *   5 schedq_fail with the plugins that rejected the pod; without plugins (error backoff) for the
 *     outcomes that kube treats as errors
 * When a victim is gone: schedq_cluster_remove_pod, then schedq_notify (AssignedPodDelete), in this
 * order: a pod that is brought back must not find the victim. When a deletion failed: mark the
 * victim back (terminating 0), before `evict` returns FAILED. Else the preemptor comes back, finds
 * it terminating, and waits for an event that will not come. When the preemptor got its node:
 * schedq_cluster_unnominate, schedq_cluster_add_pod, schedq_done. When the preemptor is deleted:
 * schedq_cluster_unnominate, schedq_delete, schedq_notify (AssignedPodDelete), since its room is
 * free. With `holds` 0 step 4 may come before 2 and 3. If a deletion failed then, do not nominate,
 * and call schedq_fail without plugins (error backoff): no event is sure to come.
 *
 * PLACING WITH THREADS. The search for a node (schedq_cluster_fits), schedq_cluster_unnominate,
 * schedq_cluster_add_pod and schedq_done are one critical section of the caller's. Otherwise the
 * pod can be a victim before schedq_done: it is added to the queue again while it is in flight. And
 * schedq_nominated_pods still shows it as nominated: a thread that places by that counts it twice,
 * evicts too much, or parks a pod that would have had room, and no event says that the room is
 * there.
 *
 * SEVERAL DECIDERS. A decision is as old as the snapshot that it was made from: two threads may
 * choose the same victims, or the same room. Make steps 2 and 3 exclusive. In them, decide again if
 * since the decision began a pod was nominated to `chosen`, or a pod there changed (the caller may
 * keep a counter for each node).
 *
 * @param config    how to decide; not referenced after the call
 * @param preemptor the pod, and what the search for a node found out; not referenced after the call
 * @param decision  begun with SCHEDQ_PREEMPTION_DECISION_INIT; written with OK only
 * @retval SCHEDQ_OK       *decision is set, whatever the outcome
 * @retval SCHEDQ_INVALID  *decision is as it was
 * @retval SCHEDQ_NOMEM    *decision is as it was
 *
 * Threads: [read], one call at a time per workspace  Progress: O(nodes * resources asked for + pods
 *          of lower priority on the nodes evaluated); allocates while the workspace grows.
 */
SCHEDQ_API schedq_status_t schedq_preempt(const schedq_cluster_t *cluster,
                                          schedq_preemption_t *preemption,
                                          const schedq_preemption_config_t *config,
                                          const schedq_preemptor_t *preemptor,
                                          schedq_preemption_decision_t *decision);

/**
 * Tells what the workspace's last schedq_preempt found out about a node. The snapshot must not have
 * changed since.
 *
 * @param node    the number of a node
 * @param verdict receives the answer
 * @retval SCHEDQ_OK         *verdict is set
 * @retval SCHEDQ_NOT_FOUND  no node has that number; *verdict is all zero
 * @retval SCHEDQ_INVALID    also if the workspace's last call was no schedq_preempt that was OK;
 *         *verdict is all zero
 * @retval SCHEDQ_NOMEM      *verdict is all zero
 *
 * Threads: [read], as schedq_preempt  Progress: O(pods of lower priority on the node + resources
 *          asked for); allocates while the workspace grows.
 */
SCHEDQ_API schedq_status_t schedq_preemption_verdict(schedq_preemption_t *preemption, uint32_t node,
                                                     schedq_verdict_t *verdict);

#ifdef __cplusplus
}
#endif
#endif
