//! What stands in a test for the functions that asked the outside: it answers as they did, and notes what it is asked.
//!
//! Clocks and chance are answered whatever they are asked. What is said to other processes, to sockets and to the
//! interpreter is the very behaviour of a unit, so there the arguments are checked as well.

use std::collections::BTreeSet;

use super::build::{Builder, HELPERS, Missing};
use super::code::Code;
use super::literal;
use super::plan::{Actual, Check, How, Setup};
use crate::inspect::Module;
use crate::recording::{Answer, Call, External, Source, Unit};
use crate::value::{NodeId, ObjectId, Reference, Value};

/// The methods of sockets.
pub(super) const OF_SOCKETS: &str = "socket.socket.";
/// The methods of processes.
const OF_PROCESSES: &str = "subprocess.Popen.";

/// All that one function was asked in a call, and its answers.
pub(super) struct Asked<'c> {
    source: Source,
    function: &'c str,
    times: Vec<Time<'c>>,
}

#[derive(Clone, Copy)]
struct Time<'c> {
    arguments: &'c [NodeId],
    keywords: &'c [(String, NodeId)],
    answer: &'c Answer,
}

/// A double whose calls are checked afterwards: its name, and what it was given each time.
pub(crate) struct Double<'c> {
    name: String,
    times: Vec<Time<'c>>,
}

/// What a call asked, function by function, in the order of the first question.
pub(super) fn asked(call: &Call) -> Vec<Asked<'_>> {
    let mut all: Vec<Asked<'_>> = Vec::new();
    for event in &call.events {
        let External::Called {
            source,
            function,
            arguments,
            keywords,
            answer,
        } = &event.external
        else {
            continue;
        };
        let time = Time {
            arguments,
            keywords,
            answer,
        };
        match all.iter_mut().find(|known| known.function == function) {
            Some(known) => known.times.push(time),
            None => all.push(Asked {
                source: *source,
                function,
                times: vec![time],
            }),
        }
    }
    all
}

/// Sockets and processes that a call talked to need a name: what they were told is checked in the end.
pub(super) fn name_partners(builder: &mut Builder<'_>) {
    for object in partners(builder.call) {
        builder.needs_name(object);
    }
}

fn partners(call: &Call) -> BTreeSet<ObjectId> {
    let of_event = |external: &External| match external {
        External::Called {
            function,
            arguments,
            ..
        } if function.starts_with(OF_SOCKETS) || function.starts_with(OF_PROCESSES) => {
            call.values.object(*arguments.first()?)
        }
        _ => None,
    };
    let events = call.events.iter();
    events
        .filter_map(|event| of_event(&event.external))
        .collect()
}

/// Puts something in the place of all functions that were asked.
pub(super) fn replace(builder: &mut Builder<'_>, unit: &Unit) -> Result<(), Missing> {
    let call = builder.call;
    for asked in asked(call) {
        replace_one(builder, unit, &asked)?;
    }
    Ok(())
}

fn replace_one<'a>(
    builder: &mut Builder<'a>,
    unit: &Unit,
    asked: &Asked<'a>,
) -> Result<(), Missing> {
    let function = asked.function;
    let Some((module, path)) = function.split_once('.') else {
        return Err(Missing(format!("answers of {function}")));
    };
    let own = builder
        .knowledge
        .project
        .module_at(std::path::Path::new(&unit.file));
    if let Some(method) = function
        .strip_prefix(OF_SOCKETS)
        .or_else(|| function.strip_prefix(OF_PROCESSES))
    {
        // Only what makes one is replaced; the others are methods of what it makes.
        let class = path.split('.').next().unwrap_or(path);
        return match method {
            "__init__" => made_partners(builder, own, module, class, asked),
            _ => Ok(()),
        };
    }
    let takes_arguments = |time: &Time<'_>| !time.arguments.is_empty() || !time.keywords.is_empty();
    let value = match function {
        "time.sleep" => {
            let slept = builder.scope.variable("slept");
            builder.setup.push(Setup::Assign {
                target: slept.clone(),
                code: Code::text("[]"),
            });
            let given = asked.times.iter().filter_map(first_given).collect();
            builder.sleeps = Some((slept.clone(), given));
            Code::Text(format!("{slept}.append"))
        }
        "random.shuffle" => {
            let orders = answers(builder, asked)?;
            let helper = builder.scope.from(HELPERS, "shuffling").flat();
            Code::call(&helper, orders)
        }
        _ if is_checked(asked.source) => {
            let owner = builder.scope.module(module);
            let _ = owner;
            let values = answers(builder, asked)?;
            double(
                builder,
                path.rsplit('.').next().unwrap_or(path),
                asked,
                values,
            )
        }
        _ => answering(builder, asked, asked.times.iter().any(takes_arguments))?,
    };
    // A method of a class that C defines, such as `datetime.datetime.now`, cannot be replaced; the class can.
    if let Some((class, method)) = path.split_once('.') {
        let reference = Reference::new(module, class);
        let base = builder.scope.reference(&reference).flat();
        builder.scope.from(HELPERS, "answering");
        let scripted = Code::call(
            "answering",
            vec![Code::Text(base), Code::keyword(method, value)],
        );
        pin(builder, own, module, class, scripted);
    } else {
        pin(builder, own, module, path, value);
    }
    Ok(())
}

/// Whether what a function is asked is checked, and not only answered.
fn is_checked(source: Source) -> bool {
    match source {
        Source::Process | Source::Network | Source::Interpreter => true,
        Source::Clock | Source::Random | Source::Host => false,
    }
}

fn first_given(time: &Time<'_>) -> Option<NodeId> {
    let named = time.keywords.first().map(|(_, value)| *value);
    time.arguments.first().copied().or(named)
}

/// Replaces a function where the unit looks it up: under the name that its module gave it, else in the library.
fn pin(builder: &mut Builder<'_>, own: Option<&Module>, module: &str, name: &str, value: Code) {
    let imported = own.and_then(|own| {
        let import = own
            .imports
            .iter()
            .find(|import| import.module == module && import.name.as_deref() == Some(name))?;
        Some((own.name.clone(), import.bound.clone()))
    });
    let (owner, name) = match imported {
        Some((owner, bound)) => (builder.scope.module(&owner), bound),
        None => (builder.scope.module(module), name.to_owned()),
    };
    builder.setup.push(Setup::pin(owner, name, value));
}

/// The answers of a function, one by one.
fn answers<'a>(builder: &mut Builder<'a>, asked: &Asked<'a>) -> Result<Vec<Code>, Missing> {
    let mut items = Vec::new();
    for time in &asked.times {
        let (Answer::Returned(node) | Answer::Raised(node)) = time.answer;
        let item = builder.value(*node, "answer");
        items.push(item.map_err(|missing| {
            Missing(format!("an answer of {} is {}", asked.function, missing.0))
        })?);
    }
    Ok(items)
}

/// A function that gives these answers, whatever it is asked.
fn answering<'a>(
    builder: &mut Builder<'a>,
    asked: &Asked<'a>,
    takes_arguments: bool,
) -> Result<Code, Missing> {
    let mut items = answers(builder, asked)?;
    if let [
        Time {
            answer: Answer::Returned(_),
            ..
        },
    ] = asked.times.as_slice()
        && let Some(value) = items.pop()
    {
        let parameters = if takes_arguments {
            "lambda *args, **kwargs"
        } else {
            "lambda"
        };
        return Ok(Code::pair(Code::text(parameters), ": ", value));
    }
    builder.scope.from(HELPERS, "Answers");
    Ok(Code::call("Answers", items))
}

/// A function that gives these answers and remembers what it was asked. Returns its name.
fn double<'a>(
    builder: &mut Builder<'a>,
    wanted: &str,
    asked: &Asked<'a>,
    mut answers: Vec<Code>,
) -> Code {
    let mock = builder.scope.from("unittest.mock", "Mock").flat();
    let name = builder.scope.variable(wanted);
    let is_one = matches!(
        asked.times.as_slice(),
        [Time {
            answer: Answer::Returned(_),
            ..
        }]
    );
    let given = match answers.pop() {
        Some(only) if is_one => Code::keyword("return_value", only),
        last => {
            answers.extend(last);
            Code::keyword("side_effect", Code::list(answers))
        }
    };
    builder.setup.push(Setup::Assign {
        target: name.clone(),
        code: Code::call(&mock, vec![given]),
    });
    builder.doubles.push(Double {
        name: name.clone(),
        times: asked.times.clone(),
    });
    Code::text(name)
}

/// Sockets or processes that the unit makes: the class is replaced by a function that gives what stands for them.
fn made_partners<'a>(
    builder: &mut Builder<'a>,
    own: Option<&Module>,
    module: &str,
    class: &str,
    asked: &Asked<'a>,
) -> Result<(), Missing> {
    builder.scope.module(module);
    let hint = match class {
        "Popen" => "process",
        _ => "connection",
    };
    let mut made = Vec::new();
    let mut times = Vec::new();
    for time in &asked.times {
        let Some((partner, arguments)) = time.arguments.split_first() else {
            return Err(Missing(format!("something made by {}", asked.function)));
        };
        made.push(builder.value(*partner, hint)?);
        times.push(Time { arguments, ..*time });
    }
    let asked = Asked {
        source: asked.source,
        function: asked.function,
        times,
    };
    let name = double(builder, &format!("make_{hint}"), &asked, made);
    pin(builder, own, module, class, name);
    Ok(())
}

/// What stands for a socket or a process, if an object is one: it plays its part of what was recorded.
pub(super) fn partner<'a>(
    builder: &mut Builder<'a>,
    class: &Reference,
    object: Option<ObjectId>,
) -> Option<Result<Code, Missing>> {
    match (class.module.as_str(), class.path.as_str()) {
        ("socket", "socket") => Some(conversation(builder, object)),
        ("subprocess", "Popen") => Some(process(builder, object)),
        _ => None,
    }
}

/// What was done with an object, in order: which method, with what, and its answer.
fn used<'a>(
    call: &'a Call,
    prefix: &'static str,
    object: Option<ObjectId>,
) -> impl Iterator<Item = (&'a str, Time<'a>)> {
    let events = call.events.iter();
    events.filter_map(move |event| match &event.external {
        External::Called {
            function,
            arguments,
            keywords,
            answer,
            ..
        } => {
            let method = function.strip_prefix(prefix)?;
            let (own, arguments) = arguments.split_first()?;
            let is_it = object.is_some() && call.values.object(*own) == object;
            let time = Time {
                arguments,
                keywords,
                answer,
            };
            is_it.then_some((method, time))
        }
        _ => None,
    })
}

fn conversation(builder: &mut Builder<'_>, object: Option<ObjectId>) -> Result<Code, Missing> {
    let call = builder.call;
    let mut turns: Vec<(&str, Turn)> = Vec::new();
    for (method, time) in used(call, OF_SOCKETS, object) {
        let kind = match method {
            "__init__" => continue,
            "send" | "sendall" => "sent",
            "recv" | "recv_into" => "received",
            other => other,
        };
        let said = match (kind, time.answer) {
            (_, Answer::Raised(error)) => Turn::Code(builder.value(*error, "error")?),
            ("sent", _) => Turn::Bytes(sent(call, &time)?),
            ("received", Answer::Returned(data)) => match call.values.value(*data) {
                Value::Bytes(data) => Turn::Bytes(data.clone()),
                _ => return Err(Missing("something received that is not bytes".to_owned())),
            },
            ("connect" | "connect_ex" | "bind", _) => {
                let address = time.arguments.first();
                let address = address.ok_or_else(|| Missing("an address".to_owned()))?;
                Turn::Code(builder.value(*address, "address")?)
            }
            (_, Answer::Returned(answer)) => Turn::Code(builder.value(*answer, "answer")?),
        };
        // Into how many pieces something was cut when it was sent is of no interest.
        match (turns.last_mut(), said) {
            (Some(("sent", Turn::Bytes(before))), Turn::Bytes(more)) if kind == "sent" => {
                before.extend(more);
            }
            (_, said) => turns.push((kind, said)),
        }
    }
    let turns = turns.into_iter().map(|(kind, said)| {
        let said = match said {
            Turn::Bytes(data) => literal::bytes(&data),
            Turn::Code(code) => code,
        };
        Code::tuple(vec![Code::Text(literal::quoted(kind)), said])
    });
    let helper = builder.scope.from(HELPERS, "ScriptedSocket").flat();
    Ok(Code::call(&helper, turns.collect()))
}

/// One turn of a conversation.
enum Turn {
    Bytes(Vec<u8>),
    Code(Code),
}

/// What was sent, as far as it went.
fn sent(call: &Call, time: &Time<'_>) -> Result<Vec<u8>, Missing> {
    let data = time.arguments.first().map(|node| call.values.value(*node));
    let mut data = match data {
        Some(Value::Bytes(data) | Value::ByteArray(data)) => data.clone(),
        _ => return Err(Missing("something sent that is not bytes".to_owned())),
    };
    if let Answer::Returned(count) = time.answer
        && let Value::Integer(count) = call.values.value(*count)
    {
        data.truncate(usize::try_from(*count).unwrap_or(usize::MAX));
    }
    Ok(data)
}

fn process(builder: &mut Builder<'_>, object: Option<ObjectId>) -> Result<Code, Missing> {
    let call = builder.call;
    let mut items: Vec<Code> = Vec::new();
    let mut code = None;
    let mut by_method: Vec<(&str, Vec<Code>)> = Vec::new();
    for (method, time) in used(call, OF_PROCESSES, object) {
        if let Some((_, node)) = time.keywords.iter().find(|(name, _)| name == "returncode") {
            code = Some(*node);
        }
        if method == "__init__" {
            continue;
        }
        let (Answer::Returned(node) | Answer::Raised(node)) = time.answer;
        let answer = builder.value(*node, "answer")?;
        match by_method.iter_mut().find(|(known, _)| *known == method) {
            Some((_, answers)) => answers.push(answer),
            None => by_method.push((method, vec![answer])),
        }
    }
    if let Some(node) = code {
        items.push(Code::keyword("returncode", builder.value(node, "code")?));
    }
    for (method, answers) in by_method {
        items.push(Code::keyword(method, Code::list(answers)));
    }
    let helper = builder.scope.from(HELPERS, "ScriptedProcess").flat();
    Ok(Code::call(&helper, items))
}

/// That all doubles were asked what they were asked when the call was recorded.
pub(super) fn verify(builder: &mut Builder<'_>) -> Vec<Check> {
    let mut checks = Vec::new();
    for double in std::mem::take(&mut builder.doubles) {
        let calls: Option<Vec<Code>> = double
            .times
            .iter()
            .map(|time| told(builder, time))
            .collect();
        // What cannot be said again cannot be compared.
        if let Some(calls) = calls {
            let actual = Code::Text(format!("{}.mock_calls", double.name));
            let check = Check::new(Actual::Code(actual), How::Equal, Code::list(calls));
            checks.push(check);
        }
    }
    for object in partners(builder.call) {
        let is_socket = used(builder.call, OF_SOCKETS, Some(object))
            .next()
            .is_some();
        if let Some(name) = builder.live.get(&object).filter(|_| is_socket) {
            let actual = Code::Text(format!("{name}.assert_finished()"));
            checks.push(Check::new(Actual::Code(actual), How::Holds, Code::text("")));
        }
    }
    checks
}

/// `call(…)` as `unittest.mock` compares it.
fn told(builder: &mut Builder<'_>, time: &Time<'_>) -> Option<Code> {
    let mut items = Vec::new();
    for node in time.arguments {
        items.push(builder.expected(*node).ok()?);
    }
    // What a process came to is noted with the question, but was not part of it.
    let asked = time
        .keywords
        .iter()
        .filter(|(name, _)| name != "returncode");
    for (name, node) in asked {
        items.push(Code::keyword(name, builder.expected(*node).ok()?));
    }
    let call = builder.scope.from("unittest.mock", "call").flat();
    Some(Code::call(&call, items))
}

/// How long the unit slept, if it did.
pub(super) fn slept(builder: &mut Builder<'_>) -> Option<Check> {
    let (name, given) = builder.sleeps.clone()?;
    let graph = &builder.call.values;
    let items = given.iter().map(|node| match graph.value(*node) {
        Value::Integer(number) => Some(Code::text(number.to_string())),
        Value::Float(number) if number.0.is_finite() => Some(Code::Text(literal::float(number.0))),
        _ => None,
    });
    let items: Vec<Code> = items.collect::<Option<_>>()?;
    let actual = Actual::Code(Code::Text(name));
    Some(Check::new(actual, How::Equal, Code::list(items)))
}
