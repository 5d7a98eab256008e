//! What the scenario of a failed run does when it runs: the same steps, and a check that is red as long as the run fails.
//!
//! Each line calls one method of `Run` in `steps/models.py`, which leads the models, and the implementation beside them.

use testwright_source::tree::{self, ExpressionKind};

use super::{FailedRun, RunFailure, Taken};
use crate::counterexample::harness::{raised_again, tried};
use crate::explain::{Actor, Player, locate};
use crate::gherkin::{Keyword, Scenario};
use crate::phrase::Speaker;
use crate::steps::{Play, PlayLine};

impl FailedRun<'_> {
    /// What the scenario does; nothing if a step of it is done with something that cannot be written down.
    pub(super) fn play(
        &self,
        actor: &Actor,
        scenario: &Scenario,
        speaker: &Speaker<'_>,
    ) -> Option<Play> {
        let mut lines = Vec::new();
        for (index, taken) in self.steps.iter().enumerate() {
            let is_last = index + 1 == self.steps.len();
            lines.extend(self.lines_of(taken, is_last, actor, speaker)?);
        }
        if self.last_word_is_missing() {
            let last = scenario.steps.last()?;
            lines.push(PlayLine::fixed(Keyword::Then, &last.text, &self.check()));
        }
        let said = scenario.steps.iter().map(|step| step.text.clone());
        lines.iter().map(PlayLine::text).eq(said).then(|| Play {
            scenario: scenario.name.clone(),
            before: vec![actor.start(&[])],
            lines,
            last: Vec::new(),
        })
    }

    /// The lines of a step: what is done, and what comes of it.
    fn lines_of(
        &self,
        taken: &Taken,
        is_last: bool,
        actor: &Actor,
        speaker: &Speaker<'_>,
    ) -> Option<Vec<PlayLine>> {
        let step = suite_step(&taken.text)?;
        let player = Player {
            speaker,
            text: &taken.text,
            actor,
            place: String::new(),
        };
        let mut values = step.arguments.iter().chain(&step.result);
        if !values.all(|one| player.is_constant(one)) {
            return None;
        }
        let line = |keyword, saying: &dyn Fn(&str) -> String, code: &[String]| {
            player.call_with(keyword, saying, &step, code)
        };
        if taken.is_observed {
            let code = player.code("observe", &step);
            let saying = |words: &str| format!("{words} happens");
            return Some(vec![line(Keyword::Then, &saying, &[code])]);
        }
        let tries = |words: &str| format!("I try to call {words}");
        match &self.failure {
            RunFailure::NoEnd if is_last => {
                let code = player.code("try_step", &step);
                Some(vec![line(Keyword::When, &tries, &[code])])
            }
            RunFailure::Error(_) if is_last => {
                // Models are asked what is possible next, and that is where their code may raise.
                let code = [player.code("step", &step), "run.look_ahead()".to_owned()];
                let mut line = line(Keyword::When, &tries, &code);
                line.code = tried(&line.code);
                Some(vec![line])
            }
            RunFailure::Mismatch(_) if is_last && step.result.is_none() => {
                let code = player.code("take", &step);
                let saying = |words: &str| format!("I call {words}");
                Some(vec![line(Keyword::When, &saying, &[code])])
            }
            _ => {
                let mut lines = vec![player.call("I call", &step)];
                lines.extend(player.answer(&step));
                Some(lines)
            }
        }
    }

    /// What the last line does.
    fn check(&self) -> Vec<String> {
        let method = match &self.failure {
            RunFailure::Error(_) => return raised_again(),
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

/// `Name('argument', 3) / 'result'` as a step of a suite.
fn suite_step(text: &str) -> Option<locate::Step> {
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
    Some(locate::Step {
        action: name.clone(),
        dotted: name,
        arguments: arguments.clone(),
        result,
        whole: whole.clone(),
    })
}
