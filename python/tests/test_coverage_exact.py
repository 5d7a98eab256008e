"""The measured coverage equals that of coverage.py: every line and every arc, exits included."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

coverage = pytest.importorskip("coverage")

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="equal to the last arc from Python 3.11 on"
)

MEASURED = pathlib.Path(__file__).parent / "measured"

#: Modules of the standard library, as copies, and programs that use them.
USES = {
    "argparse": """
        parser = argparse.ArgumentParser(prog="p", description="words " * 30)
        parser.add_argument("name", nargs="?")
        parser.add_argument("--number", type=int, choices=[1, 2], default=1)
        parser.add_argument("-v", action="count")
        group = parser.add_mutually_exclusive_group()
        group.add_argument("--yes", action="store_true")
        group.add_argument("--no", action="store_false")
        parser.parse_args(["x", "--number=2", "-vv", "--yes"])
        parser.format_help()
        for words in (["--number", "9"], ["--yes", "--no"], ["--unknown"]):
            try:
                parser.parse_args(words)
            except SystemExit:
                pass
    """,
    "base64": """
        data = base64.b85encode(base64.b64encode(base64.b32encode(b"some bytes")))
        base64.b32decode(base64.b64decode(base64.b85decode(data)))
        for call in (lambda: base64.b32decode(b"1"), lambda: base64.a85decode(b"vv", adobe=True)):
            try:
                call()
            except ValueError:
                pass
    """,
    "bisect": """
        numbers = [1, 3, 5]
        for number in (0, 3, 9):
            bisect.insort(numbers, number)
            bisect.bisect_left(numbers, number, key=lambda x: -x)
    """,
    "calendar": """
        calendar.TextCalendar(6).formatmonth(2024, 2)
        calendar.HTMLCalendar().formatmonth(2023, 12)
        calendar.monthrange(2000, 2)
        try:
            calendar.monthrange(2000, 13)
        except ValueError:
            pass
    """,
    "colorsys": """
        for colour in ((0, 0, 0), (1, 0.5, 0.2), (0.1, 0.9, 0.9)):
            colorsys.hls_to_rgb(*colorsys.rgb_to_hls(*colour))
            colorsys.hsv_to_rgb(*colorsys.rgb_to_hsv(*colour))
    """,
    "configparser": """
        parser = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())
        parser.read_string("[a]\\nx = 1\\ny: ${x} and ${b:z}\\n[b]\\nz = a\\n  b\\n")
        parser.get("a", "y"), parser.getint("a", "x"), parser.get("a", "q", fallback=3)
        for text in ("x = 1", "[a]\\n[a]\\n", "[a]\\nx\\n"):
            try:
                configparser.ConfigParser().read_string(text)
            except configparser.Error:
                pass
    """,
    "contextlib": """
        @contextlib.contextmanager
        def manager():
            yield 1
        with contextlib.ExitStack() as stack:
            stack.enter_context(manager())
            stack.callback(print, end="")
        with contextlib.suppress(ValueError):
            raise ValueError
        try:
            with manager():
                raise KeyError
        except KeyError:
            pass
        with contextlib.closing(open(__file__)) as file:
            file.read(1)
    """,
    "copy": """
        class A:
            def __init__(self):
                self.x, self.me = [1, {2: (3,)}], self
        copy.deepcopy(A()), copy.copy(A()), copy.deepcopy({1: [2, 3]}), copy.copy({4})
        try:
            copy.copy(iter(open(__file__)))
        except TypeError:
            pass
    """,
    "csv": """
        import io
        file = io.StringIO()
        writer = csv.DictWriter(file, ["a", "b"], extrasaction="raise")
        writer.writeheader()
        writer.writerow({"a": 1})
        list(csv.DictReader(io.StringIO(file.getvalue() + "1,2,3\\n\\n1\\n")))
        csv.Sniffer().sniff("a;b;c\\n1;2;3\\n4;5;6\\n")
        csv.Sniffer().has_header("a;b\\n1;2\\n3;4\\n")
    """,
    "dataclasses": """
        import typing
        @dataclasses.dataclass(order=True, frozen=True)
        class A:
            x: int
            y: list = dataclasses.field(default_factory=list, compare=False)
        dataclasses.asdict(A(1)), dataclasses.replace(A(1), x=2), A(1) < A(2)
        try:
            @dataclasses.dataclass
            class B:
                x: int = 1
                y: int
        except TypeError:
            pass
    """,
    "difflib": """
        a, b = "one two three".split(), "one three four".split()
        list(difflib.unified_diff(a, b)), list(difflib.ndiff(a, b)), list(difflib.context_diff(a, b))
        difflib.get_close_matches("appel", ["ape", "apple", "peach"])
        difflib.HtmlDiff().make_table(a, b)
    """,
    "fnmatch": """
        for pattern in ("*.py", "[!a]?", "[a-c]*", "[", "**a"):
            fnmatch.filter(["a.py", "b", "cd"], pattern)
    """,
    "fractions": """
        F = fractions.Fraction
        F("1/3") + F(2) * F(0.5) - F("1.25e1"), F(7, 3) // 2, F(-7, 3) % 2, F(2) ** -2, F(1, 3) < F(1, 2)
        round(F(7, 3)), hash(F(1, 3)), F(3.14159).limit_denominator(10), str(F(3))
        for bad in ("x", "1/0"):
            try:
                F(bad)
            except (ValueError, ZeroDivisionError):
                pass
    """,
    "functools": """
        @functools.singledispatch
        def f(x):
            return 1
        @f.register
        def _(x: int):
            return 2
        f(1), f("x")
        @functools.total_ordering
        class A:
            def __lt__(self, other):
                return True
            def __eq__(self, other):
                return False
        A() > A(), A() <= A()
        class B:
            @functools.cached_property
            def x(self):
                return 1
        B().x
        functools.partialmethod(f, 1)
    """,
    "graphlib": """
        list(graphlib.TopologicalSorter({1: [2, 3], 2: [3]}).static_order())
        try:
            graphlib.TopologicalSorter({1: [2], 2: [1]}).prepare()
        except graphlib.CycleError:
            pass
    """,
    "heapq": """
        heap = [5, 1, 4]
        heapq._heapify_max(heap) if hasattr(heapq, "_heapify_max") else None
        list(heapq.merge([1, 4], [2, 3], [])), list(heapq.merge([4, 1], [3, 2], reverse=True))
        heapq.nlargest(2, [3, 1, 2]), heapq.nsmallest(2, "cab", key=ord), heapq.nsmallest(9, [1])
    """,
    "html.parser": """
        class P(html_parser.HTMLParser):
            def handle_starttag(self, tag, attributes):
                self.get_starttag_text()
        P().feed('<!DOCTYPE html><a href="x&amp;y">t &lt; <b/><!-- c --></a><script>1<2</script>&#65;<?p?>')
    """,
    "pprint": """
        pprint.pformat({"a": [list(range(30)), {"b": {1, 2}}], "c": "words " * 40, "d": (1,)}, width=40)
        pprint.pformat([[[[1]]]], depth=2, compact=True)
    """,
    "queue": """
        q = queue.PriorityQueue(2)
        q.put(2), q.put(1)
        try:
            q.put(3, block=False)
        except queue.Full:
            pass
        q.get(), q.task_done(), q.get(timeout=1)
        try:
            q.get(timeout=0.01)
        except queue.Empty:
            pass
    """,
    "reprlib": """
        reprlib.repr([1] * 20), reprlib.repr({"a": "b" * 90, 2: {3, 4}}), reprlib.repr(10**60)
    """,
    "shlex": """
        shlex.split("a 'b c' \\"d\\\\\\"e\\" f#g", comments=True)
        list(shlex.shlex("a+b && c", punctuation_chars=True))
        try:
            shlex.split("a 'b")
        except ValueError:
            pass
        shlex.join(["a b", "c"])
    """,
    "statistics": """
        statistics.mean([1, 2.5]), statistics.median([1, 3, 2]), statistics.mode("aab")
        statistics.stdev([1, 2, 4]), statistics.quantiles([1, 2, 3, 4]), statistics.fmean([1, 2], [3, 4])
        statistics.NormalDist(0, 1).cdf(0.5), statistics.linear_regression([1, 2, 3], [2, 4, 7])
        try:
            statistics.mean([])
        except statistics.StatisticsError:
            pass
    """,
    "string": """
        string.Template("$a ${b} $$").safe_substitute(a=1)
        try:
            string.Template("$a $").substitute(a=1)
        except ValueError:
            pass
        string.Formatter().format("{0.real:>{1}} {x[0]!r}", 1, 5, x=[2]), string.capwords("a b")
    """,
    "textwrap": """
        textwrap.fill("some words " * 20, 30, subsequent_indent="  ")
        textwrap.shorten("some words " * 9, 30), textwrap.dedent("  a\\n   b\\n"), textwrap.indent("a\\n\\n", "> ")
        try:
            textwrap.wrap("x", 0)
        except ValueError:
            pass
    """,
    "tokenize": """
        with open(__file__, "rb") as file:
            tokens = list(tokenize.tokenize(file.readline))
        tokenize.untokenize(tokens)
    """,
}


def arcs(data_file):
    data = coverage.CoverageData(str(data_file))
    data.read()
    return {
        pathlib.Path(name).name: {tuple(arc) for arc in data.arcs(name)}
        for name in data.measured_files()
    }


def check(testwright, script):
    """Runs a program under coverage.py and under Testwright, and compares the arcs."""
    folder = testwright.folder
    theirs, ours = folder / "theirs", folder / "ours"
    command = [sys.executable, "-m", "coverage", "run", "--branch", f"--data-file={theirs}", script]
    first = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert first.returncode == 0, first.stderr
    second = testwright("cover", "--coverage-report", f"data:{ours}", script)
    assert second.stdout == first.stdout
    expected, measured = arcs(theirs), arcs(ours)
    for name in expected | measured:
        missing = sorted(expected.get(name, set()) - measured.get(name, set()))
        too_many = sorted(measured.get(name, set()) - expected.get(name, set()))
        assert (missing, too_many) == ([], []), name


@pytest.mark.parametrize("name", sorted(path.name for path in MEASURED.glob("*.py")))
def test_every_kind_of_statement(name, testwright):
    testwright.write(name, (MEASURED / name).read_text())
    check(testwright, name)


@pytest.mark.parametrize("name", sorted(USES))
def test_modules_of_the_standard_library(name, testwright):
    # A copy, because the process itself may have imported the original before measuring started.
    source = pathlib.Path(importlib.util.find_spec(name).origin)
    own_name = name.replace(".", "_")
    testwright.write(f"copy_of_{own_name}.py", source.read_text(encoding="utf-8"))
    lines = [line.removeprefix("        ") for line in USES[name].splitlines()]
    script = [f"import copy_of_{own_name} as {own_name}", *lines]
    testwright.write("program.py", "\n".join(script) + "\n")
    check(testwright, "program.py")
