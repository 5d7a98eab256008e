//! Describes outcomes: several are choices (L2), only changes are listed (L3), a lone choice says
//! what happens otherwise (L4), and the result comes last (L5).

use std::collections::BTreeSet;

use testwright_source::Range;

use super::{Teller, changed_anywhere, changed_by, has_events};
use crate::block::{DocumentItem, ItemKind, NORMAL};
use crate::explain::flow::{End, ExecutionFlow};
use crate::phrase::{Marking, join};
use crate::term::{CallTarget, CallTerm, Term, Type};
use crate::value::PythonValue;

/// Description so far, before a part of a flow.
#[derive(Debug, Clone, Default)]
struct Before {
    /// Variables changed on the path so far.
    changed: BTreeSet<String>,
    /// Variables that may have changed, because they were passed to unknown calls.
    handed_over: Vec<String>,
    /// True if events common to all outcomes were described.
    common: bool,
    /// True if events were described since the path first split.
    own: bool,
    /// True if no outcome has events of its own, so that none says that nothing changes.
    silent: bool,
    /// True if the path has split.
    parted: bool,
}

impl Teller<'_, '_> {
    /// Describes all outcomes of a flow.
    pub(crate) fn outcomes(&self, flow: &ExecutionFlow, range: &Range) -> Vec<DocumentItem> {
        self.outcome(flow, &Before::default(), range)
    }

    fn outcome(&self, flow: &ExecutionFlow, before: &Before, range: &Range) -> Vec<DocumentItem> {
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

    fn leaf(&self, end: &End, here: &Before, range: &Range, items: &mut Vec<DocumentItem>) {
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
            items.push(DocumentItem::sentence(told, lines).with_level(0));
            return;
        }
        if says_nothing {
            let told = if here.common {
                "Nothing else changes."
            } else {
                "Nothing changes."
            };
            items.push(DocumentItem::sentence(told, lines.clone()).with_level(0));
        }
        let result = match end {
            End::Return { value, range } => {
                self.result(value, range, Marking::Outcome(&here.changed))
            }
            _ => None,
        };
        items.extend(result);
        if items.is_empty() && here.own {
            items
                .push(DocumentItem::sentence("Nothing else changes.", lines.clone()).with_level(0));
        }
        let unchanged: Vec<String> = self
            .variables
            .iter()
            .filter(|(name, _)| !here.changed.contains(name) && !here.handed_over.contains(name))
            .map(|(_, phrase)| phrase.clone())
            .collect();
        if !unchanged.is_empty() {
            let told = format!("{}.", join::nouns(&unchanged, "and"));
            items.push(DocumentItem::labelled("Unchanged", told, lines).with_level(2));
        }
    }

    /// Describes the result. A condition is returned as true or false, and `None` is not mentioned
    /// (L5).
    pub(super) fn result(
        &self,
        value: &Term,
        range: &Range,
        marking: Marking<'_>,
    ) -> Option<DocumentItem> {
        let value = self.said(value);
        let phraser = self.phraser.with_marking(marking);
        let told = match &value {
            Term::Value(PythonValue::Nothing) => return None,
            // A rule with several results keeps each of them.
            Term::Call(call) if self.is_multiple(call) => match call.arguments.as_slice() {
                [] => return None,
                all => format!("it returns {}", phraser.operands(all)),
            },
            _ if is_condition(&value) => {
                format!(
                    "it returns true if {}, and false otherwise",
                    phraser.after_if().clause(&value)
                )
            }
            _ => format!("it returns {}", phraser.noun(&value).text),
        };
        Some(self.item(&told, range).with_level(1))
    }

    /// Returns true if a call is Hypothesis's `multiple`.
    fn is_multiple(&self, call: &CallTerm) -> bool {
        let parts = self.execution.world.parts;
        let is_imported = |name: &String| parts.imported.contains(name);
        match &call.callee {
            CallTarget::Function { module, name } if parts.is_machine && name == "multiple" => {
                is_imported(module.as_ref().unwrap_or(name))
            }
            _ => false,
        }
    }

    /// Describes a split: a chain of conditions without events in between is one choice.
    fn parted(
        &self,
        flow: &ExecutionFlow,
        mut here: Before,
        range: &Range,
        items: &mut Vec<DocumentItem>,
    ) {
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
                items.push(DocumentItem::sentence("Nothing changes.", lines).with_level(0));
            }
        }
        let mut last = self.outcome(rest, &here, range);
        let mut branches: Vec<(String, Vec<DocumentItem>)> = Vec::new();
        let mut codes: Vec<String> = Vec::new();
        let mut place = range;
        for (condition, then, range) in chain.into_iter().rev() {
            place = range;
            let then = self.outcome(then, &here, range);
            // Two outcomes that read the same become one (Y7).
            if branches.is_empty() && same_text(&then, &last) {
                last = then;
                continue;
            }
            let marking = Marking::Condition(&here.changed);
            let phraser = self.phraser.with_marking(marking).after_if();
            let said = self.said(condition);
            codes.insert(0, self.condition_code(range));
            if branches.is_empty() && says_nothing(&then) {
                branches.push((phraser.negative(&said), std::mem::take(&mut last)));
                continue;
            }
            branches.insert(0, (phraser.clause(&said), then));
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
        let item = DocumentItem::new(kind, self.lines(place)).with_level(0);
        items.push(item.with_code(codes.join("\n")));
    }

    /// Adds "Otherwise: Nothing changes." to a choice that is all that happens (L4).
    fn only_choice(&self, flow: &ExecutionFlow, items: &mut [DocumentItem]) {
        let is_single = !matches!(flow.end, End::Split { .. }) && flow.events.len() == 1;
        let Some(first) = items.first_mut().filter(|_| is_single) else {
            return;
        };
        let lines = first.lines.clone();
        if let ItemKind::Choice { otherwise, .. } = &mut first.kind
            && otherwise.is_none()
        {
            let nothing = DocumentItem::sentence("Nothing changes.", lines).with_level(0);
            *otherwise = Some(vec![nothing]);
        }
    }
}

/// Returns true if a value is phrased as a condition: a comparison, a connective or a predicate,
/// not a flag.
fn is_condition(value: &Term) -> bool {
    match value {
        Term::Compare { .. } | Term::Not(_) => true,
        Term::And(parts) | Term::Or(parts) => parts.iter().all(is_truth),
        Term::Call(call) => {
            let is_boolean = value.type_of() == Type::Boolean;
            let is_question = matches!(&call.callee, CallTarget::Function { module: None, name }
                if matches!(name.as_str(), "all" | "any" | "isinstance" | "bool"));
            is_boolean || is_question
        }
        _ => false,
    }
}

fn is_truth(value: &Term) -> bool {
    is_condition(value) || value.type_of() == Type::Boolean
}

/// Appends an else side that is only another choice to the chain (L2).
pub(super) fn flatten(
    branches: &mut Vec<(String, Vec<DocumentItem>)>,
    otherwise: &mut Option<Vec<DocumentItem>>,
    codes: &mut Vec<String>,
) {
    while let Some([only]) = otherwise.as_deref()
        && matches!(only.kind, ItemKind::Choice { .. })
    {
        let only = otherwise.take().and_then(|mut items| items.pop());
        if let Some(DocumentItem {
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

/// Returns true if the items are empty unless all details are shown.
fn says_nothing(items: &[DocumentItem]) -> bool {
    items.iter().all(|item| item.level > NORMAL)
}

/// Returns true if two lists of blocks read the same, wherever they come from.
pub(super) fn same_text(one: &[DocumentItem], other: &[DocumentItem]) -> bool {
    fn normal(items: &[DocumentItem]) -> impl Iterator<Item = &DocumentItem> {
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
