//! Where a module is, for Python and for people.

use std::path::{Component, Path, PathBuf};

use testwright_core::Error;
use testwright_readable::property::Property;
use testwright_readable::sample::{Argument, Case};
use testwright_readable::steps::Home;

/// How Python imports a module.
pub(super) struct ModulePlace {
    /// Its file.
    pub(super) file: PathBuf,
    /// The folder that Python has to look in: above all packages that the file is in.
    pub(super) folder: PathBuf,
    /// The name with dots.
    pub(super) name: String,
    /// What is below this folder is under test: the current one, if the module is there.
    pub(super) root: PathBuf,
}

impl ModulePlace {
    pub(super) fn of(path: &Path) -> Result<ModulePlace, Error> {
        let file = path
            .canonicalize()
            .map_err(|error| Error::new(format!("cannot find `{}`: {error}", path.display())))?;
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
        // As pytest does: a folder with an `__init__.py` is a package, and the search begins above it.
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
        Ok(ModulePlace {
            root: root.unwrap_or_else(|| folder.clone()),
            file,
            folder,
            name: names.join("."),
        })
    }

    /// The file as its probes name it.
    pub(super) fn probed_name(&self) -> String {
        let below = self.file.strip_prefix(&self.root).unwrap_or(&self.file);
        below.display().to_string()
    }

    /// The same for step files in a folder.
    pub(super) fn home(&self, features: &Path, store: &'static str) -> Home {
        let features = features
            .canonicalize()
            .unwrap_or_else(|_| features.to_owned());
        Home {
            feature: String::new(),
            module: self.name.clone(),
            folder: way(&features, &self.folder),
            store,
        }
    }
}

/// The folder of a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("."),
    }
}

/// How to get from one folder to another, with `/`; empty if they are the same.
fn way(from: &Path, to: &Path) -> String {
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

/// A case with a value for each input, in their order.
pub(super) fn fitting(property: &Property, arguments: Vec<Argument>) -> Result<Case, Error> {
    let names: Vec<&str> = property
        .inputs
        .iter()
        .map(|input| input.name.as_str())
        .collect();
    let complain = |what: String| {
        Err(Error::new(what).with_help(format!(
            "the inputs of `{}` are {}",
            property.path(),
            names.join(", ")
        )))
    };
    if let Some(other) = arguments
        .iter()
        .find(|argument| !names.contains(&argument.name.as_str()))
    {
        return complain(format!(
            "`{}` has no input `{}`",
            property.path(),
            other.name
        ));
    }
    let mut fitting = Vec::new();
    for name in &names {
        match arguments.iter().find(|argument| argument.name == *name) {
            Some(argument) => fitting.push(argument.clone()),
            None => return complain(format!("there is no value for `{name}`")),
        }
    }
    Ok(Case::of(fitting))
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
            assert_eq!(way(Path::new(from), Path::new(to)), expected);
        }
    }

    #[test]
    fn packages_are_part_of_the_name() {
        let top = tempfile::tempdir().unwrap();
        let package = top.path().join("tests");
        std::fs::create_dir(&package).unwrap();
        std::fs::write(package.join("__init__.py"), "").unwrap();
        std::fs::write(package.join("test_a.py"), "").unwrap();
        let place = ModulePlace::of(&package.join("test_a.py")).unwrap();
        assert_eq!(place.name, "tests.test_a");
        assert_eq!(place.folder, top.path().canonicalize().unwrap());
        assert_eq!(place.probed_name(), "tests/test_a.py");
        std::fs::write(top.path().join("a-b.py"), "").unwrap();
        assert!(ModulePlace::of(&top.path().join("a-b.py")).is_err());
    }
}
