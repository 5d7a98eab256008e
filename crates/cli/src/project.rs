//! The project of the current folder: the nearest folder with a store.

use std::path::{Component, Path, PathBuf};

use testwright_core::{Error, describe_os_error};

/// The path of a store in the folder of its project.
const STORE: &str = ".testwright/store.db";

/// Returns the path of the current folder, without symbolic links.
pub(crate) fn current_folder() -> Result<PathBuf, Error> {
    let folder = std::env::current_dir().and_then(std::fs::canonicalize);
    folder.map_err(|error| {
        let message = format!(
            "the current folder cannot be found: {}",
            describe_os_error(&error)
        );
        Error::new(message).with_help("go to a folder that exists")
    })
}

/// A folder with a store, or where one will be created.
pub(crate) struct ProjectFolder {
    /// The absolute path of the folder.
    folder: PathBuf,
    /// The path of the store, relative to the current folder.
    store: PathBuf,
}

impl ProjectFolder {
    /// Finds the nearest folder at or above the current one that has a store; otherwise returns the
    /// current one.
    pub(crate) fn find() -> Result<ProjectFolder, Error> {
        let here = current_folder()?;
        Ok(ProjectFolder::at_or_above(&here))
    }

    /// Finds the nearest folder with a store at or above this one.
    fn at_or_above(here: &Path) -> ProjectFolder {
        let with_store = (here.ancestors().enumerate())
            .find(|(_, folder)| folder.join(STORE).is_file())
            .unwrap_or((0, here));
        let (levels, folder) = with_store;
        // Relative, as a person would write it.
        let up = PathBuf::from_iter(std::iter::repeat_n("..", levels));
        ProjectFolder {
            folder: folder.to_owned(),
            store: up.join(STORE),
        }
    }

    /// Returns the path of the store, relative to the current folder.
    pub(crate) fn store(&self) -> &Path {
        &self.store
    }

    /// Returns the name of a harness in the store: its path from the project's folder, with `/` on
    /// every system; the absolute path if it is elsewhere.
    pub(crate) fn harness_name(&self, harness: &Path) -> Result<String, Error> {
        let absolute = std::path::absolute(harness).map_err(|error| {
            Error::new(format!(
                "cannot find `{}`: {}",
                harness.display(),
                describe_os_error(&error)
            ))
        })?;
        Ok(self.absolute_harness_name(&absolute))
    }

    /// Returns the name of a harness with this absolute path.
    fn absolute_harness_name(&self, harness: &Path) -> String {
        let path = normalize(harness);
        match path.strip_prefix(normalize(&self.folder)) {
            Ok(below) => {
                let names = below.components();
                let names: Vec<_> = names
                    .map(|name| name.as_os_str().to_string_lossy())
                    .collect();
                names.join("/")
            }
            Err(_) => path.to_string_lossy().into_owned(),
        }
    }
}

/// Removes `.` and `..` from a path. The file need not exist any more, so the disk is not read.
fn normalize(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normalized.pop();
            }
            Component::CurDir => {}
            other => normalized.push(other),
        }
    }
    normalized
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_nearest_store_above_is_the_one() {
        let top = tempfile::tempdir().unwrap();
        let deep = top.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        let project = ProjectFolder::at_or_above(&deep);
        assert_eq!(project.store(), Path::new(STORE));
        assert_eq!(project.folder, deep);

        fs::create_dir(top.path().join(".testwright")).unwrap();
        fs::write(top.path().join(STORE), "").unwrap();
        let project = ProjectFolder::at_or_above(&deep);
        assert_eq!(project.store(), Path::new("../../.testwright/store.db"));
        for (harness, name) in [
            ("x.tstl", "x.tstl"),
            ("a/b/x.tstl", "a/b/x.tstl"),
            ("a/b/../../c/./x.tstl", "c/x.tstl"),
        ] {
            assert_eq!(
                project.absolute_harness_name(&top.path().join(harness)),
                name
            );
        }
        let elsewhere = std::path::absolute("/elsewhere/x.tstl").unwrap();
        assert_eq!(
            project.absolute_harness_name(&elsewhere),
            elsewhere.to_string_lossy()
        );
    }
}
