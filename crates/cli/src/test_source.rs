//! Finds the harness or the models that saved tests were made from: those that the user names, else
//! those in the tests' notes.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use testwright_core::{Error, saved};

use crate::files::TextFile;
use crate::load;
use crate::source::{SystemSource, is_model};

/// The advice if there is none, or more than one.
const NAME_ONE: &str = "name the harness, or the model, with `--harness FILE`";

/// The option of all commands that work with saved tests.
#[derive(clap::Args)]
pub(crate) struct HarnessArgument {
    /// Harness or model of the tests; repeatable for models [default: as noted in the tests]
    #[arg(long, value_name = "FILE")]
    harness: Vec<PathBuf>,
}

impl HarnessArgument {
    /// Returns true if a harness or model was named.
    pub(crate) fn is_given(&self) -> bool {
        !self.harness.is_empty()
    }

    /// Returns the source of these tests. A folder stands for the tests in it and below.
    pub(crate) fn find_source(&self, tests: &[PathBuf]) -> Result<SystemSource, Error> {
        if self.is_given() {
            return SystemSource::from_names(&self.harness);
        }
        let mut found = BTreeSet::new();
        for file in load::test_files(tests)? {
            found.insert(noted_source(&file)?);
        }
        let mut found = found.into_iter();
        match (found.next(), found.next()) {
            (Some(source), None) => Ok(source),
            (Some(one), Some(other)) => {
                let (one, other) = (one.display_name(), other.display_name());
                let message =
                    format!("the tests belong to different harnesses, `{one}` and `{other}`");
                Err(Error::new(message).with_help(NAME_ONE))
            }
            (None, _) => Err(Error::new("there are no tests").with_help(NAME_ONE)),
        }
    }
}

/// Returns the source that a test notes. A test without a note belongs to the only harness in the
/// nearest folder.
fn noted_source(file: &TextFile) -> Result<SystemSource, Error> {
    let notes = saved::notes(&file.text);
    let noted = notes.iter().filter(|(key, _)| key == "harness");
    let noted: Vec<&str> = noted.map(|(_, noted)| noted.as_str()).collect();
    let name = &file.name;
    let mut found = Vec::new();
    for noted in &noted {
        let path = find_upwards(&file.path, |folder| find_noted(folder, Path::new(noted)));
        found.push(path.ok_or_else(|| {
            let kind = if is_model(Path::new(noted)) {
                "model"
            } else {
                "harness"
            };
            let message =
                format!("there is no {kind} `{noted}` beside the test `{name}` or above it");
            Error::new(message).with_help(NAME_ONE)
        })?);
    }
    if noted.is_empty() {
        found.extend(find_upwards(&file.path, only_harness_in));
    }
    if found.is_empty() {
        let message = format!("the test `{name}` does not say which harness it belongs to");
        return Err(Error::new(message).with_help(NAME_ONE));
    }
    SystemSource::from_names(&found)
}

/// Searches the folder of a file, then the folder above it, and so on.
fn find_upwards(file: &Path, find: impl Fn(&Path) -> Option<PathBuf>) -> Option<PathBuf> {
    // Relative paths first, because they are shown to the user.
    let below = file.ancestors().skip(1).find_map(&find);
    below.or_else(|| {
        let absolute = std::path::absolute(file).ok()?;
        absolute.ancestors().skip(1).find_map(&find)
    })
}

/// Finds a noted harness in a folder, by its path when the test was made or just by its name. A
/// test may come from a stranger, so no other folder is searched.
fn find_noted(folder: &Path, noted: &Path) -> Option<PathBuf> {
    let is_below = noted
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let whole = is_below.then(|| folder.join(noted));
    let name = noted.file_name().map(|name| folder.join(name));
    whole.into_iter().chain(name).find(|path| path.is_file())
}

/// Returns the harness in a folder, if there is exactly one.
fn only_harness_in(folder: &Path) -> Option<PathBuf> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries = std::fs::read_dir(folder).ok()?;
    let mut harnesses = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "tstl"));
    match (harnesses.next(), harnesses.next()) {
        (Some(harness), None) => Some(harness),
        _ => None,
    }
}
