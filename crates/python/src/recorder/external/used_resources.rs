//! Files, environment variables and the current folder that a call uses: their states before the
//! first use and at the end.

use std::fs;
use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use testwright_capture::{Call, ExternalEvent, FileState, Interaction, MASKED};

use super::super::names;
use super::secrets;

/// The maximum size of files whose content is kept.
const MAX_FILE_SIZE: u64 = 1 << 20;
/// The maximum number of files, and of variables, per call.
const MAX_RESOURCES: usize = 100;
/// The maximum number of entries listed of a folder.
const MAX_FOLDER_ENTRIES: usize = 1_000;

/// The resources that a call has used so far.
#[derive(Default)]
pub(in crate::recorder) struct UsedResources {
    /// Path, state before the first use, and permissions.
    files: Vec<(String, FileState, Option<u32>)>,
    /// Name, and value before the first use.
    variables: Vec<(String, Option<String>)>,
    /// The current folder when it was first queried or changed.
    working_folder: Option<String>,
    /// Temporary files and folders that the program created.
    temporary: Vec<String>,
}

impl UsedResources {
    /// Records the files named by the first `count` arguments.
    pub(super) fn record_files(&mut self, count: usize, arguments: &Bound<'_, PyTuple>) {
        for argument in arguments.iter().take(count) {
            let Some(path) = argument_path(&argument) else {
                continue;
            };
            let path = self.path_from_start(path);
            let is_known = self.files.iter().any(|(known, ..)| *known == path);
            let is_temporary = self
                .temporary
                .iter()
                .any(|created| path.starts_with(created));
            if !is_known
                && !is_temporary
                && self.files.len() < MAX_RESOURCES
                && !is_system_path(&path)
            {
                let state = self.file_state(&path);
                let permissions = self.permissions(&path);
                self.files.push((path, state, permissions));
            }
        }
    }

    /// Records the current folder.
    pub(super) fn record_working_folder(&mut self) {
        if self.working_folder.is_none() {
            self.working_folder = current_folder();
        }
    }

    /// Ignores a temporary file or folder that the program has just created.
    pub(super) fn ignore_temporary(&mut self, created: &Bound<'_, PyAny>) {
        let inner = match created.cast::<PyTuple>() {
            Ok(both) => both.get_item(1).ok(),
            Err(_) => None,
        };
        let name = match inner.or_else(|| created.getattr("name").ok()) {
            Some(name) => string_text(&name),
            None => string_text(created),
        };
        // The folder of all temporary files is shared with other programs.
        let is_common = |name: &String| Path::new(name) == std::env::temp_dir();
        self.temporary.extend(name.filter(|name| !is_common(name)));
    }

    /// Returns a path relative to the current folder at the start of the call.
    fn path_from_start(&self, path: String) -> String {
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

    /// Returns the full path of a recorded file, whatever the current folder is by now.
    fn resolve(&self, path: &str) -> std::path::PathBuf {
        match &self.working_folder {
            Some(start) => Path::new(start).join(path),
            None => path.into(),
        }
    }

    /// Reads the state of a recorded file.
    fn file_state(&self, path: &str) -> FileState {
        read_file_state(&self.resolve(path))
    }

    /// Reads the permission bits of a recorded file.
    fn permissions(&self, path: &str) -> Option<u32> {
        use std::os::unix::fs::PermissionsExt;
        let metadata = fs::symlink_metadata(self.resolve(path)).ok()?;
        metadata
            .is_file()
            .then(|| metadata.permissions().mode() & 0o777)
    }

    /// Records the environment variable that is queried or changed. Its name is the second
    /// argument, after the environment.
    pub(super) fn record_variable(&mut self, arguments: &Bound<'_, PyTuple>) {
        let Some(name) = arguments
            .get_item(1)
            .ok()
            .and_then(|name| string_text(&name))
        else {
            return;
        };
        let is_known = self.variables.iter().any(|(known, _)| *known == name);
        if !is_known && self.variables.len() < MAX_RESOURCES {
            let value = read_variable(&name, arguments.py());
            self.variables.push((name, value));
        }
    }

    /// Adds the resources to the call, with their states at the end.
    pub(in crate::recorder) fn finish(&mut self, call: &mut Call, python: Python<'_>) {
        let at = call.end.unwrap_or(call.id.0);
        let mut events = Vec::new();
        for (path, before, permissions) in std::mem::take(&mut self.files) {
            let after = self.file_state(&path);
            let now = self.permissions(&path);
            let changed = now.filter(|now| permissions.is_some_and(|before| before != *now));
            let permissions = changed.map(|after| Interaction::Permissions {
                path: path.clone(),
                after,
            });
            events.push(Interaction::File {
                path,
                before,
                after,
            });
            events.extend(permissions);
        }
        if let Some(before) = self.working_folder.take() {
            let after = current_folder().unwrap_or_else(|| before.clone());
            events.push(Interaction::WorkingFolder { before, after });
        }
        for (name, before) in std::mem::take(&mut self.variables) {
            let after = read_variable(&name, python);
            events.push(Interaction::Environment {
                name,
                before,
                after,
            });
        }
        let is_nested = false;
        call.events
            .extend(events.into_iter().map(|external| ExternalEvent {
                at,
                is_nested,
                external,
            }));
    }
}

/// Returns the text of a string object.
fn string_text(object: &Bound<'_, PyAny>) -> Option<String> {
    Some(
        object
            .cast::<PyString>()
            .ok()?
            .to_string_lossy()
            .into_owned(),
    )
}

/// Returns the path in an argument, if that is a string or a path of the standard library.
fn argument_path(argument: &Bound<'_, PyAny>) -> Option<String> {
    if let Some(text) = string_text(argument) {
        return Some(text);
    }
    let module = names::class_reference(&argument.get_type()).module;
    let is_path = module == "pathlib" || module == "pathlib._local";
    is_path.then(|| Some(argument.str().ok()?.to_string_lossy().into_owned()))?
}

/// Returns true for paths into pseudo file systems, which do not belong to the program.
fn is_system_path(path: &str) -> bool {
    ["/proc/", "/sys/", "/dev/"]
        .iter()
        .any(|folder| path.starts_with(folder))
}

/// Returns the current folder of the process.
fn current_folder() -> Option<String> {
    let folder = std::env::current_dir().ok()?;
    Some(folder.to_string_lossy().into_owned())
}

/// Reads the state of a file: its kind, and its content or entries within the limits.
fn read_file_state(path: &Path) -> FileState {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return FileState::Absent;
    };
    if metadata.is_symlink() {
        let target = fs::read_link(path);
        return target.map_or(FileState::Other, |target| {
            FileState::Link(target.to_string_lossy().into_owned())
        });
    }
    if metadata.is_dir() {
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
            .take(MAX_FOLDER_ENTRIES)
            .collect();
        names.sort();
        return FileState::Folder(names);
    }
    if !metadata.is_file() {
        return FileState::Other;
    }
    if metadata.len() > MAX_FILE_SIZE {
        return FileState::LargeFile(metadata.len());
    }
    match fs::read(path) {
        Ok(content) => FileState::File(match String::from_utf8(content) {
            Ok(text) => secrets::mask(&text).into_owned().into_bytes(),
            Err(error) => error.into_bytes(),
        }),
        Err(_) => FileState::Other,
    }
}

/// Returns a variable as the program sees it: `os.environ` may differ from the environment of the
/// process.
fn read_variable(name: &str, python: Python<'_>) -> Option<String> {
    let environment = python
        .import("os")
        .and_then(|os| os.getattr("environ"))
        .ok()?;
    let data = environment.getattr("_data").ok()?;
    let data = data.cast::<pyo3::types::PyDict>().ok()?;
    let key = pyo3::types::PyBytes::new(python, name.as_bytes());
    let value = match data.get_item(&key).ok()? {
        Some(value) => value,
        // Keys are not bytes on every system.
        None => data.get_item(name).ok()??,
    };
    let value = match value.cast::<pyo3::types::PyBytes>() {
        Ok(bytes) => String::from_utf8_lossy(bytes.as_bytes()).into_owned(),
        Err(_) => string_text(&value)?,
    };
    Some(if secrets::is_secret(name) {
        MASKED.to_owned()
    } else {
        secrets::mask(&value).into_owned()
    })
}
