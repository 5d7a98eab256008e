//! What a standalone test needs before its test function: imports, the way to them, and helper functions.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use testwright_core::Error;

use super::Style;
use super::body::Body;
use crate::actions::complaint;
use crate::system::PythonSystem;

/// Names that every harness may use without importing them, and how a file of its own gets them.
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

/// Everything before the test function, ending with two blank lines.
pub(super) fn write(
    system: &PythonSystem<'_>,
    body: &Body,
    file: Option<&Path>,
    style: Style,
) -> Result<String, Error> {
    let context = &system.context;
    let failed = |error: PyErr| Error::new(complaint(context.python, "writing the test", &error));
    let entry_values: Vec<(&str, &str, usize)> = context
        .harness
        .raw
        .entry_values
        .iter()
        .map(|value| (value.name.as_str(), value.expression.as_str(), value.line))
        .collect();
    let raw: String = context
        .support
        .call_method1(
            "with_entry_values",
            (&context.harness.raw.text, entry_values),
        )
        .and_then(|text| text.extract())
        .map_err(failed)?;
    let unreadable = |_| Error::new("the harness's own code cannot be read");
    let definitions = testwright_source::definitions(&raw).map_err(unreadable)?;
    // The body is parsed as the function it will be, because `with` and `try` need their lines.
    let indented: String = body.lines.iter().map(|line| format!(" {line}\n")).collect();
    let reads = testwright_source::names(&format!("def test():\n{indented}"))
        .map(|names| names.reads)
        .unwrap_or_default();
    let needed = testwright_source::needed(&definitions, &reads);
    let mut all_reads = reads;
    all_reads.extend(needed.iter().flat_map(|definition| definition.uses.clone()));

    let mut imports: Vec<String> = Vec::new();
    let mut helpers: Vec<String> = Vec::new();
    for definition in &needed {
        let text = raw
            .get(definition.range.clone())
            .unwrap_or_default()
            .trim_end()
            .to_owned();
        if definition.import {
            imports.push(text)
        } else {
            helpers.push(text)
        }
    }
    let defined: Vec<&String> = definitions
        .iter()
        .flat_map(|definition| &definition.defines)
        .collect();
    let mut standard: Vec<String> = ALWAYS_IN_SCOPE
        .iter()
        .filter(|(name, _)| {
            all_reads.iter().any(|read| read == name)
                && !defined.iter().any(|defined| defined == name)
        })
        .map(|(_, import)| (*import).to_owned())
        .collect();
    if body.needs_suppress {
        standard.push(String::from("import contextlib"));
    }
    if style == Style::Unittest {
        standard.push(String::from("import unittest"));
    }
    let modules = imported_modules(&imports);
    let homes = homes(system, &modules, file);
    let chance = modules.iter().any(|module| {
        let answer = context.support.call_method1("uses_chance", (module,));
        answer
            .and_then(|answer| answer.is_truthy())
            .unwrap_or(false)
    });
    if chance
        && !standard
            .iter()
            .chain(&imports)
            .any(|import| import == "import random")
    {
        standard.push(String::from("import random"));
    }
    if !homes.is_empty() {
        standard.push(String::from("import sys"));
        if homes.iter().any(|home| home.contains("Path(")) {
            standard.push(String::from("from pathlib import Path"));
        }
    }
    standard.sort_by_key(|import| (import.starts_with("from"), import.clone()));
    standard.dedup();
    if body.needs_pytest {
        standard.extend([String::new(), String::from("import pytest")]);
    }
    let mut groups = vec![standard.join("\n")];
    groups.push(homes.join("\n"));
    groups.push(imports.join("\n"));
    if chance {
        groups.push(String::from("random.seed(0)"));
    }
    groups.retain(|group| !group.is_empty());
    let mut text = groups.join("\n\n");
    for helper in &helpers {
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
    Ok(text)
}

/// The modules that import statements name.
fn imported_modules(imports: &[String]) -> Vec<String> {
    let found = testwright_source::imports(&imports.join("\n")).unwrap_or_default();
    found.into_iter().map(|import| import.module).collect()
}

/// Lines that add the folders of local modules to the search path, relative to the file where possible.
fn homes(system: &PythonSystem<'_>, modules: &[String], file: Option<&Path>) -> Vec<String> {
    let folder = file
        .and_then(|file| std::path::absolute(file).ok())
        .and_then(|file| file.parent().map(Path::to_path_buf));
    let mut lines = Vec::new();
    for module in modules {
        let home = system
            .context
            .support
            .call_method1("home_of", (module,))
            .and_then(|home| home.extract::<Option<PathBuf>>());
        let Ok(Some(home)) = home else { continue };
        let line = match &folder {
            Some(folder) if *folder == home => continue,
            Some(folder) => match folder.ancestors().position(|ancestor| ancestor == home) {
                Some(depth) => {
                    format!("sys.path.insert(0, str(Path(__file__).resolve().parents[{depth}]))")
                }
                None => format!("sys.path.insert(0, {:?})", home.to_string_lossy()),
            },
            None => format!("sys.path.insert(0, {:?})", home.to_string_lossy()),
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}
