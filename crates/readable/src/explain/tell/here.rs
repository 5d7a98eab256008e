//! What is told under "Here:" (L6): a local with a long phrase that is referred to more than once is named there.

use std::collections::BTreeSet;

use super::{Teller, Told, named, terms};
use crate::block::Item;
use crate::explain::flow::{End, Event, EventKind, Flow};
use crate::explain::run::number_of;
use crate::phrase::{Marking, Recorder};
use crate::term::{Change, Reference, Role, Term};

/// How many words a phrase needs to be worth a name.
const LONG: usize = 8;
/// How many locals may be written out inside each other before nobody can follow.
const DEEP: usize = 20;

impl Teller<'_, '_> {
    /// Decides which locals are named, given all that is going to be told.
    pub(crate) fn decide(&mut self, guard: &[Term], flow: &Flow) {
        let told: Vec<&Term> = guard.iter().chain(terms(flow)).collect();
        let number = self.execution.definitions();
        let mut counts = vec![0_usize; number];
        for term in told {
            count(term, 1, &mut counts);
        }
        self.defined = self.deep();
        // Later locals can only be made of earlier ones, so when one is decided, all that speaks of it is.
        let silent = Recorder::default();
        for number in (0..number).rev() {
            let times = counts.get(number).copied().unwrap_or_default();
            let Some(definition) = self.execution.definition(number).filter(|_| times > 0) else {
                self.defined.remove(&number);
                continue;
            };
            // Until earlier ones are decided they are taken to be written out, as a reader would have to read them.
            let is_deep = self.defined.contains(&number);
            let is_long = times > 1
                && !is_deep
                && (self.execution.is_too_large(&definition.value) || {
                    let speaker = self
                        .speaker
                        .with_marking(Marking::None)
                        .with_recorder(&silent);
                    let phrase = speaker.noun(&self.said(&definition.value)).text;
                    phrase.split_whitespace().count() >= LONG
                });
            if is_long {
                self.defined.insert(number);
            }
            let told = if is_long || is_deep { 1 } else { times };
            count(&definition.value, told, &mut counts);
        }
    }

    /// Locals that are made of locals that are made of locals, and so on for too long.
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

    /// The definitions that are named, in order of assignment.
    pub(crate) fn here(&self, flow: &Flow) -> Vec<Item> {
        let told = self.defined.iter().filter_map(|number| {
            let definition = self.execution.definition(*number)?;
            Some((*number, definition))
        });
        let mut items: Vec<Item> = told.map(|told| self.definition(&told)).collect();
        let mut results = Vec::new();
        gather(flow, &mut results);
        for (result, call, range) in results {
            let speaker = self.speaker.with_marking(Marking::None);
            let silent = Recorder::default();
            let means = speaker.with_recorder(&silent).noun(&self.said(call)).text;
            let name = speaker.reference(&named(result)).text;
            let told = Item::sentence(format!("{name} means {means}"), self.lines(range));
            items.push(told.from_level(2));
        }
        items
    }

    fn definition(&self, (_, definition): &Told) -> Item {
        let speaker = self.speaker.with_marking(Marking::None);
        let reference = Reference::new(definition.name.clone(), Role::Local)
            .with_type(definition.value.type_of());
        let name = speaker.reference(&reference).text;
        let means = speaker.noun(&self.said(&definition.value)).text;
        let lines = self.lines(&definition.range);
        Item::sentence(format!("{name} means {means}"), lines)
            .from_level(0)
            .with_code(self.code(&definition.range))
    }
}

/// Counts the locals in a term that is told so many times.
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

/// The depth of the deepest local in a term.
fn deepest(term: &Term, depths: &[usize]) -> usize {
    let own = match term {
        Term::Reference(reference) => number_of(reference).and_then(|number| depths.get(number)),
        _ => None,
    };
    let parts = term.children();
    let below = parts.iter().map(|part| deepest(part, depths)).max();
    own.copied().max(below).unwrap_or_default()
}

/// Unknown calls whose results have names.
pub(super) fn gather<'f>(
    flow: &'f Flow,
    found: &mut Vec<(&'f Reference, &'f Term, &'f testwright_source::Range)>,
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
    found: &mut Vec<(&'f Reference, &'f Term, &'f testwright_source::Range)>,
) {
    for event in events {
        match &event.kind {
            EventKind::Change {
                change: Change::Call(call),
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
