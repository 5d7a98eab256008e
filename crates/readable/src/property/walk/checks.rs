//! What is checked, and what a check needs to be done first (F8).

use testwright_source::tree::{Expression, ExpressionKind, Statement};

use super::Walk;
use super::acts::Purpose;
use crate::gherkin::Keyword;
use crate::phrase::Polarity;
use crate::property::code::{self, quoted};
use crate::property::script::{Code, Given, Saying};
use crate::property::{hoist, loops};
use crate::term::Term;
use crate::value::Value;

/// At most so many calls of a check are made steps of their own (F8).
const MOST_HOISTED: usize = 6;

impl Walk<'_> {
    /// One check for each conjunct; those that are always true are told only if there is nothing else to tell (C41).
    pub(super) fn checks(&mut self, condition: &Expression, start: usize) {
        let mut all = conjuncts(condition);
        let is_always_so =
            |one: &Expression| self.here.term(one) == Term::Value(Value::Boolean(true));
        if all.iter().all(|one| is_always_so(one)) {
            all.truncate(1)
        } else {
            all.retain(|one| !is_always_so(one))
        }
        for conjunct in all {
            if !self.has_checked {
                self.has_checked = true;
                self.hoist(conjunct, true, start);
            }
            let saying = Saying::Clause {
                term: self.here.term(conjunct),
                polarity: Polarity::Positive,
            };
            let code = self.check(conjunct, true);
            self.line(Keyword::Then, saying, code, start);
        }
    }

    /// A check that a method of the test class makes.
    pub(super) fn check_by_call(&mut self, check: &Expression, call: &Expression, start: usize) {
        if !self.has_checked {
            self.has_checked = true;
            self.hoist(check, true, start);
        }
        let saying = Saying::Clause {
            term: self.here.term(check),
            polarity: Polarity::Positive,
        };
        let code = Code {
            body: vec![self.here.code(call)],
            seen: self.here.kept_names(check),
            ..Code::default()
        };
        self.line(Keyword::Then, saying, code, start);
    }

    pub(super) fn check(&self, condition: &Expression, holds: bool) -> Code {
        let code = self.here.code(condition);
        Code {
            check: Some(if holds {
                code
            } else {
                format!("not {}", code::grouped(&code))
            }),
            seen: self.here.kept_names(condition),
            ..Code::default()
        }
    }

    /// Makes steps of the calls that the first check needs in any case (F8).
    pub(super) fn hoist(&mut self, check: &Expression, is_asked: bool, start: usize) {
        if !self.hoists {
            return;
        }
        let here = self.here.clone();
        let calls = hoist::unconditional(check, is_asked, &|name| here.definition(name));
        let mut terms = Vec::new();
        let mut wanted = Vec::new();
        for call in calls {
            let term = here.term(call);
            if term.is_unknown_call() && !terms.contains(&term) {
                terms.push(term);
                wanted.push(call);
            }
        }
        if wanted.len() > MOST_HOISTED {
            return;
        }
        let is_only = wanted.len() == 1;
        for (index, expression) in wanted.into_iter().enumerate() {
            let Term::Call(call) = self.here.term(expression) else {
                continue;
            };
            let (result, giving) = if is_only {
                ("the result".to_owned(), None)
            } else {
                (
                    format!("result {}", index + 1),
                    Some(Given::Number(index + 1)),
                )
            };
            let place = format!("{}[{}]", self.here.store, quoted(&result));
            let body = format!("{place} = {}", self.here.code(expression));
            let earlier = self.keep_earlier(&call, Purpose::Question, start);
            self.here.hear((*call).clone(), &result);
            let code = Code {
                earlier,
                body: vec![body],
                ..Code::default()
            };
            self.has_acted = true;
            self.line(
                Keyword::When,
                Saying::Call {
                    call,
                    giving,
                    tries: false,
                },
                code,
                start,
            );
        }
    }

    pub(super) fn given(&mut self, condition: &Expression, holds: bool, start: usize) {
        let polarity = if holds {
            Polarity::Positive
        } else {
            Polarity::Negative
        };
        let saying = Saying::Clause {
            term: self.here.term(condition),
            polarity,
        };
        let code = self.check(condition, holds);
        self.line(Keyword::Given, saying, code, start);
    }

    /// `for v in X: assert c`.
    pub(super) fn check_each(
        &mut self,
        target: &Expression,
        iterable: &Expression,
        body: &[Statement],
        start: usize,
    ) {
        if !self.has_checked {
            self.has_checked = true;
            self.hoist(iterable, false, start);
        }
        for check in loops::checks(target, iterable, body).unwrap_or_default() {
            let saying = Saying::Clause {
                term: self.here.term(&check.as_quantifier()),
                polarity: Polarity::Positive,
            };
            let body = check.code(&mut self.here);
            let seen = self.here.kept_names(iterable);
            self.line(
                Keyword::Then,
                saying,
                Code {
                    body,
                    seen,
                    ..Code::default()
                },
                start,
            );
        }
    }
}

/// `a and b and c`, one by one.
pub(super) fn conjuncts(condition: &Expression) -> Vec<&Expression> {
    match &condition.kind {
        ExpressionKind::And(operands) => operands.iter().flat_map(conjuncts).collect(),
        _ => vec![condition],
    }
}
