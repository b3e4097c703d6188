/* schedq.hpp: what ends what, what a callback that is a member gets, and times. The calls themselves are C's, and tested there. */
#include <schedq/schedq.hpp>

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

extern "C" {
#include <cmocka.h>
}

namespace {

using namespace std::chrono_literals;

std::uint8_t engine; /* under test */

std::int64_t
read_clock(void *ctx)
{
    return *static_cast<std::int64_t *>(ctx);
}

/* A queue whose clock stands, and one worker. */
struct fixture {
    std::int64_t now_ns = 1000000000;
    schedq::queue queue;
    schedq::worker worker;

    fixture()
    {
        schedq_config_t config = SCHEDQ_CONFIG_INIT;
        schedq::words why;
        config.engine = engine;
        config.clock = {read_clock, &now_ns, 1, {}};
        auto made = schedq::queue::create(config, &why);
        assert_string_equal(why.c_str(), "");
        assert_true(bool(made));
        queue = std::move(*made);
    }
    void
    start()
    {
        auto made = queue.make_worker();
        assert_true(bool(made));
        worker = std::move(*made);
    }
    schedq_pod_t
    add(const char *name)
    {
        schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
        spec.object = 7;
        auto added = worker.add(name, spec);
        assert_int_equal(added.status, SCHEDQ_OK);
        return added->pod;
    }
    schedq_place_t
    place(const char *name) const
    {
        auto found = worker.find(name);
        return found ? static_cast<schedq_place_t>(found->place) : SCHEDQ_NOWHERE;
    }
};

void
a_cycle_that_ends_by_itself_has_failed(void **)
{
    fixture it;
    it.start();
    it.add("job");
    {
        auto cycle = it.worker.try_pop();
        assert_true(bool(cycle));
        assert_true(cycle->name() == "job");
        assert_int_equal(cycle->object(), 7);
        assert_int_equal(it.place("job"), SCHEDQ_INFLIGHT);
    }
    assert_int_equal(it.place("job"), SCHEDQ_ERROR_BACKOFF);
}

void
a_cycle_that_was_ended_ends_once(void **)
{
    fixture it;
    it.start();
    it.add("job");
    {
        auto cycle = it.worker.try_pop();
        assert_int_equal(cycle->done(), SCHEDQ_OK);
        assert_false(bool(*cycle));
        it.add("job"); /* another pod of the name */
    }
    assert_int_equal(it.place("job"), SCHEDQ_ACTIVE);
    assert_int_equal(it.queue.stats()->failures, 0);
}

void
a_moved_cycle_is_its_new_owners(void **)
{
    fixture it;
    it.start();
    it.add("a");
    it.add("b");

    auto first = it.worker.try_pop();
    auto second = it.worker.try_pop();
    schedq::cycle kept = std::move(*first);
    assert_false(bool(*first));
    kept = std::move(*second); /* ends what it had */
    assert_int_equal(it.place("a"), SCHEDQ_ERROR_BACKOFF);
    assert_int_equal(it.place("b"), SCHEDQ_INFLIGHT);

    schedq_token_t token = kept.take();
    kept = schedq::cycle();
    assert_int_equal(it.place("b"), SCHEDQ_INFLIGHT);
    assert_int_equal(it.worker.done(token), SCHEDQ_OK);
}

void
a_refused_failure_leaves_the_cycle(void **)
{
    fixture it;
    it.start();
    it.add("job");
    auto cycle = it.worker.try_pop();
    assert_int_equal(cycle->reject(1).status, SCHEDQ_INVALID); /* no plugin has that bit */
    assert_true(bool(*cycle));
    assert_true(std::strlen(it.worker.error()) > 0);
    assert_int_equal(cycle->done(), SCHEDQ_OK);
}

void
another_worker_may_end_it(void **)
{
    fixture it;
    it.start();
    it.add("job");
    auto binder = it.queue.make_worker();
    auto cycle = it.worker.try_pop();
    assert_int_equal(cycle->done(*binder), SCHEDQ_OK);
    assert_int_equal(it.place("job"), SCHEDQ_NOWHERE);
}

void
workers_are_unregistered_once(void **)
{
    fixture it;
    it.start();
    schedq::worker moved = std::move(it.worker);
    assert_null(it.worker.get());
    assert_int_equal(it.queue.stats()->workers, 1);
    moved = schedq::worker();
    assert_int_equal(it.queue.stats()->workers, 0);
    assert_int_equal(it.worker.try_pop().status, SCHEDQ_INVALID);
}

void
destroy_refuses_and_the_queue_stays(void **)
{
    fixture it;
    it.start();
    it.add("job");
    it.worker = schedq::worker();
    schedq::words why;
    assert_int_equal(it.queue.destroy(&why), SCHEDQ_NOT_EMPTY);
    assert_true(std::strlen(why.c_str()) > 0);
    assert_true(bool(it.queue));
    it.start();
    assert_int_equal(it.worker.erase("job").status, SCHEDQ_OK);
    it.worker = schedq::worker();
    assert_int_equal(it.queue.destroy(&why), SCHEDQ_OK);
    assert_false(bool(it.queue));
}

/* A plugin whose callbacks are members. */
struct fit {
    std::uint64_t asked = 0;
    int hints = 0;

    schedq_hint_t
    helps(std::uint64_t pod, std::uint64_t, std::uint64_t after) noexcept
    {
        asked = pod;
        hints++;
        return after == 3 ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
    }
    bool passes(std::uint64_t pod) const { return pod != 13; }
};

void
callbacks_are_members_of_the_plugins_object(void **)
{
    const schedq_interest_t interest = {"Node", SCHEDQ_ACTION_ADD, 0, schedq::hint_of<&fit::helps>()};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    fixture it;
    fit fit;

    plugin.name = "Fit";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    plugin.pre_enqueue = schedq::pre_enqueue_of<&fit::passes>();
    plugin.ctx = &fit;
    auto bit = it.queue.register_plugin(plugin);
    assert_int_equal(bit.status, SCHEDQ_OK);
    assert_string_equal(it.queue.rejector_name(0, *bit), "Fit");
    it.start();

    it.add("job");
    assert_int_equal(it.worker.try_pop()->reject(*bit).status, SCHEDQ_OK);
    assert_int_equal(it.place("job"), SCHEDQ_PARKED);
    change.event = SCHEDQ_EVENT_NODE_ADD;
    change.new_object = 2;
    assert_int_equal(it.worker.notify(change)->to_backoff, 0);
    change.new_object = 3;
    assert_int_equal(it.worker.notify(change)->to_backoff, 1);
    assert_int_equal(fit.hints, 2);
    assert_int_equal(fit.asked, 7);

    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    spec.object = 13;
    assert_int_equal(it.worker.add("kept-out", spec)->place, SCHEDQ_GATED);
}

/* A plugin that knows whom a change concerns. */
struct claims {
    std::uint64_t after = 0;

    schedq_pre_hint_t
    whose(std::uint64_t, std::uint64_t new_object, schedq::pod_list pods)
    {
        after = new_object;
        pods.add("a");
        return SCHEDQ_PRE_HINT_LISTED;
    }
};

void
a_pre_queueing_hint_is_a_member_too(void **)
{
    const schedq_interest_t interest = {"Node", SCHEDQ_ACTION_ADD, 0, nullptr};
    const schedq_pre_hint_fn narrow = schedq::pre_hint_of<&claims::whose>();
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    fixture it;
    claims claims;

    config.engine = engine;
    config.pre_queueing_hints = 1;
    it.queue = std::move(*schedq::queue::create(config));
    plugin.name = "Claims";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    plugin.pre_hints = &narrow;
    plugin.ctx = &claims;
    auto bit = it.queue.register_plugin(plugin);
    it.start();
    it.add("a");
    it.add("b");
    assert_int_equal(it.worker.try_pop()->reject(*bit).status, SCHEDQ_OK);
    assert_int_equal(it.worker.try_pop()->reject(*bit).status, SCHEDQ_OK);
    change.event = SCHEDQ_EVENT_NODE_ADD;
    change.new_object = 9;
    assert_int_equal(it.worker.notify(change)->to_backoff, 1);
    assert_int_equal(claims.after, 9);
    assert_int_equal(it.place("b"), SCHEDQ_PARKED);
}

void
visitors_end_a_walk(void **)
{
    fixture it;
    int seen = 0;
    it.start();
    it.add("a");
    it.add("b");
    assert_int_equal(it.worker.snapshot([&](const schedq_pod_info_t &) { return ++seen < 1; }),
                     SCHEDQ_OK);
    assert_int_equal(seen, 1);
    std::string first;
    assert_int_equal(it.worker.peek([&](const schedq_pod_info_t &pod) {
        first = pod.name;
        return true;
    }), SCHEDQ_OK);
    assert_string_equal(first.c_str(), "a");
}

void
metrics_come_in_pieces(void **)
{
    fixture it;
    std::string text;
    it.start();
    assert_int_equal(it.queue.write_metrics([&](std::string_view piece) {
        text += piece;
        return true;
    }), SCHEDQ_OK);
    assert_true(text.find("# TYPE") != std::string::npos);

    const schedq_named_queue_t both[] = {{it.queue.get(), "a"}, {it.queue.get(), "a"}};
    auto take = [&](std::string_view piece) {
        text = piece;
        return true;
    };
    schedq::words why;
    assert_int_equal(schedq::queue::write_metrics(both, 1, take), SCHEDQ_OK);
    assert_true(text.find("{schedq=\"a\"") != std::string::npos);
    assert_int_equal(schedq::queue::write_metrics(both, 2, take, &why), SCHEDQ_INVALID);
    assert_true(std::string(why.data()).find("queues[1].name") == 0);
}

void
times_are_points(void **)
{
    fixture it;
    it.start();
    assert_true(it.queue.now() == schedq::at(1000000000));
    schedq_pod_t pod = it.add("job");
    assert_int_equal(it.worker.not_before(pod, it.queue.now() + 5s).status, SCHEDQ_OK);
    assert_int_equal(it.place("job"), SCHEDQ_HELD);
    auto next = it.worker.tick();
    assert_true(*next == schedq::at(6000000000));
    it.now_ns += 5000000000;
    assert_true(*it.worker.tick() == schedq::time_point::max());
    assert_int_equal(it.place("job"), SCHEDQ_ACTIVE);
    assert_int_equal(it.worker.try_pop()->done(), SCHEDQ_OK);
    assert_int_equal(it.worker.pop_for(0ns).status, SCHEDQ_TIMEDOUT);
}

/* ---- groups ---- */

constexpr std::uint64_t gang = 5;

/* With two members, which are its quorum. */
void
make_gang(fixture &it)
{
    schedq_group_spec_t group = SCHEDQ_GROUP_SPEC_INIT;
    schedq_pod_spec_t member = SCHEDQ_POD_SPEC_INIT;

    group.quorum = 2;
    group.object = 50;
    assert_int_equal(it.worker.add_group(gang, group)->place, SCHEDQ_ASIDE);
    assert_int_equal(it.worker.add_group(gang, group).status, SCHEDQ_EXISTS);
    member.group = gang;
    assert_int_equal(it.worker.add("a", member)->place, SCHEDQ_ASIDE);
    schedq_popped_t none[1];
    assert_int_equal(it.worker.try_pop_group(none, 1).status, SCHEDQ_EMPTY);
    assert_int_equal(it.worker.add("b", member)->to_active, 1);
    assert_int_equal(it.worker.try_pop().status, SCHEDQ_EMPTY); /* never alone */
}

void
a_group_is_popped_whole_and_ends_once(void **)
{
    fixture it;
    schedq_popped_t members[2];
    it.start();
    make_gang(it);

    auto small = it.worker.try_pop_group(members, 1);
    assert_int_equal(small.status, SCHEDQ_FULL);
    assert_int_equal(small->count(), 2);
    assert_false(bool(*small));

    auto popped = it.worker.pop_group(members, 2);
    assert_int_equal(popped.status, SCHEDQ_OK);
    assert_int_equal(popped->group(), gang);
    assert_int_equal(popped->object(), 50);
    assert_int_equal(popped->count(), 2);
    assert_string_equal(members[0].name, "a");
    schedq::cycle first(it.worker, members[0]);
    schedq::cycle second(it.worker, members[1]);
    assert_int_equal(first.done(), SCHEDQ_OK);
    assert_int_equal(second.reject(0).status, SCHEDQ_OK);
    assert_int_equal(it.place("b"), SCHEDQ_ASIDE);

    schedq::group_cycle kept = std::move(*popped);
    assert_false(bool(*popped));
    assert_int_equal(kept.end(SCHEDQ_GROUP_PLACED)->place, SCHEDQ_ACTIVE);
    assert_false(bool(kept));
    assert_int_equal(it.worker.try_pop_group(members, 2)->count(), 1);
}

void
a_group_cycle_that_ends_by_itself_was_an_error(void **)
{
    fixture it;
    schedq_popped_t members[2];
    it.start();
    assert_int_equal(it.worker.pop_group_for(0ns, members, 2).status, SCHEDQ_TIMEDOUT);
    make_gang(it);
    {
        auto popped = it.worker.pop_group_until(it.queue.now(), members, 2);
        assert_int_equal(popped.status, SCHEDQ_OK);
        schedq::cycle first(it.worker, members[0]);
        schedq::cycle second(it.worker, members[1]);
        assert_int_equal(it.worker.get_group(gang)->place, SCHEDQ_INFLIGHT);
    }
    auto info = it.worker.get_group(gang);
    assert_int_equal(info->place, SCHEDQ_ERROR_BACKOFF);
    assert_int_equal(info->waiting, 2);
    assert_int_equal(it.worker.activate_group(gang)->to_active, 1);

    auto again = it.worker.try_pop_group(members, 2);
    schedq_token_t token = again->take();
    assert_false(bool(*again));
    schedq_group_end_t end = SCHEDQ_GROUP_END_INIT;
    end.outcome = 99;
    assert_int_equal(it.worker.done_group(token, end).status, SCHEDQ_INVALID);
    end.outcome = SCHEDQ_GROUP_ERROR;
    assert_int_equal(it.worker.done_group(token, end).status, SCHEDQ_OK);
    assert_int_equal(it.worker.done_group(token, end).status, SCHEDQ_STALE);
}

void
a_pod_in_no_group_is_popped_without_one(void **)
{
    fixture it;
    schedq_popped_t members[2];
    it.start();
    it.add("job");
    auto popped = it.worker.try_pop_group(members, 2);
    assert_int_equal(popped.status, SCHEDQ_OK);
    assert_false(bool(*popped));
    assert_int_equal(popped->group(), 0);
    assert_int_equal(popped->count(), 1);
    assert_string_equal(members[0].name, "job");
    assert_int_equal(it.worker.done(members[0].token), SCHEDQ_OK);
}

void
a_group_is_described_anew_and_undeclared(void **)
{
    fixture it;
    schedq_group_spec_t group = SCHEDQ_GROUP_SPEC_INIT;
    it.start();
    make_gang(it);
    group.quorum = 3;
    assert_int_equal(it.worker.update_group(gang, group)->place, SCHEDQ_ASIDE);
    assert_int_equal(it.worker.get_group(gang)->quorum, 3);
    assert_int_equal(it.worker.erase_group(gang).status, SCHEDQ_OK);
    assert_int_equal(it.worker.erase_group(gang).status, SCHEDQ_NOT_FOUND);
    assert_int_equal(it.worker.get_group(gang).status, SCHEDQ_NOT_FOUND);
}

int
run(std::uint8_t which)
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(a_cycle_that_ends_by_itself_has_failed),
        cmocka_unit_test(a_cycle_that_was_ended_ends_once),
        cmocka_unit_test(a_moved_cycle_is_its_new_owners),
        cmocka_unit_test(a_refused_failure_leaves_the_cycle),
        cmocka_unit_test(another_worker_may_end_it),
        cmocka_unit_test(workers_are_unregistered_once),
        cmocka_unit_test(destroy_refuses_and_the_queue_stays),
        cmocka_unit_test(callbacks_are_members_of_the_plugins_object),
        cmocka_unit_test(a_pre_queueing_hint_is_a_member_too),
        cmocka_unit_test(visitors_end_a_walk),
        cmocka_unit_test(metrics_come_in_pieces),
        cmocka_unit_test(times_are_points),
        cmocka_unit_test(a_group_is_popped_whole_and_ends_once),
        cmocka_unit_test(a_group_cycle_that_ends_by_itself_was_an_error),
        cmocka_unit_test(a_pod_in_no_group_is_popped_without_one),
        cmocka_unit_test(a_group_is_described_anew_and_undeclared),
    };
    engine = which;
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}

} // namespace

int
main()
{
    return run(SCHEDQ_ENGINE_MUTEX) + run(SCHEDQ_ENGINE_LOCKFREE) == 0 ? 0 : 1;
}
