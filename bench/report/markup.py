"""HTML of the page: numbers in words, tables, the style sheet."""

import html


def escape(text):
    return html.escape(str(text), quote=True)


def grouped(number):
    return f"{number:,}"


def three_digits(value):
    """Three significant digits, no exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def duration(ns):
    """Nanoseconds, in a unit that fits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{three_digits(ns / size)} {unit}"
    return f"{three_digits(ns)} ns"


def seconds(value):
    """Seconds of a trace, in a unit that fits."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        if value >= size:
            return f"{three_digits(value / size)} {unit}"
    return f"{three_digits(value * 1e3)} ms"


def tick_duration(ns):
    """The name of a tick at a power of ten."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:,.0f} {unit}"
    return f"{ns:.0f} ns" if ns >= 1 else f"{ns:g} ns"


def breakable(name):
    """A name that may be cut behind an underscore."""
    return escape(name).replace("_", "_<wbr />")


def table(head, rows, classes=None):
    """`head`: titles. `rows`: cells, the first of which names the row; a cell is text, or (text, class)."""
    out = ['<div class="scroll"><table>', "<thead><tr>" + "".join(f'<th scope="col">{escape(title)}</th>' for title in head)
           + "</tr></thead>", "<tbody>"]
    for row in rows:
        cells = [f'<th scope="row">{breakable(row[0])}</th>']
        for cell in row[1:]:
            text, kind = cell if isinstance(cell, tuple) else (cell, None)
            cells.append(f'<td class="{kind}">{escape(text)}</td>' if kind else f"<td>{escape(text)}</td>")
        out.append("<tr>" + "".join(cells) + "</tr>")
    return "\n".join(out + ["</tbody></table></div>"])


def facts(pairs):
    return "<dl>" + "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs) + "</dl>"


def figure(title, svg, note="", key=()):
    """`key`: (colour, mark, title) of each curve."""
    note = f"<p>{escape(note)}</p>" if note else ""
    if key:
        marks = (f'<li><span style="color: var(--{colour})">{mark}</span> {escape(name)}</li>' for colour, mark, name in key)
        note += '<ul class="key">' + "".join(marks) + "</ul>"
    return f"<figure><figcaption><h3>{escape(title)}</h3>{note}</figcaption>{svg}</figure>"


def figures(parts):
    return '<div class="plots">' + "\n".join(parts) + "</div>"


STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1f2328; --dim: #59636e; --axis: #818b98; --grid: #e4e8ec;
  --box: #f6f8fa; --schedq: #0a5fd0; --mutex: #c2410c; --yielding: #7c3aed; --bare: #6b7280; --other: #0f766e;
  --active: #0a5fd0; --backoff: #b7791f; --parked: #c2410c; --inflight: #0f766e; --good: #116329; --bad: #a40e26; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #0d1117; --ink: #e6edf3; --dim: #9aa4af; --axis: #6e7681; --grid: #252c35; --box: #161b22;
    --schedq: #58a6ff; --mutex: #ff9152; --yielding: #c297ff; --bare: #a3adb8; --other: #4fd1c5; --active: #58a6ff;
    --backoff: #e3b341; --parked: #ff9152; --inflight: #4fd1c5; --good: #56d364; --bad: #ff8a84; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: .5rem 0; } h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--grid); }
h3 { font-size: 1rem; margin: 0; }
p { margin: .4rem 0; } .dim, figcaption p, dt { color: var(--dim); font-size: .9rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); gap: 1.25rem; margin: 1rem 0;
  align-items: start; }
figure { margin: 0; padding: .75rem; background: var(--box); border-radius: .5rem; }
.key { list-style: none; display: flex; flex-wrap: wrap; gap: 0 1.1rem; margin: .4rem 0 0; padding: 0; font-size: .95rem; }
svg { display: block; width: 100%; height: auto; margin-top: .5rem; overflow: visible; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 9.5rem), 1fr)); gap: .5rem 1rem; margin: .75rem 0; }
dd { margin: 0; } dl div { min-width: 0; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid var(--grid); white-space: nowrap; overflow-wrap: normal; }
th:first-child { text-align: left; padding-left: 0; font-weight: 500; } thead th { color: var(--dim); font-weight: 600; }
tbody th:first-child { position: sticky; left: 0; background: var(--paper); white-space: normal; min-width: 8.5rem; }
@media (max-width: 40rem) { tbody th:first-child { max-width: 8.5rem; } th, td { padding: .25rem .4rem; } }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); font-weight: 600; }
summary { cursor: pointer; padding: .25rem 0; }
"""


def page(parts):
    """`parts`: (title, HTML)."""
    title = "schedq: what was measured"
    body = "\n".join(f"<section>\n<h2>{escape(name)}</h2>\n{text}\n</section>" for name, text in parts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""
