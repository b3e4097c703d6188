"""SVG plots for the page, drawn by gnuplot.

gnuplot is given colours that stand for names (PALETTE), and the page's style sheet says what a name looks like in light
and in dark. Plots are small and their text is large, so that they can be read at the width of a phone.
"""

import math
import re
import shutil
import subprocess

WIDTH, HEIGHT = 480, 320
FONT = "system-ui,sans-serif,17"
# A name, and what gnuplot is told: rgb(1, 1, N).
PALETTE = {name: 10 + number for number, name in enumerate(
    ("ink", "axis", "grid", "schedq", "mutex", "yielding", "bare", "other", "active", "backoff", "parked", "inflight"))}


class Failed(Exception):
    """A plot could not be drawn; the text says why."""


def missing():
    """What to say if gnuplot is not installed, or None."""
    if shutil.which("gnuplot") is None:
        return "gnuplot is not installed (Debian: apt-get install gnuplot-nox)"
    return None


def colour(name):
    return f'rgb "#0101{PALETTE[name]:02x}"'


def run_gnuplot(script):
    try:
        done = subprocess.run(["gnuplot"], input=script, capture_output=True, text=True, encoding="utf-8")
    except OSError as error:
        raise Failed(f"gnuplot cannot be started: {error}") from error
    if done.returncode != 0 or "</svg>" not in done.stdout:
        raise Failed("gnuplot failed: " + done.stderr.strip())
    return done.stdout


def inline(svg, number, label):
    """What gnuplot wrote, as a part of a page: names of its own, colours of the style sheet, no fixed size."""
    names = {value: name for name, value in PALETTE.items()}
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<title>.*?</title>\s*<desc>.*?</desc>\s*", "", svg, flags=re.S)
    svg = re.sub(r"\s*<filter .*?</filter>", "", svg, flags=re.S)
    svg = re.sub(r"\bid=(['\"])", rf"id=\1p{number}-", svg)
    svg = svg.replace("xlink:href='#", f"xlink:href='#p{number}-")
    svg = re.sub(r"rgb\(\s*1,\s*1,\s*(\d+)\)", lambda match: f"var(--{names[int(match.group(1))]})", svg)
    svg = re.sub(r'\bcolor="(?:black|white|gray)"', "", svg)
    svg = svg.replace("<tspan font-family=\"system-ui,sans-serif\" >", "<tspan>")
    svg = re.sub(r"<g [^>]*>\s*</g>\n?", "", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


class Plot:
    """Collects what one plot shows; `svg` draws it."""

    count = 0

    def __init__(self, label, height=HEIGHT):
        self.label = label
        self.height = height
        self.setup = []
        self.blocks = []
        self.curves = []

    def set(self, *lines):
        self.setup += [f"set {line}" for line in lines]

    def data(self, rows):
        name = f"$d{len(self.blocks)}"
        self.blocks.append(f"{name} << EOD\n" + "\n".join(" ".join(map(str, row)) for row in rows) + "\nEOD")
        return name

    def curve(self, rows, how):
        """`how`: what stands behind the data in gnuplot's `plot`."""
        self.curves.append(f"{self.data(rows)} {how}")

    def svg(self):
        Plot.count += 1
        script = [f'set terminal svg size {WIDTH},{self.height} dynamic font "{FONT}"',
                  "set encoding utf8",
                  f"set border 3 linecolor {colour('axis')}",
                  f"set tics nomirror textcolor {colour('ink')}",
                  f"set grid xtics ytics linetype 1 dashtype 1 linecolor {colour('grid')}",
                  "unset key",
                  f"set xlabel offset 0,0.4 textcolor {colour('ink')}",
                  "set lmargin at screen 0.16", "set rmargin at screen 0.95", "set tmargin at screen 0.97"]
        script += self.setup + self.blocks + ["plot " + ", ".join(self.curves)]
        return inline(run_gnuplot("\n".join(script) + "\n"), Plot.count, self.label)


# Colour, and the point that shows it too: as gnuplot numbers it, and as a letter of the key.
POINTS = {"schedq": (7, "●"), "mutex": (5, "■"), "yielding": (9, "▲"), "bare": (13, "◆")}


def key(series):
    """(colour, mark, title) of each curve: for the key, which is text of the page and so breaks its lines."""
    return [(name, POINTS[name][1] if name in POINTS else "━", title) for name, title, *_ in series]


def point(name):
    return f"pointtype {POINTS.get(name, (7,))[0]} linecolor {colour(name)}"


def lines(name):
    return f"with linespoints linewidth 2.5 pointsize 0.55 {point(name)}"


def time_scale(unit_ns):
    """A scale of times, in this many nanoseconds: what `spans` takes. Ticks where people think, powers of ten below."""
    named = [(f"{10 ** power} {unit}", 10 ** power * size) for unit, size in (("ns", 1), ("µs", 1e3), ("ms", 1e6))
             for power in range(3)]
    named += [("1 s", 1e9), ("10 s", 1e10), ("1 min", 6e10), ("10 min", 6e11), ("1 h", 3.6e12), ("6 h", 2.16e13), ("1 d", 8.64e13),
              ("10 d", 8.64e14), ("100 d", 8.64e15), ("3 y", 9.46e16), ("30 y", 9.46e17), ("300 y", 9.46e18)]

    def scale(axis, low, high):
        first = max([number for number, (_, ns) in enumerate(named) if ns <= low * unit_ns * 1.001], default=0)
        last = min([number for number, (_, ns) in enumerate(named) if ns >= high * unit_ns], default=len(named) - 1)
        last = max(last, first + 1)
        step = (last - first + 3) // 4
        chosen = range(first, last + step, step)
        ticks = ", ".join(f'"{named[at][0]}" {named[at][1] / unit_ns}' for at in chosen if at < len(named))
        return [f"logscale {axis}", f"{axis}range [{named[first][1] / unit_ns}:{named[last][1] / unit_ns * 1.3}]",
                f"{axis}tics ({ticks})"]

    return scale


def decades(axis, low, high, unit):
    """Ticks at powers of ten, named by `unit`, from below `low` to above `high`; more than seven: every second."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    last = max(last, first + 1)
    step = 1 if last - first <= 7 else 2
    ticks = ", ".join(f'"{unit(10.0 ** power)}" 1e{power}' for power in range(first, last + 1, step))
    return [f"logscale {axis}", f"{axis}range [1e{first}:1e{last}]", f"{axis}tics ({ticks})"]


def distribution(label, curves, unit):
    """`curves`: (colour, title, points), a point being (percent, value). Percent on a scale of nines."""
    plot = Plot(label)
    beyond = max(-math.log10(1 - percent / 100) for _, _, points in curves for percent, _ in points if percent < 100)
    end = math.ceil(beyond + 0.3)
    ticks = ([("0", 0)] if end < 6 else []) + [("50", -math.log10(0.5)), ("90", 1), ("99", 2), ("99.9", 3), ("99.99", 4), ("99.999", 5)]
    plot.set("xrange [0:%g]" % end, 'xlabel "percentile"',
             "xtics (" + ", ".join(f'"{name}" {at:.4f}' for name, at in ticks if at < end - 0.2) + f', "max" {end})')
    values = [value for _, _, points in curves for _, value in points if value > 0]
    plot.set(*decades("y", min(values), max(values), unit))
    for name, _, points in curves:
        rows = [(end if percent == 100 else f"{-math.log10(1 - percent / 100):.4f}", max(value, 1))
                for percent, value in points]
        plot.curve(rows, lines(name))
    return plot.svg()


def curves(label, xlabel, ticks, series):
    """x logarithmic, y from 0. `ticks`: (name, x); `series`: (colour, title, points)."""
    plot = Plot(label)
    margin = (ticks[-1][1] / ticks[0][1]) ** 0.06
    plot.set("yrange [0:*]", f'xlabel "{xlabel}"', "logscale x",
             f"xrange [{ticks[0][1] / margin}:{ticks[-1][1] * margin}]",
             "xtics (" + ", ".join(f'"{name}" {at}' for name, at in ticks) + ")")
    for name, _, points in series:
        plot.curve(points, lines(name))
    return plot.svg()


def depths(label, samples, kinds):
    """`samples`: rows of days and a depth for each of `kinds`, which are (colour, title)."""
    plot = Plot(label)
    few = max(max(row[1:]) for row in samples) < 8
    plot.set('xlabel "days since the start of the trace"', "yrange [0:*]", "xtics auto", f"ytics {1 if few else 'auto'}",
             'format y "%.0f"')
    for number, (name, _) in enumerate(kinds):
        plot.curve([(row[0], row[1 + number]) for row in samples], f"with lines linewidth 1.8 linecolor {colour(name)}")
    return plot.svg()


def left_margin(names):
    """Room for names beside the vertical axis."""
    return f"lmargin at screen {(10.5 * max(map(len, names)) + 16) / WIDTH:.3f}"


def spans(label, names, series, scale, xlabel):
    """For each name a line from its least to its greatest figure, on a log scale, with marks at all of them.

    `series`: (colour, title, {name: [figures]}); `names` from top to bottom; `scale` makes the axis.
    """
    plot = Plot(label, height=80 + 36 * len(names))
    shown = [value for _, _, figures in series for values in figures.values() for value in values if value > 0] or [1]
    plot.set(*scale("x", min(shown), max(shown)), f'xlabel "{xlabel}"', f"yrange [{len(names) - 0.4}:-0.6]",
             "ytics (" + ", ".join(f'"{name}" {at}' for at, name in enumerate(names)) + ")", "border 1", "grid xtics noytics",
             "ytics scale 0", left_margin(names))
    apart = 0.3 if len(series) > 1 else 0
    for number, (hue, _, figures) in enumerate(series):
        shift = apart * (number - (len(series) - 1) / 2)
        rows = [(at + shift, [max(value, min(shown)) for value in figures[name]])
                for at, name in enumerate(names) if name in figures]
        plot.curve([(values[0], at, values[-1] - values[0]) for at, values in rows],
                   f"using 1:2:3:(0) with vectors nohead linewidth 2.5 linecolor {colour(hue)}")
        plot.curve([(value, at) for at, values in rows for value in values], f"with points pointsize 0.6 {point(hue)}")
    return plot.svg()


def bars(label, rows, hue):
    """Horizontal bars: (name, value, text beside it)."""
    plot = Plot(label, height=10 + 42 * len(rows))
    most = max(value for _, value, _ in rows)
    plot.set(f"yrange [{len(rows) - 0.4}:-0.6]", f"xrange [0:{max(most, 1) * 1.75}]", "xtics format ''", "border 0", "unset xtics", "nogrid",
             "ytics scale 0 (" + ", ".join(f'"{name}" {at}' for at, (name, _, _) in enumerate(rows)) + ")", "style fill solid 1 noborder",
             left_margin([name for name, _, _ in rows]), "tmargin at screen 0.98", "bmargin at screen 0.02")
    plot.setup = [line.replace("set unset", "unset") for line in plot.setup]
    plot.curve([(value / 2, at, value / 2, 0.32) for at, (_, value, _) in enumerate(rows)],
               f"using 1:2:3:4 with boxxyerror linecolor {colour(hue)}")
    plot.curve([(value, at, f'"{text}"') for at, (_, value, text) in enumerate(rows)],
               f"using 1:2:3 with labels left offset 0.6 textcolor {colour('ink')}")
    return plot.svg()
