//! Files that recorded calls read: a draft makes them again, in a folder of its own.

use std::collections::{BTreeMap, BTreeSet};

use crate::recording::{External, FileState, Recording};
use crate::write::{bytes_literal, text_literal};

/// Longer files have no place in a harness.
const LONGEST: usize = 4000;

/// The files of a recording that were read and left as they were, by path.
#[derive(Default)]
pub(super) struct Files {
    by_path: BTreeMap<String, File>,
}

/// A file.
struct File {
    /// The variable that holds its path.
    name: String,
    content: Vec<u8>,
}

impl Files {
    pub(super) fn of(recording: &Recording) -> Files {
        let mut files = Files::default();
        let mut names = BTreeSet::new();
        for event in recording.calls.iter().flat_map(|call| &call.events) {
            let External::File {
                path,
                before: FileState::File(content),
                after,
            } = &event.external
            else {
                continue;
            };
            let is_only_read = matches!(after, FileState::File(left) if left == content);
            // A relative path is found again where the program was run.
            let is_meant = is_only_read && path.starts_with('/') && content.len() <= LONGEST;
            if !is_meant || files.by_path.contains_key(path) {
                continue;
            }
            let name = variable(path, &mut names);
            let content = content.clone();
            files.by_path.insert(path.clone(), File { name, content });
        }
        files
    }

    /// An expression in which these paths are said by their variables.
    pub(super) fn said(&self, expression: &str) -> String {
        let mut said = expression.to_owned();
        for (path, file) in &self.by_path {
            said = said.replace(&text_literal(path).flat(), &file.name);
        }
        said
    }

    /// Python code that makes the files which these lines speak of.
    pub(super) fn code(&self, lines: &[String]) -> Vec<String> {
        let is_used = |file: &&File| lines.iter().any(|line| line.contains(&file.name));
        let mut made = Vec::new();
        for (path, file) in &self.by_path {
            if Some(file).filter(is_used).is_none() {
                continue;
            }
            let place = text_literal(file_name(path)).flat();
            let File { name, content } = file;
            made.push(format!("{name} = os.path.join(files.name, {place})"));
            let before = format!("pathlib.Path({name}).write_bytes(");
            made.extend(bytes_literal(content).lines(&before, ")", 0));
        }
        if !made.is_empty() {
            let head = [
                "import os",
                "import pathlib",
                "import tempfile",
                "",
                "files = tempfile.TemporaryDirectory()",
            ];
            made.splice(0..0, head.map(str::to_owned));
        }
        made
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `/data/settings.ini` as `SETTINGS_INI`.
fn variable(path: &str, names: &mut BTreeSet<String>) -> String {
    let letters = file_name(path).chars();
    let wanted: String = letters
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    let wanted = format!("FILE_{}", wanted.trim_matches('_'));
    let mut name = wanted.clone();
    let mut number = 1;
    while !names.insert(name.clone()) {
        number += 1;
        name = format!("{wanted}_{number}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys::Made;

    #[test]
    fn files_that_were_read_are_made_again_where_they_are_needed() {
        let file = |path: &str, after: &[u8]| External::File {
            path: path.to_owned(),
            before: FileState::File(b"a = 1\n".to_vec()),
            after: FileState::File(after.to_vec()),
        };
        let made = Made::of("read")
            .event(file("/data/settings.ini", b"a = 1\n"))
            .event(file("/data/other/settings.ini", b"a = 1\n"))
            .event(file("/data/changed.ini", b""))
            .event(file("near.ini", b"a = 1\n"));
        let recording = Recording {
            calls: vec![made.call],
            ..Recording::default()
        };
        let files = Files::of(&recording);
        let said =
            files.said("read(Path(\"/data/settings.ini\"), \"/data/changed.ini\", \"near.ini\")");
        assert_eq!(
            said,
            "read(Path(FILE_SETTINGS_INI), \"/data/changed.ini\", \"near.ini\")"
        );
        assert_eq!(
            files.code(&[said]),
            [
                "import os",
                "import pathlib",
                "import tempfile",
                "",
                "files = tempfile.TemporaryDirectory()",
                "FILE_SETTINGS_INI = os.path.join(files.name, \"settings.ini\")",
                "pathlib.Path(FILE_SETTINGS_INI).write_bytes(b\"a = 1\\n\")",
            ]
        );
        assert_eq!(files.code(&[]), Vec::<String>::new());
    }
}
