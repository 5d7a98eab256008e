//! Harness code with variables in place of slots.

use pyo3::prelude::*;
use testwright_core::{ActionId, Axis, Error, PoolId, Step};
use testwright_lang::harness::{CodeLine, CodePart, Fragment};
use testwright_source::TokenKind;

use super::body::StepRecord;
use super::variables::Variables;
use crate::checks::Violation;
use crate::system::{LastFailure, PythonSystem};

/// The code of a step with variables for slots.
pub(super) struct StepTexts {
    /// The statement.
    pub(super) statement: String,
    /// The reference's statement, where it differs.
    pub(super) reference: Option<String>,
    /// The results are compared.
    pub(super) compared: bool,
}

/// Writes harness code with variables for slots.
pub(super) struct VariableWriter<'a, 'py> {
    pub(super) system: &'a PythonSystem<'py>,
    /// The variable of each slot.
    pub(super) variables: &'a Variables,
    /// The slots in order of first mention.
    pub(super) slots: &'a [(PoolId, u32)],
    /// Names that steps use but do not bind themselves. A local variable of the same name in
    /// another step would hide them.
    pub(super) outside: &'a [String],
}

impl VariableWriter<'_, '_> {
    /// Returns the code of a step.
    pub(super) fn texts(&self, action: ActionId) -> Result<StepTexts, Error> {
        let texts = self.system.concrete_texts(action)?;
        let (template, values) = self.system.context.harness.catalog.values(action);
        let line = &self.system.context.harness.actions[template.0];
        let reference = texts.reference.map(|text| {
            let name = |pool, slot, twin| self.variables.name(pool, slot, twin);
            self.system
                .context
                .with_slot_names(&text, name)
                .trim()
                .to_owned()
        });
        Ok(StepTexts {
            statement: self.rename_locals(action, &self.code(&line.statement, &line.axes, &values)),
            reference: reference.map(|text| self.rename_locals(action, &text)),
            compared: texts.compared,
        })
    }

    /// Renames local variables of an action that would hide other names. In a harness they are
    /// local to the action; here all steps share one function.
    pub(super) fn rename_locals(&self, action: ActionId, text: &str) -> String {
        let (template, values) = self.system.context.harness.catalog.values(action);
        let line = &self.system.context.harness.actions[template.0];
        let statement = self.code(&line.statement, &line.axes, &values);
        let bound = testwright_source::names(&statement)
            .map(|names| names.binds)
            .unwrap_or_default();
        let slots = self
            .slots
            .iter()
            .map(|(pool, slot)| self.variables.name(*pool, *slot, false));
        let slots: Vec<String> = slots.collect();
        let hiding = bound
            .iter()
            .filter(|name| self.outside.contains(name) && !slots.contains(name));
        hiding.fold(text.to_owned(), |text, name| {
            rename_variable(&text, name, &format!("{name}_local"))
        })
    }

    /// Returns the code of a fragment for these values.
    pub(super) fn code(&self, fragment: &Fragment, axes: &[Axis], values: &[u64]) -> String {
        let text = fragment.render(|part| match part {
            CodePart::Slot {
                axis,
                twin,
                in_string,
            } => match &axes[*axis] {
                Axis::Slot { pool, .. } => {
                    let slot = values[*axis] as u32;
                    let names = self.system.context.harness.catalog.pool(*pool);
                    match (*in_string, *twin) {
                        // The text of a string is the same in the harness and here.
                        (true, true) => names.twin_name(slot),
                        (true, false) => names.slot_name(slot),
                        (false, twin) => self.variables.name(*pool, slot, twin),
                    }
                }
                _ => String::new(),
            },
            CodePart::Choice { axis, .. } => match &axes[*axis] {
                Axis::Choice(choice) => choice.text(values[*axis]).into_owned(),
                _ => String::new(),
            },
            CodePart::Pre(number) => before_name(*number),
            CodePart::Text(text) => text.clone(),
        });
        text.trim().to_owned()
    }

    /// Returns a keyword line for all combinations of the test's slots that are `wanted`.
    pub(super) fn combinations(
        &self,
        line: &CodeLine,
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

/// Returns every slot that the test, or the property it violates, names, in order of first mention.
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
    if let Some(LastFailure::Check(Violation::Property(number, values, _))) = &system.last_failure {
        let axes = &system.context.harness.properties[*number].line.axes;
        for (axis, value) in axes.iter().zip(values) {
            if let Axis::Slot { pool, .. } = axis {
                add((*pool, *value as u32));
            }
        }
    }
    slots
}

/// Returns the names that harness code may use without binding them: names that a step reads, names
/// that raw code defines, builtins.
pub(super) fn names_from_outside(system: &PythonSystem<'_>, steps: &[StepRecord]) -> Vec<String> {
    let actions = steps.iter().filter_map(|record| match record.step {
        Step::Act(action) => system.concrete_texts(action).ok(),
        Step::Restart => None,
    });
    let texts = actions.flat_map(|texts| std::iter::once(texts.statement).chain(texts.reference));
    let read = texts
        .filter_map(|text| testwright_source::names(text.trim()).ok())
        .flat_map(|names| names.reads);
    let raw = testwright_source::definitions(&system.context.harness.raw.text).unwrap_or_default();
    let defined = raw.into_iter().flat_map(|definition| definition.defines);
    let builtins = system
        .context
        .python
        .import("builtins")
        .and_then(|builtins| builtins.dir()?.extract::<Vec<String>>());
    read.chain(defined)
        .chain(builtins.unwrap_or_default())
        .collect()
}

/// Replaces a name where it is a variable: not behind a dot, not the name of an argument.
fn rename_variable(text: &str, from: &str, to: &str) -> String {
    let tokens = testwright_source::tokenize(text);
    let word = |index: usize| {
        tokens
            .get(index)
            .and_then(|token| text.get(token.range.clone()))
            .unwrap_or_default()
    };
    let mut depth = 0;
    let mut result = String::new();
    let mut copied = 0;
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::OpenBracket => depth += 1,
            TokenKind::CloseBracket => depth -= 1,
            _ => {}
        }
        let is_attribute = index > 0 && word(index - 1) == ".";
        let is_argument = depth > 0 && word(index + 1) == "=";
        if word(index) == from && !is_attribute && !is_argument {
            result.push_str(&text[copied..token.range.start]);
            result.push_str(to);
            copied = token.range.end;
        }
    }
    result + &text[copied..]
}

/// Returns names that have a meaning in the code of the test, which variables must not hide.
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

/// Returns a message with slot names replaced by variables.
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

/// Returns the variable for a value from before a step.
pub(super) fn before_name(number: usize) -> String {
    match number {
        0 => String::from("before"),
        _ => format!("before{}", number + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::rename_variable;

    #[test]
    fn only_variables_are_renamed() {
        assert_eq!(
            rename_variable("K = f(K=K, a.K, 'K'); K", "K", "K_local"),
            "K_local = f(K=K_local, a.K, 'K'); K_local"
        );
    }
}
