//! Measured arcs on every version of Python, and proof that the code under test does not notice.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use testwright_core::Coverage;
use testwright_python::{Arc, Collector, ProgramExit, SourceSelection, attach};

/// One at a time: a program is run as if it were the only one.
static TURN: Mutex<()> = Mutex::new(());

fn with_program(source: &str, work: impl Fn(&Collector<'_>, &Path)) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join("program.py");
    std::fs::write(&program, source).expect("the program is written");
    attach(|interpreter| {
        let choice = SourceSelection {
            folder: folder.path().to_path_buf(),
            ..SourceSelection::default()
        };
        let collector = Collector::start(interpreter, &choice).expect("coverage starts");
        work(&collector, &program);
    });
}

fn run(collector: &Collector<'_>, program: &Path) {
    let ended = collector.run_program(&[program.into()], false);
    assert_eq!(ended.expect("the program runs"), ProgramExit { status: 0 });
}

fn arcs(collector: &Collector<'_>, coverage: &Coverage) -> BTreeSet<Arc> {
    let arc = |target| collector.file_and_arc(target).1;
    coverage.iter().map(arc).collect()
}

const SIGN_AND_SAFE: &str = "\
def sign(x):
    if x < 0:
        return -1
    return 1

def safe(x):
    try:
        return 1 / x
    except ZeroDivisionError:
        return 0

def fail():
    raise KeyError

sign(5)
safe(0)
try: fail()
except KeyError: pass
";

#[test]
fn branches_and_exceptions_are_seen() {
    with_program(SIGN_AND_SAFE, |collector, program| {
        run(collector, program);
        let module = [(-1, 1), (1, 6), (6, 12), (12, 15), (15, 16), (16, 17)];
        let caught = [(17, 18), (18, -1)];
        let sign = [(-1, 2), (2, 4), (4, -1)];
        let safe = [(-6, 7), (7, 8), (8, 9), (9, 10), (10, -6)];
        let fail = [(-12, 13), (13, -12)];
        let expected = [&module[..], &caught, &sign, &safe, &fail].concat();
        assert_eq!(
            arcs(collector, &collector.all()),
            expected.into_iter().collect()
        );
    });
}

#[test]
fn everything_is_seen_again_after_a_new_beginning() {
    with_program(SIGN_AND_SAFE, |collector, program| {
        run(collector, program);
        let first = arcs(collector, &collector.current());
        collector.reset_current().expect("a new beginning");
        assert_eq!(arcs(collector, &collector.current()), BTreeSet::new());
        run(collector, program);
        assert_eq!(arcs(collector, &collector.current()), first);
    });
}

#[test]
fn copies_of_code_are_observed() {
    let source = "\
import types
@types.coroutine
def wait(x):
    if x:
        yield x

for x in [0, 1] * 3:
    list(wait(x))
";
    with_program(source, |collector, program| {
        for _ in 0..2 {
            collector.reset_current().expect("a new beginning");
            run(collector, program);
            let arcs = arcs(collector, &collector.current());
            for arc in [(-2, 4), (4, 5), (5, -2), (4, -2)] {
                assert!(arcs.contains(&arc), "{arc:?} in {arcs:?}");
            }
        }
    });
}

#[test]
fn copies_are_seen_again_whenever_they_were_made() {
    let source = "\
import sys, types

def made():
    @types.coroutine
    def wait(x):
        if x:
            yield x
    return wait

if not hasattr(sys, 'kept_copies'):
    sys.kept_copies = []
    for x in (1, 0):
        sys.kept_copies.append(made())
        list(sys.kept_copies[-1](1))
list(sys.kept_copies[1](1))
";
    with_program(source, |collector, program| {
        for _ in 0..2 {
            collector.reset_current().expect("a new beginning");
            run(collector, program);
            let arcs = arcs(collector, &collector.current());
            assert!(arcs.contains(&(6, 7)), "{arcs:?}");
        }
    });
}

#[test]
fn the_program_does_not_notice() {
    // Code compiled by the program itself is not observed, so that the two can be compared.
    let source = "\
import sys, traceback

def loops(n):
    total = 0
    while True:
        n -= 1
        if n == 3: continue
        for i in range(n): total += i
        if n < 2:
            break
    return total

def fails(x):
    try:
        return 1 / x
    finally:
        x = 3

def waits():
    try:
        yield 1
        yield from fails(0)
    except ZeroDivisionError:
        yield 2

def tracebacks(function):
    try:
        return list(function(0))
    except Exception:
        return traceback.format_exc()

def everything(functions):
    functions['loops'](5), list(functions['waits']())
    return functions['tracebacks'](functions['fails'])

def watched(functions):
    events = []
    def trace(frame, event, argument):
        if frame.f_code.co_filename != __file__:
            return None
        events.append((frame.f_code.co_name, event, frame.f_lineno))
        return trace
    sys.settrace(trace)
    try:
        return events, functions['everything'](functions)
    finally:
        sys.settrace(None)

if __name__ == '__main__':
    with open(__file__) as file:
        plain = {'__name__': 'plain', '__file__': __file__}
        exec(compile(file.read(), __file__, 'exec'), plain)
    for _ in range(3):
        here, there = watched(globals()), watched(plain)
        if sys.version_info < (3, 10):
            # Exceptions that leave a function are seen as one more line there; tracebacks are as ever.
            here, there = here[1], there[1]
        assert here == there, (here, there)
";
    with_program(source, run);
}

#[test]
fn threads_do_not_get_in_the_way() {
    let source = "\
import sys, threading
sys.setswitchinterval(1e-5)

def work(n):
    total = 0
    for i in range(n):
        try:
            if i % 3 == 0:
                raise ValueError(i)
            total += sum(x for x in range(i % 5))
        except ValueError as error:
            total += error.args[0]
        finally:
            total ^= 1
    return total

results = []
threads = [threading.Thread(target=lambda: results.append(work(2000))) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(set(results)) == 1 and len(results) == 8, results
";
    with_program(source, |collector, program| {
        run(collector, program);
        let arcs = arcs(collector, &collector.all());
        for arc in [(8, 9), (8, 10), (9, 11), (14, 6), (6, 15), (15, -4)] {
            assert!(arcs.contains(&arc), "{arc:?} in {arcs:?}");
        }
    });
}
