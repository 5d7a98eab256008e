//! Which project the command is about: the folder that has its store.

use std::path::{Component, Path, PathBuf};

use testwright_core::Error;

/// Where the store of a project is, from its folder.
const STORE: &str = ".testwright/store.db";

/// A folder with a store, or where there will be one.
pub(crate) struct Project {
    folder: PathBuf,
    store: PathBuf,
}

impl Project {
    /// The nearest folder at or above the current one that has a store; else the current one.
    pub(crate) fn here() -> Result<Project, Error> {
        let here = std::env::current_dir().map_err(|error| {
            Error::new(format!("the current folder cannot be found: {error}"))
                .with_help("go to a folder that exists")
        })?;
        Ok(Project::at_or_above(&here))
    }

    fn at_or_above(here: &Path) -> Project {
        let with_store = (here.ancestors().enumerate())
            .find(|(_, folder)| folder.join(STORE).is_file())
            .unwrap_or((0, here));
        let (levels, folder) = with_store;
        // As short as a person would write it.
        let up = PathBuf::from_iter(std::iter::repeat_n("..", levels));
        Project {
            folder: folder.to_owned(),
            store: up.join(STORE),
        }
    }

    /// The path of the store, from the current folder.
    pub(crate) fn store(&self) -> &Path {
        &self.store
    }

    /// What a harness is called in the store: its path from the project's folder, the same on every system; the whole
    /// path if it is elsewhere.
    pub(crate) fn name_of(&self, harness: &Path) -> Result<String, Error> {
        let absolute = std::path::absolute(harness)
            .map_err(|error| Error::new(format!("cannot find `{}`: {error}", harness.display())))?;
        Ok(self.name_of_absolute(&absolute))
    }

    fn name_of_absolute(&self, harness: &Path) -> String {
        let path = without_detours(harness);
        match path.strip_prefix(without_detours(&self.folder)) {
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

/// A path without `..`. What is looked for need not exist any more, so the disk is not asked.
fn without_detours(path: &Path) -> PathBuf {
    let mut straight = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                straight.pop();
            }
            Component::CurDir => {}
            other => straight.push(other),
        }
    }
    straight
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
        let project = Project::at_or_above(&deep);
        assert_eq!(project.store(), Path::new(STORE));
        assert_eq!(project.folder, deep);

        fs::create_dir(top.path().join(".testwright")).unwrap();
        fs::write(top.path().join(STORE), "").unwrap();
        let project = Project::at_or_above(&deep);
        assert_eq!(project.store(), Path::new("../../.testwright/store.db"));
        for (harness, name) in [
            ("x.tstl", "x.tstl"),
            ("a/b/x.tstl", "a/b/x.tstl"),
            ("a/b/../../c/./x.tstl", "c/x.tstl"),
        ] {
            assert_eq!(project.name_of_absolute(&top.path().join(harness)), name);
        }
        let elsewhere = std::path::absolute("/elsewhere/x.tstl").unwrap();
        assert_eq!(
            project.name_of_absolute(&elsewhere),
            elsewhere.to_string_lossy()
        );
    }
}
