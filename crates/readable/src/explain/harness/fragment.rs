//! Turns code with holes into Python: each hole becomes a name that stands for its content.

use testwright_core::{Axis, ChoiceValues};
use testwright_lang::harness::{CodePart, Fragment, Harness};
use testwright_source::tree::{self, Expression, Statement};

use crate::explain::run::{EARLIER, Path, World};
use crate::phrase::{Phraser, join};
use crate::term::{EmptyScope, NameReference, NameRole, NameScope, Term, Type};
use crate::value::PythonValue;

/// Maximum number of code alternatives that are explained one by one.
const MOST: u64 = 20;

/// A text with its syntax tree, as far as it can be parsed.
pub(super) struct Code<T> {
    pub(super) text: String,
    pub(super) code: Option<T>,
}

/// Contents of the holes of a line: the pool of each slot, and the chosen alternative where that is
/// a piece of code.
#[derive(Debug, Clone, Default)]
pub(super) struct Holes {
    /// For each axis, its text if it is a piece of code.
    written: Vec<Option<String>>,
    /// For each axis, the name of its pool.
    pools: Vec<String>,
}

/// Returns the contents of holes for each combination of alternatives that are pieces of code.
pub(super) fn alternatives(
    harness: &Harness,
    axes: &[Axis],
    fragments: &[&Fragment],
) -> Vec<Holes> {
    let is_code = |wanted: usize| {
        fragments.iter().flat_map(|one| &one.parts).any(
            |part| matches!(part, CodePart::Choice { axis, is_operand: false } if *axis == wanted),
        )
    };
    let pools = axes.iter().map(|axis| match axis {
        Axis::Slot { pool, .. } => harness
            .pools
            .get(pool.0)
            .map(|pool| pool.name.clone())
            .unwrap_or_default(),
        _ => String::new(),
    });
    let mut all = vec![Holes {
        written: vec![None; axes.len()],
        pools: pools.collect(),
    }];
    for (at, axis) in axes.iter().enumerate() {
        let Axis::Choice(choice) = axis else { continue };
        if !is_code(at) {
            continue;
        }
        let room = MOST / all.len().max(1) as u64;
        let taken = choice.len().min(room.max(1));
        let before = std::mem::take(&mut all);
        for holes in before {
            for alternative in 0..taken {
                let mut holes = holes.clone();
                if let Some(text) = holes.written.get_mut(at) {
                    *text = Some(choice.text(alternative).into_owned());
                }
                all.push(holes);
            }
        }
    }
    all
}

impl Holes {
    pub(super) fn name(axis: usize, twin: bool) -> String {
        if twin {
            format!("__twin_{axis}")
        } else {
            format!("__hole_{axis}")
        }
    }

    /// Restores the harness notation of code with holes.
    pub(super) fn shown(&self, code: &str) -> String {
        let is_part = |one: char| one.is_alphanumeric() || one == '_';
        let mut shown = String::new();
        let mut rest = code;
        while let Some(start) = rest.find(is_part) {
            let (before, behind) = rest.split_at(start);
            let end = behind.find(|one| !is_part(one)).unwrap_or(behind.len());
            let (word, after) = behind.split_at(end);
            shown.push_str(before);
            let pool = |axis: Option<usize>| axis.and_then(|axis| self.pools.get(axis));
            let twin = word
                .strip_prefix("__twin_")
                .and_then(|axis| axis.parse().ok());
            match (pool(Holes::axis_of(word)), pool(twin)) {
                (Some(pool), _) if pool.is_empty() => shown.push_str("<[...]>"),
                (Some(pool), _) => shown.push_str(&format!("<{pool}>")),
                (None, Some(pool)) => shown.push_str(&format!("REF:<{pool}>")),
                (None, None) if word == EARLIER => shown.push_str("pre"),
                (None, None) => shown.push_str(word),
            }
            rest = after;
        }
        shown + rest
    }

    /// Returns the axis that a name stands for.
    pub(super) fn axis_of(name: &str) -> Option<usize> {
        name.strip_prefix("__hole_")?.parse().ok()
    }

    fn render(&self, fragment: &Fragment, pre_values: &[Fragment]) -> String {
        fragment.render(|part| match part {
            CodePart::Text(text) => text.clone(),
            CodePart::Slot {
                axis,
                in_string: true,
                ..
            } => self.pools.get(*axis).cloned().unwrap_or_default(),
            CodePart::Slot { axis, twin, .. } => Holes::name(*axis, *twin),
            CodePart::Choice { axis, .. } => match self.written.get(*axis) {
                Some(Some(text)) => text.clone(),
                _ => Holes::name(*axis, false),
            },
            CodePart::Pre(index) => match pre_values.get(*index) {
                Some(inner) => format!("{EARLIER}({})", self.render(inner, &[])),
                None => EARLIER.to_owned(),
            },
        })
    }

    pub(super) fn expression(&self, fragment: &Fragment, pre: &[Fragment]) -> Code<Expression> {
        let text = self.render(fragment, pre);
        let code = tree::expression(&text).ok();
        Code { text, code }
    }

    pub(super) fn statements(&self, fragment: &Fragment, pre: &[Fragment]) -> Code<Vec<Statement>> {
        let text = self.render(fragment, pre);
        let code = tree::statements(&text).ok();
        Code { text, code }
    }

    /// Binds a slot to a value of its pool: "the H", or "the second H" for another one (R4). A slot
    /// that is being filled is "the new H".
    pub(super) fn bind_slot(
        &self,
        axis: usize,
        (name, words): (&str, &str),
        number: u32,
        is_new: bool,
        type_: &Type,
        path: &mut Path,
    ) {
        let reference = if is_new {
            NameReference::new(format!("the new {words}"), NameRole::Phrase)
        } else {
            NameReference::new(name, NameRole::Pool { number })
        };
        let own = reference.with_type(type_.clone());
        path.locals.insert(Holes::name(axis, false), own.into());
        let twin = NameReference::new(format!("the reference of the {words}"), NameRole::Phrase);
        path.locals.insert(Holes::name(axis, true), twin.into());
    }

    /// Binds a choice to one of its alternatives.
    pub(super) fn bind_choice(
        &self,
        axis: usize,
        choice: &ChoiceValues,
        phraser: Phraser<'_>,
        path: &mut Path,
    ) {
        let (phrase, type_) = told(choice, phraser);
        let reference = NameReference::new(phrase, NameRole::Phrase).with_type(type_);
        path.locals
            .insert(Holes::name(axis, false), reference.into());
    }

    /// Returns the type of a value that a line puts into a pool.
    pub(super) fn type_of_value(
        &self,
        value: &Expression,
        text: &str,
        axes: &[Axis],
        world: &World<'_>,
    ) -> Type {
        if let Some(axis) = value.as_name().and_then(Holes::axis_of)
            && let Some(Axis::Choice(choice)) = axes.get(axis)
        {
            return type_of(choice);
        }
        Term::from_expression(value, text, &FragmentConstants(world)).type_of()
    }
}

struct FragmentConstants<'a, 'w>(&'a World<'w>);

impl NameScope for FragmentConstants<'_, '_> {
    fn resolve_name(&self, name: &str) -> Option<Term> {
        self.0.global(name, &Default::default())
    }
}

/// Returns the phrase for a choice, and the type of its alternatives.
pub(super) fn told(choice: &ChoiceValues, phraser: Phraser<'_>) -> (String, Type) {
    let phrase = match choice {
        ChoiceValues::Integers { first, last } if first == last => first.to_string(),
        ChoiceValues::Integers { first, last } => format!("a whole number from {first} to {last}"),
        ChoiceValues::Characters { first, last } => {
            let notation = |one: &char| phraser.notation(&PythonValue::text(one.to_string()));
            format!("a character from {} to {}", notation(first), notation(last))
        }
        ChoiceValues::Texts(texts) => {
            let phrases: Vec<String> = texts.iter().map(|text| one(text, phraser)).collect();
            match phrases.as_slice() {
                [only] => only.clone(),
                _ => format!("one of {}", join::nouns(&phrases, "or")),
            }
        }
    };
    (phrase, type_of(choice))
}

fn one(text: &str, phraser: Phraser<'_>) -> String {
    match tree::expression(text.trim()) {
        Ok(expression) => {
            let term = Term::from_expression(&expression, text.trim(), &EmptyScope);
            match term.as_value() {
                Some(value) => phraser.notation(value),
                None => phraser.noun(&term).text,
            }
        }
        Err(_) => phraser.notation(&PythonValue::text(text.trim())),
    }
}

fn type_of(choice: &ChoiceValues) -> Type {
    match choice {
        ChoiceValues::Integers { .. } => Type::Number,
        ChoiceValues::Characters { .. } => Type::Text,
        ChoiceValues::Texts(texts) => {
            let types = texts
                .iter()
                .map(|text| match tree::expression(text.trim()) {
                    Ok(expression) => {
                        Term::from_expression(&expression, text.trim(), &EmptyScope).type_of()
                    }
                    Err(_) => Type::Unknown,
                });
            Type::unify_all(types)
        }
    }
}
