//! What came from outside is given again, and what went there is checked.

use super::build::{Builder, HELPERS, Missing};
use super::code::Code;
use super::literal;
use super::paths::{FOLDER, Paths};
use super::plan::{Actual, Check, How, Plan, Setup};
use super::scope::Scope;
use crate::inspect::Module;
use crate::recording::{Answer, Call, External, FileState, Source, Unit};
use crate::value::{NodeId, Reference, Value};

/// Makes the files that were there, and gives those that are looked at later a name.
pub(super) fn prepare(call: &Call, scope: &mut Scope, paths: &mut Paths, plan: &mut Plan) {
    let mut is_relative = false;
    for event in &call.events {
        let External::File { path, before, .. } = &event.external else {
            continue;
        };
        is_relative |= !path.starts_with('/');
        let wanted = match before {
            FileState::Folder(_) => "folder",
            _ => "path",
        };
        let code = paths.file(path);
        if code == Code::text(FOLDER) {
            continue;
        }
        let name = scope.variable(wanted);
        plan.setup.push(Setup::Assign {
            target: name.clone(),
            code,
        });
        if paths.is_deep(path) {
            let parents = format!("{name}.parent.mkdir(parents=True, exist_ok=True)");
            plan.setup.push(Setup::Do(Code::Text(parents)));
        }
        let made = match before {
            FileState::File(content) => Some(Code::call(
                &format!("{name}.write_bytes"),
                vec![literal::bytes(content)],
            )),
            FileState::Folder(_) => Some(Code::Text(format!("{name}.mkdir(exist_ok=True)"))),
            FileState::Link(target) => {
                let target = literal::text(target);
                Some(Code::call(&format!("{name}.symlink_to"), vec![target]))
            }
            FileState::Absent | FileState::LargeFile(_) | FileState::Other => None,
        };
        plan.setup.extend(made.map(Setup::Do));
        if let FileState::Folder(entries) = before {
            for entry in entries {
                let file = Code::Text(format!("({name} / {}).touch()", literal::quoted(entry)));
                plan.setup.push(Setup::Do(file));
            }
        }
        paths.name(path, &name);
    }
    if is_relative {
        plan.setup.push(Setup::EnterFolder);
    }
}

/// Gives the unit what it was given: keyboard, environment, clock, chance.
pub(super) fn replay(builder: &mut Builder<'_>, unit: &Unit) -> Result<(), Missing> {
    let call = builder.call;
    let mut typed = String::new();
    let mut has_input = false;
    let mut answers: Vec<(Source, &str, Vec<&Answer>, Vec<NodeId>)> = Vec::new();
    for event in &call.events {
        match &event.external {
            External::Input { function, text, .. } => {
                if function.starts_with("getpass") {
                    return Err(Missing("a password that was typed".to_owned()));
                }
                has_input = true;
                typed.push_str(text.as_deref().unwrap_or(""));
            }
            External::File { before, after, .. } => {
                let is_large =
                    |state: &FileState| matches!(state, FileState::LargeFile(_) | FileState::Other);
                if is_large(before) || is_large(after) {
                    return Err(Missing("a file that is too large or unusual".to_owned()));
                }
            }
            External::Environment {
                name,
                before,
                after,
            } => {
                let value = before.as_ref().map(|value| {
                    let code = builder.paths.text(value);
                    code.unwrap_or_else(|| literal::text(value))
                });
                builder.setup.push(Setup::Environment {
                    name: name.clone(),
                    is_set_later: value.is_none() && after.is_some(),
                    value,
                });
            }
            External::Called {
                source,
                function,
                arguments,
                keywords,
                answer,
            } => match answers.iter_mut().find(|(_, known, ..)| known == function) {
                Some((_, _, known, given)) => {
                    known.push(answer);
                    given.extend(first_given(arguments, keywords));
                }
                None => {
                    let given = first_given(arguments, keywords).into_iter().collect();
                    answers.push((*source, function, vec![answer], given));
                }
            },
            External::Output { .. } => {}
        }
    }
    if has_input {
        let io = builder.scope.module("io").flat();
        let stream = Code::call(&format!("{io}.StringIO"), vec![literal::text(&typed)]);
        let owner = builder.scope.module("sys");
        builder.setup.push(Setup::Pin {
            owner,
            name: "stdin".to_owned(),
            value: stream,
        });
    }
    for (source, function, answers, given) in answers {
        patch(builder, unit, source, function, &answers, &given)?;
    }
    Ok(())
}

fn first_given(arguments: &[NodeId], keywords: &[(String, NodeId)]) -> Option<NodeId> {
    let named = keywords.first().map(|(_, value)| *value);
    arguments.first().copied().or(named)
}

/// Puts answers in the place of a function that asks the outside.
fn patch(
    builder: &mut Builder<'_>,
    unit: &Unit,
    source: Source,
    function: &str,
    answers: &[&Answer],
    given: &[NodeId],
) -> Result<(), Missing> {
    if matches!(source, Source::Network) {
        return Err(Missing(format!(
            "a conversation over the network by {function}"
        )));
    }
    let Some((module, path)) = function.split_once('.') else {
        return Err(Missing(format!("answers of {function}")));
    };
    let own = builder
        .knowledge
        .project
        .module_at(std::path::Path::new(&unit.file));
    let value = if function == "time.sleep" {
        let slept = builder.scope.variable("slept");
        builder.setup.push(Setup::Assign {
            target: slept.clone(),
            code: Code::text("[]"),
        });
        builder.sleeps = Some((slept.clone(), given.to_vec()));
        Code::Text(format!("{slept}.append"))
    } else {
        answering(builder, function, answers, !given.is_empty())?
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
    builder.setup.push(Setup::Pin { owner, name, value });
}

/// A function that gives these answers.
fn answering(
    builder: &mut Builder<'_>,
    function: &str,
    answers: &[&Answer],
    takes_arguments: bool,
) -> Result<Code, Missing> {
    let told = |missing: Missing| Missing(format!("an answer of {function} is {}", missing.0));
    if let [Answer::Returned(only)] = answers {
        let value = builder.value(*only, "answer").map_err(told)?;
        let parameters = match takes_arguments {
            true => "lambda *args, **kwargs",
            false => "lambda",
        };
        return Ok(Code::pair(Code::text(parameters), ": ", value));
    }
    let mut items = Vec::new();
    for answer in answers {
        let (Answer::Returned(node) | Answer::Raised(node)) = answer;
        items.push(builder.value(*node, "answer").map_err(told)?);
    }
    builder.scope.from(HELPERS, "Answers");
    Ok(Code::call("Answers", items))
}

/// All that was printed, to standard output and to standard error.
pub(super) fn output(call: &Call) -> Option<(String, String)> {
    let (mut out, mut err) = (String::new(), String::new());
    for event in &call.events {
        match &event.external {
            External::Output { is_error, text } => match is_error {
                true => err.push_str(text),
                false => out.push_str(text),
            },
            // Python prints the prompt itself if the keyboard is none.
            External::Input {
                function,
                prompt: Some(prompt),
                ..
            } if function == "builtins.input" => out.push_str(prompt),
            _ => {}
        }
    }
    (!out.is_empty() || !err.is_empty()).then_some((out, err))
}

/// Checks what became of files and variables.
pub(super) fn verify(call: &Call, scope: &mut Scope, paths: &Paths, plan: &mut Plan) {
    for event in &call.events {
        match &event.external {
            External::File {
                path,
                before,
                after,
            } if before != after => {
                let file = match paths.file(path).flat() {
                    text if text.contains(' ') => format!("({text})"),
                    text => text,
                };
                plan.checks.push(file_check(&file, after));
            }
            External::Environment {
                name,
                before,
                after,
            } if before != after => {
                let environment = format!("{}.environ", scope.module("os").flat());
                let name = literal::quoted(name);
                plan.checks.push(match after {
                    Some(value) => {
                        let actual = Code::Text(format!("{environment}[{name}]"));
                        let expected = paths.text(value);
                        let expected = expected.unwrap_or_else(|| literal::text(value));
                        Check::new(Actual::Code(actual), How::Equal, expected)
                    }
                    None => {
                        let actual = Actual::Code(Code::Text(environment));
                        Check::new(actual, How::NotIn, Code::Text(name))
                    }
                });
            }
            _ => {}
        }
    }
}

fn file_check(file: &str, after: &FileState) -> Check {
    let asked = |question: &str| Actual::Code(Code::Text(format!("{file}.{question}")));
    match after {
        FileState::File(content) => {
            Check::new(asked("read_bytes()"), How::Equal, literal::bytes(content))
        }
        FileState::Folder(entries) => {
            let listing = format!("sorted(entry.name for entry in {file}.iterdir())");
            let entries = entries.iter().map(|entry| literal::text(entry)).collect();
            Check::new(
                Actual::Code(Code::Text(listing)),
                How::Equal,
                Code::list(entries),
            )
        }
        FileState::Absent => Check::new(asked("exists()"), How::False, Code::text("")),
        FileState::Link(_) => Check::new(asked("is_symlink()"), How::True, Code::text("")),
        FileState::LargeFile(_) | FileState::Other => {
            Check::new(asked("exists()"), How::True, Code::text(""))
        }
    }
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
