//! Rewrites paths of the recording machine to paths below the test's own folder.

use std::collections::{BTreeMap, BTreeSet};

use super::code::PythonCode;
use super::literal;
use crate::recording::{Call, Interaction};
use crate::value::Value;

/// The variable that holds the test's own folder.
pub(crate) const FOLDER: &str = "tmp_path";

/// A rewriter for the paths of one call.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathRewriter {
    /// The folder that contains all files that the call named by absolute paths.
    base: Option<String>,
    /// The variables that hold paths.
    names: BTreeMap<String, String>,
}

impl PathRewriter {
    /// Finds the common folder of a call's files. `temporary` are folders that a call may mention
    /// without using a file there.
    pub(crate) fn for_call(call: &Call, temporary: &BTreeSet<String>) -> PathRewriter {
        let mut base: Option<Vec<&str>> = None;
        for event in &call.events {
            let components = match &event.external {
                Interaction::File { path, .. } => path_components(path),
                Interaction::WorkingFolder { before, .. } => path_components(before),
                _ => None,
            };
            let Some(components) = components else {
                continue;
            };
            let folder = match &event.external {
                Interaction::WorkingFolder { .. } => &components[..],
                _ => components
                    .split_last()
                    .map_or(&[][..], |(_, folder)| folder),
            };
            base = Some(match base {
                None => folder.to_vec(),
                Some(known) => {
                    let pairs = known.iter().zip(folder);
                    let same = pairs.take_while(|(one, other)| one == other);
                    same.map(|(word, _)| *word).collect()
                }
            });
        }
        let base = base.map(|components| format!("/{}", components.join("/")));
        PathRewriter {
            base: base.or_else(|| find_mentioned(call, temporary)),
            names: BTreeMap::new(),
        }
    }

    /// Makes the rewriter refer to a path by a variable.
    pub(crate) fn use_variable(&mut self, path: &str, name: &str) {
        self.names.insert(path.to_owned(), name.to_owned());
    }

    /// Writes a text that mentions the folder as an expression; `None` if it does not mention it.
    pub(crate) fn text_code(&self, text: &str) -> Option<PythonCode> {
        let base = self.base.as_deref().filter(|base| base.len() > 1)?;
        if let Some(path) = self.path_object_code(text) {
            return Some(PythonCode::call("str", vec![path]));
        }
        let pieces: Vec<&str> = text.split(base).collect();
        // `/data/inner` is not in `/data/in`.
        let goes_on = |rest: &&str| rest.starts_with(|letter: char| letter.is_alphanumeric());
        if pieces.len() < 2 || pieces.iter().skip(1).any(goes_on) {
            return None;
        }
        let pieces: Vec<String> = pieces
            .into_iter()
            .map(literal::escape_for_fstring)
            .collect();
        let filled = format!("{{{FOLDER}}}");
        Some(PythonCode::Text(format!("f\"{}\"", pieces.join(&filled))))
    }

    /// Writes a path object.
    pub(crate) fn path_object_code(&self, path: &str) -> Option<PythonCode> {
        match self.names.get(path) {
            // A relative path stays what it is: the test works in its folder.
            Some(name) if path.starts_with('/') => Some(PythonCode::text(name)),
            _ => self.relative_path(path).map(path_code),
        }
    }

    /// Returns a path relative to the folder.
    fn relative_path<'a>(&self, path: &'a str) -> Option<&'a str> {
        let rest = path.strip_prefix(self.base.as_deref()?)?;
        if rest.is_empty() {
            return Some(rest);
        }
        let rest = rest.strip_prefix('/')?;
        (!rest.contains('\n')).then_some(rest)
    }

    /// Returns true if a file is in a subfolder of the test's own folder.
    pub(crate) fn is_in_subfolder(&self, path: &str) -> bool {
        let inside = self.relative_path(path).unwrap_or(path);
        inside.trim_matches('/').contains('/')
    }

    /// Writes the path of a file in the test: absolute ones below the folder, relative ones in it.
    pub(crate) fn file_path_code(&self, path: &str) -> PythonCode {
        match (self.names.get(path), self.path_object_code(path)) {
            (Some(name), _) => PythonCode::text(name),
            (None, Some(code)) => code,
            (None, None) => path_code(path.trim_start_matches('/')),
        }
    }
}

/// Writes the path of a file in the test's own folder.
fn path_code(inside: &str) -> PythonCode {
    if inside.is_empty() || inside == "." {
        return PythonCode::text(FOLDER);
    }
    PythonCode::Text(format!("{FOLDER} / {}", literal::quoted(inside)))
}

/// Returns the first of some folders that a value of the call mentions.
fn find_mentioned(call: &Call, folders: &BTreeSet<String>) -> Option<String> {
    let texts = || {
        call.values
            .iter()
            .filter_map(|(_, node)| match &node.value {
                Value::Text(text) => Some(text),
                _ => None,
            })
    };
    let is_mentioned = |folder: &&String| texts().any(|text| text.contains(folder.as_str()));
    folders.iter().find(is_mentioned).cloned()
}

/// Returns the temporary folders in which a call used files. Their names differ in each run, also
/// where a program only remembers them.
pub(super) fn temporary_folders(call: &Call) -> impl Iterator<Item = String> {
    call.events
        .iter()
        .filter_map(|event| match &event.external {
            Interaction::File { path, .. } => temporary_folder(path),
            _ => None,
        })
}

/// Returns the top folder of a path below the system's folder for temporary files.
fn temporary_folder(path: &str) -> Option<String> {
    let root = ["/tmp/", "/var/tmp/"]
        .into_iter()
        .find(|root| path.starts_with(root));
    let start = match root {
        Some(root) => root.len(),
        // The layout of macOS.
        None if path.starts_with("/var/folders/") => path.find("/T/")? + "/T/".len(),
        None => return None,
    };
    let end = start + path.get(start..)?.find('/')?;
    path.get(..end).map(str::to_owned)
}

/// Splits an absolute path into its components.
fn path_components(path: &str) -> Option<Vec<&str>> {
    let components = path.strip_prefix('/')?.split('/');
    Some(components.filter(|word| !word.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_move_below_the_folder() {
        let paths = PathRewriter {
            base: Some("/data/in".to_owned()),
            names: BTreeMap::new(),
        };
        let text = |text| paths.text_code(text).map(|code| code.one_line());
        assert_eq!(
            text("/data/in/a.txt").as_deref(),
            Some("str(tmp_path / \"a.txt\")")
        );
        assert_eq!(
            text("cannot open /data/in/a.txt {").as_deref(),
            Some("f\"cannot open {tmp_path}/a.txt {{\"")
        );
        assert_eq!(text("/data/inner"), None);
        assert_eq!(text("other"), None);
        assert_eq!(
            paths.file_path_code("sub/x.txt").one_line(),
            "tmp_path / \"sub/x.txt\""
        );
    }

    #[test]
    fn folders_for_temporary_files_are_recognised() {
        let folder = |path| temporary_folder(path);
        assert_eq!(
            folder("/tmp/tmpab_1/sub/a.ini").as_deref(),
            Some("/tmp/tmpab_1")
        );
        let of_macos = "/var/folders/x1/abc/T/tmpq/a.ini";
        assert_eq!(
            folder(of_macos).as_deref(),
            Some("/var/folders/x1/abc/T/tmpq")
        );
        assert_eq!(folder("/tmp/a.ini"), None);
        assert_eq!(folder("/srv/tmp/x/a.ini"), None);
    }
}
