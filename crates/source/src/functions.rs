//! The functions of a file by their first line, with their qualified names.

use crate::tree::{self, Statement, StatementKind};

/// A `def` anywhere in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFunction {
    /// The first line, including decorators. Counted from 1.
    pub line: u32,
    /// Its name.
    pub name: String,
    /// `Class.method`, `outer.<locals>.inner`: its `__qualname__`.
    pub qualified_name: String,
}

/// Returns all functions of a file, in order; none if it is not Python.
///
/// ```
/// let functions = testwright_source::functions("class A:\n    @property\n    def b(self): pass\n");
/// assert_eq!(functions[0].qualified_name, "A.b");
/// assert_eq!(functions[0].line, 2);
/// ```
#[must_use]
pub fn functions(text: &str) -> Vec<NamedFunction> {
    let mut found = Vec::new();
    if let Ok(module) = tree::module(text) {
        collect(text, &module.body, "", &mut found);
    }
    found
}

/// Collects the functions in statements, recursively. `prefix` is the qualified name of the
/// enclosing scope.
fn collect(text: &str, body: &[Statement], prefix: &str, found: &mut Vec<NamedFunction>) {
    for statement in body {
        match &statement.kind {
            StatementKind::Function(function) => {
                let before = text.get(..statement.range.start).unwrap_or_default();
                let line = 1 + before.matches('\n').count();
                let qualified_name = format!("{prefix}{}", function.name);
                let inner = format!("{qualified_name}.<locals>.");
                found.push(NamedFunction {
                    line: u32::try_from(line).unwrap_or(u32::MAX),
                    name: function.name.clone(),
                    qualified_name,
                });
                collect(text, &function.body, &inner, found);
            }
            StatementKind::Class(class) => {
                collect(
                    text,
                    &class.body,
                    &format!("{prefix}{}.", class.name),
                    found,
                );
            }
            StatementKind::For {
                body, otherwise, ..
            }
            | StatementKind::While {
                body, otherwise, ..
            }
            | StatementKind::If {
                body, otherwise, ..
            } => {
                collect(text, body, prefix, found);
                collect(text, otherwise, prefix, found);
            }
            StatementKind::With { body, .. } => collect(text, body, prefix, found),
            StatementKind::Match { cases, .. } => {
                for case in cases {
                    collect(text, &case.body, prefix, found);
                }
            }
            StatementKind::Try {
                body,
                handlers,
                otherwise,
                finally,
            } => {
                collect(text, body, prefix, found);
                for handler in handlers {
                    collect(text, &handler.body, prefix, found);
                }
                collect(text, otherwise, prefix, found);
                collect(text, finally, prefix, found);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualified_names_include_enclosing_scopes() {
        let text = "\
if True:
    def outer():
        def inner(): pass
        class C:
            async def method(self): pass
try:
    pass
finally:
    @decorated
    @twice
    def last(): pass
";
        let found: Vec<(u32, String)> = functions(text)
            .into_iter()
            .map(|function| (function.line, function.qualified_name))
            .collect();
        let expected = [
            (2, "outer"),
            (3, "outer.<locals>.inner"),
            (5, "outer.<locals>.C.method"),
            (9, "last"),
        ];
        assert_eq!(found, expected.map(|(line, name)| (line, name.to_owned())));
        assert_eq!(functions("def ("), []);
    }
}
