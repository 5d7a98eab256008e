//! The location of a Python module: its file, its dotted name and its import path.

use std::path::{Component, Path, PathBuf};

use testwright_core::{Error, describe_os_error};
use testwright_readable::property::PropertyFunction;
use testwright_readable::sample::{SampleArgument, SampleCase};
use testwright_readable::steps::StepModule;

/// File and import path of a module.
pub(super) struct ModuleLocation {
    /// Path of its file.
    pub(super) file: PathBuf,
    /// Folder to add to the import path: the one above all packages that contain the file.
    pub(super) folder: PathBuf,
    /// Dotted name.
    pub(super) name: String,
    /// Folder of the code under test: the current folder if it contains the module, else `folder`.
    pub(super) root: PathBuf,
}

impl ModuleLocation {
    /// Locates a module by the path of its file.
    pub(super) fn locate(path: &Path) -> Result<ModuleLocation, Error> {
        let file = path.canonicalize().map_err(|error| {
            Error::new(format!(
                "cannot find `{}`: {}",
                path.display(),
                describe_os_error(&error)
            ))
        })?;
        let stem = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let is_name = |name: &str| {
            let mut letters = name.chars();
            letters
                .next()
                .is_some_and(|first| first.is_alphabetic() || first == '_')
                && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
        };
        if file.extension().is_none_or(|ending| ending != "py") || !is_name(&stem) {
            return Err(
                Error::new(format!("Python cannot import `{}`", path.display()))
                    .with_help("the file needs a name like `test_lists.py`"),
            );
        }
        let mut names = vec![stem];
        let mut folder = folder_of(&file).to_owned();
        // As in pytest, a folder with an `__init__.py` is a package, and the import path begins
        // above it.
        while folder.join("__init__.py").is_file() {
            let name = folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            names.insert(0, name);
            if !folder.pop() {
                break;
            }
        }
        let here = std::env::current_dir().and_then(|here| here.canonicalize());
        let root = here.ok().filter(|here| file.starts_with(here));
        Ok(ModuleLocation {
            root: root.unwrap_or_else(|| folder.clone()),
            file,
            folder,
            name: names.join("."),
        })
    }

    /// Returns the name of the file in coverage probes.
    pub(super) fn probed_name(&self) -> String {
        let below = self.file.strip_prefix(&self.root).unwrap_or(&self.file);
        below.display().to_string()
    }

    /// Returns the import settings for step files in the folder `features`.
    pub(super) fn step_module(&self, features: &Path, store: &'static str) -> StepModule {
        let features = features
            .canonicalize()
            .unwrap_or_else(|_| features.to_owned());
        StepModule {
            feature: String::new(),
            module: self.name.clone(),
            folder: relative_path(&features, &self.folder),
            store,
        }
    }
}

/// Returns the folder of a file; `.` for a bare name.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("."),
    }
}

/// Returns the relative path from one folder to another, with `/`; empty if they are the same.
fn relative_path(from: &Path, to: &Path) -> String {
    let from: Vec<Component<'_>> = from.components().collect();
    let to: Vec<Component<'_>> = to.components().collect();
    let shared = from
        .iter()
        .zip(&to)
        .take_while(|(one, other)| one == other)
        .count();
    let up = from.iter().skip(shared).map(|_| "..".to_owned());
    let down = to
        .iter()
        .skip(shared)
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// Builds a case with a value for each input of the property, in the order of the inputs.
pub(super) fn match_arguments(
    property: &PropertyFunction,
    arguments: Vec<SampleArgument>,
) -> Result<SampleCase, Error> {
    let names: Vec<&str> = property
        .inputs
        .iter()
        .map(|input| input.name.as_str())
        .collect();
    let fail = |message: String| {
        Err(Error::new(message).with_help(format!(
            "the inputs of `{}` are {}",
            property.path(),
            names.join(", ")
        )))
    };
    if let Some(other) = arguments
        .iter()
        .find(|argument| !names.contains(&argument.name.as_str()))
    {
        return fail(format!(
            "`{}` has no input `{}`",
            property.path(),
            other.name
        ));
    }
    let mut matched = Vec::new();
    for name in &names {
        match arguments.iter().find(|argument| argument.name == *name) {
            Some(argument) => matched.push(argument.clone()),
            None => return fail(format!("there is no value for `{name}`")),
        }
    }
    Ok(SampleCase::of(matched))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_between_folders() {
        for (from, to, expected) in [
            ("/a/b", "/a/b", ""),
            ("/a/b", "/a", ".."),
            ("/a", "/a/b/c", "b/c"),
            ("/a/b/c", "/a/d", "../../d"),
        ] {
            assert_eq!(relative_path(Path::new(from), Path::new(to)), expected);
        }
    }

    #[test]
    fn packages_are_part_of_the_name() {
        let top = tempfile::tempdir().unwrap();
        let package = top.path().join("tests");
        std::fs::create_dir(&package).unwrap();
        std::fs::write(package.join("__init__.py"), "").unwrap();
        std::fs::write(package.join("test_a.py"), "").unwrap();
        let location = ModuleLocation::locate(&package.join("test_a.py")).unwrap();
        assert_eq!(location.name, "tests.test_a");
        assert_eq!(location.folder, top.path().canonicalize().unwrap());
        assert_eq!(location.probed_name(), "tests/test_a.py");
        std::fs::write(top.path().join("a-b.py"), "").unwrap();
        assert!(ModuleLocation::locate(&top.path().join("a-b.py")).is_err());
    }
}
