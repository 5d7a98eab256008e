//! Functions that nobody can import: made again by the function that made them, or written down again.
//!
//! A function that encloses variables is made by the one around it, if a recorded call of that gave one in the same state.
//! Else its text is copied into the test, behind the variables that it encloses, as long as it needs nothing besides.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use testwright_source::{names, tokens};

use super::build::{Builder, Missing};
use super::code::Code;
use super::plan::Setup;
use super::scope::is_builtin;
use crate::Graph;
use crate::value::{Function, NodeId, Reference};

/// A copy that is longer than this is no part of a short test.
const MOST_LINES: usize = 12;

impl<'a> Builder<'a> {
    /// A function that cannot be imported.
    pub(super) fn function(
        &mut self,
        graph: &'a Graph,
        node: NodeId,
        function: &'a Function,
    ) -> Result<Code, Missing> {
        let stand = self.stand();
        if let Some(code) = self.made_by_another(graph, node, function) {
            return Ok(code);
        }
        self.restore(stand);
        let stand = self.stand();
        if let Some(code) = self.copied(graph, node, function) {
            return Ok(code);
        }
        self.restore(stand);
        Err(self.unnamed_function(function))
    }

    /// A function of a program that nobody can import without running it: its text.
    pub(super) fn of_program(&mut self, reference: &Reference) -> Option<Code> {
        let name = reference.path.as_str();
        let is_of_program = self.scope.module_name(&reference.module) == "__main__";
        if !is_of_program || self.is_expecting() {
            return None;
        }
        let text = fs::read_to_string(self.program()?).ok()?;
        let before = text
            .lines()
            .position(|line| line.starts_with(&format!("def {name}(")));
        let line = u32::try_from(before? + 1).ok()?;
        let Copy::Definition { lines, .. } = definition(&text, line, name, &[])? else {
            return None;
        };
        let copy = Setup::Definition(lines);
        if !self.setup.contains(&copy) {
            if self.scope.variable(name) != name {
                return None;
            }
            self.setup.push(copy);
        }
        Some(Code::text(name))
    }

    /// By the call of the function around it that was seen to give one in this state.
    fn made_by_another(
        &mut self,
        graph: &'a Graph,
        node: NodeId,
        function: &Function,
    ) -> Option<Code> {
        // What the unit under test gives would be compared with itself.
        let is_own = |unit| self.is_expecting() && unit == self.call.unit;
        let made = self.evidence.made(function).iter();
        let mut alike = made.filter(|(call, _, result)| {
            !is_own(call.unit) && call.values.is_alike(*result, graph, node)
        });
        let (call, unit, _) = *alike.next()?;
        let name = Reference::new(unit.module.clone(), unit.qualified_name.clone());
        let callable = self.reference(&name).ok()?.flat();
        let arguments = self.arguments(call, unit, 0).ok()?;
        Some(Code::call(&callable, arguments))
    }

    /// Its text, with the variables that it encloses in front.
    fn copied(&mut self, graph: &'a Graph, node: NodeId, function: &'a Function) -> Option<Code> {
        let enclosed: Vec<&str> = function
            .closure
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        let copy = copy(&self.home(function)?, function, &enclosed)?;
        // A copy is another function than the one that it is a copy of, except for those that differ in nothing.
        if self.is_expecting() && !(enclosed.is_empty() && matches!(copy, Copy::Lambda(_))) {
            return None;
        }
        for (name, value) in &function.closure {
            let code = self.code(graph, *value, name).ok()?;
            if code.flat() == *name {
                continue;
            }
            if self.scope.variable(name) != *name {
                return None;
            }
            self.setup.push(Setup::Assign {
                target: name.clone(),
                code,
            });
            if let Some(object) = graph.object(*value) {
                self.live.insert(object, name.clone());
            }
        }
        match copy {
            Copy::Lambda(text) => Some(Code::Text(text)),
            Copy::Definition { name, lines } => {
                if self.scope.variable(&name) != name {
                    return None;
                }
                self.setup.push(Setup::Definition(lines));
                if let Some(object) = graph.object(node) {
                    self.live.insert(object, name.clone());
                }
                Some(Code::Text(name))
            }
        }
    }

    /// The file that a function is in. The program itself need not be a part of the project.
    fn home(&self, function: &Function) -> Option<PathBuf> {
        let project = self.knowledge.project;
        if function.module != "__main__" {
            let module = project.module_named(&function.module)?;
            return Some(project.root.join(&module.path));
        }
        self.program()
    }

    /// The file of the program.
    fn program(&self) -> Option<PathBuf> {
        let project = self.knowledge.project;
        let (script, folder) = self.evidence.script(self.call.execution)?;
        let module = project.module_at(Path::new(script));
        Some(match module {
            Some(module) => project.root.join(&module.path),
            None => Path::new(folder).join(script),
        })
    }

    fn unnamed_function(&self, function: &Function) -> Missing {
        let what = if function.qualified_name.ends_with("<lambda>") {
            "a lambda"
        } else {
            "a function"
        };
        let around = function.qualified_name.split(".<locals>").next();
        let place = match around.filter(|name| !name.starts_with('<')) {
            Some(name) => format!("{}.{name}", function.module),
            None => function.module.clone(),
        };
        Missing(format!("{what} made in {place}, line {}", function.line))
    }
}

/// The text of a function.
#[derive(Debug, PartialEq, Eq)]
enum Copy {
    Lambda(String),
    Definition { name: String, lines: Vec<String> },
}

/// The text of a function of a file, if it uses nothing but its parameters, Python's own names and what it encloses.
fn copy(file: &Path, function: &Function, enclosed: &[&str]) -> Option<Copy> {
    let text = fs::read_to_string(file).ok()?;
    let name = function.qualified_name.rsplit('.').next()?;
    match name {
        "<lambda>" => only_lambda(&text, function.line, enclosed).map(Copy::Lambda),
        _ => definition(&text, function.line, name, enclosed),
    }
}

/// The definition that begins on a line, and the attributes that it is given right behind.
fn definition(text: &str, line: u32, name: &str, enclosed: &[&str]) -> Option<Copy> {
    let before = usize::try_from(line).ok()?.checked_sub(1)?;
    let mut rest = text.lines().skip(before).peekable();
    let first = rest.next()?;
    let indent = first.len() - first.trim_start().len();
    // What a decorator makes of it is another function.
    if !first.get(indent..)?.starts_with(&format!("def {name}(")) {
        return None;
    }
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut lines = vec![first];
    let mut blank = 0;
    for line in rest {
        if line.trim().is_empty() {
            blank += 1;
            continue;
        }
        let is_attribute = depth(line) == indent
            && line
                .trim_start()
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('.') && rest.contains(" = "));
        // The parameters of a definition may end on a line as far out as its beginning.
        let is_head = lines.len() < MOST_LINES && line.trim_start().starts_with(')');
        if depth(line) <= indent && !is_attribute && !is_head {
            break;
        }
        // A blank line inside of a function is a pause, and a test has no room for these.
        if blank > 0 && depth(line) > indent {
            lines.push("");
        }
        blank = 0;
        lines.push(line);
        if lines.len() > MOST_LINES {
            return None;
        }
    }
    let lines: Vec<String> = lines
        .iter()
        .map(|line| line.get(indent..).unwrap_or_default().trim_end().to_owned())
        .collect();
    // Strings that go over several lines would be indented with the rest.
    if lines
        .iter()
        .any(|line| line.contains("\"\"\"") || line.contains("'''"))
    {
        return None;
    }
    let found = names(&lines.join("\n")).ok()?;
    let is_known = |read: &String| is_own_name(read) || enclosed.contains(&read.as_str());
    let is_free = found.reads.iter().all(is_known) && found.binds == [name];
    is_free.then(|| Copy::Definition {
        name: name.to_owned(),
        lines,
    })
}

/// Whether a name is one of Python's own.
fn is_own_name(name: &str) -> bool {
    is_builtin(name) || name.ends_with("Error") || matches!(name, "Exception" | "StopIteration")
}

/// The text of the only lambda on a line, or of several that are written alike.
fn only_lambda(text: &str, line: u32, enclosed: &[&str]) -> Option<String> {
    let before = usize::try_from(line).ok()?.checked_sub(1)?;
    let start: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
    let end = start + text.get(start..)?.find('\n').unwrap_or(text.len() - start);
    let words = tokens(text.get(start..end)?);
    let word = |index: usize| {
        let range = words.get(index)?.range.clone();
        text.get(start + range.start..start + range.end)
    };
    // Behind the colon, it ends with the first comma or bracket that is not its own.
    let whole = |first: usize| {
        let (mut depth, mut in_body, mut last) = (0_usize, false, first);
        for index in first + 1..words.len() {
            match word(index)? {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" if depth == 0 => break,
                ")" | "]" | "}" => depth -= 1,
                ":" if depth == 0 => in_body = true,
                "," if depth == 0 && in_body => break,
                comment if comment.starts_with('#') => break,
                _ => {}
            }
            last = index;
        }
        let from = start + words.get(first)?.range.start;
        let to = start + words.get(last)?.range.end;
        text.get(from..to).map(str::trim_end)
    };
    let found = (0..words.len()).filter(|index| word(*index) == Some("lambda"));
    let lambdas = found.map(whole).collect::<Option<BTreeSet<&str>>>()?;
    let [lambda] = lambdas.into_iter().collect::<Vec<&str>>().try_into().ok()?;
    let reads = names(&format!("_ = {lambda}")).ok()?.reads;
    let is_known = |read: &String| is_builtin(read) || enclosed.contains(&read.as_str());
    let is_free = reads.iter().all(is_known);
    is_free.then(|| lambda.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lambda_is_copied_if_it_needs_nothing_from_outside() {
        let of = |line: &str| only_lambda(&format!("x = 1\n{line}\ny = 2\n"), 2, &["enclosed"]);
        assert_eq!(
            of("twice(lambda a, b=(1, 2): len([a, b]), 3)  # so").as_deref(),
            Some("lambda a, b=(1, 2): len([a, b])")
        );
        assert_eq!(of("f = lambda: 0").as_deref(), Some("lambda: 0"));
        assert_eq!(of("twice(lambda a: a + x, 3)"), None);
        assert_eq!(
            of("f(lambda: enclosed)").as_deref(),
            Some("lambda: enclosed")
        );
        assert_eq!(of("f(lambda: 1, lambda: 2)"), None);
        assert_eq!(
            of("f(lambda: 1), g(lambda: 1)").as_deref(),
            Some("lambda: 1")
        );
        assert_eq!(of("f(lambda a:"), None);
        assert_eq!(only_lambda("", 7, &[]), None);
    }

    #[test]
    fn a_definition_is_copied_with_its_attributes_under_the_same_condition() {
        let text = "def around():\n    seen = []\n\n    def keep(\n        item,\n    ):\n        seen.append(item)\n\n        return len(seen)\n\n    keep.pattern = \"a|b\"\n    use(keep)\n";
        let of = |enclosed: &[&str]| definition(text, 4, "keep", enclosed);
        let lines = [
            "def keep(",
            "    item,",
            "):",
            "    seen.append(item)",
            "",
            "    return len(seen)",
            "keep.pattern = \"a|b\"",
        ];
        let copied = Copy::Definition {
            name: "keep".to_owned(),
            lines: lines.map(str::to_owned).to_vec(),
        };
        assert_eq!(of(&["seen"]), Some(copied));
        assert_eq!(of(&[]), None);
        assert_eq!(definition("@decorated\ndef f(): ...\n", 1, "f", &[]), None);
        assert_eq!(definition("", 7, "f", &[]), None);
    }
}
