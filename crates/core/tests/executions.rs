//! The number of runs that our algorithms need, compared with TSTL's, on the toys.

use crate::ancestor;
use crate::machine;

use ancestor::{Ancestor, actions};
use expect_test::expect;
use machine::failures;
use testwright_core::generate::FailingTest;
use testwright_core::shrink::{
    Effort, GeneralizeOptions, NormalizeOptions, ReduceOptions, SameFailure, Shrinker, Speed,
};
use testwright_core::toys::{Counters, Jugs, Safe, Stack, Watched};
use testwright_core::{System, Test};

/// The results of reducing, normalizing and generalizing one failing test.
struct Shrinking {
    /// The number of runs of each of the three.
    runs: [u64; 3],
    reduced: Test,
    normal: Test,
}

/// Shrinks a test with our algorithms.
fn ours<S: System>(system: &mut S, found: &FailingTest, speed: Speed) -> Shrinking {
    let mut goal = SameFailure(found.failure.clone());
    let mut proceed = || true;
    let mut shrinker = Shrinker::new(system, &mut goal, &ReduceOptions::default(), &mut proceed);
    let mut before = 0;
    let mut spent = |effort: Effort| effort.runs - std::mem::replace(&mut before, effort.runs);
    let reduced = shrinker.reduce(&found.test).unwrap();
    let to_reduce = spent(shrinker.effort());
    let options = NormalizeOptions {
        speed,
        ..NormalizeOptions::default()
    };
    let normal = shrinker.normalize(&reduced.test, &options).unwrap();
    let to_normalize = spent(shrinker.effort());
    let options = GeneralizeOptions {
        speed,
        ..GeneralizeOptions::default()
    };
    shrinker.generalize(&normal.test, &options).unwrap();
    let to_generalize = spent(shrinker.effort());
    Shrinking {
        runs: [to_reduce, to_normalize, to_generalize],
        reduced: reduced.test,
        normal: normal.test,
    }
}

/// Shrinks a test with TSTL's algorithms. Each part starts from our result of the previous one, so
/// that the work is comparable.
fn theirs<S: System>(system: &mut S, found: &FailingTest, ours: &Shrinking) -> Shrinking {
    let mut ancestor = Ancestor {
        system,
        failure: &found.failure,
        runs: 0,
    };
    let spent = |ancestor: &mut Ancestor<'_, S>| std::mem::take(&mut ancestor.runs);
    let reduced = ancestor.reduce(&actions(&found.test));
    let to_reduce = spent(&mut ancestor);
    let normal = ancestor.normalize(&actions(&ours.reduced));
    let to_normalize = spent(&mut ancestor);
    ancestor.generalize(&actions(&ours.normal));
    let to_generalize = spent(&mut ancestor);
    Shrinking {
        runs: [to_reduce, to_normalize, to_generalize],
        reduced: Test::from_actions(reduced),
        normal: Test::from_actions(normal),
    }
}

/// Returns the median of a number.
fn median(all: &[Shrinking], number: impl Fn(&Shrinking) -> u64) -> u64 {
    let mut numbers: Vec<u64> = all.iter().map(number).collect();
    numbers.sort_unstable();
    numbers[numbers.len() / 2]
}

/// Counts the different normal tests: the fewer, the better.
fn forms(all: &[Shrinking]) -> usize {
    let mut tests: Vec<&Test> = Vec::new();
    for shrinking in all {
        if !tests.contains(&&shrinking.normal) {
            tests.push(&shrinking.normal);
        }
    }
    tests.len()
}

/// Reports medians over seeds, and asserts that ours are lower.
fn compare<S: System>(name: &str, mut system: S, speed: Speed, report: &mut String) {
    let mut ours_of_all = Vec::new();
    let mut theirs_of_all = Vec::new();
    for seed in 0..30 {
        if let Some(found) = failures(&mut system, seed, 300).first() {
            let ours = ours(&mut system, found, speed);
            theirs_of_all.push(theirs(&mut system, found, &ours));
            ours_of_all.push(ours);
        }
    }
    let both = |number: &dyn Fn(&Shrinking) -> u64| {
        [&ours_of_all, &theirs_of_all].map(|all| median(all, number))
    };
    let reduced = both(&|shrinking| shrinking.reduced.len() as u64);
    let normal = both(&|shrinking| shrinking.normal.len() as u64);
    let forms = [&ours_of_all, &theirs_of_all].map(|all| forms(all));
    *report += &format!("{name}, {speed:?}, {} tests:", ours_of_all.len());
    for (part, what) in ["reduce", "normalize", "generalize"].iter().enumerate() {
        let [ours, theirs] = both(&|shrinking| shrinking.runs[part]);
        *report += &format!(" {what} {ours} instead of {theirs};");
        // We reduce further, which may take more runs.
        let further = part == 0 && reduced[0] < reduced[1];
        assert!(ours < theirs || further, "{report}");
    }
    let [ours, theirs] = both(&|shrinking| shrinking.runs.iter().sum());
    assert!(ours < theirs);
    *report += &format!(
        " all {ours} instead of {theirs}; steps {} and {}, then {} and {}; normal forms {} and {}\n",
        reduced[0], reduced[1], normal[0], normal[1], forms[0], forms[1]
    );
}

#[test]
fn fewer_runs_than_the_ancestor_in_the_median() {
    let mut report = String::new();
    for speed in [Speed::Fast, Speed::Thorough] {
        compare("counters", Counters::new(14), speed, &mut report);
        compare("high counters", Counters::new(22), speed, &mut report);
        compare("stack", Stack::default(), speed, &mut report);
        compare("jugs", Jugs::default(), speed, &mut report);
        compare("safe", Safe::new(99, &[50]), speed, &mut report);
    }
    expect![[r#"
        counters, Fast, 30 tests: reduce 33 instead of 28; normalize 29 instead of 287; generalize 57 instead of 148; all 120 instead of 466; steps 6 and 8, then 5 and 5; normal forms 1 and 1
        high counters, Fast, 30 tests: reduce 53 instead of 48; normalize 41 instead of 377; generalize 100 instead of 219; all 186 instead of 652; steps 8 and 10, then 7 and 7; normal forms 1 and 1
        stack, Fast, 10 tests: reduce 18 instead of 137; normalize 46 instead of 129; generalize 32 instead of 60; all 94 instead of 317; steps 8 and 8, then 8 and 8; normal forms 1 and 1
        jugs, Fast, 12 tests: reduce 17 instead of 57; normalize 30 instead of 36; generalize 18 instead of 45; all 65 instead of 138; steps 6 and 6, then 6 and 6; normal forms 1 and 1
        safe, Fast, 30 tests: reduce 4 instead of 48; normalize 9 instead of 199; generalize 92 instead of 99; all 105 instead of 346; steps 1 and 1, then 1 and 1; normal forms 1 and 1
        counters, Thorough, 30 tests: reduce 33 instead of 28; normalize 117 instead of 287; generalize 22 instead of 148; all 167 instead of 466; steps 6 and 8, then 5 and 5; normal forms 1 and 1
        high counters, Thorough, 30 tests: reduce 53 instead of 48; normalize 164 instead of 377; generalize 39 instead of 219; all 252 instead of 652; steps 8 and 10, then 7 and 7; normal forms 1 and 1
        stack, Thorough, 10 tests: reduce 18 instead of 137; normalize 60 instead of 129; generalize 24 instead of 60; all 100 instead of 317; steps 8 and 8, then 8 and 8; normal forms 1 and 1
        jugs, Thorough, 12 tests: reduce 17 instead of 57; normalize 30 instead of 36; generalize 18 instead of 45; all 65 instead of 138; steps 6 and 6, then 6 and 6; normal forms 1 and 1
        safe, Thorough, 30 tests: reduce 4 instead of 48; normalize 11 instead of 199; generalize 90 instead of 99; all 105 instead of 346; steps 1 and 1, then 1 and 1; normal forms 1 and 1
    "#]].assert_eq(&report);
}

/// Snapshots are verified and their results confirmed, so they save nothing while a test is long
/// and about to change. They pay off where many candidates begin alike.
#[test]
fn copies_save_steps() {
    let mut counters = Watched::new(Counters::new(30));
    let mut steps = [[0; 3]; 2];
    for seed in 0..5 {
        for found in failures(&mut counters, seed, 300) {
            for (snapshots, steps) in [0, 8].into_iter().zip(&mut steps) {
                let mut goal = SameFailure(found.failure.clone());
                let mut proceed = || true;
                let options = ReduceOptions::default();
                let mut shrinker = Shrinker::new(&mut counters, &mut goal, &options, &mut proceed)
                    .with_snapshots(snapshots);
                let mut before = 0;
                let mut spent =
                    |effort: Effort| effort.steps - std::mem::replace(&mut before, effort.steps);
                let reduced = shrinker.reduce(&found.test).unwrap();
                steps[0] += spent(shrinker.effort());
                let options = NormalizeOptions::default();
                let normal = shrinker.normalize(&reduced.test, &options).unwrap();
                steps[1] += spent(shrinker.effort());
                let options = GeneralizeOptions::default();
                shrinker.generalize(&normal.test, &options).unwrap();
                steps[2] += spent(shrinker.effort());
                assert_eq!(shrinker.effort().from_snapshot > 0, snapshots > 0);
            }
        }
    }
    let mut report = String::new();
    let [without, with] = steps;
    for (what, (with, without)) in ["reduce", "normalize", "generalize"]
        .iter()
        .zip(with.iter().zip(without))
    {
        report += &format!("{what}: {with} steps instead of {without}\n");
    }
    expect![[r#"
        reduce: 28595 steps instead of 28462
        normalize: 5690 steps instead of 8505
        generalize: 14397 steps instead of 22182
    "#]]
    .assert_eq(&report);
}
