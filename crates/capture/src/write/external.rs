//! What came from outside is given again, and what went there is checked.

use std::collections::BTreeSet;

use super::build::{Builder, Missing};
use super::code::Code;
use super::literal;
use super::paths::{FOLDER, Paths};
use super::plan::{Actual, Check, How, Plan, Setup};
use super::scope::Scope;
use super::stand_ins;
use crate::recording::{Call, External, FileState, Unit};

/// Makes the files that were there, and gives those that are looked at later a name.
pub(super) fn prepare(call: &Call, scope: &mut Scope, paths: &mut Paths, plan: &mut Plan) {
    let files = files(call);
    let mut is_relative = false;
    // What is made already, so that folders are not made twice.
    let mut made: BTreeSet<&str> = BTreeSet::new();
    for (path, before, after) in &files {
        let path = *path;
        is_relative |= !path.starts_with('/');
        let wanted = match before {
            FileState::Folder(_) => "folder",
            _ => "path",
        };
        let code = paths.file(path);
        // What is not there, and only looked for in the folder that the test works in, needs nothing.
        let is_missing = matches!((before, after), (FileState::Absent, FileState::Absent))
            && !path.starts_with('/')
            && !paths.is_deep(path);
        if is_missing || code == Code::text(FOLDER) {
            continue;
        }
        let name = scope.variable(wanted);
        plan.setup.push(Setup::Assign {
            target: name.clone(),
            code,
        });
        let around = parent(path);
        let is_known = |folder: &str| {
            made.contains(folder)
                || files
                    .iter()
                    .any(|(known, state, _)| *known == folder && matches!(state, FileState::Absent))
        };
        if paths.is_deep(path) && !around.is_some_and(is_known) {
            let parents = format!("{name}.parent.mkdir(parents=True, exist_ok=True)");
            plan.setup.push(Setup::Do(Code::Text(parents)));
        }
        made.extend(around);
        let written = match before {
            FileState::File(content) => Some(Code::call(
                &format!("{name}.write_bytes"),
                vec![literal::bytes(content)],
            )),
            FileState::Folder(_) if made.contains(path) => None,
            FileState::Folder(_) => Some(Code::Text(format!("{name}.mkdir()"))),
            FileState::Link(target) => {
                let target = literal::text(target);
                Some(Code::call(&format!("{name}.symlink_to"), vec![target]))
            }
            FileState::Absent | FileState::LargeFile(_) | FileState::Other => None,
        };
        plan.setup.extend(written.map(Setup::Do));
        if let FileState::Folder(entries) = before {
            made.insert(path);
            for entry in entries {
                let inside = format!(
                    "{}/{}",
                    path.trim_end_matches('/'),
                    entry.trim_end_matches('/')
                );
                // What the call looked into is made by itself.
                if files.iter().any(|(known, ..)| *known == inside) {
                    continue;
                }
                let (entry, how) = match entry.strip_suffix('/') {
                    Some(folder) => (folder, "mkdir"),
                    None => (entry.as_str(), "touch"),
                };
                let file = Code::Text(format!("({name} / {}).{how}()", literal::quoted(entry)));
                plan.setup.push(Setup::Do(file));
            }
        }
        paths.name(path, &name);
    }
    let is_inside = call
        .events
        .iter()
        .any(|event| matches!(event.external, External::WorkingFolder { .. }));
    if is_relative || is_inside {
        plan.setup.push(Setup::EnterFolder);
    }
}

/// The files that a call used, as they were and as it left them, folders before what is in them.
fn files(call: &Call) -> Vec<(&str, &FileState, &FileState)> {
    let mut files: Vec<(&str, &FileState, &FileState)> = Vec::new();
    for event in &call.events {
        if let External::File {
            path,
            before,
            after,
        } = &event.external
        {
            files.push((path, before, after));
        }
    }
    let is_folder = |state: &FileState| matches!(state, FileState::Folder(_));
    files.sort_by_key(|(path, state, _)| {
        if is_folder(state) {
            (0, path.len())
        } else {
            (1, 0)
        }
    });
    files
}

fn parent(path: &str) -> Option<&str> {
    let (folder, _) = path.trim_end_matches('/').rsplit_once('/')?;
    Some(folder)
}

/// Gives the unit what it was given: keyboard, environment, clock, chance.
pub(super) fn replay(builder: &mut Builder<'_>, unit: &Unit) -> Result<(), Missing> {
    let call = builder.call;
    let mut typed = String::new();
    let mut has_input = false;
    for event in &call.events {
        match &event.external {
            External::Input { text, .. } => {
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
            External::Logged { message: None, .. } => {
                return Err(Missing("something logged that cannot be told".to_owned()));
            }
            External::Called { .. }
            | External::Logged { .. }
            | External::WorkingFolder { .. }
            | External::Permissions { .. }
            | External::Output { .. } => {}
        }
    }
    if has_input {
        let io = builder.scope.module("io").flat();
        let stream = Code::call(&format!("{io}.StringIO"), vec![literal::text(&typed)]);
        let owner = builder.scope.module("sys");
        let name = "stdin".to_owned();
        builder.setup.push(Setup::pin(owner, name, stream));
    }
    stand_ins::replace(builder, unit)
}

/// All that was printed, to standard output and to standard error.
pub(super) fn output(call: &Call) -> Option<(String, String)> {
    let (mut out, mut err) = (String::new(), String::new());
    for event in &call.events {
        match &event.external {
            External::Output { is_error, text } => {
                if *is_error {
                    err.push_str(text)
                } else {
                    out.push_str(text)
                }
            }
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
            External::WorkingFolder { before, after } if before != after => {
                let folder = paths.text(after).unwrap_or_else(|| literal::text(after));
                let actual = format!("{}.getcwd()", scope.module("os").flat());
                let actual = Actual::Code(Code::Text(actual));
                plan.checks.push(Check::new(actual, How::Equal, folder));
            }
            External::Permissions { path, after } => {
                let file = match paths.file(path).flat() {
                    text if text.contains(' ') => format!("({text})"),
                    text => text,
                };
                let actual = Code::Text(format!("{file}.stat().st_mode & 0o777"));
                let expected = Code::Text(format!("0o{after:03o}"));
                plan.checks
                    .push(Check::new(Actual::Code(actual), How::Equal, expected));
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
            let names = entries.iter().map(|entry| entry.trim_end_matches('/'));
            let entries = names.map(literal::text).collect();
            Check::new(
                Actual::Code(Code::Text(listing)),
                How::Equal,
                Code::list(entries),
            )
        }
        FileState::Absent => Check::new(asked("exists()"), How::False, Code::text("")),
        FileState::Link(target) => {
            let target = literal::text(target.rsplit('/').next().unwrap_or(target));
            Check::new(asked("readlink().name"), How::Equal, target)
        }
        FileState::LargeFile(_) | FileState::Other => {
            Check::new(asked("exists()"), How::True, Code::text(""))
        }
    }
}
