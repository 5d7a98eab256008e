//! What a module says once and for all: its imports, its constants, its definitions.

use std::collections::{BTreeMap, BTreeSet};

use testwright_source::tree::{self, Alias, Expression, Module, Statement, StatementKind};

use super::code::bind;
use crate::term::{Scope, Term};
use crate::value::Value;

/// What the names of a module stand for.
#[derive(Debug, Default)]
pub struct Facts {
    /// Names that stand for modules.
    modules: BTreeSet<String>,
    /// All names that the module binds.
    names: BTreeSet<String>,
    /// What names were assigned that are assigned only once.
    definitions: BTreeMap<String, Expression>,
    /// The values of those that are constants (R7).
    constants: BTreeMap<String, Value>,
}

impl Facts {
    /// Reads what a module says; `text` is its source.
    #[must_use]
    pub fn of(module: &Module, text: &str) -> Facts {
        let mut facts = Facts::default();
        let mut assigned = BTreeMap::new();
        facts.statements(&module.body, &mut assigned);
        let reassigned = globals_of_functions(text);
        assigned.retain(|name, _| !reassigned.contains(name));
        for (name, definition) in assigned {
            if let Some(definition) = definition {
                let value = match Term::read(&definition, text, &facts) {
                    Term::Value(value) => Some(value),
                    term => Value::of_term(&term),
                };
                facts
                    .constants
                    .extend(value.map(|value| (name.clone(), value)));
                facts.definitions.insert(name, definition);
            }
        }
        facts
    }

    /// What a name was assigned, if that is said once.
    #[must_use]
    pub fn definition(&self, name: &str) -> Option<Expression> {
        self.definitions.get(name).cloned()
    }

    /// Whether the module binds the name.
    #[must_use]
    pub fn binds(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    fn statements(
        &mut self,
        body: &[Statement],
        assigned: &mut BTreeMap<String, Option<Expression>>,
    ) {
        for statement in body {
            match &statement.kind {
                StatementKind::Import(aliases) => self.imports(aliases),
                StatementKind::ImportFrom { names, .. } => self.names_imported(names),
                StatementKind::Function(function) => {
                    self.names.insert(function.name.clone());
                }
                StatementKind::Class(class) => {
                    self.names.insert(class.name.clone());
                }
                StatementKind::Assign { targets, value } => {
                    for target in targets {
                        self.assign(target, Some(value), assigned);
                    }
                }
                StatementKind::Annotated { target, value, .. } => {
                    self.assign(target, value.as_ref(), assigned)
                }
                StatementKind::Augmented { target, .. } => self.assign(target, None, assigned),
                StatementKind::If {
                    body, otherwise, ..
                } => {
                    self.statements(body, assigned);
                    self.statements(otherwise, assigned);
                }
                StatementKind::For { target, body, .. } => {
                    self.assign(target, None, assigned);
                    self.statements(body, assigned);
                }
                StatementKind::With { body, .. } | StatementKind::While { body, .. } => {
                    self.statements(body, assigned)
                }
                StatementKind::Try {
                    body,
                    handlers,
                    otherwise,
                    finally,
                } => {
                    self.statements(body, assigned);
                    handlers
                        .iter()
                        .for_each(|handler| self.statements(&handler.body, assigned));
                    self.statements(otherwise, assigned);
                    self.statements(finally, assigned);
                }
                _ => {}
            }
        }
    }

    fn imports(&mut self, aliases: &[Alias]) {
        for alias in aliases {
            let bound = alias.alias.clone().unwrap_or_else(|| alias.name.clone());
            // `import a.b` binds `a`, and `a.b.f(…)` is still a function of a module.
            let first = bound.split('.').next().unwrap_or_default().to_owned();
            self.names.insert(first.clone());
            self.modules.insert(first);
            self.modules.insert(bound);
        }
    }

    /// Whether such a name is a module, only running could tell. One in small letters that something is taken out of
    /// (`shapes.area(…)`) nearly always is.
    fn names_imported(&mut self, aliases: &[Alias]) {
        for alias in aliases {
            let bound = alias.alias.as_ref().unwrap_or(&alias.name);
            self.names.insert(bound.clone());
            if !bound.contains(char::is_uppercase) {
                self.modules.insert(bound.clone());
            }
        }
    }

    fn assign(
        &mut self,
        target: &Expression,
        value: Option<&Expression>,
        assigned: &mut BTreeMap<String, Option<Expression>>,
    ) {
        let mut names = Vec::new();
        bind(target, &mut names);
        let value = value.filter(|_| target.as_name().is_some());
        for name in names {
            let known = assigned.contains_key(&name);
            self.names.insert(name.clone());
            assigned.insert(name, value.filter(|_| !known).cloned());
        }
    }
}

/// Names that functions declare `global`: those are no constants.
fn globals_of_functions(text: &str) -> BTreeSet<String> {
    let words = testwright_source::tokens(text);
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

impl Scope for Facts {
    fn name(&self, name: &str) -> Option<Term> {
        self.constants.get(name).cloned().map(Term::Value)
    }

    fn is_module(&self, name: &str) -> bool {
        self.modules.contains(name)
    }
}

/// The module of a text, and what it says.
pub(super) fn read(text: &str) -> Result<(Module, Facts), Vec<testwright_source::Problem>> {
    let module = tree::module(text)?;
    let facts = Facts::of(&module, text);
    Ok((module, facts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> Facts {
        read(text).expect("Python").1
    }

    #[test]
    fn r7_only_what_is_assigned_once_is_a_constant() {
        let facts = facts(
            "LIMIT = 3\nNAMES = ['a', LIMIT]\ncount = 0\ntotal = 1\ntotal = 2\ndef f():\n  global count\n  count += 1\n",
        );
        assert_eq!(facts.name("LIMIT"), Some(Term::Value(Value::integer(3))));
        assert_eq!(facts.name("count"), None);
        assert_eq!(facts.name("total"), None);
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
