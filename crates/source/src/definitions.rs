//! A module as a list of top-level statements, and the ones that given names need.
//!
//! This extracts a short program from a long one: split it with [`definitions`], select with
//! [`needed_definitions`], and join the texts again.

use std::collections::HashSet;

use ruff_python_ast::{Expr, Stmt};

use crate::Range;
use crate::check::SyntaxProblem;
use crate::names::names_of;
use crate::parse;

/// One statement at the top level of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleDefinition {
    /// The statement with its decorators and the comment lines directly above it.
    pub range: Range,
    /// The names it binds in the module, as in [`NameUsage::binds`](crate::NameUsage::binds).
    pub defines: Vec<String>,
    /// The names it needs from outside, as in [`NameUsage::reads`](crate::NameUsage::reads).
    pub uses: Vec<String>,
    /// True if it is an `import` or a `from ... import`.
    pub is_import: bool,
    /// True if it may do more than define its names: anything but an import, a function, a class,
    /// or an assignment to names.
    pub has_effect: bool,
    /// The line on which `range` starts, counted from 1.
    pub first_line: usize,
}

/// Splits a module into its top-level statements.
///
/// ```
/// use testwright_source::definitions;
///
/// let module = "import math\n\n# Twice as much.\ndef double(x):\n    return math.prod([x, 2])\n";
/// let found = definitions(module).unwrap_or_default();
/// assert_eq!(found[1].defines, ["double"]);
/// assert_eq!(found[1].uses, ["math"]);
/// assert!(module[found[1].range.clone()].starts_with("# Twice"));
/// ```
pub fn definitions(text: &str) -> Result<Vec<ModuleDefinition>, Vec<SyntaxProblem>> {
    let tree = parse::parse_module(text)?;
    let mut found: Vec<ModuleDefinition> = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for statement in tree.body() {
        let own = tree.range(statement);
        let before = found.last().map_or(0, |definition| definition.range.end);
        let start = comment_start(text, own.start, before);
        line += count_line_ends(text.get(counted..start).unwrap_or(""));
        counted = start;
        let names = names_of(std::slice::from_ref(statement));
        found.push(ModuleDefinition {
            range: start..own.end,
            defines: names.binds,
            uses: names.reads,
            is_import: matches!(statement, Stmt::Import(_) | Stmt::ImportFrom(_)),
            has_effect: has_effect(statement),
            first_line: line,
        });
    }
    Ok(found)
}

/// Returns the start of the comment lines directly above the statement at `start`; nothing before
/// `before` belongs to it.
fn comment_start(text: &str, start: usize, before: usize) -> usize {
    let mut found = start;
    loop {
        let above = text.get(before..found).unwrap_or("");
        let Some(above) = above
            .strip_suffix('\n')
            .or_else(|| above.strip_suffix('\r'))
        else {
            return found;
        };
        let above = above.strip_suffix('\r').unwrap_or(above);
        let line_start = above.rfind(['\n', '\r']).map_or(0, |end| end + 1);
        // The rest of the line after `before` is the tail of the preceding statement, not a comment
        // of this one.
        let whole_line = line_start > 0 || before == 0;
        if !(whole_line && above.get(line_start..).unwrap_or("").starts_with('#')) {
            return found;
        }
        found = before + line_start;
    }
}

/// Counts the line ends in `text`.
fn count_line_ends(text: &str) -> usize {
    let bytes = text.as_bytes();
    let pairs = bytes.windows(2).filter(|pair| *pair == b"\r\n").count();
    let all = bytes
        .iter()
        .filter(|byte| matches!(byte, b'\n' | b'\r'))
        .count();
    all - pairs
}

/// Returns true if a statement may do more than define names.
fn has_effect(statement: &Stmt) -> bool {
    match statement {
        Stmt::Import(_) | Stmt::ImportFrom(_) => false,
        Stmt::FunctionDef(_) | Stmt::ClassDef(_) | Stmt::TypeAlias(_) => false,
        Stmt::Pass(_) => false,
        Stmt::Assign(assign) => !assign.targets.iter().all(is_name),
        Stmt::AnnAssign(assign) => !is_name(&assign.target),
        Stmt::AugAssign(assign) => !is_name(&assign.target),
        _ => true,
    }
}

/// Returns true if a target consists of names only: `x`, or `x, *y`.
fn is_name(target: &Expr) -> bool {
    match target {
        Expr::Name(_) => true,
        Expr::Starred(starred) => is_name(&starred.value),
        Expr::Tuple(tuple) => tuple.elts.iter().all(is_name),
        Expr::List(list) => list.elts.iter().all(is_name),
        _ => false,
    }
}

/// Selects the `definitions` that `names` need, directly or through others, in source order.
///
/// A definition is needed if it
/// - defines a needed name; all that do are kept, since the last need not be the one that counts,
///   as in `x = 0` and `x += 1`;
/// - is a star import, which may define anything;
/// - has an effect and uses a needed name that the module defines, as `table.append(1)` does for `table`;
/// - has an effect, defines nothing, and of the module's names uses only imported ones, as
///   `sys.setrecursionlimit(5000)` or `random.seed(1)` do: that sets up the process for everything.
///
/// A statement that tests `__name__` to see whether the module is the main program is never needed.
/// Effects hidden in a pure definition are not detected: `y = table.pop()`, or a decorator that
/// registers its function.
pub fn needed_definitions<'a>(
    definitions: &'a [ModuleDefinition],
    names: &[String],
) -> Vec<&'a ModuleDefinition> {
    let defined = names_defined(definitions, |_| true);
    let own = names_defined(definitions, |definition| !definition.is_import);
    let mut wanted: HashSet<&str> = names.iter().map(String::as_str).collect();
    let mut kept = vec![false; definitions.len()];
    loop {
        let mut changed = false;
        for (definition, kept) in definitions.iter().zip(&mut kept) {
            if !*kept && is_needed(definition, &wanted, &defined, &own) {
                *kept = true;
                changed = true;
                wanted.extend(definition.uses.iter().map(String::as_str));
                // A function that sets a needed global must also be called, so its own name is
                // needed as well.
                if !definition.is_import {
                    wanted.extend(definition.defines.iter().map(String::as_str));
                }
            }
        }
        if !changed {
            break;
        }
    }
    let pairs = definitions.iter().zip(kept);
    pairs
        .filter(|(_, kept)| *kept)
        .map(|(definition, _)| definition)
        .collect()
}

/// Returns the names that the selected definitions bind.
fn names_defined(
    definitions: &[ModuleDefinition],
    by: impl Fn(&ModuleDefinition) -> bool,
) -> HashSet<&str> {
    let definitions = definitions.iter().filter(|definition| by(definition));
    let names = definitions.flat_map(|definition| &definition.defines);
    names.map(String::as_str).collect()
}

/// Returns true if a definition is needed; see [`needed_definitions`]. `defined` is everything the module
/// defines, `own` what it does not import.
fn is_needed(
    definition: &ModuleDefinition,
    wanted: &HashSet<&str>,
    defined: &HashSet<&str>,
    own: &HashSet<&str>,
) -> bool {
    let defines_wanted = definition
        .defines
        .iter()
        .any(|name| name == "*" || wanted.contains(name.as_str()));
    if defines_wanted {
        return true;
    }
    if !definition.has_effect || definition.uses.iter().any(|name| name == "__name__") {
        return false;
    }
    let mut uses = definition
        .uses
        .iter()
        .map(String::as_str)
        .filter(|name| defined.contains(name))
        .peekable();
    let sets_up = definition.defines.is_empty()
        && uses.peek().is_some()
        && uses.clone().all(|name| !own.contains(name));
    sets_up || uses.any(|name| wanted.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks every definition, written as `line: defines <- uses`, with `!` for an effect and
    /// `import` for an import.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let shown: Vec<String> = definitions(text)
            .unwrap_or_default()
            .iter()
            .map(|definition| {
                let mark = match (definition.is_import, definition.has_effect) {
                    (true, _) => "import ",
                    (_, true) => "! ",
                    _ => "",
                };
                let (defines, uses) = (definition.defines.join(" "), definition.uses.join(" "));
                format!("{}: {mark}{defines} <- {uses}", definition.first_line)
            })
            .collect();
        assert_eq!(shown, expected, "{text:?}");
    }

    #[test]
    fn splitting() {
        check("", &[]);
        check("# comment", &[]);
        check(
            "'''Doc.'''\nimport sys, os.path\n",
            &["1: !  <- ", "2: import sys os <- "],
        );
        check(
            "a = 1; b = a\r\n\r\nb.c = 2",
            &["1: a <- ", "1: b <- a", "3: !  <- b"],
        );
        check(
            "x, y = 1, 2\nx += y\nfor i in y: x.add(i)",
            &["1: x y <- ", "2: x <- x y", "3: ! i <- y x"],
        );
        check("if a:\n  def f(): g()\nelse: f = None", &["1: ! f <- a g"]);
    }

    #[test]
    fn problems_are_reported() {
        assert!(definitions("def").is_err());
    }

    #[track_caller]
    fn check_texts(text: &str, expected: &[&str]) {
        let found = definitions(text).unwrap_or_default();
        let shown: Vec<&str> = found
            .iter()
            .map(|definition| &text[definition.range.clone()])
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn ranges_take_comments_and_decorators_along() {
        check_texts(
            "# a\n\n# b\r\n# c\r\n@d\r\ndef f(): pass # e\n",
            &["# b\r\n# c\r\n@d\r\ndef f(): pass"],
        );
        check_texts("x = '''\n# no'''\ny = 1", &["x = '''\n# no'''", "y = 1"]);
        check_texts("x = 1 # no\ny = 1", &["x = 1", "y = 1"]);
        check_texts("x = 1\n    # inner\ny = 1", &["x = 1", "y = 1"]);
        check_texts("\u{feff}# ä\nx = 1; # b\ny = 2", &["x = 1", "y = 2"]);
    }

    #[track_caller]
    fn check_needed(text: &str, names: &[&str], expected: &[usize]) {
        let found = definitions(text).unwrap_or_default();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let lines: Vec<usize> = needed_definitions(&found, &names)
            .iter()
            .map(|definition| definition.first_line)
            .collect();
        assert_eq!(lines, expected, "{text}");
    }

    const MODULE: &str = "\
import sys, math
sys.setrecursionlimit(5000)
table = []
other = []
table.append(math.pi)
other.append(1)
def look(i): return table[i]
def unused(): return look(0)
count = 0
def up():
    global count
    count += 1
up()
if __name__ == '__main__': look(1)
print('hello')
";

    #[test]
    fn definitions_needed_by_names_are_found() {
        check_needed(MODULE, &["look"], &[1, 2, 3, 5, 7]);
        check_needed(MODULE, &["other"], &[1, 2, 4, 6]);
        check_needed(MODULE, &["count"], &[1, 2, 9, 10, 13]);
        check_needed(MODULE, &["len"], &[1, 2]);
        check_needed("", &["x"], &[]);
        check_needed(
            "from m import *\nx = 1\ny = x\nx += 1",
            &["y"],
            &[1, 2, 3, 4],
        );
        check_needed(
            "def f(): return g()\ndef g(): return f()\ndef h(): pass",
            &["g"],
            &[1, 2],
        );
    }
}
