//! Phrases events as sentences: one each. Small loops take one sentence, others are blocks.

use std::collections::BTreeSet;

use testwright_source::Range;

use super::Teller;
use crate::block::{DocumentItem, ItemKind};
use crate::explain::effect;
use crate::explain::flow::{Event, EventKind, Round};
use crate::phrase::{Fallback, Marking, Phraser, join};
use crate::quotation;
use crate::term::Term;
use crate::words::capitalise;

impl Teller<'_, '_> {
    /// Returns the blocks of consecutive events. `changed` are the variables that the outcome
    /// changes, `before` those that earlier sentences have changed.
    pub(super) fn events(
        &self,
        events: &[Event],
        changed: &BTreeSet<String>,
        before: &BTreeSet<String>,
    ) -> Vec<DocumentItem> {
        self.told(
            events,
            Marking::Outcome(changed),
            Marking::Condition(before),
        )
    }

    fn told(
        &self,
        events: &[Event],
        marking: Marking<'_>,
        conditions: Marking<'_>,
    ) -> Vec<DocumentItem> {
        let mut items = Vec::new();
        let mut changed = match conditions {
            Marking::Condition(before) => before.clone(),
            _ => BTreeSet::new(),
        };
        let mut at = 0;
        while let Some(event) = events.get(at) {
            let conditions = match conditions {
                Marking::Condition(_) => Marking::Condition(&changed),
                other => other,
            };
            let covered = match self.idiom(&events[at..], marking) {
                Some((covered, clause)) => {
                    items.push(self.item(&clause, &event.range));
                    covered
                }
                None => {
                    items.extend(self.event(event, marking, conditions));
                    1
                }
            };
            let next = at + covered.max(1);
            // A path after a failure does not reach the conditions that are described next.
            if !matches!(event.kind, EventKind::IfFails { .. }) {
                changed.extend(super::changed_by(&events[at..next.min(events.len())]));
            }
            at = next;
        }
        items
    }

    /// Returns the sentence of an idiom for the first events, and how many events it replaces (I3).
    fn idiom(&self, events: &[Event], marking: Marking<'_>) -> Option<(usize, String)> {
        let mut changes = Vec::new();
        let longest = self.phraser.vocabulary().longest_effect();
        for event in events.iter().take(longest) {
            match &event.kind {
                EventKind::Change { change, giving, .. } if giving.is_empty() => {
                    changes.push(self.said_change(change));
                }
                _ => break,
            }
        }
        if changes.is_empty() {
            return None;
        }
        let phraser = self.phraser.with_marking(marking);
        let found = phraser.effect(&changes);
        if found.is_some() {
            self.recorder.record_specific();
        }
        found
    }

    fn event(
        &self,
        event: &Event,
        marking: Marking<'_>,
        conditions: Marking<'_>,
    ) -> Vec<DocumentItem> {
        let range = &event.range;
        let phraser = self.phraser.with_marking(marking);
        match &event.kind {
            EventKind::Change { .. } | EventKind::Swap(..) => {
                let clause = self.clause(event, &phraser).unwrap_or_default();
                vec![self.item(&clause, range)]
            }
            EventKind::Check(checked) => {
                let told = checked.iter().map(|one| {
                    let clause = format!("it is checked that {}", phraser.clause(&self.said(one)));
                    self.item(&clause, range).with_level(1)
                });
                told.collect()
            }
            EventKind::Assume(assumed) => {
                let phraser = self.phraser.with_marking(conditions).after_if();
                let told = assumed.iter().map(|one| {
                    let clause = format!("it goes on only if {}", phraser.clause(&self.said(one)));
                    self.item(&clause, range)
                });
                told.collect()
            }
            EventKind::Fail(error) => vec![self.item(&self.fails(error.as_deref()), range)],
            EventKind::Choice {
                condition,
                then,
                otherwise,
            } => self.choice(condition, then, otherwise, range, (marking, conditions)),
            EventKind::Each { body, .. } | EventKind::AsLongAs { body, .. } => {
                match self.cycle_clause(event) {
                    Some(clause) => vec![self.item(&clause, range)],
                    None => {
                        let items = self.told(body, Marking::None, Marking::None);
                        let heading = capitalise(&self.cycle_heading(event));
                        vec![self.block(heading, items, range)]
                    }
                }
            }
            EventKind::MustFail(errors) => {
                let clause = format!("it is checked that {}", self.this_fails(errors));
                vec![self.item(&clause, range).with_level(1)]
            }
            EventKind::IfFails {
                errors,
                body,
                goes_on,
            } => {
                let heading = format!("If {}", self.this_fails(errors));
                let mut items = self.told(body, marking, conditions);
                if items.is_empty() {
                    let nothing = if *goes_on {
                        "nothing is done about it"
                    } else {
                        "nothing else changes"
                    };
                    items.push(self.item(nothing, range));
                }
                vec![self.block(heading, items, range)]
            }
            EventKind::IfDone(body) => {
                let items = self.told(body, marking, conditions);
                vec![self.block("Otherwise".to_owned(), items, range)]
            }
            EventKind::IfCompleted { unless, body } => {
                let heading = match unless {
                    Some(condition) => {
                        let phraser = self.phraser.with_marking(Marking::None);
                        let ended = phraser.after_if().negative(&self.said(condition));
                        format!("If this ended because {ended}")
                    }
                    None => "If all of them were looked at".to_owned(),
                };
                let items = self.told(body, marking, conditions);
                vec![self.block(heading, items, range)]
            }
            EventKind::Returns(value) => self.result(value, range, marking).into_iter().collect(),
            EventKind::Ends(Round::Each) => vec![self.item("no further one is looked at", range)],
            EventKind::Stops(None) => vec![self.item("nothing else changes", range)],
            EventKind::Stops(Some(Round::Each)) => {
                vec![self.item("the next one is looked at", range)]
            }
            EventKind::Stops(Some(Round::While)) => vec![self.item("this begins again", range)],
            EventKind::Ends(Round::While) => vec![self.item("this is not done again", range)],
            EventKind::Touch { targets, is_ahead } => {
                let names = targets.iter().map(|target| phraser.target(target).text);
                let names = join::nouns(&names.collect::<Vec<_>>(), "and");
                let subject = if *is_ahead {
                    "what is done next"
                } else {
                    "this"
                };
                vec![self.item(&format!("{subject} may also change {names}"), range)]
            }
            EventKind::Python(code) => {
                let code = quotation::on_one_line(&self.shown(code));
                let quoted = quotation::quote_code(&code);
                self.recorder
                    .record_fallback(Fallback::Statement, &Term::Source(code));
                let clause = format!("the Python statement {quoted} is carried out");
                vec![self.item(&clause, range)]
            }
        }
    }

    fn this_fails(&self, errors: &[String]) -> String {
        let quoted = errors.iter();
        let quoted = quoted.map(|error| format!("\"{}\"", self.phraser.words(error)));
        let quoted: Vec<String> = quoted.collect();
        if quoted.is_empty() {
            "this fails".to_owned()
        } else {
            format!("this fails with the error {}", join::nouns(&quoted, "or"))
        }
    }

    pub(super) fn fails(&self, error: Option<&str>) -> String {
        match error {
            Some(error) => format!("it fails with the error \"{}\"", self.phraser.words(error)),
            None => "it fails with the same error".to_owned(),
        }
    }

    fn block(&self, heading: String, items: Vec<DocumentItem>, range: &Range) -> DocumentItem {
        let kind = ItemKind::Block { heading, items };
        DocumentItem::new(kind, self.lines(range)).with_level(0)
    }

    /// Phrases a change as a clause, without capital and full stop.
    fn clause(&self, event: &Event, phraser: &Phraser<'_>) -> Option<String> {
        match &event.kind {
            EventKind::Change {
                change,
                is_new,
                giving,
            } => {
                let change = self.said_change(change);
                self.note(&change);
                let giving: Vec<_> = giving.iter().map(super::named).collect();
                Some(effect::clause(phraser, &change, *is_new, &giving))
            }
            EventKind::Swap(one, other) => {
                self.recorder.record_specific();
                let (one, other) = (self.said(one), self.said(other));
                Some(effect::swapped(phraser, &one, &other))
            }
            _ => None,
        }
    }

    fn choice(
        &self,
        condition: &Term,
        then: &[Event],
        otherwise: &[Event],
        range: &Range,
        (marking, conditions): (Marking<'_>, Marking<'_>),
    ) -> Vec<DocumentItem> {
        let phraser = self.phraser.with_marking(conditions);
        let said = self.said(condition);
        let mut then = self.told(then, marking, conditions);
        let mut otherwise = self.told(otherwise, marking, conditions);
        // Both sides read the same, so the condition disappears (Y7).
        if super::outcome::same_text(&then, &otherwise) {
            return then;
        }
        // A choice with an empty then-side is negated (L4).
        let words = if then.is_empty() {
            std::mem::swap(&mut then, &mut otherwise);
            phraser.after_if().negative(&said)
        } else {
            phraser.after_if().clause(&said)
        };
        let mut branches = vec![(words, then)];
        let mut last = (!otherwise.is_empty()).then_some(otherwise);
        let mut codes = vec![self.condition_code(range)];
        super::outcome::flatten(&mut branches, &mut last, &mut codes);
        let kind = ItemKind::Choice {
            branches,
            otherwise: last,
        };
        let item = DocumentItem::new(kind, self.lines(range)).with_level(0);
        vec![item.with_code(codes.join("\n"))]
    }

    /// Returns the first line of a statement with a body.
    pub(super) fn condition_code(&self, range: &Range) -> String {
        let code = self.code(range);
        code.lines().next().unwrap_or_default().to_owned()
    }

    /// Phrases "for each v in X", "as long as C" or "again and again".
    fn cycle_heading(&self, event: &Event) -> String {
        let phraser = self.phraser.with_marking(Marking::None);
        match &event.kind {
            EventKind::Each {
                targets, iterable, ..
            } => {
                let names: Vec<String> = targets.iter().map(|one| phraser.words(one)).collect();
                let all = phraser.noun(&self.said(iterable)).text;
                format!("for each {} in {all}", join::nouns(&names, "and"))
            }
            EventKind::AsLongAs { condition, .. } => match self.said(condition) {
                // "As long as this is always so" would leave open what "this" is.
                Term::Value(value) if value.truth() == Some(true) => "again and again".to_owned(),
                condition => format!("as long as {}", phraser.clause(&condition)),
            },
            _ => String::new(),
        }
    }

    /// Phrases a loop as one sentence, if its body is small enough (Y9).
    fn cycle_clause(&self, event: &Event) -> Option<String> {
        let (EventKind::Each { body, .. } | EventKind::AsLongAs { body, .. }) = &event.kind else {
            return None;
        };
        let phraser = self.phraser.with_marking(Marking::None);
        if let Some(clauses) = self.simple(body) {
            return Some(format!("{}, {clauses}", self.cycle_heading(event)));
        }
        let [
            Event {
                kind:
                    EventKind::Choice {
                        condition,
                        then,
                        otherwise,
                    },
                ..
            },
        ] = body.as_slice()
        else {
            return None;
        };
        let is_each = matches!(event.kind, EventKind::Each { .. });
        let condition = self.said(condition);
        match (then.is_empty(), otherwise.is_empty()) {
            (false, true) | (true, false) if is_each => {
                let (words, done) = if otherwise.is_empty() {
                    (phraser.clause(&condition), self.simple(then)?)
                } else {
                    (phraser.negative(&condition), self.simple(otherwise)?)
                };
                Some(format!(
                    "{} such that {words}, {done}",
                    self.cycle_heading(event)
                ))
            }
            (false, true) => {
                let words = phraser.after_if().clause(&condition);
                let done = self.simple(then)?;
                Some(format!(
                    "{}, if {words} then {done}",
                    self.cycle_heading(event)
                ))
            }
            (false, false) => {
                let (then, otherwise) = (self.simple(then)?, self.simple(otherwise)?);
                let words = phraser.after_if().clause(&condition);
                Some(format!(
                    "{}, if {words} then {then}, otherwise {otherwise}",
                    self.cycle_heading(event)
                ))
            }
            _ => None,
        }
    }

    /// Phrases simple events as joined clauses. Returns `None` if one is not simple.
    fn simple(&self, events: &[Event]) -> Option<String> {
        let is_simple = |event: &Event| {
            matches!(
                event.kind,
                EventKind::Change { .. } | EventKind::Swap(..) | EventKind::Check(_)
            )
        };
        if events.is_empty() || !events.iter().all(is_simple) {
            return None;
        }
        let phraser = self.phraser.with_marking(Marking::None);
        let mut clauses = Vec::new();
        let mut at = 0;
        while let Some(event) = events.get(at) {
            if let Some((covered, clause)) = self.idiom(&events[at..], Marking::None) {
                clauses.push(clause);
                at += covered.max(1);
                continue;
            }
            match &event.kind {
                EventKind::Check(checked) => {
                    clauses.extend(checked.iter().map(|one| {
                        format!("it is checked that {}", phraser.clause(&self.said(one)))
                    }))
                }
                _ => clauses.extend(self.clause(event, &phraser)),
            }
            at += 1;
        }
        Some(join::clauses(&clauses, "and"))
    }
}
