//! Search strategies guided by the branches of the code under test.

use crate::support;

use std::ops::ControlFlow;
use std::sync::Arc;

use support::Folder;
use testwright_core::generate::{
    Auto, Exploit, FailingTest, GeneratedTest, NewCoverage, SearchOptions, SearchProgress,
    SearchWatcher, Strategy, Swarm, SwarmOptions, Uniform, search_with,
};
use testwright_core::{ActionClasses, Covered, System, Test};
use testwright_python::{MeasuredCode, Options, PythonSystem};

/// A lock that opens after five right keys out of a hundred each, whatever is pressed in between.
const LOCK: &str = "\
class Lock:
    def __init__(self):
        self.stage = 0
    def press(self, key):
        if self.stage == 0:
            if key == 17:
                self.stage = 1
        elif self.stage == 1:
            if key == 93:
                self.stage = 2
        elif self.stage == 2:
            if key == 4:
                self.stage = 3
        elif self.stage == 3:
            if key == 55:
                self.stage = 4
        elif key == 71:
            raise KeyError('open')
    def look(self):
        return self.stage
";

const HARNESS: &str = "\
@from lock import Lock
pool: <lock> 1
init: <lock> = Lock()
~<lock>.press(<[0..99]>)
~<lock>.look()
";

struct First {
    most: u64,
    tests: Vec<Test>,
    new: usize,
}

impl<S: ?Sized> SearchWatcher<S> for First {
    fn proceed(&mut self, progress: &SearchProgress) -> bool {
        progress.steps < self.most
    }

    fn test_generated(&mut self, _system: &S, made: GeneratedTest<'_>) -> ControlFlow<()> {
        self.tests.push(Test::from_steps(made.steps.to_vec()));
        self.new += made.new.len();
        ControlFlow::Continue(())
    }

    fn failure_found(&mut self, _system: &mut S, _found: FailingTest) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

fn run<'py, T: Strategy<PythonSystem<'py>>>(
    system: &mut PythonSystem<'py>,
    mut strategy: T,
    seed: u64,
) -> (u64, First) {
    let plan = SearchOptions {
        seed,
        tests: None,
        length: 100,
        check: true,
    };
    let mut first = First {
        most: 20_000,
        tests: Vec::new(),
        new: 0,
    };
    let summary = search_with(system, &mut strategy, &plan, &mut first).expect("a search");
    (summary.progress.steps, first)
}

fn with_lock<R>(work: impl FnOnce(&mut PythonSystem<'_>) -> R) -> R {
    let options = Options {
        measured: MeasuredCode::Modules,
        ..Options::default()
    };
    Folder::new(&[("lock.py", LOCK)]).with_options(HARNESS, &options, work)
}

#[test]
fn coverage_leads_to_deep_code() {
    let mut steps = [[0; 5]; 3];
    for seed in 0..5 {
        let place = seed as usize;
        steps[0][place] = with_lock(|system| run(system, Uniform, seed).0);
        steps[1][place] =
            with_lock(|system| run(system, Exploit::with_novelty(NewCoverage), seed).0);
        steps[2][place] = with_lock(|system| {
            let classes = Arc::new(ActionClasses::new(system.actions()));
            run(system, Auto::new(&classes, NewCoverage), seed).0
        });
    }
    for steps in &mut steps {
        steps.sort_unstable();
    }
    let [uniform, exploit, auto] = steps.map(|steps| steps[2]);
    assert!(exploit * 2 < uniform && auto * 2 < uniform, "{steps:?}");
}

#[test]
fn the_same_seed_makes_the_same_tests() {
    let tests = || {
        with_lock(|system| {
            let classes = Arc::new(ActionClasses::new(system.actions()));
            let (steps, first) = run(system, Auto::new(&classes, NewCoverage), 3);
            assert_eq!(
                first.new,
                system.all_touched().len(),
                "the watcher is told everything"
            );
            (steps, first.tests)
        })
    };
    assert_eq!(tests(), tests());
}

#[test]
fn without_coverage_nothing_is_new_and_swarm_works_all_the_same() {
    Folder::new(&[("lock.py", LOCK)]).with(HARNESS, |system| {
        let classes = Arc::new(ActionClasses::new(system.actions()));
        let (_, first) = run(system, Swarm::new(&classes, SwarmOptions::default()), 1);
        assert!(!first.tests.is_empty());
        let (_, first) = run(system, Auto::new(&classes, NewCoverage), 1);
        assert_eq!(first.new, 0);
        assert!(system.all_touched().is_empty() && system.touched().is_empty());
        system.reset_touched().expect("nothing to begin anew");
    });
}
