//! What the Python modules that are written here have in common.

use std::fmt::Write;

use testwright_core::product::{Label, NameId, ValueId, Words};

/// The names that stand for actions in a module, where some names are the module's own.
pub(crate) struct Stubs<'w> {
    words: &'w Words,
    reserved: &'static [&'static str],
}

impl<'w> Stubs<'w> {
    pub(crate) fn new(words: &'w Words, reserved: &'static [&'static str]) -> Stubs<'w> {
        Stubs { words, reserved }
    }

    /// The name by which an action can be spoken of in the whole module. One that is called like something else in the
    /// module, or whose name cannot be written, has another name there; what it is called itself stays.
    pub(crate) fn reference(&self, name: NameId) -> String {
        let own = self.words.name_text(name);
        if !can_be_written(own) {
            return format!("_action_{}", name.0);
        }
        if self.reserved.contains(&own) {
            format!("{own}_action")
        } else {
            own.to_owned()
        }
    }

    /// A function for each action.
    pub(crate) fn write(&self, text: &mut String, vocabulary: &[NameId]) {
        for name in vocabulary {
            let own = self.words.name_text(*name);
            let reference = self.reference(*name);
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

    /// A tuple of actions.
    pub(crate) fn tuple(&self, vocabulary: &[NameId]) -> String {
        let names: Vec<String> = vocabulary
            .iter()
            .map(|name| self.reference(*name))
            .collect();
        match names.as_slice() {
            [one] => format!("({one},)"),
            several => format!("({})", several.join(", ")),
        }
    }

    /// A step: action, arguments and result.
    pub(crate) fn step(&self, label: Label) -> String {
        let arguments = &self.words.value_text(label.arguments).literal;
        let result = &self.words.value_text(label.result).literal;
        format!("({}, {arguments}, {result})", self.reference(label.name))
    }

    /// The same, the result left out if there is none.
    pub(crate) fn short_step(&self, label: Label) -> String {
        if label.result != ValueId::NONE {
            return self.step(label);
        }
        let arguments = &self.words.value_text(label.arguments).literal;
        format!("({}, {arguments})", self.reference(label.name))
    }
}

/// A text as Python writes it.
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

/// Whether a function can be defined by a name. A lambda, for one, is called `<lambda>`.
fn can_be_written(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// The first lines of a module: how it came to be.
pub(crate) fn head(command: &str) -> String {
    // A command line may have line ends in it, and what follows them would be code.
    let command = command.replace(['\n', '\r'], " ");
    format!("\n# {command}\n")
}
