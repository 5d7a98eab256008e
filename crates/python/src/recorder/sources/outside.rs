//! Files and environment variables that a call uses: before the first use, and at the end.

use std::fs;
use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use testwright_capture::{Call, Event, External, FileState, MASKED};

use super::super::names;
use super::secrets;

/// Files above this size are not kept.
const LARGEST: u64 = 1 << 20;
/// More than this is not looked at in one call.
const MOST: usize = 100;
/// Folders with more entries are not listed.
const MOST_ENTRIES: usize = 1_000;

/// What a call has used so far.
#[derive(Default)]
pub(in crate::recorder) struct Outside {
    files: Vec<(String, FileState, Option<u32>)>,
    variables: Vec<(String, Option<String>)>,
    /// Where the program worked when it first asked, or before it went elsewhere.
    working_folder: Option<String>,
    /// What was made for a while.
    temporary: Vec<String>,
}

impl Outside {
    /// Takes note of the files that the first arguments name.
    pub(super) fn look_at_files(&mut self, count: usize, arguments: &Bound<'_, PyTuple>) {
        for argument in arguments.iter().take(count) {
            let Some(path) = path(&argument) else {
                continue;
            };
            let path = self.seen_from_start(path);
            let is_known = self.files.iter().any(|(known, ..)| *known == path);
            let is_passing = self.temporary.iter().any(|made| path.starts_with(made));
            if !is_known && !is_passing && self.files.len() < MOST && !is_of_system(&path) {
                let state = self.state(&path);
                let permissions = self.permissions(&path);
                self.files.push((path, state, permissions));
            }
        }
    }

    /// Takes note of where the program works.
    pub(super) fn look_at_working_folder(&mut self) {
        if self.working_folder.is_none() {
            self.working_folder = current_folder();
        }
    }

    /// From now on this file or folder is passed over: the program has made it for a while.
    pub(super) fn pass_over(&mut self, made: &Bound<'_, PyAny>) {
        let inner = match made.cast::<PyTuple>() {
            Ok(both) => both.get_item(1).ok(),
            Err(_) => None,
        };
        let name = match inner.or_else(|| made.getattr("name").ok()) {
            Some(name) => text(&name),
            None => text(made),
        };
        // The folder of all such files is nobody's own.
        let is_common = |name: &String| Path::new(name) == std::env::temp_dir();
        self.temporary.extend(name.filter(|name| !is_common(name)));
    }

    /// A path as it is from where the program was when the call began.
    fn seen_from_start(&self, path: String) -> String {
        let (Some(start), Some(now)) = (&self.working_folder, current_folder()) else {
            return path;
        };
        if *start == now || path.starts_with('/') {
            return path;
        }
        let whole = Path::new(&now).join(&path);
        let inside = whole.strip_prefix(start).unwrap_or(&whole);
        inside.to_string_lossy().into_owned()
    }

    /// Where a path is, wherever the program is by now.
    fn place(&self, path: &str) -> std::path::PathBuf {
        match &self.working_folder {
            Some(start) => Path::new(start).join(path),
            None => path.into(),
        }
    }

    fn state(&self, path: &str) -> FileState {
        state(&self.place(path))
    }

    fn permissions(&self, path: &str) -> Option<u32> {
        use std::os::unix::fs::PermissionsExt;
        let about = fs::symlink_metadata(self.place(path)).ok()?;
        about.is_file().then(|| about.permissions().mode() & 0o777)
    }

    /// Takes note of the variable that is asked for or changed: the second argument, after the environment.
    pub(super) fn look_at_variable(&mut self, arguments: &Bound<'_, PyTuple>) {
        let Some(name) = arguments.get_item(1).ok().and_then(|name| text(&name)) else {
            return;
        };
        let is_known = self.variables.iter().any(|(known, _)| *known == name);
        if !is_known && self.variables.len() < MOST {
            let value = variable(&name, arguments.py());
            self.variables.push((name, value));
        }
    }

    /// Adds what was used to the call, as it is now.
    pub(in crate::recorder) fn finish(&mut self, call: &mut Call, python: Python<'_>) {
        let at = call.end.unwrap_or(call.id.0);
        let mut events = Vec::new();
        for (path, before, permissions) in std::mem::take(&mut self.files) {
            let after = self.state(&path);
            let now = self.permissions(&path);
            let changed = now.filter(|now| permissions.is_some_and(|before| before != *now));
            let permissions = changed.map(|after| External::Permissions {
                path: path.clone(),
                after,
            });
            events.push(External::File {
                path,
                before,
                after,
            });
            events.extend(permissions);
        }
        if let Some(before) = self.working_folder.take() {
            let after = current_folder().unwrap_or_else(|| before.clone());
            events.push(External::WorkingFolder { before, after });
        }
        for (name, before) in std::mem::take(&mut self.variables) {
            let after = variable(&name, python);
            events.push(External::Environment {
                name,
                before,
                after,
            });
        }
        let is_nested = false;
        call.events.extend(events.into_iter().map(|external| Event {
            at,
            is_nested,
            external,
        }));
    }
}

fn text(object: &Bound<'_, PyAny>) -> Option<String> {
    Some(
        object
            .cast::<PyString>()
            .ok()?
            .to_string_lossy()
            .into_owned(),
    )
}

/// The path that an argument names, if it is a text or a path of the standard library.
fn path(argument: &Bound<'_, PyAny>) -> Option<String> {
    if let Some(text) = text(argument) {
        return Some(text);
    }
    let module = names::class_reference(&argument.get_type()).module;
    let is_path = module == "pathlib" || module == "pathlib._local";
    is_path.then(|| Some(argument.str().ok()?.to_string_lossy().into_owned()))?
}

/// Where nothing belongs to the program.
fn is_of_system(path: &str) -> bool {
    ["/proc/", "/sys/", "/dev/"]
        .iter()
        .any(|folder| path.starts_with(folder))
}

fn current_folder() -> Option<String> {
    let folder = std::env::current_dir().ok()?;
    Some(folder.to_string_lossy().into_owned())
}

fn state(path: &Path) -> FileState {
    let Ok(about) = fs::symlink_metadata(path) else {
        return FileState::Absent;
    };
    if about.is_symlink() {
        let target = fs::read_link(path);
        return target.map_or(FileState::Other, |target| {
            FileState::Link(target.to_string_lossy().into_owned())
        });
    }
    if about.is_dir() {
        let Ok(entries) = fs::read_dir(path) else {
            return FileState::Other;
        };
        let mut names: Vec<String> = entries
            .flatten()
            .map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    name + "/"
                } else {
                    name
                }
            })
            .take(MOST_ENTRIES)
            .collect();
        names.sort();
        return FileState::Folder(names);
    }
    if !about.is_file() {
        return FileState::Other;
    }
    if about.len() > LARGEST {
        return FileState::LargeFile(about.len());
    }
    match fs::read(path) {
        Ok(content) => FileState::File(match String::from_utf8(content) {
            Ok(text) => secrets::masked(&text).into_owned().into_bytes(),
            Err(error) => error.into_bytes(),
        }),
        Err(_) => FileState::Other,
    }
}

/// A variable as the program sees it: `os.environ` may differ from what the process has.
fn variable(name: &str, python: Python<'_>) -> Option<String> {
    let environment = python
        .import("os")
        .and_then(|os| os.getattr("environ"))
        .ok()?;
    let data = environment.getattr("_data").ok()?;
    let data = data.cast::<pyo3::types::PyDict>().ok()?;
    let key = pyo3::types::PyBytes::new(python, name.as_bytes());
    let value = match data.get_item(&key).ok()? {
        Some(value) => value,
        // Not bytes on every system.
        None => data.get_item(name).ok()??,
    };
    let value = match value.cast::<pyo3::types::PyBytes>() {
        Ok(bytes) => String::from_utf8_lossy(bytes.as_bytes()).into_owned(),
        Err(_) => text(&value)?,
    };
    Some(if secrets::is_secret(name) {
        MASKED.to_owned()
    } else {
        secrets::masked(&value).into_owned()
    })
}
