//! Systems that tamper with the process they run in.

use crate::support;

use support::{Folder, check, step};
use testwright_core::System;
use testwright_python::{Options, OutputMode};

#[test]
fn leaving_and_interrupting_are_failures_of_the_system() {
    let text = "sys.exit(3)\nraise KeyboardInterrupt()\nraise GeneratorExit()\n{Exception} raise SystemExit('bye')\n";
    Folder::new(&[]).with(text, |system| {
        assert_eq!(
            step(system, "sys.exit(3)"),
            "uncaught-exception: SystemExit: 3"
        );
        assert_eq!(
            step(system, "raise KeyboardInterrupt()"),
            "uncaught-exception: KeyboardInterrupt in `raise KeyboardInterrupt()`"
        );
        assert_eq!(
            step(system, "raise GeneratorExit()"),
            "uncaught-exception: GeneratorExit in `raise GeneratorExit()`"
        );
        assert_eq!(
            step(system, "raise SystemExit('bye')"),
            "uncaught-exception: SystemExit: bye"
        );
    });
}

#[test]
fn endless_recursion_and_eaten_memory_are_exceptions() {
    let text = "<@\ndef deep(n):\n    return deep(n + 1)\n@>\ndeep(0)\nbytearray(1 << 62)\nsys.setrecursionlimit(200)\n";
    Folder::new(&[]).with(text, |system| {
        assert!(step(system, "deep(0)").starts_with("uncaught-exception: RecursionError"));
        assert!(step(system, "bytearray(1 << 62)").starts_with("uncaught-exception: "));
        assert_eq!(step(system, "sys.setrecursionlimit(200)"), "passed");
        system.reset().expect("a reset");
        assert!(step(system, "deep(0)").starts_with("uncaught-exception: RecursionError"));
    });
}

#[test]
fn directory_chance_and_streams_are_put_back_by_a_reset() {
    let text = "\
@import io
os.chdir('/')
random.seed(time.time())
sys.stdout = None
sys.stdout.close()
os.close(1); os.close(2); os.close(0)
sys.stdin.close()
assert os.getcwd() != '/'
assert random.random() == random.Random(0).random()
print('x'); sys.stdout.flush(); assert sys.stdin.read() == ''
input()
";
    Folder::new(&[]).with(text, |system| {
        let spoil = [
            "os.chdir('/')",
            "random.seed(time.time())",
            "sys.stdout = None",
            "sys.stdin.close()",
            "os.close(1); os.close(2); os.close(0)",
        ];
        let sound = [
            "assert os.getcwd() != '/'",
            "assert random.random() == random.Random(0).random()",
            "print('x'); sys.stdout.flush(); assert sys.stdin.read() == ''",
        ];
        for harm in spoil {
            assert_eq!(step(system, harm), "passed", "{harm}");
            system.reset().expect("a reset");
            for test in sound {
                assert_eq!(step(system, test), "passed", "{test} after {harm}");
            }
            system.reset().expect("a reset");
        }
        assert_eq!(step(system, "sys.stdout.close()"), "passed");
        system.reset().expect("a reset");
        assert_eq!(
            step(
                system,
                "print('x'); sys.stdout.flush(); assert sys.stdin.read() == ''"
            ),
            "passed"
        );
        assert_eq!(
            step(system, "input()"),
            "uncaught-exception: EOFError: EOF when reading a line"
        );
    });
}

#[test]
fn output_can_be_captured() {
    let text =
        "print('grüße')\nos.system('echo child')\nwarnings.warn('careful')\n@import warnings\n";
    let options = Options {
        output: OutputMode::Capture,
        ..Options::default()
    };
    Folder::new(&[]).with_options(text, &options, |system| {
        step(system, "print('grüße')");
        step(system, "os.system('echo child')");
        let output = system.take_output();
        assert!(
            output.contains("grüße") && output.contains("child"),
            "{output}"
        );
        step(system, "warnings.warn('careful')");
        assert!(system.take_output().contains("careful"));
        // The test runner prints its dots to the same stream.
        assert!(!system.take_output().contains("careful"));
    });
}

#[test]
fn values_that_cannot_be_shown_or_compared_do_no_harm() {
    let text = "\
<@
class Odd(object):
    def __repr__(self): raise ValueError('no')
    def __bool__(self): raise ValueError('neither')
    def __str__(self): raise ValueError('nor')
class OddError(Exception):
    def __str__(self): raise ValueError('nor')
def fail(): raise OddError()
@>
pool: <x> 1
property: <x>
<x> := Odd()
fail()
";
    Folder::new(&[]).with(text, |system| {
        assert_eq!(step(system, "x0 = Odd()"), "passed");
        let values = system.values(support::action(system, "x0 = Odd()"));
        assert_eq!(values[0].text, "(repr raised ValueError: no)");
        assert_eq!(check(system), "property: `x0` raised ValueError: neither");
        assert_eq!(
            step(system, "fail()"),
            "uncaught-exception: OddError: (its message cannot be shown)"
        );
    });
}

#[test]
fn builtins_and_modules_are_put_back_by_a_reset() {
    let text = "\
@import builtins
builtins.len = builtins.isinstance = builtins.open = None
sys.modules.clear()
assert len([1]) == 1 and isinstance(1, int)
import json; json.dumps([1])
";
    Folder::new(&[]).with(text, |system| {
        for harm in [
            "builtins.len = builtins.isinstance = builtins.open = None",
            "sys.modules.clear()",
        ] {
            assert_eq!(step(system, harm), "passed", "{harm}");
            system.reset().expect("a reset");
            for sound in [
                "assert len([1]) == 1 and isinstance(1, int)",
                "import json; json.dumps([1])",
            ] {
                assert_eq!(step(system, sound), "passed", "{sound} after {harm}");
            }
        }
    });
}
