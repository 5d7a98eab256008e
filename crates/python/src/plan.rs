//! How the holes of a line are filled in the code that runs: by arguments where possible, by text where not.
//!
//! One Python function serves all concrete actions of a template, with slots and literal alternatives as its
//! arguments. Only what changes the code itself (an alternative that is not a literal, a slot named inside a
//! string) needs a function of its own per value; those axes are *textual*, and functions are compiled when
//! first needed.

use std::collections::BTreeSet;

use testwright_core::{Axis, Choice, PoolId};
use testwright_lang::Harness;
use testwright_lang::harness::{Fragment, Part};

use crate::layout::Layout;

/// Digits of other scripts that stand for "the index on axis k" while patterns are applied to the text: one
/// character each, a digit and a word character for any regular expression, and nothing that a harness contains.
const FIRST_MARK: u32 = 0x1D7CE;
const MARKS: usize = 50;

/// How the holes of one line are filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    axes: Vec<Axis>,
    sizes: Vec<u64>,
    textual: Vec<usize>,
    arguments: Vec<Argument>,
}

/// What a function is handed for an axis. It has all that is needed to do so, because the axis itself is far away when
/// a step is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    pub(crate) axis: usize,
    pub(crate) kind: ArgumentKind,
}

/// What an argument is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentKind {
    /// The place of a slot of this pool.
    Place(PoolId),
    /// A whole number, counted from this one.
    Integer(i64),
    /// The value of a literal.
    Literal,
}

impl Argument {
    /// `None` for what no function is handed.
    pub(crate) fn new(axes: &[Axis], axis: usize) -> Option<Argument> {
        let kind = match &axes[axis] {
            Axis::Slot { pool, .. } => ArgumentKind::Place(*pool),
            Axis::Choice(Choice::Integers { first, .. }) => ArgumentKind::Integer(*first),
            Axis::Choice(_) => ArgumentKind::Literal,
            Axis::Repeat(_) => return None,
        };
        Some(Argument { axis, kind })
    }
}

impl Plan {
    /// The plan for a line made of `fragments`. With `all_textual` nothing is left to arguments.
    pub(crate) fn new<'a>(
        harness: &Harness,
        axes: &[Axis],
        fragments: impl IntoIterator<Item = &'a Fragment>,
        all_textual: bool,
    ) -> Plan {
        let mut mentioned = BTreeSet::new();
        let mut textual = BTreeSet::new();
        for part in fragments.into_iter().flat_map(|fragment| &fragment.parts) {
            let (axis, needs_text) = match part {
                Part::Slot {
                    axis, in_string, ..
                } => (*axis, *in_string),
                Part::Choice { axis, is_operand } => (*axis, !*is_operand),
                Part::Text(_) | Part::Pre(_) => continue,
            };
            mentioned.insert(axis);
            if needs_text || all_textual || axes.len() > MARKS {
                textual.insert(axis);
            }
        }
        let sizes: Vec<u64> = axes.iter().map(|axis| size(harness, axis)).collect();
        // What cannot vary is written out, so that one-slot pools cost nothing per call.
        textual.extend(mentioned.iter().filter(|axis| sizes[**axis] == 1));
        let arguments = mentioned.difference(&textual);
        let arguments = arguments.filter_map(|axis| Argument::new(axes, *axis));
        let arguments = arguments.collect();
        Plan {
            axes: axes.to_vec(),
            sizes,
            textual: textual.into_iter().collect(),
            arguments,
        }
    }

    pub(crate) fn axes(&self) -> &[Axis] {
        &self.axes
    }

    pub(crate) fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// What is passed as arguments, in the order of axes.
    pub(crate) fn arguments(&self) -> &[Argument] {
        &self.arguments
    }

    /// Which function serves these values.
    pub(crate) fn key(&self, values: &[u64]) -> u64 {
        self.textual
            .iter()
            .fold(0, |key, axis| key * self.sizes[*axis] + values[*axis])
    }

    /// The parameter list of the functions.
    pub(crate) fn parameters(&self) -> String {
        let mut list = String::from("_tw_p");
        for argument in &self.arguments {
            list.push_str(", ");
            list.push_str(&parameter(argument.axis));
        }
        list
    }

    fn is_argument(&self, axis: usize) -> bool {
        let of = |argument: &Argument| argument.axis;
        self.arguments.binary_search_by_key(&axis, of).is_ok()
    }
}

fn size(harness: &Harness, axis: &Axis) -> u64 {
    match axis {
        Axis::Slot { pool, .. } => harness.pool(*pool).size.into(),
        Axis::Choice(choice) => choice.len(),
        Axis::Repeat(times) => *times,
    }
}

fn parameter(axis: usize) -> String {
    format!("_tw_{axis}")
}

/// Writes fragments as code, for one set of values on the textual axes.
pub(crate) struct Writer<'a> {
    pub(crate) harness: &'a Harness,
    pub(crate) layout: &'a Layout,
    pub(crate) plan: &'a Plan,
    pub(crate) values: &'a [u64],
}

impl Writer<'_> {
    /// The code that runs.
    pub(crate) fn code(&self, fragment: &Fragment) -> String {
        fragment.render(|part| match part {
            Part::Slot {
                axis,
                twin,
                in_string,
            } => self.slot(*axis, *twin, *in_string),
            Part::Choice { axis, .. } => self.choice(*axis, parameter),
            Part::Pre(number) => format!("_tw_pre{number}"),
            Part::Text(text) => text.clone(),
        })
    }

    fn slot(&self, axis: usize, twin: bool, in_string: bool) -> String {
        let Axis::Slot { pool, .. } = &self.plan.axes[axis] else {
            return String::new();
        };
        let distance = if twin {
            self.layout.twin_distance(*pool)
        } else {
            0
        };
        if in_string {
            // As everywhere else that people read it.
            let names = self.harness.catalog.pool(*pool);
            let slot = self.values[axis] as u32;
            return if twin {
                names.twin_name(slot)
            } else {
                names.slot_name(slot)
            };
        }
        if !self.plan.is_argument(axis) {
            return format!(
                "_tw_p[{}]",
                self.layout.place(*pool, self.values[axis] as u32) + distance
            );
        }
        match distance {
            0 => format!("_tw_p[{}]", parameter(axis)),
            _ => format!("_tw_p[{}+{distance}]", parameter(axis)),
        }
    }

    fn choice(&self, axis: usize, argument: impl Fn(usize) -> String) -> String {
        match &self.plan.axes[axis] {
            Axis::Choice(_) if self.plan.is_argument(axis) => argument(axis),
            Axis::Choice(choice) => choice.text(self.values[axis]).into_owned(),
            _ => String::new(),
        }
    }

    fn named_slot(&self, pool: PoolId, twin: bool, index: &str) -> String {
        let suffix = if twin { "_REF" } else { "" };
        format!("self.p_{}{suffix}[{index}]", self.harness.pool(pool).name)
    }

    /// The text that patterns of `reference:` and `compare:` lines are applied to: slots as `self.p_avl[0]`,
    /// with a mark instead of an index or literal that is passed as an argument. With `mirrored`, slots of
    /// pools that keep a reference are those of the reference.
    pub(crate) fn pattern_text(&self, fragment: &Fragment, mirrored: bool) -> String {
        fragment.render(|part| match part {
            Part::Slot { axis, twin, .. } => {
                let Axis::Slot { pool, .. } = &self.plan.axes[*axis] else {
                    return String::new();
                };
                let index = if self.plan.is_argument(*axis) {
                    mark(*axis).to_string()
                } else {
                    self.values[*axis].to_string()
                };
                let twin = *twin || (mirrored && self.harness.pool(*pool).reference);
                self.named_slot(*pool, twin, &index)
            }
            Part::Choice { axis, .. } => self.choice(*axis, |axis| mark(axis).to_string()),
            Part::Pre(_) => String::new(),
            Part::Text(text) => text.clone(),
        })
    }

    /// Turns translated pattern text into code again. `None` if a pattern took a slot apart, so that its mark
    /// no longer says what is meant.
    pub(crate) fn code_of_pattern_text(&self, text: &str) -> Option<String> {
        let mut code = String::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            let Some(axis) = axis_of_mark(character) else {
                code.push(character);
                continue;
            };
            let Axis::Slot { pool, .. } = self.plan.axes.get(axis)? else {
                code.push_str(&parameter(axis));
                continue;
            };
            let twin = [false, true].into_iter().find(|twin| {
                let access = self.named_slot(*pool, *twin, "");
                code.ends_with(access.trim_end_matches(']'))
            })?;
            let access = self.named_slot(*pool, twin, "");
            code.truncate(code.len() - (access.len() - 1));
            code.push_str(&self.slot(axis, twin, false));
            if characters.next() != Some(']') {
                return None;
            }
        }
        Some(code)
    }
}

fn mark(axis: usize) -> char {
    char::from_u32(FIRST_MARK + axis as u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn axis_of_mark(character: char) -> Option<usize> {
    (character as u32)
        .checked_sub(FIRST_MARK)
        .map(|axis| axis as usize)
        .filter(|axis| *axis < MARKS)
}
