//! Outcomes: what happens if, what happens otherwise, what is returned (L2 to L5).

use std::collections::BTreeSet;

use testwright_source::Range;

use super::{Teller, changed_anywhere, changed_by, has_events};
use crate::block::{Item, ItemKind, NORMAL};
use crate::explain::flow::{End, Flow};
use crate::phrase::{Marking, join};
use crate::term::{Call, Callee, Term, Type};
use crate::value::Value;

/// What was said before a part of a flow is told.
#[derive(Debug, Clone, Default)]
struct Before {
    /// What has changed on the way here.
    changed: BTreeSet<String>,
    /// What may have changed, for all we know.
    handed_over: Vec<String>,
    /// Events were told that all outcomes have in common.
    common: bool,
    /// Events were told since the ways parted first.
    own: bool,
    /// No outcome has events of its own, so none says that it has none.
    silent: bool,
    /// The ways have parted.
    parted: bool,
}

impl Teller<'_, '_> {
    /// What happens, all of it.
    pub(crate) fn outcomes(&self, flow: &Flow, range: &Range) -> Vec<Item> {
        self.outcome(flow, &Before::default(), range)
    }

    fn outcome(&self, flow: &Flow, before: &Before, range: &Range) -> Vec<Item> {
        let mut anywhere = before.changed.clone();
        anywhere.extend(changed_anywhere(flow));
        let mut items = self.events(&flow.events, &anywhere, &before.changed);
        let mut here = before.clone();
        here.changed.extend(changed_by(&flow.events));
        for event in &flow.events {
            event.handed_over(&mut here.handed_over);
        }
        if before.parted {
            here.own |= !flow.events.is_empty()
        } else {
            here.common |= !flow.events.is_empty()
        }
        match &flow.end {
            End::Split { .. } => self.parted(flow, here, range, &mut items),
            end => self.leaf(end, &here, range, &mut items),
        }
        if !before.parted {
            self.only_choice(flow, &mut items);
        }
        items
    }

    fn leaf(&self, end: &End, here: &Before, range: &Range, items: &mut Vec<Item>) {
        let says_nothing = if here.parted {
            !here.silent && !here.own
        } else {
            !here.common
        };
        let lines = self.lines(range);
        if matches!(end, End::Unexplored) {
            let limit = self.execution.world.limits.outcomes;
            let told = format!(
                "Further outcomes are not listed, because the limit of {limit} was reached."
            );
            items.push(Item::sentence(told, lines).from_level(0));
            return;
        }
        if says_nothing {
            let told = if here.common {
                "Nothing else changes."
            } else {
                "Nothing changes."
            };
            items.push(Item::sentence(told, lines.clone()).from_level(0));
        }
        let result = match end {
            End::Return { value, range } => {
                self.result(value, range, Marking::Outcome(&here.changed))
            }
            _ => None,
        };
        items.extend(result);
        if items.is_empty() && here.own {
            items.push(Item::sentence("Nothing else changes.", lines.clone()).from_level(0));
        }
        let unchanged: Vec<String> = self
            .variables
            .iter()
            .filter(|(name, _)| !here.changed.contains(name) && !here.handed_over.contains(name))
            .map(|(_, phrase)| phrase.clone())
            .collect();
        if !unchanged.is_empty() {
            let told = format!("{}.", join::nouns(&unchanged, "and"));
            items.push(Item::labelled("Unchanged", told, lines).from_level(2));
        }
    }

    /// What is returned (L5).
    pub(super) fn result(&self, value: &Term, range: &Range, marking: Marking<'_>) -> Option<Item> {
        let value = self.said(value);
        let speaker = self.speaker.with_marking(marking);
        let told = match &value {
            Term::Value(Value::Nothing) => return None,
            // Of a rule that gives several values, each is kept by itself.
            Term::Call(call) if self.is_multiple(call) => match call.arguments.as_slice() {
                [] => return None,
                all => format!("it returns {}", speaker.operands(all)),
            },
            _ if is_condition(&value) => {
                format!(
                    "it returns true if {}, and false otherwise",
                    speaker.behind_if().clause(&value)
                )
            }
            _ => format!("it returns {}", speaker.noun(&value).text),
        };
        Some(self.item(&told, range).from_level(1))
    }

    /// Whether a call is that of Hypothesis's `multiple`.
    fn is_multiple(&self, call: &Call) -> bool {
        let parts = self.execution.world.parts;
        let is_imported = |name: &String| parts.imported.contains(name);
        match &call.callee {
            Callee::Function { module, name } if parts.is_machine && name == "multiple" => {
                is_imported(module.as_ref().unwrap_or(name))
            }
            _ => false,
        }
    }

    /// The ways part: a chain of conditions between which nothing happens is one choice.
    fn parted(&self, flow: &Flow, mut here: Before, range: &Range, items: &mut Vec<Item>) {
        let mut chain = Vec::new();
        let mut rest = flow;
        while let End::Split {
            condition,
            then,
            otherwise,
            range,
        } = &rest.end
        {
            chain.push((condition, &**then, range));
            rest = otherwise;
            if !rest.events.is_empty() {
                break;
            }
        }
        if !here.parted {
            here.parted = true;
            here.silent = !chain.iter().any(|(_, then, _)| has_events(then)) && !has_events(rest);
            if here.silent && !here.common {
                let lines = self.lines(range);
                items.push(Item::sentence("Nothing changes.", lines).from_level(0));
            }
        }
        let mut last = self.outcome(rest, &here, range);
        let mut branches: Vec<(String, Vec<Item>)> = Vec::new();
        let mut codes: Vec<String> = Vec::new();
        let mut place = range;
        for (condition, then, range) in chain.into_iter().rev() {
            place = range;
            let then = self.outcome(then, &here, range);
            // Two outcomes that read alike are one (Y7).
            if branches.is_empty() && same_text(&then, &last) {
                last = then;
                continue;
            }
            let marking = Marking::Condition(&here.changed);
            let speaker = self.speaker.with_marking(marking).behind_if();
            let said = self.said(condition);
            codes.insert(0, self.condition_code(range));
            if branches.is_empty() && says_nothing(&then) {
                branches.push((speaker.negative(&said), std::mem::take(&mut last)));
                continue;
            }
            branches.insert(0, (speaker.clause(&said), then));
        }
        if branches.is_empty() {
            items.extend(last);
            return;
        }
        let mut otherwise = (!says_nothing(&last)).then_some(last);
        flatten(&mut branches, &mut otherwise, &mut codes);
        let kind = ItemKind::Choice {
            branches,
            otherwise,
        };
        let item = Item::new(kind, self.lines(place)).from_level(0);
        items.push(item.with_code(codes.join("\n")));
    }

    /// A choice that is all that happens says what happens otherwise (L4).
    fn only_choice(&self, flow: &Flow, items: &mut [Item]) {
        let is_single = !matches!(flow.end, End::Split { .. }) && flow.events.len() == 1;
        let Some(first) = items.first_mut().filter(|_| is_single) else {
            return;
        };
        let lines = first.lines.clone();
        if let ItemKind::Choice { otherwise, .. } = &mut first.kind
            && otherwise.is_none()
        {
            let nothing = Item::sentence("Nothing changes.", lines).from_level(0);
            *otherwise = Some(vec![nothing]);
        }
    }
}

/// Whether a value is a condition that is told as such: a comparison, a connective, a question; not a flag.
fn is_condition(value: &Term) -> bool {
    match value {
        Term::Compare { .. } | Term::Not(_) => true,
        Term::And(parts) | Term::Or(parts) => parts.iter().all(is_truth),
        Term::Call(call) => {
            let is_boolean = value.type_of() == Type::Boolean;
            let is_question = matches!(&call.callee, Callee::Function { module: None, name }
                if matches!(name.as_str(), "all" | "any" | "isinstance" | "bool"));
            is_boolean || is_question
        }
        _ => false,
    }
}

fn is_truth(value: &Term) -> bool {
    is_condition(value) || value.type_of() == Type::Boolean
}

/// An else side that is just another choice continues the chain (L2).
pub(super) fn flatten(
    branches: &mut Vec<(String, Vec<Item>)>,
    otherwise: &mut Option<Vec<Item>>,
    codes: &mut Vec<String>,
) {
    while let Some([only]) = otherwise.as_deref()
        && matches!(only.kind, ItemKind::Choice { .. })
    {
        let only = otherwise.take().and_then(|mut items| items.pop());
        if let Some(Item {
            kind:
                ItemKind::Choice {
                    branches: more,
                    otherwise: last,
                },
            code,
            ..
        }) = only
        {
            codes.extend(code);
            branches.extend(more);
            *otherwise = last;
        }
    }
}

/// Whether there is nothing to read unless everything is told.
fn says_nothing(items: &[Item]) -> bool {
    items.iter().all(|item| item.level > NORMAL)
}

/// Whether two lists of blocks read alike, wherever they come from.
pub(super) fn same_text(one: &[Item], other: &[Item]) -> bool {
    fn normal(items: &[Item]) -> impl Iterator<Item = &Item> {
        items.iter().filter(|item| item.level <= NORMAL)
    }
    normal(one).count() == normal(other).count()
        && normal(one).zip(normal(other)).all(|(one, other)| {
            if std::mem::discriminant(&one.kind) != std::mem::discriminant(&other.kind) {
                return false;
            }
            let (parts, others) = (one.parts(), other.parts());
            let same_parts = parts.len() == others.len()
                && parts
                    .iter()
                    .zip(&others)
                    .all(|(part, other)| part.0 == other.0 && same_text(part.1, other.1));
            let same_words = match (&one.kind, &other.kind) {
                (ItemKind::Sentence(one), ItemKind::Sentence(other))
                | (ItemKind::Paragraph(one), ItemKind::Paragraph(other)) => one == other,
                (
                    ItemKind::Labelled { label, sentence },
                    ItemKind::Labelled {
                        label: other,
                        sentence: others,
                    },
                ) => label == other && sentence == others,
                _ => !parts.is_empty(),
            };
            same_words && same_parts
        })
}
