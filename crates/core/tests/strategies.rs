//! Properties of every strategy, tested on random seeds and toys.

use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;
use testwright_core::generate::swarm::directed::ObservedSwarm;
use testwright_core::generate::swarm::{Inclusion, Switching};
use testwright_core::generate::{
    Auto, ByClass, ClassTable, Corpus, CorpusOptions, Exploit, ExploitOptions, Extend,
    ExtendOptions, FailingTest, GeneratedTest, Markov, MarkovModel, NewCoverage, NothingNew,
    Profile, SearchOptions, SearchWatcher, SequenceOptions, Sequences, Strategy as Choosing, Swarm,
    SwarmOptions, Uniform, WithHint, regenerate_with, search_with,
};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::toys::{Buffer, Counters, Crossing, Safe, Stack};
use testwright_core::{
    ActionClasses, Coverage, Covered, Error, System, TargetId, Test, TraceEvent,
};

/// Defines a system without coverage, so that strategies for covered systems can be tested on it,
/// too.
macro_rules! plain {
    ($name:ident, $toy:ty) => {
        struct $name($toy);

        impl System for $name {
            fn actions(&self) -> &testwright_core::Catalog {
                self.0.actions()
            }
            fn reset(&mut self) -> Result<(), Error> {
                self.0.reset()
            }
            fn is_enabled(&mut self, action: testwright_core::ActionId) -> bool {
                self.0.is_enabled(action)
            }
            fn step(&mut self, action: testwright_core::ActionId) -> testwright_core::Outcome {
                self.0.step(action)
            }
            fn check(&mut self) -> testwright_core::Outcome {
                self.0.check()
            }
        }

        impl Covered for $name {
            fn all_touched(&self) -> Coverage {
                Coverage::default()
            }
            fn take_new(&mut self) -> Vec<TargetId> {
                Vec::new()
            }
            fn reset_touched(&mut self) -> Result<(), Error> {
                Ok(())
            }
            fn touched(&self) -> Coverage {
                Coverage::default()
            }
        }
    };
}

plain!(PlainCounters, Counters);
plain!(PlainCrossing, Crossing);

/// Returns all strategies, by name.
fn strategies<S: Covered>(system: &mut S) -> Vec<(&'static str, Box<dyn Choosing<S>>)> {
    let classes = Arc::new(ActionClasses::new(system.actions()));
    let swarm = |switching, high| {
        let options = SwarmOptions {
            switching,
            included_share: high,
            ..SwarmOptions::default()
        };
        Swarm::new(&classes, options)
    };
    let plan = SearchOptions {
        seed: 99,
        tests: None,
        length: 20,
        check: true,
    };
    let given: Vec<Test> = (0..3)
        .map(|number| regenerate_with(system, &mut Uniform, &plan, number).unwrap())
        .collect();
    let model = MarkovModel::learn(system.actions(), &classes, 2, &given);
    let named = || given.iter().map(|test| ("given".to_owned(), test));
    let lines: ClassTable = classes
        .iter()
        .map(|class| (class, class.0 as f64))
        .collect();
    let weighted = ClassTable::by_lines_of_code(&classes, &lines, 0.2);
    let table = SwarmOptions {
        inclusion: Inclusion::Table(weighted.clone(), 0.5),
        force_parent: false,
        ..SwarmOptions::default()
    };
    let changed = ExploitOptions {
        probability: 0.8,
        mutate: 0.7,
        crossover: 0.5,
        ..ExploitOptions::default()
    };
    let few = CorpusOptions {
        max_entries: 4,
        measure_every: 1,
        ..CorpusOptions::default()
    };
    let hint = WithHint(NewCoverage, |system: &mut S| {
        system.all_touched().len() as f64
    });
    vec![
        ("uniform", Box::new(Uniform)),
        ("swarm", Box::new(swarm(Switching::PerTest, None))),
        ("swarm every", Box::new(swarm(Switching::Every(7), None))),
        ("swarm times", Box::new(swarm(Switching::Times(3), None))),
        ("swarm high", Box::new(swarm(Switching::PerTest, Some(0.9)))),
        ("swarm table", Box::new(Swarm::new(&classes, table))),
        (
            "observed swarm",
            Box::new(ObservedSwarm::new(
                swarm(Switching::PerTest, None),
                NewCoverage,
            )),
        ),
        ("by class", Box::new(ByClass::new(&classes, &weighted))),
        ("equal", Box::new(ByClass::equal(&classes))),
        ("profile", Box::new(Profile::new(&classes))),
        ("markov", Box::new(Markov::new(&classes, model, 0.8))),
        (
            "sequences",
            Box::new(Sequences::new(
                named(),
                SequenceOptions {
                    size: 3,
                    probability: 0.7,
                },
            )),
        ),
        ("exploit", Box::new(Exploit::with_novelty(NewCoverage))),
        (
            "changed exploit",
            Box::new(Exploit::new(Corpus::new(hint, few), changed)),
        ),
        (
            "extend",
            Box::new(Extend::new(NewCoverage, ExtendOptions::default())),
        ),
        ("auto", Box::new(Auto::new(&classes, NewCoverage))),
        ("blind auto", Box::new(Auto::new(&classes, NothingNew))),
    ]
}

#[derive(Default)]
struct All(Vec<(Test, bool)>);

impl<S: ?Sized> SearchWatcher<S> for All {
    fn test_generated(&mut self, _system: &S, made: GeneratedTest<'_>) -> ControlFlow<()> {
        let test = Test {
            steps: made.steps.to_vec(),
            remarks: made.remarks.to_vec(),
        };
        self.0.push((test, made.failure.is_some()));
        ControlFlow::Continue(())
    }

    fn failure_found(&mut self, _system: &mut S, _found: FailingTest) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Checks that equal seeds generate equal tests, that every step is enabled in its turn, that tests
/// fail in a replay if they failed when generated, and that strategies that do not learn can
/// regenerate any test by its number.
fn check<S: Covered>(new: impl Fn() -> S, seed: u64, length: usize) {
    let plan = SearchOptions {
        seed,
        tests: Some(12),
        length,
        check: true,
    };
    let count = strategies(&mut new()).len();
    for place in 0..count {
        // A new system for each run, so that no coverage is left from another.
        let run = || {
            let mut system = new();
            let (name, mut strategy) = strategies(&mut new()).swap_remove(place);
            let mut all = All::default();
            search_with(&mut system, &mut strategy, &plan, &mut all).unwrap();
            (name, strategy.depends_on_results(), all.0)
        };
        let (name, learns, tests) = run();
        let (_, _, again) = run();
        assert_eq!(tests.len(), 12, "{name}");
        let remarks = |tests: &[(Test, bool)]| -> Vec<Vec<(usize, String)>> {
            tests.iter().map(|(test, _)| test.remarks.clone()).collect()
        };
        assert_eq!(tests, again, "{name}");
        assert_eq!(remarks(&tests), remarks(&again), "{name}");
        for (number, (test, failed)) in tests.iter().enumerate() {
            let options = ReplayOptions::default();
            let trace = replay(&mut new(), test, &options, &mut ()).unwrap();
            let skipped = |event: &TraceEvent| matches!(event, TraceEvent::Skipped(_));
            assert!(!trace.events.iter().any(skipped), "{name}");
            assert_eq!(trace.failure().is_some(), *failed, "{name}");
            assert!(
                test.remarks.iter().all(|(step, _)| *step < test.len()),
                "{name}"
            );
            if !learns {
                let (_, mut strategy) = strategies(&mut new()).swap_remove(place);
                let alone = regenerate_with(&mut new(), &mut strategy, &plan, number as u64);
                assert_eq!(&alone.unwrap(), test, "{name}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn the_same_seed_makes_the_same_tests(seed in any::<u64>(), length in 1usize..60) {
        check(|| Safe::new(9, &[3, 1, 4, 1, 5]), seed, length);
        check(|| Buffer::new(7), seed, length);
        check(Stack::default, seed, length);
        check(|| PlainCounters(Counters::new(30)), seed, length);
        check(|| PlainCrossing(Crossing::default()), seed, length);
    }
}

/// The uniform strategy makes exactly the draws that a plain loop makes.
#[test]
fn a_uniform_seed_keeps_its_meaning() {
    let plan = SearchOptions {
        seed: 7,
        tests: None,
        length: 12,
        check: true,
    };
    let mut counters = Counters::new(u64::MAX);
    let test = regenerate_with(&mut counters, &mut Uniform, &plan, 3).unwrap();
    let mut random = testwright_core::Random::for_part(7, 3);
    counters.reset().unwrap();
    let walked = (0..12).map(|_| {
        let action = counters.pick(&mut random).unwrap();
        counters.step(action);
        action
    });
    assert_eq!(Test::from_actions(walked), test);
}
