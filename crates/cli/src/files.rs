//! Reads the user's files, and writes files completely or not at all.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use testwright_core::{Error, describe_os_error};
use testwright_report::is_special_file;

use testwright_core::spelling;

/// A text file of the user.
#[derive(Clone)]
pub(crate) struct TextFile {
    /// The path of the file.
    pub(crate) path: PathBuf,
    /// The path as it is shown to the user.
    pub(crate) name: String,
    /// The content, without a byte order mark.
    pub(crate) text: String,
}

impl TextFile {
    /// Reads a file, or returns an error in the user's words.
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

/// Returns the error for a file that cannot be read, with advice where there is some.
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
            .with_help("name a file in this folder"),
        _ => Error::new(format!(
            "cannot read `{name}`: {}",
            describe_os_error(error)
        )),
    }
}

/// Returns the error for a file that is not UTF-8; `valid` are the bytes before the first bad one.
fn not_utf8(path: &Path, valid: &[u8]) -> Error {
    let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
    Error::new(format!(
        "`{}` is not UTF-8 text: line {line} has a byte that cannot be read",
        path.display()
    ))
    .with_help("save the file again with the encoding UTF-8; every editor can do that")
}

/// Finds the file that was probably meant: the same name with a usual ending, or a similar name with
/// the same ending.
fn similar_file(path: &Path) -> Option<PathBuf> {
    let same_name = ["tstl", "test"].iter().find_map(|ending| {
        let mut name = path.file_name()?.to_owned();
        name.push(".");
        name.push(ending);
        let appended = path.with_file_name(name);
        [appended, path.with_extension(ending)]
            .into_iter()
            .find(|other| other.is_file())
    });
    same_name.or_else(|| in_output_folder(path)).or_else(|| {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let (stem, ending) = path.file_name()?.to_str()?.rsplit_once('.')?;
        let stems = names.filter_map(|name| {
            let (stem, own) = name.rsplit_once('.')?;
            (own == ending).then(|| stem.to_owned())
        });
        let closest_stem = spelling::closest(stem, stems)?;
        Some(path.with_file_name(format!("{closest_stem}.{ending}")))
    })
}

/// Finds a test of this name in the folders that `run` writes to by default.
fn in_output_folder(path: &Path) -> Option<PathBuf> {
    let name = path.file_name().filter(|name| *name == path.as_os_str())?;
    let folders = fs::read_dir("testwright-out").ok()?;
    let paths = folders.filter_map(|folder| Some(folder.ok()?.path().join(name)));
    paths.filter(|path| path.is_file()).min()
}

/// A path that the user named: shown as it was given, and still valid when the system under test
/// changes the current folder.
#[derive(Clone, Debug)]
pub(crate) struct UserPath {
    /// The path as the user gave it.
    shown: PathBuf,
    /// The path for the operating system.
    absolute: PathBuf,
}

impl UserPath {
    /// Resolves a path. Call this before the system is loaded, because that may change or delete
    /// the current folder.
    pub(crate) fn new(path: &Path) -> Result<UserPath, Error> {
        let absolute = std::path::absolute(path).map_err(|error| unwritable(path, &error))?;
        Ok(UserPath {
            shown: path.to_owned(),
            absolute,
        })
    }

    /// Resolves the path of a file to write. Fails if its folder does not exist, which is often a
    /// mistyped path.
    pub(crate) fn of_output(path: &Path) -> Result<UserPath, Error> {
        let path = UserPath::new(path)?;
        if path.absolute.parent().is_some_and(Path::is_dir) {
            return Ok(path);
        }
        let shown = path.shown.display();
        let message = format!("cannot write `{shown}`: its folder does not exist");
        Err(Error::new(message).with_help("choose another file to write to"))
    }

    /// Returns the path for people.
    pub(crate) fn shown(&self) -> &Path {
        &self.shown
    }

    /// Returns the path for the operating system.
    pub(crate) fn absolute(&self) -> &Path {
        &self.absolute
    }

    /// Returns true if both paths lead to the same file, however they are spelled. A file that does
    /// not exist equals no other.
    pub(crate) fn is_same_file(&self, other: &Path) -> bool {
        match (fs::canonicalize(&self.absolute), fs::canonicalize(other)) {
            (Ok(one), Ok(other)) => one == other,
            _ => false,
        }
    }

    /// Returns the path of a file in the same folder with another name.
    pub(crate) fn renamed(&self, rename: impl Fn(&str) -> String) -> UserPath {
        let other = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            path.with_file_name(rename(&name))
        };
        UserPath {
            shown: other(&self.shown),
            absolute: other(&self.absolute),
        }
    }

    /// Returns the path of a file in this folder.
    pub(crate) fn join(&self, name: &str) -> UserPath {
        UserPath {
            shown: self.shown.join(name),
            absolute: self.absolute.join(name),
        }
    }

    /// Writes a file completely or not at all: into a temporary file first, which is then renamed.
    /// Creates the folder again if the system under test deleted it. Devices and pipes are written
    /// to directly.
    pub(crate) fn write(&self, text: &str) -> Result<(), Error> {
        let path = &self.absolute;
        if is_special_file(path) {
            let opened = fs::File::options().write(true).open(path);
            return opened
                .and_then(|mut file| file.write_all(text.as_bytes()))
                .map_err(|error| unwritable(&self.shown, &error));
        }
        let temporary_path = temporary_path(path);
        let folder = path.parent().unwrap_or(path);
        let written = fs::create_dir_all(folder)
            .and_then(|()| fs::File::create(&temporary_path))
            .and_then(|mut file| {
                file.write_all(text.as_bytes())
                    .and_then(|()| file.sync_all())
            })
            .and_then(|()| fs::rename(&temporary_path, path));
        written.map_err(|error| {
            // The temporary file may not exist; then there is nothing to tidy up.
            let _ = fs::remove_file(&temporary_path);
            unwritable(&self.shown, &error)
        })
    }
}

/// Returns the path of a temporary file in the same folder.
fn temporary_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

/// Returns the error for a file that cannot be written.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Error {
    let message = format!(
        "cannot write `{}`: {}",
        path.display(),
        describe_os_error(error)
    );
    let unwritable = Error::new(message);
    match write_help(error) {
        Some(help) => unwritable.with_help(help),
        None => unwritable,
    }
}

/// Returns advice for a file that cannot be written, if there is general advice for the reason.
pub(crate) fn write_help(error: &io::Error) -> Option<&'static str> {
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

/// The destination of a command's result.
pub(crate) enum Destination {
    /// Standard output, written `-`.
    StandardOutput,
    /// A file.
    File(UserPath),
}

impl Destination {
    /// Checks, before any work is done, that writing there can succeed and overwrites none of the
    /// files that the command reads.
    pub(crate) fn prepare(path: &Path, to_keep: &[(&Path, &str)]) -> Result<Destination, Error> {
        if path == Path::new("-") {
            return Ok(Destination::StandardOutput);
        }
        let path = UserPath::new(path)?;
        let refuse = |reason: &str| {
            let message = format!("cannot write `{}`: {reason}", path.shown.display());
            Err(Error::new(message).with_help("choose another file to write to"))
        };
        if let Some((_, what)) = to_keep.iter().find(|(other, _)| path.is_same_file(other)) {
            return refuse(&format!("it is {what}, which would be lost"));
        }
        if path.absolute.is_dir() {
            return refuse("it is a folder");
        }
        if !path.absolute.parent().is_some_and(Path::is_dir) {
            return refuse("its folder does not exist");
        }
        if is_special_file(&path.absolute) {
            return Ok(Destination::File(path));
        }
        // Otherwise the error would come only after the work is done.
        let temporary_path = temporary_path(&path.absolute);
        if let Err(error) = fs::File::create(&temporary_path) {
            return refuse(&describe_os_error(&error));
        }
        let _only_probed = fs::remove_file(&temporary_path);
        Ok(Destination::File(path))
    }

    /// Returns the path, if the destination is a file.
    pub(crate) fn file(&self) -> Option<&UserPath> {
        match self {
            Destination::StandardOutput => None,
            Destination::File(path) => Some(path),
        }
    }
}

/// A folder that `run` or `quick` writes to.
///
/// It is created with the first file. Files of an earlier run stay until then, so that a run that
/// finds nothing deletes no test that may still help.
pub(crate) struct OutputFolder {
    /// The path of the folder.
    path: UserPath,
    /// The closest folder above, or this one, that was there at the start.
    existing: PathBuf,
    /// True once the files of earlier runs were deleted.
    is_cleared: bool,
    /// Returns true for the names of files that a run writes there.
    is_own_name: fn(&str) -> bool,
}

impl OutputFolder {
    /// Prepares the folder for failing tests.
    pub(crate) fn for_failures(path: &Path) -> Result<OutputFolder, Error> {
        OutputFolder::prepare(path, "--out", is_failure_file)
    }

    /// Prepares the folder for tests that answer a question, such as a path to a goal.
    pub(crate) fn for_answers(path: &Path) -> Result<OutputFolder, Error> {
        OutputFolder::prepare(path, "--out", |name| {
            ["goal.test", "lasso.test"].contains(&name)
        })
    }

    /// Prepares the folder for all tests.
    pub(crate) fn for_tests(path: &Path) -> Result<OutputFolder, Error> {
        OutputFolder::prepare(path, "--keep-tests", is_kept_test)
    }

    /// Prepares the folder for tests that were kept because they reached something new.
    pub(crate) fn for_corpus(path: &Path) -> Result<OutputFolder, Error> {
        OutputFolder::prepare(path, "--out", is_kept_test)
    }

    /// Prepares the folder for quick tests.
    pub(crate) fn for_quick_tests(path: &Path) -> Result<OutputFolder, Error> {
        OutputFolder::prepare(path, "--out", is_quick_test)
    }

    /// Checks, before any work is done, that the folder can be written to, and leaves no trace.
    fn prepare(path: &Path, option: &str, is_own: fn(&str) -> bool) -> Result<OutputFolder, Error> {
        let refuse = |reason: String| {
            let message = format!("cannot write to the folder `{}`: {reason}", path.display());
            let help = format!("choose another folder with `{option} FOLDER`");
            Err(Error::new(message).with_help(help))
        };
        let path = match std::path::absolute(path) {
            Ok(absolute) => UserPath {
                shown: path.to_owned(),
                absolute,
            },
            Err(error) => return refuse(describe_os_error(&error)),
        };
        let existing = path.absolute.ancestors().find(|folder| folder.exists());
        let Some(existing) = existing else {
            return refuse("there is no such place".to_owned());
        };
        let existing = existing.to_owned();
        if !existing.is_dir() {
            return refuse(format!("`{}` is a file", existing.display()));
        }
        let probe = existing.join(format!(".testwright-{}.tmp", std::process::id()));
        let tried = fs::File::create(&probe).and_then(|_| fs::remove_file(&probe));
        match tried {
            Ok(()) => Ok(OutputFolder {
                path,
                existing,
                is_cleared: false,
                is_own_name: is_own,
            }),
            Err(error) => refuse(describe_os_error(&error)),
        }
    }

    /// Returns the path of a file in this folder.
    pub(crate) fn file(&self, name: &str) -> UserPath {
        self.path.join(name)
    }

    /// Writes a file. The first one deletes the files of earlier runs.
    pub(crate) fn write(&mut self, name: &str, text: &str) -> Result<(), Error> {
        if !self.is_cleared {
            self.refresh()
                .map_err(|error| unwritable(&self.path.shown, &error))?;
            self.is_cleared = true;
        }
        self.file(name).write(text)
    }

    /// Creates the folder and deletes the files of earlier runs.
    fn refresh(&self) -> io::Result<()> {
        fs::create_dir_all(&self.path.absolute)?;
        for entry in fs::read_dir(&self.path.absolute)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(self.is_own_name)
                && entry.file_type()?.is_file()
                && !is_file_of_model_test(&entry.path())
            {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

impl Drop for OutputFolder {
    /// Removes the folder again if it was created only to try a file, and nothing was kept.
    fn drop(&mut self) {
        let folders = self.path.absolute.ancestors();
        let created = folders.take_while(|folder| *folder != self.existing);
        // A folder with files in it cannot be removed.
        let _stays = created.map(fs::remove_dir).find(Result::is_err);
    }
}

/// Returns true if `run` gives this name to a file of a failure: `failure-N.test` and with other
/// endings, `test_failure_N.py`, `test_run_failure_N.py`.
fn is_failure_file(name: &str) -> bool {
    let endings = [".full.test", ".test", ".feature", ".mmd"];
    let number = name
        .strip_prefix("failure-")
        .and_then(|rest| endings.iter().find_map(|ending| rest.strip_suffix(ending)))
        .or_else(|| {
            let beginnings = ["test_failure_", "test_run_failure_"];
            let rest = beginnings.iter().find_map(|start| name.strip_prefix(start));
            rest.and_then(|rest| rest.strip_suffix(".py"))
        });
    number.is_some_and(is_number)
}

/// Returns true if `testwright model test` has written a Python file: its first line says so.
pub(crate) fn is_file_of_model_test(path: &Path) -> bool {
    let is_python = path.extension().is_some_and(|ending| ending == "py");
    is_python && fs::read(path).is_ok_and(|text| text.starts_with(b"# testwright model test "))
}

/// Returns true if `run --keep-tests` gives this name to a file: `test-N.test`.
fn is_kept_test(name: &str) -> bool {
    is_numbered(name, "test-")
}

/// Returns true if `quick` gives this name to a file: `quick-N.test`.
fn is_quick_test(name: &str) -> bool {
    is_numbered(name, "quick-")
}

/// Returns true if the name is a prefix, a number and `.test`.
fn is_numbered(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix)
        .and_then(|rest| rest.strip_suffix(".test"))
        .is_some_and(is_number)
}

/// Returns true if the text is a decimal number.
fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_error(path: &Path) -> (String, Option<String>) {
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
    fn read_errors_give_cause_and_advice() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("stack.tstl"), "").unwrap();
        let path = folder.path().join("stack");
        let (message, help) = read_error(&path);
        assert_eq!(message, format!("there is no file `{}`", path.display()));
        assert_eq!(
            help,
            Some(format!("did you mean `{}.tstl`?", path.display()))
        );

        let (message, _) = read_error(folder.path());
        assert_eq!(
            message,
            format!("`{}` is a folder, not a file", folder.path().display())
        );

        let latin = folder.path().join("latin.tstl");
        fs::write(&latin, b"ok\ncaf\xe9\n").unwrap();
        let (message, help) = read_error(&latin);
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
        let path = UserPath::new(&folder.path().join("a.test")).unwrap();
        path.write("old").unwrap();
        path.write("new").unwrap();
        assert_eq!(fs::read_to_string(path.absolute()).unwrap(), "new");
        assert_eq!(names(folder.path()), ["a.test"]);

        let error = path.join("b.test").write("").unwrap_err();
        assert!(
            error.message.starts_with("cannot write `") && error.message.contains("a.test/b.test`"),
            "{}",
            error.message
        );
    }

    #[test]
    fn a_folder_that_was_taken_away_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = OutputFolder::for_failures(&folder.path().join("out/stack")).unwrap();
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
        let mut output = OutputFolder::for_failures(&path).unwrap();
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
        OutputFolder::for_failures(&folder.path().join("a/b")).unwrap();
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn a_file_in_the_way_is_noticed_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = OutputFolder::for_failures(&file.join("stack"))
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
