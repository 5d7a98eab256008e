"""Unusual programs behave the same, recorded or not.

`test_capture_unnoticed.py` has ordinary programs. These end in unusual ways, look for traces of tools, change the
interpreter under them, or use tools of their own.
"""

import subprocess
import sys
import textwrap

import pytest
from test_capture_unnoticed import run

PROGRAMS = {
    "tasks that are cancelled, shielded and left behind": """\
        import asyncio, contextvars
        depth = contextvars.ContextVar("depth", default=0)
        async def worker(name, queue, done):
            depth.set(depth.get() + 1)
            try:
                while True:
                    item = await queue.get()
                    done.append((name, item, depth.get()))
                    queue.task_done()
            finally:
                print(name, "ends", depth.get())
        async def slow():
            await asyncio.sleep(0.01)
            return "slow"
        async def ticks():
            try:
                for number in range(100):
                    yield number
                    await asyncio.sleep(0)
            finally:
                await asyncio.sleep(0)
                print("ticks end")
        async def main():
            queue, done = asyncio.Queue(), []
            workers = [asyncio.ensure_future(worker(f"w{n}", queue, done)) for n in range(2)]
            for number in range(6):
                queue.put_nowait(number)
            await queue.join()
            for one in workers:
                one.cancel()
            print(await asyncio.gather(*workers, return_exceptions=True))
            print(sorted(item for _, item, _ in done), depth.get())
            inner = asyncio.ensure_future(slow())
            try:
                await asyncio.wait_for(asyncio.shield(inner), 0.001)
            except asyncio.TimeoutError:
                print("too slow", await inner)
            async for number in ticks():
                if number == 2:
                    break
            left = asyncio.ensure_future(asyncio.sleep(100))
            await asyncio.sleep(0)
            return "over"
        print(asyncio.run(main()))
        """,
    "generators that are closed early and refuse to": """\
        def stubborn():
            while True:
                try:
                    yield 1
                except GeneratorExit:
                    print("asked to end")
                    raise
        def refuses():
            try:
                yield 1
            except GeneratorExit:
                yield 2
        def numbers():
            try:
                yield from range(1000)
            finally:
                print("numbers end")
        first = stubborn()
        next(first)
        first.close()
        second = refuses()
        next(second)
        try:
            second.close()
        except RuntimeError as error:
            print(error)
        for number in numbers():
            if number > 3:
                break
        third = numbers()
        next(third)
        try:
            third.throw(KeyError, "from outside")
        except KeyError as error:
            print(repr(error), error.__context__)
        fourth = numbers()
        try:
            fourth.throw(ValueError("before the start"))
        except ValueError as error:
            print(error, list(fourth))
        def raises_stop():
            yield 1
            raise StopIteration("inside")
        try:
            list(raises_stop())
        except RuntimeError as error:
            print(error, repr(error.__cause__))
        """,
    "a crash by a signal": """\
        import ctypes, faulthandler, sys
        faulthandler.disable()
        def crash(address):
            print("before", flush=True)
            ctypes.string_at(address)
            print("never")
        crash(0)
        """,
    "an end without an end": """\
        import atexit, os
        atexit.register(print, "never printed")
        def leave(code):
            print("leaving", flush=True)
            try:
                os._exit(code)
            finally:
                print("never printed either")
        leave(9)
        """,
    "copies of itself": """\
        import os, sys, warnings
        def child(number):
            print("child", number, flush=True)
            return number * 10
        def fork(number):
            sys.stdout.flush()
            one = os.fork()
            if one == 0:
                os._exit(child(number))
            _, status = os.waitpid(one, 0)
            return os.WEXITSTATUS(status)
        warnings.simplefilter("always")
        print([fork(number) for number in range(4)])
        inner = os.fork()
        if inner == 0:
            print("the copy ends like any program", fork(7))
            sys.exit(3)
        print(os.WEXITSTATUS(os.waitpid(inner, 0)[1]))
        """,
    "becoming another program": """\
        import os, sys
        def become(*words):
            print("so far", flush=True)
            os.execv(sys.executable, [sys.executable, *words])
        become("-c", "import sys, os; print('another', sys.argv, 'TESTWRIGHT_CAPTURE' in os.environ); sys.exit(5)", "x")
        """,
    "handlers for the end that fail": """\
        import atexit, sys, threading
        def last(word):
            print("last", word)
        @atexit.register
        def broken():
            raise ValueError("at the end")
        def start_late():
            thread = threading.Thread(target=print, args=("late",))
            try:
                thread.start()
                thread.join()
            except RuntimeError as error:
                print("refused")
        atexit.register(last, "words")
        atexit.register(last, word="named")
        atexit.unregister(start_late)
        def main():
            raise SystemExit("a text as status")
        main()
        """,
    "signal handlers that raise": """\
        import os, signal, time
        class Timeout(Exception):
            pass
        def on_alarm(number, frame):
            raise Timeout(signal.Signals(number).name)
        def wait_for_ever():
            while True:
                time.sleep(0.5)
        signal.signal(signal.SIGALRM, on_alarm)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try:
            wait_for_ever()
        except Timeout as error:
            print("out of time", error)
        print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        def interrupted():
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(10**7):
                pass
        interrupted()
        """,
    "a tracing tool of its own": """\
        import sys, threading
        def traced(number):
            total = 0
            for part in range(number):
                total += part
            return total
        def fails():
            raise KeyError("traced")
        events = []
        def tracer(frame, event, argument):
            if frame.f_code.co_name in ("traced", "fails"):
                events.append((frame.f_code.co_name, event, frame.f_lineno - frame.f_code.co_firstlineno))
                return tracer
        print(sys.gettrace())
        traced(2)
        sys.settrace(tracer)
        traced(2)
        try:
            fails()
        except KeyError:
            pass
        print(sys.gettrace() is tracer)
        sys.settrace(None)
        traced(3)
        print(events)
        threading.settrace(tracer)
        thread = threading.Thread(target=traced, args=(1,))
        thread.start()
        thread.join()
        print(len(events), sys.gettrace())
        """,
    "a profiler of its own": """\
        import cProfile, pstats, sys
        def inner(number):
            return len(str(number))
        def outer(count):
            return sum(inner(number) for number in range(count))
        seen = []
        def profiler(frame, event, argument):
            if frame.f_code.co_name in ("inner", "outer") and event in ("call", "return"):
                seen.append((frame.f_code.co_name, event))
        print(outer(3), sys.getprofile())
        sys.setprofile(profiler)
        outer(2)
        sys.setprofile(None)
        print(seen)
        profile = cProfile.Profile()
        profile.enable()
        print(outer(4))
        profile.disable()
        calls = {name[2]: numbers[1] for name, numbers in pstats.Stats(profile).stats.items()}
        print(calls["inner"], calls["outer"])
        print(outer(3))
        """,
    "the order in which objects die": """\
        import gc, weakref
        gc.disable()
        log = []
        class Resource:
            __slots__ = ("name", "__weakref__")
            def __init__(self, name):
                self.name = name
            def __del__(self):
                log.append(self.name)
        class Holder:
            def __init__(self, *parts):
                self.parts = list(parts)
            def drop(self):
                return self.parts.pop().name
        def use(resource):
            return resource.name
        def make(name):
            return Resource(name)
        def fail(resource):
            local = Resource("local")
            raise ValueError(resource.name)
        use(make("temporary"))
        log.append("after temporary")
        holder = Holder(make("a"), make("b"))
        holder.drop()
        log.append("after drop")
        weak = weakref.WeakValueDictionary(one=holder)
        del holder
        log.append(len(weak))
        try:
            fail(Resource("argument"))
        except ValueError as error:
            kept = error
        log.append("handled")
        del kept
        log.append("after the exception")
        def gen():
            resource = Resource("in a generator")
            yield use(resource)
        list(gen())
        class Owner:
            def outer(self):
                resource = Resource("let go by a method")
                self.inner()
                log.append("after inner")
                del resource
                log.append("after del")
            def inner(self):
                log.append("in inner")
        Owner().outer()
        print(log)
        """,
    "classes that are not like others": """\
        class Registry(type):
            made = []
            def __new__(meta, name, bases, space, **options):
                print("class", name, sorted(options))
                return super().__new__(meta, name, bases, space)
            def __init__(cls, name, bases, space, **options):
                super().__init__(name, bases, space)
                Registry.made.append(name)
            def __call__(cls, *arguments):
                print("calls", cls.__name__)
                return super().__call__(*arguments)
            def __getattribute__(cls, name):
                if name == "shouts":
                    print("shouts!")
                return super().__getattribute__(name)
            def __instancecheck__(cls, other):
                print("asked about an instance")
                return True
        class Base(metaclass=Registry, option=1):
            __slots__ = ("value", "_hidden")
            shouts = 1
            def __init__(self, value):
                self.value = value
            def __getattribute__(self, name):
                if name == "trap":
                    print("trap!")
                return object.__getattribute__(self, name)
            def __setattr__(self, name, value):
                print("sets", name)
                object.__setattr__(self, name, value)
            def __bool__(self):
                print("is it true?")
                return False
            def __hash__(self):
                print("hashed")
                return 1
            def __class_getitem__(cls, item):
                return item
            def trap(self):
                return "trapped"
        class Derived(Base):
            @property
            def surprise(self):
                print("surprise!")
                return 1
            def __len__(self):
                print("how long?")
                return 3
            def __iter__(self):
                print("iterates")
                return iter(())
        def use(thing, **others):
            return type(thing).__name__, sorted(others)
        print(use(Derived(1), other=Base(2)), Registry.made, Base[3], Derived(4).trap())
        print(hasattr(Base(5), "__dict__"), hasattr(Base(6), "_hidden"))
        """,
    "recursion far beyond the usual limit": """\
        import functools, json, sys
        sys.setrecursionlimit(60_000)
        def down(number):
            return number if number == 0 else 1 + down(number - 1)
        print(down(12_000))
        # Also through code of others, as far as all versions get.
        text = "[" * 500 + "]" * 500
        def count(nested): return 1 + sum(map(count, nested))
        print(count(json.loads(text)))
        class Tree:
            def __init__(self, depth):
                self.inner = Tree(depth - 1) if depth else None
            @functools.cached_property
            def depth(self):
                return self.inner.depth + 1 if self.inner else 0
        print(Tree(200).depth)
        """,
    "a tracing tool that begins in the middle of code of others": """\
        import contextlib, sys
        seen = []
        def trace(frame, event, argument):
            if frame.f_code.co_filename.endswith("contextlib.py") or frame.f_globals["__name__"] == "__main__":
                seen.append((frame.f_code.co_name, event))
            return trace
        @contextlib.contextmanager
        def traced():
            sys.settrace(trace)
            try:
                yield 1
            finally:
                sys.settrace(None)
        def work(number):
            return [number, helper(number)]
        def helper(number):
            return number + 1
        for turn in range(4):
            with traced() as number:
                work(number)
            print(seen)
            seen.clear()
        """,
    "recursion to the limit": """\
        import sys
        def depth(number):
            try:
                return depth(number + 1)
            except RecursionError:
                return number
        def reaches(number=0):
            return number if number == 600 else reaches(number + 1)
        class Nested:
            def __repr__(self):
                return repr(self)
        print(depth(0) > 500, reaches())
        try:
            repr(Nested())
        except RecursionError as error:
            print("no end")
        data = []
        for _ in range(100_000):
            data = [data]
        def look(data):
            return len(data)
        print(look(data))
        circle = []
        circle.append(circle)
        print(look(circle))
        while data:
            data = data.pop()
        """,
    "large numbers and texts": """\
        import sys
        def power(base, exponent):
            return base ** exponent
        def digits(number):
            return number.bit_length()
        def double(text):
            return text + text
        print(digits(power(7, 200_000)))
        if hasattr(sys, "set_int_max_str_digits"):
            try:
                str(power(10, 5000))
            except ValueError as error:
                print(error)
        print(len(double("x" * 5_000_000)), len(double(b"y" * 3_000_000)))
        print(power(float("inf"), 0), power(-0.0, 1), double("\\ud800").encode("utf-8", "surrogatepass"))
        """,
    "another folder and no source": """\
        import os, sys, tempfile, traceback
        def where():
            return os.getcwd() == home
        def remove(path):
            os.remove(path)
        def fail():
            return missing
        home = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            print(where())
            own = os.path.join(home, sys.argv[0])
            text = open(own).read()
            remove(own)
            try:
                fail()
            except NameError as error:
                print(len(traceback.format_exception(type(error), error, error.__traceback__)))
            open(own, "w").write(text)
        print(os.path.exists(folder))
        try:
            where()
        except FileNotFoundError as error:
            print(error)
        """,
    "filters of warnings": """\
        import warnings
        def old(number):
            warnings.warn(f"old {number}", DeprecationWarning, stacklevel=2)
            return number
        def explicit():
            warnings.warn_explicit("explicit", UserWarning, "elsewhere.py", 7)
        warnings.simplefilter("once")
        for _ in range(3):
            old(1)
        explicit()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            old(2)
            print([(str(one.message), one.lineno > 0, one.filename.endswith("program.py")) for one in caught])
        warnings.filterwarnings("error", category=DeprecationWarning)
        try:
            old(3)
        except DeprecationWarning as error:
            print("raised", error)
        def unawaited():
            async def nothing():
                pass
            nothing()
        unawaited()
        open(__file__)
        """,
    "context variables": """\
        import contextvars, threading
        user = contextvars.ContextVar("user", default="nobody")
        def greet():
            return f"hello {user.get()}"
        def change(name):
            token = user.set(name)
            result = greet()
            user.reset(token)
            return result
        print(greet(), change("ann"), greet())
        context = contextvars.copy_context()
        print(context.run(change, "bob"), context.run(user.set, "carl").old_value is contextvars.Token.MISSING)
        print(context.run(greet), greet(), len(contextvars.copy_context()))
        results = []
        thread = threading.Thread(target=lambda: results.append(greet()))
        thread.start()
        thread.join()
        print(results)
        """,
    "code made at run time": """\
        import sys, types
        def build(name):
            space = {}
            exec(f"def {name}(x):\\n    return x + len('{name}')", space)
            return space[name]
        functions = [build("a" * number) for number in range(1, 20)]
        print(sum(function(1) for function in functions))
        module = types.ModuleType("made")
        exec("counter = 0\\ndef count():\\n    global counter\\n    counter += 1\\n    return counter", module.__dict__)
        sys.modules["made"] = module
        import made
        print(made.count(), made.count(), made.counter)
        print(eval("[build(n)(0) for n in ('x', 'yy')]"))
        del sys.modules["made"]
        print((lambda *a, **k: (a, k))(1, b=2))
        class Late:
            pass
        def method(self, value):
            self.value = value
            return self
        Late.method = method
        method.__code__ = (lambda self, value: (self, value)[1]).__code__
        print(Late().method(5))
        """,
    "threads that outlive the main one": """\
        import threading, time, sys
        lock = threading.RLock()
        local = threading.local()
        def note(text):
            with lock:
                print(text, flush=True)
        def slow(name):
            local.name = name
            main.join()
            time.sleep(0.01)
            note(f"{local.name} done")
        def daemon():
            while True:
                time.sleep(0.01)
        def hook(problem):
            note(f"hook {problem.exc_type.__name__}")
        main = threading.main_thread()
        threading.excepthook = hook
        threading.Thread(target=daemon, daemon=True).start()
        threading.Thread(target=slow, args=("late",)).start()
        broken = threading.Thread(target=lambda: 1 / 0)
        broken.start()
        broken.join()
        timer = threading.Timer(0.02, note, ("timer",))
        timer.start()
        timer.join()
        note("main ends")
        """,
    "streams that are replaced and closed": """\
        import contextlib, io, os, sys
        def say(word):
            print(word)
            return len(word)
        buffer = io.StringIO()
        with contextlib.redirect_stdout(buffer):
            say("into a buffer")
        say(buffer.getvalue().strip())
        class Loud(io.TextIOBase):
            def write(self, text):
                return sys.__stdout__.write(text.upper())
        sys.stdout = Loud()
        say("loud")
        sys.stdout = sys.__stdout__
        say("again")
        sys.stdout = None
        say("nowhere")
        sys.stdout = sys.__stdout__
        os.write(1, b"")
        sys.stdout.flush()
        sys.stderr.close()
        say("without errors")
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_the_same(name, tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAMS[name]))
    program = [sys.executable, "program.py"]
    alone = run(tmp_path, *program)
    watched = run(tmp_path, *COMMAND, *program)
    assert watched == alone
    assert "Traceback" not in alone[2] or name in FAILING, alone[2]
    assert recorded(tmp_path)


COMMAND = [sys.executable, "-m", "testwright", "capture", "--quiet", "--"]

#: Programs that are meant to end with a traceback.
FAILING = {"handlers for the end that fail", "signal handlers that raise"}


def recorded(folder):
    return list((folder / ".testwright/capture").glob("*.recording"))


def test_a_program_that_prints_without_end_ends_with_its_reader(tmp_path):
    (tmp_path / "program.py").write_text(
        textwrap.dedent("""\
        def line(number):
            return f"line {number}"
        def main():
            number = 0
            while True:
                number += 1
                print(line(number))
        main()
        """)
    )
    ends = []
    for words in ([], COMMAND):
        with subprocess.Popen(
            [*words, sys.executable, "program.py"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            first = process.stdout.readline()
            process.stdout.close()
            problem = process.stderr.read().strip().splitlines()[-1]
            ends.append((first, problem, process.wait(120)))
    assert ends[1] == ends[0] == ("line 1\n", "BrokenPipeError: [Errno 32] Broken pipe", 1)
    assert recorded(tmp_path)


def test_a_dialogue_on_a_terminal(tmp_path):
    (tmp_path / "program.py").write_text(
        textwrap.dedent("""\
        def ask(question):
            return input(question)
        def main():
            name = ask("Name? ")
            while ask(f"Again, {name}? ") != "no":
                pass
            return name
        print(main())
        """)
    )
    heard = []
    for words in ([], COMMAND):
        with subprocess.Popen(
            [*words, sys.executable, "-u", "program.py"],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            said = []
            for answer in ("ann", "yes", "no"):
                # The prompt is printed before the input is read.
                question = ""
                while not question.endswith("? "):
                    question += process.stdout.read(1)
                said.append(question)
                process.stdin.write(answer + "\n")
                process.stdin.flush()
            heard.append((said, process.stdout.read(), process.wait(120)))
    assert heard[1] == heard[0] == (["Name? ", "Again, ann? ", "Again, ann? "], "ann\n", 0)


PACKAGE = {
    "tool/__init__.py": "from .core import double\n",
    "tool/__main__.py": "import sys\nfrom . import double\nprint(__name__, __package__, __spec__.name, double(int(sys.argv[1])), sys.argv[1:], sys.path[0] != '')\n",
    "tool/core.py": "def double(number):\n    return 2 * number\n",
    "test_tool.py": "import tool, pytest\ndef test_double():\n    assert tool.double(2) == 4\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_others(n, capsys):\n    print(tool.double(n))\n    assert capsys.readouterr().out == f'{n * 2}\\n'\ndef test_wrong():\n    assert tool.double(1) == 3\n",
    "conftest.py": "def pytest_report_header():\n    return 'a header'\n",
}


@pytest.fixture
def package(tmp_path):
    for name, text in PACKAGE.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["-m", "tool", "3"],
        ["-X", "dev", "-m", "tool", "4"],
        ["-OO", "-W", "error", "-m", "tool", "5"],
        ["-c", "import tool, sys; print(tool.double(21), sys.argv)", "word"],
        ["tool", "6"],
        ["-m", "missing"],
        ["missing.py"],
    ],
    ids=" ".join,
)
def test_the_ways_to_start_a_program(package, words):
    alone = run(package, sys.executable, *words)
    watched = run(package, *COMMAND, sys.executable, *words)
    assert watched == alone


def test_an_archive_is_a_program_too(package):
    archive = [sys.executable, "-m", "zipapp", "tool", "-o", "tool.pyz", "-m", "core:double"]
    (package / "tool/__main__.py").unlink()
    subprocess.run(archive, cwd=package, check=True)
    alone = run(package, sys.executable, "tool.pyz")
    watched = run(package, *COMMAND, sys.executable, "tool.pyz")
    assert watched == alone
    assert "TypeError" in alone[2]


def test_pytest_has_the_same_outcome(package):
    def outcome(*words):
        status, out, err = run(package, *words)
        # The last line has the duration.
        return status, out.splitlines()[:-1], err

    tests = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rA"]
    alone = outcome(*tests)
    watched = outcome(*COMMAND, *tests)
    assert watched == alone
    assert alone[0] == 1
    assert recorded(package)
