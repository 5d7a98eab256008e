//! Reading what the user wrote, and writing so that nothing is ever half there.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use testwright_core::Error;

/// A text the user wrote.
#[derive(Clone)]
pub(crate) struct TextFile {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The path as it is shown.
    pub(crate) name: String,
    /// What it says, without a byte order mark.
    pub(crate) text: String,
}

impl TextFile {
    /// Reads a file, or says in the user's words why not.
    pub(crate) fn read(path: &Path) -> Result<TextFile, Error> {
        let bytes = fs::read(path).map_err(|error| unreadable(path, &error))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            not_utf8(path, &error.as_bytes()[..valid])
        })?;
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        Ok(TextFile {
            path: path.to_owned(),
            name: path.display().to_string(),
            text,
        })
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    let name = path.display();
    match error.kind() {
        ErrorKind::NotFound => {
            let error = Error::new(format!("there is no file `{name}`"));
            match similar_file(path) {
                Some(other) => error.with_help(format!("did you mean `{}`?", other.display())),
                None => error,
            }
        }
        ErrorKind::IsADirectory => Error::new(format!("`{name}` is a folder, not a file"))
            .with_help("name the file in it that is meant"),
        _ => Error::new(format!("cannot read `{name}`: {}", reason(error))),
    }
}

fn not_utf8(path: &Path, valid: &[u8]) -> Error {
    let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
    Error::new(format!(
        "`{}` is not UTF-8 text: line {line} has a byte that cannot be read",
        path.display()
    ))
    .with_help("save the file again with the encoding UTF-8; every editor can do that")
}

/// The file that was probably meant: the same name with the usual ending.
fn similar_file(path: &Path) -> Option<PathBuf> {
    ["tstl", "test"].iter().find_map(|ending| {
        let mut name = path.file_name()?.to_owned();
        name.push(".");
        name.push(ending);
        let appended = path.with_file_name(name);
        [appended, path.with_extension(ending)]
            .into_iter()
            .find(|other| other.is_file())
    })
}

/// What went wrong, in lower case and without the operating system's number.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_lowercase().chain(letters).collect())
        .unwrap_or_default()
}

/// A place the user named: shown as it was given, and found again wherever the system under test goes to.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    shown: PathBuf,
    absolute: PathBuf,
}

impl Place {
    /// To be called before the system is loaded, for that may change or delete the current folder.
    pub(crate) fn new(path: &Path) -> Result<Place, Error> {
        let absolute = std::path::absolute(path).map_err(|error| unwritable(path, &error))?;
        Ok(Place {
            shown: path.to_owned(),
            absolute,
        })
    }

    /// The path for people.
    pub(crate) fn shown(&self) -> &Path {
        &self.shown
    }

    /// The path for the operating system.
    pub(crate) fn absolute(&self) -> &Path {
        &self.absolute
    }

    /// Whether this is that very file, however they are spelled. A file that does not exist is no other.
    pub(crate) fn is(&self, other: &Path) -> bool {
        match (fs::canonicalize(&self.absolute), fs::canonicalize(other)) {
            (Ok(one), Ok(other)) => one == other,
            _ => false,
        }
    }

    /// The place of a file in the same folder with another name.
    pub(crate) fn renamed(&self, rename: impl Fn(&str) -> String) -> Place {
        let other = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            path.with_file_name(rename(&name))
        };
        Place {
            shown: other(&self.shown),
            absolute: other(&self.absolute),
        }
    }

    /// A file in this folder.
    pub(crate) fn inside(&self, name: &str) -> Place {
        Place {
            shown: self.shown.join(name),
            absolute: self.absolute.join(name),
        }
    }

    /// Writes a file completely or not at all: into a neighbour first, which then takes its name. Its folder is
    /// made again if the system under test took it away.
    pub(crate) fn write(&self, text: &str) -> Result<(), Error> {
        let path = &self.absolute;
        let neighbour = neighbour(path);
        let folder = path.parent().unwrap_or(path);
        let written = fs::create_dir_all(folder)
            .and_then(|()| fs::File::create(&neighbour))
            .and_then(|mut file| {
                file.write_all(text.as_bytes())
                    .and_then(|()| file.sync_all())
            })
            .and_then(|()| fs::rename(&neighbour, path));
        written.map_err(|error| {
            // The neighbour may not exist; then there is nothing to tidy up.
            let _ = fs::remove_file(&neighbour);
            unwritable(&self.shown, &error)
        })
    }
}

fn neighbour(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Error {
    let message = format!("cannot write `{}`: {}", path.display(), reason(error));
    let error_to_tell = Error::new(message);
    match way_out(error) {
        Some(help) => error_to_tell.with_help(help),
        None => error_to_tell,
    }
}

/// What to do about a place that cannot be written to, if that can be said in general.
pub(crate) fn way_out(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Some("work in a folder that you may write to")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("make room on the disk, and try again")
        }
        io::ErrorKind::FileTooLarge => {
            Some("the process may not write files of that size; see `ulimit -f`")
        }
        _ => None,
    }
}

/// Where a command writes its result to.
pub(crate) enum Destination {
    /// `-`
    StandardOutput,
    File(Place),
}

impl Destination {
    /// Makes sure, before any work is done, that writing there can succeed and takes no file away that the
    /// command was given to read.
    pub(crate) fn prepare(path: &Path, to_keep: &[(&Path, &str)]) -> Result<Destination, Error> {
        if path == Path::new("-") {
            return Ok(Destination::StandardOutput);
        }
        let place = Place::new(path)?;
        let refuse = |reason: &str| {
            let message = format!("cannot write `{}`: {reason}", path.display());
            Err(Error::new(message).with_help("choose another file with `-o FILE`"))
        };
        if let Some((_, what)) = to_keep.iter().find(|(other, _)| place.is(other)) {
            return refuse(&format!("it is {what}, which would be lost"));
        }
        if place.absolute.is_dir() {
            return refuse("it is a folder");
        }
        if !place.absolute.parent().is_some_and(Path::is_dir) {
            return refuse("its folder does not exist");
        }
        // Nobody wants to hear that after an hour of work.
        let neighbour = neighbour(&place.absolute);
        if let Err(error) = fs::File::create(&neighbour) {
            return refuse(&reason(&error));
        }
        let _it_was_only_to_see = fs::remove_file(&neighbour);
        Ok(Destination::File(place))
    }

    /// The file, if it is one.
    pub(crate) fn file(&self) -> Option<&Place> {
        match self {
            Destination::StandardOutput => None,
            Destination::File(place) => Some(place),
        }
    }
}

/// A folder that `run` or `quick` writes to.
///
/// It comes into being with the first file. What an earlier run left there stays until then, so that a run
/// that finds nothing takes no test away that still helps.
pub(crate) struct OutputFolder {
    place: Place,
    is_fresh: bool,
    /// Whether a file of this name is one that a run writes there.
    is_own: fn(&str) -> bool,
}

impl OutputFolder {
    /// The folder for failing tests.
    pub(crate) fn of_findings(path: &Path) -> Result<OutputFolder, Error> {
        OutputFolder::prepare(path, "--out", is_finding)
    }

    /// The folder for tests that answer a question.
    pub(crate) fn of_answers(path: &Path) -> Result<OutputFolder, Error> {
        OutputFolder::prepare(path, "--out", |name| {
            ["goal.test", "lasso.test"].contains(&name)
        })
    }

    /// The folder for all tests.
    pub(crate) fn of_tests(path: &Path) -> Result<OutputFolder, Error> {
        OutputFolder::prepare(path, "--keep-tests", is_kept_test)
    }

    /// The folder for tests that were kept because they reached something new.
    pub(crate) fn of_corpus(path: &Path) -> Result<OutputFolder, Error> {
        OutputFolder::prepare(path, "--out", is_kept_test)
    }

    /// The folder for quick tests.
    pub(crate) fn of_quick_tests(path: &Path) -> Result<OutputFolder, Error> {
        OutputFolder::prepare(path, "--out", is_quick_test)
    }

    /// Makes sure that the folder can be written to, before any work is done, without leaving a trace.
    fn prepare(path: &Path, option: &str, is_own: fn(&str) -> bool) -> Result<OutputFolder, Error> {
        let refuse = |reason: String| {
            let message = format!("cannot write to the folder `{}`: {reason}", path.display());
            let help = format!("choose another folder with `{option} DIR`");
            Err(Error::new(message).with_help(help))
        };
        let place = match std::path::absolute(path) {
            Ok(absolute) => Place {
                shown: path.to_owned(),
                absolute,
            },
            Err(error) => return refuse(reason(&error)),
        };
        let existing = place.absolute.ancestors().find(|folder| folder.exists());
        let Some(existing) = existing else {
            return refuse("there is no such place".to_owned());
        };
        if !existing.is_dir() {
            return refuse(format!("`{}` is a file", existing.display()));
        }
        let probe = existing.join(format!(".testwright-{}.tmp", std::process::id()));
        let tried = fs::File::create(&probe).and_then(|_| fs::remove_file(&probe));
        match tried {
            Ok(()) => Ok(OutputFolder {
                place,
                is_fresh: false,
                is_own,
            }),
            Err(error) => refuse(reason(&error)),
        }
    }

    /// Where a file of this folder is.
    pub(crate) fn file(&self, name: &str) -> Place {
        self.place.inside(name)
    }

    /// Writes a file. The first one takes the place of all that earlier runs left.
    pub(crate) fn write(&mut self, name: &str, text: &str) -> Result<(), Error> {
        if !self.is_fresh {
            self.refresh()
                .map_err(|error| unwritable(&self.place.shown, &error))?;
            self.is_fresh = true;
        }
        self.file(name).write(text)
    }

    fn refresh(&self) -> io::Result<()> {
        fs::create_dir_all(&self.place.absolute)?;
        for entry in fs::read_dir(&self.place.absolute)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(self.is_own) && entry.file_type()?.is_file() {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

/// Whether a file name is one that `run` gives: `failure-N.test` and with other endings, `test_failure_N.py`.
fn is_finding(name: &str) -> bool {
    let endings = [".full.test", ".test", ".feature", ".mmd"];
    let number = name
        .strip_prefix("failure-")
        .and_then(|rest| endings.iter().find_map(|ending| rest.strip_suffix(ending)))
        .or_else(|| {
            name.strip_prefix("test_failure_")
                .and_then(|rest| rest.strip_suffix(".py"))
        });
    number.is_some_and(is_number)
}

/// Whether a file name is one that `run --keep-tests` gives: `test-N.test`.
fn is_kept_test(name: &str) -> bool {
    is_numbered(name, "test-")
}

/// Whether a file name is one that `quick` gives: `quick-N.test`.
fn is_quick_test(name: &str) -> bool {
    is_numbered(name, "quick-")
}

fn is_numbered(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix)
        .and_then(|rest| rest.strip_suffix(".test"))
        .is_some_and(is_number)
}

fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(path: &Path) -> (String, Option<String>) {
        let error = TextFile::read(path).err().expect("this cannot be read");
        (error.message, error.help)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn why_a_file_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("stack.tstl"), "").unwrap();
        let path = folder.path().join("stack");
        let (message, help) = trouble(&path);
        assert_eq!(message, format!("there is no file `{}`", path.display()));
        assert_eq!(
            help,
            Some(format!("did you mean `{}.tstl`?", path.display()))
        );

        let (message, _) = trouble(folder.path());
        assert_eq!(
            message,
            format!("`{}` is a folder, not a file", folder.path().display())
        );

        let latin = folder.path().join("latin.tstl");
        fs::write(&latin, b"ok\ncaf\xe9\n").unwrap();
        let (message, help) = trouble(&latin);
        assert!(
            message.ends_with("is not UTF-8 text: line 2 has a byte that cannot be read"),
            "{message}"
        );
        assert!(help.unwrap().contains("UTF-8"));
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("marked.tstl");
        fs::write(&path, "\u{feff}pool: <x> 1\n").unwrap();
        assert_eq!(TextFile::read(&path).unwrap().text, "pool: <x> 1\n");
    }

    #[test]
    fn writing_replaces_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::new(&folder.path().join("a.test")).unwrap();
        place.write("old").unwrap();
        place.write("new").unwrap();
        assert_eq!(fs::read_to_string(place.absolute()).unwrap(), "new");
        assert_eq!(names(folder.path()), ["a.test"]);

        let error = place.inside("b.test").write("").unwrap_err();
        assert!(
            error.message.starts_with("cannot write `") && error.message.contains("a.test/b.test`"),
            "{}",
            error.message
        );
    }

    #[test]
    fn a_folder_that_was_taken_away_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = OutputFolder::of_findings(&folder.path().join("out/stack")).unwrap();
        output.write("failure-1.full.test", "").unwrap();
        fs::remove_dir_all(folder.path().join("out")).unwrap();
        output.write("failure-1.test", "").unwrap();
        assert_eq!(names(&folder.path().join("out/stack")), ["failure-1.test"]);
    }

    #[test]
    fn a_destination_is_no_file_that_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let harness = folder.path().join("stack.tstl");
        fs::write(&harness, "").unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        let why_not = |name: &str| {
            let path = folder.path().join(name);
            let prepared = Destination::prepare(&path, &[(&harness, "the harness")]);
            prepared.err().map(|error| {
                let end = error.message.rfind("`: ").expect("the path is quoted");
                error.message[end + 3..].to_owned()
            })
        };
        let lost = Some("it is the harness, which would be lost".to_owned());
        assert_eq!(why_not("stack.tstl"), lost);
        assert_eq!(why_not("sub/../stack.tstl"), lost);
        assert_eq!(why_not("sub"), Some("it is a folder".to_owned()));
        assert_eq!(
            why_not("missing/a.test"),
            Some("its folder does not exist".to_owned())
        );
        assert_eq!(why_not("sub/stack.tstl"), None);
        let standard_output = Destination::prepare(Path::new("-"), &[]).unwrap();
        assert!(standard_output.file().is_none());
    }

    #[test]
    fn the_first_finding_replaces_those_of_earlier_runs_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out/stack");
        fs::create_dir_all(&path).unwrap();
        for name in [
            "failure-2.test",
            "failure-2.full.test",
            "test_failure_2.py",
            "failure-x.test",
            "notes.txt",
        ] {
            fs::write(path.join(name), "").unwrap();
        }
        let mut output = OutputFolder::of_findings(&path).unwrap();
        assert_eq!(names(&path).len(), 5);
        output.write("failure-1.full.test", "").unwrap();
        output.write("failure-1.test", "").unwrap();
        assert_eq!(
            names(&path),
            [
                "failure-1.full.test",
                "failure-1.test",
                "failure-x.test",
                "notes.txt"
            ]
        );
    }

    #[test]
    fn preparing_a_folder_leaves_no_trace() {
        let folder = tempfile::tempdir().unwrap();
        OutputFolder::of_findings(&folder.path().join("a/b")).unwrap();
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn a_file_in_the_way_is_noticed_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = OutputFolder::of_findings(&file.join("stack"))
            .err()
            .unwrap();
        assert!(
            error
                .message
                .ends_with(&format!("`{}` is a file", file.display())),
            "{}",
            error.message
        );
    }
}
