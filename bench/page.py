"""Writes the page of benchmarks: one section for each version of Python."""

import re
from dataclasses import dataclass, field

INTRODUCTION = """\
# Benchmarks

`make bench` runs all benchmarks and writes the section of this page for its interpreter. `make bench PYTHON=python3.13` uses another interpreter, and `make bench BENCH_PYTHONS="python3.12 python3.13"` uses several. With `BRIEF=1` it runs only the benchmarks that depend on the interpreter. It installs the other tools in `target/bench`. The programs are in the folder `bench`, one file for each chapter.

How to read it: times are CPU times, so other work on the machine makes little difference. The tools in a table take turns in one run, and the median of the repeats is shown. Times depend on the machine, ratios hardly do: `×2.0` is twice as much as the first row or column of the table. TSTL is run as pip installs it. Models are compared with PyModel, which defined their format. PyModel is written for Python 2.7; where there is none, it is translated for Python 3.
"""

HEADING = "## Python "
#: The beginning of a table.
TABLE = re.compile("^(?=### )", re.MULTILINE)


@dataclass
class Table:
    """One chapter: an introduction, a table, and notes below it."""

    title: str
    words: str
    head: list
    rows: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    #: The number of columns with words.
    words_in: int = 1

    def add(self, *cells):
        assert len(cells) == len(self.head), (cells, self.head)
        self.rows.append([str(cell) for cell in cells])

    def note(self, text):
        """Adds a note, once. Returns its mark."""
        if text not in self.notes:
            self.notes.append(text)
        return f" ({self.notes.index(text) + 1})"

    def markdown(self):
        dashes = ["---"] * self.words_in + ["---:"] * (len(self.head) - self.words_in)
        lines = [f"### {self.title}", "", self.words, ""]
        lines += [f"| {' | '.join(row)} |" for row in [self.head, dashes, *self.rows]]
        if self.notes:
            lines += ["", *(f"({number}) {note}  " for number, note in enumerate(self.notes, 1))]
        return "\n".join(lines) + "\n"


def section(version, facts, tables):
    """Returns the section of one version of Python."""
    parts = [f"{HEADING}{version}\n", facts + "\n", *(table.markdown() for table in tables)]
    return "\n".join(parts)


def with_section(page, version, new):
    """Returns the page with the section of a version added or replaced; the newest version comes first."""
    sections = {}
    for part in re.split(rf"^(?={HEADING})", page, flags=re.MULTILINE)[1:]:
        sections[part.split("\n")[0][len(HEADING) :]] = part.rstrip() + "\n"
    sections[version] = new.rstrip() + "\n"
    newest_first = sorted(sections, key=_numbers, reverse=True)
    return "\n".join([INTRODUCTION, *(sections[version] for version in newest_first)])


def with_chapters(page, version, new):
    """Returns the page with some tables of a section replaced or added; each of these has its own date."""
    about, *parts = re.split(TABLE, new)
    facts = about.split("\n", 1)[1].strip()
    for part in re.split(rf"^(?={HEADING})", page, flags=re.MULTILINE)[1:]:
        if part.startswith(f"{HEADING}{version}\n"):
            old = [table.rstrip() for table in re.split(TABLE, part)]
            tables = {_title(table): _dated(table, facts, old[0]) for table in parts}
            changed = [tables.pop(_title(table), table) for table in old]
            return page.replace(part.rstrip(), "\n\n".join([*changed, *tables.values()]))
    return with_section(page, version, new)


def _title(table):
    return table.split("\n")[0]


def _dated(table, facts, about):
    """Adds the facts to a table, unless the section begins with the same facts."""
    title, rest = table.rstrip().split("\n", 1)
    return f"{title}\n{rest}" if facts in about else f"{title}\n\n{facts}\n{rest}"


def _numbers(version):
    return [int(number) for number in re.findall(r"\d+", version)]


def rate(value):
    """Formats steps per second."""
    return f"{float(f'{value:.3g}'):,.0f}"


def times(value):
    """Formats a ratio."""
    return f"×{value:.3g}" if value < 100 else f"×{value:,.0f}"


def microseconds(seconds):
    return f"{seconds * 1e6:.2f} µs"
