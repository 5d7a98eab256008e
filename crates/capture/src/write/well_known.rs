//! Values of well-known types, written in their usual short form.

use super::build::{BuildError, HELPERS, ValueBuilder};
use super::code::PythonCode;
use super::literal;
use crate::ValueGraph;
use crate::value::{ImportPath, NodeId, Value};

/// The names of the flags of a pattern.
const FLAGS: [(i64, &str); 6] = [
    (2, "IGNORECASE"),
    (4, "LOCALE"),
    (8, "MULTILINE"),
    (16, "DOTALL"),
    (64, "VERBOSE"),
    (256, "ASCII"),
];

/// The flag that all patterns for texts have.
const UNICODE: i64 = 32;

impl<'a> ValueBuilder<'a> {
    /// Builds a value by the call that makes it, without arguments that are defaults.
    pub(super) fn well_known_value(
        &mut self,
        graph: &'a ValueGraph,
        callee: &ImportPath,
        arguments: &[NodeId],
        keywords: &[(String, NodeId)],
    ) -> Result<PythonCode, BuildError> {
        if let Some(code) = self.path_value(graph, callee, arguments) {
            return Ok(code);
        }
        let mut positional = arguments;
        let mut items = Vec::new();
        match (callee.module.as_str(), callee.path.as_str()) {
            ("datetime", "timezone") if is_zero_offset(graph, arguments) => {
                let zone = ImportPath::new("datetime", "timezone.utc");
                return Ok(self.scope.reference(&zone));
            }
            ("datetime", "timedelta") => {
                positional = &[];
                for (name, node) in ["days", "seconds", "microseconds"].iter().zip(arguments) {
                    if !is_number(graph, *node, 0) {
                        items.push(PythonCode::keyword(
                            name,
                            self.value_code(graph, *node, "")?,
                        ));
                    }
                }
            }
            // Seconds and smaller units are left out where they are zero.
            ("datetime", name @ ("datetime" | "time")) => {
                let needed = if name == "time" { 2 } else { 5 };
                positional = trim_defaults(positional, needed, |node| is_number(graph, node, 0));
            }
            ("re", "compile") => {
                if let [pattern, flags] = arguments {
                    positional = &[];
                    items.push(self.value_code(graph, *pattern, "")?);
                    items.extend(self.flag_names(graph, *flags));
                }
            }
            ("builtins", "range") => {
                positional = trim_defaults(positional, 2, |node| is_number(graph, node, 1));
                if let [start, stop] = positional
                    && is_number(graph, *start, 0)
                {
                    positional = std::slice::from_ref(stop);
                }
            }
            ("builtins", "slice") => {
                positional = trim_defaults(positional, 2, |node| *graph.value(node) == Value::None);
            }
            // Without a variable, the referent would be collected at once.
            ("weakref", "ref") => {
                for object in positional.iter().filter_map(|node| graph.object(*node)) {
                    self.require_name(object);
                }
            }
            _ => {}
        }
        for node in positional {
            items.push(self.value_code(graph, *node, "")?);
        }
        for (name, value) in keywords {
            let value = self.value_code(graph, *value, "")?;
            items.push(PythonCode::keyword(name, value));
        }
        let callee = match callee.module.as_str() {
            HELPERS => self.scope.import_name(HELPERS, &callee.path).one_line(),
            _ => self.reference_code(callee)?.one_line(),
        };
        Ok(PythonCode::call(&callee, items))
    }

    /// Builds a path, which may have to be moved below the folder of the test.
    fn path_value(
        &mut self,
        graph: &'a ValueGraph,
        callee: &ImportPath,
        arguments: &[NodeId],
    ) -> Option<PythonCode> {
        let is_path = callee.module.starts_with("pathlib") && callee.name().ends_with("Path");
        let [only] = arguments else {
            return None;
        };
        let Value::Text(text) = graph.value(*only) else {
            return None;
        };
        if !is_path {
            return None;
        }
        if let Some(code) = self.paths.path_object_code(text) {
            return Some(code);
        }
        // The class that works on every system.
        let pure = callee.name().starts_with("Pure");
        let name = if pure { callee.name() } else { "Path" };
        let class = self.scope.reference(&ImportPath::new("pathlib", name));
        Some(PythonCode::call(
            &class.one_line(),
            vec![literal::text_literal(text)],
        ))
    }

    /// Names the flags of a pattern, if there are any besides the usual one.
    fn flag_names(&mut self, graph: &ValueGraph, node: NodeId) -> Option<PythonCode> {
        let Value::Integer(flags) = graph.value(node) else {
            return None;
        };
        let named_flags = flags & !UNICODE;
        if named_flags == 0 {
            return None;
        }
        let module = self.scope.module("re").one_line();
        let named = FLAGS.iter().filter(|(flag, _)| named_flags & flag != 0);
        let names: Vec<String> = named.map(|(_, name)| format!("{module}.{name}")).collect();
        Some(PythonCode::Text(names.join(" | ")))
    }

    /// Writes a key for square brackets: `1:3` for a slice.
    pub(super) fn subscript_code(&mut self, node: NodeId) -> Option<PythonCode> {
        let graph = &self.call.values;
        let Value::Constructed {
            callee, arguments, ..
        } = graph.value(node)
        else {
            return None;
        };
        if (callee.module.as_str(), callee.path.as_str()) != ("builtins", "slice") {
            return None;
        }
        let arguments = trim_defaults(arguments, 2, |node| *graph.value(node) == Value::None);
        let mut parts = Vec::new();
        for node in arguments {
            parts.push(match graph.value(*node) {
                Value::None => String::new(),
                _ => self.value_code(graph, *node, "").ok()?.one_line(),
            });
        }
        Some(PythonCode::Text(parts.join(":")))
    }
}

/// Drops trailing arguments that are defaults, but keeps `needed` of them.
fn trim_defaults(
    arguments: &[NodeId],
    needed: usize,
    is_default: impl Fn(NodeId) -> bool,
) -> &[NodeId] {
    let mut left = arguments;
    while let Some((last, others)) = left.split_last()
        && others.len() >= needed
        && is_default(*last)
    {
        left = others;
    }
    left
}

/// Returns true if a value is this integer.
fn is_number(graph: &ValueGraph, node: NodeId, number: i64) -> bool {
    *graph.value(node) == Value::Integer(number)
}

/// Returns true if these are the arguments of the time zone UTC: a zero offset, and no name.
fn is_zero_offset(graph: &ValueGraph, arguments: &[NodeId]) -> bool {
    let [only] = arguments else {
        return false;
    };
    matches!(graph.value(*only), Value::Constructed { callee, arguments, .. }
        if callee.path == "timedelta" && arguments.iter().all(|node| is_number(graph, *node, 0)))
}
