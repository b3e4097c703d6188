"""The part of the page about schedq-bench: distributions, threads, pending pods, all rows."""

import re

import markup
import plots

TITLES = {"schedq": "lock-free", "mutex": "mutex", "yielding": "mutex, yielding", "bare": "bare heap"}
# Rows that have a distribution, and what their plot is called.
TAILS = (
    ("storm/100k/pop-p99.9", "A pop in the storm, 100,000 pods parked"),
    ("storm/1M/pop-p99.9", "A pop in the storm, 1,000,000 pods parked"),
    ("storm/100k/add-p99.9", "An add in the storm, 100,000 pods parked"),
    ("storm/10k-events/pop-p99.9", "A pop beside 10,000 events a second"),
    ("event-to-pop/p99", "From an event to the pop of what it moved"),
)
DUE = "Counted from when it was due, so that a stall counts for all that it held up."
THREADS = (1, 2, 4, 8, 16)
PENDING = (("1k", 1e3), ("10k", 1e4), ("100k", 1e5), ("1M", 1e6), ("10M", 1e7))


def heading_of(text):
    """[(name, value)] of the lines above the table."""
    pairs = re.findall(r"^(machine|commit|compiler|date|others|run) +(.*)$", text, flags=re.M)
    return [("other programs" if name == "others" else name, value) for name, value in pairs]


def median(rows, name, contestant):
    figures = rows.get(name, {}).get("figures", {}).get(contestant)
    return figures["median"] if figures else None


def tails(rows):
    out = []
    for name, title in TAILS:
        figures = rows.get(name, {}).get("figures", {})
        curves = [(who, TITLES[who], figures[who]["distribution"]) for who in ("schedq", "mutex", "yielding")
                  if "distribution" in figures.get(who, {})]
        if curves:
            out.append(markup.figure(title, plots.distribution(title, curves, markup.tick_duration), DUE, key=plots.key(curves)))
    return out


def first(rows, names, contestant):
    values = [median(rows, name, contestant) for name in names]
    return next((value for value in values if value), None)


def throughput(rows):
    """100,000 pending; millions of lives a second."""
    series = []
    for who in ("schedq", "mutex", "bare"):
        points = []
        for threads in THREADS:
            ns = first(rows, (f"lifecycle/{threads}t/100k", f"scaling/{threads}t/100k"), who)
            if ns:
                points.append((threads, 1e3 / ns))
        if len(points) > 1:
            series.append((who, TITLES[who], points))
    if not series:
        return []
    seen = sorted({point[0] for _, _, points in series for point in points})
    svg = plots.curves("Lives a second by number of threads", "threads that all add, pop and end pods",
                       [(str(threads), threads) for threads in seen], series)
    return [markup.figure("Throughput by threads", svg, "Millions of lives (add, pop, done) a second, 100,000 pods pending; higher is better.",
                          plots.key(series))]


def pending(rows):
    """One thread; ns a life."""
    series = []
    for who in ("schedq", "mutex", "bare"):
        points = []
        for name, pods in PENDING:
            ns = first(rows, (f"lifecycle/1t/{name}", f"scaling/1t/{name}"), who)
            if ns:
                points.append((pods, ns))
        if len(points) > 1:
            series.append((who, TITLES[who], points))
    if not series:
        return []
    most = max(point[0] for _, _, points in series for point in points)
    svg = plots.curves("Cost of a life by pods that are pending", "pods pending",
                       [(name, pods) for name, pods in PENDING if pods <= most], series)
    return [markup.figure("Cost by pending pods", svg, "Nanoseconds for a life (add, pop, done), one thread; lower is better.",
                          plots.key(series))]


def amount(row, value):
    if value is None:
        return "-"
    return markup.duration(value) if row["unit"] == "ns" else f"{markup.three_digits(value)} {row['unit']}"


def ratio(value, inverse=False):
    if value is None:
        return "-"
    good = value <= 1 if inverse else value >= 1
    return (f"{value:,.2f}", "good" if good else "bad")


def others(row):
    """The other contestants, and the same figure of a thread that only reads the clock."""
    said = [f"{name} {amount(row, figures['median'])}" for name, figures in row["figures"].items()
            if name not in ("schedq", "mutex", "bare")]
    if row.get("control"):
        said.append(f"clock alone {amount(row, row['control'])}")
    return ", ".join(said)


def table(rows):
    body = [(row["row"], amount(row, row["schedq"]), amount(row, row["mutex"]), amount(row, row["bare"]),
             ratio(row["ratio"], (row.get("ratio_of") or "").startswith("schedq/")), row.get("ratio_of") or "",
             ratio(row["bare_ratio"]), others(row)) for row in rows]
    return markup.table(("row", "lock-free", "mutex", "bare", "ratio", "of", "bare/lock-free", "others"), body)


def tables(rows):
    headline = [row for row in rows if row.get("headline", True)]
    rest = [row for row in rows if not row.get("headline", True)]
    out = ""
    if headline:
        out += "<h3>Headline rows</h3>" + table(headline)
    if rest:
        out += f"<details><summary>{len(rest)} other rows</summary>{table(rest)}</details>"
    return out


NOTE = ("Medians of the repetitions, wall-clock time of one operation of all threads together. A ratio says how many times "
        "better the lock-free engine is: above 1 it wins. The ratio of schedq/base is the other way round: how many times more "
        "than the base it takes. docs/BENCH.md says what each row does.")


def part(rows, heading):
    named = {row["row"]: row for row in rows}
    shown = tails(named) + throughput(named) + pending(named)
    text = markup.facts(heading) if heading else ""
    if shown:
        text += markup.figures(shown)
    return "Benchmark", text + tables(rows) + f'<p class="dim">{markup.escape(NOTE)}</p>'
