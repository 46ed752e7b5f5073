"""The chart: two groups of bars, as an SVG that is readable on light and on dark pages."""

from xml.sax.saxutils import escape

PEERS = ("floor", "nginx", "nginx, huge pages", "HAProxy", "axum", "Caddy")

WIDTH, LABEL, BAR, GAP = 720, 130, 22, 10

HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"
    role="img" aria-labelledby="t d">
<title id="t">CPU time per redirect</title>
<desc id="d">{description}</desc>
<style>
svg {{ color: #1f2328; font: 14px system-ui, sans-serif; }}
text {{ fill: currentColor; }}
.head {{ font-weight: 600; }}
rect {{ fill: #0969da; }}
.peer {{ fill: #8c959f; }}
@media (prefers-color-scheme: dark) {{
    svg {{ color: #e6edf3; }}
    rect {{ fill: #4493f8; }}
    .peer {{ fill: #8c959f; }}
}}
</style>
"""


def draw(sections):
    """Returns the SVG of the sections that have bars."""
    groups = [section for section in sections if section.bars]
    widest = max(value for section in groups for value in section.bars.values())
    lines, top = [], 0
    for section in groups:
        top += 24
        lines.append(f'<text class="head" x="0" y="{top}">{escape(section.title)}</text>')
        top += 14
        for name, value in section.bars.items():
            width = (WIDTH - LABEL - 90) * value / widest
            middle = top + BAR * 0.72
            peer = ' class="peer"' if name in PEERS else ""
            lines += [
                f'<text x="{LABEL - 8}" y="{middle:.0f}" text-anchor="end">{escape(name)}</text>',
                f'<rect{peer} x="{LABEL}" y="{top}" width="{width:.1f}" height="{BAR}" rx="2"/>',
                f'<text x="{LABEL + width + 8:.1f}" y="{middle:.0f}">{value:.2f} µs</text>',
            ]
            top += BAR + GAP
        top += GAP
    description = "; ".join(
        f"{section.title}: "
        + ", ".join(f"{name} {value:.2f} µs" for name, value in section.bars.items())
        for section in groups
    )
    head = HEAD.format(width=WIDTH, height=top, description=escape(description))
    return head + "\n".join(lines) + "\n</svg>\n"
