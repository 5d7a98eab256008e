//! Interactions with the outside: inputs are replayed in setup, outputs are checked afterwards.

use std::collections::BTreeSet;

use super::build::{BuildError, ValueBuilder};
use super::code::PythonCode;
use super::literal;
use super::paths::{FOLDER, PathRewriter};
use super::plan::{ActualValue, Assertion, ComparisonKind, SetupStep, TestPlan};
use super::scope::ImportScope;
use super::test_doubles;
use crate::recording::{Call, CodeUnit, FileState, Interaction};

/// Creates the files that existed before the call, with variables for those that are checked later.
pub(super) fn prepare_files(
    call: &Call,
    scope: &mut ImportScope,
    paths: &mut PathRewriter,
    plan: &mut TestPlan,
) {
    let files = used_files(call);
    let mut is_relative = false;
    // Folders that exist already, so that none is created twice.
    let mut made: BTreeSet<&str> = BTreeSet::new();
    for (path, before, after) in &files {
        let path = *path;
        is_relative |= !path.starts_with('/');
        let wanted = match before {
            FileState::Folder(_) => "folder",
            _ => "path",
        };
        let code = paths.file_path_code(path);
        // A missing file in the working folder needs no setup.
        let is_missing = matches!((before, after), (FileState::Absent, FileState::Absent))
            && !path.starts_with('/')
            && !paths.is_in_subfolder(path);
        if is_missing || code == PythonCode::text(FOLDER) {
            continue;
        }
        let name = scope.variable(wanted);
        plan.setup.push(SetupStep::Assign {
            target: name.clone(),
            code,
        });
        let around = parent_folder(path);
        let is_known = |folder: &str| {
            made.contains(folder)
                || files
                    .iter()
                    .any(|(known, state, _)| *known == folder && matches!(state, FileState::Absent))
        };
        if paths.is_in_subfolder(path) && !around.is_some_and(is_known) {
            let parents = format!("{name}.parent.mkdir(parents=True, exist_ok=True)");
            plan.setup
                .push(SetupStep::Evaluate(PythonCode::Text(parents)));
        }
        made.extend(around);
        let written = match before {
            FileState::File(content) => Some(PythonCode::call(
                &format!("{name}.write_bytes"),
                vec![literal::bytes_literal(content)],
            )),
            FileState::Folder(_) if made.contains(path) => None,
            FileState::Folder(_) => Some(PythonCode::Text(format!("{name}.mkdir()"))),
            FileState::Link(target) => {
                let target = literal::text_literal(target);
                Some(PythonCode::call(
                    &format!("{name}.symlink_to"),
                    vec![target],
                ))
            }
            FileState::Absent | FileState::LargeFile(_) | FileState::Other => None,
        };
        plan.setup.extend(written.map(SetupStep::Evaluate));
        if let FileState::Folder(entries) = before {
            made.insert(path);
            for entry in entries {
                let inside = format!(
                    "{}/{}",
                    path.trim_end_matches('/'),
                    entry.trim_end_matches('/')
                );
                // Entries that the call used are created separately.
                if files.iter().any(|(known, ..)| *known == inside) {
                    continue;
                }
                let (entry, method) = match entry.strip_suffix('/') {
                    Some(folder) => (folder, "mkdir"),
                    None => (entry.as_str(), "touch"),
                };
                let file =
                    PythonCode::Text(format!("({name} / {}).{method}()", literal::quoted(entry)));
                plan.setup.push(SetupStep::Evaluate(file));
            }
        }
        paths.use_variable(path, &name);
    }
    let is_inside = call
        .events
        .iter()
        .any(|event| matches!(event.external, Interaction::WorkingFolder { .. }));
    if is_relative || is_inside {
        plan.setup.push(SetupStep::EnterFolder);
    }
}

/// Returns the files that a call used, before and after, folders first.
fn used_files(call: &Call) -> Vec<(&str, &FileState, &FileState)> {
    let mut files: Vec<(&str, &FileState, &FileState)> = Vec::new();
    for event in &call.events {
        if let Interaction::File {
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

/// Returns the folder of a path.
fn parent_folder(path: &str) -> Option<&str> {
    let (folder, _) = path.trim_end_matches('/').rsplit_once('/')?;
    Some(folder)
}

/// Replays the inputs of the unit: standard input, environment, clock, random numbers and so on.
pub(super) fn replay_inputs(
    builder: &mut ValueBuilder<'_>,
    unit: &CodeUnit,
) -> Result<(), BuildError> {
    let call = builder.call;
    let mut typed = String::new();
    let mut has_input = false;
    for event in &call.events {
        match &event.external {
            Interaction::Input { text, .. } => {
                has_input = true;
                typed.push_str(text.as_deref().unwrap_or(""));
            }
            Interaction::File { before, after, .. } => {
                let is_large =
                    |state: &FileState| matches!(state, FileState::LargeFile(_) | FileState::Other);
                if is_large(before) || is_large(after) {
                    return Err(BuildError("a file that is too large or unusual".to_owned()));
                }
            }
            Interaction::Environment {
                name,
                before,
                after,
            } => {
                let value = before.as_ref().map(|value| {
                    let code = builder.paths.text_code(value);
                    code.unwrap_or_else(|| literal::text_literal(value))
                });
                builder.setup.push(SetupStep::Environment {
                    name: name.clone(),
                    is_set_later: value.is_none() && after.is_some(),
                    value,
                });
            }
            Interaction::Logged { message: None, .. } => {
                return Err(BuildError(
                    "something logged that cannot be written as a value".to_owned(),
                ));
            }
            Interaction::Called { .. }
            | Interaction::Logged { .. }
            | Interaction::WorkingFolder { .. }
            | Interaction::Permissions { .. }
            | Interaction::Output { .. } => {}
        }
    }
    if has_input {
        let io = builder.scope.module("io").one_line();
        let stream = PythonCode::call(
            &format!("{io}.StringIO"),
            vec![literal::text_literal(&typed)],
        );
        let owner = builder.scope.module("sys");
        let name = "stdin".to_owned();
        builder.setup.push(SetupStep::pin(owner, name, stream));
    }
    test_doubles::replace_external(builder, unit)
}

/// Returns everything that was printed to standard output and to standard error.
pub(super) fn printed_output(call: &Call) -> Option<(String, String)> {
    let (mut out, mut err) = (String::new(), String::new());
    for event in &call.events {
        match &event.external {
            Interaction::Output { is_error, text } => {
                if *is_error {
                    err.push_str(text)
                } else {
                    out.push_str(text)
                }
            }
            // Python prints the prompt itself if standard input is no terminal.
            Interaction::Input {
                function,
                prompt: Some(prompt),
                ..
            } if function == "builtins.input" => out.push_str(prompt),
            _ => {}
        }
    }
    (!out.is_empty() || !err.is_empty()).then_some((out, err))
}

/// Plans assertions about files, the working folder and environment variables.
pub(super) fn check_interactions(
    call: &Call,
    scope: &mut ImportScope,
    paths: &PathRewriter,
    plan: &mut TestPlan,
) {
    for event in &call.events {
        match &event.external {
            Interaction::File {
                path,
                before,
                after,
            } if before != after => {
                let file = match paths.file_path_code(path).one_line() {
                    text if text.contains(' ') => format!("({text})"),
                    text => text,
                };
                plan.checks.push(file_check(&file, after));
            }
            Interaction::WorkingFolder { before, after } if before != after => {
                let folder = paths
                    .text_code(after)
                    .unwrap_or_else(|| literal::text_literal(after));
                let actual = format!("{}.getcwd()", scope.module("os").one_line());
                let actual = ActualValue::Code(PythonCode::Text(actual));
                plan.checks
                    .push(Assertion::new(actual, ComparisonKind::Equal, folder));
            }
            Interaction::Permissions { path, after } => {
                let file = match paths.file_path_code(path).one_line() {
                    text if text.contains(' ') => format!("({text})"),
                    text => text,
                };
                let actual = PythonCode::Text(format!("{file}.stat().st_mode & 0o777"));
                let expected = PythonCode::Text(format!("0o{after:03o}"));
                plan.checks.push(Assertion::new(
                    ActualValue::Code(actual),
                    ComparisonKind::Equal,
                    expected,
                ));
            }
            Interaction::Environment {
                name,
                before,
                after,
            } if before != after => {
                let environment = format!("{}.environ", scope.module("os").one_line());
                let name = literal::quoted(name);
                plan.checks.push(match after {
                    Some(value) => {
                        let actual = PythonCode::Text(format!("{environment}[{name}]"));
                        let expected = paths.text_code(value);
                        let expected = expected.unwrap_or_else(|| literal::text_literal(value));
                        Assertion::new(ActualValue::Code(actual), ComparisonKind::Equal, expected)
                    }
                    None => {
                        let actual = ActualValue::Code(PythonCode::Text(environment));
                        Assertion::new(actual, ComparisonKind::NotIn, PythonCode::Text(name))
                    }
                });
            }
            _ => {}
        }
    }
}

/// Plans an assertion about a file after the call.
fn file_check(file: &str, after: &FileState) -> Assertion {
    let file_expression =
        |question: &str| ActualValue::Code(PythonCode::Text(format!("{file}.{question}")));
    match after {
        FileState::File(content) => Assertion::new(
            file_expression("read_bytes()"),
            ComparisonKind::Equal,
            literal::bytes_literal(content),
        ),
        FileState::Folder(entries) => {
            let listing = format!("sorted(entry.name for entry in {file}.iterdir())");
            let names = entries.iter().map(|entry| entry.trim_end_matches('/'));
            let entries = names.map(literal::text_literal).collect();
            Assertion::new(
                ActualValue::Code(PythonCode::Text(listing)),
                ComparisonKind::Equal,
                PythonCode::list(entries),
            )
        }
        FileState::Absent => Assertion::new(
            file_expression("exists()"),
            ComparisonKind::False,
            PythonCode::text(""),
        ),
        FileState::Link(target) => {
            let target = literal::text_literal(target.rsplit('/').next().unwrap_or(target));
            Assertion::new(
                file_expression("readlink().name"),
                ComparisonKind::Equal,
                target,
            )
        }
        FileState::LargeFile(_) | FileState::Other => Assertion::new(
            file_expression("exists()"),
            ComparisonKind::True,
            PythonCode::text(""),
        ),
    }
}
