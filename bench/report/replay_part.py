"""The part of the page about a replay: depths, waits, causes, and both engines side by side."""

import json

import markup
import plots

ENGINES = {"lockfree": ("schedq", "lock-free"), "mutex": ("mutex", "mutex")}
# What makes two replays the same but for the engine.
SETTINGS = ("input", "preset", "preemption", "hints", "seed", "copies", "jitter_seconds", "nodes_fraction", "late_nodes", "workers",
            "pace", "service_us", "max_parked_seconds", "bad_lines", "nodes", "pods_total")
PLACES = (("active", "active"), ("backoff", "backoff"), ("parked", "parked"), ("inflight", "in flight"))
CAUSES = (("arrival", "arrival"), ("event", "event"), ("time", "time"), ("flush", "flush"))
OPERATIONS = ("add", "pop", "add_unschedulable", "done", "move_all", "tick", "preempt", "clock")
QUANTILES = (("p50", "p50_seconds"), ("p90", "p90_seconds"), ("p99", "p99_seconds"), ("max", "max_seconds"))


def groups(replays):
    """Lists of those that differ in nothing but their engine, lock-free first."""
    found = {}
    for replay in replays:
        found.setdefault(json.dumps([replay[name] for name in SETTINGS]), []).append(replay)
    return [sorted(group, key=lambda replay: list(ENGINES).index(replay["engine"])) for group in found.values()]


def title_of(replay):
    name = replay["input"].rsplit("/", 1)[-1]
    copies = "" if replay["copies"] == 1 else f", {markup.grouped(replay['copies'])} copies"
    return f"Replay of {name}{copies}, {markup.grouped(replay['nodes'])} of {markup.grouped(replay['nodes_recorded'])} nodes"


def facts(replay):
    attempts = replay["attempts"]
    pairs = [
        ("pods", f"{markup.grouped(replay['pods_total'])}, {markup.grouped(replay['pods_scheduled'])} scheduled"),
        ("unscheduled", f"{markup.grouped(replay['pods_unscheduled'])}; {markup.grouped(replay['pods_impossible'])} fit on no node"),
        ("first try failed", f"{100 * replay['first_attempt_failed_share']:.2f} % of the pods"),
        ("waiting at once", f"{markup.grouped(replay['waiting_max'])} at most"),
        ("events", f"{markup.grouped(replay['events'])}; {markup.grouped(replay['moves'])} pods moved"),
        ("attempts", f"{markup.grouped(attempts['total'])}; {attempts['mean']:.3f} a pod, at most {markup.grouped(attempts['max'])}"),
        ("time of the trace", f"{replay['virtual_seconds']:.3f} s"),
        ("queue", f"preset {replay['preset']}, hints {replay['hints']}, parked for at most {replay['max_parked_seconds']:g} s"),
        ("scheduler", f"workers {replay['workers']}, {markup.grouped(replay['service_us'])} µs an attempt, pace {replay['pace']}"),
        ("seed", f"{replay['seed']}"),
    ]
    if replay["preemption"] != "none":
        pairs.append(("preemption", f"{replay['preemption']}: {markup.grouped(replay['preemptions'])} decisions, "
                      f"{markup.grouped(replay['evictions'])} evictions, {replay['wasted_seconds']:.3f} s wasted"))
    if replay["bad_lines"]:
        pairs.append(("bad lines", markup.grouped(replay["bad_lines"])))
    return markup.facts(pairs)


def depth_plots(replay):
    days = [(sample["seconds"] / 86400, sample) for sample in replay["depth"]]
    if len(days) < 2:
        return []
    places = [[day] + [sample[name] for name, _ in PLACES] for day, sample in days]
    running = [[day, sample["running"]] for day, sample in days]
    return [
        markup.figure("Pods in the queue over time", plots.depths("Pods in each place of the queue over time", places, PLACES),
                      key=plots.key(PLACES)),
        markup.figure("Pods that run over time", plots.depths("Pods on nodes over time", running, [("other", "running")])),
    ]


def class_names(wait):
    """By priority, highest first."""
    return sorted(wait, key=lambda name: -wait[name]["priority"])


def wait_plot(replay):
    wait = {name: row for name, row in replay["wait"].items() if row["scheduled"] > 0}
    if not wait:
        return []
    names = class_names(wait)
    shown = [f"{name}, {wait[name]['priority']}" for name in names]
    spans = {title: [wait[name][field] for _, field in QUANTILES] for title, name in zip(shown, names)}
    svg = plots.spans("Waits by class", shown, [("schedq", "", spans)], plots.time_scale(1e9), "p50, p90, p99 and longest wait")
    return [markup.figure("Waits by class", svg, "From arrival until placed; each class with its priority, highest first.")]


def wait_table(wait):
    rows = [(name, str(wait[name]["priority"]), markup.grouped(wait[name]["pods"]), markup.grouped(wait[name]["scheduled"]),
             markup.grouped(wait[name]["evictions"]), *(f"{wait[name][field]:.3f}" for _, field in QUANTILES))
            for name in class_names(wait)]
    return markup.table(("class", "priority", "pods", "scheduled", "evictions", *(f"{name}, s" for name, _ in QUANTILES)), rows)


def cause_plot(replay):
    causes = replay["attempts"]["causes"]
    total = max(1, replay["attempts"]["total"])
    rows = [(title, causes[name], f"{causes[name]:,} ({100 * causes[name] / total:.1f} %)") for name, title in CAUSES]
    note = ("What made the pod active: it arrived; an event; its backoff was over, or nothing else was active (time); it had been "
            "parked for too long (flush).")
    return [markup.figure("Attempts by cause", plots.bars("Attempts by cause", rows, "schedq"), note)]


def cost_plot(replays):
    """p50 and p99 of what was called."""
    names = [name for name in OPERATIONS if any(replay["operations"][name]["count"] for replay in replays)]
    series = []
    for replay in replays:
        hue, title = ENGINES[replay["engine"]]
        series.append((hue, title, {name: [replay["operations"][name][field] for field in ("p50_ns", "p99_ns")]
                                    for name in names if replay["operations"][name]["count"]}))
    shown = [name.replace("_", " ") for name in names]
    series = [(hue, title, {name.replace("_", " "): values for name, values in figures.items()}) for hue, title, figures in series]
    svg = plots.spans("Cost of operations", shown, series, plots.time_scale(1), "p50 and p99")
    note = "Each contains one reading of the clock, which is the last row."
    return [markup.figure("Cost of operations by engine", svg, note, plots.key(series))]


def cost_table(replays):
    head = ["operation", "calls"]
    head += [f"{ENGINES[replay['engine']][1]} {name}" for name in ("p50", "p99", "p99.9", "max") for replay in replays]
    rows = []
    for name in OPERATIONS:
        counts = [replay["operations"][name]["count"] for replay in replays]
        row = [name, " / ".join(markup.grouped(count) for count in dict.fromkeys(counts))]
        row += [markup.grouped(replay["operations"][name][field]) for field in ("p50_ns", "p99_ns", "p999_ns", "max_ns")
                for replay in replays]
        rows.append(row)
    return markup.table(head, rows)


def run_table(replays):
    rows = [("seconds for the whole replay", *(f"{replay['wall_seconds']:.3f}" for replay in replays)),
            ("digest of all decisions", *(replay["digest"] for replay in replays))]
    return markup.table(("", *(ENGINES[replay["engine"]][1] for replay in replays)), rows)


def part(replays):
    replay = replays[0]
    text = facts(replay)
    if replay["source"]:
        text += f'<p class="dim">Source: {markup.escape(replay["source"])}</p>'
    text += markup.figures(depth_plots(replay) + wait_plot(replay) + cause_plot(replay) + cost_plot(replays))
    text += "<h3>Engines</h3>" + run_table(replays)
    text += "<h3>Waits, seconds of the trace</h3>" + wait_table(replay["wait"])
    if "wait_without" in replay:
        text += "<h3>Waits without preemption</h3>" + wait_table(replay["wait_without"])
    text += "<h3>Cost of operations, ns</h3>" + cost_table(replays)
    return title_of(replay), text
