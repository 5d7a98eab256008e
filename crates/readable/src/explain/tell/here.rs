//! The definitions under "Here:": a local with a long phrase that is referred to more than once is
//! defined there (L6).

use std::collections::BTreeSet;

use super::{Teller, Told, named, terms};
use crate::block::DocumentItem;
use crate::explain::flow::{End, Event, EventKind, ExecutionFlow};
use crate::explain::run::number_of;
use crate::phrase::{Marking, PhraseRecorder};
use crate::term::{EffectTerm, NameReference, NameRole, Term};

/// Minimum number of words of a phrase that deserves a name.
const LONG: usize = 8;
/// Maximum depth of locals that are written out inside each other.
const DEEP: usize = 20;

impl Teller<'_, '_> {
    /// Decides which locals are named, from everything that will be described.
    pub(crate) fn decide(&mut self, guard: &[Term], flow: &ExecutionFlow) {
        let told: Vec<&Term> = guard.iter().chain(terms(flow)).collect();
        let number = self.execution.definitions();
        let mut counts = vec![0_usize; number];
        for term in told {
            count(term, 1, &mut counts);
        }
        self.defined = self.deep();
        // Later locals can only be made of earlier ones. So when a local is decided, everything
        // that refers to it is.
        let silent = PhraseRecorder::default();
        for number in (0..number).rev() {
            let times = counts.get(number).copied().unwrap_or_default();
            let Some(definition) = self.execution.definition(number).filter(|_| times > 0) else {
                self.defined.remove(&number);
                continue;
            };
            // Locals that are not decided yet are assumed to be written out, as a reader would have
            // to read them.
            let is_deep = self.defined.contains(&number);
            let is_long = times > 1
                && !is_deep
                && (self.execution.is_too_large(&definition.value) || {
                    let phraser = self
                        .phraser
                        .with_marking(Marking::None)
                        .with_recorder(&silent);
                    let phrase = phraser.noun(&self.said(&definition.value)).text;
                    phrase.split_whitespace().count() >= LONG
                });
            if is_long {
                self.defined.insert(number);
            }
            let told = if is_long || is_deep { 1 } else { times };
            count(&definition.value, told, &mut counts);
        }
    }

    /// Returns the locals whose nesting is too deep.
    fn deep(&self) -> BTreeSet<usize> {
        let number = self.execution.definitions();
        let mut depths = vec![0_usize; number];
        let mut deep = BTreeSet::new();
        for number in 0..number {
            let Some(definition) = self.execution.definition(number) else {
                continue;
            };
            let depth = deepest(&definition.value, &depths) + 1;
            if depth > DEEP {
                deep.insert(number);
            } else if let Some(known) = depths.get_mut(number) {
                *known = depth;
            }
        }
        deep
    }

    /// Returns the named definitions, in the order of assignment.
    pub(crate) fn here(&self, flow: &ExecutionFlow) -> Vec<DocumentItem> {
        let told = self.defined.iter().filter_map(|number| {
            let definition = self.execution.definition(*number)?;
            Some((*number, definition))
        });
        let mut items: Vec<DocumentItem> = told.map(|told| self.definition(&told)).collect();
        let mut results = Vec::new();
        gather(flow, &mut results);
        for (result, call, range) in results {
            let phraser = self.phraser.with_marking(Marking::None);
            let silent = PhraseRecorder::default();
            let means = phraser.with_recorder(&silent).noun(&self.said(call)).text;
            let name = phraser.reference(&named(result)).text;
            let told = DocumentItem::sentence(format!("{name} means {means}"), self.lines(range));
            items.push(told.with_level(2));
        }
        items
    }

    fn definition(&self, (_, definition): &Told) -> DocumentItem {
        let phraser = self.phraser.with_marking(Marking::None);
        let reference = NameReference::new(definition.name.clone(), NameRole::Local)
            .with_type(definition.value.type_of());
        let name = phraser.reference(&reference).text;
        let means = phraser.noun(&self.said(&definition.value)).text;
        let lines = self.lines(&definition.range);
        DocumentItem::sentence(format!("{name} means {means}"), lines)
            .with_level(0)
            .with_code(self.code(&definition.range))
    }
}

/// Counts the locals in a term that is used `times` times.
fn count(term: &Term, times: usize, counts: &mut [usize]) {
    if let Term::Reference(reference) = term
        && let Some(known) = number_of(reference).and_then(|number| counts.get_mut(number))
    {
        *known = known.saturating_add(times);
    }
    for part in term.children() {
        count(part, times, counts);
    }
}

/// Returns the depth of the deepest local in a term.
fn deepest(term: &Term, depths: &[usize]) -> usize {
    let own = match term {
        Term::Reference(reference) => number_of(reference).and_then(|number| depths.get(number)),
        _ => None,
    };
    let parts = term.children();
    let below = parts.iter().map(|part| deepest(part, depths)).max();
    own.copied().max(below).unwrap_or_default()
}

/// Collects the names of the results of unknown calls.
pub(super) fn gather<'f>(
    flow: &'f ExecutionFlow,
    found: &mut Vec<(&'f NameReference, &'f Term, &'f testwright_source::Range)>,
) {
    gather_events(&flow.events, found);
    if let End::Split {
        then, otherwise, ..
    } = &flow.end
    {
        gather(then, found);
        gather(otherwise, found);
    }
}

fn gather_events<'f>(
    events: &'f [Event],
    found: &mut Vec<(&'f NameReference, &'f Term, &'f testwright_source::Range)>,
) {
    for event in events {
        match &event.kind {
            EventKind::Change {
                change: EffectTerm::Call(call),
                giving,
                ..
            } => {
                for result in giving {
                    found.push((result, call, &event.range));
                }
            }
            EventKind::Choice {
                then, otherwise, ..
            } => {
                gather_events(then, found);
                gather_events(otherwise, found);
            }
            EventKind::Each { body, .. }
            | EventKind::AsLongAs { body, .. }
            | EventKind::IfFails { body, .. }
            | EventKind::IfDone(body)
            | EventKind::IfCompleted { body, .. } => gather_events(body, found),
            _ => {}
        }
    }
}
