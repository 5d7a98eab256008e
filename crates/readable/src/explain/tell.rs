//! What an action does, as blocks (6.5): which sentences, in which order, under which conditions.

mod checks;
mod events;
mod here;
mod outcome;

pub(crate) use checks::checks;

use std::collections::BTreeSet;

use testwright_source::Range;

use super::flow::{End, Event, Flow};
use super::run::{Definition, Execution, FIRST, name_of, number_of};
use crate::block::{Item, Lines, Source};
use crate::phrase::{Fallback, Marking, Recorder, Speaker};
use crate::term::{Call, Callee, Change, Clause, Reference, Role, Term};
use crate::words::sentence;

/// Which lines of the source ranges of a text stand for.
pub(crate) enum LineIndex {
    /// The text is the source; its lines begin here.
    Starts(Vec<usize>),
    /// The text is made of these lines, whatever the range.
    Fixed(Lines),
}

impl LineIndex {
    pub(crate) fn new(source: &Source) -> LineIndex {
        let ends = source.text.match_indices('\n').map(|(at, _)| at + 1);
        LineIndex::Starts(std::iter::once(0).chain(ends).collect())
    }

    pub(crate) fn fixed(lines: Lines) -> LineIndex {
        LineIndex::Fixed(lines)
    }

    /// The lines that a range touches.
    pub(crate) fn lines(&self, range: &Range) -> Lines {
        let starts = match self {
            LineIndex::Starts(starts) => starts,
            LineIndex::Fixed(lines) => return lines.clone(),
        };
        let line = |at: usize| starts.partition_point(|start| *start <= at).max(1);
        let first = line(range.start);
        first..=line(range.end.saturating_sub(1)).max(first)
    }
}

/// Someone who tells what an action does.
pub(crate) struct Teller<'t, 'w> {
    pub(crate) execution: &'t Execution<'w>,
    pub(crate) speaker: Speaker<'t>,
    pub(crate) recorder: &'t Recorder,
    pub(crate) index: &'t LineIndex,
    pub(crate) text: &'t str,
    /// The variables that can change, each with its phrase, for what stays as it is.
    pub(crate) variables: &'t [(String, String)],
    /// How code that was put together for reading is shown to people.
    shown: Option<&'t dyn Fn(&str) -> String>,
    /// The definitions that are told under "Here:" (L6).
    defined: BTreeSet<usize>,
}

impl<'t, 'w> Teller<'t, 'w> {
    pub(crate) fn new(
        execution: &'t Execution<'w>,
        speaker: Speaker<'t>,
        recorder: &'t Recorder,
        (index, text): (&'t LineIndex, &'t str),
        variables: &'t [(String, String)],
    ) -> Teller<'t, 'w> {
        Teller {
            execution,
            speaker: speaker.with_recorder(recorder).with_shortening(),
            recorder,
            index,
            text,
            variables,
            shown: None,
            defined: BTreeSet::new(),
        }
    }

    /// The same, showing code in another way than it was read.
    pub(crate) fn showing(self, shown: &'t dyn Fn(&str) -> String) -> Self {
        Teller {
            shown: Some(shown),
            ..self
        }
    }

    fn shown(&self, code: &str) -> String {
        match self.shown {
            Some(shown) => shown(code),
            None => code.to_owned(),
        }
    }

    pub(crate) fn lines(&self, range: &Range) -> Lines {
        self.index.lines(range)
    }

    /// The code of a range, for those who want to see it.
    fn code(&self, range: &Range) -> String {
        let code = self.text.get(range.clone()).unwrap_or_default();
        self.shown(code.trim())
    }

    fn item(&self, clause: &str, range: &Range) -> Item {
        let item = Item::sentence(sentence(clause), self.lines(range));
        item.from_level(0).with_code(self.code(range))
    }

    /// A condition in the words of guards: nothing is old or new.
    pub(crate) fn condition(&self, term: &Term) -> String {
        let term = self.said(term);
        let unchanged = BTreeSet::new();
        let marking = Marking::Condition(&unchanged);
        self.speaker.with_marking(marking).clause(&term)
    }

    /// The same where "if" stands before it.
    pub(crate) fn behind_if(&self, term: &Term) -> String {
        let unchanged = BTreeSet::new();
        let speaker = self.speaker.with_marking(Marking::Condition(&unchanged));
        speaker.behind_if().clause(&self.said(term))
    }

    /// A condition of which no part is old or new: what holds after a step speaks of what came before it in its own way.
    pub(crate) fn plain(&self, term: &Term) -> String {
        let term = self.said(term);
        self.speaker.with_marking(Marking::None).clause(&term)
    }

    /// A term as it is told: locals that are not defined under "Here:" are written out, the others are named.
    pub(crate) fn said(&self, term: &Term) -> Term {
        term.replaced(&mut |part| match part {
            Term::Reference(reference) => match number_of(reference) {
                Some(number) if !self.defined.contains(&number) => {
                    let definition = self.execution.definition(number)?;
                    Some(self.said(&definition.value))
                }
                _ if name_of(reference) != reference.name => Some(named(reference).into()),
                _ => None,
            },
            Term::Call(call) => self.first(call),
            Term::Source(code) => Some(Term::Source(self.shown(code))),
            _ => None,
        })
    }

    /// "the first v in X such that C" (Y9).
    fn first(&self, call: &Call) -> Option<Term> {
        let is_first =
            matches!(&call.callee, Callee::Function { module: None, name } if name == FIRST);
        let [Term::Comprehension { clauses, .. }] = call.arguments.as_slice() else {
            return None;
        };
        let [clause] = clauses.as_slice() else {
            return None;
        };
        if !is_first {
            return None;
        }
        let Clause {
            targets,
            iterable,
            conditions,
        } = clause;
        let speaker = self.speaker.with_marking(Marking::None);
        let names: Vec<String> = targets.iter().map(|name| speaker.words(name)).collect();
        let conditions: Vec<Term> = conditions.iter().map(|one| self.said(one)).collect();
        let condition = match conditions.as_slice() {
            [only] => only.clone(),
            _ => Term::And(conditions),
        };
        let phrase = format!(
            "the first {} in {} such that {}",
            names.join(", "),
            speaker.noun(&self.said(iterable)).text,
            speaker.clause(&condition)
        );
        let type_ = iterable.type_of().element();
        let reference = Reference::new(phrase, Role::Phrase).with_type(type_);
        Some(reference.into())
    }

    fn said_change(&self, change: &Change) -> Change {
        match change {
            Change::Assign { target, value } => Change::Assign {
                target: self.said(target),
                value: self.said(value),
            },
            Change::Augment {
                target,
                operator,
                value,
            } => Change::Augment {
                target: self.said(target),
                operator: *operator,
                value: self.said(value),
            },
            Change::Delete(target) => Change::Delete(self.said(target)),
            Change::Call(call) => Change::Call(self.said(call)),
        }
    }

    fn note(&self, change: &Change) {
        match change {
            Change::Call(call) if call.is_unknown_call() => {
                self.recorder.fallback(Fallback::Effect, call);
            }
            _ => self.recorder.specific(),
        }
    }
}

/// A reference to a local by its name alone.
fn named(reference: &Reference) -> Reference {
    Reference {
        name: name_of(reference).to_owned(),
        ..reference.clone()
    }
}

/// The variables that events change.
fn changed_by(events: &[Event]) -> BTreeSet<String> {
    let mut names = Vec::new();
    for event in events {
        event.changed(&mut names);
    }
    names.into_iter().collect()
}

/// The variables that a flow changes on any of its ways.
fn changed_anywhere(flow: &Flow) -> BTreeSet<String> {
    let mut names = changed_by(&flow.events);
    if let End::Split {
        then, otherwise, ..
    } = &flow.end
    {
        names.extend(changed_anywhere(then));
        names.extend(changed_anywhere(otherwise));
    }
    names
}

/// Whether anything happens on any way.
fn has_events(flow: &Flow) -> bool {
    let below = match &flow.end {
        End::Split {
            then, otherwise, ..
        } => has_events(then) || has_events(otherwise),
        _ => false,
    };
    below || !flow.events.is_empty()
}

/// All terms of a flow that are told.
fn terms(flow: &Flow) -> Vec<&Term> {
    let mut all: Vec<&Term> = flow.events.iter().flat_map(Event::terms).collect();
    match &flow.end {
        End::Return { value, .. } => all.push(value),
        End::Split {
            condition,
            then,
            otherwise,
            ..
        } => {
            all.push(condition);
            all.extend(terms(then));
            all.extend(terms(otherwise));
        }
        _ => {}
    }
    all
}

/// A definition that is told, with its number.
pub(crate) type Told = (usize, Definition);
