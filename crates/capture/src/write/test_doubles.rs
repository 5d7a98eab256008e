//! Test doubles for functions that depend on the outside. They return the recorded replies, and may
//! check their arguments.
//!
//! Clocks and random generators reply whatever they are asked. Arguments for other processes,
//! sockets and the interpreter are the very behavior of a unit, so these are checked as well.

use std::collections::BTreeSet;

use super::build::{BuildError, HELPERS, ValueBuilder};
use super::code::PythonCode;
use super::literal;
use super::plan::{ActualValue, Assertion, ComparisonKind, SetupStep};
use crate::inspect::ProjectModule;
use crate::recording::{Call, CodeUnit, ExternalReply, ExternalSource, Interaction};
use crate::value::{ImportPath, NodeId, ObjectId, Value};

/// The prefix of the methods of sockets.
pub(super) const SOCKET_METHODS: &str = "socket.socket.";
/// The prefix of the methods of processes.
const PROCESS_METHODS: &str = "subprocess.Popen.";

/// All calls of one external function within a recorded call.
pub(super) struct ExternalFunction<'c> {
    /// The part of the outside that it depends on.
    source: ExternalSource,
    /// The function's documented name.
    function: &'c str,
    /// The calls, in order.
    calls: Vec<ExternalCall<'c>>,
}

/// One call of an external function.
#[derive(Clone, Copy)]
struct ExternalCall<'c> {
    /// The positional arguments.
    arguments: &'c [NodeId],
    /// The keyword arguments.
    keywords: &'c [(String, NodeId)],
    /// The result.
    answer: &'c ExternalReply,
}

/// A mock whose calls are checked afterwards.
pub(crate) struct TestDouble<'c> {
    /// The variable that holds it.
    name: String,
    /// The expected calls.
    calls: Vec<ExternalCall<'c>>,
}

/// Groups the external calls of a call by function, in the order of the first use.
pub(super) fn external_functions(call: &Call) -> Vec<ExternalFunction<'_>> {
    let mut all: Vec<ExternalFunction<'_>> = Vec::new();
    for event in &call.events {
        let Interaction::Called {
            source,
            function,
            arguments,
            keywords,
            answer,
        } = &event.external
        else {
            continue;
        };
        let external_call = ExternalCall {
            arguments,
            keywords,
            answer,
        };
        match all.iter_mut().find(|known| known.function == function) {
            Some(known) => known.calls.push(external_call),
            None => all.push(ExternalFunction {
                source: *source,
                function,
                calls: vec![external_call],
            }),
        }
    }
    all
}

/// Marks sockets and processes that a call used as needing a name, because their use is checked in
/// the end.
pub(super) fn name_peers(builder: &mut ValueBuilder<'_>) {
    for object in peers(builder.call) {
        builder.require_name(object);
    }
}

/// Finds the sockets and processes that a call used.
fn peers(call: &Call) -> BTreeSet<ObjectId> {
    let of_event = |external: &Interaction| match external {
        Interaction::Called {
            function,
            arguments,
            ..
        } if function.starts_with(SOCKET_METHODS) || function.starts_with(PROCESS_METHODS) => {
            call.values.object(*arguments.first()?)
        }
        _ => None,
    };
    let events = call.events.iter();
    events
        .filter_map(|event| of_event(&event.external))
        .collect()
}

/// Replaces all external functions that the call used.
pub(super) fn replace_external(
    builder: &mut ValueBuilder<'_>,
    unit: &CodeUnit,
) -> Result<(), BuildError> {
    let call = builder.call;
    for external in external_functions(call) {
        replace_function(builder, unit, &external)?;
    }
    Ok(())
}

/// Replaces one external function.
fn replace_function<'a>(
    builder: &mut ValueBuilder<'a>,
    unit: &CodeUnit,
    external: &ExternalFunction<'a>,
) -> Result<(), BuildError> {
    let function = external.function;
    let Some((module, path)) = function.split_once('.') else {
        return Err(BuildError(format!("answers of {function}")));
    };
    let own = builder
        .knowledge
        .project
        .module_at(std::path::Path::new(&unit.file));
    if let Some(method) = function
        .strip_prefix(SOCKET_METHODS)
        .or_else(|| function.strip_prefix(PROCESS_METHODS))
    {
        // Only the constructor is replaced; the others are methods of the object that it returns.
        let class = path.split('.').next().unwrap_or(path);
        return match method {
            "__init__" => replace_peer_class(builder, own, module, class, external),
            _ => Ok(()),
        };
    }
    let takes_arguments = |external_call: &ExternalCall<'_>| {
        !external_call.arguments.is_empty() || !external_call.keywords.is_empty()
    };
    let value = match function {
        "time.sleep" => {
            let slept = builder.scope.variable("slept");
            builder.setup.push(SetupStep::Assign {
                target: slept.clone(),
                code: PythonCode::text("[]"),
            });
            let durations = external.calls.iter().filter_map(first_argument).collect();
            builder.sleeps = Some((slept.clone(), durations));
            PythonCode::Text(format!("{slept}.append"))
        }
        "random.shuffle" => {
            let orders = reply_codes(builder, external)?;
            let helper = builder.scope.import_name(HELPERS, "shuffling").one_line();
            PythonCode::call(&helper, orders)
        }
        _ if is_checked(external.source) => {
            let owner = builder.scope.module(module);
            let _ = owner;
            let values = reply_codes(builder, external)?;
            mock_function(
                builder,
                path.rsplit('.').next().unwrap_or(path),
                external,
                values,
            )
        }
        _ => canned_function(
            builder,
            external,
            external.calls.iter().any(takes_arguments),
        )?,
    };
    // A method of a class defined in C, such as `datetime.datetime.now`, cannot be replaced, but
    // the class can.
    if let Some((class, method)) = path.split_once('.') {
        let reference = ImportPath::new(module, class);
        let base = builder.scope.reference(&reference).one_line();
        builder.scope.import_name(HELPERS, "answering");
        let scripted = PythonCode::call(
            "answering",
            vec![PythonCode::Text(base), PythonCode::keyword(method, value)],
        );
        pin_function(builder, own, module, class, scripted);
    } else {
        pin_function(builder, own, module, path, value);
    }
    Ok(())
}

/// Returns true if the arguments of a function are checked.
fn is_checked(source: ExternalSource) -> bool {
    match source {
        ExternalSource::Process | ExternalSource::Network | ExternalSource::Interpreter => true,
        ExternalSource::Clock | ExternalSource::Random | ExternalSource::Host => false,
    }
}

/// Returns the first argument of a call.
fn first_argument(external_call: &ExternalCall<'_>) -> Option<NodeId> {
    let named = external_call.keywords.first().map(|(_, value)| *value);
    external_call.arguments.first().copied().or(named)
}

/// Replaces a function where the unit looks it up: under its name in the unit's module, or in the
/// library.
fn pin_function(
    builder: &mut ValueBuilder<'_>,
    own: Option<&ProjectModule>,
    module: &str,
    name: &str,
    value: PythonCode,
) {
    let imported = own.and_then(|own| {
        let import = own
            .imports
            .iter()
            .find(|import| import.module == module && import.name.as_deref() == Some(name))?;
        Some((own.name.clone(), import.bound_name.clone()))
    });
    let (owner, name) = match imported {
        Some((owner, bound)) => (builder.scope.module(&owner), bound),
        None => (builder.scope.module(module), name.to_owned()),
    };
    builder.setup.push(SetupStep::pin(owner, name, value));
}

/// Builds the replies of a function, one by one.
fn reply_codes<'a>(
    builder: &mut ValueBuilder<'a>,
    external: &ExternalFunction<'a>,
) -> Result<Vec<PythonCode>, BuildError> {
    let mut items = Vec::new();
    for external_call in &external.calls {
        let (ExternalReply::Returned(node) | ExternalReply::Raised(node)) = external_call.answer;
        let item = builder.call_value(*node, "answer");
        items.push(item.map_err(|missing| {
            BuildError(format!(
                "an answer of {} is {}",
                external.function, missing.0
            ))
        })?);
    }
    Ok(items)
}

/// Writes a function that returns the replies, whatever its arguments are.
fn canned_function<'a>(
    builder: &mut ValueBuilder<'a>,
    external: &ExternalFunction<'a>,
    takes_arguments: bool,
) -> Result<PythonCode, BuildError> {
    let mut items = reply_codes(builder, external)?;
    if let [
        ExternalCall {
            answer: ExternalReply::Returned(_),
            ..
        },
    ] = external.calls.as_slice()
        && let Some(value) = items.pop()
    {
        let parameters = if takes_arguments {
            "lambda *args, **kwargs"
        } else {
            "lambda"
        };
        return Ok(PythonCode::pair(PythonCode::text(parameters), ": ", value));
    }
    builder.scope.import_name(HELPERS, "Answers");
    Ok(PythonCode::call("Answers", items))
}

/// Adds a mock that returns the replies and records its calls. Returns its name.
fn mock_function<'a>(
    builder: &mut ValueBuilder<'a>,
    wanted: &str,
    external: &ExternalFunction<'a>,
    mut answers: Vec<PythonCode>,
) -> PythonCode {
    let mock = builder
        .scope
        .import_name("unittest.mock", "Mock")
        .one_line();
    let name = builder.scope.variable(wanted);
    let is_one = matches!(
        external.calls.as_slice(),
        [ExternalCall {
            answer: ExternalReply::Returned(_),
            ..
        }]
    );
    let mock_argument = match answers.pop() {
        Some(only) if is_one => PythonCode::keyword("return_value", only),
        last => {
            answers.extend(last);
            PythonCode::keyword("side_effect", PythonCode::list(answers))
        }
    };
    builder.setup.push(SetupStep::Assign {
        target: name.clone(),
        code: PythonCode::call(&mock, vec![mock_argument]),
    });
    builder.doubles.push(TestDouble {
        name: name.clone(),
        calls: external.calls.clone(),
    });
    PythonCode::text(name)
}

/// Replaces the class of sockets or processes by a mock that returns scripted ones.
fn replace_peer_class<'a>(
    builder: &mut ValueBuilder<'a>,
    own: Option<&ProjectModule>,
    module: &str,
    class: &str,
    external: &ExternalFunction<'a>,
) -> Result<(), BuildError> {
    builder.scope.module(module);
    let hint = match class {
        "Popen" => "process",
        _ => "connection",
    };
    let mut made = Vec::new();
    let mut calls = Vec::new();
    for external_call in &external.calls {
        let Some((peer, arguments)) = external_call.arguments.split_first() else {
            return Err(BuildError(format!(
                "something made by {}",
                external.function
            )));
        };
        made.push(builder.call_value(*peer, hint)?);
        calls.push(ExternalCall {
            arguments,
            ..*external_call
        });
    }
    let external = ExternalFunction {
        source: external.source,
        function: external.function,
        calls,
    };
    let name = mock_function(builder, &format!("make_{hint}"), &external, made);
    pin_function(builder, own, module, class, name);
    Ok(())
}

/// Writes a scripted socket or process for an object, if it is one.
pub(super) fn peer_double<'a>(
    builder: &mut ValueBuilder<'a>,
    class: &ImportPath,
    object: Option<ObjectId>,
) -> Option<Result<PythonCode, BuildError>> {
    match (class.module.as_str(), class.path.as_str()) {
        ("socket", "socket") => Some(scripted_socket(builder, object)),
        ("subprocess", "Popen") => Some(scripted_process(builder, object)),
        _ => None,
    }
}

/// Returns the uses of a socket or process, in order: the method, its arguments and its reply.
fn peer_uses<'a>(
    call: &'a Call,
    prefix: &'static str,
    object: Option<ObjectId>,
) -> impl Iterator<Item = (&'a str, ExternalCall<'a>)> {
    let events = call.events.iter();
    events.filter_map(move |event| match &event.external {
        Interaction::Called {
            function,
            arguments,
            keywords,
            answer,
            ..
        } => {
            let method = function.strip_prefix(prefix)?;
            let (own, arguments) = arguments.split_first()?;
            let is_it = object.is_some() && call.values.object(*own) == object;
            let external_call = ExternalCall {
                arguments,
                keywords,
                answer,
            };
            is_it.then_some((method, external_call))
        }
        _ => None,
    })
}

/// Writes a socket that replays the recorded conversation.
fn scripted_socket(
    builder: &mut ValueBuilder<'_>,
    object: Option<ObjectId>,
) -> Result<PythonCode, BuildError> {
    let call = builder.call;
    let mut turns: Vec<(&str, SocketTurn)> = Vec::new();
    for (method, external_call) in peer_uses(call, SOCKET_METHODS, object) {
        let kind = match method {
            "__init__" => continue,
            "send" | "sendall" => "sent",
            "recv" | "recv_into" => "received",
            other => other,
        };
        let content = match (kind, external_call.answer) {
            (_, ExternalReply::Raised(error)) => {
                SocketTurn::Code(builder.call_value(*error, "error")?)
            }
            ("sent", _) => SocketTurn::Bytes(sent_bytes(call, &external_call)?),
            ("received", ExternalReply::Returned(data)) => match call.values.value(*data) {
                Value::Bytes(data) => SocketTurn::Bytes(data.clone()),
                _ => {
                    return Err(BuildError(
                        "something received that is not bytes".to_owned(),
                    ));
                }
            },
            ("connect" | "connect_ex" | "bind", _) => {
                let address = external_call.arguments.first();
                let address = address.ok_or_else(|| BuildError("an address".to_owned()))?;
                SocketTurn::Code(builder.call_value(*address, "address")?)
            }
            (_, ExternalReply::Returned(answer)) => {
                SocketTurn::Code(builder.call_value(*answer, "answer")?)
            }
        };
        // The number of pieces in which data was sent is of no interest.
        match (turns.last_mut(), content) {
            (Some(("sent", SocketTurn::Bytes(before))), SocketTurn::Bytes(more))
                if kind == "sent" =>
            {
                before.extend(more);
            }
            (_, content) => turns.push((kind, content)),
        }
    }
    let turns = turns.into_iter().map(|(kind, content)| {
        let content = match content {
            SocketTurn::Bytes(data) => literal::bytes_literal(&data),
            SocketTurn::Code(code) => code,
        };
        PythonCode::tuple(vec![PythonCode::Text(literal::quoted(kind)), content])
    });
    let helper = builder
        .scope
        .import_name(HELPERS, "ScriptedSocket")
        .one_line();
    Ok(PythonCode::call(&helper, turns.collect()))
}

/// One turn of a conversation over a socket.
enum SocketTurn {
    /// Bytes that were sent or received.
    Bytes(Vec<u8>),
    /// Another value: an address, a reply or an exception.
    Code(PythonCode),
}

/// Returns the bytes that were actually sent.
fn sent_bytes(call: &Call, external_call: &ExternalCall<'_>) -> Result<Vec<u8>, BuildError> {
    let data = external_call
        .arguments
        .first()
        .map(|node| call.values.value(*node));
    let mut data = match data {
        Some(Value::Bytes(data) | Value::ByteArray(data)) => data.clone(),
        _ => return Err(BuildError("something sent that is not bytes".to_owned())),
    };
    if let ExternalReply::Returned(count) = external_call.answer
        && let Value::Integer(count) = call.values.value(*count)
    {
        data.truncate(usize::try_from(*count).unwrap_or(usize::MAX));
    }
    Ok(data)
}

/// Writes a process that replays the recorded replies.
fn scripted_process(
    builder: &mut ValueBuilder<'_>,
    object: Option<ObjectId>,
) -> Result<PythonCode, BuildError> {
    let call = builder.call;
    let mut items: Vec<PythonCode> = Vec::new();
    let mut code = None;
    let mut by_method: Vec<(&str, Vec<PythonCode>)> = Vec::new();
    for (method, external_call) in peer_uses(call, PROCESS_METHODS, object) {
        if let Some((_, node)) = external_call
            .keywords
            .iter()
            .find(|(name, _)| name == "returncode")
        {
            code = Some(*node);
        }
        if method == "__init__" {
            continue;
        }
        let (ExternalReply::Returned(node) | ExternalReply::Raised(node)) = external_call.answer;
        let answer = builder.call_value(*node, "answer")?;
        match by_method.iter_mut().find(|(known, _)| *known == method) {
            Some((_, answers)) => answers.push(answer),
            None => by_method.push((method, vec![answer])),
        }
    }
    if let Some(node) = code {
        items.push(PythonCode::keyword(
            "returncode",
            builder.call_value(node, "code")?,
        ));
    }
    for (method, answers) in by_method {
        items.push(PythonCode::keyword(method, PythonCode::list(answers)));
    }
    let helper = builder
        .scope
        .import_name(HELPERS, "ScriptedProcess")
        .one_line();
    Ok(PythonCode::call(&helper, items))
}

/// Plans assertions that all mocks were called as recorded, and that all conversations were
/// finished.
pub(super) fn check_mocks(builder: &mut ValueBuilder<'_>) -> Vec<Assertion> {
    let mut checks = Vec::new();
    for double in std::mem::take(&mut builder.doubles) {
        let calls: Option<Vec<PythonCode>> = double
            .calls
            .iter()
            .map(|external_call| mock_call(builder, external_call))
            .collect();
        // Arguments that cannot be built cannot be compared.
        if let Some(calls) = calls {
            let actual = PythonCode::Text(format!("{}.mock_calls", double.name));
            let check = Assertion::new(
                ActualValue::Code(actual),
                ComparisonKind::Equal,
                PythonCode::list(calls),
            );
            checks.push(check);
        }
    }
    for object in peers(builder.call) {
        let is_socket = peer_uses(builder.call, SOCKET_METHODS, Some(object))
            .next()
            .is_some();
        if let Some(name) = builder.existing.get(&object).filter(|_| is_socket) {
            let actual = PythonCode::Text(format!("{name}.assert_finished()"));
            checks.push(Assertion::new(
                ActualValue::Code(actual),
                ComparisonKind::AlreadyChecked,
                PythonCode::text(""),
            ));
        }
    }
    checks
}

/// Writes a `call(…)`, as `unittest.mock` compares it.
fn mock_call(
    builder: &mut ValueBuilder<'_>,
    external_call: &ExternalCall<'_>,
) -> Option<PythonCode> {
    let mut items = Vec::new();
    for node in external_call.arguments {
        items.push(builder.expected_value(*node).ok()?);
    }
    // The exit status is recorded with the call, but was no argument.
    let keywords = external_call
        .keywords
        .iter()
        .filter(|(name, _)| name != "returncode");
    for (name, node) in keywords {
        items.push(PythonCode::keyword(
            name,
            builder.expected_value(*node).ok()?,
        ));
    }
    let call = builder
        .scope
        .import_name("unittest.mock", "call")
        .one_line();
    Some(PythonCode::call(&call, items))
}

/// Plans an assertion about the durations for which the unit slept, if it did.
pub(super) fn check_sleeps(builder: &mut ValueBuilder<'_>) -> Option<Assertion> {
    let (name, durations) = builder.sleeps.clone()?;
    let graph = &builder.call.values;
    let items = durations.iter().map(|node| match graph.value(*node) {
        Value::Integer(number) => Some(PythonCode::text(number.to_string())),
        Value::Float(number) if number.0.is_finite() => {
            Some(PythonCode::Text(literal::float_literal(number.0)))
        }
        _ => None,
    });
    let items: Vec<PythonCode> = items.collect::<Option<_>>()?;
    let actual = ActualValue::Code(PythonCode::Text(name));
    Some(Assertion::new(
        actual,
        ComparisonKind::Equal,
        PythonCode::list(items),
    ))
}
