//! Replay: running a test on a system. Everything that runs a given test, from the command line to
//! the reducer, does it here, so that all of them agree on what a test means.

use crate::{ActionId, Error, Outcome, Step, System, Test, Trace, TraceEvent};

/// Options of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Check the invariants after every step.
    pub check: bool,
}

impl Default for ReplayOptions {
    fn default() -> ReplayOptions {
        ReplayOptions { check: true }
    }
}

/// Observes a replay: to show it, to measure it, to stop it. `()` lets it run.
pub trait ReplayWatcher<S: ?Sized> {
    /// Called before each step. Returning `false` ends the run as interrupted.
    fn proceed(&mut self) -> bool {
        true
    }

    /// Called before an action is taken; not called for skipped ones.
    fn before_step(&mut self, _system: &mut S, _action: ActionId) {}

    /// Called after a step and its check, with the result.
    fn after_step(&mut self, _system: &mut S, _event: &TraceEvent) {}
}

impl<S: ?Sized> ReplayWatcher<S> for () {}

/// Runs a test from the initial state up to its end, its first failure or an interruption.
///
/// A step whose action is not enabled in its turn is skipped. That makes tests easy to edit: after
/// a step was removed, the steps that needed it are skipped.
pub fn replay<S: System + ?Sized>(
    system: &mut S,
    test: &Test,
    options: &ReplayOptions,
    watcher: &mut dyn ReplayWatcher<S>,
) -> Result<Trace, Error> {
    system.begin()?;
    continue_replay(system, &test.steps, Trace::default(), options, watcher)
}

/// Runs the steps that a trace has no events for yet, in the state that it led to.
pub(crate) fn continue_replay<S: System + ?Sized>(
    system: &mut S,
    steps: &[Step],
    mut trace: Trace,
    options: &ReplayOptions,
    watcher: &mut dyn ReplayWatcher<S>,
) -> Result<Trace, Error> {
    for step in &steps[trace.events.len()..] {
        if !watcher.proceed() {
            trace.interrupted = true;
            break;
        }
        let event = match *step {
            Step::Restart => {
                system.reset()?;
                TraceEvent::Restarted
            }
            Step::Act(action) if !system.is_enabled(action) => TraceEvent::Skipped(action),
            Step::Act(action) => {
                watcher.before_step(system, action);
                match take_action(system, action, options.check, &mut trace.interrupted) {
                    Some(event) => event,
                    None => break,
                }
            }
        };
        watcher.after_step(system, &event);
        let failed = matches!(event, TraceEvent::Failed(..));
        trace.events.push(event);
        if failed || trace.interrupted {
            break;
        }
    }
    Ok(trace)
}

/// Takes one action and checks the invariants; `None` if the action itself was interrupted.
fn take_action<S: System + ?Sized>(
    system: &mut S,
    action: ActionId,
    check: bool,
    interrupted: &mut bool,
) -> Option<TraceEvent> {
    let event = match system.step(action) {
        Outcome::Passed => TraceEvent::Passed(action),
        Outcome::Expected => TraceEvent::Expected(action, system.expected_exception()),
        Outcome::Failed(failure) => return Some(TraceEvent::Failed(action, failure)),
        Outcome::Interrupted => {
            *interrupted = true;
            return None;
        }
    };
    if check {
        match system.check() {
            Outcome::Failed(failure) => return Some(TraceEvent::Failed(action, failure)),
            Outcome::Interrupted => *interrupted = true,
            Outcome::Passed | Outcome::Expected => {}
        }
    }
    Some(event)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys::{Counters, Crossing, Jugs, Stack};

    #[test]
    fn a_run_ends_at_the_first_failure_and_leaves_out_what_is_not_enabled() {
        let test = Test::from_actions([
            Crossing::GO_AT_RED,
            Crossing::SWITCH,
            Crossing::GO_AT_RED,
            Crossing::GO_AT_RED,
            Crossing::WAIT,
        ]);
        let trace = replay(
            &mut Crossing::default(),
            &test,
            &ReplayOptions::default(),
            &mut (),
        )
        .unwrap();
        assert_eq!(
            trace.events[..3],
            [
                TraceEvent::Skipped(Crossing::GO_AT_RED),
                TraceEvent::Passed(Crossing::SWITCH),
                TraceEvent::Passed(Crossing::GO_AT_RED),
            ]
        );
        assert_eq!(trace.events.len(), 4);
        assert_eq!(trace.failure().unwrap().message, "Crash: there was a car");
        assert!(!trace.interrupted);
    }

    #[test]
    fn a_restart_resets() {
        let mut test = Test::from_actions([Crossing::SWITCH, Crossing::GO_AT_RED]);
        test.steps.push(Step::Restart);
        test.steps.push(Step::Act(Crossing::GO_AT_RED));
        let mut system = Crossing::default();
        let trace = replay(&mut system, &test, &ReplayOptions::default(), &mut ()).unwrap();
        assert_eq!(
            trace.events[2..],
            [
                TraceEvent::Restarted,
                TraceEvent::Skipped(Crossing::GO_AT_RED)
            ]
        );
    }

    #[test]
    fn expected_exceptions_are_reported_and_not_failures() {
        let test = Test::from_actions([ActionId(3)]);
        let mut stack = Stack::default();
        let trace = replay(&mut stack, &test, &ReplayOptions::default(), &mut ()).unwrap();
        let expected = TraceEvent::Expected(
            ActionId(3),
            "IndexError: pop from an empty stack".to_owned(),
        );
        assert_eq!(trace.events, [expected]);
        assert!(trace.failure().is_none());
    }

    #[test]
    fn properties_count_only_where_they_are_checked() {
        // int0 = 5; counter0 = Counter(); counter0.add(int0)
        let test = Test::from_actions([ActionId(4), ActionId(15), ActionId(17)]);
        for (check, fails) in [(true, true), (false, false)] {
            let options = ReplayOptions { check };
            let trace = replay(&mut Counters::new(4), &test, &options, &mut ()).unwrap();
            assert_eq!(trace.failure().is_some(), fails);
            assert_eq!(trace.events.len(), 3);
        }
    }

    #[test]
    fn a_watcher_sees_every_step_and_can_stop() {
        #[derive(Default)]
        struct Two {
            asked: usize,
            before: usize,
            after: usize,
        }
        impl ReplayWatcher<Jugs> for Two {
            fn proceed(&mut self) -> bool {
                self.asked += 1;
                self.asked <= 2
            }
            fn before_step(&mut self, system: &mut Jugs, action: ActionId) {
                self.before += 1;
                assert!(system.is_enabled(action));
            }
            fn after_step(&mut self, _system: &mut Jugs, event: &TraceEvent) {
                self.after += 1;
                assert!(matches!(
                    event,
                    TraceEvent::Passed(_) | TraceEvent::Skipped(_)
                ));
            }
        }
        let mut watcher = Two::default();
        // fill(small), fill(small) again (not enabled), fill(big)
        let test = Test::from_actions([ActionId(0), ActionId(0), ActionId(1)]);
        let options = ReplayOptions::default();
        let trace = replay(&mut Jugs::default(), &test, &options, &mut watcher).unwrap();
        assert!(trace.interrupted);
        assert_eq!(trace.events.len(), 2);
        assert_eq!((watcher.before, watcher.after), (1, 2));
    }
}
