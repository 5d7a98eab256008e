//! Recorded values and calls in words, for people.
//!
//! Values look as Python writes them where there is a way to write them, and are cut short where they are long.

use crate::effects::Effect;
use crate::graph::Graph;
use crate::recording::{
    Answer, Call, External, FileState, Outcome, ParameterKind, Place, StepAction, StepOutcome, Unit,
};
use crate::value::{NodeId, Value};

/// Longer texts are cut in the middle of a line.
const LONGEST: usize = 60;
/// More items than this are counted.
const MOST_ITEMS: usize = 8;
/// Deeper values are dots.
const DEEPEST: usize = 4;

/// A value in a few words: `[1, 2, 'three']`.
pub fn value(graph: &Graph, place: NodeId) -> String {
    let mut words = Words {
        graph,
        inside: Vec::new(),
    };
    words.value(place)
}

/// A text as Python writes it.
pub fn text(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST).collect();
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

fn bytes(content: &[u8]) -> String {
    let short = &content[..content.len().min(LONGEST)];
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

struct Words<'a> {
    graph: &'a Graph,
    inside: Vec<NodeId>,
}

impl Words<'_> {
    fn value(&mut self, place: NodeId) -> String {
        let graph = self.graph;
        let value = graph.value(place);
        if self.inside.contains(&place) {
            return "…".to_owned();
        }
        if self.inside.len() > DEEPEST && !value.children().is_empty() {
            return "…".to_owned();
        }
        self.inside.push(place);
        let words = self.inner(value);
        self.inside.pop();
        words
    }

    fn inner(&mut self, value: &Value) -> String {
        match value {
            Value::None => "None".to_owned(),
            Value::Ellipsis => "...".to_owned(),
            Value::NotImplemented => "NotImplemented".to_owned(),
            Value::Boolean(true) => "True".to_owned(),
            Value::Boolean(false) => "False".to_owned(),
            Value::Integer(number) => number.to_string(),
            Value::LargeInteger(literal) => literal.clone(),
            Value::Float(number) => format!("{:?}", number.0),
            Value::Complex(real, imaginary) => format!("({:?}+{:?}j)", real.0, imaginary.0),
            Value::Text(content) => text(content),
            Value::BrokenText(points) => format!("a text of {} characters", points.len()),
            Value::Bytes(content) => bytes(content),
            Value::ByteArray(content) => format!("bytearray({})", bytes(content)),
            Value::List(items) => format!("[{}]", self.all(items)),
            Value::Tuple(items) if items.len() == 1 => format!("({},)", self.all(items)),
            Value::Tuple(items) => format!("({})", self.all(items)),
            Value::Set(items) if items.is_empty() => "set()".to_owned(),
            Value::Set(items) => format!("{{{}}}", self.all(items)),
            Value::FrozenSet(items) => format!("frozenset({{{}}})", self.all(items)),
            Value::Dictionary(entries) => {
                let shown = entries.iter().take(MOST_ITEMS);
                let shown: Vec<String> = shown
                    .map(|(key, value)| format!("{}: {}", self.value(*key), self.value(*value)))
                    .collect();
                format!("{{{}}}", more(shown, entries.len()))
            }
            Value::Reference(reference) => reference.to_string(),
            Value::Member { class, names } if names.is_empty() => format!("{}(0)", class.name()),
            Value::Member { class, names } => {
                let names: Vec<String> = names
                    .iter()
                    .map(|name| format!("{}.{name}", class.name()))
                    .collect();
                names.join(" | ")
            }
            Value::Made {
                callee,
                arguments,
                keywords,
            } => {
                let mut parts: Vec<String> = arguments
                    .iter()
                    .take(MOST_ITEMS)
                    .map(|one| self.value(*one))
                    .collect();
                parts.extend(self.named(keywords));
                format!(
                    "{}({})",
                    callee.name(),
                    more(parts, arguments.len() + keywords.len())
                )
            }
            Value::Object(object) => {
                let mut parts: Vec<String> = object
                    .content
                    .iter()
                    .map(|content| self.value(*content))
                    .collect();
                parts.extend(self.named(&object.attributes));
                let count = parts.len().max(object.attributes.len());
                format!("<{}{}>", object.class.name(), spaced(&more(parts, count)))
            }
            Value::Method { receiver, name } => format!("{}.{name}", self.value(*receiver)),
            Value::Function(function) => {
                format!(
                    "<function {} in line {}>",
                    function.qualified_name, function.line
                )
            }
            Value::Generator { function, .. } => format!("<generator {function}>"),
            Value::Iterator { remaining, .. } => format!("iter([{}])", self.all(remaining)),
            Value::Stream {
                class,
                content,
                position,
            } => {
                format!("<{} {} at {position}>", class.name(), self.value(*content))
            }
            Value::Exception(exception) => {
                format!(
                    "{}({})",
                    exception.class.name(),
                    self.all(&exception.arguments)
                )
            }
            Value::Omitted { class, length } => match length {
                Some(length) => format!("<large {class} of length {length}>"),
                None => format!("<large {class}>"),
            },
            Value::Unknown { class, .. } => format!("<{class}>"),
        }
    }

    fn all(&mut self, items: &[NodeId]) -> String {
        let shown = items
            .iter()
            .take(MOST_ITEMS)
            .map(|item| self.value(*item))
            .collect();
        more(shown, items.len())
    }

    fn named(&mut self, pairs: &[(String, NodeId)]) -> Vec<String> {
        let shown = pairs.iter().take(MOST_ITEMS);
        shown
            .map(|(name, value)| format!("{name}={}", self.value(*value)))
            .collect()
    }
}

fn spaced(words: &str) -> String {
    if words.is_empty() {
        String::new()
    } else {
        format!(" {words}")
    }
}

fn more(mut shown: Vec<String>, count: usize) -> String {
    if shown.len() < count {
        shown.push(format!("… {} more", count - shown.len()));
    }
    shown.join(", ")
}

/// A call in one line, and in others what it changed and what came from outside.
pub fn call(unit: &Unit, call: &Call) -> Vec<String> {
    let graph = &call.values;
    let name = unit.qualified_name.as_str();
    let mut arguments = Vec::new();
    for argument in &call.arguments {
        let parameter = unit.parameters.iter().find(|one| one.name == argument.name);
        let stars = match parameter.map(|parameter| parameter.kind) {
            Some(ParameterKind::Positionals) => "*",
            Some(ParameterKind::Keywords) => "**",
            _ => "",
        };
        arguments.push(format!(
            "{stars}{}={}",
            argument.name,
            value(graph, argument.before)
        ));
    }
    let outcome = match &call.outcome {
        Outcome::Returned(result) => format!("returned {}", value(graph, *result)),
        Outcome::Raised { exception, .. } => format!("raised {}", value(graph, *exception)),
        Outcome::Unfinished => "did not end".to_owned(),
    };
    let mut lines = vec![format!("{name}({}) {outcome}", arguments.join(", "))];
    for step in &call.steps {
        lines.extend(match &step.action {
            StepAction::Next => None,
            StepAction::Send(item) => Some(format!("was sent {}", value(graph, *item))),
            StepAction::Throw(error) => Some(format!("was thrown {}", value(graph, *error))),
            StepAction::Close => Some("was closed".to_owned()),
        });
        if let StepOutcome::Yielded(item) = &step.outcome {
            lines.push(format!("yielded {}", value(graph, *item)));
        }
    }
    lines.extend(
        call.effects()
            .iter()
            .map(|effect| effect_words(graph, effect)),
    );
    lines.extend(
        call.events
            .iter()
            .map(|event| external(graph, &event.external)),
    );
    let passed_by = call.uncaptured.iter();
    lines.extend(passed_by.map(|name| format!("something was not recorded: {name}")));
    lines
}

fn effect_words(graph: &Graph, effect: &Effect) -> String {
    match effect {
        Effect::Rebound {
            place,
            before,
            after,
        } => {
            let words = |node: &Option<NodeId>| {
                node.map_or_else(|| "nothing".to_owned(), |node| value(graph, node))
            };
            format!(
                "{}: {} became {}",
                place_name(place),
                words(before),
                words(after)
            )
        }
        Effect::Changed { before, after, .. } => {
            format!("{} became {}", value(graph, *before), value(graph, *after))
        }
    }
}

fn place_name(place: &Place) -> String {
    match place {
        Place::Global { module, name } => format!("{module}.{name}"),
        Place::ClassAttribute { class, name } => format!("{class}.{name}"),
        Place::Cell { name } => format!("enclosed {name}"),
        Place::Default { parameter } => format!("the default of {parameter}"),
    }
}

fn external(graph: &Graph, external: &External) -> String {
    match external {
        External::Input {
            text: Some(line), ..
        } => format!("read {}", text(line)),
        External::Input { text: None, .. } => "read to the end of the input".to_owned(),
        External::Output {
            is_error: false,
            text: words,
        } => format!("printed {}", text(words)),
        External::Output {
            is_error: true,
            text: words,
        } => {
            format!("printed {} to standard error", text(words))
        }
        External::File {
            path,
            before,
            after,
        } if before == after => {
            format!("used the file {path}: {}", file(before))
        }
        External::File {
            path,
            before,
            after,
        } => {
            format!("the file {path}: {} became {}", file(before), file(after))
        }
        External::Environment {
            name,
            before,
            after,
        } => {
            let words =
                |one: &Option<String>| one.as_deref().map_or_else(|| "nothing".to_owned(), text);
            if before == after {
                format!("the environment has {name}: {}", words(before))
            } else {
                format!(
                    "the environment's {name}: {} became {}",
                    words(before),
                    words(after)
                )
            }
        }
        External::WorkingFolder { before, after } if before == after => {
            format!("worked in the folder {before}")
        }
        External::WorkingFolder { before, after } => {
            format!("the current folder: {before} became {after}")
        }
        External::Permissions { path, after } => {
            format!("the permissions of {path} became {after:03o}")
        }
        External::Logged {
            logger,
            level,
            message,
        } => {
            let message = message
                .as_deref()
                .map_or_else(|| "something".to_owned(), text);
            format!("logged {message} to {logger}, level {level}")
        }
        External::Called {
            function,
            arguments,
            keywords,
            answer,
            ..
        } => {
            let mut words = Words {
                graph,
                inside: Vec::new(),
            };
            let mut parts: Vec<String> = arguments.iter().map(|one| words.value(*one)).collect();
            parts.extend(words.named(keywords));
            let answer = match answer {
                Answer::Returned(result) => format!("gave {}", value(graph, *result)),
                Answer::Raised(exception) => format!("raised {}", value(graph, *exception)),
            };
            format!("{function}({}) {answer}", parts.join(", "))
        }
    }
}

fn file(state: &FileState) -> String {
    match state {
        FileState::Absent => "nothing".to_owned(),
        FileState::File(content) => bytes(content),
        FileState::LargeFile(length) => format!("{length} bytes"),
        FileState::Folder(entries) => format!("a folder with {}", entries.join(", ")),
        FileState::Link(target) => format!("a link to {target}"),
        FileState::Other => "something else".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Node;
    use crate::value::ObjectId;

    #[test]
    fn cycles_end_and_long_lists_are_counted() {
        let mut graph = Graph::default();
        let numbers: Vec<NodeId> = (0..12)
            .map(|number| graph.add(Node::plain(Value::Integer(number))))
            .collect();
        let long = graph.add(Node::plain(Value::List(numbers)));
        assert_eq!(value(&graph, long), "[0, 1, 2, 3, 4, 5, 6, 7, … 4 more]");
        let ring = graph.add(Node::plain(Value::None));
        let list = Value::List(vec![ring]);
        graph.set(
            ring,
            Node {
                value: list,
                object: Some(ObjectId(1)),
            },
        );
        assert_eq!(value(&graph, ring), "[…]");
    }

    #[test]
    fn texts_are_quoted_as_python_does() {
        assert_eq!(text("it's\n"), "\"it's\\n\"");
        assert_eq!(text("plain"), "'plain'");
    }
}
