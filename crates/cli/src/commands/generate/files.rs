//! Generated tests in files: merged into existing ones, and written all or nothing.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use testwright_capture::generate::GeneratedTests;
use testwright_capture::inspect::PythonProject;
use testwright_capture::merge::{
    FileChange, Ledger, MergeError, RewritePolicy, SkipReason, Transaction, WriteError,
    find_test_file, merge, unified_diff,
};
use testwright_capture::suite::UnitTestSuite;
use testwright_capture::write::{HELPERS_MODULE, HELPERS_TEXT};
use testwright_core::{Error, describe_os_error};

/// Path of the ledger of written tests, relative to the project.
const LEDGER: &str = ".testwright/generated";

/// Changes to files that are planned, but not written yet.
#[derive(Default)]
pub(super) struct PlannedFiles {
    /// Changes of test files and their helpers.
    pub(super) changes: Vec<FileChange>,
    /// For each test file: its path relative to the project, and the ids of new tests.
    pub(super) added: Vec<(PathBuf, Vec<String>)>,
    /// Tests that are not written, by id.
    pub(super) left_alone: Vec<(String, SkipReason)>,
    /// Files that cannot be changed, with the reason.
    pub(super) refused: Vec<(String, String)>,
    /// Change of the ledger.
    ledger: Option<FileChange>,
}

impl PlannedFiles {
    /// Returns the folder of the first test file.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.added.first().and_then(|(path, _)| path.parent())
    }
}

/// Merges all tests into the texts of the test files, without writing anything.
pub(super) fn plan(
    project: &PythonProject,
    generated: &GeneratedTests,
    folder: Option<&Path>,
    force: bool,
) -> Result<PlannedFiles, Error> {
    let mut planned = PlannedFiles::default();
    let ledger_path = project.root.join(LEDGER);
    let ledger_bytes = read(&ledger_path)?;
    let mut ledger = read_ledger(project)?;
    let force = if force {
        RewritePolicy::Rewrite
    } else {
        RewritePolicy::Keep
    };
    let inside = folder.map(|folder| {
        let absolute = project.root.join(folder);
        absolute
            .strip_prefix(&project.root)
            .map_or_else(|_| absolute.clone(), Path::to_path_buf)
    });
    let mut helper_folders: Vec<PathBuf> = Vec::new();
    for (module, suite) in &generated.suites {
        let location = find_test_file(project, module, inside.as_deref());
        let path = project.root.join(&location.path);
        let shown = location.path.to_string_lossy().into_owned();
        let before = read(&path)?;
        let parent = path.parent().unwrap_or(&project.root).to_owned();
        let suite = with_relative_helpers(suite, parent.join("__init__.py").exists());
        let merged = match merge(
            before.as_deref(),
            &suite,
            &ledger.ids_of_file(&shown),
            force,
        ) {
            Ok(merged) => merged,
            Err(refusal) => {
                planned.refused.push((shown, refusal_text(&refusal)));
                continue;
            }
        };
        planned.left_alone.extend(merged.skipped);
        for id in &merged.added {
            ledger.add(&shown, id);
        }
        if merged.added.is_empty() {
            continue;
        }
        let needs_helpers = needs_helpers(&suite);
        if needs_helpers && !helper_folders.contains(&parent) {
            helper_folders.push(parent);
        }
        planned.added.push((location.path, merged.added));
        planned.changes.push(FileChange {
            path,
            before,
            after: merged.bytes,
        });
    }
    for folder in helper_folders {
        if project.settings.imports_by_path {
            planned.changes.extend(import_helpers(&folder)?);
        }
        let path = folder.join(format!("{HELPERS_MODULE}.py"));
        let before = read(&path)?;
        let after = HELPERS_TEXT.as_bytes().to_vec();
        if before.as_ref() != Some(&after) {
            planned.changes.push(FileChange {
                path,
                before,
                after,
            });
        }
    }
    planned.ledger = Some(FileChange {
        path: ledger_path,
        before: ledger_bytes,
        after: ledger.text().into_bytes(),
    });
    Ok(planned)
}

/// Returns the change of `conftest.py` that lets tests import their helpers.
///
/// It is needed where pytest imports tests by their paths, and so does not add their folder to the
/// import path.
fn import_helpers(folder: &Path) -> Result<Option<FileChange>, Error> {
    let path = folder.join("conftest.py");
    let before = read(&path)?;
    let text = String::from_utf8_lossy(before.as_deref().unwrap_or_default()).into_owned();
    if text.contains(HELPERS_MODULE) {
        return Ok(None);
    }
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let reason = format!("# Tests of this folder import `{HELPERS_MODULE}`, which is beside them.");
    let insert = "sys.path.insert(0, str(pathlib.Path(__file__).parent))";
    // Added at the end, so that existing code does not move.
    let lines: Vec<&str> = if text.is_empty() {
        vec!["import pathlib", "import sys", "", &reason, insert]
    } else {
        vec![
            "",
            &reason,
            "import pathlib  # noqa: E402",
            "import sys  # noqa: E402",
            "",
            insert,
        ]
    };
    let mut after = before.clone().unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        after.extend(end.as_bytes());
    }
    for line in lines {
        after.extend(line.as_bytes());
        after.extend(end.as_bytes());
    }
    Ok(Some(FileChange {
        path,
        before,
        after,
    }))
}

/// Reads the ledger of all tests that were ever written.
pub(super) fn read_ledger(project: &PythonProject) -> Result<Ledger, Error> {
    let ledger_bytes = read(&project.root.join(LEDGER))?.unwrap_or_default();
    Ok(Ledger::parse(&String::from_utf8_lossy(&ledger_bytes)))
}

/// Returns the suite with helpers imported relatively, if the tests are in a package.
fn with_relative_helpers(suite: &UnitTestSuite, is_package: bool) -> UnitTestSuite {
    let mut suite = suite.clone();
    if is_package {
        let classes = suite.classes.iter_mut();
        for test in classes.flat_map(|class| &mut class.tests) {
            for import in &mut test.imports {
                if import.module == HELPERS_MODULE {
                    import.module = format!(".{HELPERS_MODULE}");
                }
            }
        }
    }
    suite
}

/// Returns true if a test of the suite uses the helpers.
fn needs_helpers(suite: &UnitTestSuite) -> bool {
    let tests = suite.classes.iter().flat_map(|class| &class.tests);
    tests
        .flat_map(|test| &test.imports)
        .any(|import| import.module.trim_start_matches('.') == HELPERS_MODULE)
}

/// Reads a file; `None` if it does not exist.
fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        // A file in place of a folder is reported when something is written there.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(Error::new(format!(
            "cannot read `{}`: {}",
            path.display(),
            describe_os_error(&error)
        ))),
    }
}

/// Describes why a file cannot be changed.
fn refusal_text(refusal: &MergeError) -> String {
    match refusal {
        MergeError::NotPython { line, message } => format!("line {line}: {message}"),
        MergeError::NameClash { name, meaning } => {
            format!("the tests need the name `{name}`, which means {meaning} there")
        }
    }
}

/// Writes all changes, or none of them if one fails.
pub(super) fn write(planned: &PlannedFiles) -> Result<(), Error> {
    if planned.added.is_empty() {
        return Ok(());
    }
    let changes = planned.changes.iter().chain(&planned.ledger);
    let transaction = Transaction {
        changes: changes.cloned().collect(),
    };
    transaction.commit().map_err(write_error)
}

/// Converts the error of a transaction.
pub(in crate::commands) fn write_error(error: WriteError) -> Error {
    match error {
        WriteError::ChangedMeanwhile(path) => Error::new(format!(
            "`{}` was changed in the meantime; nothing was written",
            path.display()
        ))
        .with_help("try again"),
        WriteError::Refused { path, error } => {
            let refused = crate::files::unwritable(&path, &error);
            let message = format!("{}; nothing was written", refused.message);
            Error { message, ..refused }
        }
    }
}

/// Formats a change as a unified diff.
pub(super) fn diff(project: &PythonProject, change: &FileChange) -> String {
    let name = change
        .path
        .strip_prefix(&project.root)
        .unwrap_or(&change.path);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let before = change.before.as_deref().map(text).unwrap_or_default();
    unified_diff(&name.to_string_lossy(), &before, &text(&change.after))
}
