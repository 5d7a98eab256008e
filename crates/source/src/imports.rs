//! The modules that a program imports.

use ruff_python_ast::statement_visitor::{StatementVisitor, walk_stmt};
use ruff_python_ast::{Alias, Stmt};

use crate::Range;
use crate::check::SyntaxProblem;
use crate::parse::{self, Tree};

/// One imported module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The dotted name of the module; empty for `from . import x`.
    pub module: String,
    /// The name after `as` in `import module as name`.
    pub alias: Option<String>,
    /// True if it is `from module import ...`.
    pub from: bool,
    /// The names imported from the module, as they are called there; `*` for everything. Empty
    /// unless `from`.
    pub names: Vec<String>,
    /// The names that `names` get here, in the same order.
    pub bound_names: Vec<String>,
    /// The whole statement, which may import other modules too.
    pub range: Range,
    /// The number of dots before the module's name.
    pub level: u32,
    /// True if the statement is outside of any function or class; it may be in a block, such as
    /// `try:` or `if`.
    pub top_level: bool,
}

/// Returns the modules that a program imports anywhere, in source order.
///
/// ```
/// use testwright_source::imports;
///
/// let found = imports("import os.path\ndef f():\n    from .shapes import Circle\n").unwrap_or_default();
/// assert_eq!(found[0].module, "os.path");
/// assert_eq!((found[1].level, found[1].top_level), (1, false));
/// ```
pub fn imports(text: &str) -> Result<Vec<Import>, Vec<SyntaxProblem>> {
    let tree = parse::parse_module(text)?;
    let mut visitor = ImportVisitor {
        tree: &tree,
        top_level: true,
        found: Vec::new(),
    };
    visitor.visit_body(tree.body());
    Ok(visitor.found)
}

/// Collects imports from statements.
struct ImportVisitor<'a> {
    tree: &'a Tree,
    top_level: bool,
    found: Vec<Import>,
}

impl StatementVisitor<'_> for ImportVisitor<'_> {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Import(import) => {
                for alias in &import.names {
                    self.found.push(Import {
                        module: alias.name.to_string(),
                        alias: alias.asname.as_ref().map(ToString::to_string),
                        from: false,
                        names: Vec::new(),
                        bound_names: Vec::new(),
                        range: self.tree.range(statement),
                        level: 0,
                        top_level: self.top_level,
                    });
                }
            }
            Stmt::ImportFrom(import) => {
                let name = |alias: &Alias| alias.name.to_string();
                let bound_name =
                    |alias: &Alias| alias.asname.as_ref().unwrap_or(&alias.name).to_string();
                self.found.push(Import {
                    module: import
                        .module
                        .as_ref()
                        .map(ToString::to_string)
                        .unwrap_or_default(),
                    alias: None,
                    from: true,
                    names: import.names.iter().map(name).collect(),
                    bound_names: import.names.iter().map(bound_name).collect(),
                    range: self.tree.range(statement),
                    level: import.level,
                    top_level: self.top_level,
                });
            }
            _ => {
                let is_scope = matches!(statement, Stmt::FunctionDef(_) | Stmt::ClassDef(_));
                let outside = self.top_level;
                self.top_level &= !is_scope;
                walk_stmt(self, statement);
                self.top_level = outside;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let shown: Vec<String> = imports(text)
            .unwrap_or_default()
            .into_iter()
            .map(|import| {
                let place = if import.top_level { "" } else { "inner " };
                let dots = ".".repeat(usize::try_from(import.level).unwrap_or(0));
                let mut shown = format!("{place}{dots}{}", import.module);
                if let Some(alias) = import.alias {
                    shown += &format!(" as {alias}");
                }
                if import.from {
                    shown += &format!(" [{}]", import.names.join(" "));
                }
                format!("{shown} in {:?}", &text[import.range])
            })
            .collect();
        assert_eq!(shown, expected, "{text:?}");
    }

    #[test]
    fn all_forms_at_all_depths() {
        check("", &[]);
        check(
            "import a.b, c as d",
            &[
                "a.b in \"import a.b, c as d\"",
                "c as d in \"import a.b, c as d\"",
            ],
        );
        check(
            "from a.b import c as d, e; x = 1",
            &["a.b [c e] in \"from a.b import c as d, e\""],
        );
        check("from .. import x", &[".. [x] in \"from .. import x\""]);
        check("from m import *", &["m [*] in \"from m import *\""]);
        check(
            "try:\n  import a\nexcept E:\n  import b\n",
            &["a in \"import a\"", "b in \"import b\""],
        );
        check(
            "def f():\n  class A:\n    import ä\r\nimport c",
            &["inner ä in \"import ä\"", "c in \"import c\""],
        );
    }

    #[test]
    fn problems_are_reported() {
        assert!(imports("import").is_err());
    }
}
