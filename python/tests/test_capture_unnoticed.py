"""Programs behave the same, recorded or not: the same output, exit status, exceptions and warnings."""

import re
import subprocess
import sys
import textwrap

import pytest

PROGRAMS = {
    "threads": """\
        import queue, threading
        class Board:
            def __init__(self):
                self.lock = threading.Lock()
                self.marks = {}
            def mark(self, name, number):
                with self.lock:
                    self.marks.setdefault(name, []).append(number)
        def work(board, tasks):
            while True:
                name, number = tasks.get()
                if name is None:
                    return
                board.mark(name, number * number)
        def fail():
            raise ValueError("in a thread")
        board, tasks = Board(), queue.Queue()
        workers = [threading.Thread(target=work, args=(board, tasks)) for _ in range(4)]
        for worker in workers:
            worker.start()
        for number in range(200):
            tasks.put(("ab"[number % 2], number))
        for _ in workers:
            tasks.put((None, 0))
        for worker in workers:
            worker.join()
        print({name: sorted(marks)[-3:] for name, marks in sorted(board.marks.items())})
        broken = threading.Thread(target=fail, name="broken")
        broken.start()
        broken.join()
        """,
    "async": """\
        import asyncio, contextvars
        user = contextvars.ContextVar("user")
        async def numbers(count):
            for number in range(count):
                await asyncio.sleep(0)
                yield number
        async def total(name, count):
            user.set(name)
            result = 0
            async for number in numbers(count):
                result += number
            return user.get(), result
        async def late():
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                print("cancelled")
                raise
        async def main():
            print(await asyncio.gather(total("a", 3), total("b", 5)))
            task = asyncio.ensure_future(late())
            await asyncio.sleep(0)
            task.cancel()
            print(await asyncio.gather(task, return_exceptions=True))
            raise KeyError("the end")
        asyncio.run(main())
        """,
    "crash": """\
        import json
        class Broken(Exception):
            def __init__(self, place, why):
                super().__init__(place, why)
                self.place = place
        def read(text):
            try:
                return json.loads(text)
            except ValueError as error:
                raise Broken(3, "not json") from error
        def run():
            try:
                read("{")
            except Broken:
                {}["missing"]
        print("before")
        run()
        """,
    "signals": """\
        import os, signal, time
        seen = []
        def note(number, frame):
            seen.append((signal.Signals(number).name, frame.f_code.co_name))
        def wait():
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            while not seen:
                pass
        signal.signal(signal.SIGALRM, note)
        wait()
        signal.signal(signal.SIGUSR1, note)
        os.kill(os.getpid(), signal.SIGUSR1)
        print(seen)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        def die():
            print("dying", flush=True)
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        die()
        """,
    "exit status": """\
        import atexit, sys
        def goodbye(word):
            print("goodbye", word)
        atexit.register(goodbye, "one")
        atexit.register(goodbye, "two")
        def leave(code):
            try:
                sys.exit(code)
            finally:
                print("leaving")
        leave(7)
        """,
    "several processes": """\
        import multiprocessing
        def square(number):
            return number * number
        def serve(pipe):
            pipe.send(pipe.recv() + 1)
        if __name__ == "__main__":
            for method in ("fork", "spawn"):
                context = multiprocessing.get_context(method)
                with context.Pool(2) as pool:
                    print(method, pool.map(square, range(5)))
                ours, theirs = context.Pipe()
                child = context.Process(target=serve, args=(theirs,))
                child.start()
                ours.send(41)
                print(ours.recv())
                child.join()
                print(child.exitcode)
        """,
    "generators": """\
        import inspect, types
        def talk():
            heard = []
            try:
                while True:
                    heard.append((yield len(heard)))
            except ValueError as error:
                yield f"caught {error}"
            finally:
                print("heard", heard)
            return heard
        def through():
            result = yield from talk()
            return result, "through"
        generator = talk()
        print(next(generator), generator.send("a"), generator.send(None))
        print(generator.throw(ValueError("x")))
        try:
            next(generator)
        except StopIteration as end:
            print(end.value)
        outer = through()
        next(outer)
        print(outer.send("inner"))
        outer.close()
        print(inspect.getgeneratorstate(outer))
        print([name for name in ("send", "throw", "close") if callable(getattr(talk(), name))])
        try:
            talk().send("too early")
        except TypeError as error:
            print(error)
        print(types.GeneratorType.send(iter_ := talk(), None), isinstance(iter_, types.GeneratorType))
        abandoned = talk()
        next(abandoned)
        del abandoned
        print("end")
        """,
    "own frames": """\
        import inspect, sys, traceback
        def caller():
            return sys._getframe(1).f_code.co_name
        def depth():
            return len(inspect.stack())
        def here():
            return caller(), inspect.currentframe().f_lineno, sorted(locals())
        def where():
            return [line.name for line in traceback.extract_stack()]
        print(here(), depth(), where())
        events = []
        def trace(frame, event, argument):
            if frame.f_code.co_name == "work":
                events.append((event, frame.f_lineno))
                return trace
        def work(number):
            number += 1
            return number
        sys.settrace(trace)
        work(1)
        sys.settrace(None)
        print(events, sys.gettrace())
        """,
    "deaths and weak references": """\
        import gc, weakref
        class Node:
            def __init__(self, name):
                self.name = name
                self.other = None
            def __del__(self):
                print("gone:", self.name)
        def tie(one, two):
            one.other, two.other = two, one
        def name_of(node):
            return node.name
        def broken(node):
            raise KeyError(node.name)
        tie(Node("a"), Node("b"))
        print("tied")
        gc.collect()
        single = Node("c")
        reference = weakref.ref(single, lambda _: print("told"))
        print(name_of(single))
        del single
        print(reference())
        try:
            broken(Node("d"))
        except KeyError as error:
            print(error)
        class Worse:
            def __del__(self):
                raise ValueError("in __del__")
        def drop():
            Worse()
        drop()
        print("end")
        """,
    "recursion": """\
        import sys
        class Deep:
            def __init__(self, inner):
                self.inner = inner
            def depth(self):
                return 1 + (self.inner.depth() if self.inner else 0)
        deep = None
        for _ in range(300):
            deep = Deep(deep)
        print(deep.depth())
        count = 0
        def for_ever(items):
            global count
            count += 1
            return for_ever(items + [1])
        try:
            for_ever([])
        except RecursionError as error:
            print(type(error).__name__, count)
        sys.setrecursionlimit(400)
        try:
            for_ever([])
        except RecursionError:
            print("again", count)
        """,
    "another program": """\
        import os, subprocess, sys
        def ask(*words, **settings):
            return subprocess.run(words, capture_output=True, text=True, **settings).stdout
        def names(environment):
            return [line.split("=")[0] for line in environment.splitlines()]
        print(ask(sys.executable, "-c", "import sys; print(sys.argv, len(sys.path))", "x"))
        print(sorted(set(names(ask("env"))) ^ set(os.environ)))
        print(ask(sys.executable, "-c", "import os; print('PYTHONPATH' in os.environ, [n for n in os.environ if 'WRIGHT' in n])"))
        print(ask(sys.executable, "-c", "import os; print(sorted(os.environ))", env={"A": "1"}))
        process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(4)"])
        print(process.wait(), process.returncode)
        try:
            subprocess.run(["false"], check=True)
        except subprocess.CalledProcessError as error:
            print(error)
        print(os.system("exit 3") >> 8)
        """,
    "warnings and logs": """\
        import logging, warnings
        log = logging.getLogger("app")
        def old():
            warnings.warn("old", DeprecationWarning, stacklevel=2)
            warnings.warn("careful")
        def tell(value):
            log.warning("value %s", value)
            log.error("%s and %d", [1], 2)
            try:
                1 / 0
            except ZeroDivisionError:
                log.exception("failed")
        class Loud:
            def __str__(self):
                print("asked for a text")
                return "loud"
        logging.basicConfig(format="%(levelname)s:%(funcName)s:%(lineno)d:%(message)s")
        old()
        old()
        tell(3)
        tell(Loud())
        """,
    "keyboard": """\
        import sys
        def first():
            return input()
        def rest():
            return [line.strip() for line in sys.stdin]
        def after():
            return sys.stdin.readline()
        print(first(), rest(), repr(after()))
        """,
    "sockets": """\
        import socket, threading
        def serve(server):
            connection, _ = server.accept()
            with connection, connection.makefile("rw") as stream:
                for line in stream:
                    stream.write(line.upper())
                    stream.flush()
        def ask(port, *lines):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                with connection.makefile("rw") as stream:
                    answers = []
                    for line in lines:
                        print(line, file=stream, flush=True)
                        answers.append(stream.readline())
            return answers
        server = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        print(ask(server.getsockname()[1], "one", "two"))
        thread.join()
        one, two = socket.socketpair()
        one.settimeout(0.01)
        try:
            one.recv(1)
        except socket.timeout as error:
            print(type(error).__name__, error)
        """,
}


def run(folder, *words):
    done = subprocess.run(
        words, cwd=folder, input="a\nb\nc\n", capture_output=True, text=True, timeout=240
    )
    status = done.returncode
    # Memory addresses differ in every run.
    texts = [re.sub("0x[0-9a-f]+", "0x", text) for text in (done.stdout, done.stderr)]
    return 128 - status if status < 0 else status, *texts


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_the_same(name, tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAMS[name]))
    program = [sys.executable, "program.py"]
    alone = run(tmp_path, *program)
    watched = run(
        tmp_path, sys.executable, "-m", "testwright", "capture", "--quiet", "--", *program
    )
    assert watched == alone
    # The program was really recorded, or the comparison would show nothing.
    assert list((tmp_path / ".testwright/capture").glob("*.recording"))
