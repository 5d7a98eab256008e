//! Checks of a property, and the calls that are hoisted before them (F8).

use testwright_source::tree::{Expression, ExpressionKind, Statement};

use super::ScriptBuilder;
use super::calls::CallPurpose;
use crate::gherkin::StepKeyword;
use crate::phrase::Polarity;
use crate::property::code::{self, python_string};
use crate::property::script::{ResultName, StepCode, StepSentence};
use crate::property::{hoist, loops};
use crate::term::Term;
use crate::value::PythonValue;

/// The largest number of calls that are hoisted from one check (F8).
const MAX_HOISTED: usize = 6;

impl ScriptBuilder<'_> {
    /// Adds one check per conjunct. Conjuncts that are always true (C41) are only added if there is
    /// nothing else.
    pub(super) fn add_checks(&mut self, condition: &Expression, start: usize) {
        let mut all = conjuncts(condition);
        let is_always_so =
            |one: &Expression| self.scope.term(one) == Term::Value(PythonValue::Boolean(true));
        if all.iter().all(|one| is_always_so(one)) {
            all.truncate(1)
        } else {
            all.retain(|one| !is_always_so(one))
        }
        for conjunct in all {
            if !self.has_checked {
                self.has_checked = true;
                self.hoist_calls(conjunct, true, start);
            }
            let sentence = StepSentence::Clause {
                term: self.scope.term(conjunct),
                polarity: Polarity::Positive,
            };
            let code = self.check_code(conjunct, true);
            self.push_line(StepKeyword::Then, sentence, code, start);
        }
    }

    /// Adds a check that a method of the test class makes.
    pub(super) fn add_check_call(&mut self, check: &Expression, call: &Expression, start: usize) {
        if !self.has_checked {
            self.has_checked = true;
            self.hoist_calls(check, true, start);
        }
        let sentence = StepSentence::Clause {
            term: self.scope.term(check),
            polarity: Polarity::Positive,
        };
        let code = StepCode {
            body: vec![self.scope.code(call)],
            seen: self.scope.kept_names(check),
            ..StepCode::default()
        };
        self.push_line(StepKeyword::Then, sentence, code, start);
    }

    /// Returns the code of a check.
    pub(super) fn check_code(&self, condition: &Expression, holds: bool) -> StepCode {
        let code = self.scope.code(condition);
        StepCode {
            check: Some(if holds {
                code
            } else {
                format!("not {}", code::parenthesise_code(&code))
            }),
            seen: self.scope.kept_names(condition),
            ..StepCode::default()
        }
    }

    /// Adds steps for the calls that the first check makes in any case (F8).
    pub(super) fn hoist_calls(&mut self, check: &Expression, is_asked: bool, start: usize) {
        if !self.hoists {
            return;
        }
        let scope = self.scope.clone();
        let calls = hoist::unconditional_calls(check, is_asked, &|name| scope.definition(name));
        let mut terms = Vec::new();
        let mut wanted = Vec::new();
        for call in calls {
            let term = scope.term(call);
            if term.is_unknown_call() && !terms.contains(&term) {
                terms.push(term);
                wanted.push(call);
            }
        }
        if wanted.len() > MAX_HOISTED {
            return;
        }
        let is_only = wanted.len() == 1;
        for (index, expression) in wanted.into_iter().enumerate() {
            let Term::Call(call) = self.scope.term(expression) else {
                continue;
            };
            let (result, giving) = if is_only {
                ("the result".to_owned(), None)
            } else {
                (
                    format!("result {}", index + 1),
                    Some(ResultName::Number(index + 1)),
                )
            };
            let entry = format!("{}[{}]", self.scope.store, python_string(&result));
            let body = format!("{entry} = {}", self.scope.code(expression));
            let earlier = self.keep_earlier(&call, CallPurpose::Question, start);
            self.scope.record_result((*call).clone(), &result);
            let code = StepCode {
                earlier,
                body: vec![body],
                ..StepCode::default()
            };
            self.has_acted = true;
            self.push_line(
                StepKeyword::When,
                StepSentence::Call {
                    call,
                    giving,
                    tries: false,
                },
                code,
                start,
            );
        }
    }

    /// Adds an assumption or a decided condition as a `Given` step.
    pub(super) fn add_condition(&mut self, condition: &Expression, holds: bool, start: usize) {
        let polarity = if holds {
            Polarity::Positive
        } else {
            Polarity::Negative
        };
        let sentence = StepSentence::Clause {
            term: self.scope.term(condition),
            polarity,
        };
        let code = self.check_code(condition, holds);
        self.push_line(StepKeyword::Given, sentence, code, start);
    }

    /// Adds the checks of `for v in X: assert c`.
    pub(super) fn add_loop_checks(
        &mut self,
        target: &Expression,
        iterable: &Expression,
        body: &[Statement],
        start: usize,
    ) {
        if !self.has_checked {
            self.has_checked = true;
            self.hoist_calls(iterable, false, start);
        }
        for check in loops::loop_checks(target, iterable, body).unwrap_or_default() {
            let sentence = StepSentence::Clause {
                term: self.scope.term(&check.as_quantifier()),
                polarity: Polarity::Positive,
            };
            let body = check.code(&mut self.scope);
            let seen = self.scope.kept_names(iterable);
            self.push_line(
                StepKeyword::Then,
                sentence,
                StepCode {
                    body,
                    seen,
                    ..StepCode::default()
                },
                start,
            );
        }
    }
}

/// Returns the operands of `a and b and c`.
pub(super) fn conjuncts(condition: &Expression) -> Vec<&Expression> {
    match &condition.kind {
        ExpressionKind::And(operands) => operands.iter().flat_map(conjuncts).collect(),
        _ => vec![condition],
    }
}
