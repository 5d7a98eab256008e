//! Harness code with variables in place of slots.

use testwright_core::{ActionId, Axis, Error, PoolId, Step};
use testwright_lang::harness::{Fragment, Line, Part};

use super::body::StepRecord;
use super::variables::Variables;
use crate::checks::Violation;
use crate::system::{LastFailure, PythonSystem};

/// The texts of a step with variables for slots.
pub(super) struct StepTexts {
    pub(super) statement: String,
    pub(super) reference: Option<String>,
    pub(super) compared: bool,
}

/// Writes code with variables for slots.
pub(super) struct Names<'a, 'py> {
    pub(super) system: &'a PythonSystem<'py>,
    pub(super) variables: &'a Variables,
    pub(super) slots: &'a [(PoolId, u32)],
}

impl Names<'_, '_> {
    pub(super) fn texts(&self, action: ActionId) -> Result<StepTexts, Error> {
        let texts = self.system.concrete_texts(action)?;
        let named = |text: &str| {
            self.system
                .with_slot_names(text, |pool, slot, twin| {
                    self.variables.name(pool, slot, twin)
                })
                .trim()
                .to_owned()
        };
        Ok(StepTexts {
            statement: named(&texts.statement),
            reference: texts.reference.as_deref().map(named),
            compared: texts.compared,
        })
    }

    pub(super) fn code(&self, fragment: &Fragment, axes: &[Axis], values: &[u64]) -> String {
        let text = fragment.render(|part| match part {
            Part::Slot { axis, twin, .. } => match &axes[*axis] {
                Axis::Slot { pool, .. } => self.variables.name(*pool, values[*axis] as u32, *twin),
                _ => String::new(),
            },
            Part::Choice { axis, .. } => match &axes[*axis] {
                Axis::Choice(choice) => choice.text(values[*axis]).into_owned(),
                _ => String::new(),
            },
            Part::Pre(number) => before_name(*number),
            Part::Text(text) => text.clone(),
        });
        text.trim().to_owned()
    }

    /// A keyword line for all combinations of those slots of the test that are `wanted`.
    pub(super) fn combinations(
        &self,
        line: &Line,
        wanted: impl Fn(PoolId, u32) -> bool,
    ) -> Vec<String> {
        let mut all = vec![Vec::new()];
        for axis in &line.axes {
            let choices: Vec<u64> = match axis {
                Axis::Slot { pool, .. } => self
                    .slots
                    .iter()
                    .filter(|slot| slot.0 == *pool && wanted(slot.0, slot.1))
                    .map(|slot| u64::from(slot.1))
                    .collect(),
                Axis::Choice(choice) => (0..choice.len()).collect(),
                Axis::Repeat(_) => vec![0],
            };
            all = all
                .iter()
                .flat_map(|values: &Vec<u64>| {
                    choices
                        .iter()
                        .map(move |choice| [values.as_slice(), &[*choice]].concat())
                })
                .collect();
        }
        all.iter()
            .map(|values| self.code(&line.code, &line.axes, values))
            .collect()
    }
}

/// Every slot that the test, or the property it violates, names, in order of first mention.
pub(super) fn slots_in_order(
    system: &PythonSystem<'_>,
    steps: &[StepRecord],
) -> Vec<(PoolId, u32)> {
    let mut slots = Vec::new();
    let mut add = |slot: (PoolId, u32)| {
        if !slots.contains(&slot) {
            slots.push(slot);
        }
    };
    for record in steps {
        if let Step::Act(action) = record.step {
            system
                .context
                .harness
                .catalog
                .slots(action)
                .iter()
                .for_each(|slot| add((slot.0, slot.1)));
        }
    }
    if let Some(LastFailure::Check(Violation::Property(number, values))) = &system.last_failure {
        let axes = &system.context.harness.properties[*number].line.axes;
        for (axis, value) in axes.iter().zip(values) {
            if let Axis::Slot { pool, .. } = axis {
                add((*pool, *value as u32));
            }
        }
    }
    slots
}

/// Names that mean something in the code of the test, which variables must not hide.
pub(super) fn names_in_use(system: &PythonSystem<'_>, steps: &[StepRecord]) -> Vec<String> {
    let mut taken = Vec::new();
    for record in steps {
        let Step::Act(action) = record.step else {
            continue;
        };
        let Ok(texts) = system.concrete_texts(action) else {
            continue;
        };
        for text in std::iter::once(&texts.statement).chain(&texts.reference) {
            if let Ok(names) = testwright_source::names(text.trim()) {
                taken.extend(names.reads);
                taken.extend(names.binds);
            }
        }
    }
    let defined =
        testwright_source::definitions(&system.context.harness.raw.text).unwrap_or_default();
    taken.extend(
        defined
            .into_iter()
            .flat_map(|definition| definition.defines),
    );
    taken.extend(["before", "after", "raised", "result", "expected"].map(String::from));
    taken
}

/// A message with the names of variables for those of slots.
pub(super) fn with_variables(
    system: &PythonSystem<'_>,
    variables: &Variables,
    slots: &[(PoolId, u32)],
    message: &str,
) -> String {
    let name_of = |word: &str| {
        slots.iter().find_map(|(pool, slot)| {
            let names = system.context.harness.catalog.pool(*pool);
            let twin = names.twin_name(*slot) == word;
            (twin || names.slot_name(*slot) == word).then(|| variables.name(*pool, *slot, twin))
        })
    };
    let is_part_of_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut text = String::new();
    let mut rest = message;
    while let Some(start) = rest.find(is_part_of_word) {
        let end = rest[start..]
            .find(|character| !is_part_of_word(character))
            .map_or(rest.len(), |length| start + length);
        text.push_str(&rest[..start]);
        text.push_str(&name_of(&rest[start..end]).unwrap_or_else(|| rest[start..end].to_owned()));
        rest = &rest[end..];
    }
    text + rest
}

/// The variable that keeps a value from before a step.
pub(super) fn before_name(number: usize) -> String {
    match number {
        0 => String::from("before"),
        _ => format!("before{}", number + 1),
    }
}
