//! The actions of a draft: lines that do something.

use super::pools::ValueRequestId;
use crate::inspect::FunctionRole;
use crate::recording::Call;
use crate::write::{CallCode, PythonCode, binary_operator, method_code};

/// An action.
pub(super) struct DraftAction<'a> {
    /// The callee.
    pub(super) callee: ActionCallee,
    /// Its arguments, in order.
    pub(super) arguments: Vec<ActionArgument>,
    /// The use of the call's result.
    pub(super) result_use: ResultUse,
    /// The class whose pool takes the result.
    pub(super) result: Option<usize>,
    /// Exceptions that were recorded.
    pub(super) exceptions: Vec<String>,
    /// A condition that always held before.
    pub(super) guard: Option<DraftGuard>,
    /// A comment about its origin.
    pub(super) note: String,
    /// The reason why it is commented out, as the end of "it …" or as a whole phrase.
    pub(super) comment_reason: Option<String>,
    /// The class that it is listed under.
    pub(super) section: Option<usize>,
    /// Its position in the draft.
    pub(super) position: usize,
    /// The recorded calls that it can repeat.
    pub(super) calls: Vec<&'a Call>,
}

/// The callee of an action.
pub(super) enum ActionCallee {
    /// A named callable: a function, a class, a method of a class.
    Named(String),
    /// A method, property or operator of an object of a class.
    Member {
        class: usize,
        role: Option<FunctionRole>,
        name: String,
    },
}

/// An argument of an action.
pub(super) struct ActionArgument {
    /// The keyword by which it is passed.
    pub(super) keyword: Option<String>,
    /// The origin of its value.
    pub(super) source: ArgumentSource,
    /// The field of a record that it sets.
    pub(super) field: Option<String>,
}

/// The origin of an argument's value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ArgumentSource {
    /// A fixed text.
    Text(String),
    /// One of several values.
    Request(ValueRequestId),
    /// An object of a class of the modules.
    Object(usize),
}

/// The use of a call's result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultUse {
    /// The result is not used.
    Unchanged,
    /// A generator is exhausted.
    Exhaust,
    /// A generator that did not end is used for a limited number of items.
    TakeItems,
    /// A coroutine is run.
    RunCoroutine,
    /// A context is entered and left.
    EnterContext,
}

/// A condition on the receiver of an action.
pub(super) struct DraftGuard {
    /// The code before and after the receiver.
    pub(super) before_receiver: &'static str,
    pub(super) after_receiver: String,
}

impl DraftAction<'_> {
    /// Returns the value requests among its arguments.
    pub(super) fn requests(&self) -> Vec<ValueRequestId> {
        let sources = self.arguments.iter().map(|argument| &argument.source);
        sources
            .filter_map(|source| match source {
                ArgumentSource::Request(id) => Some(*id),
                _ => None,
            })
            .collect()
    }

    /// Returns the classes of the objects that it needs.
    pub(super) fn needed_classes(&self) -> Vec<usize> {
        let receiver = match &self.callee {
            ActionCallee::Member { class, .. } => Some(*class),
            ActionCallee::Named(_) => None,
        };
        let arguments = self
            .arguments
            .iter()
            .filter_map(|argument| match argument.source {
                ArgumentSource::Object(class) => Some(class),
                _ => None,
            });
        receiver.into_iter().chain(arguments).collect()
    }

    /// Renders the statement with texts for the receiver and the arguments.
    pub(super) fn statement(&self, receiver: &str, arguments: &[String]) -> String {
        let arguments: Vec<PythonCode> = self
            .arguments
            .iter()
            .zip(arguments)
            .map(|(argument, text)| match &argument.keyword {
                Some(name) => PythonCode::keyword(name, PythonCode::text(text)),
                None => PythonCode::text(text),
            })
            .collect();
        let statement = match &self.callee {
            ActionCallee::Named(name) => PythonCode::call(name, arguments).one_line(),
            ActionCallee::Member { role, name, .. } => {
                object_statement(*role, receiver, name, arguments)
            }
        };
        match self.result_use {
            ResultUse::Unchanged => statement,
            ResultUse::Exhaust => format!("list({statement})"),
            ResultUse::TakeItems => format!("list(itertools.islice({statement}, 100))"),
            ResultUse::RunCoroutine => format!("asyncio.run({statement})"),
            ResultUse::EnterContext => format!("with {statement}: pass"),
        }
    }
}

/// Renders an operation on an object as a statement.
fn object_statement(
    role: Option<FunctionRole>,
    receiver: &str,
    name: &str,
    arguments: Vec<PythonCode>,
) -> String {
    let is_method = matches!(role, Some(FunctionRole::Method) | None);
    if let (true, [other]) = (is_method, arguments.as_slice()) {
        let other = other.one_line();
        if let Some(operator) = binary_operator(name) {
            return format!("{receiver} {operator} {other}");
        }
        if let Some(operator) = reflected_operator(name) {
            return format!("{other} {operator} {receiver}");
        }
        if let Some(operator) = in_place_operator(name) {
            return format!("{receiver} {operator}= {other}");
        }
    }
    match (name, arguments.as_slice()) {
        // The items are only computed when they are iterated over.
        ("__iter__", []) => return format!("list({receiver})"),
        ("__reversed__", []) => return format!("list(reversed({receiver}))"),
        ("__enter__", []) => return format!("with {receiver}: pass"),
        ("__copy__", []) => return format!("copy.copy({receiver})"),
        ("__deepcopy__", _) => return format!("copy.deepcopy({receiver})"),
        // A statement needs no brackets.
        ("__contains__", [item]) => return format!("{} in {receiver}", item.one_line()),
        ("__format__", [form]) => return format!("format({receiver}, {})", form.one_line()),
        _ => {}
    }
    match method_code(role, receiver, name, arguments) {
        CallCode::Value(code) | CallCode::Statement(code) | CallCode::Creation(code) => {
            code.one_line()
        }
    }
}

/// Returns the operator that a special method of its right operand implements.
fn reflected_operator(name: &str) -> Option<&'static str> {
    binary_operator(&format!("__{}", name.strip_prefix("__r")?))
        .filter(|_| !name.starts_with("__re"))
}

/// Returns the operator that a special method for `+=` and the like implements.
fn in_place_operator(name: &str) -> Option<&'static str> {
    let found = binary_operator(&format!("__{}", name.strip_prefix("__i")?))?;
    (!found.ends_with(['=', '<', '>'])).then_some(found)
}

/// Returns true if a method can be called by ordinary syntax.
pub(super) fn has_ordinary_syntax(name: &str) -> bool {
    let is_special = name.starts_with("__") && name.ends_with("__");
    let is_operator = binary_operator(name).is_some()
        || reflected_operator(name).is_some()
        || in_place_operator(name).is_some();
    !is_special
        || is_operator
        || matches!(
            name,
            "__len__"
                | "__str__"
                | "__repr__"
                | "__bool__"
                | "__neg__"
                | "__abs__"
                | "__int__"
                | "__float__"
                | "__hash__"
                | "__iter__"
                | "__next__"
                | "__call__"
                | "__getitem__"
                | "__setitem__"
                | "__delitem__"
                | "__contains__"
                | "__reversed__"
                | "__enter__"
                | "__copy__"
                | "__deepcopy__"
                | "__format__"
        )
}

/// Returns true if the receiver of a special method is written after the argument.
pub(super) fn is_receiver_last(name: &str) -> bool {
    name == "__contains__" || reflected_operator(name).is_some()
}

/// Returns true if a special method compares or combines an object with another.
pub(super) fn is_operator(name: &str) -> bool {
    binary_operator(name).is_some()
        || reflected_operator(name).is_some()
        || in_place_operator(name).is_some()
}
