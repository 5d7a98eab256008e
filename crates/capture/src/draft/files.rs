//! Files that recorded calls read. A draft recreates them in a temporary folder.

use std::collections::{BTreeMap, BTreeSet};

use crate::recording::{FileState, Interaction, Recording};
use crate::write::{bytes_literal, text_literal};

/// The maximum size of a file in a harness.
const MAX_LENGTH: usize = 4000;

/// The files of a recording that were only read, by path.
#[derive(Default)]
pub(super) struct RecordedFiles {
    by_path: BTreeMap<String, RecordedFile>,
}

/// A file.
struct RecordedFile {
    /// The variable that holds its path.
    name: String,
    /// Its content.
    content: Vec<u8>,
}

impl RecordedFiles {
    /// Collects the files of a recording.
    pub(super) fn collect(recording: &Recording) -> RecordedFiles {
        let mut files = RecordedFiles::default();
        let mut names = BTreeSet::new();
        for event in recording.calls.iter().flat_map(|call| &call.events) {
            let Interaction::File {
                path,
                before: FileState::File(content),
                after,
            } = &event.external
            else {
                continue;
            };
            let is_only_read = matches!(after, FileState::File(left) if left == content);
            // A relative path is valid in the folder of the program.
            let is_included = is_only_read && path.starts_with('/') && content.len() <= MAX_LENGTH;
            if !is_included || files.by_path.contains_key(path) {
                continue;
            }
            let name = variable_name(path, &mut names);
            let content = content.clone();
            files
                .by_path
                .insert(path.clone(), RecordedFile { name, content });
        }
        files
    }

    /// Replaces the paths of files in an expression by their variables.
    pub(super) fn with_variables(&self, expression: &str) -> String {
        let mut replaced = expression.to_owned();
        for (path, file) in &self.by_path {
            replaced = replaced.replace(&text_literal(path).one_line(), &file.name);
        }
        replaced
    }

    /// Renders Python code that creates the files that these lines mention.
    pub(super) fn setup_code(&self, lines: &[String]) -> Vec<String> {
        let is_used = |file: &&RecordedFile| lines.iter().any(|line| line.contains(&file.name));
        let mut made = Vec::new();
        for (path, file) in &self.by_path {
            if Some(file).filter(is_used).is_none() {
                continue;
            }
            let place = text_literal(file_name(path)).one_line();
            let RecordedFile { name, content } = file;
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

/// Returns the last component of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns a variable for a path: `FILE_SETTINGS_INI` for `/data/settings.ini`.
fn variable_name(path: &str, names: &mut BTreeSet<String>) -> String {
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
    use crate::toys::CallBuilder;

    #[test]
    fn files_that_were_read_are_made_again_where_they_are_needed() {
        let file = |path: &str, after: &[u8]| Interaction::File {
            path: path.to_owned(),
            before: FileState::File(b"a = 1\n".to_vec()),
            after: FileState::File(after.to_vec()),
        };
        let made = CallBuilder::new("read")
            .event(file("/data/settings.ini", b"a = 1\n"))
            .event(file("/data/other/settings.ini", b"a = 1\n"))
            .event(file("/data/changed.ini", b""))
            .event(file("near.ini", b"a = 1\n"));
        let recording = Recording {
            calls: vec![made.call],
            ..Recording::default()
        };
        let files = RecordedFiles::collect(&recording);
        let replaced = files.with_variables(
            "read(Path(\"/data/settings.ini\"), \"/data/changed.ini\", \"near.ini\")",
        );
        assert_eq!(
            replaced,
            "read(Path(FILE_SETTINGS_INI), \"/data/changed.ini\", \"near.ini\")"
        );
        assert_eq!(
            files.setup_code(&[replaced]),
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
        assert_eq!(files.setup_code(&[]), Vec::<String>::new());
    }
}
