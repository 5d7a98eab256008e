"""A recorded program runs as it does without recording, and the recording has its calls."""

import json
import subprocess
import sys
import textwrap

import pytest

SHOP = """\
import asyncio
import datetime
import os
import random
import subprocess
import sys
import time
import uuid

calls_made = 0
basket = []


class Cart:
    created = 0

    def __init__(self, owner):
        self.owner = owner
        self.items = []
        Cart.created += 1

    def add(self, name, price=1):
        if price < 0:
            raise ValueError("negative", price)
        self.items.append((name, price))
        return self.size()

    def size(self):
        return len(self.items)

    def __eq__(self, other):
        print("compared")
        return True

    __hash__ = None

    def __repr__(self):
        print("shown")
        return "a cart"

    def __getattr__(self, name):
        print("asked for", name)
        raise AttributeError(name)


def swap(items):
    items[0], items[-1] = items[-1], items[0]
    return items


def count_call():
    global calls_made
    calls_made += 1
    basket.append(calls_made)
    return calls_made


def collect(*values, sep=", ", **named):
    return sep.join(map(str, values)) + str(sorted(named))


def countdown(number):
    while number:
        yield number
        number -= 1
    return "done"


async def fetch(number):
    await asyncio.sleep(0)
    return number * 2


def greet():
    name = input("Name? ")
    print("Hello,", name)
    print("careful", file=sys.stderr)
    return name.upper()


def append_line(path, line):
    with open(path, "a") as file:
        file.write(line)
    return os.path.getsize(path)


def moment():
    return time.time(), datetime.datetime.now().year, random.randint(1, 6), uuid.uuid4()


def set_mode(mode):
    os.environ["SHOP_MODE"] = mode
    return os.environ.get("SHOP_MODE")


def ask_shell():
    return subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True).stdout
"""


class Watched:
    """Runs programs with and without capture."""

    def __init__(self, command):
        self.command = command
        self.folder = command.folder
        command.write("shop.py", SHOP)

    def run(self, program, *arguments, given="", name="app.py"):
        """Runs a program without and with recording, and checks that the results are equal. Returns the result."""
        self.command.write(name, textwrap.dedent(program))
        words = [sys.executable, name, *arguments]
        settings = {
            "cwd": self.folder,
            "input": given,
            "capture_output": True,
            "text": True,
            "timeout": 120,
        }
        alone = subprocess.run(words, **settings)
        for made in self.folder.glob("*.txt"):
            made.unlink()
        watched = subprocess.run([*COMMAND, "capture", "--quiet", "--", *words], **settings)
        assert (watched.returncode % 256, watched.stdout, watched.stderr) == (
            alone.returncode if alone.returncode >= 0 else 128 - alone.returncode,
            alone.stdout,
            alone.stderr,
        )
        return watched

    def show(self, unit):
        """Returns the output of `testwright show` for a unit, without its first line."""
        shown = subprocess.run(
            [*COMMAND, "show", unit], cwd=self.folder, capture_output=True, text=True
        )
        assert shown.returncode == 0, shown.stderr
        return [line.strip() for line in shown.stdout.splitlines()[1:]]


COMMAND = [sys.executable, "-m", "testwright"]


@pytest.fixture
def watched(testwright):
    return Watched(testwright)


def test_arguments_results_and_changed_containers(watched):
    watched.run("from shop import swap\nprint(swap([1, 2, 7]))\n")
    assert watched.show("shop.swap") == [
        "swap(items=[1, 2, 7]) returned [7, 2, 1]",
        "[1, 2, 7] became [7, 2, 1]",
    ]


@pytest.mark.parametrize("name", ["app.double", "__main__.double", "double", "app"])
def test_the_main_module_is_named_after_its_file(watched, name):
    watched.run("def double(number):\n    return 2 * number\n\n\nprint(double(4))\n")
    assert watched.show(name) == ["double(number=4) returned 8"]


def test_defaults_and_stars(watched):
    watched.run("import shop\nprint(shop.collect(1, 'b', key=2))\n")
    assert watched.show("collect") == [
        "collect(*values=(1, 'b'), sep=', ', **named={'key': 2}) returned \"1, b['key']\""
    ]


def test_objects_are_read_without_running_their_code(watched):
    watched.run(
        """\
        from shop import Cart
        cart = Cart("ann")
        cart.add("pear", price=3)
        try:
            cart.add("nothing", -1)
        except ValueError as error:
            print(error)
        """
    )
    assert watched.show("Cart.add") == [
        "Cart.add(self=<Cart owner='ann', items=[]>, name='pear', price=3) returned 1",
        "[] became [('pear', 3)]",
        "Cart.add(self=<Cart owner='ann', items=[('pear', 3)]>, name='nothing', price=-1) "
        "raised ValueError('negative', -1)",
    ]
    assert watched.show("Cart.__init__") == [
        "Cart.__init__(self=<Cart>, owner='ann') returned None",
        "shop.Cart.created: 0 became 1",
        "<Cart> became <Cart owner='ann', items=[]>",
    ]


def test_globals_that_are_rebound_and_changed(watched):
    watched.run("import shop\nshop.count_call()\nshop.count_call()\n")
    assert watched.show("count_call") == [
        "count_call() returned 1",
        "shop.calls_made: 0 became 1",
        "[] became [1]",
        "count_call() returned 2",
        "shop.calls_made: 1 became 2",
        "[1] became [1, 2]",
    ]


def test_generators_and_coroutines(watched):
    watched.run(
        """\
        import asyncio
        from shop import countdown, fetch
        print(list(countdown(2)), next(countdown(9)))
        async def main():
            print(await asyncio.gather(fetch(1), fetch(2)))
        asyncio.run(main())
        """
    )
    assert watched.show("countdown") == [
        "countdown(number=2) returned 'done'",
        "yielded 2",
        "yielded 1",
        "countdown(number=9) did not end",
        "yielded 9",
        "was closed",
    ]
    assert [line for line in watched.show("fetch") if "fetch" in line] == [
        "fetch(number=1) returned 2",
        "fetch(number=2) returned 4",
    ]


def test_keyboard_and_terminal(watched):
    watched.run("import shop\nprint(shop.greet())\n", given="ann\n")
    assert watched.show("greet") == [
        "greet() returned 'ANN'",
        "read 'ann\\n'",
        "printed 'Hello, ann\\n'",
        "printed 'careful\\n' to standard error",
    ]


def test_files(watched):
    watched.run(
        "import shop\nprint(shop.append_line('log.txt', 'one'))\nprint(shop.append_line('log.txt', 'two'))\n"
    )
    assert watched.show("append_line") == [
        "append_line(path='log.txt', line='one') returned 3",
        "the file log.txt: nothing became b'one'",
        "append_line(path='log.txt', line='two') returned 6",
        "the file log.txt: b'one' became b'onetwo'",
    ]


def test_clock_and_randomness(watched):
    watched.run("import shop\nassert len(shop.moment()) == 4\n")
    lines = watched.show("moment")
    assert [line.split("(")[0] for line in lines[1:]] == [
        "time.time",
        "datetime.datetime.now",
        "random.randint",
        "uuid.uuid4",
    ]


def test_environment_and_processes(watched):
    watched.run("import shop\nprint(shop.set_mode('fast'), shop.ask_shell())\n")
    assert watched.show("set_mode") == [
        "set_mode(mode='fast') returned 'fast'",
        "the environment's SHOP_MODE: nothing became 'fast'",
    ]
    assert watched.show("ask_shell")[0] == "ask_shell() returned '42\\n'"
    assert watched.show("ask_shell")[1].startswith("subprocess.run([")


def test_secrets_do_not_reach_the_disk(watched, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "abcdef-123456")
    watched.command.write("settings.ini", "password = hunter2\n")
    watched.command.write(
        "keys.py",
        "import os\ndef key(): return os.environ['SHOP_TOKEN']\ndef settings(): return open('settings.ini').read()\n",
    )
    watched.run("import keys\nkeys.key(), keys.settings()\n")
    for recording in (watched.folder / ".testwright/capture").iterdir():
        text = recording.read_text()
        assert "abcdef-123456" not in text
        assert "hunter2" not in text
        assert b"hunter2".hex() not in text
    assert watched.show("key")[0] == "key() returned '<masked>'"


def test_threads(watched):
    watched.run(
        """\
        import threading
        from shop import swap
        threads = [threading.Thread(target=swap, args=([number, 0],)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """
    )
    assert len([line for line in watched.show("swap") if line.startswith("swap(")]) == 4


def test_threads_that_take_turns_all_the_time(watched):
    watched.run(
        """\
        import pathlib, sys, threading
        sys.setswitchinterval(1e-6)
        def name(path, number): return path.name
        def name_all(number):
            for index in range(20):
                name(pathlib.PurePosixPath(f"{number}/{index}"), index)
        threads = [threading.Thread(target=name_all, args=(number,)) for number in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """
    )
    assert ", 100 calls, " in watched.command("show", "name").stdout.splitlines()[0]


ENDS = {
    "exit": "sys.exit(3)",
    "text": "sys.exit('that is all')",
    "at once": "os._exit(4)",
    "crash": "os.kill(os.getpid(), signal.SIGSEGV)",
    "kill": "os.kill(os.getpid(), signal.SIGKILL)",
    "error": "shop.Cart('x').add('y', -5)",
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_the_recording_survives_every_kind_of_program_end(watched, end):
    watched.run(f"import os, shop, signal, sys\nshop.swap([1, 2])\ndef last(): {end}\nlast()\n")
    assert watched.show("shop.swap")[0] == "swap(items=[1, 2]) returned [2, 1]"
    assert len(watched.show("last")) >= 1


def test_an_unfinished_call_is_marked(watched):
    watched.run("import os\ndef last(): os._exit(0)\nlast()\n")
    assert watched.show("last") == ["last() did not end"]


INTERFERENCE = {
    "deaths": """\
        import weakref
        class Noisy:
            def __init__(self, name): self.name = name
            def __del__(self): print("gone:", self.name)
        def use(one): return one.name
        def drop(some):
            some.pop()
            print("popped")
        use(Noisy("a"))
        print("after a")
        drop([Noisy("b")])
        keep = weakref.WeakSet()
        one = Noisy("c")
        keep.add(one)
        use(one)
        del one
        print(len(keep))
        """,
    "tracebacks": """\
        import json, time, random
        def fail(path): return open(path)
        def load(text): return json.loads(text)
        for work, given in ((fail, "missing"), (load, "{"), (random.choice, []), (time.sleep, "x")):
            try:
                work(given)
            except Exception as error:
                import traceback
                traceback.print_exc()
        fail("missing again")
        """,
    "recursion": """\
        import sys
        def down(number): return 0 if number == 0 else 1 + down(number - 1)
        print(down(900))
        def for_ever(): return for_ever()
        try:
            for_ever()
        except RecursionError as error:
            print(error)
        """,
    "own tracing": """\
        import sys
        seen = []
        def trace(frame, event, argument):
            seen.append(event)
        def work(): return 1
        sys.settrace(trace)
        work()
        sys.settrace(None)
        print(seen)
        # Before 3.12 it also hears that the function returns by which it was set.
        sys.setprofile(lambda frame, event, argument: event == "c_return" or seen.append("profile"))
        work()
        sys.setprofile(None)
        print(len(seen))
        """,
    "identity": """\
        import copy, os, pickle, sys, time
        print(sys.argv, [entry for entry in sys.path if "watched" in entry], os.environ.get("PYTHONPATH"))
        print([name for name in os.environ if "TESTWRIGHT" in name], __name__, __file__[-6:])
        print(time.time, open, time.sleep.__name__, pickle.loads(pickle.dumps(time.time)) is time.time)
        print(copy.deepcopy({"clock": time.time})["clock"] is time.time)
        import warnings
        def warn(): warnings.warn("careful")
        warn()
        """,
    "slots and bases": """\
        import collections, dataclasses, enum
        class Slotted:
            __slots__ = ("a", "b")
            def __init__(self): self.a = 1
        class Text(str):
            def __eq__(self, other): print("eq"); return False
            __hash__ = str.__hash__
        class Many(dict):
            def __iter__(self): print("iter"); return super().__iter__()
            def __len__(self): print("len"); return 0
        class Colour(enum.Enum):
            RED = 1
        class Flags(enum.Flag):
            A = 1
            B = 2
        Pair = collections.namedtuple("Pair", "x y")
        @dataclasses.dataclass
        class Data:
            x: int
            y: list = dataclasses.field(default_factory=list)
        class Numbers(set):
            def __iter__(self): print("iter"); return super().__iter__()
        class Whole(int):
            def __int__(self): print("int"); return 0
            def __index__(self): print("index"); return 0
        def take(value): return value
        many = Many()
        many["k"] = Text("v")
        for value in (Slotted(), Text("t"), many, Colour.RED, Flags.A | Flags.B, Pair(1, 2), Data(3), Numbers({1}), Whole(5)):
            take(value)
        """,
    "forks": """\
        import os, sys
        def work(number): return number + 1
        work(1)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            work(2)
            os._exit(0)
        os.waitpid(child, 0)
        print(work(3))
        """,
}


@pytest.mark.parametrize("program", INTERFERENCE.values(), ids=INTERFERENCE)
def test_a_program_does_not_notice_the_recording(watched, program):
    watched.run(program)


def test_kinds_of_values(watched):
    watched.run(INTERFERENCE["slots and bases"])
    lines = [line.split(" returned ")[0] for line in watched.show("take")]
    assert lines == [
        "take(value=<Slotted a=1>)",
        "take(value=<Text 't'>)",
        "take(value=<Many {'k': <Text 'v'>}>)",
        "take(value=Colour.RED)",
        "take(value=Flags.A | Flags.B)",
        "take(value=<Pair (1, 2)>)",
        "take(value=<Data x=3, y=[]>)",
        "take(value=<Numbers {1}>)",
        "take(value=<Whole 5>)",
    ]


def test_children_have_recordings_of_their_own(watched):
    watched.run(INTERFERENCE["forks"])
    assert watched.show("work") == [
        "work(number=1) returned 2",
        "work(number=3) returned 4",
        "work(number=2) returned 3",
    ]
    assert len(list((watched.folder / ".testwright/capture").iterdir())) == 2


def test_processes_of_the_same_interpreter_are_followed(watched):
    watched.command.write("child.py", "import shop, sys\nprint(shop.swap([5, int(sys.argv[1])]))\n")
    watched.run(
        """\
        import multiprocessing, subprocess, sys
        import shop
        def double(number): return 2 * number
        if __name__ == "__main__":
            shop.swap([1, 2])
            for number, is_alone in [("6", True), ("7", False)]:
                command = [sys.executable, "child.py", number]
                print(subprocess.run(command, close_fds=is_alone, capture_output=True, text=True).stdout)
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(double, [4]))
        """
    )
    assert [line for line in watched.show("swap") if line.startswith("swap(")] == [
        "swap(items=[1, 2]) returned [2, 1]",
        "swap(items=[5, 6]) returned [6, 5]",
        "swap(items=[5, 7]) returned [7, 5]",
    ]
    assert "double(number=4) returned 8" in watched.show("double")


def test_the_interpreter_can_be_left_out(watched):
    watched.command.write("pack/__init__.py", "")
    watched.command.write("pack/__main__.py", "import shop\nshop.swap([5, 6])\n")
    watched.command.write("script.py", "import shop\nshop.swap([7, 8])\n")
    for words in (["-m", "pack"], ["script.py"], ["--", "script.py", "-x"]):
        settings = {"cwd": watched.folder, "capture_output": True, "text": True}
        ended = subprocess.run([*COMMAND, "capture", *words], **settings)
        assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
        assert "recorded 1 call" in ended.stderr


def test_sends_and_throws_into_generators(watched):
    watched.run(
        """\
        def talk():
            try:
                heard = yield 1
                yield heard
            except ValueError:
                yield "caught"
        one, other = talk(), talk()
        print(next(one), one.send("word"), one.throw(ValueError("x")))
        print(next(other))
        other.close()
        """
    )
    shown = "\n".join(watched.show("talk"))
    assert "'word'" in shown, shown


def test_generators_are_closed_or_dropped(watched):
    watched.run(
        """\
        def closed(number):
            while True:
                yield number
        def forgotten(number):
            while True:
                yield number
        def noticing(number):
            try:
                yield number
            finally:
                print("tidies up")
        def refusing(number):
            try:
                yield number
            except GeneratorExit:
                return
        one = closed(1)
        next(one)
        one.close()
        one.close()
        print(next(forgotten(2)))
        for work in (noticing, refusing):
            generator = work(3)
            next(generator)
            del generator
        """
    )
    for unit, number in (("closed", 1), ("forgotten", 2), ("noticing", 3)):
        shown = watched.show(unit)
        assert shown[:3] == [f"{unit}(number={number}) did not end", f"yielded {number}", "was closed"]  # fmt: skip
    assert watched.show("refusing")[0] == "refusing(number=3) returned None"


def counted(watched):
    """Returns how often each unit was called, according to `testwright show`."""
    lines = subprocess.run(
        [*COMMAND, "show"], cwd=watched.folder, capture_output=True, text=True
    ).stdout.splitlines()
    return {line.split(",")[0].split(".")[-1]: line.split(", ")[1] for line in lines}


def test_callbacks_from_outside_are_recorded(watched):
    """Checks that code outside the scope is not recorded, but all its callbacks are."""
    watched.run(
        """\
        import _thread, contextlib, functools, heapq, sched, threading, time
        @contextlib.contextmanager
        def context(number):
            yield number
        @functools.singledispatch
        def kind(value):
            return "any"
        @kind.register(int)
        def number_kind(value):
            return "int"
        def key(number):
            return -number
        def numbers(most):
            yield from range(most, 0, -1)
        def timed(found):
            found.append(len(found))
        def in_thread(found, done):
            found.append(sorted(numbers(2)))
            done.release()
        found = []
        for turn in range(3):
            with context(turn) as number:
                found.append((number, kind(number), kind("x")))
            found += heapq.merge(numbers(turn), numbers(2), key=key)
            clock = sched.scheduler(time.monotonic, time.sleep)
            clock.enter(0, 1, timed, (found,))
            clock.run()
            done = _thread.allocate_lock()
            done.acquire()
            _thread.start_new_thread(in_thread, (found, done))
            done.acquire()
            timer = threading.Timer(0, timed, (found,))
            timer.start()
            timer.join()
        print(found)
        """
    )
    assert counted(watched) == {
        "context": "3 calls",
        "kind": "3 calls",
        "number_kind": "3 calls",
        "key": "8 calls",
        "numbers": "9 calls",
        "timed": "6 calls",
        "in_thread": "3 calls",
    }


def test_a_profiler_of_the_program_still_works(watched):
    watched.run(
        """\
        import cProfile, json
        def before(): return 1
        def after(): return json.loads("1")
        before()
        profiler = cProfile.Profile()
        profiler.enable()
        json.dumps([1])
        profiler.disable()
        for _ in range(3):
            print(after())
        """
    )
    assert counted(watched) == {"before": "1 call", "after": "3 calls"}


def test_many_calls_are_counted_and_few_are_kept(watched):
    watched.run(
        "import shop\nfor number in range(5000):\n    shop.swap([number, 1])\nshop.swap([1.5, 'x'])\n"
    )
    shown = subprocess.run(
        [*COMMAND, "show", "swap"], cwd=watched.folder, capture_output=True, text=True
    ).stdout
    assert "5,001 calls" in shown
    kept = int(shown.splitlines()[0].split()[-2])
    assert 8 <= kept <= 40
    recording = next((watched.folder / ".testwright/capture").iterdir())
    assert recording.stat().st_size < 300_000


def test_a_new_recording_replaces_that_of_the_same_command(watched):
    watched.run("import shop\nshop.swap([1, 2])\n")
    watched.run("import shop\nshop.swap([3, 4])\n")
    assert watched.show("swap")[0] == "swap(items=[3, 4]) returned [4, 3]"


def test_modules_and_scope(watched):
    watched.command.write("pack/__init__.py", "")
    watched.command.write("pack/inner.py", "import shop\ndef call(): return shop.swap([5, 6])\n")
    watched.command.write("pack/__main__.py", "from pack.inner import call\nprint(call())\n")
    words = [*COMMAND, "capture", "--scope", "pack", "--", sys.executable, "-m", "pack"]
    ended = subprocess.run(words, cwd=watched.folder, capture_output=True, text=True)
    assert ended.stdout == "[6, 5]\n"
    assert ended.stderr == "recorded 1 call; `testwright show` lists them\n"
    assert watched.show("call") == ["call() returned [6, 5]"]


@pytest.mark.parametrize(
    "scope, looked_at",
    [(["--scope", "zlib"], "`zlib`"), ([], "the code below this folder")],
)
def test_compiled_code_is_reported_as_not_recorded(watched, scope, looked_at):
    watched.command.write("pack.py", "import zlib\nprint(zlib.crc32(b'text'))\n")
    words = [*COMMAND, "capture", *scope, "--", sys.executable, "pack.py"]
    ended = subprocess.run(words, cwd=watched.folder, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "999008199\n")
    first, *_, help_line = ended.stderr.splitlines()
    assert first == f"warning: nothing was recorded: no function of {looked_at} was called"
    assert "only functions written in Python are recorded, not compiled ones" in help_line


def test_a_test_suite_can_be_recorded(watched):
    watched.command.write("talk.py", "def say(word):\n    print(word)\n")
    watched.command.write(
        "test_shop.py",
        textwrap.dedent(
            """\
            import shop, talk
            def test_swap():
                assert shop.swap([1, 2]) == [2, 1]
            def test_say(capsys):
                talk.say("hello")
                assert capsys.readouterr().out == "hello\\n"
            """
        ),
    )
    words = [
        *COMMAND,
        "capture",
        "--quiet",
        "--",
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "test_shop.py",
    ]
    ended = subprocess.run(words, cwd=watched.folder, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert watched.show("swap")[0] == "swap(items=[1, 2]) returned [2, 1]"
    shown = subprocess.run(
        [*COMMAND, "show"], cwd=watched.folder, capture_output=True, text=True
    ).stdout
    assert "test_swap" not in shown
    assert watched.show("say") == ["say(word='hello') returned None", "printed 'hello\\n'"]


def test_unrecorded_input_is_reported(watched):
    watched.command.write(
        "base.py",
        "import sqlite3\ndef count():\n    return sqlite3.connect(':memory:').total_changes\n",
    )
    watched.run("import base\nprint(base.count())\n")
    assert watched.show("count") == [
        "count() returned 0",
        "something was not recorded: sqlite3.connect",
    ]


def test_impossible_requests_are_reported(watched):
    settings = {"cwd": watched.folder, "capture_output": True, "text": True}
    ended = subprocess.run([*COMMAND, "show"], **settings)
    assert ended.returncode == 2
    assert "nothing was recorded in this folder" in ended.stderr
    ended = subprocess.run([*COMMAND, "capture", "--", "no-such-program"], **settings)
    assert ended.returncode == 2
    assert "cannot run `no-such-program`" in ended.stderr
    ended = subprocess.run([*COMMAND, "capture", "--", "true"], **settings)
    assert ended.returncode == 0
    assert "nothing was recorded" in ended.stderr
    watched.run("import shop\nshop.swap([1, 2])\n")
    ended = subprocess.run([*COMMAND, "show", "no_such_unit"], **settings)
    assert ended.returncode == 2
    assert "no unit named `no_such_unit` was recorded" in ended.stderr


def test_recording_a_part_of_a_program(watched):
    watched.command.write(
        "part.py",
        textwrap.dedent(
            """\
            import time
            from time import sleep
            import shop
            import testwright.capture
            shop.swap([1, 2])
            with testwright.capture.recording():
                shop.swap([3, 4])
                shop.moment()
            @testwright.capture.recording(scope="shop")
            def main():
                shop.swap([5, 6])
            main()
            testwright.capture.start()
            path = testwright.capture.stop()
            shop.swap([7, 8])
            print(path.endswith(".recording"), testwright.capture.stop(), time.time, sleep)
            """
        ),
    )
    ended = subprocess.run(
        [sys.executable, "part.py"], cwd=watched.folder, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == "True None <built-in function time> <built-in function sleep>\n"
    assert [line for line in watched.show("swap") if line.startswith("swap(")] == [
        "swap(items=[3, 4]) returned [4, 3]",
        "swap(items=[5, 6]) returned [6, 5]",
    ]
    assert watched.show("moment")[1].startswith("time.time() gave ")


def test_other_tools_can_read_a_recording(watched):
    watched.run(
        """\
        import shop
        cart = shop.Cart("ann")
        cart.add("tea", 3)
        try:
            cart.add("coffee", price=-1)
        except ValueError:
            pass
        list(shop.countdown(2))
        """
    )
    settings = {"cwd": watched.folder, "capture_output": True, "text": True}
    shown = subprocess.run([*COMMAND, "show", "Cart.add", "--json"], **settings)
    assert (shown.returncode, shown.stderr) == (0, "")
    [unit] = json.loads(shown.stdout)
    assert (unit["name"], unit["called"]) == ("shop.Cart.add", 2)
    assert [call["outcome"] for call in unit["calls"]] == ["returned", "raised"]
    script = """\
        import testwright.capture
        add, countdown = (testwright.capture.recorded(name)[0] for name in ("add", "countdown"))
        assert add.parameters == ("self", "name", "price"), add
        first, second = add.calls
        print(first.text, first.notes)
        cart, name, price = first.arguments
        print(cart.before.type, cart.before.attributes["owner"].value, name.before.value, price.is_default)
        print(cart.after.attributes["items"].items[0].items[1])
        print(second.outcome, second.value.type, [one.value for one in second.value.arguments])
        print([(step.action, step.outcome, step.value.value) for step in countdown.calls[0].steps])
        print(testwright.capture.recorded("nothing"), testwright.capture.recorded(folder="nowhere"))
        """
    watched.command.write("tool.py", textwrap.dedent(script))
    told = subprocess.run([sys.executable, "tool.py"], **settings)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.splitlines() == [
        "Cart.add(self=<Cart owner='ann', items=[]>, name='tea', price=3) returned 1 (\"[] became [('tea', 3)]\",)",
        "shop.Cart ann tea False",
        "Value(type='int', text='3', value=3, items=(), entries=(), attributes={}, arguments=())",
        "raised builtins.ValueError ['negative', -1]",
        "[('next', 'yielded', 2), ('next', 'yielded', 1), ('next', 'returned', 'done')]",
        "[] []",
    ]


def test_an_interpreter_without_testwright_is_recorded_too(watched, tmp_path):
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    watched.command.write(
        "app.py",
        "import sys, shop\nprint(shop.swap([1, 2]), [name for name in sys.modules if 'wright' in name])\n"
        "try:\n    import testwright\nexcept ImportError as error:\n    print(error)\n",
    )
    settings = {"cwd": watched.folder, "capture_output": True, "text": True}
    program = [str(bare / "bin" / "python"), "app.py"]
    recorded = subprocess.run([*COMMAND, "capture", "--quiet", "--", *program], **settings)
    assert (recorded.returncode, recorded.stderr) == (0, "")
    assert recorded.stdout == "[2, 1] []\nNo module named 'testwright'\n"
    assert watched.show("swap") == ["swap(items=[1, 2]) returned [2, 1]", "[1, 2] became [2, 1]"]


def test_any_number_of_calls_is_counted(watched):
    watched.run(
        """\
        def leaf(number):
            return number % 7
        def tree(depth):
            return 1 if depth == 0 else tree(depth - 1) + tree(depth - 1)
        def numbers(count):
            for number in range(count):
                yield leaf(number)
        async def nothing(number):
            return number
        def drive(coroutine):
            try:
                coroutine.send(None)
            except StopIteration as end:
                return end.value
        print(sum(map(leaf, range(50_000))), tree(13))
        print(sum(sum(numbers(3)) for _ in range(4_000)))
        print(sum(drive(nothing(number)) for number in range(3_000)))
        """
    )
    assert counted(watched) == {
        "leaf": "62,000 calls",
        "tree": "16,383 calls",
        "numbers": "4,000 calls",
        "nothing": "3,000 calls",
        "drive": "3,000 calls",
    }


@pytest.mark.skipif(
    sys.version_info < (3, 11), reason="there are no groups of exceptions before 3.11"
)
def test_groups_of_exceptions(watched):
    watched.run(
        """\
        def fail():
            raise ExceptionGroup("both", [ValueError(1), KeyError("a")])
        try:
            fail()
        except* ValueError:
            print("caught")
        except* KeyError:
            pass
        """
    )
    assert watched.show("fail") == [
        "fail() raised ExceptionGroup('both', [ValueError(1), KeyError('a')])"
    ]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="there are no places for tools before 3.12")
def test_a_start_that_fails_leaves_nothing_behind(watched):
    watched.command.write(
        "full.py",
        textwrap.dedent(
            """\
            import sys, time
            import testwright.capture
            for place in (3, 4):
                sys.monitoring.use_tool_id(place, "other")
            try:
                testwright.capture.start()
            except RuntimeError as error:
                print(error)
            sys.monitoring.free_tool_id(3)
            testwright.capture.start()
            testwright.capture.stop()
            print(time.time)
            """
        ),
    )
    ended = watched.command.python("full.py")
    assert ended.stdout == (
        "other tools occupy all places for monitoring tools in this process\n<built-in function time>\n"
    )


def test_tracing_tools_get_all_events_after_a_recording(watched):
    watched.command.write(
        "traced.py",
        textwrap.dedent(
            """\
            import sys
            import testwright.capture
            def work(number):
                number += 1
                return number
            def trace(frame, event, argument):
                if frame.f_code is work.__code__:
                    events.append((event, frame.f_lineno))
                    return trace
            events = []
            for ended in ("never", "before", "meanwhile", "before"):
                if ended != "never":
                    testwright.capture.start()
                    work(1)
                if ended == "before":
                    testwright.capture.stop()
                sys.settrace(trace)
                if ended == "meanwhile":
                    testwright.capture.stop()
                work(1)
                assert sys.gettrace() is trace
                sys.settrace(None)
                work(1)
                print(events)
                events.clear()
            """
        ),
    )
    told = watched.command.python("traced.py").stdout.splitlines()
    assert told == ["[('call', 3), ('line', 4), ('line', 5), ('return', 5)]"] * 4
