//! Short descriptions of recorded values and calls, for people.
//!
//! Values are written in Python's notation if there is one. Long values are truncated.

use crate::effects::CallEffect;
use crate::graph::ValueGraph;
use crate::recording::{
    BindingKind, Call, CallOutcome, CodeUnit, ExternalReply, FileState, Interaction,
    ProgramVariable, StepAction, StepOutcome,
};
use crate::value::{NodeId, Value};

/// The maximum number of characters of a text; the rest is replaced by an ellipsis.
const MAX_LENGTH: usize = 60;
/// The maximum number of items that are shown; the rest is counted.
const MAX_ITEMS: usize = 8;
/// The maximum nesting depth; deeper values are an ellipsis.
const MAX_DEPTH: usize = 4;

/// Describes a value in a short line: `[1, 2, 'three']`.
pub fn describe_value(graph: &ValueGraph, node: NodeId) -> String {
    let mut formatter = ValueFormatter {
        graph,
        enclosing: Vec::new(),
    };
    formatter.describe_node(node)
}

/// Quotes a text in Python's notation, truncated to `MAX_LENGTH` characters.
pub fn quote_text(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_LENGTH).collect();
    let is_cut = short.len() < text.len();
    let quote = if short.contains('\'') && !short.contains('"') {
        '"'
    } else {
        '\''
    };
    short = (short.chars())
        .map(|one| match one {
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\t' => "\\t".to_owned(),
            '\\' => "\\\\".to_owned(),
            one if one == quote => format!("\\{one}"),
            one if one.is_control() => format!("\\x{:02x}", u32::from(one)),
            one => one.to_string(),
        })
        .collect();
    let dots = if is_cut { "…" } else { "" };
    format!("{quote}{short}{dots}{quote}")
}

/// Quotes bytes in Python's notation, truncated to `MAX_LENGTH` bytes.
fn quote_bytes(content: &[u8]) -> String {
    let short = &content[..content.len().min(MAX_LENGTH)];
    let dots = if short.len() < content.len() {
        "…"
    } else {
        ""
    };
    let escaped: String = (short.iter())
        .flat_map(|byte| std::ascii::escape_default(*byte))
        .map(char::from)
        .collect();
    format!("b'{escaped}{dots}'")
}

/// A formatter that tracks which values it is inside of, to stop at cycles.
struct ValueFormatter<'a> {
    /// The graph of the values.
    graph: &'a ValueGraph,
    /// The nodes around the current one, outermost first.
    enclosing: Vec<NodeId>,
}

impl ValueFormatter<'_> {
    /// Describes a node; an ellipsis if it is inside itself or nested too deeply.
    fn describe_node(&mut self, node: NodeId) -> String {
        let graph = self.graph;
        let value = graph.value(node);
        if self.enclosing.contains(&node) {
            return "…".to_owned();
        }
        if self.enclosing.len() > MAX_DEPTH && !value.children().is_empty() {
            return "…".to_owned();
        }
        self.enclosing.push(node);
        let text = self.value_text(value);
        self.enclosing.pop();
        text
    }

    /// Describes a value, and its parts in the same way.
    fn value_text(&mut self, value: &Value) -> String {
        match value {
            Value::None => "None".to_owned(),
            Value::Ellipsis => "...".to_owned(),
            Value::NotImplemented => "NotImplemented".to_owned(),
            Value::Boolean(true) => "True".to_owned(),
            Value::Boolean(false) => "False".to_owned(),
            Value::Integer(number) => number.to_string(),
            Value::LargeInteger(literal) => literal.clone(),
            Value::Float(number) => float_text(number.0),
            Value::Complex(real, imaginary) => complex_text(real.0, imaginary.0),
            Value::Text(content) => quote_text(content),
            Value::SurrogateText(points) => format!("a text of {} characters", points.len()),
            Value::Bytes(content) => quote_bytes(content),
            Value::ByteArray(content) => format!("bytearray({})", quote_bytes(content)),
            Value::List(items) => format!("[{}]", self.join_items(items)),
            Value::Tuple(items) if items.len() == 1 => format!("({},)", self.join_items(items)),
            Value::Tuple(items) => format!("({})", self.join_items(items)),
            Value::Set(items) if items.is_empty() => "set()".to_owned(),
            Value::Set(items) => format!("{{{}}}", self.join_items(items)),
            Value::FrozenSet(items) if items.is_empty() => "frozenset()".to_owned(),
            Value::FrozenSet(items) => format!("frozenset({{{}}})", self.join_items(items)),
            Value::Dictionary(entries) => {
                let shown = entries.iter().take(MAX_ITEMS);
                let shown: Vec<String> = shown
                    .map(|(key, value)| {
                        format!(
                            "{}: {}",
                            self.describe_node(*key),
                            self.describe_node(*value)
                        )
                    })
                    .collect();
                format!("{{{}}}", join_shown(shown, entries.len()))
            }
            Value::Reference(reference) => reference.to_string(),
            Value::EnumMember { class, names } if names.is_empty() => {
                format!("{}(0)", class.name())
            }
            Value::EnumMember { class, names } => {
                let names: Vec<String> = names
                    .iter()
                    .map(|name| format!("{}.{name}", class.name()))
                    .collect();
                names.join(" | ")
            }
            Value::Constructed {
                callee,
                arguments,
                keywords,
            } => {
                let mut parts: Vec<String> = arguments
                    .iter()
                    .take(MAX_ITEMS)
                    .map(|one| self.describe_node(*one))
                    .collect();
                parts.extend(self.named_items(keywords));
                format!(
                    "{}({})",
                    callee.name(),
                    join_shown(parts, arguments.len() + keywords.len())
                )
            }
            Value::Object(object) => {
                let mut parts: Vec<String> = object
                    .content
                    .iter()
                    .map(|content| self.describe_node(*content))
                    .collect();
                parts.extend(self.named_items(&object.attributes));
                let count = parts.len() + object.attributes.len().saturating_sub(MAX_ITEMS);
                format!(
                    "<{}{}>",
                    object.class.name(),
                    space_before(&join_shown(parts, count))
                )
            }
            Value::Method { receiver, name } => format!("{}.{name}", self.describe_node(*receiver)),
            Value::Function(function) => {
                format!(
                    "<function {} in line {}>",
                    function.qualified_name, function.line
                )
            }
            Value::Generator { function, .. } => format!("<generator {function}>"),
            Value::Iterator { remaining, .. } => format!("iter([{}])", self.join_items(remaining)),
            Value::Stream {
                class,
                content,
                position,
            } => {
                format!(
                    "<{} {} at {position}>",
                    class.name(),
                    self.describe_node(*content)
                )
            }
            Value::Exception(exception) => {
                format!(
                    "{}({})",
                    exception.class.name(),
                    self.join_items(&exception.arguments)
                )
            }
            Value::Omitted { class, length } => match length {
                Some(length) => format!("<large {class} of length {length}>"),
                None => format!("<large {class}>"),
            },
            Value::Unknown { class, .. } => format!("<{class}>"),
        }
    }

    /// Joins the descriptions of items by commas.
    fn join_items(&mut self, items: &[NodeId]) -> String {
        let shown = items
            .iter()
            .take(MAX_ITEMS)
            .map(|item| self.describe_node(*item))
            .collect();
        join_shown(shown, items.len())
    }

    /// Describes named values as `name=value`.
    fn named_items(&mut self, pairs: &[(String, NodeId)]) -> Vec<String> {
        let shown = pairs.iter().take(MAX_ITEMS);
        shown
            .map(|(name, value)| format!("{name}={}", self.describe_node(*value)))
            .collect()
    }
}

/// Writes a number as Python does, which writes `nan` in lower case.
fn float_text(number: f64) -> String {
    if number.is_nan() {
        "nan".to_owned()
    } else {
        format!("{number:?}")
    }
}

/// Writes a complex number as Python does: `(1-2j)`, `2j`.
fn complex_text(real: f64, imaginary: f64) -> String {
    let part = |number| {
        let text = float_text(number);
        text.strip_suffix(".0").unwrap_or(&text).to_owned()
    };
    let imaginary = part(imaginary);
    if real == 0.0 && real.is_sign_positive() {
        return format!("{imaginary}j");
    }
    let sign = if imaginary.starts_with('-') { "" } else { "+" };
    format!("({}{sign}{imaginary}j)", part(real))
}

/// Puts a blank before a text, unless it is empty.
fn space_before(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!(" {text}")
    }
}

/// Joins descriptions by commas, and adds the number of those that are not shown.
fn join_shown(mut shown: Vec<String>, count: usize) -> String {
    if shown.len() < count {
        shown.push(format!("… {} more", count - shown.len()));
    }
    shown.join(", ")
}

/// Describes a call in one line, followed by lines for its changes and its interactions with the
/// outside.
pub fn describe_call(unit: &CodeUnit, call: &Call) -> Vec<String> {
    let graph = &call.values;
    let name = unit.qualified_name.as_str();
    let mut arguments = Vec::new();
    for argument in &call.arguments {
        let parameter = unit.parameters.iter().find(|one| one.name == argument.name);
        let stars = match parameter.map(|parameter| parameter.kind) {
            Some(BindingKind::Positionals) => "*",
            Some(BindingKind::Keywords) => "**",
            _ => "",
        };
        arguments.push(format!(
            "{stars}{}={}",
            argument.name,
            describe_value(graph, argument.before)
        ));
    }
    let outcome = match &call.outcome {
        CallOutcome::Returned(result) => format!("returned {}", describe_value(graph, *result)),
        CallOutcome::Raised { exception, .. } => {
            format!("raised {}", describe_value(graph, *exception))
        }
        CallOutcome::Unfinished => "did not end".to_owned(),
    };
    let mut lines = vec![format!("{name}({}) {outcome}", arguments.join(", "))];
    for step in &call.steps {
        lines.extend(match &step.action {
            StepAction::Next => None,
            StepAction::Send(item) => Some(format!("was sent {}", describe_value(graph, *item))),
            StepAction::Throw(error) => {
                Some(format!("was thrown {}", describe_value(graph, *error)))
            }
            StepAction::Close => Some("was closed".to_owned()),
        });
        if let StepOutcome::Yielded(item) = &step.outcome {
            lines.push(format!("yielded {}", describe_value(graph, *item)));
        }
    }
    lines.extend(
        call.effects()
            .iter()
            .map(|effect| describe_effect(graph, effect)),
    );
    lines.extend(
        call.events
            .iter()
            .map(|event| describe_interaction(graph, &event.external)),
    );
    let uncaptured = call.uncaptured.iter();
    lines.extend(uncaptured.map(|name| format!("something was not recorded: {name}")));
    lines
}

/// Describes a change made by a call.
fn describe_effect(graph: &ValueGraph, effect: &CallEffect) -> String {
    match effect {
        CallEffect::Rebound {
            variable,
            before,
            after,
        } => {
            let describe = |node: &Option<NodeId>| {
                node.map_or_else(|| "nothing".to_owned(), |node| describe_value(graph, node))
            };
            format!(
                "{}: {} became {}",
                variable_name(variable),
                describe(before),
                describe(after)
            )
        }
        CallEffect::Changed { before, after, .. } => {
            format!(
                "{} became {}",
                describe_value(graph, *before),
                describe_value(graph, *after)
            )
        }
    }
}

/// Names a variable for people.
fn variable_name(variable: &ProgramVariable) -> String {
    match variable {
        ProgramVariable::Global { module, name } => format!("{module}.{name}"),
        ProgramVariable::ClassAttribute { class, name } => format!("{class}.{name}"),
        ProgramVariable::ClosureVariable { name } => format!("enclosed {name}"),
        ProgramVariable::Default { parameter } => format!("the default of {parameter}"),
    }
}

/// Describes an interaction with the outside.
fn describe_interaction(graph: &ValueGraph, external: &Interaction) -> String {
    match external {
        Interaction::Input {
            text: Some(line), ..
        } => format!("read {}", quote_text(line)),
        Interaction::Input { text: None, .. } => "read to the end of the input".to_owned(),
        Interaction::Output {
            is_error: false,
            text: content,
        } => format!("printed {}", quote_text(content)),
        Interaction::Output {
            is_error: true,
            text: content,
        } => {
            format!("printed {} to standard error", quote_text(content))
        }
        Interaction::File {
            path,
            before,
            after,
        } if before == after => {
            format!("used the file {path}: {}", describe_file(before))
        }
        Interaction::File {
            path,
            before,
            after,
        } => {
            format!(
                "the file {path}: {} became {}",
                describe_file(before),
                describe_file(after)
            )
        }
        Interaction::Environment {
            name,
            before,
            after,
        } => {
            let describe = |one: &Option<String>| {
                one.as_deref()
                    .map_or_else(|| "nothing".to_owned(), quote_text)
            };
            if before == after {
                format!("the environment has {name}: {}", describe(before))
            } else {
                format!(
                    "the environment's {name}: {} became {}",
                    describe(before),
                    describe(after)
                )
            }
        }
        Interaction::WorkingFolder { before, after } if before == after => {
            format!("worked in the folder {before}")
        }
        Interaction::WorkingFolder { before, after } => {
            format!("the current folder: {before} became {after}")
        }
        Interaction::Permissions { path, after } => {
            format!("the permissions of {path} became {after:03o}")
        }
        Interaction::Logged {
            logger,
            level,
            message,
        } => {
            let message = message
                .as_deref()
                .map_or_else(|| "something".to_owned(), quote_text);
            format!("logged {message} to {logger}, level {level}")
        }
        Interaction::Called {
            function,
            arguments,
            keywords,
            answer,
            ..
        } => {
            let mut formatter = ValueFormatter {
                graph,
                enclosing: Vec::new(),
            };
            let mut parts: Vec<String> = arguments
                .iter()
                .map(|one| formatter.describe_node(*one))
                .collect();
            parts.extend(formatter.named_items(keywords));
            let answer = match answer {
                ExternalReply::Returned(result) => {
                    format!("gave {}", describe_value(graph, *result))
                }
                ExternalReply::Raised(exception) => {
                    format!("raised {}", describe_value(graph, *exception))
                }
            };
            format!("{function}({}) {answer}", parts.join(", "))
        }
    }
}

/// Describes the state of a path in the file system.
fn describe_file(state: &FileState) -> String {
    match state {
        FileState::Absent => "nothing".to_owned(),
        FileState::File(content) => quote_bytes(content),
        FileState::LargeFile(length) => format!("{length} bytes"),
        FileState::Folder(entries) => format!("a folder with {}", entries.join(", ")),
        FileState::Link(target) => format!("a link to {target}"),
        FileState::Other => "something else".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ValueNode;
    use crate::value::ObjectId;

    #[test]
    fn cycles_end_and_long_lists_are_counted() {
        let mut graph = ValueGraph::default();
        let numbers: Vec<NodeId> = (0..12)
            .map(|number| graph.add(ValueNode::plain(Value::Integer(number))))
            .collect();
        let long = graph.add(ValueNode::plain(Value::List(numbers)));
        assert_eq!(
            describe_value(&graph, long),
            "[0, 1, 2, 3, 4, 5, 6, 7, … 4 more]"
        );
        let ring = graph.add(ValueNode::plain(Value::None));
        let list = Value::List(vec![ring]);
        graph.set(
            ring,
            ValueNode {
                value: list,
                object: Some(ObjectId(1)),
            },
        );
        assert_eq!(describe_value(&graph, ring), "[…]");
    }

    #[test]
    fn numbers_and_empty_sets_are_written_as_python_does() {
        let complex = |real, imaginary| complex_text(real, imaginary);
        assert_eq!(complex(1.0, -2.0), "(1-2j)");
        assert_eq!(complex(f64::INFINITY, 0.0), "(inf+0j)");
        assert_eq!(complex(0.0, 2.5), "2.5j");
        assert_eq!(complex(-0.0, f64::NAN), "(-0+nanj)");
        let mut graph = ValueGraph::default();
        let empty = graph.add(ValueNode::plain(Value::FrozenSet(Vec::new())));
        assert_eq!(describe_value(&graph, empty), "frozenset()");
    }

    #[test]
    fn texts_are_quoted_as_python_does() {
        assert_eq!(quote_text("it's\n"), "\"it's\\n\"");
        assert_eq!(quote_text("plain"), "'plain'");
    }
}
