//! The part of a standalone test before its test function: imports, search paths, and helper
//! functions.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use testwright_core::Error;

use super::StandaloneStyle;
use super::body::StandaloneBody;
use crate::actions::describe_exception;
use crate::system::PythonSystem;

/// Names that every harness may use without importing them, and the imports that a standalone file
/// needs for them.
const ALWAYS_IN_SCOPE: [(&str, &str); 15] = [
    ("copy", "import copy"),
    ("glob", "import glob"),
    ("inspect", "import inspect"),
    ("os", "import os"),
    ("random", "import random"),
    ("re", "import re"),
    ("struct", "import struct"),
    ("subprocess", "import subprocess"),
    ("sys", "import sys"),
    ("time", "import time"),
    ("traceback", "import traceback"),
    ("importlib", "import importlib"),
    ("reload", "from importlib import reload"),
    ("chain", "from itertools import chain"),
    ("combinations", "from itertools import combinations"),
];

/// Writes everything before the test function, ending with two blank lines.
pub(super) fn write(
    system: &PythonSystem<'_>,
    body: &StandaloneBody,
    file: Option<&Path>,
    style: StandaloneStyle,
) -> Result<String, Error> {
    let raw = raw_code(system)?;
    let definitions = testwright_source::definitions(&raw)
        .map_err(|_| Error::new("the harness's own code cannot be read"))?;
    let mut reads = names_read(body);
    let needed = testwright_source::needed_definitions(&definitions, &reads);
    reads.extend(needed.iter().flat_map(|definition| definition.uses.clone()));
    // What depends on modules that are imported again is run again, too.
    let mut reset_names = system.modules.names();
    reset_names.retain(|_| body.resets_modules);
    let text =
        |range: testwright_source::Range| raw.get(range).unwrap_or_default().trim_end().to_owned();
    let is_repeated = |definition: &&testwright_source::ModuleDefinition| {
        let bound_again = system.modules.dependent_names();
        // A statement that binds nothing, such as a call, may set up the modules.
        let binds_again = |name| bound_again.contains(name);
        let is_bound_again = definition.defines.iter().all(binds_again);
        let imported = imported_modules(&[text(definition.range.clone())]);
        let is_reset = |module: &String| reset_names.contains(&module.as_str());
        !reset_names.is_empty()
            && if definition.is_import {
                imported.iter().any(is_reset)
            } else {
                is_bound_again
            }
    };
    let texts = |imports: bool, repeated: bool| -> Vec<String> {
        let chosen = needed.iter().filter(|definition| {
            definition.is_import == imports && is_repeated(definition) == repeated
        });
        chosen
            .map(|definition| text(definition.range.clone()))
            .collect()
    };
    let (mut imports, mut helpers) = (texts(true, false), texts(false, false));
    let (repeated_imports, repeated_helpers) = (texts(true, true), texts(false, true));
    let modules = imported_modules(&[imports.clone(), repeated_imports.clone()].concat());
    let search_paths = search_paths(system, &modules, file);
    let uses_random_module = reads.iter().any(|name| name == "random")
        || modules.iter().any(|module| uses_random(system, module));

    let defined: Vec<&String> = definitions
        .iter()
        .flat_map(|definition| &definition.defines)
        .collect();
    let mut standard: Vec<&str> = ALWAYS_IN_SCOPE
        .iter()
        .filter(|(name, _)| {
            reads.iter().any(|read| read == name) || (uses_random_module && *name == "random")
        })
        .filter(|(name, _)| !defined.iter().any(|defined| defined == name))
        .map(|(_, import)| *import)
        .collect();
    let wanted = [
        (body.needs_suppress, "import contextlib"),
        (style == StandaloneStyle::Unittest, "import unittest"),
        (body.is_child_process, "import subprocess"),
        (body.resets_modules, "import importlib"),
        (
            body.is_child_process || body.resets_modules || !search_paths.is_empty(),
            "import sys",
        ),
        (
            search_paths
                .iter()
                .any(|folder_of_module| folder_of_module.contains("Path(")),
            "from pathlib import Path",
        ),
    ];
    standard.extend(
        wanted
            .iter()
            .filter(|(wanted, _)| *wanted)
            .map(|(_, import)| *import),
    );
    standard.sort_by_key(|import| (import.starts_with("from"), *import));
    standard.dedup();
    if body.resets_modules {
        imports.extend(repeatable("IMPORTS", &repeated_imports));
        helpers.extend(repeatable("DEFINITIONS", &repeated_helpers));
        let repeated = [
            ("IMPORTS", &repeated_imports),
            ("DEFINITIONS", &repeated_helpers),
        ];
        let mut reset = reset_function(&reset_names);
        for (name, _) in repeated.iter().filter(|(_, texts)| !texts.is_empty()) {
            reset.push_str(&format!("\n    exec({name}, globals())"));
        }
        if uses_random_module {
            reset.push_str("\n    random.seed(0)");
        }
        helpers.push(reset);
    }
    let groups = [
        standard.join("\n"),
        String::from(if body.needs_pytest {
            "import pytest"
        } else {
            ""
        }),
        search_paths.join("\n"),
        imports.join("\n"),
        // As at the start of every test of the harness.
        String::from(if uses_random_module {
            "random.seed(0)"
        } else {
            ""
        }),
    ];
    Ok(joined(&groups, &helpers))
}

/// Returns statements as a text with this name that is run here, and can be run again.
fn repeatable(name: &str, statements: &[String]) -> Option<String> {
    if statements.is_empty() {
        return None;
    }
    let text = statements.join("\n");
    let is_plain = !text.contains("\"\"\"") && !text.contains('\\') && !text.ends_with('"');
    let literal = if is_plain {
        format!("\"\"\"\n{text}\n\"\"\"")
    } else {
        format!("{text:?}")
    };
    Some(format!("{name} = {literal}\nexec({name})"))
}

/// Returns the function that imports modules again, without what uses them.
fn reset_function(modules: &[&str]) -> String {
    let names: Vec<String> = modules.iter().map(|name| format!("{name:?}")).collect();
    let names = names.join(", ");
    [
        "def reset_modules():",
        "    \"\"\"Imports the modules under test again, in the same order.\"\"\"",
        &format!("    modules = [{names}]"),
        "    modules = [name for name in modules if sys.modules.pop(name, None)]",
        "    for name in modules:",
        "        importlib.import_module(name)",
    ]
    .join("\n")
}

/// Joins groups of lines with a blank line between them, then the helper functions.
fn joined(groups: &[String], helpers: &[String]) -> String {
    let groups: Vec<&str> = groups
        .iter()
        .map(String::as_str)
        .filter(|group| !group.is_empty())
        .collect();
    let mut text = groups.join("\n\n");
    for helper in helpers {
        let gap = if helper.contains('\n') {
            "\n\n\n"
        } else {
            "\n"
        };
        text.push_str(if text.is_empty() { "" } else { gap });
        text.push_str(helper);
    }
    if !text.is_empty() {
        text.push_str("\n\n\n");
    }
    text
}

/// Returns the raw code of the harness with values on entry to functions written out.
fn raw_code(system: &PythonSystem<'_>) -> Result<String, Error> {
    let context = &system.context;
    let values = &context.harness.raw.entry_values;
    let entry_values: Vec<(&str, &str, usize)> = values
        .iter()
        .map(|value| (value.name.as_str(), value.expression.as_str(), value.line))
        .collect();
    let mut text: String = context
        .support
        .call_method1(
            "with_entry_values",
            (&context.harness.raw.text, entry_values),
        )
        .and_then(|text| text.extract())
        .map_err(|error| {
            Error::new(describe_exception(
                context.python,
                "writing the test",
                &error,
            ))
        })?;
    for (number, value) in values.iter().enumerate().rev() {
        let name = if number == 0 {
            String::from("on_entry")
        } else {
            format!("on_entry_{}", number + 1)
        };
        text = text.replace(&value.name, &name);
    }
    Ok(text)
}

/// Returns the names that the test function reads.
fn names_read(body: &StandaloneBody) -> Vec<String> {
    // Parsed as the function it will be, because `with` and `try` need their lines.
    let indented: String = body.lines.iter().map(|line| format!(" {line}\n")).collect();
    testwright_source::definitions(&format!("def test():\n{indented}"))
        .map(|found| {
            found
                .into_iter()
                .flat_map(|definition| definition.uses)
                .collect()
        })
        .unwrap_or_default()
}

/// Returns true if a module of the project uses the shared random generator.
fn uses_random(system: &PythonSystem<'_>, module: &str) -> bool {
    let answer = system
        .context
        .support
        .call_method1("uses_random", (module,));
    answer
        .and_then(|answer| answer.is_truthy())
        .unwrap_or(false)
}

/// Returns the modules that import statements name.
fn imported_modules(imports: &[String]) -> Vec<String> {
    let found = testwright_source::imports(&imports.join("\n")).unwrap_or_default();
    found.into_iter().map(|import| import.module).collect()
}

/// Returns lines that add the folders of local modules to the search path, relative to the file
/// where possible.
fn search_paths(system: &PythonSystem<'_>, modules: &[String], file: Option<&Path>) -> Vec<String> {
    let folder = file
        .and_then(|file| std::path::absolute(file).ok())
        .and_then(|file| file.parent().map(Path::to_path_buf));
    let mut lines = Vec::new();
    for module in modules {
        let folder_of_module = system
            .context
            .support
            .call_method1("home_of", (module,))
            .and_then(|folder_of_module| folder_of_module.extract::<Option<PathBuf>>());
        let Ok(Some(folder_of_module)) = folder_of_module else {
            continue;
        };
        let line = match &folder {
            Some(folder) if *folder == folder_of_module => continue,
            Some(folder) => match relative_path(folder, &folder_of_module) {
                Some(path) => format!("sys.path.insert(0, str({path}))"),
                None => format!(
                    "sys.path.insert(0, {:?})",
                    folder_of_module.to_string_lossy()
                ),
            },
            None => format!(
                "sys.path.insert(0, {:?})",
                folder_of_module.to_string_lossy()
            ),
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Returns a Python expression for the path from a file in `folder` to another folder. `None` if
/// they share nothing but the root.
fn relative_path(folder: &Path, folder_of_module: &Path) -> Option<String> {
    let mut above = folder.ancestors().enumerate();
    let (depth, shared) = above.find(|(_, ancestor)| folder_of_module.starts_with(ancestor))?;
    shared.parent()?;
    let up = format!("Path(__file__).resolve().parents[{depth}]");
    let down = folder_of_module
        .strip_prefix(shared)
        .ok()?
        .to_string_lossy();
    Some(if down.is_empty() {
        up
    } else {
        format!("{up} / {down:?}")
    })
}
