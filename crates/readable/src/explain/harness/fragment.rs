//! Code with holes as Python that can be read: each hole is a name, and the name stands for what fills the hole.

use testwright_core::{Axis, Choice};
use testwright_lang::harness::{Fragment, Harness, Part};
use testwright_source::tree::{self, Expression, Statement};

use crate::explain::run::{EARLIER, Path, World};
use crate::phrase::{Speaker, join};
use crate::term::{Reference, Role, Scope, Term, Type, Unscoped};
use crate::value::Value;

/// More alternatives of code than this are not told one by one.
const MOST: u64 = 20;

/// A text, and what it says as far as that can be read.
pub(super) struct Code<T> {
    pub(super) text: String,
    pub(super) code: Option<T>,
}

/// How the holes of a line are filled: which pool each slot belongs to, and which alternative is taken where that changes
/// the code itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Holes {
    /// For each axis its text, if it is a piece of code.
    written: Vec<Option<String>>,
    /// For each axis the name of its pool.
    pools: Vec<String>,
}

/// One way to fill the holes for each combination of alternatives that are pieces of code.
pub(super) fn alternatives(
    harness: &Harness,
    axes: &[Axis],
    fragments: &[&Fragment],
) -> Vec<Holes> {
    let is_code = |wanted: usize| {
        fragments
            .iter()
            .flat_map(|one| &one.parts)
            .any(|part| matches!(part, Part::Choice { axis, is_operand: false } if *axis == wanted))
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

    /// Code with holes as the harness writes it.
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

    /// The axis that a name stands for.
    pub(super) fn axis_of(name: &str) -> Option<usize> {
        name.strip_prefix("__hole_")?.parse().ok()
    }

    fn render(&self, fragment: &Fragment, pre_values: &[Fragment]) -> String {
        fragment.render(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Slot {
                axis,
                in_string: true,
                ..
            } => self.pools.get(*axis).cloned().unwrap_or_default(),
            Part::Slot { axis, twin, .. } => Holes::name(*axis, *twin),
            Part::Choice { axis, .. } => match self.written.get(*axis) {
                Some(Some(text)) => text.clone(),
                _ => Holes::name(*axis, false),
            },
            Part::Pre(index) => match pre_values.get(*index) {
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

    /// A slot is the value of a pool (R4), one that is being filled the new one.
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
            Reference::new(format!("the new {words}"), Role::Phrase)
        } else {
            Reference::new(name, Role::Pool { number })
        };
        let own = reference.with_type(type_.clone());
        path.locals.insert(Holes::name(axis, false), own.into());
        let twin = Reference::new(format!("the reference of the {words}"), Role::Phrase);
        path.locals.insert(Holes::name(axis, true), twin.into());
    }

    /// A choice is one of its alternatives (3.4).
    pub(super) fn bind_choice(
        &self,
        axis: usize,
        choice: &Choice,
        speaker: Speaker<'_>,
        path: &mut Path,
    ) {
        let (phrase, type_) = told(choice, speaker);
        let reference = Reference::new(phrase, Role::Phrase).with_type(type_);
        path.locals
            .insert(Holes::name(axis, false), reference.into());
    }

    /// What is known of a value that a line gives to a pool.
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
        Term::read(value, text, &Constants(world)).type_of()
    }
}

struct Constants<'a, 'w>(&'a World<'w>);

impl Scope for Constants<'_, '_> {
    fn name(&self, name: &str) -> Option<Term> {
        self.0.global(name, &Default::default())
    }
}

/// What a choice reads, and the type of its alternatives.
pub(super) fn told(choice: &Choice, speaker: Speaker<'_>) -> (String, Type) {
    let phrase = match choice {
        Choice::Integers { first, last } if first == last => first.to_string(),
        Choice::Integers { first, last } => format!("a whole number from {first} to {last}"),
        Choice::Characters { first, last } => {
            let notation = |one: &char| speaker.notation(&Value::text(one.to_string()));
            format!("a character from {} to {}", notation(first), notation(last))
        }
        Choice::Texts(texts) => {
            let phrases: Vec<String> = texts.iter().map(|text| one(text, speaker)).collect();
            match phrases.as_slice() {
                [only] => only.clone(),
                _ => format!("one of {}", join::nouns(&phrases, "or")),
            }
        }
    };
    (phrase, type_of(choice))
}

fn one(text: &str, speaker: Speaker<'_>) -> String {
    match tree::expression(text.trim()) {
        Ok(expression) => {
            let term = Term::read(&expression, text.trim(), &Unscoped);
            match term.as_value() {
                Some(value) => speaker.notation(value),
                None => speaker.noun(&term).text,
            }
        }
        Err(_) => speaker.notation(&Value::text(text.trim())),
    }
}

fn type_of(choice: &Choice) -> Type {
    match choice {
        Choice::Integers { .. } => Type::Number,
        Choice::Characters { .. } => Type::Text,
        Choice::Texts(texts) => {
            let types = texts
                .iter()
                .map(|text| match tree::expression(text.trim()) {
                    Ok(expression) => Term::read(&expression, text.trim(), &Unscoped).type_of(),
                    Err(_) => Type::Unknown,
                });
            Type::common(types)
        }
    }
}
