//! Code for functions that cannot be imported: lambdas and functions defined inside of others.
//!
//! A closure is created by a call of the function around it, if a recorded call returned one in the
//! same state. Otherwise its text is copied into the test, after the variables that it encloses,
//! as long as it needs nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use testwright_source::{names, tokenize};

use super::build::{BuildError, ValueBuilder};
use super::code::PythonCode;
use super::plan::SetupStep;
use super::scope::is_builtin;
use crate::ValueGraph;
use crate::value::{ImportPath, LocalFunction, NodeId};

/// The maximum number of lines of a copied function; longer ones do not belong into a test.
const MAX_LINES: usize = 12;

impl<'a> ValueBuilder<'a> {
    /// Writes code for a function that cannot be imported.
    pub(super) fn function_code(
        &mut self,
        graph: &'a ValueGraph,
        node: NodeId,
        function: &'a LocalFunction,
    ) -> Result<PythonCode, BuildError> {
        let checkpoint = self.checkpoint();
        if let Some(code) = self.call_enclosing_function(graph, node, function) {
            return Ok(code);
        }
        self.restore(checkpoint);
        let checkpoint = self.checkpoint();
        if let Some(code) = self.copy_source(graph, node, function) {
            return Ok(code);
        }
        self.restore(checkpoint);
        Err(self.unnamed_function(function))
    }

    /// Copies a function of a main program that cannot be imported without running it.
    pub(super) fn program_function(&mut self, reference: &ImportPath) -> Option<PythonCode> {
        let name = reference.path.as_str();
        let is_of_program = self.scope.module_name(&reference.module) == "__main__";
        if !is_of_program || self.is_expecting() {
            return None;
        }
        let text = fs::read_to_string(self.program_file()?).ok()?;
        let before = text
            .lines()
            .position(|line| line.starts_with(&format!("def {name}(")));
        let line = u32::try_from(before? + 1).ok()?;
        let FunctionSource::Definition { lines, .. } = extract_definition(&text, line, name, &[])?
        else {
            return None;
        };
        let copy = SetupStep::Definition(lines);
        if !self.setup.contains(&copy) {
            if self.scope.variable(name) != name {
                return None;
            }
            self.setup.push(copy);
        }
        Some(PythonCode::text(name))
    }

    /// Calls the function around it, if a recorded call of that returned a function in this state.
    fn call_enclosing_function(
        &mut self,
        graph: &'a ValueGraph,
        node: NodeId,
        function: &LocalFunction,
    ) -> Option<PythonCode> {
        // A result of the unit under test must not be compared with itself.
        let is_own = |unit| self.is_expecting() && unit == self.call.unit;
        let made = self.index.calls_returning(function).iter();
        let mut matching = made.filter(|(call, _, result)| {
            !is_own(call.unit) && call.values.is_isomorphic(*result, graph, node)
        });
        let (call, unit, _) = *matching.next()?;
        let name = ImportPath::new(unit.module.clone(), unit.qualified_name.clone());
        let callable = self.reference_code(&name).ok()?.one_line();
        let arguments = self.argument_codes(call, unit, 0).ok()?;
        Some(PythonCode::call(&callable, arguments))
    }

    /// Copies its text, after assignments of the variables that it encloses.
    fn copy_source(
        &mut self,
        graph: &'a ValueGraph,
        node: NodeId,
        function: &'a LocalFunction,
    ) -> Option<PythonCode> {
        let enclosed: Vec<&str> = function
            .closure
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        let copy = function_source(&self.source_file(function)?, function, &enclosed)?;
        // A copy is a different function, except for a lambda without enclosed variables.
        if self.is_expecting()
            && !(enclosed.is_empty() && matches!(copy, FunctionSource::Lambda(_)))
        {
            return None;
        }
        for (name, value) in &function.closure {
            let code = self.value_code(graph, *value, name).ok()?;
            if code.one_line() == *name {
                continue;
            }
            if self.scope.variable(name) != *name {
                return None;
            }
            self.setup.push(SetupStep::Assign {
                target: name.clone(),
                code,
            });
            if let Some(object) = graph.object(*value) {
                self.existing.insert(object, name.clone());
            }
        }
        match copy {
            FunctionSource::Lambda(text) => Some(PythonCode::Text(text)),
            FunctionSource::Definition { name, lines } => {
                if self.scope.variable(&name) != name {
                    return None;
                }
                self.setup.push(SetupStep::Definition(lines));
                if let Some(object) = graph.object(node) {
                    self.existing.insert(object, name.clone());
                }
                Some(PythonCode::Text(name))
            }
        }
    }

    /// Finds the file that defines a function. The main program need not be part of the project.
    fn source_file(&self, function: &LocalFunction) -> Option<PathBuf> {
        let project = self.knowledge.project;
        if function.module != "__main__" {
            let module = project.module_named(&function.module)?;
            return Some(project.root.join(&module.path));
        }
        self.program_file()
    }

    /// Returns the file of the main program.
    fn program_file(&self) -> Option<PathBuf> {
        let project = self.knowledge.project;
        let (script, folder) = self.index.script(self.call.execution)?;
        let module = project.module_at(Path::new(script));
        Some(match module {
            Some(module) => project.root.join(&module.path),
            None => Path::new(folder).join(script),
        })
    }

    /// Returns the error for a function that can neither be created nor copied.
    fn unnamed_function(&self, function: &LocalFunction) -> BuildError {
        let description = if function.qualified_name.ends_with("<lambda>") {
            "a lambda"
        } else {
            "a function"
        };
        let around = function.qualified_name.split(".<locals>").next();
        let location = match around.filter(|name| !name.starts_with('<')) {
            Some(name) => format!("{}.{name}", function.module),
            None => function.module.clone(),
        };
        BuildError(format!(
            "{description} made in {location}, line {}",
            function.line
        ))
    }
}

/// The text of a function.
#[derive(Debug, PartialEq, Eq)]
enum FunctionSource {
    /// A lambda expression.
    Lambda(String),
    /// A `def` with its body, line by line.
    Definition { name: String, lines: Vec<String> },
}

/// Extracts the text of a function, if it uses nothing but its parameters, builtins and the
/// variables that it encloses.
fn function_source(
    file: &Path,
    function: &LocalFunction,
    enclosed: &[&str],
) -> Option<FunctionSource> {
    let text = fs::read_to_string(file).ok()?;
    let name = function.qualified_name.rsplit('.').next()?;
    match name {
        "<lambda>" => extract_lambda(&text, function.line, enclosed).map(FunctionSource::Lambda),
        _ => extract_definition(&text, function.line, name, enclosed),
    }
}

/// Extracts the definition that begins on a line, with the attributes that are assigned to it right
/// after.
fn extract_definition(
    text: &str,
    line: u32,
    name: &str,
    enclosed: &[&str],
) -> Option<FunctionSource> {
    let before = usize::try_from(line).ok()?.checked_sub(1)?;
    let mut rest = text.lines().skip(before).peekable();
    let first = rest.next()?;
    let indent = first.len() - first.trim_start().len();
    // A decorator makes another function of it.
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
        // The closing bracket of the parameters may stand as far left as the definition.
        let is_head = lines.len() < MAX_LINES && line.trim_start().starts_with(')');
        if depth(line) <= indent && !is_attribute && !is_head {
            break;
        }
        // A blank line is kept only inside of the function.
        if blank > 0 && depth(line) > indent {
            lines.push("");
        }
        blank = 0;
        lines.push(line);
        if lines.len() > MAX_LINES {
            return None;
        }
    }
    let lines: Vec<String> = lines
        .iter()
        .map(|line| line.get(indent..).unwrap_or_default().trim_end().to_owned())
        .collect();
    // Strings over several lines would be indented with the rest.
    if lines
        .iter()
        .any(|line| line.contains("\"\"\"") || line.contains("'''"))
    {
        return None;
    }
    let found = names(&lines.join("\n")).ok()?;
    let is_known = |read: &String| is_builtin_name(read) || enclosed.contains(&read.as_str());
    let is_free = found.reads.iter().all(is_known) && found.binds == [name];
    is_free.then(|| FunctionSource::Definition {
        name: name.to_owned(),
        lines,
    })
}

/// Returns true if a name is a builtin function, type or exception.
fn is_builtin_name(name: &str) -> bool {
    is_builtin(name) || name.ends_with("Error") || matches!(name, "Exception" | "StopIteration")
}

/// Extracts the only lambda on a line, or the text that several lambdas share.
fn extract_lambda(text: &str, line: u32, enclosed: &[&str]) -> Option<String> {
    let before = usize::try_from(line).ok()?.checked_sub(1)?;
    let start: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
    let end = start + text.get(start..)?.find('\n').unwrap_or(text.len() - start);
    let words = tokenize(text.get(start..end)?);
    let word = |index: usize| {
        let range = words.get(index)?.range.clone();
        text.get(start + range.start..start + range.end)
    };
    // Behind the colon, a lambda ends at the first comma or bracket that is not its own.
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
        let of = |line: &str| extract_lambda(&format!("x = 1\n{line}\ny = 2\n"), 2, &["enclosed"]);
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
        assert_eq!(extract_lambda("", 7, &[]), None);
    }

    #[test]
    fn a_definition_is_copied_with_its_attributes_under_the_same_condition() {
        let text = "def around():\n    seen = []\n\n    def keep(\n        item,\n    ):\n        seen.append(item)\n\n        return len(seen)\n\n    keep.pattern = \"a|b\"\n    use(keep)\n";
        let of = |enclosed: &[&str]| extract_definition(text, 4, "keep", enclosed);
        let lines = [
            "def keep(",
            "    item,",
            "):",
            "    seen.append(item)",
            "",
            "    return len(seen)",
            "keep.pattern = \"a|b\"",
        ];
        let copy_source = FunctionSource::Definition {
            name: "keep".to_owned(),
            lines: lines.map(str::to_owned).to_vec(),
        };
        assert_eq!(of(&["seen"]), Some(copy_source));
        assert_eq!(of(&[]), None);
        assert_eq!(
            extract_definition("@decorated\ndef f(): ...\n", 1, "f", &[]),
            None
        );
        assert_eq!(extract_definition("", 7, "f", &[]), None);
    }
}
