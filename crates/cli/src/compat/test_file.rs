//! Tests in files, in the formats that TSTL writes: a step per line, or bytes for a fuzzer.

use std::path::{Path, PathBuf};

use testwright_core::{ActionId, Catalog, Error, Step, System, Test};
use testwright_core::{
    describe_os_error,
    saved::{self, SavedStep},
};
use testwright_python::PythonSystem;

use crate::console::Console;
use crate::files::{TextFile, UserPath};
use crate::{CommandError, load};

/// The content of a test file. It is read before the system is loaded, because that may change the
/// current folder.
pub(super) enum TestFile {
    /// A step per line.
    Lines(TextFile),
    /// The name of the file, and bytes for a fuzzer.
    Bytes(String, Vec<u8>),
}

impl TestFile {
    /// Reads a file.
    pub(super) fn read(path: &Path, is_bytes: bool) -> Result<TestFile, Error> {
        if !is_bytes {
            return TextFile::read(path).map(TestFile::Lines);
        }
        let name = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Ok(TestFile::Bytes(name, bytes)),
            Err(error) => Err(Error::new(format!(
                "cannot read `{name}`: {}",
                describe_os_error(&error)
            ))),
        }
    }

    /// Returns the name of the file.
    pub(super) fn name(&self) -> &str {
        match self {
            TestFile::Lines(file) => &file.name,
            TestFile::Bytes(name, _) => name,
        }
    }

    /// Returns the test. Prints the steps that the harness does not know.
    pub(super) fn test(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
    ) -> Result<Test, CommandError> {
        match self {
            TestFile::Lines(file) => {
                load::possibly_empty_test(console, system, file, saved::MAX_SUGGESTIONS)
            }
            TestFile::Bytes(_, bytes) => Ok(from_bytes(system.actions(), bytes)),
        }
    }
}

/// Returns an error if tests in AFL's swarm format were requested, which cannot be read.
pub(super) fn reject_swarm(is_wanted: bool) -> Result<(), Error> {
    if is_wanted {
        Err(Error::new(
            "tests in AFL's swarm form cannot be read: what their bytes mean depends on Python's random numbers",
        )
        .with_help("write them as text with TSTL's `tstl_fromafl --aflswarm`"))
    } else {
        Ok(())
    }
}

/// Renders the steps of a test with TSTL's names. Where several actions have the same name, our
/// labels distinguish them.
pub(super) fn lines(system: &PythonSystem<'_>, test: &Test) -> Vec<String> {
    let catalog = system.actions();
    let line = |(index, step): (usize, &Step)| {
        let Step::Act(action) = step else {
            return String::from("<<RESTART>>");
        };
        let name = system.tstl_texts(*action).ok();
        let name = name.map(|(name, _)| format!("{} ", name.trim_end()));
        let line = name
            .filter(|name| is_unambiguous(catalog, name, *action))
            .unwrap_or_else(|| catalog.label(*action));
        let remarks = test
            .remarks
            .iter()
            .filter(|(position, _)| *position == index);
        remarks.fold(line, |line, (_, remark)| format!("{line};;;{remark}"))
    };
    test.steps.iter().enumerate().map(line).collect()
}

/// Returns true if a line is read as this action and no other one.
fn is_unambiguous(catalog: &Catalog, line: &str, action: ActionId) -> bool {
    let read = saved::read(catalog, line);
    read.is_ok_and(|read| {
        matches!(
            read.lines.as_slice(),
            [only] if only.step == SavedStep::Act { candidates: vec![action] }
        )
    })
}

/// Renders a test as text.
pub(super) fn text(system: &PythonSystem<'_>, test: &Test) -> String {
    lines(system, test)
        .into_iter()
        .map(|line| line + "\n")
        .collect()
}

/// Saves a test as text.
pub(super) fn save(system: &PythonSystem<'_>, test: &Test, path: &UserPath) -> Result<(), Error> {
    path.write(&text(system, test))
}

/// Returns the number of bytes of a step.
fn step_width(catalog: &Catalog) -> usize {
    match catalog.len() {
        ..256 => 1,
        256..=65_536 => 2,
        _ => 4,
    }
}

/// Makes a test from the numbers of its actions, each in little-endian order.
fn from_bytes(catalog: &Catalog, bytes: &[u8]) -> Test {
    let numbers = bytes.chunks_exact(step_width(catalog)).map(|chunk| {
        let digits = chunk.iter().rev();
        digits.fold(0, |number, byte| number << 8 | u64::from(*byte))
    });
    match catalog.len() {
        0 => Test::default(),
        count => Test::from_actions(numbers.map(|number| ActionId(number % count))),
    }
}

/// Encodes a test as the numbers of its actions. Restarts are left out.
pub(super) fn to_bytes(catalog: &Catalog, test: &Test) -> Vec<u8> {
    let step_width = step_width(catalog);
    let actions = test.steps.iter().filter_map(|step| match step {
        Step::Act(action) => Some(action.0),
        Step::Restart => None,
    });
    actions
        .flat_map(|number| number.to_le_bytes().into_iter().take(step_width))
        .collect()
}

/// Finds the files whose names match a pattern with `*`, `?` and `[…]`, sorted. Names that begin
/// with a dot match only if the pattern does, too.
pub(super) fn glob(pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![if pattern.starts_with('/') {
        PathBuf::from("/")
    } else {
        PathBuf::new()
    }];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        found = found
            .iter()
            .flat_map(|folder| expand_part(folder, part))
            .collect();
    }
    found.sort();
    found
}

/// Finds the entries of a folder that match one part of a pattern.
fn expand_part(folder: &Path, part: &str) -> Vec<PathBuf> {
    if !part.contains(['*', '?', '[']) {
        let path = folder.join(part);
        return if path.exists() {
            vec![path]
        } else {
            Vec::new()
        };
    }
    let here = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let pattern: Vec<char> = part.chars().collect();
    let entries = std::fs::read_dir(here).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| part.starts_with('.') || !name.starts_with('.'))
        .filter(|name| matches_glob(&pattern, &name.chars().collect::<Vec<_>>()))
        .map(|name| folder.join(name))
        .collect()
}

/// Returns true if a name matches a pattern.
fn matches_glob(pattern: &[char], name: &[char]) -> bool {
    match pattern {
        [] => name.is_empty(),
        ['*', rest @ ..] => (0..=name.len()).any(|taken| matches_glob(rest, &name[taken..])),
        ['?', rest @ ..] => !name.is_empty() && matches_glob(rest, &name[1..]),
        ['[', rest @ ..] if rest.iter().skip(1).any(|letter| *letter == ']') => {
            let end = 1 + rest[1..]
                .iter()
                .position(|letter| *letter == ']')
                .unwrap_or(0);
            let Some((first, others)) = name.split_first() else {
                return false;
            };
            matches_set(&rest[..end], *first) && matches_glob(&rest[end + 1..], others)
        }
        [letter, rest @ ..] => name.first() == Some(letter) && matches_glob(rest, &name[1..]),
    }
}

/// Returns true if a letter is in the brackets: one of `a-z_`, or none of `!a-z_`.
fn matches_set(set: &[char], letter: char) -> bool {
    let (set, wanted) = match set {
        ['!', rest @ ..] if !rest.is_empty() => (rest, false),
        set => (set, true),
    };
    let mut rest = set;
    let mut found = false;
    loop {
        rest = match rest {
            [] => return found == wanted,
            [from, '-', to, rest @ ..] => {
                found |= (*from..=*to).contains(&letter);
                rest
            }
            [one, rest @ ..] => {
                found |= *one == letter;
                rest
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_a_shell() {
        let is = |pattern: &str, name: &str| {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            matches_glob(&letters(pattern), &letters(name))
        };
        assert!(is("quick.*.test", "quick.12.test"));
        assert!(!is("quick.*.test", "quick.12.tests"));
        assert!(is("?[a-c_][!x]", "zbé") && is("a[]]", "a]") && is("a[b", "a[b"));
        assert!(!is("?[a-c_][!x]", "zbx") && !is("", "a") && !is("[a]", ""));
    }

    #[test]
    fn files_are_found_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.test", "a.test", ".hidden.test", "c.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = glob(&format!("{}/*.test", folder.path().display()));
        let names: Vec<_> = found.iter().filter_map(|path| path.file_name()).collect();
        assert_eq!(names, ["a.test", "b.test"]);
        assert!(glob("no-such-folder/*").is_empty());
    }
}
