//! Values of well-known types, written as people write them.

use super::build::{Builder, HELPERS, Missing};
use super::code::Code;
use super::literal;
use crate::Graph;
use crate::value::{NodeId, Reference, Value};

/// What the flags of a pattern are called.
const FLAGS: [(i64, &str); 6] = [
    (2, "IGNORECASE"),
    (4, "LOCALE"),
    (8, "MULTILINE"),
    (16, "DOTALL"),
    (64, "VERBOSE"),
    (256, "ASCII"),
];

/// The flag that all patterns of texts have.
const UNICODE: i64 = 32;

impl<'a> Builder<'a> {
    pub(super) fn made(
        &mut self,
        graph: &'a Graph,
        callee: &Reference,
        arguments: &[NodeId],
        keywords: &[(String, NodeId)],
    ) -> Result<Code, Missing> {
        if let Some(code) = self.path_made(graph, callee, arguments) {
            return Ok(code);
        }
        let mut given = arguments;
        let mut items = Vec::new();
        match (callee.module.as_str(), callee.path.as_str()) {
            ("datetime", "timezone") if is_no_time(graph, arguments) => {
                let zone = Reference::new("datetime", "timezone.utc");
                return Ok(self.scope.reference(&zone));
            }
            ("datetime", "timedelta") => {
                given = &[];
                for (name, node) in ["days", "seconds", "microseconds"].iter().zip(arguments) {
                    if !is_number(graph, *node, 0) {
                        items.push(Code::keyword(name, self.code(graph, *node, "")?));
                    }
                }
            }
            // Seconds and what is smaller are left out where they are zero.
            ("datetime", name @ ("datetime" | "time")) => {
                let needed = if name == "time" { 2 } else { 5 };
                given = without_end(given, needed, |node| is_number(graph, node, 0));
            }
            ("re", "compile") => {
                if let [pattern, flags] = arguments {
                    given = &[];
                    items.push(self.code(graph, *pattern, "")?);
                    items.extend(self.flags(graph, *flags));
                }
            }
            ("builtins", "range") => {
                given = without_end(given, 2, |node| is_number(graph, node, 1));
                if let [start, stop] = given
                    && is_number(graph, *start, 0)
                {
                    given = std::slice::from_ref(stop);
                }
            }
            ("builtins", "slice") => {
                given = without_end(given, 2, |node| *graph.value(node) == Value::None);
            }
            // Without a name, what it refers to would be gone at once.
            ("weakref", "ref") => {
                for object in given.iter().filter_map(|node| graph.object(*node)) {
                    self.needs_name(object);
                }
            }
            _ => {}
        }
        for node in given {
            items.push(self.code(graph, *node, "")?);
        }
        for (name, value) in keywords {
            let value = self.code(graph, *value, "")?;
            items.push(Code::keyword(name, value));
        }
        let callee = match callee.module.as_str() {
            HELPERS => self.scope.from(HELPERS, &callee.path).flat(),
            _ => self.reference(callee)?.flat(),
        };
        Ok(Code::call(&callee, items))
    }

    /// A path, which may have to be below the folder of the test.
    fn path_made(
        &mut self,
        graph: &'a Graph,
        callee: &Reference,
        arguments: &[NodeId],
    ) -> Option<Code> {
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
        if let Some(code) = self.paths.path(text) {
            return Some(code);
        }
        // The same on every system.
        let pure = callee.name().starts_with("Pure");
        let name = if pure { callee.name() } else { "Path" };
        let class = self.scope.reference(&Reference::new("pathlib", name));
        Some(Code::call(&class.flat(), vec![literal::text(text)]))
    }

    /// The flags of a pattern by their names, if there are any worth telling.
    fn flags(&mut self, graph: &Graph, node: NodeId) -> Option<Code> {
        let Value::Integer(flags) = graph.value(node) else {
            return None;
        };
        let told = flags & !UNICODE;
        if told == 0 {
            return None;
        }
        let module = self.scope.module("re").flat();
        let named = FLAGS.iter().filter(|(flag, _)| told & flag != 0);
        let names: Vec<String> = named.map(|(_, name)| format!("{module}.{name}")).collect();
        Some(Code::Text(names.join(" | ")))
    }

    /// What stands in square brackets for a key: `1:3` for a slice.
    pub(super) fn subscript(&mut self, node: NodeId) -> Option<Code> {
        let graph = &self.call.values;
        let Value::Made {
            callee, arguments, ..
        } = graph.value(node)
        else {
            return None;
        };
        if (callee.module.as_str(), callee.path.as_str()) != ("builtins", "slice") {
            return None;
        }
        let arguments = without_end(arguments, 2, |node| *graph.value(node) == Value::None);
        let mut parts = Vec::new();
        for node in arguments {
            parts.push(match graph.value(*node) {
                Value::None => String::new(),
                _ => self.code(graph, *node, "").ok()?.flat(),
            });
        }
        Some(Code::Text(parts.join(":")))
    }
}

/// Arguments without those at the end that go without saying.
fn without_end(
    arguments: &[NodeId],
    needed: usize,
    goes_without_saying: impl Fn(NodeId) -> bool,
) -> &[NodeId] {
    let mut left = arguments;
    while let Some((last, others)) = left.split_last()
        && others.len() >= needed
        && goes_without_saying(*last)
    {
        left = others;
    }
    left
}

fn is_number(graph: &Graph, node: NodeId, number: i64) -> bool {
    *graph.value(node) == Value::Integer(number)
}

/// Whether these are the arguments of the time zone of Greenwich: no time apart from it, and no name.
fn is_no_time(graph: &Graph, arguments: &[NodeId]) -> bool {
    let [only] = arguments else {
        return false;
    };
    matches!(graph.value(*only), Value::Made { callee, arguments, .. }
        if callee.path == "timedelta" && arguments.iter().all(|node| is_number(graph, *node, 0)))
}
