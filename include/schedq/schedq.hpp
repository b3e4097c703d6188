/** @file
 * schedq/schedq.hpp: the queue for C++17, over the C API, which stays the reference: each function
 * says which of C's it is, and what that one promises of threads, progress and order holds here.
 *
 * OWNERSHIP. `queue`, `worker` and `cycle` are moved, not copied; what ends one is its destructor.
 * Workers end before their queue, cycles before the worker that they were popped with. Those of
 * this_thread need no end: the queue takes them back, and so does the end of the thread. `worker_ref`
 * owns nothing: it is a worker of the C API, with its calls as members, and is copied freely.
 *
 * FAILURE. Nothing throws, and nothing is allocated but what the library allocates. A call that
 * makes or finds something returns an `outcome`: a status of C's, and behind SCHEDQ_OK the value.
 * Words for INVALID, FULL and BUSY are in worker_ref::error, or in the `words` that a call takes;
 * schedq_status_text has a sentence for each status, also for those without words (EXISTS, CLOSED).
 *
 * CALLBACKS are members of an object of the caller's: hint_of<&Fit::helps>() gives what
 * schedq_interest_t.hint wants, and the plugin's ctx is the object. What such a member throws ends
 * the program: a callback runs inside of the library, which is C.
 *
 * TIME. Durations and points are std::chrono's, in nanoseconds of the queue's clock. With the
 * default clock, queue::now and a point of std::chrono::steady_clock count the same on Linux.
 */
#ifndef SCHEDQ_SCHEDQ_HPP
#define SCHEDQ_SCHEDQ_HPP

#include <schedq/schedq.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

/**
 * A scheduling queue: which pod is tried next. This is the C API for C++; docs/CONCEPTS.md is where
 * to start, and schedq/schedq.h has the rules for all calls.
 */
namespace schedq {

using duration = std::chrono::nanoseconds; /**< of a queue's clock */

/** What a queue's times are points of. It has no now(): each queue has a clock (queue::now). */
struct clock {
    using duration = schedq::duration;                      /**< nanoseconds */
    using rep = duration::rep;                              /**< 64 bits */
    using period = duration::period;                        /**< 1e-9 s */
    using time_point = std::chrono::time_point<clock>;      /**< since the clock's own 0 */
    static constexpr bool is_steady = true;                 /**< no reading is below an earlier one */
};

using time_point = clock::time_point; /**< time_point::max(): never (SCHEDQ_NO_DEADLINE) */

/** A time of the C API as a point. */
constexpr time_point
at(std::int64_t time_ns) noexcept
{
    return time_point(duration(time_ns));
}

/** A point as a time of the C API. */
constexpr std::int64_t
ns(time_point point) noexcept
{
    return point.time_since_epoch().count();
}

/** What a call came to, and what it made or found; the value counts if the status is SCHEDQ_OK. */
template <class T> struct outcome {
    schedq_status_t status; /**< of the C function */
    T value;                /**< without SCHEDQ_OK: empty, or what the C function leaves there */

    /** Is it SCHEDQ_OK? */
    explicit operator bool() const noexcept { return status == SCHEDQ_OK; }
    /** The value. */
    T &operator*() noexcept { return value; }
    /** The value. */
    const T &operator*() const noexcept { return value; }
    /** The value. */
    T *operator->() noexcept { return &value; }
    /** The value. */
    const T *operator->() const noexcept { return &value; }
};

/** Room for the words of a refusal. */
class words {
public:
    /** Ends in NUL; empty if nothing was refused. */
    const char *c_str() const noexcept { return text_; }
    /** Where the C API writes. */
    char *data() noexcept { return text_; }
    /** Bytes. */
    static constexpr std::size_t size() noexcept { return sizeof text_; }

private:
    char text_[256] = "";
};

/** What position says: how many pods are before one. */
struct bounds {
    std::uint64_t lower; /**< at least so many */
    std::uint64_t upper; /**< at most so many; the same if nothing moves meanwhile */
};

/** @cond */
namespace detail {

template <class Member> struct member_of;
template <class T, class R, class... A> struct member_of<R (T::*)(A...)> {
    using object = T;
};
template <class T, class R, class... A> struct member_of<R (T::*)(A...) const> {
    using object = const T;
};
template <class T, class R, class... A> struct member_of<R (T::*)(A...) noexcept> {
    using object = T;
};
template <class T, class R, class... A> struct member_of<R (T::*)(A...) const noexcept> {
    using object = const T;
};

template <auto Member> typename member_of<decltype(Member)>::object &
object_at(void *ctx) noexcept
{
    return *static_cast<typename member_of<decltype(Member)>::object *>(ctx);
}

template <class Visit> int
visit(void *ctx, const schedq_pod_info_t *pod) noexcept
{
    return (*static_cast<Visit *>(ctx))(*pod) ? 1 : 0;
}

template <class Write> int
write(void *ctx, const char *text, std::size_t length) noexcept
{
    return (*static_cast<Write *>(ctx))(std::string_view(text, length)) ? 1 : 0;
}

inline std::size_t
size(const words *why) noexcept
{
    return why != nullptr ? why->size() : 0;
}

inline char *
data(words *why) noexcept
{
    return why != nullptr ? why->data() : nullptr;
}

} // namespace detail
/** @endcond */

/**
 * A hint (schedq_hint_fn) that is a member function:
 * schedq_hint_t T::member(uint64_t pod_object, uint64_t old_object, uint64_t new_object); all are
 * objects, none is a handle.
 */
template <auto Member> constexpr schedq_hint_fn
hint_of() noexcept
{
    return [](void *ctx, std::uint64_t pod, std::uint64_t old_object,
              std::uint64_t new_object) noexcept -> schedq_hint_t {
        return (detail::object_at<Member>(ctx).*Member)(pod, old_object, new_object);
    };
}

/** The pods that a pre-queueing hint lists. */
class pod_list {
public:
    /** The list that the library gave to a hint. */
    explicit pod_list(schedq_pod_list_t *list) noexcept : list_(list) {}
    /** schedq_pod_list_add. */
    schedq_status_t
    add(std::string_view name) const noexcept
    {
        return schedq_pod_list_add(list_, name.data(), name.size());
    }

private:
    schedq_pod_list_t *list_;
};

/**
 * A pre-queueing hint (schedq_pre_hint_fn) that is a member function:
 * schedq_pre_hint_t T::member(uint64_t old_object, uint64_t new_object, schedq::pod_list pods).
 */
template <auto Member> constexpr schedq_pre_hint_fn
pre_hint_of() noexcept
{
    return [](void *ctx, std::uint64_t old_object, std::uint64_t new_object,
              schedq_pod_list_t *pods) noexcept -> schedq_pre_hint_t {
        return (detail::object_at<Member>(ctx).*Member)(old_object, new_object, pod_list(pods));
    };
}

/** PreEnqueue (schedq_pre_enqueue_fn) that is a member function: bool T::member(uint64_t pod). */
template <auto Member> constexpr schedq_pre_enqueue_fn
pre_enqueue_of() noexcept
{
    return [](void *ctx, std::uint64_t pod) noexcept -> int {
        return (detail::object_at<Member>(ctx).*Member)(pod) ? 1 : 0;
    };
}

class cycle;
class group_cycle;

/** A worker of the C API with its calls; it owns nothing. */
class worker_ref {
public:
    /** No worker: every call is SCHEDQ_INVALID. */
    constexpr worker_ref() noexcept = default;
    /** The calls of this worker, which stays the caller's. */
    constexpr explicit worker_ref(schedq_worker_t *worker) noexcept : worker_(worker) {}

    /** For calls of the C API. */
    constexpr schedq_worker_t *get() const noexcept { return worker_; }
    /** Is there one? */
    constexpr explicit operator bool() const noexcept { return worker_ != nullptr; }
    /** schedq_worker_error. */
    const char *error() const noexcept { return schedq_worker_error(worker_); }

    /** schedq_add. The value tells the handle, and where the pod is. */
    outcome<schedq_result_t>
    add(std::string_view name, const schedq_pod_spec_t &spec) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_add(worker_, name.data(), name.size(), &spec, &out.value);
        return out;
    }

    /** schedq_add_many. */
    outcome<schedq_result_t>
    add_many(std::string_view names, const schedq_add_item_t *items, std::size_t count,
             schedq_pod_t *pods = nullptr, std::uint8_t *statuses = nullptr) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_add_many(worker_, names.data(), names.size(), items, count, pods,
                                     statuses, &out.value);
        return out;
    }

    /** schedq_update. */
    outcome<schedq_result_t>
    update(std::string_view name, const schedq_pod_spec_t &spec, std::uint64_t old_object = 0,
           const schedq_event_t *events = nullptr, std::size_t event_count = 0) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_update(worker_, name.data(), name.size(), &spec, old_object, events,
                                   event_count, &out.value);
        return out;
    }

    /** schedq_delete. */
    outcome<schedq_result_t>
    erase(schedq_pod_t pod) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_delete(worker_, pod, &out.value);
        return out;
    }

    /** schedq_delete_name. */
    outcome<schedq_result_t>
    erase(std::string_view name) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_delete_name(worker_, name.data(), name.size(), &out.value);
        return out;
    }

    /** schedq_activate. */
    outcome<schedq_result_t>
    activate(const schedq_pod_t *pods, std::size_t count) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_activate(worker_, pods, count, &out.value);
        return out;
    }

    /** schedq_nominate. */
    schedq_status_t
    nominate(schedq_pod_t pod, std::uint64_t node) const noexcept
    {
        return schedq_nominate(worker_, pod, node);
    }

    /** schedq_try_pop: the best pod, without waiting. */
    [[nodiscard]] outcome<cycle> try_pop() const noexcept;
    /** schedq_pop: waits for one. */
    [[nodiscard]] outcome<cycle> pop() const noexcept;
    /** schedq_pop_for: waits for at most that long. */
    [[nodiscard]] outcome<cycle> pop_for(duration wait) const noexcept;
    /** schedq_pop_until: waits until then. */
    [[nodiscard]] outcome<cycle> pop_until(time_point deadline) const noexcept;

    /** schedq_try_pop_many. What is in `out` is the caller's to end, by itself or by a `cycle`. */
    outcome<std::size_t>
    try_pop_many(schedq_popped_t *out, std::size_t capacity) const noexcept
    {
        outcome<std::size_t> taken{};
        taken.status = schedq_try_pop_many(worker_, out, capacity, &taken.value);
        return taken;
    }

    /** schedq_pop_many. As try_pop_many otherwise. */
    outcome<std::size_t>
    pop_many(schedq_popped_t *out, std::size_t capacity) const noexcept
    {
        outcome<std::size_t> taken{};
        taken.status = schedq_pop_many(worker_, out, capacity, &taken.value);
        return taken;
    }

    /** schedq_pop_many_for. As try_pop_many otherwise. */
    outcome<std::size_t>
    pop_many_for(duration wait, schedq_popped_t *out, std::size_t capacity) const noexcept
    {
        outcome<std::size_t> taken{};
        taken.status = schedq_pop_many_for(worker_, wait.count(), out, capacity, &taken.value);
        return taken;
    }

    /** schedq_pop_many_until. As try_pop_many otherwise. */
    outcome<std::size_t>
    pop_many_until(time_point deadline, schedq_popped_t *out, std::size_t capacity) const noexcept
    {
        outcome<std::size_t> taken{};
        taken.status = schedq_pop_many_until(worker_, ns(deadline), out, capacity, &taken.value);
        return taken;
    }

    /** schedq_done. */
    schedq_status_t
    done(schedq_token_t token) const noexcept
    {
        return schedq_done(worker_, token);
    }

    /** schedq_done_many. */
    schedq_status_t
    done_many(const schedq_token_t *tokens, std::size_t count,
              std::uint8_t *statuses = nullptr) const noexcept
    {
        return schedq_done_many(worker_, tokens, count, statuses);
    }

    /** schedq_fail. */
    outcome<schedq_result_t>
    fail(schedq_token_t &token, const schedq_failure_t &failure) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_fail(worker_, &token, &failure, &out.value);
        return out;
    }

    /** schedq_readd. */
    outcome<schedq_result_t>
    readd(std::string_view name, const schedq_pod_spec_t &spec, const schedq_history_t &history,
          const schedq_failure_t &failure) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_readd(worker_, name.data(), name.size(), &spec, &history, &failure,
                                  &out.value);
        return out;
    }

    /** schedq_token_alive. */
    schedq_status_t
    alive(schedq_token_t token) const noexcept
    {
        return schedq_token_alive(worker_, token);
    }

    /** schedq_wait_cancel. Of all calls this one alone may overlap with another of this worker. */
    schedq_status_t cancel_wait() const noexcept { return schedq_wait_cancel(worker_); }

    /** schedq_notify. */
    outcome<schedq_result_t>
    notify(const schedq_change_t &change) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_notify(worker_, &change, &out.value);
        return out;
    }

    /** schedq_assigned_pod_added. */
    outcome<schedq_result_t>
    assigned_pod_added(const schedq_change_t &change, std::string_view of) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status =
            schedq_assigned_pod_added(worker_, &change, of.data(), of.size(), &out.value);
        return out;
    }

    /** schedq_assigned_pod_updated. */
    outcome<schedq_result_t>
    assigned_pod_updated(const schedq_change_t &change, std::string_view of) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status =
            schedq_assigned_pod_updated(worker_, &change, of.data(), of.size(), &out.value);
        return out;
    }

    /** schedq_tick. The value is when to call it next. */
    outcome<time_point>
    tick(schedq_result_t *result = nullptr) const noexcept
    {
        std::int64_t next = SCHEDQ_NO_DEADLINE;
        schedq_status_t status = schedq_tick(worker_, &next, result);
        return {status, at(next)};
    }

    /** schedq_hold. */
    outcome<schedq_result_t>
    hold(schedq_pod_t pod) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_hold(worker_, pod, &out.value);
        return out;
    }

    /** schedq_release. */
    outcome<schedq_result_t>
    release(schedq_pod_t pod) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_release(worker_, pod, &out.value);
        return out;
    }

    /** schedq_not_before. */
    outcome<schedq_result_t>
    not_before(schedq_pod_t pod, time_point time) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_not_before(worker_, pod, ns(time), &out.value);
        return out;
    }

    /** schedq_label_cancel, of all pods that have the label, without the results. */
    outcome<std::size_t>
    cancel_label(std::uint64_t label) const noexcept
    {
        outcome<std::size_t> out{};
        out.status = schedq_label_cancel(worker_, label, nullptr, 0, &out.value);
        return out;
    }

    /** schedq_label_cancel, of at most `room` pods, with the results. */
    outcome<std::size_t>
    cancel_label(std::uint64_t label, schedq_result_t *results, std::size_t room) const noexcept
    {
        outcome<std::size_t> out{};
        out.status = schedq_label_cancel(worker_, label, results, room, &out.value);
        return out;
    }

    /** schedq_label_hold. */
    outcome<std::size_t>
    hold_label(std::uint64_t label) const noexcept
    {
        outcome<std::size_t> out{};
        out.status = schedq_label_hold(worker_, label, &out.value);
        return out;
    }

    /** schedq_label_release. */
    outcome<std::size_t>
    release_label(std::uint64_t label) const noexcept
    {
        outcome<std::size_t> out{};
        out.status = schedq_label_release(worker_, label, &out.value);
        return out;
    }

    /** schedq_label_count. */
    outcome<std::size_t>
    count_label(std::uint64_t label) const noexcept
    {
        outcome<std::size_t> out{};
        out.status = schedq_label_count(worker_, label, &out.value);
        return out;
    }

    /** schedq_group_add. */
    outcome<schedq_result_t>
    add_group(std::uint64_t group, const schedq_group_spec_t &spec) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_group_add(worker_, group, &spec, &out.value);
        return out;
    }

    /** schedq_group_update. */
    outcome<schedq_result_t>
    update_group(std::uint64_t group, const schedq_group_spec_t &spec) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_group_update(worker_, group, &spec, &out.value);
        return out;
    }

    /** schedq_group_delete. */
    outcome<schedq_result_t>
    erase_group(std::uint64_t group) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_group_delete(worker_, group, &out.value);
        return out;
    }

    /** schedq_group_activate. */
    outcome<schedq_result_t>
    activate_group(std::uint64_t group) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_group_activate(worker_, group, &out.value);
        return out;
    }

    /** schedq_group_get. */
    outcome<schedq_group_info_t>
    get_group(std::uint64_t group) const noexcept
    {
        outcome<schedq_group_info_t> out{SCHEDQ_OK, SCHEDQ_GROUP_INFO_INIT};
        out.status = schedq_group_get(worker_, group, &out.value);
        return out;
    }

    /**
     * schedq_try_pop_group: a group with its members, or a pod in none. What is in `members` is the
     * caller's to end, by itself or by a `cycle`; the value ends the group, and tells how many there
     * are (FULL: how many there would be).
     */
    [[nodiscard]] outcome<group_cycle> try_pop_group(schedq_popped_t *members,
                                                     std::size_t room) const noexcept;
    /** schedq_pop_group_until, without an end. As try_pop_group otherwise. */
    [[nodiscard]] outcome<group_cycle> pop_group(schedq_popped_t *members,
                                                 std::size_t room) const noexcept;
    /** schedq_pop_group_for: waits for at most that long. As try_pop_group otherwise. */
    [[nodiscard]] outcome<group_cycle> pop_group_for(duration wait, schedq_popped_t *members,
                                                     std::size_t room) const noexcept;
    /** schedq_pop_group_until: waits until then. As try_pop_group otherwise. */
    [[nodiscard]] outcome<group_cycle> pop_group_until(time_point deadline,
                                                       schedq_popped_t *members,
                                                       std::size_t room) const noexcept;

    /** schedq_group_done. */
    outcome<schedq_result_t>
    done_group(schedq_token_t &token, const schedq_group_end_t &end) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_group_done(worker_, &token, &end, &out.value);
        return out;
    }

    /** schedq_find. */
    outcome<schedq_result_t>
    find(std::string_view name) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_find(worker_, name.data(), name.size(), &out.value);
        return out;
    }

    /** schedq_get. Visitors, here and below: bool visit(const schedq_pod_info_t &); false ends. */
    template <class Visit> schedq_status_t
    get(schedq_pod_t pod, Visit &&visit) const noexcept
    {
        return schedq_get(worker_, pod, detail::visit<std::remove_reference_t<Visit>>,
                          address(visit));
    }

    /** schedq_snapshot. */
    template <class Visit> schedq_status_t
    snapshot(Visit &&visit) const noexcept
    {
        return schedq_snapshot(worker_, detail::visit<std::remove_reference_t<Visit>>,
                               address(visit));
    }

    /** schedq_nominated_pods. */
    template <class Visit> schedq_status_t
    nominated_pods(std::uint64_t node, Visit &&visit) const noexcept
    {
        return schedq_nominated_pods(worker_, node, detail::visit<std::remove_reference_t<Visit>>,
                                     address(visit));
    }

    /** schedq_peek. */
    template <class Visit> schedq_status_t
    peek(Visit &&visit) const noexcept
    {
        return schedq_peek(worker_, detail::visit<std::remove_reference_t<Visit>>, address(visit));
    }

    /** schedq_peek_many. */
    template <class Visit> schedq_status_t
    peek_many(std::size_t count, Visit &&visit) const noexcept
    {
        return schedq_peek_many(worker_, count, detail::visit<std::remove_reference_t<Visit>>,
                                address(visit));
    }

    /** schedq_position. */
    outcome<bounds>
    position(schedq_pod_t pod) const noexcept
    {
        outcome<bounds> out{};
        out.status = schedq_position(worker_, pod, &out.value.lower, &out.value.upper);
        return out;
    }

    /** schedq_explain. */
    outcome<schedq_explanation_t>
    explain(schedq_pod_t pod) const noexcept
    {
        outcome<schedq_explanation_t> out{SCHEDQ_OK, SCHEDQ_EXPLANATION_INIT};
        out.status = schedq_explain(worker_, pod, &out.value);
        return out;
    }

    /** schedq_count_reasons. */
    outcome<schedq_reasons_t>
    count_reasons(schedq_profile_t profile) const noexcept
    {
        outcome<schedq_reasons_t> out{SCHEDQ_OK, SCHEDQ_REASONS_INIT};
        out.status = schedq_count_reasons(worker_, profile, &out.value);
        return out;
    }

    /** schedq_watch. The value is how many are overdue, those without room too. */
    outcome<std::size_t>
    watch(schedq_watch_t &watch, schedq_overdue_t *out, std::size_t room) const noexcept
    {
        outcome<std::size_t> found{};
        found.status = schedq_watch(worker_, &watch, out, room, &found.value);
        return found;
    }

    /** schedq_overdue_text. */
    std::size_t
    overdue_text(const schedq_overdue_t &overdue, char *text, std::size_t size) const noexcept
    {
        return schedq_overdue_text(worker_, &overdue, text, size);
    }

    /** schedq_event_begin. The value is the sequence. */
    outcome<std::uint64_t>
    event_begin() const noexcept
    {
        outcome<std::uint64_t> out{};
        out.status = schedq_event_begin(worker_, &out.value);
        return out;
    }

    /** schedq_event_stamp. */
    schedq_status_t
    event_stamp(std::uint64_t sequence, schedq_profile_t profile,
                std::uint64_t plugins) const noexcept
    {
        return schedq_event_stamp(worker_, sequence, profile, plugins);
    }

    /** schedq_candidates. */
    outcome<std::size_t>
    candidates(schedq_query_t &query, schedq_candidate_t *out,
               std::size_t capacity) const noexcept
    {
        outcome<std::size_t> found{};
        found.status = schedq_candidates(worker_, &query, out, capacity, &found.value);
        return found;
    }

    /** schedq_apply. */
    outcome<schedq_result_t>
    apply(const schedq_decision_t &decision) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status = schedq_apply(worker_, &decision, &out.value);
        return out;
    }

    /** schedq_apply_many. */
    outcome<schedq_result_t>
    apply_many(const schedq_decision_t *decisions, std::size_t count,
               std::uint8_t *statuses = nullptr, schedq_result_t *results = nullptr) const noexcept
    {
        outcome<schedq_result_t> out{};
        out.status =
            schedq_apply_many(worker_, decisions, count, statuses, results, &out.value);
        return out;
    }

protected:
    /** What a call is made with; null: none. */
    schedq_worker_t *worker_ = nullptr;

private:
    template <class T> static void *
    address(T &object) noexcept
    {
        return const_cast<void *>(static_cast<const volatile void *>(&object));
    }
};

/**
 * A popped pod, from pop to its end. End it by `done` or `fail`. One that is destroyed without an
 * end has failed by an error: the pod backs off and is tried again ([host]: is active).
 *
 * It is ended with the worker that it was popped with, unless another is named. Its destructor ends
 * it in the same way, so destroy it only where that worker may be used.
 */
class cycle {
public:
    /** No cycle: there is nothing to end. */
    cycle() noexcept = default;
    /** What that worker popped. It is this object's to end from here on. */
    cycle(worker_ref worker, const schedq_popped_t &popped) noexcept
        : worker_(worker), popped_(popped)
    {
    }
    /** `other` is empty then. */
    cycle(cycle &&other) noexcept : worker_(other.worker_), popped_(other.popped_)
    {
        other.worker_ = worker_ref();
    }
    /** Ends what was here; `other` is empty then. */
    cycle &
    operator=(cycle &&other) noexcept
    {
        if (this != &other) {
            abandon();
            worker_ = other.worker_;
            popped_ = other.popped_;
            other.worker_ = worker_ref();
        }
        return *this;
    }
    cycle(const cycle &) = delete;
    cycle &operator=(const cycle &) = delete;
    ~cycle() { abandon(); }

    /** Is there one that has not ended? */
    explicit operator bool() const noexcept { return static_cast<bool>(worker_); }
    /** The pod's name; valid until the end. */
    std::string_view name() const noexcept { return {popped_.name, popped_.name_length}; }
    /** The caller's 64 bits. */
    std::uint64_t object() const noexcept { return popped_.object; }
    /** As at the pop. */
    std::int32_t priority() const noexcept { return popped_.priority; }
    /** The pod's handle. */
    schedq_pod_t pod() const noexcept { return popped_.pod; }
    /** All that the pop told. */
    const schedq_popped_t &popped() const noexcept { return popped_; }

    /** The token, for the caller to end; this object is empty then. */
    schedq_token_t
    take() noexcept
    {
        worker_ = worker_ref();
        return popped_.token;
    }

    /** schedq_done: it was placed. Empty then, whatever the answer. */
    schedq_status_t done() noexcept { return done(worker_); }
    /** The same with another worker: that of the thread that bound the pod. */
    schedq_status_t
    done(worker_ref worker) noexcept
    {
        worker_ = worker_ref();
        return worker.done(popped_.token);
    }

    /** schedq_fail. Empty then, unless the pod stays in flight (RETRY, NOMEM, INVALID, BUSY). */
    outcome<schedq_result_t> fail(const schedq_failure_t &why) noexcept { return fail(worker_, why); }
    /** The same with another worker. */
    outcome<schedq_result_t>
    fail(worker_ref worker, const schedq_failure_t &why) noexcept
    {
        outcome<schedq_result_t> out = worker.fail(popped_.token, why);
        if (out.status == SCHEDQ_OK || out.status == SCHEDQ_GONE || out.status == SCHEDQ_STALE) {
            worker_ = worker_ref();
        }
        return out;
    }
    /** Rejected by these plugins: parked, until a change could help. */
    outcome<schedq_result_t>
    reject(std::uint64_t plugins) noexcept
    {
        schedq_failure_t why = SCHEDQ_FAILURE_INIT;
        why.unschedulable = plugins;
        return fail(why);
    }

private:
    void
    abandon() noexcept
    {
        if (worker_) {
            schedq_failure_t why = SCHEDQ_FAILURE_INIT;
            (void)fail(why);
            worker_ = worker_ref();
        }
    }

    worker_ref worker_; /* none: there is nothing to end */
    schedq_popped_t popped_{};
};

/**
 * A popped group, from pop to its end. Its members are in the array that the pop filled. The caller
 * ends each of them, by its token or by a `cycle` that is made of it, and then the group by `end`.
 * A group that is destroyed without an end fails by an error: it backs off. Its members stay in
 * flight. If the pop took a pod that is in no group, members[0], this object is empty.
 *
 * Its worker is as a cycle's.
 */
class group_cycle {
public:
    /** No cycle: there is nothing to end. */
    group_cycle() noexcept = default;
    /** What that worker popped, with so many members. It is this object's to end from here on. */
    group_cycle(worker_ref worker, const schedq_popped_group_t &popped, std::size_t count) noexcept
        : worker_(popped.group != 0 ? worker : worker_ref()), popped_(popped), count_(count)
    {
    }
    /** `other` is empty then. */
    group_cycle(group_cycle &&other) noexcept
        : worker_(other.worker_), popped_(other.popped_), count_(other.count_)
    {
        other.worker_ = worker_ref();
    }
    /** Ends what was here; `other` is empty then. */
    group_cycle &
    operator=(group_cycle &&other) noexcept
    {
        if (this != &other) {
            abandon();
            worker_ = other.worker_;
            popped_ = other.popped_;
            count_ = other.count_;
            other.worker_ = worker_ref();
        }
        return *this;
    }
    group_cycle(const group_cycle &) = delete;
    group_cycle &operator=(const group_cycle &) = delete;
    ~group_cycle() { abandon(); }

    /** Is there a group whose cycle has not ended? */
    explicit operator bool() const noexcept { return static_cast<bool>(worker_); }
    /** The group; 0: members[0] is a pod in none. */
    std::uint64_t group() const noexcept { return popped_.group; }
    /** The caller's 64 bits. */
    std::uint64_t object() const noexcept { return popped_.object; }
    /** How many members the pop wrote. If it was FULL: how many need room. */
    std::size_t count() const noexcept { return count_; }
    /** All that the pop told of the group. */
    const schedq_popped_group_t &popped() const noexcept { return popped_; }

    /** The token, for the caller to end; this object is empty then. */
    schedq_token_t
    take() noexcept
    {
        worker_ = worker_ref();
        return popped_.token;
    }

    /** schedq_group_done. Empty then, unless the group stays in flight (NOMEM, INVALID, BUSY). */
    outcome<schedq_result_t> end(const schedq_group_end_t &how) noexcept { return end(worker_, how); }
    /** The same with another worker. */
    outcome<schedq_result_t>
    end(worker_ref worker, const schedq_group_end_t &how) noexcept
    {
        outcome<schedq_result_t> out = worker.done_group(popped_.token, how);
        if (out.status == SCHEDQ_OK || out.status == SCHEDQ_STALE) {
            worker_ = worker_ref();
        }
        return out;
    }
    /** The same, with this outcome and defaults. */
    outcome<schedq_result_t>
    end(schedq_group_outcome_t became) noexcept
    {
        schedq_group_end_t how = SCHEDQ_GROUP_END_INIT;
        how.outcome = static_cast<std::uint8_t>(became);
        return end(how);
    }

private:
    void
    abandon() noexcept
    {
        if (worker_) {
            (void)end(SCHEDQ_GROUP_ERROR);
            worker_ = worker_ref();
        }
    }

    worker_ref worker_; /* none: there is nothing to end */
    schedq_popped_group_t popped_{};
    std::size_t count_ = 0;
};

/** @cond */
namespace detail {

template <class Pop> outcome<group_cycle>
popped_group(worker_ref worker, Pop &&pop) noexcept
{
    schedq_popped_group_t taken{};
    std::size_t count = 0;
    schedq_status_t status = pop(&taken, &count);
    return {status, group_cycle(status == SCHEDQ_OK ? worker : worker_ref(), taken, count)};
}

template <class Pop> outcome<cycle>
popped(worker_ref worker, Pop &&pop) noexcept
{
    schedq_popped_t taken;
    schedq_status_t status = pop(&taken);
    if (status != SCHEDQ_OK) {
        return {status, cycle()};
    }
    return {status, cycle(worker, taken)};
}

} // namespace detail
/** @endcond */

inline outcome<cycle>
worker_ref::try_pop() const noexcept
{
    return detail::popped(*this, [&](schedq_popped_t *out) { return schedq_try_pop(worker_, out); });
}

inline outcome<cycle>
worker_ref::pop() const noexcept
{
    return detail::popped(*this, [&](schedq_popped_t *out) { return schedq_pop(worker_, out); });
}

inline outcome<cycle>
worker_ref::pop_for(duration wait) const noexcept
{
    return detail::popped(*this, [&](schedq_popped_t *out) {
        return schedq_pop_for(worker_, wait.count(), out);
    });
}

inline outcome<cycle>
worker_ref::pop_until(time_point deadline) const noexcept
{
    return detail::popped(*this, [&](schedq_popped_t *out) {
        return schedq_pop_until(worker_, ns(deadline), out);
    });
}

inline outcome<group_cycle>
worker_ref::try_pop_group(schedq_popped_t *members, std::size_t room) const noexcept
{
    return detail::popped_group(*this, [&](schedq_popped_group_t *group, std::size_t *count) {
        return schedq_try_pop_group(worker_, group, members, room, count);
    });
}

inline outcome<group_cycle>
worker_ref::pop_group(schedq_popped_t *members, std::size_t room) const noexcept
{
    return pop_group_until(at(SCHEDQ_NO_DEADLINE), members, room);
}

inline outcome<group_cycle>
worker_ref::pop_group_for(duration wait, schedq_popped_t *members, std::size_t room) const noexcept
{
    return detail::popped_group(*this, [&](schedq_popped_group_t *group, std::size_t *count) {
        return schedq_pop_group_for(worker_, wait.count(), group, members, room, count);
    });
}

inline outcome<group_cycle>
worker_ref::pop_group_until(time_point deadline, schedq_popped_t *members,
                            std::size_t room) const noexcept
{
    return detail::popped_group(*this, [&](schedq_popped_group_t *group, std::size_t *count) {
        return schedq_pop_group_until(worker_, ns(deadline), group, members, room, count);
    });
}

/** A worker that this object registered, and unregisters. */
class worker : public worker_ref {
public:
    /** No worker: every call is SCHEDQ_INVALID. */
    worker() noexcept = default;
    /** A registered one, which this object unregisters. */
    explicit worker(schedq_worker_t *registered) noexcept : worker_ref(registered) {}
    /** `other` is empty then. */
    worker(worker &&other) noexcept : worker_ref(std::exchange(other.worker_, nullptr)) {}
    /** Unregisters what was here; `other` is empty then. */
    worker &
    operator=(worker &&other) noexcept
    {
        if (this != &other) {
            end();
            worker_ = std::exchange(other.worker_, nullptr);
        }
        return *this;
    }
    worker(const worker &) = delete;
    worker &operator=(const worker &) = delete;
    /** schedq_worker_unregister. No call of this worker may be under way. */
    ~worker() { end(); }

private:
    void
    end() noexcept
    {
        if (worker_ != nullptr) {
            (void)schedq_worker_unregister(worker_);
        }
    }
};

/** A queue. */
class queue {
public:
    /** No queue: calls answer as those of the C API do for NULL. */
    queue() noexcept = default;
    /** One of the C API, which this object destroys. */
    explicit queue(schedq_t *made) noexcept : queue_(made) {}
    /** `other` is empty then. */
    queue(queue &&other) noexcept : queue_(std::exchange(other.queue_, nullptr)) {}
    /** Destroys what was here; `other` is empty then. */
    queue &
    operator=(queue &&other) noexcept
    {
        if (this != &other) {
            end();
            queue_ = std::exchange(other.queue_, nullptr);
        }
        return *this;
    }
    queue(const queue &) = delete;
    queue &operator=(const queue &) = delete;
    /**
     * schedq_destroy_with_pods. While a worker of make_worker lives, or the timer thread runs (call
     * stop before), that is refused: the queue goes on, without an owner.
     */
    ~queue() { end(); }

    /** schedq_create. */
    [[nodiscard]] static outcome<queue>
    create(const schedq_config_t &config, words *why = nullptr) noexcept
    {
        schedq_t *made = nullptr;
        schedq_status_t status =
            schedq_create(&config, &made, detail::data(why), detail::size(why));
        return {status, queue(made)};
    }

    /** For calls of the C API. */
    schedq_t *get() const noexcept { return queue_; }
    /** Is there one? */
    explicit operator bool() const noexcept { return queue_ != nullptr; }

    /**
     * schedq_destroy: refuses while there are pods or workers of make_worker, or the timer thread
     * runs; idle workers of this_thread end with the queue. Empty if it was OK.
     */
    schedq_status_t
    destroy(words *why = nullptr) noexcept
    {
        schedq_status_t status = schedq_destroy(queue_, detail::data(why), detail::size(why));
        if (status == SCHEDQ_OK) {
            queue_ = nullptr;
        }
        return status;
    }

    /** schedq_worker_register. */
    [[nodiscard]] outcome<worker>
    make_worker(words *why = nullptr) const noexcept
    {
        schedq_worker_t *made = nullptr;
        schedq_status_t status =
            schedq_worker_register(queue_, &made, detail::data(why), detail::size(why));
        return {status, worker(made)};
    }

    /** schedq_worker_get: the thread's own worker, which is given back when the thread ends. */
    [[nodiscard]] outcome<worker_ref>
    this_thread(words *why = nullptr) const noexcept
    {
        schedq_worker_t *own = nullptr;
        schedq_status_t status =
            schedq_worker_get(queue_, &own, detail::data(why), detail::size(why));
        return {status, worker_ref(own)};
    }

    /** schedq_close: pops that wait end, and adds are refused. */
    schedq_status_t close() const noexcept { return schedq_close(queue_); }
    /** schedq_now. */
    time_point now() const noexcept { return at(schedq_now(queue_)); }
    /** schedq_next_deadline. */
    time_point next_deadline() const noexcept { return at(schedq_next_deadline(queue_)); }
    /** schedq_run: starts the timer thread. */
    schedq_status_t
    run(words *why = nullptr) const noexcept
    {
        return schedq_run(queue_, detail::data(why), detail::size(why));
    }
    /** schedq_stop: ends the timer thread. */
    schedq_status_t stop() const noexcept { return schedq_stop(queue_); }

    /** schedq_wait_fd: readable while something can be popped. */
    outcome<int>
    wait_fd(words *why = nullptr) const noexcept
    {
        int fd = -1;
        schedq_status_t status = schedq_wait_fd(queue_, &fd, detail::data(why), detail::size(why));
        return {status, fd};
    }

    /** schedq_wait_callback: wake(ctx) runs when something can be popped. */
    schedq_status_t
    wait_callback(void (*wake)(void *ctx), void *ctx, words *why = nullptr) const noexcept
    {
        return schedq_wait_callback(queue_, wake, ctx, detail::data(why), detail::size(why));
    }

    /** schedq_reserve. */
    schedq_status_t
    reserve(std::uint32_t pods, std::uint32_t bands, std::uint32_t workers,
            words *why = nullptr) const noexcept
    {
        return schedq_reserve(queue_, pods, bands, workers, detail::data(why), detail::size(why));
    }

    /** schedq_trim. */
    schedq_status_t trim() const noexcept { return schedq_trim(queue_); }
    /** schedq_clock_advance. */
    schedq_status_t
    advance_clock(time_point now) const noexcept
    {
        return schedq_clock_advance(queue_, ns(now));
    }
    /** schedq_words: numbers that are read without a call. */
    const schedq_words_t *numbers() const noexcept { return schedq_words(queue_); }
    /** schedq_event_plugins. */
    std::uint64_t
    event_plugins(schedq_profile_t profile, schedq_event_t event) const noexcept
    {
        return schedq_event_plugins(queue_, profile, event);
    }
    /** schedq_worker_adopt: that worker's thread is dead. */
    schedq_status_t
    adopt(worker_ref abandoned) const noexcept
    {
        return schedq_worker_adopt(queue_, abandoned.get());
    }
    /** schedq_explanation_text. */
    std::size_t
    explanation_text(const schedq_explanation_t &explanation, char *text,
                     std::size_t size) const noexcept
    {
        return schedq_explanation_text(queue_, &explanation, text, size);
    }

    /** schedq_profile_define. */
    outcome<schedq_profile_t>
    define_profile(const char *name, words *why = nullptr) const noexcept
    {
        schedq_profile_t profile = 0;
        schedq_status_t status =
            schedq_profile_define(queue_, name, &profile, detail::data(why), detail::size(why));
        return {status, profile};
    }

    /** schedq_event_define. */
    outcome<schedq_event_t>
    define_event(const char *resource, std::uint32_t actions, const char *label = nullptr,
                 words *why = nullptr) const noexcept
    {
        schedq_event_t event = SCHEDQ_EVENT_NONE;
        schedq_status_t status = schedq_event_define(queue_, resource, actions, label, &event,
                                                     detail::data(why), detail::size(why));
        return {status, event};
    }

    /** schedq_plugin_register. The value is the plugin's bit. */
    outcome<std::uint64_t>
    register_plugin(const schedq_plugin_t &plugin, words *why = nullptr) const noexcept
    {
        std::uint64_t bit = 0;
        schedq_status_t status =
            schedq_plugin_register(queue_, &plugin, &bit, detail::data(why), detail::size(why));
        return {status, bit};
    }

    /** schedq_plugin_name. The value is the plugin's bit. */
    outcome<std::uint64_t>
    name_plugin(schedq_profile_t profile, std::string_view name,
                words *why = nullptr) const noexcept
    {
        std::uint64_t bit = 0;
        schedq_status_t status =
            schedq_plugin_name(queue_, profile, name.data(), name.size(), &bit, detail::data(why),
                               detail::size(why));
        return {status, bit};
    }

    /** schedq_rejector_bit. */
    std::uint64_t
    rejector_bit(schedq_profile_t profile, std::string_view name) const noexcept
    {
        return schedq_rejector_bit(queue_, profile, name.data(), name.size());
    }

    /** schedq_rejector_name. */
    const char *
    rejector_name(schedq_profile_t profile, std::uint64_t bit) const noexcept
    {
        return schedq_rejector_name(queue_, profile, bit);
    }

    /** schedq_stats. */
    outcome<schedq_stats_t>
    stats() const noexcept
    {
        outcome<schedq_stats_t> out{SCHEDQ_OK, SCHEDQ_STATS_INIT};
        out.status = schedq_stats(queue_, &out.value);
        return out;
    }

    /** schedq_metrics_write, piece by piece: bool write(std::string_view); false ends it. */
    template <class Write> schedq_status_t
    write_metrics(Write &&write) const noexcept
    {
        return schedq_metrics_write(queue_, detail::write<std::remove_reference_t<Write>>, &write);
    }

    /** schedq_metrics_write_named, piece by piece, as write_metrics. */
    template <class Write> static schedq_status_t
    write_metrics(const schedq_named_queue_t *queues, std::size_t count, Write &&write,
                  words *why = nullptr) noexcept
    {
        return schedq_metrics_write_named(queues, count,
                                          detail::write<std::remove_reference_t<Write>>, &write,
                                          detail::data(why), detail::size(why));
    }

    /** schedq_pending_text. */
    std::size_t
    pending_text(char *text, std::size_t size) const noexcept
    {
        return schedq_pending_text(queue_, text, size);
    }

private:
    void
    end() noexcept
    {
        if (queue_ != nullptr) {
            (void)schedq_destroy_with_pods(queue_, nullptr, 0);
        }
    }

    schedq_t *queue_ = nullptr;
};

} // namespace schedq

#endif
