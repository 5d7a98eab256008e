//! Choosing what to do next, until something breaks.
//!
//! A search makes one test after the other, and asks a [`Strategy`] what each of them should do:
//!
//! | strategy | chooses | learns |
//! |---|---|---|
//! | [`Uniform`] | any enabled action | |
//! | [`Swarm`] | among some of the lines, others in each test | |
//! | [`ByClass`] | a line by probability, then one of its actions | |
//! | [`Profile`] | lines that were rarely taken so far | yes |
//! | [`Markov`] | what followed the last steps in given tests | |
//! | [`Sequences`] | pieces of given tests, put together anew | |
//! | [`Exploit`] | anything, going on from tests that reached something new | yes |
//! | [`Extend`] | anything, going on from tests that touched much | yes |
//! | [`Auto`] | one of these for each test, by what finds something in this system | yes |
//!
//! Who does not know better takes [`Auto`]. [`swarm::directed`] makes probabilities for a swarm from what another swarm
//! touched. What counts as new, code or states or nothing, is a [`Novelty`].
//!
//! Test number n draws from a stream of random numbers that belongs to the seed and to n alone. So with a strategy that
//! does not learn, any test of a long search can be made again by itself ([`regenerate_with`]), and a failure in one
//! test does not change those after it. One that learns makes the same tests for the same seed, too, but test n only
//! after all those before it: what it finds has to be kept as a whole, which is why [`Found`] and [`Made`] have it.
//!
//! The caller decides everything that has to do with the world: when time is up, what to do with a failure,
//! whether to go on after it. It does so as a [`SearchWatcher`].
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::sync::Arc;
//!
//! use testwright_core::generate::{Auto, Found, NewCoverage, Search, SearchWatcher, search_with};
//! use testwright_core::toys::Buffer;
//! use testwright_core::{Classes, System};
//!
//! struct First(Option<Found>);
//!
//! impl SearchWatcher<Buffer> for First {
//!     fn found(&mut self, _: &mut Buffer, found: Found) -> ControlFlow<()> {
//!         self.0 = Some(found);
//!         ControlFlow::Break(())
//!     }
//! }
//!
//! // Uniform choice would need millions of steps to fill this buffer.
//! let mut buffer = Buffer::new(20);
//! let classes = Arc::new(Classes::new(buffer.actions()));
//! let mut auto = Auto::new(&classes, NewCoverage);
//! let mut first = First(None);
//! let plan = Search { seed: 1, tests: Some(100), length: 100, check: true };
//! search_with(&mut buffer, &mut auto, &plan, &mut first).unwrap();
//! assert_eq!(first.0.unwrap().failure.message, "Overflow: the buffer is full");
//! ```

use std::ops::ControlFlow;

use crate::{Error, Failure, Step, System, TargetId, Test};

mod auto;
mod by_class;
mod class_draw;
mod class_table;
mod class_text;
mod corpus;
mod exploit;
mod extend;
mod markov;
mod novelty;
mod sequences;
mod shared;
mod strategy;
pub mod swarm;
#[cfg(test)]
mod testing;
mod uniform;
mod walk;

pub use auto::{ArmReport, Auto};
pub use by_class::{ByClass, Profile};
pub use class_table::ClassTable;
pub use class_text::TextProblem;
pub use corpus::{Corpus, CorpusOptions, Kept};
pub use exploit::{Exploit, ExploitOptions, crossed, crossed_twice};
pub use extend::{Extend, ExtendOptions};
pub use markov::{Markov, MarkovModel};
pub use novelty::{NewCoverage, NewStates, NothingNew, Novelty, WithHint};
pub use sequences::{SequenceOptions, Sequences};
pub use shared::Shared;
pub use strategy::{Start, Strategy};
pub use swarm::{Swarm, SwarmOptions};
pub use uniform::Uniform;
use walk::{Pace, Walk, Walker};

/// What to search for failures with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// Same seed, same tests.
    pub seed: u64,
    /// How many tests to make; without a number the watcher ends the search.
    pub tests: Option<u64>,
    /// How many steps a test may have. A [`Strategy`] that goes on from earlier tests, or varies
    /// lengths, may make longer ones.
    pub length: usize,
    /// Check the invariants after every step.
    pub check: bool,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Tests that came to an end by length, deadlock or failure.
    pub tests: u64,
    /// Steps taken, those of the unfinished test included.
    pub steps: u64,
    /// Tests that ended early since nothing was enabled any more.
    pub deadlocks: u64,
    /// Tests that failed.
    pub failures: u64,
}

/// What a search came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How far it came.
    pub progress: Progress,
    /// The watcher or the person at the keyboard ended it before all tests were made.
    pub stopped: bool,
}

/// A test that failed.
#[derive(Clone, Debug)]
pub struct Found {
    /// The steps up to and with the one that failed.
    pub test: Test,
    /// Why it failed.
    pub failure: Failure,
    /// Which test of the search it was, counted from 0.
    pub number: u64,
}

/// A test that came to its end: by length, deadlock or failure.
#[derive(Clone, Copy, Debug)]
pub struct Made<'a> {
    /// Its steps.
    pub steps: &'a [Step],
    /// What the strategy has to say about them, by step index.
    pub remarks: &'a [(usize, String)],
    /// Why it failed, if it did.
    pub failure: Option<&'a Failure>,
    /// Which test of the search it was, counted from 0.
    pub number: u64,
    /// What was touched for the first time ever since the last test ended. Only strategies that look at that tell;
    /// [`Covered::take_new`](crate::Covered::take_new) does not tell a second time what they were told.
    pub new: &'a [TargetId],
}

/// Looks after a search: its budget and its findings.
pub trait SearchWatcher<S: ?Sized> {
    /// Asked before each test and before each step; `false` ends the search.
    fn proceed(&mut self, _progress: &Progress) -> bool {
        true
    }

    /// Asked before each step: whether the test is long enough as it is, and the next may begin.
    fn is_enough(&mut self, _progress: &Progress) -> bool {
        false
    }

    /// Told of each test that came to its end, passing or not, before [`found`](SearchWatcher::found) is.
    fn made(&mut self, _system: &S, _made: Made<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Told of the test that was under way when the search was ended: what it had touched for the first time ever, as far
    /// as the strategy looked at that.
    fn unfinished(&mut self, _system: &S, _new: &[TargetId]) {}

    /// Told of each failure. The system is free for use, for instance to reduce the test; the search resets it
    /// before it goes on, if it is to go on.
    fn found(&mut self, system: &mut S, found: Found) -> ControlFlow<()>;
}

/// Makes uniformly random tests until all are made or the watcher has had enough.
///
/// A system that has nothing enabled right after a reset is given up after one test: by the laws of [`System`]
/// the next would do no more.
pub fn search<S: System + ?Sized>(
    system: &mut S,
    search: &Search,
    watcher: &mut dyn SearchWatcher<S>,
) -> Result<Summary, Error> {
    search_with(system, &mut Uniform, search, watcher)
}

/// Makes tests as a strategy chooses them, until all are made or the watcher has had enough.
///
/// What a strategy has learned it keeps, so another search with it goes on from there.
pub fn search_with<S: System + ?Sized, T: Strategy<S> + ?Sized>(
    system: &mut S,
    strategy: &mut T,
    search: &Search,
    watcher: &mut dyn SearchWatcher<S>,
) -> Result<Summary, Error> {
    let mut walker = Walker {
        system,
        strategy,
        search,
        start: Start::default(),
        test: Test::default(),
        progress: Progress::default(),
    };
    let mut number = 0;
    let mut stopped = false;
    while !stopped && search.tests.is_none_or(|tests| number < tests) {
        if !watcher.proceed(&walker.progress) {
            stopped = true;
            break;
        }
        let walk = walker.walk(number, &mut |progress| {
            if !watcher.proceed(progress) {
                Pace::Stop
            } else if watcher.is_enough(progress) {
                Pace::EndTest
            } else {
                Pace::GoOn
            }
        })?;
        if matches!(walk, Walk::Stopped) {
            watcher.unfinished(walker.system, walker.strategy.new_targets());
            stopped = true;
            break;
        }
        walker.progress.tests += 1;
        let failure = match &walk {
            Walk::Failed(failure) => Some(&**failure),
            _ => None,
        };
        let mut made = Made {
            steps: &walker.test.steps,
            remarks: &walker.test.remarks,
            failure,
            number,
            new: &[],
        };
        walker.strategy.end(walker.system, &made)?;
        made.new = walker.strategy.new_targets();
        stopped = watcher.made(walker.system, made).is_break();
        match walk {
            Walk::Stopped | Walk::Finished => {}
            Walk::Deadlocked => {
                walker.progress.deadlocks += 1;
                if walker.test.is_empty() {
                    break;
                }
            }
            Walk::Failed(failure) => {
                walker.progress.failures += 1;
                let found = Found {
                    test: std::mem::take(&mut walker.test),
                    failure: *failure,
                    number,
                };
                stopped |= watcher.found(walker.system, found).is_break();
            }
        }
        number += 1;
    }
    let progress = walker.progress;
    Ok(Summary { progress, stopped })
}

/// Makes test `number` of a [`search()`] again, by itself, and runs it: the same steps, up to the same failure.
pub fn regenerate<S: System + ?Sized>(
    system: &mut S,
    search: &Search,
    number: u64,
) -> Result<Test, Error> {
    regenerate_with(system, &mut Uniform, search, number)
}

/// Makes test `number` of a search with a strategy again.
///
/// With a strategy that [learns](Strategy::learns) this gives the test that it would make *now*, which is another
/// one: what such a search found has to be kept as a whole, and [`Found`] and [`Made`] have it.
pub fn regenerate_with<S: System + ?Sized, T: Strategy<S> + ?Sized>(
    system: &mut S,
    strategy: &mut T,
    search: &Search,
    number: u64,
) -> Result<Test, Error> {
    let mut walker = Walker {
        system,
        strategy,
        search,
        start: Start::default(),
        test: Test::default(),
        progress: Progress::default(),
    };
    walker.walk(number, &mut |_| Pace::GoOn)?;
    Ok(walker.test)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys::{Counters, Flaky, Jugs, Safe};
    use crate::{ActionId, Catalog, Outcome};

    /// Collects what is found, and ends the search after some failures or steps.
    struct Keep {
        found: Vec<Found>,
        failures: usize,
        steps: u64,
    }

    impl Keep {
        fn failures(failures: usize) -> Keep {
            Keep {
                found: Vec::new(),
                failures,
                steps: u64::MAX,
            }
        }
    }

    impl<S: System + ?Sized> SearchWatcher<S> for Keep {
        fn proceed(&mut self, progress: &Progress) -> bool {
            progress.steps < self.steps
        }

        fn found(&mut self, _system: &mut S, found: Found) -> ControlFlow<()> {
            self.found.push(found);
            if self.found.len() < self.failures {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        }
    }

    const SEARCH: Search = Search {
        seed: 1,
        tests: None,
        length: 100,
        check: true,
    };

    #[test]
    fn a_puzzle_is_solved_by_chance() {
        let mut keep = Keep::failures(1);
        let summary = search(&mut Jugs::default(), &SEARCH, &mut keep).unwrap();
        assert!(summary.stopped);
        assert_eq!(summary.progress.failures, 1);
        assert_eq!(keep.found[0].failure.message, "property big != 4 is false");
    }

    #[test]
    fn any_test_can_be_made_again_alone() {
        let mut system = Counters::new(12);
        let mut keep = Keep::failures(5);
        search(&mut system, &SEARCH, &mut keep).unwrap();
        assert_eq!(keep.found.len(), 5);
        for found in &keep.found {
            let again = regenerate(&mut system, &SEARCH, found.number).unwrap();
            assert_eq!(again, found.test);
        }
    }

    #[test]
    fn the_same_seed_makes_the_same_tests_and_another_others() {
        let tests = |seed| {
            let mut system = Safe::new(9, &[1]);
            let search = Search { seed, ..SEARCH };
            (0..3)
                .map(|number| regenerate(&mut system, &search, number).unwrap())
                .collect::<Vec<Test>>()
        };
        assert_eq!(tests(5), tests(5));
        assert_ne!(tests(5), tests(6));
        assert_ne!(tests(5)[0], tests(5)[1]);
    }

    #[test]
    fn a_search_ends_after_its_tests_or_when_it_is_told_to() {
        let search_for = Search {
            tests: Some(3),
            length: 10,
            ..SEARCH
        };
        let mut system = Safe::new(9, &[]);
        let summary = search(&mut system, &search_for, &mut Keep::failures(1)).unwrap();
        assert!(!summary.stopped);
        assert_eq!((summary.progress.tests, summary.progress.steps), (3, 30));

        let mut keep = Keep::failures(1);
        keep.steps = 15;
        let summary = search(&mut system, &search_for, &mut keep).unwrap();
        assert!(summary.stopped);
        assert_eq!((summary.progress.tests, summary.progress.steps), (1, 15));
    }

    /// Remembers every test, and ends the search after some of them.
    struct All(Vec<(u64, usize, bool)>, usize);

    impl<S: System + ?Sized> SearchWatcher<S> for All {
        fn made(&mut self, _system: &S, made: Made<'_>) -> ControlFlow<()> {
            self.0
                .push((made.number, made.steps.len(), made.failure.is_some()));
            if self.0.len() < self.1 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        }

        fn found(&mut self, _system: &mut S, _found: Found) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }

    #[test]
    fn the_watcher_is_told_of_every_test_and_may_end_the_search_there() {
        let search_for = Search {
            length: 2,
            ..SEARCH
        };
        let mut all = All(Vec::new(), 3);
        let summary = search(&mut Flaky::default(), &search_for, &mut all).unwrap();
        assert_eq!(all.0, [(0, 2, false), (1, 1, true), (2, 2, false)]);
        assert!(summary.stopped);
        assert_eq!(summary.progress.tests, 3);

        let mut all = All(Vec::new(), 2);
        search(&mut Flaky::default(), &search_for, &mut all).unwrap();
        assert!(
            all.0[1].2,
            "a failure ends the search too, if the watcher is told so"
        );
        assert_eq!(all.0.len(), 2);
    }

    /// Has enough of a test after some steps.
    struct Impatient(u64, Vec<usize>);

    impl<S: System + ?Sized> SearchWatcher<S> for Impatient {
        fn is_enough(&mut self, progress: &Progress) -> bool {
            progress.steps > 0 && progress.steps.is_multiple_of(self.0)
        }

        fn made(&mut self, _system: &S, made: Made<'_>) -> ControlFlow<()> {
            self.1.push(made.steps.len());
            ControlFlow::Continue(())
        }

        fn found(&mut self, _system: &mut S, _found: Found) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }

    #[test]
    fn a_test_ends_where_the_watcher_has_enough_of_it() {
        let search_for = Search {
            tests: Some(3),
            length: 10,
            ..SEARCH
        };
        let mut impatient = Impatient(14, Vec::new());
        let summary = search(&mut Safe::new(9, &[]), &search_for, &mut impatient).unwrap();
        assert_eq!(impatient.1, [10, 4, 0]);
        assert!(!summary.stopped);
    }

    #[test]
    fn a_failure_that_comes_from_outside_the_test_is_found_all_the_same() {
        let mut keep = Keep::failures(2);
        search(&mut Flaky::default(), &SEARCH, &mut keep).unwrap();
        let lengths: Vec<usize> = keep.found.iter().map(|found| found.test.len()).collect();
        assert_eq!(lengths, [3, 6]);
    }

    /// Two steps, then nothing is enabled any more.
    struct Short(Catalog, u64, u64);

    impl System for Short {
        fn actions(&self) -> &Catalog {
            &self.0
        }
        fn reset(&mut self) -> Result<(), Error> {
            self.1 = 0;
            Ok(())
        }
        fn is_enabled(&mut self, _action: ActionId) -> bool {
            self.1 < self.2
        }
        fn step(&mut self, _action: ActionId) -> Outcome {
            self.1 += 1;
            Outcome::Passed
        }
        fn check(&mut self) -> Outcome {
            Outcome::Passed
        }
    }

    #[test]
    fn a_deadlock_ends_the_test_and_no_more() {
        let search_for = Search {
            tests: Some(4),
            ..SEARCH
        };
        let catalog = crate::toys::catalog(&[], &["go()"]);
        let mut system = Short(catalog, 0, 2);
        let progress = search(&mut system, &search_for, &mut Keep::failures(1))
            .unwrap()
            .progress;
        assert_eq!((progress.tests, progress.deadlocks), (4, 4));
        assert_eq!((progress.steps, progress.failures), (8, 0));
        assert_eq!(
            regenerate(&mut system, &search_for, 0).unwrap().steps,
            [Step::Act(ActionId(0)); 2]
        );
    }

    #[test]
    fn a_system_that_can_do_nothing_is_given_up() {
        let catalog = crate::toys::catalog(&[], &["go()"]);
        let mut system = Short(catalog, 0, 0);
        let summary = search(&mut system, &SEARCH, &mut Keep::failures(1)).unwrap();
        assert_eq!((summary.progress.tests, summary.progress.deadlocks), (1, 1));
        assert!(!summary.stopped);
    }
}
