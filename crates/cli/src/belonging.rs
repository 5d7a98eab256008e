//! Which harness tests belong to: the one that is named, else the one that they note.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use testwright_core::{Error, saved};

use crate::files::TextFile;
use crate::load;

const NAME_ONE: &str = "name the harness with `--harness FILE`";

/// The option of all commands that work with saved tests.
#[derive(clap::Args)]
pub(crate) struct HarnessArgument {
    /// The harness that the tests were made from [default: the one that they note]
    #[arg(long, value_name = "FILE")]
    harness: Option<PathBuf>,
}

impl HarnessArgument {
    /// The harness of these tests; a folder stands for those in it and below.
    pub(crate) fn of(&self, tests: &[PathBuf]) -> Result<PathBuf, Error> {
        if let Some(harness) = &self.harness {
            return Ok(harness.clone());
        }
        let mut found = BTreeSet::new();
        for file in load::test_files(tests)? {
            found.insert(harness_of(&file)?);
        }
        let mut found = found.into_iter();
        match (found.next(), found.next()) {
            (Some(harness), None) => Ok(harness),
            (Some(one), Some(other)) => {
                let (one, other) = (one.display(), other.display());
                let message =
                    format!("the tests belong to different harnesses, `{one}` and `{other}`");
                Err(Error::new(message).with_help(NAME_ONE))
            }
            (None, _) => Err(Error::new("there are no tests").with_help(NAME_ONE)),
        }
    }
}

/// The harness that a test notes. One without a note belongs to the only harness that is near.
fn harness_of(file: &TextFile) -> Result<PathBuf, Error> {
    let notes = saved::notes(&file.text);
    let noted = notes.iter().find(|(key, _)| key == "harness");
    let found = match noted {
        Some((_, noted)) => nearest(&file.path, |folder| noted_in(folder, Path::new(noted))),
        None => nearest(&file.path, only_harness_in),
    };
    found.ok_or_else(|| {
        let name = &file.name;
        let message = match noted {
            Some((_, noted)) => {
                format!("there is no harness `{noted}` beside the test `{name}` or above it")
            }
            None => format!("the test `{name}` does not say which harness it belongs to"),
        };
        Error::new(message).with_help(NAME_ONE)
    })
}

/// What is found beside a file, or else in the folder above it, and so on.
fn nearest(file: &Path, find: impl Fn(&Path) -> Option<PathBuf>) -> Option<PathBuf> {
    // Short names first, for they are shown.
    let below = file.ancestors().skip(1).find_map(&find);
    below.or_else(|| {
        let absolute = std::path::absolute(file).ok()?;
        absolute.ancestors().skip(1).find_map(&find)
    })
}

/// The path of a harness as it was when the test was made, or just its name. A test may come from a stranger, so
/// nothing is looked for elsewhere.
fn noted_in(folder: &Path, noted: &Path) -> Option<PathBuf> {
    let is_below = noted
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let whole = is_below.then(|| folder.join(noted));
    let name = noted.file_name().map(|name| folder.join(name));
    whole.into_iter().chain(name).find(|path| path.is_file())
}

fn only_harness_in(folder: &Path) -> Option<PathBuf> {
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
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
