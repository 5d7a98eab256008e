//! The plan for filling the holes of a line in the code that runs: by arguments where possible, by
//! text where not.
//!
//! One Python function serves all concrete actions of a template, with slots and literal
//! alternatives as its arguments. Only what changes the code itself (an alternative that is not a
//! literal, a slot named inside a string) needs a separate function per value; those axes are
//! *textual*, and functions are compiled when first needed.

use std::collections::BTreeSet;

use testwright_core::{Axis, ChoiceValues, PoolId};
use testwright_lang::Harness;
use testwright_lang::harness::{CodePart, Fragment};

use crate::slot_layout::SlotLayout;

/// The first of the characters that stand for "the index on axis k" while patterns are applied to
/// the text. They are digits of another script: one character each, a digit and a word character
/// for any regular expression, and never part of a harness.
const FIRST_MARK: u32 = 0x1D7CE;
/// The number of these characters. Lines with more axes are all textual.
const MARKS: usize = 50;

/// The plan for filling the holes of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FillPlan {
    /// The axes of the line.
    axes: Vec<Axis>,
    /// The number of values on each axis.
    sizes: Vec<u64>,
    /// The textual axes, sorted.
    textual: Vec<usize>,
    /// The axes passed as arguments, sorted.
    arguments: Vec<FunctionArgument>,
}

/// An argument of a function, for one axis. It has all data needed in a step, because the axis
/// itself is too far away in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FunctionArgument {
    /// The axis.
    pub(crate) axis: usize,
    /// The source of the value.
    pub(crate) kind: ArgumentKind,
}

/// The source of an argument's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentKind {
    /// The position of a slot of this pool.
    Position(PoolId),
    /// An integer: this one plus the value on the axis.
    Integer(i64),
    /// The value of a literal.
    Literal,
}

impl FunctionArgument {
    /// Returns the argument for an axis, or `None` for repetitions, which are not passed.
    pub(crate) fn new(axes: &[Axis], axis: usize) -> Option<FunctionArgument> {
        let kind = match &axes[axis] {
            Axis::Slot { pool, .. } => ArgumentKind::Position(*pool),
            Axis::Choice(ChoiceValues::Integers { first, .. }) => ArgumentKind::Integer(*first),
            Axis::Choice(_) => ArgumentKind::Literal,
            Axis::Repeat(_) => return None,
        };
        Some(FunctionArgument { axis, kind })
    }
}

impl FillPlan {
    /// Creates the plan for a line made of `fragments`. With `all_textual`, nothing is passed as
    /// arguments.
    pub(crate) fn new<'a>(
        harness: &Harness,
        axes: &[Axis],
        fragments: impl IntoIterator<Item = &'a Fragment>,
        all_textual: bool,
    ) -> FillPlan {
        let mut mentioned = BTreeSet::new();
        let mut textual = BTreeSet::new();
        for part in fragments.into_iter().flat_map(|fragment| &fragment.parts) {
            let (axis, needs_text) = match part {
                CodePart::Slot {
                    axis, in_string, ..
                } => (*axis, *in_string),
                CodePart::Choice { axis, is_operand } => (*axis, !*is_operand),
                CodePart::Text(_) | CodePart::Pre(_) => continue,
            };
            mentioned.insert(axis);
            if needs_text || all_textual || axes.len() > MARKS {
                textual.insert(axis);
            }
        }
        let sizes: Vec<u64> = axes.iter().map(|axis| size(harness, axis)).collect();
        // Axes with one value are written out, so that pools with one slot cost nothing per call.
        textual.extend(mentioned.iter().filter(|axis| sizes[**axis] == 1));
        let arguments = mentioned.difference(&textual);
        let arguments = arguments.filter_map(|axis| FunctionArgument::new(axes, *axis));
        let arguments = arguments.collect();
        FillPlan {
            axes: axes.to_vec(),
            sizes,
            textual: textual.into_iter().collect(),
            arguments,
        }
    }

    /// Returns the axes of the line.
    pub(crate) fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Returns the number of values on each axis.
    pub(crate) fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Returns the arguments in the order of axes.
    pub(crate) fn arguments(&self) -> &[FunctionArgument] {
        &self.arguments
    }

    /// Returns the key of the function that serves these values.
    pub(crate) fn key(&self, values: &[u64]) -> u64 {
        self.textual
            .iter()
            .fold(0, |key, axis| key * self.sizes[*axis] + values[*axis])
    }

    /// Returns the parameter list of the functions.
    pub(crate) fn parameters(&self) -> String {
        let mut list = String::from("_tw_p");
        for argument in &self.arguments {
            list.push_str(", ");
            list.push_str(&parameter(argument.axis));
        }
        list
    }

    /// Returns true if an axis is passed as an argument.
    fn is_argument(&self, axis: usize) -> bool {
        let axis_of = |argument: &FunctionArgument| argument.axis;
        self.arguments.binary_search_by_key(&axis, axis_of).is_ok()
    }
}

/// Returns the number of values on an axis.
fn size(harness: &Harness, axis: &Axis) -> u64 {
    match axis {
        Axis::Slot { pool, .. } => harness.pool(*pool).size.into(),
        Axis::Choice(choice) => choice.len(),
        Axis::Repeat(times) => *times,
    }
}

/// Returns the parameter name for an axis.
fn parameter(axis: usize) -> String {
    format!("_tw_{axis}")
}

/// Writes fragments as code, for one set of values on the textual axes.
pub(crate) struct CodeWriter<'a> {
    pub(crate) harness: &'a Harness,
    pub(crate) layout: &'a SlotLayout,
    pub(crate) plan: &'a FillPlan,
    /// The value on each axis.
    pub(crate) values: &'a [u64],
}

impl CodeWriter<'_> {
    /// Returns the code of a fragment.
    pub(crate) fn code(&self, fragment: &Fragment) -> String {
        fragment.render(|part| match part {
            CodePart::Slot {
                axis,
                twin,
                in_string,
            } => self.slot(*axis, *twin, *in_string),
            CodePart::Choice { axis, .. } => self.choice(*axis, parameter),
            CodePart::Pre(number) => format!("_tw_pre{number}"),
            CodePart::Text(text) => text.clone(),
        })
    }

    /// Returns the code that accesses a slot.
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
            // In strings, slots have their display names.
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
                self.layout.position(*pool, self.values[axis] as u32) + distance
            );
        }
        match distance {
            0 => format!("_tw_p[{}]", parameter(axis)),
            _ => format!("_tw_p[{}+{distance}]", parameter(axis)),
        }
    }

    /// Returns the code of an alternative: its argument or its text.
    fn choice(&self, axis: usize, argument: impl Fn(usize) -> String) -> String {
        match &self.plan.axes[axis] {
            Axis::Choice(_) if self.plan.is_argument(axis) => argument(axis),
            Axis::Choice(choice) => choice.text(self.values[axis]).into_owned(),
            _ => String::new(),
        }
    }

    /// Returns a slot access by pool name: `self.p_avl[0]`.
    fn named_slot(&self, pool: PoolId, twin: bool, index: &str) -> String {
        let suffix = if twin { "_REF" } else { "" };
        format!("self.p_{}{suffix}[{index}]", self.harness.pool(pool).name)
    }

    /// Returns the text that patterns of `reference:` and `compare:` lines are applied to. Slots
    /// are written `self.p_avl[0]`, with a mark for each index or literal that is passed as an
    /// argument. With `mirrored`, pools that have a reference are replaced by those of the
    /// reference.
    pub(crate) fn pattern_text(&self, fragment: &Fragment, mirrored: bool) -> String {
        fragment.render(|part| match part {
            CodePart::Slot { axis, twin, .. } => {
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
            CodePart::Choice { axis, .. } => self.choice(*axis, |axis| mark(axis).to_string()),
            CodePart::Pre(_) => String::new(),
            CodePart::Text(text) => text.clone(),
        })
    }

    /// Converts translated pattern text back to code. `None` if a pattern split the text of a slot,
    /// so that its mark has lost its meaning.
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

/// Returns the mark of an axis.
fn mark(axis: usize) -> char {
    char::from_u32(FIRST_MARK + axis as u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Returns the axis of a mark.
fn axis_of_mark(character: char) -> Option<usize> {
    (character as u32)
        .checked_sub(FIRST_MARK)
        .map(|axis| axis as usize)
        .filter(|axis| *axis < MARKS)
}
