//! Tests into files: which, what changes in them, and all or nothing.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use testwright_capture::generate::Generated;
use testwright_capture::inspect::Project;
use testwright_capture::merge::{
    Change, Force, Ledger, LeftAlone, Refusal, Transaction, WriteError, merge, place, unified,
};
use testwright_capture::suite::Suite;
use testwright_capture::write::{HELPERS_MODULE, HELPERS_TEXT};
use testwright_core::Error;

/// Where it is noted which tests were written, seen from the folder of a project.
const LEDGER: &str = ".testwright/generated";

/// What is to be written.
#[derive(Default)]
pub(super) struct Written {
    /// Test files and their helpers.
    pub(super) changes: Vec<Change>,
    /// For each test file: its path from the project's folder and the ids of new tests.
    pub(super) added: Vec<(PathBuf, Vec<String>)>,
    /// Tests that are not written, by id.
    pub(super) left_alone: Vec<(String, LeftAlone)>,
    /// Files that cannot be changed, and why.
    pub(super) refused: Vec<(String, String)>,
    /// The note of what was written.
    ledger: Option<Change>,
}

impl Written {
    /// The folder of the tests, if they are all in one.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.added.first().and_then(|(path, _)| path.parent())
    }
}

/// Puts all tests into texts; nothing is written yet.
pub(super) fn merged(
    project: &Project,
    generated: &Generated,
    folder: Option<&Path>,
    force: bool,
) -> Result<Written, Error> {
    let mut written = Written::default();
    let ledger_path = project.root.join(LEDGER);
    let noted = read(&ledger_path)?;
    let mut ledger = ledger(project)?;
    let force = if force { Force::Rewrite } else { Force::Keep };
    let inside = folder.map(|folder| {
        let absolute = project.root.join(folder);
        absolute
            .strip_prefix(&project.root)
            .map_or_else(|_| absolute.clone(), Path::to_path_buf)
    });
    let mut helped: Vec<PathBuf> = Vec::new();
    for (module, suite) in &generated.suites {
        let place = place(project, module, inside.as_deref());
        let path = project.root.join(&place.path);
        let shown = place.path.to_string_lossy().into_owned();
        let before = read(&path)?;
        let parent = path.parent().unwrap_or(&project.root).to_owned();
        let suite = beside_helpers(suite, parent.join("__init__.py").exists());
        let merged = match merge(before.as_deref(), &suite, &ledger.written(&shown), force) {
            Ok(merged) => merged,
            Err(refusal) => {
                written.refused.push((shown, reason(&refusal)));
                continue;
            }
        };
        written.left_alone.extend(merged.left_alone);
        for id in &merged.added {
            ledger.add(&shown, id);
        }
        if merged.added.is_empty() {
            continue;
        }
        let needs_helpers = needs_helpers(&suite);
        if needs_helpers && !helped.contains(&parent) {
            helped.push(parent);
        }
        written.added.push((place.path, merged.added));
        written.changes.push(Change {
            path,
            before,
            after: merged.bytes,
        });
    }
    for folder in helped {
        if project.settings.imports_by_path {
            written.changes.extend(path_for_helpers(&folder)?);
        }
        let path = folder.join(format!("{HELPERS_MODULE}.py"));
        let before = read(&path)?;
        let after = HELPERS_TEXT.as_bytes().to_vec();
        if before.as_ref() != Some(&after) {
            written.changes.push(Change {
                path,
                before,
                after,
            });
        }
    }
    written.ledger = Some(Change {
        path: ledger_path,
        before: noted,
        after: ledger.text().into_bytes(),
    });
    Ok(written)
}

/// What lets tests import their helpers where pytest imports tests by their paths: it does not look into their folder then.
fn path_for_helpers(folder: &Path) -> Result<Option<Change>, Error> {
    let path = folder.join("conftest.py");
    let before = read(&path)?;
    let text = String::from_utf8_lossy(before.as_deref().unwrap_or_default()).into_owned();
    if text.contains(HELPERS_MODULE) {
        return Ok(None);
    }
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let reason = format!("# Tests of this folder import `{HELPERS_MODULE}`, which is beside them.");
    let insert = "sys.path.insert(0, str(pathlib.Path(__file__).parent))";
    // At the end of what somebody wrote, so that nothing in it moves.
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
    Ok(Some(Change {
        path,
        before,
        after,
    }))
}

/// All tests that were ever written.
pub(super) fn ledger(project: &Project) -> Result<Ledger, Error> {
    let noted = read(&project.root.join(LEDGER))?.unwrap_or_default();
    Ok(Ledger::parse(&String::from_utf8_lossy(&noted)))
}

/// In a package the helpers are imported from beside the tests.
fn beside_helpers(suite: &Suite, is_package: bool) -> Suite {
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

fn needs_helpers(suite: &Suite) -> bool {
    let tests = suite.classes.iter().flat_map(|class| &class.tests);
    tests
        .flat_map(|test| &test.imports)
        .any(|import| import.module.trim_start_matches('.') == HELPERS_MODULE)
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        // What is in the way of a folder is told when something is to be written there.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(Error::new(format!(
            "cannot read `{}`: {error}",
            path.display()
        ))),
    }
}

fn reason(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NotPython { line, message } => format!("line {line}: {message}"),
        Refusal::NameClash { name, meaning } => {
            format!("the tests need the name `{name}`, which means {meaning} there")
        }
    }
}

/// Writes all of it, or nothing.
pub(super) fn write(written: &Written) -> Result<(), Error> {
    if written.added.is_empty() {
        return Ok(());
    }
    let changes = written.changes.iter().chain(&written.ledger);
    let transaction = Transaction {
        changes: changes.cloned().collect(),
    };
    transaction.commit().map_err(unwritten)
}

/// Why files could not be written.
pub(in crate::commands) fn unwritten(error: WriteError) -> Error {
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

/// A change as people read it.
pub(super) fn diff(project: &Project, change: &Change) -> String {
    let name = change
        .path
        .strip_prefix(&project.root)
        .unwrap_or(&change.path);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let before = change.before.as_deref().map(text).unwrap_or_default();
    unified(&name.to_string_lossy(), &before, &text(&change.after))
}
