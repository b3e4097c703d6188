/*
 * The plugins of plugins.h: with and without hints, gates, interests in everything and in nothing.
 */
#include "plugins.h"

#include <string.h>

#include "compare.h"
#include "nest.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- callbacks ------------------------------------------------------------------------------- */

static bool
is_lent(const world_t *world, uint64_t object)
{
    for (uint32_t i = 0; i < world->lent_count; i++) {
        if (world->lent[i] == object) {
            return true;
        }
    }
    return false;
}

/* The header: the objects that callbacks get are held during the call. */
static void
look_whether_held(const side_t *side, uint64_t object, const char *what)
{
    world_t *world = side->world;
    uint32_t slot = object_slot(object);

    if (slot == NAMES_MAX * OBJECT_VARIANTS) {
        (void)differ(world, "a callback of %s got %s 0x%llx, which was never given to the queue",
                     side->engine, what, (unsigned long long)object);
    } else if (world->settings.config.objects == SCHEDQ_OBJECTS_COUNTED &&
               side->account.held[slot] == 0 && !is_lent(world, object)) {
        (void)differ(world, "a callback of %s got %s 0x%llx, which nobody holds", side->engine,
                     what, (unsigned long long)object);
    }
}

static void
hear(side_t *side, enum question question, uint64_t pod, uint64_t first, uint64_t second)
{
    if (question != QUESTION_PRE_HINT) {
        look_whether_held(side, pod, "the pod");
    }
    if (first != 0) {
        look_whether_held(side, first, "the old (or assigned) object");
    }
    if (second != 0) {
        look_whether_held(side, second, "the new object");
    }
    side->heard += chance_mix(chance_mix(chance_mix(pod + question) ^ first) + second);
    if (side == &side->world->sides[0]) {
        side->world->seen.questions[question]++;
    }
    nest_call(side, true);
}

/* The other engine as if it did not ask. */
static bool
is_planted(const side_t *side, enum other what)
{
    return side == &side->world->sides[1] && plant_due(side->world, what);
}

static schedq_hint_t
hint(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    static const uint8_t answers[] = {SCHEDQ_HINT_SKIP,
                                      SCHEDQ_HINT_SKIP,
                                      SCHEDQ_HINT_SKIP,
                                      SCHEDQ_HINT_QUEUE,
                                      SCHEDQ_HINT_QUEUE,
                                      SCHEDQ_HINT_ERROR,
                                      7};

    hear(ctx, QUESTION_HINT, pod, old_object, new_object);
    if (is_planted(ctx, OTHER_HINT)) {
        return SCHEDQ_HINT_SKIP;
    }
    return (
        schedq_hint_t)answers[chance_mix(pod ^ old_object * 3 ^ new_object * 7) % LENGTH(answers)];
}

/* Lists half of the first pods, and pods that there may never be. */
static schedq_pre_hint_t
list(side_t *side, uint64_t old_object, uint64_t new_object, uint64_t salt, schedq_pod_list_t *pods)
{
    enum { NAMES_LISTED = 64 };
    const world_t *world = side->world;
    uint64_t listed = chance_mix(old_object * 5 ^ new_object * 9 ^ salt);
    uint32_t first = (uint32_t)chance_mix(listed) % world->settings.names;
    char text[NAME_ROOM];

    hear(side, QUESTION_PRE_HINT, salt, old_object, new_object);
    if (listed % 4 == 0) {
        return listed % 8 == 0 ? SCHEDQ_PRE_HINT_ALL : (schedq_pre_hint_t)9;
    }
    for (uint32_t i = 0; i < NAMES_LISTED; i++) {
        uint32_t length = name_write(world_is_kube(world), (first + i) % NAMES_MAX, text);

        if ((listed >> i & 1) != 0 && schedq_pod_list_add(pods, text, length) != SCHEDQ_OK) {
            (void)differ(side->world, "schedq_pod_list_add: %s refused", side->engine);
        }
    }
    return SCHEDQ_PRE_HINT_LISTED;
}

static schedq_pre_hint_t
pre_hint(void *ctx, uint64_t old_object, uint64_t new_object, schedq_pod_list_t *pods)
{
    return list(ctx, old_object, new_object, 1, pods);
}

static schedq_pre_hint_t
other_pre_hint(void *ctx, uint64_t old_object, uint64_t new_object, schedq_pod_list_t *pods)
{
    return list(ctx, old_object, new_object, 2, pods);
}

/* Each gate says its own: a pod that one lets go is refused by another, perhaps. */
static int
pre_enqueue(side_t *side, uint64_t pod, uint64_t gate)
{
    hear(side, QUESTION_PRE_ENQUEUE, pod, 0, 0);
    side->heard += chance_mix(pod ^ gate);
    return is_planted(side, OTHER_GATE) ||
           chance_mix(pod ^ gate ^ side->world->gate_epoch) % 6 != 0;
}

static int
gate(void *ctx, uint64_t pod)
{
    return pre_enqueue(ctx, pod, UINT64_C(1) << 62);
}

static int
deaf_gate(void *ctx, uint64_t pod)
{
    return pre_enqueue(ctx, pod, UINT64_C(1) << 63);
}

int
plugins_precheck(void *ctx, uint64_t pod)
{
    hear(ctx, QUESTION_PRECHECK, pod, 0, 0);
    return chance_mix(pod + 11) % 4 != 0;
}

int
plugins_affinity(void *ctx, uint64_t pod, uint64_t assigned)
{
    hear(ctx, QUESTION_AFFINITY, pod, assigned, 0);
    return chance_mix(pod * 5 ^ assigned) % 3 == 0;
}

/* ---- what calls mean ------------------------------------------------------------------------- */

schedq_event_t
plugins_event(const world_t *world, chance_t *chance)
{
    return (schedq_event_t)(1 + chance_below(chance, world->event_count - 1));
}

uint8_t
plugins_gate(chance_t *chance)
{
    return (uint8_t)(1 + chance_below(chance, PLUGINS_REGISTERED));
}

uint64_t
plugins_judgement(const world_t *world, chance_t *chance, uint64_t seen)
{
    uint64_t newest = world->sides[0].words->event_sequence;
    uint64_t since = newest > seen ? newest - seen : 0;
    uint64_t back = chance_below(chance, 16);

    if (since == 0 || !chance_one_in(chance, 2)) {
        return newest;
    }
    return newest - (back < since ? back : since);
}

/* The sets of pods that are alike: one of the first plugins. */
#define SETS_ALIKE 3

/* One bit of a set that is not empty. */
static uint64_t
one_of(chance_t *chance, uint64_t set)
{
    for (uint32_t skip = chance_below(chance, (uint32_t)__builtin_popcountll(set)); skip > 0;
         skip--) {
        set &= set - 1;
    }
    return set & (~set + 1);
}

uint64_t
plugins_set(const world_t *world, chance_t *chance, schedq_profile_t profile)
{
    uint64_t known = world->sides[0].rejectors[profile] | SCHEDQ_REJECTOR_OTHERS;
    uint64_t first = chance_next(chance), second = chance_next(chance);

    if (world->settings.alike && !chance_one_in(chance, 8)) {
        return UINT64_C(1) << first % SETS_ALIKE;
    }
    switch (chance_below(chance, 8)) {
    case 0:
        return known & first;
    case 1:
        return SCHEDQ_REJECTOR_OTHERS;
    case 2:
        return 0;
    case 3:
    case 4:
        return known & first & second & (chance_next(chance) | UINT64_C(0x3f));
    default:
        return one_of(chance, chance_one_in(chance, 4)
                                  ? known
                                  : known & ((UINT64_C(1) << PLUGINS_REGISTERED) - 1));
    }
}

/* ---- setup ----------------------------------------------------------------------------------- */

static const schedq_interest_t nodes[] = {
    {.resource = "Node", .actions = SCHEDQ_ACTION_ALL, .hint = hint}};
static const schedq_interest_t pods[] = {
    {.resource = "Pod", .actions = SCHEDQ_ACTION_ADD | SCHEDQ_ACTION_DELETE}};
static const schedq_interest_t all[] = {
    {.resource = "*", .actions = SCHEDQ_ACTION_ALL, .hint = hint}};
static const schedq_interest_t taints[] = {
    {.resource = "Node", .actions = SCHEDQ_ACTION_UPDATE_NODE_TAINT, .hint = hint},
    {.resource = "AssignedPod", .actions = SCHEDQ_ACTION_ALL},
    {.resource = "UnschedulablePod", .actions = SCHEDQ_ACTION_UPDATE, .hint = hint}};

/* A late resource, as schedq_event_define may name it. */
static const schedq_interest_t claims[] = {
    {.resource = "Late0", .actions = SCHEDQ_ACTION_ADD | SCHEDQ_ACTION_UPDATE, .hint = hint},
    {.resource = "UnschedulablePod", .actions = SCHEDQ_ACTION_UPDATE_POD_GENERATED_CLAIM}};

#define INTERESTS_MAX 3

struct description {
    schedq_plugin_t plugin;
    schedq_interest_t interests[INTERESTS_MAX];
    schedq_pre_hint_fn pre_hints[INTERESTS_MAX];
};

static const struct {
    const char *name;
    const schedq_interest_t *interests;
    size_t count;
    schedq_pre_enqueue_fn pre_enqueue;
    uint8_t flags;
} plugins[] = {
    {"Nodes", nodes, LENGTH(nodes), NULL, 0},
    {"Pods", pods, LENGTH(pods), NULL, SCHEDQ_PLUGIN_SPREAD},
    {"All", all, LENGTH(all), NULL, 0},
    {"Deaf", NULL, 0, NULL, 0},
    {"Gate", taints, LENGTH(taints), gate, 0},
    {"DeafGate", NULL, 0, deaf_gate, 0},
    {"Claims", claims, LENGTH(claims), NULL, 0},
};

/*
 * Without events, plugins are there for their gates only; a host has no callbacks, and a round of
 * pods that are alike has none.
 */
static void
describe(side_t *side, size_t number, schedq_profile_t profile, struct description *to)
{
    const settings_t *settings = &side->world->settings;
    bool asked = !settings->host && !settings->alike;

    to->plugin = (schedq_plugin_t)SCHEDQ_PLUGIN_INIT;
    memcpy(to->interests, plugins[number].interests != NULL ? plugins[number].interests : nodes,
           (plugins[number].count > 0 ? plugins[number].count : 1) * sizeof *to->interests);
    for (size_t i = 0; !asked && i < INTERESTS_MAX; i++) {
        to->interests[i].hint = NULL;
    }
    to->plugin.profile = profile;
    to->plugin.flags = plugins[number].flags;
    to->plugin.name = plugins[number].name;
    to->plugin.interests = plugins[number].count > 0 ? to->interests : NULL;
    to->plugin.interest_count = plugins[number].count;
    if (asked && settings_have(settings, FEATURE_GATES)) {
        to->plugin.pre_enqueue = plugins[number].pre_enqueue;
    }
    to->plugin.ctx = side;
    /* most interests have one: that of pods that was last has none */
    if (asked && settings->config.pre_queueing_hints && plugins[number].count > 0) {
        for (size_t i = 0; i < INTERESTS_MAX - 1; i++) {
            to->pre_hints[i] = number % 2 == 0 ? pre_hint : other_pre_hint;
        }
        to->plugin.pre_hints = to->pre_hints;
    }
}

/* Where pods are alike, a set means something else in the second profile. */
static bool
register_profile(world_t *world, side_t *side, schedq_profile_t profile)
{
    char why[256];

    side->rejectors[profile] = 0;
    for (size_t i = 0; i < PLUGINS_REGISTERED; i++) {
        struct description description = {0};
        bool turns = world->settings.alike && profile != 0 && i < SETS_ALIKE;
        size_t number = turns ? (i + 1) % SETS_ALIKE : i;
        uint64_t bit;

        describe(side, number, profile, &description);
        /* A host that matches events itself needs names only. */
        schedq_status_t status;

        if (world->settings.host && world->settings.seed % 2 == 0) {
            WORLD_CALL(world, side == &world->sides[1], status,
                       schedq_plugin_name(side->queue, profile, plugins[i].name,
                                          strlen(plugins[i].name), &bit, why, sizeof why));
        } else {
            WORLD_CALL(
                world, side == &world->sides[1], status,
                schedq_plugin_register(side->queue, &description.plugin, &bit, why, sizeof why));
        }
        if (status != SCHEDQ_OK || bit != UINT64_C(1) << i) {
            return differ(world, "schedq_plugin_register: %s %s: %s", side->engine,
                          schedq_status_name(status), why);
        }
        side->rejectors[profile] |= bit;
    }
    return true;
}

bool
plugins_register(world_t *world, side_t *side)
{
    schedq_profile_t second;
    char why[256];
    schedq_status_t status;

    WORLD_CALL(world, side == &world->sides[1], status,
               schedq_profile_define(side->queue, "second", &second, why, sizeof why));
    if (status != SCHEDQ_OK || second != 1) {
        return differ(world, "schedq_profile_define: %s %s: %s", side->engine,
                      schedq_status_name(status), why);
    }
    return register_profile(world, side, 0) && register_profile(world, side, 1);
}
