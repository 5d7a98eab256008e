//! One line of the draft that does something.

use super::pools::WishId;
use crate::inspect::Role;
use crate::recording::Call;
use crate::write::{Code, Exercised, on_object, operator};

/// Something that can be done.
pub(super) struct Action<'a> {
    /// What is called.
    pub(super) callee: Callee,
    /// Its arguments, in order.
    pub(super) arguments: Vec<Argument>,
    /// What is done with what the call gives.
    pub(super) wrap: Wrap,
    /// The class whose pool takes what it gives.
    pub(super) result: Option<usize>,
    /// Exceptions that were seen.
    pub(super) exceptions: Vec<String>,
    /// What was always true before.
    pub(super) guard: Option<Guard>,
    /// Where it comes from.
    pub(super) note: String,
    /// Why it is commented out, as the end of "it …" or a whole phrase.
    pub(super) left_out: Option<String>,
    /// The class that it is written under.
    pub(super) section: Option<usize>,
    /// Its place in the draft.
    pub(super) order: usize,
    /// The recorded calls that it can make again.
    pub(super) calls: Vec<&'a Call>,
}

/// What is called.
pub(super) enum Callee {
    /// Something that has a name: a function, a class, a method of a class.
    Named(String),
    /// A method, property or operator of an object of a class.
    Of {
        class: usize,
        role: Option<Role>,
        name: String,
    },
}

/// What is given to it.
pub(super) struct Argument {
    pub(super) keyword: Option<String>,
    pub(super) what: What,
    /// The field of a record that it becomes.
    pub(super) field: Option<String>,
}

/// What an argument is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// Always this.
    Text(String),
    /// One of some values.
    Wish(WishId),
    /// An object of a class of the modules.
    Object(usize),
}

/// What is done with what a call gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrap {
    Nothing,
    /// A generator is used up.
    List,
    /// A generator that did not end is used for a while.
    Some,
    /// A coroutine is run.
    Run,
    /// A context is entered and left.
    With,
}

/// What was always true of the receiver before a call.
pub(super) struct Guard {
    /// What stands before the receiver and behind it.
    pub(super) before: &'static str,
    pub(super) behind: String,
}

impl Action<'_> {
    /// The wishes among its arguments.
    pub(super) fn wishes(&self) -> Vec<WishId> {
        let whats = self.arguments.iter().map(|argument| &argument.what);
        whats
            .filter_map(|what| match what {
                What::Wish(id) => Some(*id),
                _ => None,
            })
            .collect()
    }

    /// The classes of the objects that it needs.
    pub(super) fn needs(&self) -> Vec<usize> {
        let receiver = match &self.callee {
            Callee::Of { class, .. } => Some(*class),
            Callee::Named(_) => None,
        };
        let arguments = self
            .arguments
            .iter()
            .filter_map(|argument| match argument.what {
                What::Object(class) => Some(class),
                _ => None,
            });
        receiver.into_iter().chain(arguments).collect()
    }

    /// The statement, with these texts for the receiver and the arguments.
    pub(super) fn said(&self, receiver: &str, arguments: &[String]) -> String {
        let arguments: Vec<Code> = self
            .arguments
            .iter()
            .zip(arguments)
            .map(|(argument, text)| match &argument.keyword {
                Some(name) => Code::keyword(name, Code::text(text)),
                None => Code::text(text),
            })
            .collect();
        let said = match &self.callee {
            Callee::Named(name) => Code::call(name, arguments).flat(),
            Callee::Of { role, name, .. } => of_object(*role, receiver, name, arguments),
        };
        match self.wrap {
            Wrap::Nothing => said,
            Wrap::List => format!("list({said})"),
            Wrap::Some => format!("list(itertools.islice({said}, 100))"),
            Wrap::Run => format!("asyncio.run({said})"),
            Wrap::With => format!("with {said}: pass"),
        }
    }
}

/// What is done to an object, as a statement.
fn of_object(role: Option<Role>, receiver: &str, name: &str, arguments: Vec<Code>) -> String {
    let is_method = matches!(role, Some(Role::Method) | None);
    if let (true, [other]) = (is_method, arguments.as_slice()) {
        let other = other.flat();
        if let Some(operator) = operator(name) {
            return format!("{receiver} {operator} {other}");
        }
        if let Some(operator) = reflected(name) {
            return format!("{other} {operator} {receiver}");
        }
        if let Some(operator) = in_place(name) {
            return format!("{receiver} {operator}= {other}");
        }
    }
    match (name, arguments.as_slice()) {
        // Somebody has to ask for the items.
        ("__iter__", []) => return format!("list({receiver})"),
        ("__reversed__", []) => return format!("list(reversed({receiver}))"),
        ("__enter__", []) => return format!("with {receiver}: pass"),
        ("__copy__", []) => return format!("copy.copy({receiver})"),
        ("__deepcopy__", _) => return format!("copy.deepcopy({receiver})"),
        // A statement of its own needs no brackets.
        ("__contains__", [item]) => return format!("{} in {receiver}", item.flat()),
        ("__format__", [form]) => return format!("format({receiver}, {})", form.flat()),
        _ => {}
    }
    match on_object(role, receiver, name, arguments) {
        Exercised::Value(code) | Exercised::Statement(code) | Exercised::Creation(code) => {
            code.flat()
        }
    }
}

/// The operator that a special method of its right operand is for.
fn reflected(name: &str) -> Option<&'static str> {
    operator(&format!("__{}", name.strip_prefix("__r")?)).filter(|_| !name.starts_with("__re"))
}

/// The operator that a special method for `+=` and the like is for.
fn in_place(name: &str) -> Option<&'static str> {
    let found = operator(&format!("__{}", name.strip_prefix("__i")?))?;
    (!found.ends_with(['=', '<', '>'])).then_some(found)
}

/// Whether a special method is called by something that one would write.
pub(super) fn is_said(name: &str) -> bool {
    let is_special = name.starts_with("__") && name.ends_with("__");
    let is_operator =
        operator(name).is_some() || reflected(name).is_some() || in_place(name).is_some();
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

/// Whether the receiver of a special method is written behind the argument.
pub(super) fn is_said_behind(name: &str) -> bool {
    name == "__contains__" || reflected(name).is_some()
}

/// Whether a special method compares or combines an object with another.
pub(super) fn is_operator(name: &str) -> bool {
    operator(name).is_some() || reflected(name).is_some() || in_place(name).is_some()
}
