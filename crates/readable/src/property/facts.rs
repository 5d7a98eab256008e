//! Facts about a module that hold everywhere in it: imports, constants and definitions.

use std::collections::{BTreeMap, BTreeSet};

use testwright_source::tree::{self, Alias, Expression, Module, Statement, StatementKind};

use super::code::bound_names;
use crate::term::{NameScope, Term};
use crate::value::PythonValue;

/// The meaning of a module's global names.
#[derive(Debug, Default)]
pub struct ModuleFacts {
    /// The names that stand for modules.
    modules: BTreeSet<String>,
    /// All names that the module binds.
    names: BTreeSet<String>,
    /// The expressions of names that are assigned only once.
    definitions: BTreeMap<String, Expression>,
    /// The values of those that are constants (R7).
    constants: BTreeMap<String, PythonValue>,
}

impl ModuleFacts {
    /// Reads the facts of a module; `text` is its source.
    #[must_use]
    pub fn from_module(module: &Module, text: &str) -> ModuleFacts {
        let mut facts = ModuleFacts::default();
        let mut assigned = BTreeMap::new();
        facts.read_statements(&module.body, &mut assigned);
        let reassigned = globals_of_functions(text);
        assigned.retain(|name, _| !reassigned.contains(name));
        for (name, definition) in assigned {
            if let Some(definition) = definition {
                let value = match Term::from_expression(&definition, text, &facts) {
                    Term::Value(value) => Some(value),
                    term => PythonValue::from_term(&term),
                };
                facts
                    .constants
                    .extend(value.map(|value| (name.clone(), value)));
                facts.definitions.insert(name, definition);
            }
        }
        facts
    }

    /// Returns the expression that a name was assigned, if it is assigned once.
    #[must_use]
    pub fn definition(&self, name: &str) -> Option<Expression> {
        self.definitions.get(name).cloned()
    }

    /// Returns true if the module binds the name.
    #[must_use]
    pub fn binds(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Reads statements and everything inside them, except functions and classes. A name that is
    /// assigned twice has no definition.
    fn read_statements(
        &mut self,
        body: &[Statement],
        assigned: &mut BTreeMap<String, Option<Expression>>,
    ) {
        for statement in body {
            match &statement.kind {
                StatementKind::Import(aliases) => self.add_imports(aliases),
                StatementKind::ImportFrom { names, .. } => self.add_imported_names(names),
                StatementKind::Function(function) => {
                    self.names.insert(function.name.clone());
                }
                StatementKind::Class(class) => {
                    self.names.insert(class.name.clone());
                }
                StatementKind::Assign { targets, value } => {
                    for target in targets {
                        self.add_assignment(target, Some(value), assigned);
                    }
                }
                StatementKind::Annotated { target, value, .. } => {
                    self.add_assignment(target, value.as_ref(), assigned)
                }
                StatementKind::Augmented { target, .. } => {
                    self.add_assignment(target, None, assigned)
                }
                StatementKind::If {
                    body, otherwise, ..
                } => {
                    self.read_statements(body, assigned);
                    self.read_statements(otherwise, assigned);
                }
                StatementKind::For { target, body, .. } => {
                    self.add_assignment(target, None, assigned);
                    self.read_statements(body, assigned);
                }
                StatementKind::With { body, .. } | StatementKind::While { body, .. } => {
                    self.read_statements(body, assigned)
                }
                StatementKind::Try {
                    body,
                    handlers,
                    otherwise,
                    finally,
                } => {
                    self.read_statements(body, assigned);
                    handlers
                        .iter()
                        .for_each(|handler| self.read_statements(&handler.body, assigned));
                    self.read_statements(otherwise, assigned);
                    self.read_statements(finally, assigned);
                }
                _ => {}
            }
        }
    }

    /// Adds the names of an `import` statement.
    fn add_imports(&mut self, aliases: &[Alias]) {
        for alias in aliases {
            let bound = alias.alias.clone().unwrap_or_else(|| alias.name.clone());
            // `import a.b` binds `a`, and `a.b.f(…)` is still a function of a module.
            let first = bound.split('.').next().unwrap_or_default().to_owned();
            self.names.insert(first.clone());
            self.modules.insert(first);
            self.modules.insert(bound);
        }
    }

    /// Adds the names of a `from … import` statement. Only running could tell whether one is a
    /// module; a name in small letters with an attribute (`shapes.area(…)`) nearly always is.
    fn add_imported_names(&mut self, aliases: &[Alias]) {
        for alias in aliases {
            let bound = alias.alias.as_ref().unwrap_or(&alias.name);
            self.names.insert(bound.clone());
            if !bound.contains(char::is_uppercase) {
                self.modules.insert(bound.clone());
            }
        }
    }

    /// Adds the names of an assignment. Only a single plain name gets a definition.
    fn add_assignment(
        &mut self,
        target: &Expression,
        value: Option<&Expression>,
        assigned: &mut BTreeMap<String, Option<Expression>>,
    ) {
        let mut names = Vec::new();
        bound_names(target, &mut names);
        let value = value.filter(|_| target.as_name().is_some());
        for name in names {
            let known = assigned.contains_key(&name);
            self.names.insert(name.clone());
            assigned.insert(name, value.filter(|_| !known).cloned());
        }
    }
}

/// Returns the names that functions declare `global`, which are no constants.
fn globals_of_functions(text: &str) -> BTreeSet<String> {
    let words = testwright_source::tokenize(text);
    let mut globals = BTreeSet::new();
    let mut is_declared = false;
    for token in words {
        let word = text.get(token.range).unwrap_or_default();
        match word {
            "global" => is_declared = true,
            "," => {}
            word if is_declared
                && word
                    .chars()
                    .all(|letter| letter.is_alphanumeric() || letter == '_')
                && !word.is_empty() =>
            {
                globals.insert(word.to_owned());
            }
            _ => is_declared = false,
        }
    }
    globals
}

impl NameScope for ModuleFacts {
    fn resolve_name(&self, name: &str) -> Option<Term> {
        self.constants.get(name).cloned().map(Term::Value)
    }

    fn is_module(&self, name: &str) -> bool {
        self.modules.contains(name)
    }
}

/// Parses a text and reads its facts.
pub(super) fn parse_module(
    text: &str,
) -> Result<(Module, ModuleFacts), Vec<testwright_source::SyntaxProblem>> {
    let module = tree::module(text)?;
    let facts = ModuleFacts::from_module(&module, text);
    Ok((module, facts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> ModuleFacts {
        parse_module(text).expect("Python").1
    }

    #[test]
    fn r7_only_what_is_assigned_once_is_a_constant() {
        let facts = facts(
            "LIMIT = 3\nNAMES = ['a', LIMIT]\ncount = 0\ntotal = 1\ntotal = 2\ndef f():\n  global count\n  count += 1\n",
        );
        assert_eq!(
            facts.resolve_name("LIMIT"),
            Some(Term::Value(PythonValue::integer(3)))
        );
        assert_eq!(facts.resolve_name("count"), None);
        assert_eq!(facts.resolve_name("total"), None);
        assert!(facts.binds("total") && facts.binds("f") && !facts.binds("len"));
    }

    #[test]
    fn imported_names_may_be_modules() {
        let facts =
            facts("import bank\nimport a.b\nimport numpy as np\nfrom shapes import area, Circle\n");
        for (name, is_module) in [
            ("bank", true),
            ("a.b", true),
            ("a", true),
            ("np", true),
            ("Circle", false),
        ] {
            assert_eq!(facts.is_module(name), is_module, "{name}");
        }
    }
}
