//! Describes what an action does as blocks: the sentences, their order and their conditions.

mod checks;
mod events;
mod here;
mod outcome;

pub(crate) use checks::checks;

use std::collections::BTreeSet;

use testwright_source::Range;

use super::flow::{End, Event, ExecutionFlow};
use super::run::{Definition, Execution, FIRST, name_of, number_of};
use crate::block::{DocumentItem, DocumentSource, LineRange};
use crate::phrase::{Fallback, Marking, PhraseRecorder, Phraser};
use crate::term::{CallTarget, CallTerm, EffectTerm, ForClause, NameReference, NameRole, Term};
use crate::words::to_sentence;

/// Map from ranges of a text to lines of the source.
pub(crate) enum LineIndex {
    /// The text is the source; its lines begin here.
    Starts(Vec<usize>),
    /// The text was made from these lines, whatever the range.
    Fixed(LineRange),
}

impl LineIndex {
    pub(crate) fn new(source: &DocumentSource) -> LineIndex {
        let ends = source.text.match_indices('\n').map(|(at, _)| at + 1);
        LineIndex::Starts(std::iter::once(0).chain(ends).collect())
    }

    pub(crate) fn fixed(lines: LineRange) -> LineIndex {
        LineIndex::Fixed(lines)
    }

    /// Returns the lines that a range touches.
    pub(crate) fn lines(&self, range: &Range) -> LineRange {
        let starts = match self {
            LineIndex::Starts(starts) => starts,
            LineIndex::Fixed(lines) => return lines.clone(),
        };
        let line = |at: usize| starts.partition_point(|start| *start <= at).max(1);
        let first = line(range.start);
        first..=line(range.end.saturating_sub(1)).max(first)
    }
}

/// Writer for the description of an action.
pub(crate) struct Teller<'t, 'w> {
    pub(crate) execution: &'t Execution<'w>,
    pub(crate) phraser: Phraser<'t>,
    pub(crate) recorder: &'t PhraseRecorder,
    pub(crate) index: &'t LineIndex,
    pub(crate) text: &'t str,
    /// Variables that can change, with their phrases, for statements about unchanged ones.
    pub(crate) variables: &'t [(String, String)],
    /// Conversion of rewritten code to the code that people see.
    shown: Option<&'t dyn Fn(&str) -> String>,
    /// Definitions that are listed under "Here:" (L6).
    defined: BTreeSet<usize>,
}

impl<'t, 'w> Teller<'t, 'w> {
    pub(crate) fn new(
        execution: &'t Execution<'w>,
        phraser: Phraser<'t>,
        recorder: &'t PhraseRecorder,
        (index, text): (&'t LineIndex, &'t str),
        variables: &'t [(String, String)],
    ) -> Teller<'t, 'w> {
        Teller {
            execution,
            phraser: phraser.with_recorder(recorder).with_shortening(),
            recorder,
            index,
            text,
            variables,
            shown: None,
            defined: BTreeSet::new(),
        }
    }

    /// Sets the conversion of rewritten code to the code that people see.
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

    pub(crate) fn lines(&self, range: &Range) -> LineRange {
        self.index.lines(range)
    }

    /// Returns the code of a range, for readers who want to see it.
    fn code(&self, range: &Range) -> String {
        let code = self.text.get(range.clone()).unwrap_or_default();
        self.shown(code.trim())
    }

    fn item(&self, clause: &str, range: &Range) -> DocumentItem {
        let item = DocumentItem::sentence(to_sentence(clause), self.lines(range));
        item.with_level(0).with_code(self.code(range))
    }

    /// Phrases a condition of a guard: nothing is marked old or new.
    pub(crate) fn condition(&self, term: &Term) -> String {
        let term = self.said(term);
        let unchanged = BTreeSet::new();
        let marking = Marking::Condition(&unchanged);
        self.phraser.with_marking(marking).clause(&term)
    }

    /// Phrases a condition behind "if", in the words of guards.
    pub(crate) fn behind_if(&self, term: &Term) -> String {
        let unchanged = BTreeSet::new();
        let phraser = self.phraser.with_marking(Marking::Condition(&unchanged));
        phraser.after_if().clause(&self.said(term))
    }

    /// Phrases a condition without marking parts old or new. Conditions after a step refer to
    /// earlier values in their own way.
    pub(crate) fn plain(&self, term: &Term) -> String {
        let term = self.said(term);
        self.phraser.with_marking(Marking::None).clause(&term)
    }

    /// Returns a term as it is shown: locals that are not defined under "Here:" are written out,
    /// the others are named.
    pub(crate) fn said(&self, term: &Term) -> Term {
        term.map_parts(&mut |part| match part {
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

    /// Returns the term for "the first v in X such that C" (Y9).
    fn first(&self, call: &CallTerm) -> Option<Term> {
        let is_first =
            matches!(&call.callee, CallTarget::Function { module: None, name } if name == FIRST);
        let [Term::Comprehension { clauses, .. }] = call.arguments.as_slice() else {
            return None;
        };
        let [clause] = clauses.as_slice() else {
            return None;
        };
        if !is_first {
            return None;
        }
        let ForClause {
            targets,
            iterable,
            conditions,
        } = clause;
        let phraser = self.phraser.with_marking(Marking::None);
        let names: Vec<String> = targets.iter().map(|name| phraser.words(name)).collect();
        let conditions: Vec<Term> = conditions.iter().map(|one| self.said(one)).collect();
        let condition = match conditions.as_slice() {
            [only] => only.clone(),
            _ => Term::And(conditions),
        };
        let phrase = format!(
            "the first {} in {} such that {}",
            names.join(", "),
            phraser.noun(&self.said(iterable)).text,
            phraser.clause(&condition)
        );
        let type_ = iterable.type_of().element();
        let reference = NameReference::new(phrase, NameRole::Phrase).with_type(type_);
        Some(reference.into())
    }

    fn said_change(&self, change: &EffectTerm) -> EffectTerm {
        match change {
            EffectTerm::Assign { target, value } => EffectTerm::Assign {
                target: self.said(target),
                value: self.said(value),
            },
            EffectTerm::Augment {
                target,
                operator,
                value,
            } => EffectTerm::Augment {
                target: self.said(target),
                operator: *operator,
                value: self.said(value),
            },
            EffectTerm::Delete(target) => EffectTerm::Delete(self.said(target)),
            EffectTerm::Call(call) => EffectTerm::Call(self.said(call)),
        }
    }

    fn note(&self, change: &EffectTerm) {
        match change {
            EffectTerm::Call(call) if call.is_unknown_call() => {
                self.recorder.record_fallback(Fallback::Effect, call);
            }
            _ => self.recorder.record_specific(),
        }
    }
}

/// Returns a reference to a local by its name alone.
fn named(reference: &NameReference) -> NameReference {
    NameReference {
        name: name_of(reference).to_owned(),
        ..reference.clone()
    }
}

/// Returns the variables that events change.
fn changed_by(events: &[Event]) -> BTreeSet<String> {
    let mut names = Vec::new();
    for event in events {
        event.changed(&mut names);
    }
    names.into_iter().collect()
}

/// Returns the variables that a flow changes on any of its paths.
fn changed_anywhere(flow: &ExecutionFlow) -> BTreeSet<String> {
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

/// Returns true if any path has events.
fn has_events(flow: &ExecutionFlow) -> bool {
    let below = match &flow.end {
        End::Split {
            then, otherwise, ..
        } => has_events(then) || has_events(otherwise),
        _ => false,
    };
    below || !flow.events.is_empty()
}

/// Returns all terms of a flow that are described.
fn terms(flow: &ExecutionFlow) -> Vec<&Term> {
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

/// Number and value of a definition under "Here:".
pub(crate) type Told = (usize, Definition);
