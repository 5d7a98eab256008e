//! The executable form of a failed run: the same steps, and a check that fails as long as the run
//! fails.
//!
//! Each line calls a method of `Run` in `steps/models.py`, which moves the models and the
//! implementation together.

use testwright_source::tree::{self, ExpressionKind};

use super::{FailedRun, RunFailure, RunStep};
use crate::counterexample::harness::{keep_error, reraise};
use crate::explain::{Actor, Player, locate};
use crate::gherkin::{Scenario, StepKeyword};
use crate::phrase::Phraser;
use crate::steps::{ExecutableLine, ExecutableScenario};

impl FailedRun<'_> {
    /// Returns the code of the scenario, or nothing if an argument of a step cannot be written
    /// down.
    pub(super) fn executable_scenario(
        &self,
        actor: &Actor,
        scenario: &Scenario,
        phraser: &Phraser<'_>,
    ) -> Option<ExecutableScenario> {
        let mut lines = Vec::new();
        for (index, run_step) in self.steps.iter().enumerate() {
            let is_last = index + 1 == self.steps.len();
            lines.extend(self.step_lines(run_step, is_last, actor, phraser)?);
        }
        if self.needs_final_check() {
            let last = scenario.steps.last()?;
            lines.push(ExecutableLine::fixed(
                StepKeyword::Then,
                &last.text,
                &self.check(),
            ));
        }
        let texts = scenario.steps.iter().map(|step| step.text.clone());
        lines
            .iter()
            .map(ExecutableLine::text)
            .eq(texts)
            .then(|| ExecutableScenario {
                scenario: scenario.name.clone(),
                before: vec![actor.start(&[])],
                lines,
                last: Vec::new(),
            })
    }

    /// Returns the lines of a step: the call and its answer.
    fn step_lines(
        &self,
        run_step: &RunStep,
        is_last: bool,
        actor: &Actor,
        phraser: &Phraser<'_>,
    ) -> Option<Vec<ExecutableLine>> {
        let step = suite_step(&run_step.text)?;
        let player = Player {
            phraser,
            text: &run_step.text,
            actor,
            place: String::new(),
        };
        let mut values = step.arguments.iter().chain(&step.result);
        if !values.all(|one| player.is_constant(one)) {
            return None;
        }
        let line = |keyword, sentence: &dyn Fn(&str) -> String, code: &[String]| {
            player.call_with(keyword, sentence, &step, code)
        };
        if run_step.is_observed {
            let code = player.code("observe", &step);
            let sentence = |words: &str| format!("{words} happens");
            return Some(vec![line(StepKeyword::Then, &sentence, &[code])]);
        }
        let tries = |words: &str| format!("I try to call {words}");
        match &self.failure {
            RunFailure::NoEnd if is_last => {
                let code = player.code("try_step", &step);
                Some(vec![line(StepKeyword::When, &tries, &[code])])
            }
            RunFailure::Error(_) if is_last => {
                // The model's code may raise while it computes the next possible steps.
                let code = [player.code("step", &step), "run.look_ahead()".to_owned()];
                let mut line = line(StepKeyword::When, &tries, &code);
                line.code = keep_error(&line.code);
                Some(vec![line])
            }
            RunFailure::Mismatch(_) if is_last && step.result.is_none() => {
                let code = player.code("take", &step);
                let sentence = |words: &str| format!("I call {words}");
                Some(vec![line(StepKeyword::When, &sentence, &[code])])
            }
            _ => {
                let mut lines = vec![player.call("I call", &step)];
                lines.extend(player.answer(&step));
                Some(lines)
            }
        }
    }

    /// Returns the code of the last line.
    fn check(&self) -> Vec<String> {
        let method = match &self.failure {
            RunFailure::Error(_) => return reraise(),
            RunFailure::Mismatch(_) => "check_agrees",
            RunFailure::Refused(_) => "check_allowed",
            RunFailure::Invariant(_) => "check_always",
            RunFailure::DeadEnd => "check_goes_on",
            RunFailure::NotAccepting => "check_may_end",
            RunFailure::NoEnd => "check_ended",
        };
        vec![format!("run.{method}()")]
    }
}

/// Parses `Name('argument', 3) / 'result'` as a step of a suite.
fn suite_step(text: &str) -> Option<locate::FsmStep> {
    let whole = tree::expression(text).ok()?;
    let (call, result) = match &whole.kind {
        ExpressionKind::Binary { left, right, .. } => (&**left, Some((**right).clone())),
        _ => (&whole, None),
    };
    let ExpressionKind::Call {
        function,
        arguments,
        ..
    } = &call.kind
    else {
        return None;
    };
    let name = function.as_name()?.to_owned();
    Some(locate::FsmStep {
        action: name.clone(),
        dotted: name,
        arguments: arguments.clone(),
        result,
        whole: whole.clone(),
    })
}
