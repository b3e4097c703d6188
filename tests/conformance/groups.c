/* Groups, see groups.h. */
#include "groups.h"

#include "result.h"

#include <inttypes.h>
#include <string.h>

uint64_t
group_number(const char *name)
{
    uint64_t number = 0;

    for (size_t i = 0; name != NULL && i < 8; i++) {
        number = number << 8 | (uint8_t)*name;
        name += *name != '\0';
    }
    return number;
}

static struct group *
find(const struct world *world, const char *name)
{
    struct group *group = world->groups;

    while (group != NULL && strcmp(group->name, name) != 0) {
        group = group->next;
    }
    return group;
}

struct group *
groups_make(struct world *world, const char *name)
{
    struct group *group = find(world, name);

    if (group == NULL) {
        group = keep(&world->script->memory, 1, sizeof *group);
        group->name = name;
        group->next = world->groups;
        world->groups = group;
    }
    return group;
}

uint64_t
groups_object(struct world *world, const char *name, struct number min)
{
    struct object *object = keep(&world->script->memory, 1, sizeof *object);

    *object = (struct object){.ns = NAMESPACE, .group = name, .min = min.value};
    return object_bits(object);
}

/* ---- what upstream's plugins know ------------------------------------------------------------ */

/* By the objects that exist; NULL: one above does not. */
static const struct group *
root_of(const struct world *world, const char *name)
{
    const struct group *group = find(world, name);

    for (unsigned depth = 0; group != NULL && group->exists && depth < 64; depth++) {
        if (group->parent == NULL) {
            return group;
        }
        group = find(world, group->parent);
    }
    return NULL;
}

static int64_t
pods_of(const struct world *world, const char *name)
{
    int64_t count = 0;

    for (const struct pod *pod = world->pods; pod != NULL; pod = pod->next) {
        count += pod->exists && pod->group != NULL && strcmp(pod->group, name) == 0 ? 1 : 0;
    }
    return count;
}

int
groups_pass_gang(void *ctx, uint64_t pod)
{
    const struct world *world = ctx;
    const struct object *object = object_at(pod);

    if (object->group == NULL || object->gate != 0) {
        return 1;
    }
    return root_of(world, object->group) != NULL &&
           find(world, object->group)->min <= pods_of(world, object->group);
}

static bool
is_of_root(const struct world *world, uint64_t pod, uint64_t other)
{
    const struct object *waiting = object_at(pod);
    const struct object *changed = object_at(other);

    if (changed == NULL || changed->group == NULL || waiting->group == NULL) {
        return false;
    }
    const struct group *root = root_of(world, waiting->group);

    return root != NULL && root == root_of(world, changed->group);
}

schedq_hint_t
groups_hint_mine(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)old_object;
    return is_of_root(ctx, pod, new_object) ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
}

schedq_hint_t
groups_hint_min(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    bool less = new_object != 0 && old_object != 0 &&
                object_at(new_object)->min < object_at(old_object)->min;

    return less && is_of_root(ctx, pod, new_object) ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
}

/* ---- operations ------------------------------------------------------------------------------ */

/* add and update */
void
run_group_declare(struct world *world, const struct operation *operation, FILE *result)
{
    struct group *group = groups_make(world, operation->group);
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    bool adds = operation->kind == OP_GROUP_ADD || operation->kind == OP_COMPOSITE_ADD;

    spec.priority = (int32_t)operation->pod.prio.value;
    spec.profile = world_profile(world, "default-scheduler")->number;
    spec.object = group_number(group->name);
    group->exists = true;
    group->min = operation->min.value;
    group->parent = world->script->config.composite.value == 1 ? operation->parent : NULL;
    spec.parent = group_number(group->parent);
    write_status(world,
                 adds ? schedq_group_add(world->worker, spec.object, &spec, NULL)
                      : schedq_group_update(world->worker, spec.object, &spec, NULL),
                 result);
}

/* Upstream's plugins see it go before the queue does. */
void
run_group_delete(struct world *world, const struct operation *operation, FILE *result)
{
    struct group *group = groups_make(world, operation->group);

    group->exists = false;
    write_status(world, schedq_group_delete(world->worker, group_number(group->name), NULL),
                 result);
}

void
run_group_done(struct world *world, const struct operation *operation, FILE *result)
{
    static const char *const outcomes[] = {[SCHEDQ_GROUP_PLACED] = "success",
                                           [SCHEDQ_GROUP_REJECTED] = "unschedulable",
                                           [SCHEDQ_GROUP_ERROR] = "error"};
    struct group *group = groups_make(world, operation->group);
    schedq_group_end_t end = SCHEDQ_GROUP_END_INIT;

    while (end.outcome <= SCHEDQ_GROUP_ERROR &&
           strcmp(outcomes[end.outcome], operation->status) != 0) {
        end.outcome++;
    }
    write_status(world, schedq_group_done(world->worker, &group->token, &end, NULL), result);
}

static bool
is_queued(const schedq_group_info_t *info)
{
    return info->place != SCHEDQ_ASIDE && info->place != SCHEDQ_INFLIGHT;
}

void
run_group_get(struct world *world, const struct operation *operation, FILE *result)
{
    const struct profile *profile = world_profile(world, "default-scheduler");
    schedq_group_info_t info = SCHEDQ_GROUP_INFO_INIT;
    schedq_status_t status = schedq_group_get(world->worker, group_number(operation->group), &info);

    if (status != SCHEDQ_OK || !is_queued(&info)) {
        fputs("absent", result);
        return;
    }
    fputs(operation->group, result);
    write_history(&info.history, result);
    fputs(" gating=", result);
    write_rejectors(profile, info.gate == 0 ? 0 : UINT64_C(1) << (info.gate - 1), result);
    fprintf(result, " size=%" PRIu64, info.waiting);
}
