//! Building blocks for the Python modules that `fsm_file` and `suite_file` write.

use std::fmt::Write;

use testwright_core::product::{Interner, NameId, StepLabel, ValueId};

/// Python functions that stand for actions in a written module.
///
/// The module's own names are reserved. An action whose name is reserved, or is not a valid
/// identifier, is referred to by another name.
pub(crate) struct Stubs<'w> {
    /// Texts of the names and values.
    interner: &'w Interner,
    /// Names that the module uses for itself.
    reserved: &'static [&'static str],
}

impl<'w> Stubs<'w> {
    /// Creates the stubs for a module with these reserved names.
    pub(crate) fn new(interner: &'w Interner, reserved: &'static [&'static str]) -> Stubs<'w> {
        Stubs { interner, reserved }
    }

    /// Returns the name by which the module refers to an action. It differs from the action's own
    /// name if that is reserved or is not a valid identifier. The function's `__name__` stays the
    /// action's own.
    pub(crate) fn python_name(&self, name: NameId) -> String {
        let own = self.interner.name_text(name);
        if !can_be_written(own) {
            return format!("_action_{}", name.0);
        }
        if self.reserved.contains(&own) {
            format!("{own}_action")
        } else {
            own.to_owned()
        }
    }

    /// Writes an empty function for each action, and an alias where the reference differs.
    pub(crate) fn write(&self, text: &mut String, vocabulary: &[NameId]) {
        for name in vocabulary {
            let own = self.interner.name_text(*name);
            let reference = self.python_name(*name);
            if !can_be_written(own) {
                let quoted = quoted(own);
                let _ = writeln!(text, "def {reference}(): pass");
                let _ = writeln!(text, "{reference}.__name__ = {quoted}");
                continue;
            }
            let _ = writeln!(text, "def {own}(): pass");
            if reference != own {
                let _ = writeln!(text, "{reference} = {own}");
            }
        }
    }

    /// Returns a Python tuple of actions.
    pub(crate) fn tuple(&self, vocabulary: &[NameId]) -> String {
        let names: Vec<String> = vocabulary
            .iter()
            .map(|name| self.python_name(*name))
            .collect();
        match names.as_slice() {
            [one] => format!("({one},)"),
            several => format!("({})", several.join(", ")),
        }
    }

    /// Returns a step as a Python tuple of action, arguments and result.
    pub(crate) fn step(&self, label: StepLabel) -> String {
        let arguments = &self.interner.value_text(label.arguments).literal;
        let result = &self.interner.value_text(label.result).literal;
        format!("({}, {arguments}, {result})", self.python_name(label.name))
    }

    /// Returns a step as a Python tuple, without its result if that is `None`.
    pub(crate) fn short_step(&self, label: StepLabel) -> String {
        if label.result != ValueId::NONE {
            return self.step(label);
        }
        let arguments = &self.interner.value_text(label.arguments).literal;
        format!("({}, {arguments})", self.python_name(label.name))
    }
}

/// Quotes a text as a Python string literal.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for letter in text.chars() {
        match letter {
            '\'' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            other => quoted.push(other),
        }
    }
    quoted.push('\'');
    quoted
}

/// Returns true if `name` is a Python identifier. The name of a lambda, `<lambda>`, is not.
fn can_be_written(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// Returns the first lines of a module: a comment with the command that made it.
pub(crate) fn header_comment(command: &str) -> String {
    // A command line may contain line breaks, and the text after one would be code.
    let command = command.replace(['\n', '\r'], " ");
    format!("\n# {command}\n")
}
