/*
 * Performs the operations of conformance vectors through schedq.hpp: the child process of
 * schedq-conform --driver. It speaks the lines of docs/CONFORMANCE.md and checks nothing: hints, gates
 * and prechecks are members of plugins here, which the queue calls back.
 *
 * Callbacks get 64 bits, which are addresses of what `things` keeps until the vector ends: the queue
 * may replay an event late.
 */
#include <schedq/schedq.hpp>

#include <cinttypes>
#include <cstdio>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace {

using std::string;

const string name_space = "default";
constexpr std::int64_t ms = 1000000;
/* The vector's time 0 on the queue's clock: a whole second, far from 0. */
constexpr std::int64_t start = 1000000000000000;

/* ---- lines ------------------------------------------------------------------------------------ */

/* A line of a vector: words, then key=value fields. An event's hint stands behind a '=' too, so what has
 * a ':' before it is a word. schedq-conform has checked the line. */
struct line {
    std::vector<string> words;
    std::map<string, string> values;

    explicit line(const string &text)
    {
        std::istringstream fields(text);
        for (string field; fields >> field;) {
            std::size_t equals = field.find('=');
            if (equals != string::npos && field.find(':') > equals) {
                values[field.substr(0, equals)] = field.substr(equals + 1);
            } else {
                words.push_back(field);
            }
        }
    }
    bool has(const string &key) const { return values.count(key) != 0; }
    string
    text(const string &key, const string &absent = "") const
    {
        auto found = values.find(key);
        return found == values.end() ? absent : found->second;
    }
    std::int64_t number(const string &key) const { return std::stoll(text(key, "0")); }
};

std::vector<string>
split(const string &text, char at)
{
    std::vector<string> items;
    std::istringstream in(text);
    for (string item; std::getline(in, item, at);) {
        items.push_back(item);
    }
    return items;
}

/* A pod by the two names it has. */
struct identity {
    string name, uid;
    bool
    operator<(const identity &other) const
    {
        return std::tie(name, uid) < std::tie(other.name, other.uid);
    }
    string full() const { return name_space + "/" + name; }
    string text() const { return name == uid ? name : name + " uid=" + uid; }
};

struct event_text {
    string resource;
    std::uint32_t actions = 0;

    /* RESOURCE:ACTION|ACTION */
    explicit event_text(const string &text)
    {
        static const std::map<string, std::uint32_t> bits = {
            {"Add", SCHEDQ_ACTION_ADD},
            {"Delete", SCHEDQ_ACTION_DELETE},
            {"Update", SCHEDQ_ACTION_UPDATE},
            {"All", SCHEDQ_ACTION_ALL},
            {"UpdateNodeAllocatable", SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE},
            {"UpdateNodeLabel", SCHEDQ_ACTION_UPDATE_NODE_LABEL},
            {"UpdateNodeTaint", SCHEDQ_ACTION_UPDATE_NODE_TAINT},
            {"UpdateNodeCondition", SCHEDQ_ACTION_UPDATE_NODE_CONDITION},
            {"UpdateNodeAnnotation", SCHEDQ_ACTION_UPDATE_NODE_ANNOTATION},
            {"UpdateNodeDeclaredFeature", SCHEDQ_ACTION_UPDATE_NODE_DECLARED_FEATURE},
            {"UpdateNodePreemptionPolicy", SCHEDQ_ACTION_UPDATE_NODE_PREEMPTION_POLICY},
            {"UpdatePodLabel", SCHEDQ_ACTION_UPDATE_POD_LABEL},
            {"UpdatePodScaleUp", SCHEDQ_ACTION_UPDATE_POD_SCALE_UP},
            {"UpdatePodScaleDown", SCHEDQ_ACTION_UPDATE_POD_SCALE_DOWN},
            {"UpdatePodToleration", SCHEDQ_ACTION_UPDATE_POD_TOLERATION},
            {"UpdatePodSchedulingGatesEliminated", SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED},
            {"UpdatePodGeneratedResourceClaim", SCHEDQ_ACTION_UPDATE_POD_GENERATED_CLAIM},
        };
        std::size_t colon = text.rfind(':');
        resource = text.substr(0, colon);
        for (const string &name : split(text.substr(colon + 1), '|')) {
            actions |= bits.at(name);
        }
    }
};

/* ---- what the queue's 64 bits stand for -------------------------------------------------------- */

/* A pod or a group at one version, or an object of an event. */
struct thing {
    string uid;   /* "": no pod of the vector */
    string group; /* that a pod names, or that it is; "": none */
    std::int64_t min = 0; /* a group's */
    string ns = name_space, affinity, app;
    std::int64_t number = 0; /* a pod's is its need */
    std::int64_t name_number = 0;
    std::int64_t gate = 0;
};

std::uint64_t
bits(const thing *it)
{
    return reinterpret_cast<std::uintptr_t>(it);
}

const thing *
at(std::uint64_t object)
{
    return reinterpret_cast<const thing *>(static_cast<std::uintptr_t>(object));
}

std::int64_t
number_of(const thing *it)
{
    return it == nullptr ? 0 : it->number;
}

/* What upstream's plugins know of groups and the queue does not: which objects there are. */
class gangs {
public:
    struct known {
        string parent; /* "": none */
        std::int64_t min = 0;
        bool exists = false;
        std::int64_t pods = 0; /* that exist and name it */
        schedq_token_t token{}; /* of its last cycle */
    };

    /* By its name, declared or not. */
    known &named(const string &name) { return groups_[name]; }
    const std::map<string, known> &all() const { return groups_; }

    /* The bytes of its name, so that numbers are in the order of names; 0 for "". */
    static std::uint64_t
    number(const string &name)
    {
        std::uint64_t number = 0;
        for (std::size_t i = 0; i < 8; i++) {
            number = number << 8 | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0);
        }
        return number;
    }
    string
    name(std::uint64_t number) const
    {
        for (const auto &group : groups_) {
            if (gangs::number(group.first) == number) {
                return group.first;
            }
        }
        return "";
    }
    /* By the objects that exist; "": one above does not. */
    string
    root(const string &name) const
    {
        auto found = groups_.find(name);
        for (int depth = 0; found != groups_.end() && found->second.exists && depth < 64; depth++) {
            if (found->second.parent.empty()) {
                return found->first;
            }
            found = groups_.find(found->second.parent);
        }
        return "";
    }
    /* PreEnqueue of the gang. */
    bool
    pass(const thing &pod) const
    {
        if (pod.group.empty() || pod.gate != 0) {
            return true;
        }
        const known &its = groups_.at(pod.group);
        return !root(pod.group).empty() && its.min <= its.pods;
    }
    bool
    same_root(const thing &pod, const thing *changed) const
    {
        return changed != nullptr && !changed->group.empty() && !pod.group.empty() &&
               !root(pod.group).empty() && root(pod.group) == root(changed->group);
    }

private:
    std::map<string, known> groups_;
};

/* ---- plugins ----------------------------------------------------------------------------------- */

struct plugin {
    string name, profile;
    std::int64_t refused = 0; /* the gate whose pods PreEnqueue refuses */
    bool has_gate = false;
    bool is_gang = false; /* its gate refuses groups that are not complete */
    const gangs *groups = nullptr;
    std::vector<string> resources;
    std::vector<schedq_interest_t> interests;
    std::uint64_t bit = 0;

    bool
    pass(std::uint64_t pod) const
    {
        return is_gang ? groups->pass(*at(pod)) : at(pod)->gate != refused;
    }
    schedq_hint_t
    when(bool condition) const
    {
        return condition ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
    }
    schedq_hint_t
    always(std::uint64_t, std::uint64_t, std::uint64_t) const
    {
        return SCHEDQ_HINT_QUEUE;
    }
    schedq_hint_t
    never(std::uint64_t, std::uint64_t, std::uint64_t) const
    {
        return SCHEDQ_HINT_SKIP;
    }
    schedq_hint_t
    error(std::uint64_t, std::uint64_t, std::uint64_t) const
    {
        return SCHEDQ_HINT_ERROR;
    }
    schedq_hint_t
    parity(std::uint64_t pod, std::uint64_t before, std::uint64_t after) const
    {
        return when((at(pod)->name_number + number_of(at(before)) + number_of(at(after))) % 2 == 0);
    }
    schedq_hint_t
    fits(std::uint64_t pod, std::uint64_t, std::uint64_t after) const
    {
        return when(after != 0 && at(after)->number >= at(pod)->number);
    }
    schedq_hint_t
    grew(std::uint64_t, std::uint64_t before, std::uint64_t after) const
    {
        return when(after != 0 && (before == 0 || at(after)->number > at(before)->number));
    }
    schedq_hint_t
    mine(std::uint64_t pod, std::uint64_t, std::uint64_t after) const
    {
        return when(after != 0 && !at(after)->uid.empty() && at(after)->uid == at(pod)->uid);
    }
    schedq_hint_t
    mygroup(std::uint64_t pod, std::uint64_t, std::uint64_t after) const
    {
        return when(groups->same_root(*at(pod), at(after)));
    }
    schedq_hint_t
    mindown(std::uint64_t pod, std::uint64_t before, std::uint64_t after) const
    {
        return when(before != 0 && after != 0 && at(after)->min < at(before)->min &&
                    groups->same_root(*at(pod), at(after)));
    }
};

schedq_hint_fn
hint_named(const string &name)
{
    static const std::map<string, schedq_hint_fn> hints = {
        {"always", schedq::hint_of<&plugin::always>()}, {"never", schedq::hint_of<&plugin::never>()},
        {"error", schedq::hint_of<&plugin::error>()},   {"parity", schedq::hint_of<&plugin::parity>()},
        {"fits", schedq::hint_of<&plugin::fits>()},     {"grew", schedq::hint_of<&plugin::grew>()},
        {"mine", schedq::hint_of<&plugin::mine>()},
        {"mygroup", schedq::hint_of<&plugin::mygroup>()},
        {"mindown", schedq::hint_of<&plugin::mindown>()},
    };
    auto found = hints.find(name);
    return found == hints.end() ? nullptr : found->second;
}

int
has_even_name(void *, std::uint64_t pod)
{
    return at(pod)->name_number % 2 == 0;
}

int
affinity_matches(void *, std::uint64_t pod, std::uint64_t assigned)
{
    return !at(pod)->affinity.empty() && at(pod)->affinity == at(assigned)->app &&
           at(pod)->ns == at(assigned)->ns;
}

/* ---- a vector ---------------------------------------------------------------------------------- */

struct profile {
    schedq_profile_t number = 0;
    std::vector<plugin *> plugins;
};

/* What the driver knows of a pod by name and uid, alive or not. */
struct pod {
    profile *of = nullptr;
    schedq_pod_t handle{};
    schedq::cycle cycle; /* in flight */
    const thing *newest = nullptr;
    string group;
    bool exists = false; /* added, and not deleted since */
    std::size_t position = 0; /* among those of its pop */
};

constexpr std::size_t most_popped = 64;

class vector {
public:
    explicit vector(const std::vector<string> &head);
    string perform(const string &text);
    void write_state(std::ostream &out);
    void write_metrics(std::ostream &out);

private:
    struct described {
        thing *object;
        schedq_pod_spec_t spec;
        profile *of;
    };

    void configure(const line &head, schedq_config_t &config, std::size_t &workers);
    void set_up(const line &head);
    profile &profile_named(const string &name);
    void register_plugin(const line &head);
    described describe(const identity &id, const line &said);
    thing *keep(thing it);
    thing *numbered(const line &said, const string &key);
    std::uint64_t node(const string &name);
    schedq_event_t event(const event_text &text, const string &label = "");
    std::uint64_t set(const profile &of, const string &names);
    string names(const profile &of, std::uint64_t rejectors);
    string answer(schedq_status_t status) const;

    string add(const identity &id, const line &said);
    string pop();
    string fail(const identity &id, const line &said);
    string fail_after_done(const identity &id, const line &said);
    string done(const identity &id);
    string update(const identity &id, const line &said);
    string nominate(const identity &id, std::uint64_t node);
    string move(const line &said);
    string assigned(const line &said, bool added);
    string activate(const string &list);
    string get(const identity &id);
    identity take(const schedq_popped_t &popped, std::size_t position);
    string pop_group();
    void come(const identity &id, const line &said);
    void note(const identity &id, const described &made, schedq_pod_t handle);
    bool is_dropped(const identity &id, const described &made);
    string erase(const identity &id, const line &said);
    string declare(const line &said, bool adds);
    string undeclare(const string &group);
    string end_group(const line &said);
    string get_group(const string &group);
    void write_records(std::ostream &out);

    std::int64_t now_ = start;
    bool early_ = false; /* a release before queueing hints */
    bool has_groups_ = false, is_composite_ = false;
    string last_popped_; /* the group that the last pop took; "": it took a pod */
    std::map<string, std::uint64_t> phantoms_; /* by queue: what upstream counts as incoming, see erase */
    std::deque<thing> things_;
    std::deque<plugin> plugins_;
    gangs groups_;
    std::map<string, profile> profiles_;
    std::map<string, std::uint64_t> nodes_;
    schedq::queue queue_;
    std::vector<schedq::worker> workers_;
    std::size_t turn_ = 0;
    schedq::worker_ref worker_; /* whose turn it is */
    std::map<identity, pod> pods_; /* ends before the workers: what is in flight is handed back */
};

std::int64_t
read_clock(void *ctx)
{
    return *static_cast<std::int64_t *>(ctx);
}

void
check(schedq_status_t status, const schedq::words &why)
{
    if (status != SCHEDQ_OK) {
        throw std::runtime_error(string(schedq_status_name(status)) + ": " + why.c_str());
    }
}

vector::vector(const std::vector<string> &head)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    std::size_t workers = 1;
    schedq::words why;

    for (const string &text : head) {
        configure(line(text), config, workers);
    }
    config.count_cycles = 1;
    config.clock = {read_clock, &now_, 1, {}};
    config.affinity_matches = affinity_matches;
    config.flush_ns = ms; /* the recorder called the flush itself, whenever the script said so */
    auto made = schedq::queue::create(config, &why);
    check(made.status, why);
    queue_ = std::move(*made);
    for (const string &text : head) {
        set_up(line(text));
    }
    while (workers_.size() < workers) {
        auto worker = queue_.make_worker(&why);
        check(worker.status, why);
        workers_.push_back(std::move(*worker));
    }
}

void
vector::configure(const line &head, schedq_config_t &config, std::size_t &workers)
{
    if (head.words[0] == "vector") {
        config.engine = head.text("engine") == "mutex" ? SCHEDQ_ENGINE_MUTEX : SCHEDQ_ENGINE_LOCKFREE;
        workers = static_cast<std::size_t>(head.number("workers"));
    } else if (head.words[0] == "source") {
        std::uint8_t engine = config.engine;
        int minor = std::stoi(split(head.words[2], '.')[1]);
        check(schedq_config_preset(&config, static_cast<schedq_preset_t>(minor)), {});
        config.engine = engine;
        early_ = minor < 34;
    } else if (head.words[0] == "config") {
        has_groups_ = head.number("groups") == 1;
        is_composite_ = head.number("composite") == 1;
        if (head.has("requeue")) {
            config.requeue =
                head.text("requeue") == "hints" ? SCHEDQ_REQUEUE_HINTS : SCHEDQ_REQUEUE_MOVE_CYCLE;
        }
        if (head.has("pop-from-backoff")) {
            config.pop_from_backoff = head.number("pop-from-backoff") == 1;
            config.backoff_window = config.pop_from_backoff;
        }
        if (head.has("initial-backoff-ms")) {
            config.initial_backoff_ns = head.number("initial-backoff-ms") * ms;
        }
        if (head.has("max-backoff-ms")) {
            config.max_backoff_ns = head.number("max-backoff-ms") * ms;
        }
        if (head.has("max-unschedulable-ms")) {
            config.max_parked_ns = head.number("max-unschedulable-ms") * ms;
        }
    }
}

void
vector::set_up(const line &head)
{
    if (head.words[0] == "profile") {
        (void)profile_named(head.words[1]);
    } else if (head.words[0] == "plugin") {
        register_plugin(head);
    }
}

profile &
vector::profile_named(const string &name)
{
    auto [found, fresh] = profiles_.try_emplace(name);
    if (fresh) {
        schedq::words why;
        auto defined = queue_.define_profile(name.c_str(), &why);
        check(defined.status, why);
        found->second.number = *defined;
    }
    return found->second;
}

void
vector::register_plugin(const line &head)
{
    plugin &made = plugins_.emplace_back();
    profile &of = profile_named(head.text("profile", "default-scheduler"));
    schedq::words why;

    made.name = head.words[1];
    made.has_gate = head.has("preenqueue");
    made.groups = &groups_;
    made.is_gang = head.text("preenqueue") == "gang";
    made.refused = made.is_gang ? 0 : head.number("preenqueue");
    made.resources.reserve(head.words.size()); /* interests point into it */
    for (std::size_t i = 2; i < head.words.size(); i++) {
        if (head.words[i] == "preenqueue") {
            made.has_gate = true;
            made.refused = 1;
            continue;
        }
        std::size_t equals = head.words[i].find('=');
        event_text text(head.words[i].substr(0, equals));
        made.resources.push_back(text.resource);
        made.interests.push_back(
            {made.resources.back().c_str(), text.actions, 0,
             equals == string::npos ? nullptr : hint_named(head.words[i].substr(equals + 1))});
    }
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    plugin.profile = of.number;
    plugin.name = made.name.c_str();
    plugin.interests = made.interests.empty() ? nullptr : made.interests.data();
    plugin.interest_count = static_cast<std::uint32_t>(made.interests.size());
    plugin.pre_enqueue = made.has_gate ? schedq::pre_enqueue_of<&::plugin::pass>() : nullptr;
    plugin.ctx = &made;
    /* The plugin that spreads pods hears of every assigned pod, since queueing hints. */
    plugin.flags = !early_ && made.name == "PodTopologySpread" ? SCHEDQ_PLUGIN_SPREAD : 0;
    auto registered = queue_.register_plugin(plugin, &why);
    check(registered.status, why);
    made.bit = *registered;
    of.plugins.push_back(&made);
}

thing *
vector::keep(thing it)
{
    return &things_.emplace_back(std::move(it));
}

thing *
vector::numbered(const line &said, const string &key)
{
    thing it;
    it.number = said.number(key);
    return said.has(key) ? keep(it) : nullptr;
}

std::uint64_t
vector::node(const string &name)
{
    return name.empty() ? 0 : nodes_.try_emplace(name, nodes_.size() + 1).first->second;
}

schedq_event_t
vector::event(const event_text &text, const string &label)
{
    schedq::words why;
    auto defined = queue_.define_event(text.resource.c_str(), text.actions,
                                       label.empty() ? nullptr : label.c_str(), &why);
    check(defined.status, why);
    return *defined;
}

std::uint64_t
vector::set(const profile &of, const string &names)
{
    std::uint64_t set = 0;
    for (const string &name : split(names, ',')) {
        std::uint64_t bit = 0;
        for (const plugin *it : of.plugins) {
            bit |= it->name == name ? it->bit : 0;
        }
        if (bit == 0) {
            throw std::runtime_error("plugin \"" + name + "\" has no plugin line");
        }
        set |= bit;
    }
    return set;
}

string
vector::names(const profile &of, std::uint64_t rejectors)
{
    std::map<string, bool> sorted;
    string text;
    for (const plugin *it : of.plugins) {
        if ((it->bit & rejectors) != 0) {
            sorted[it->name] = true;
        }
    }
    for (const auto &[name, there] : sorted) {
        text += (text.empty() ? "" : ",") + name;
    }
    return text;
}

string
vector::answer(schedq_status_t status) const
{
    return status == SCHEDQ_OK ? "ok"
                               : string("error ") + schedq_status_name(status) + ": " + worker_.error();
}

/* ---- operations -------------------------------------------------------------------------------- */

/* Since the vector's time 0, in milliseconds, with a fraction if there is one. */
string
milliseconds(std::int64_t time)
{
    char text[64];
    std::int64_t since = time - start;
    if (since % ms == 0) {
        std::snprintf(text, sizeof text, "%" PRId64, since / ms);
    } else {
        std::snprintf(text, sizeof text, "%" PRId64 "%+" PRId64 "ns", since / ms, since % ms);
    }
    return text;
}

string
history_text(const schedq_history_t &history)
{
    return " attempts=" + std::to_string(history.attempts) +
           " unschedulable=" + std::to_string(history.rejections) +
           " errors=" + std::to_string(history.errors) +
           " timestamp=" + milliseconds(history.timestamp_ns) + " initial-attempt=" +
           (history.initial_attempt_ns == 0 ? "-" : milliseconds(history.initial_attempt_ns));
}

vector::described
vector::describe(const identity &id, const line &said)
{
    profile &of = profile_named(said.text("profile", "default-scheduler"));
    thing it;
    it.uid = id.uid;
    it.number = said.number("need");
    it.name_number = std::strtoll(id.name.c_str() + id.name.find_first_of("0123456789"), nullptr, 10);
    it.gate = said.number("gate");
    it.affinity = said.text("affinity");
    it.group = said.text("group");
    described made{keep(it), SCHEDQ_POD_SPEC_INIT, &of};
    made.spec.object = bits(made.object);
    made.spec.nominated_node = node(said.text("nominated"));
    made.spec.priority = static_cast<std::int32_t>(said.number("prio"));
    made.spec.profile = of.number;
    made.spec.group = gangs::number(it.group);
    made.spec.flags = it.affinity.empty() ? 0 : SCHEDQ_POD_AFFINITY;
    return made;
}

string
vector::add(const identity &id, const line &said)
{
    described made = describe(id, said);
    come(id, said);
    auto added = worker_.add(id.full(), made.spec);
    if (added) {
        note(id, made, added->pod);
    }
    return answer(added.status);
}

/* Gates ask for it while it is added. */
void
vector::come(const identity &id, const line &said)
{
    pod &it = pods_[id];
    it.group = said.text("group");
    if (!it.group.empty()) {
        groups_.named(it.group).pods += it.exists ? 0 : 1;
    }
    it.exists = true;
}

/* What an operation stated in full. */
void
vector::note(const identity &id, const described &made, schedq_pod_t handle)
{
    pod &it = pods_[id];
    it.of = made.of;
    it.newest = made.object;
    it.handle = handle;
}

/* Which pod a pop took; its cycle is that pod's from here on. */
identity
vector::take(const schedq_popped_t &popped, std::size_t position)
{
    identity id{string(popped.name, popped.name_length).substr(name_space.size() + 1),
                at(popped.object)->uid};
    pod &it = pods_[id];
    it.handle = popped.pod;
    it.position = position;
    it.cycle = schedq::cycle(worker_, popped);
    return id;
}

string
vector::pop_group()
{
    schedq_popped_t members[most_popped];
    auto popped = worker_.try_pop_group(members, most_popped);
    if (popped.status == SCHEDQ_EMPTY || popped.status == SCHEDQ_CLOSED) {
        return popped.status == SCHEDQ_EMPTY ? "empty" : "closed";
    }
    if (popped.status != SCHEDQ_OK) {
        return answer(popped.status);
    }
    const schedq_popped_group_t group = popped->popped();
    const std::size_t count = popped->count();
    last_popped_ = groups_.name(group.group);
    if (group.group == 0) {
        return take(members[0], 0).text() + history_text(members[0].history) +
               " cycle=" + std::to_string(members[0].cycle) +
               (members[0].from_backoff ? " from=backoff" : "") +
               (members[0].flushed ? " flushed=1" : "");
    }
    groups_.named(last_popped_).token = popped->take();
    string text = "group " + last_popped_ + history_text(group.history) +
                  " cycle=" + std::to_string(group.cycle) + (group.flushed ? " flushed=1" : "") +
                  " pods=";
    for (std::size_t i = 0; i < count; i++) {
        text += (i == 0 ? "" : ",") + take(members[i], i).name + "/" + std::to_string(members[i].history.attempts);
    }
    return text;
}

string
vector::pop()
{
    if (has_groups_) {
        return pop_group();
    }
    auto popped = worker_.try_pop();
    if (popped.status == SCHEDQ_EMPTY) {
        return "empty";
    }
    if (popped.status == SCHEDQ_CLOSED) {
        return "closed";
    }
    if (!popped) {
        return answer(popped.status);
    }
    identity id{string(popped->name().substr(name_space.size() + 1)), at(popped->object())->uid};
    const schedq_popped_t told = popped->popped();
    pod &it = pods_[id];
    it.handle = popped->pod();
    it.cycle = std::move(*popped);
    return id.text() +
           (early_ ? " attempts=" + std::to_string(told.history.attempts)
                   : history_text(told.history)) +
           " cycle=" + std::to_string(told.cycle) + (told.from_backoff ? " from=backoff" : "") +
           (told.flushed ? " flushed=1" : "");
}

string
vector::fail(const identity &id, const line &said)
{
    pod &it = pods_[id];
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    if (said.number("after-done") == 1) {
        return fail_after_done(id, said);
    }
    if (!it.cycle) {
        return "error not in flight: there is nothing to fail";
    }
    failure.unschedulable = set(*it.of, said.text("plugins"));
    failure.pending = set(*it.of, said.text("pending"));
    described newest = describe(id, said);
    failure.newest = early_ ? nullptr : &newest.spec;
    if (!early_) {
        note(id, newest, it.handle);
    }
    schedq_status_t status = it.cycle.fail(worker_, failure).status;
    return status == SCHEDQ_GONE ? "error present" : answer(status);
}

/* Binding failed after `done`: the counters are the operation's. */
string
vector::fail_after_done(const identity &id, const line &said)
{
    described made = describe(id, said);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_history_t history{};

    history.attempts = static_cast<std::uint32_t>(said.number("attempts"));
    history.rejections = static_cast<std::uint32_t>(said.number("unschedulable"));
    history.errors = static_cast<std::uint32_t>(said.number("errors"));
    if (said.has("initial-attempt")) {
        history.initial_attempt_ns = start + said.number("initial-attempt") * ms;
    }
    history.timestamp_ns = history.initial_attempt_ns;
    failure.unschedulable = set(*made.of, said.text("plugins"));
    failure.pending = set(*made.of, said.text("pending"));
    auto added = worker_.readd(id.full(), made.spec, history, failure);
    if (added) {
        note(id, made, added->pod);
    }
    return added.status == SCHEDQ_EXISTS ? "error present" : answer(added.status);
}

string
vector::done(const identity &id)
{
    auto found = pods_.find(id);
    if (found == pods_.end() || !found->second.cycle) {
        return nominate(id, 0);
    }
    schedq_status_t status = found->second.cycle.done(worker_);
    return answer(status == SCHEDQ_GONE ? SCHEDQ_OK : status);
}

/* A pod that is in no place has no nomination to end. */
string
vector::nominate(const identity &id, std::uint64_t node)
{
    auto found = pods_.find(id);
    schedq_status_t status = SCHEDQ_NOT_FOUND;
    if (found != pods_.end() && found->second.handle.bits != 0) {
        status = worker_.nominate(found->second.handle, node);
    }
    return answer(status == SCHEDQ_NOT_FOUND && node == 0 ? SCHEDQ_OK : status);
}

string
vector::update(const identity &id, const line &said)
{
    described made = describe(id, said);
    std::vector<schedq_event_t> events;
    thing *before = numbered(said, "old");

    if (early_ && said.number("changed") == 1) {
        events.push_back(SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE);
    }
    if (!early_) {
        for (const string &text : split(said.text("events"), ',')) {
            events.push_back(event(event_text(text)));
        }
    }
    /* A queued pod keeps its affinity term: kube parses it once. */
    auto found = worker_.find(id.full());
    if (found && found->place != SCHEDQ_INFLIGHT && at(found->object)->uid == id.uid) {
        made.object->affinity = at(found->object)->affinity;
    }
    made.spec.flags = static_cast<std::uint8_t>(
        SCHEDQ_POD_ADD | (made.object->affinity.empty() ? 0 : SCHEDQ_POD_AFFINITY));
    if (is_dropped(id, made)) {
        return answer(SCHEDQ_OK);
    }
    come(id, said);
    auto updated = worker_.update(id.full(), made.spec, bits(before), events.data(), events.size());
    if (updated) {
        note(id, made, updated->pod);
    }
    return answer(updated.status);
}

string
vector::move(const line &said)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = event(event_text(said.words[0]), said.words[1]);
    change.old_object = bits(numbered(said, "old"));
    change.new_object = bits(numbered(said, "new"));
    for (const char *prefix : {"old", ""}) {
        const string group = said.text(string(prefix) + "group", said.text("group"));
        thing changed;
        changed.group = group;
        changed.min = said.number(string(prefix) + "min");
        if (said.has(string(prefix) + "group") || (*prefix != '\0' && said.has("oldmin"))) {
            (*prefix != '\0' ? change.old_object : change.new_object) = bits(keep(changed));
        }
    }
    if (said.has("pod")) {
        auto found = pods_.find({said.text("pod"), said.text("pod")});
        change.new_object = found != pods_.end() && found->second.newest != nullptr
                                ? bits(keep(*found->second.newest))
                                : 0;
    }
    if (said.has("target")) {
        std::vector<string> target = split(said.text("target"), '/');
        auto found =
            pods_.find({target[0], said.text("uid", target.size() > 1 ? target[1] : target[0])});
        /* One that the queue has never seen: a wildcard with an object, which reaches nobody. */
        if (found == pods_.end()) {
            change.new_object = bits(keep({}));
        } else {
            change.target = found->second.handle;
        }
    }
    change.precheck = said.has("precheck") ? has_even_name : nullptr;
    return answer(worker_.notify(change).status);
}

string
vector::assigned(const line &said, bool added)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    thing it;
    string ns = said.text("ns", name_space);

    it.ns = ns;
    it.app = said.text("app");
    it.number = said.number("new");
    if (said.has("event")) {
        change.event = event(event_text(said.text("event")));
    } else if (early_) { /* one resource for all pods */
        change.event = event(event_text(added ? "Pod:Add" : "Pod:Update"),
                             added ? "AssignedPodAdd" : "AssignedPodUpdate");
    } else {
        change.event = event(event_text(added ? "AssignedPod:Add" : "AssignedPod:Update"));
    }
    change.old_object = bits(numbered(said, "old"));
    change.new_object = bits(keep(it));
    return answer((added ? worker_.assigned_pod_added(change, ns)
                         : worker_.assigned_pod_updated(change, ns))
                      .status);
}

string
vector::activate(const string &list)
{
    std::vector<schedq_pod_t> handles;
    for (const string &text : split(list, ',')) {
        std::vector<string> id = split(text, '/');
        auto found = pods_.find({id[0], id.size() > 1 ? id[1] : id[0]});
        if (found != pods_.end()) {
            handles.push_back(found->second.handle);
        }
    }
    return answer(worker_.activate(handles.data(), handles.size()).status);
}

string
vector::get(const identity &id)
{
    string text = "absent";
    auto found = worker_.find(id.full());
    if (found.status == SCHEDQ_NOT_FOUND) {
        return text;
    }
    schedq_status_t status = worker_.get(found->pod, [&](const schedq_pod_info_t &info) {
        if (info.place != SCHEDQ_INFLIGHT) {
            identity there{id.name, at(info.object)->uid};
            const profile &of = *pods_.at(there).of;
            text = there.text() + history_text(info.history) +
                   " plugins=" + names(of, info.unschedulable) +
                   " pending=" + names(of, info.pending) + " gating=" +
                   names(of, info.gate == 0 ? 0 : std::uint64_t(1) << (info.gate - 1));
        }
        return false;
    });
    return status == SCHEDQ_OK ? text : answer(status);
}

/* ---- groups ------------------------------------------------------------------------------------ */

/* Upstream drops the update of an unknown member without a root, where the library adds the pod. */
bool
vector::is_dropped(const identity &id, const described &made)
{
    if (made.spec.group == 0 || worker_.find(id.full()).status != SCHEDQ_NOT_FOUND) {
        return false;
    }
    auto group = worker_.get_group(made.spec.group);
    return !group || group->root == 0;
}

/* Upstream takes a queued record out also for a pod that it does not have, and puts it back: its members
 * count as incoming once more. The library has no pod to delete then. */
string
vector::erase(const identity &id, const line &said)
{
    schedq_status_t status = worker_.erase(id.full()).status;
    auto found = pods_.find(id);

    if (found != pods_.end()) {
        if (found->second.exists && !found->second.group.empty()) {
            groups_.named(found->second.group).pods--;
        }
        found->second.exists = false;
    }
    if (status == SCHEDQ_NOT_FOUND && said.has("group")) {
        auto group = worker_.get_group(gangs::number(said.text("group")));
        if (group && group->root != 0) {
            auto root = worker_.get_group(group->root);
            const char *queue = root->place == SCHEDQ_ACTIVE          ? "active"
                                : root->place == SCHEDQ_ERROR_BACKOFF ? "backoff"
                                : root->place == SCHEDQ_GATED         ? "unschedulable"
                                                                      : "";
            phantoms_[queue] += root->waiting;
        }
    }
    return answer(status == SCHEDQ_NOT_FOUND ? SCHEDQ_OK : status);
}

string
vector::declare(const line &said, bool adds)
{
    gangs::known &group = groups_.named(said.words[0]);
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    const std::uint64_t number = gangs::number(said.words[0]);

    group.exists = true;
    group.min = said.number("min");
    group.parent = is_composite_ ? said.text("parent") : "";
    spec.priority = static_cast<std::int32_t>(said.number("prio"));
    spec.profile = profile_named("default-scheduler").number;
    spec.object = number;
    spec.parent = gangs::number(group.parent);
    return answer((adds ? worker_.add_group(number, spec) : worker_.update_group(number, spec)).status);
}

/* Upstream's plugins see it go before the queue does. */
string
vector::undeclare(const string &group)
{
    groups_.named(group).exists = false;
    return answer(worker_.erase_group(gangs::number(group)).status);
}

string
vector::end_group(const line &said)
{
    static const std::map<string, schedq_group_outcome_t> outcomes = {
        {"success", SCHEDQ_GROUP_PLACED},
        {"unschedulable", SCHEDQ_GROUP_REJECTED},
        {"error", SCHEDQ_GROUP_ERROR},
    };
    schedq_group_end_t end = SCHEDQ_GROUP_END_INIT;
    end.outcome = static_cast<std::uint8_t>(outcomes.at(said.text("status")));
    return answer(worker_.done_group(groups_.named(said.words[0]).token, end).status);
}

string
vector::get_group(const string &group)
{
    auto info = worker_.get_group(gangs::number(group));
    if (!info || info->place == SCHEDQ_ASIDE || info->place == SCHEDQ_INFLIGHT) {
        return "absent";
    }
    return group + history_text(info->history) + " gating=" +
           names(profile_named("default-scheduler"),
                 info->gate == 0 ? 0 : std::uint64_t(1) << (info->gate - 1)) +
           " size=" + std::to_string(info->waiting);
}

string
vector::perform(const string &text)
{
    line said(text);
    string verb = said.words[1];

    now_ = start + std::stoll(said.words[0]) * ms;
    said.words.erase(said.words.begin(), said.words.begin() + 2);
    worker_ = workers_[++turn_ % workers_.size()];
    identity id{said.words.empty() ? "" : said.words[0], ""};
    id.uid = said.text("uid", id.name);
    if (verb == "add") {
        return add(id, said);
    } else if (verb == "pop") {
        return pop();
    } else if (verb == "fail") {
        return fail(id, said);
    } else if (verb == "done") {
        return done(id);
    } else if (verb == "update") {
        return update(id, said);
    } else if (verb == "delete") {
        return erase(id, said);
    } else if (verb == "group-add" || verb == "composite-add") {
        return declare(said, true);
    } else if (verb == "group-update" || verb == "composite-update") {
        return declare(said, false);
    } else if (verb == "group-delete" || verb == "composite-delete") {
        return undeclare(said.words[0]);
    } else if (verb == "group-done") {
        return end_group(said);
    } else if (verb == "group-get") {
        return get_group(said.words[0]);
    } else if (verb == "nominate") {
        const string &to = said.words[1];
        return nominate(id, node(to == "-" ? "" : to == "status" ? said.text("nominated") : to));
    } else if (verb == "denominate") {
        return nominate(id, 0);
    } else if (verb == "move") {
        return move(said);
    } else if (verb == "assigned-add" || verb == "assigned-update") {
        return assigned(said, verb == "assigned-add");
    } else if (verb == "activate") {
        return activate(said.words[0]);
    } else if (verb == "tick") {
        return answer(worker_.tick().status);
    } else if (verb == "get") {
        return get(id);
    } else if (verb == "pending") {
        char pending[128];
        (void)queue_.pending_text(pending, sizeof pending);
        return pending;
    } else if (verb == "close") {
        return answer(queue_.close());
    }
    return "error there is no operation \"" + verb + "\"";
}

/* Vectors name a parked pod by kube's word. */
const char *
place_name(std::uint8_t place)
{
    return place == SCHEDQ_PARKED ? "unschedulable"
                                  : schedq_place_name(static_cast<schedq_place_t>(place));
}

/* Of roots that are in a place, or in their cycle if nothing was popped since. */
void
vector::write_records(std::ostream &out)
{
    for (const auto &group : groups_.all()) {
        const string &name = group.first;
        auto info = worker_.get_group(gangs::number(name));
        if (info && info->place != SCHEDQ_ASIDE &&
            (info->place != SCHEDQ_INFLIGHT || last_popped_ == name)) {
            out << "record " << name << ' ' << place_name(info->place) << ' ' << info->priority
                << ' ' << info->history.timestamp_ns - start << ' '
                << info->backoff_expiry_ns - start << '\n';
        }
    }
}

void
vector::write_state(std::ostream &out)
{
    std::map<string, string> roots; /* a visitor must not ask */
    for (const auto &group : groups_.all()) {
        const string &name = group.first;
        auto info = worker_.get_group(gangs::number(name));
        roots[name] = info && info->root != 0 ? groups_.name(info->root) : "-";
    }
    (void)worker_.snapshot([&](const schedq_pod_info_t &info) {
        const identity id{info.name + name_space.size() + 1, at(info.object)->uid};
        out << "pod " << id.name << ' ' << id.uid << ' ' << place_name(info.place) << ' '
            << info.priority << ' ' << info.history.timestamp_ns - start << ' '
            << info.backoff_expiry_ns - start << ' ' << info.pop_order;
        if (has_groups_) {
            const string group = groups_.name(info.group);
            out << ' ' << (group.empty() ? "- -" : group + ' ' + roots.at(group)) << ' '
                << info.history.attempts << ' ' << pods_[id].position;
        }
        out << '\n';
        return true;
    });
    write_records(out);
    for (const auto &node : nodes_) {
        (void)worker_.nominated_pods(node.second, [&](const schedq_pod_info_t &info) {
            out << "nominated " << node.first << ' ' << info.name + name_space.size() + 1 << '\n';
            return true;
        });
    }
}

void
vector::write_metrics(std::ostream &out)
{
    (void)queue_.write_metrics([&](std::string_view text) {
        out << text;
        return true;
    });
    for (const auto &[queue, count] : phantoms_) {
        if (!queue.empty()) {
            out << "scheduler_queue_incoming_pods_total{queue=\"" << queue
                << "\",event=\"UnscheduledPodAdd\"} " << count << '\n';
        }
    }
}

} // namespace

int
main()
{
    std::vector<string> head; /* of the vector that begins */
    std::unique_ptr<vector> open;

    for (string text; std::getline(std::cin, text);) {
        string word = text.substr(0, text.find(' '));
        try {
            if (word == "vector") {
                head = {text};
                continue;
            } else if (word == "source" || word == "config" || word == "plugin" ||
                       word == "profile") {
                head.push_back(text);
                continue;
            } else if (word == "open") {
                open = std::make_unique<vector>(head);
            } else if (word == "end") {
                open.reset();
            } else if (word == "state") {
                open->write_state(std::cout);
            } else if (word == "metrics") {
                open->write_metrics(std::cout);
            } else {
                std::cout << "> " << open->perform(text) << '\n';
            }
        } catch (const std::exception &wrong) {
            std::cout << "> error " << wrong.what() << '\n';
        }
        std::cout << "." << std::endl;
    }
    return 0;
}
