"""The report: tables in Markdown, and the machine of the measurement."""

import os
import platform
import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Section:
    """A table under a heading, with a few words before it."""

    title: str
    lead: str
    columns: list
    rows: list = field(default_factory=list)
    # Its bars in the chart: CPU microseconds by name.
    bars: dict = field(default_factory=dict)

    def row(self, *cells):
        self.rows.append([str(cell) for cell in cells])

    def markdown(self):
        # The first column names things, the others are figures.
        rule = ["---"] + ["---:"] * (len(self.columns) - 1)
        lines = ["| " + " | ".join(cells) + " |" for cells in [self.columns, rule, *self.rows]]
        return "\n".join([f"## {self.title}", "", self.lead, "", *lines])


def count(number):
    return f"{number:,}"


def microseconds(value):
    return f"{value:.2f} µs"


def spread(values):
    return f"{min(values):.2f}–{max(values):.2f}"


def ratio(value, base):
    return "–" if None in (value, base) else times(value / base)


def times(value):
    return f"{value:.2f}"


def seconds(value):
    return "–" if value is None else f"{value:.2f} s"


def megabytes(value):
    """Returns a number of bytes in millions of them."""
    return "–" if value is None else f"{value / 1e6:,.{1 if value < 1e8 else 0}f} MB"


def machine():
    """Returns the environment of the measurement, as (name, value)."""
    about = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)", about, re.MULTILINE)
    memory = re.search(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return [
        ("Processor", f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores"),
        ("Memory", megabytes(int(memory[1]) * 1024)),
        ("Kernel", f"{platform.system()} {platform.release()}"),
        ("Load before the run", f"{os.getloadavg()[0]:.2f}"),
    ]


def markdown(about, sections, chart):
    """Returns the whole document."""
    parts = [
        "# Measurements",
        "Written by `tests/bench/run`.\n"
        "[Performance](../performance.md) says what the figures mean.\n"
        "A figure is the median of several rounds, and a ratio of two costs the median of the ratios of "
        "the rounds; the spread is their minimum and maximum.",
        "\n".join(["| this run | |", "| --- | --- |"] + [f"| {k} | {v} |" for k, v in about]),
    ]
    if chart:
        parts.append(f"![CPU time per redirect, by server and by size of the table]({chart})")
    return "\n\n".join(parts + [section.markdown() for section in sections]) + "\n"
