//! Paths of the machine on which a program was watched become paths below the test's own folder.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use super::literal;
use crate::recording::{Call, External};
use crate::value::Value;

/// What the test's own folder is called.
pub(crate) const FOLDER: &str = "tmp_path";

/// How the paths of one call are rewritten.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paths {
    /// The folder that holds all files that the call named by absolute paths.
    base: Option<String>,
    /// The variables that hold paths.
    names: BTreeMap<String, String>,
}

impl Paths {
    /// `temporary` are folders of which a call may know without using a file there.
    pub(crate) fn of(call: &Call, temporary: &BTreeSet<String>) -> Paths {
        let mut base: Option<Vec<&str>> = None;
        for event in &call.events {
            let words = match &event.external {
                External::File { path, .. } => absolute(path),
                External::WorkingFolder { before, .. } => absolute(before),
                _ => None,
            };
            let Some(words) = words else {
                continue;
            };
            let folder = match &event.external {
                External::WorkingFolder { .. } => &words[..],
                _ => words.split_last().map_or(&[][..], |(_, folder)| folder),
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
        let base = base.map(|words| format!("/{}", words.join("/")));
        Paths {
            base: base.or_else(|| mentioned(call, temporary)),
            names: BTreeMap::new(),
        }
    }

    /// From now on a path is said by a variable.
    pub(crate) fn name(&mut self, path: &str, name: &str) {
        self.names.insert(path.to_owned(), name.to_owned());
    }

    /// A text that names something in the folder, as an expression; nothing if it does not.
    pub(crate) fn text(&self, text: &str) -> Option<Code> {
        let base = self.base.as_deref().filter(|base| base.len() > 1)?;
        if let Some(path) = self.path(text) {
            return Some(Code::call("str", vec![path]));
        }
        let pieces: Vec<&str> = text.split(base).collect();
        // `/data/inner` is not in `/data/in`.
        let goes_on = |rest: &&str| rest.starts_with(|letter: char| letter.is_alphanumeric());
        if pieces.len() < 2 || pieces.iter().skip(1).any(goes_on) {
            return None;
        }
        let pieces: Vec<String> = pieces.into_iter().map(literal::in_formatted).collect();
        let filled = format!("{{{FOLDER}}}");
        Some(Code::Text(format!("f\"{}\"", pieces.join(&filled))))
    }

    /// A path object.
    pub(crate) fn path(&self, path: &str) -> Option<Code> {
        match self.names.get(path) {
            // A relative path stays what it is: the test works in its folder.
            Some(name) if path.starts_with('/') => Some(Code::text(name)),
            _ => self.inside(path).map(path_code),
        }
    }

    /// What a whole path is inside of the folder.
    fn inside<'a>(&self, path: &'a str) -> Option<&'a str> {
        let rest = path.strip_prefix(self.base.as_deref()?)?;
        if rest.is_empty() {
            return Some(rest);
        }
        let rest = rest.strip_prefix('/')?;
        (!rest.contains('\n')).then_some(rest)
    }

    /// Whether a file is in a folder below the test's own.
    pub(crate) fn is_deep(&self, path: &str) -> bool {
        let inside = self.inside(path).unwrap_or(path);
        inside.trim_matches('/').contains('/')
    }

    /// Where a file that the call used is in the test: absolute ones below the folder, relative ones in it.
    pub(crate) fn file(&self, path: &str) -> Code {
        match (self.names.get(path), self.path(path)) {
            (Some(name), _) => Code::text(name),
            (None, Some(code)) => code,
            (None, None) => path_code(path.trim_start_matches('/')),
        }
    }
}

fn path_code(inside: &str) -> Code {
    if inside.is_empty() || inside == "." {
        return Code::text(FOLDER);
    }
    Code::Text(format!("{FOLDER} / {}", literal::quoted(inside)))
}

/// The first of some folders that a value of the call has in it.
fn mentioned(call: &Call, folders: &BTreeSet<String>) -> Option<String> {
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

/// The folders for temporary files in which a call used any. What is in them is different each time, also where a program
/// only remembers it.
pub(super) fn temporary_folders(call: &Call) -> impl Iterator<Item = String> {
    call.events
        .iter()
        .filter_map(|event| match &event.external {
            External::File { path, .. } => temporary_folder(path),
            _ => None,
        })
}

/// The folder of a path that is right below where temporary files go.
fn temporary_folder(path: &str) -> Option<String> {
    let root = ["/tmp/", "/var/tmp/"]
        .into_iter()
        .find(|root| path.starts_with(root));
    let start = match root {
        Some(root) => root.len(),
        // As macOS has it.
        None if path.starts_with("/var/folders/") => path.find("/T/")? + "/T/".len(),
        None => return None,
    };
    let end = start + path.get(start..)?.find('/')?;
    path.get(..end).map(str::to_owned)
}

fn absolute(path: &str) -> Option<Vec<&str>> {
    let words = path.strip_prefix('/')?.split('/');
    Some(words.filter(|word| !word.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_move_below_the_folder() {
        let paths = Paths {
            base: Some("/data/in".to_owned()),
            names: BTreeMap::new(),
        };
        let text = |text| paths.text(text).map(|code| code.flat());
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
        assert_eq!(paths.file("sub/x.txt").flat(), "tmp_path / \"sub/x.txt\"");
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
