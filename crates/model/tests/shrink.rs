//! Shrinking of failing runs, also for implementations that do not behave the same each time.

use std::collections::VecDeque;

use testwright_core::product::{
    Interner, JointStep, ModelError, NameId, Phase, Product, StepLabel, ValueId,
};
use testwright_core::toys::ToyMachine;
use testwright_model::{
    Implementation, MinimalRun, RecordedRun, ReplayOutcome, RunSuite, StepMismatch, prepare_run,
    shrink,
};

/// Builds a door with a lock for two keys, and a bell that the door rings by itself.
fn door() -> Product<'static> {
    let mut interner = ToyMachine::interner();
    let lines = [
        "closed open opened",
        "opened close closed",
        "closed lock(1) locked",
        "closed lock(2) locked",
        "locked unlock closed",
        "locked ring locked",
    ];
    let door = ToyMachine::program(&mut interner, "door", &lines);
    Product::new(interner, vec![Box::new(door)])
}

/// A real door. Its faults depend on how often it was used before.
struct Real {
    /// The lock jams at every so many uses of the second key.
    jams_each: usize,
    locked: usize,
    /// The bell rings after the door was opened so many times, which no model allows.
    rings_each: Option<usize>,
    opened: usize,
    rings: VecDeque<()>,
}

impl Real {
    fn jamming(each: usize) -> Real {
        Real {
            jams_each: each,
            locked: 0,
            rings_each: None,
            opened: 0,
            rings: VecDeque::new(),
        }
    }

    fn ringing(each: usize) -> Real {
        Real {
            rings_each: Some(each),
            ..Real::jamming(usize::MAX)
        }
    }
}

impl Implementation for Real {
    fn act(
        &mut self,
        interner: &Interner,
        label: StepLabel,
    ) -> Result<Option<StepMismatch>, ModelError> {
        let arguments = interner.value_text(label.arguments).plain();
        match interner.name_text(label.name) {
            "lock" if arguments == "(2)" => {
                self.locked += 1;
                let jams = self.locked.is_multiple_of(self.jams_each);
                Ok(jams.then(|| StepMismatch {
                    text: format!("it jams at lock {}", self.locked),
                    exception: None,
                    reason: None,
                    is_hang: false,
                }))
            }
            "open" => {
                self.opened += 1;
                if self
                    .rings_each
                    .is_some_and(|each| self.opened.is_multiple_of(each))
                {
                    self.rings.push_back(());
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    fn reset(&mut self) -> Result<(), ModelError> {
        Ok(())
    }

    fn next_observation(
        &mut self,
        interner: &mut Interner,
    ) -> Result<Option<(NameId, ValueId)>, ModelError> {
        let ring = self.rings.pop_front();
        Ok(ring.map(|()| (interner.intern_name("ring"), ValueId::EMPTY)))
    }

    fn wait(&mut self) -> Result<Option<bool>, ModelError> {
        Ok(self.rings_each.map(|_| !self.rings.is_empty()))
    }

    fn discard_observations(&mut self) -> Result<usize, ModelError> {
        Ok(self.rings.drain(..).count())
    }

    fn is_asynchronous(&self) -> bool {
        self.rings_each.is_some()
    }
}

/// Parses a run such as `open close lock(1)`.
fn recorded_run(product: &mut Product<'_>, text: &str) -> RecordedRun {
    let mut steps = Vec::new();
    let mut state = product.initial_state(0).unwrap().unwrap();
    for step in text.split(' ') {
        let moves = product.possible_steps(&state, Phase::Normal).unwrap();
        let is_it =
            |one: &&JointStep| shown(product, &(one.label.name, one.label.arguments)) == step;
        let one = moves.iter().find(is_it).unwrap();
        steps.push((one.label.name, one.label.arguments));
        state = one.to.clone();
    }
    RecordedRun {
        run: 0,
        steps,
        check_invariants: true,
    }
}

fn shown(product: &Product<'_>, (name, arguments): &(NameId, ValueId)) -> String {
    let interner = product.interner();
    let arguments = interner.value_text(*arguments).plain();
    format!("{}{arguments}", interner.name_text(*name)).replace("()", "")
}

/// Replays a run until it fails, and shrinks it.
fn shrink_failing(real: &mut Real, text: &str) -> (Option<MinimalRun>, String) {
    let mut product = door();
    let recorded_run = recorded_run(&mut product, text);
    let mut failure = None;
    for _ in 0..100 {
        prepare_run(real).unwrap();
        failure = recorded_run.replay(&mut product, real).unwrap().failure;
        if failure.is_some() {
            break;
        }
    }
    let failure = failure.unwrap();
    let short = shrink(&mut product, real, &recorded_run, &failure, &mut || true).unwrap();
    let steps = short.iter().flat_map(|short| &short.steps);
    let text: Vec<String> = steps.map(|step| shown(&product, step)).collect();
    (short, text.join(" "))
}

const LONG: &str = "open close lock(1) unlock open close lock(2) unlock open close lock(1)";

#[test]
fn reliable_failures_are_replayed_a_few_times() {
    let (short, text) = shrink_failing(&mut Real::jamming(1), LONG);
    let short = short.unwrap();
    assert_eq!(text, "lock(2)");
    assert_eq!(short.failure_rate, None);
    assert!(short.replays < 20, "{}", short.replays);
    assert!(short.failure.message.starts_with("it jams at lock "));
    assert_eq!(short.replayed.steps.len(), 1);
}

#[test]
fn flaky_failures_are_shrunk_just_as_short() {
    for each in 2..5 {
        let (short, text) = shrink_failing(&mut Real::jamming(each), LONG);
        let (failed, tries) = short.unwrap().failure_rate.unwrap();
        assert_eq!(text, "lock(2)", "each {each}");
        assert_eq!(tries, 10);
        assert!((10 / each..=10 / each + 1).contains(&failed), "{failed}");
    }
}

#[test]
fn a_failure_that_does_not_repeat_gives_none() {
    let (short, _) = shrink_failing(&mut Real::jamming(50), LONG);
    assert_eq!(short, None);
}

#[test]
fn failures_of_observed_actions_are_shrunk() {
    for each in [1, 3] {
        let (short, text) = shrink_failing(&mut Real::ringing(each), LONG);
        let short = short.unwrap();
        assert_eq!(text, "open", "each {each}");
        assert_eq!(short.failure.message, "ring(), action not enabled");
        assert_eq!(short.failure_rate.is_some(), each > 1);
    }
}

#[test]
fn a_step_that_is_not_possible_is_left_out_and_told() {
    let mut product = door();
    let whole = recorded_run(&mut product, "open close lock(1) unlock");
    let recorded_run = RecordedRun {
        steps: vec![whole.steps[0], whole.steps[2], whole.steps[1]],
        ..whole.clone()
    };
    let replayed = recorded_run
        .replay(&mut product, &mut Real::jamming(1))
        .unwrap();
    assert_eq!(replayed.skipped_step, Some(whole.steps[2]));
    assert_eq!(replayed.steps.len(), 2);
    assert_eq!(replayed.failure, None);
}

#[test]
fn a_run_that_is_not_there_has_no_steps() {
    let mut interner = ToyMachine::interner();
    let name = interner.intern_name("go");
    let go = StepLabel {
        name,
        arguments: ValueId::EMPTY,
        result: ValueId::NONE,
    };
    let suite = RunSuite::new("suite", vec![vec![go]]);
    let mut product = Product::new(interner, vec![Box::new(suite)]);
    let mut recorded_run = RecordedRun {
        run: 0,
        steps: vec![(name, ValueId::EMPTY)],
        check_invariants: true,
    };
    let played = recorded_run
        .replay(&mut product, &mut Real::jamming(1))
        .unwrap();
    assert_eq!(played.steps, [(go, false)]);
    recorded_run.run = 1;
    let played = recorded_run
        .replay(&mut product, &mut Real::jamming(1))
        .unwrap();
    assert_eq!(played, ReplayOutcome::default());
}
