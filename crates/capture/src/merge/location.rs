//! Finds the test file of a module.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::inspect::{ProjectModule, PythonProject};

/// The file for the tests of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestLocation {
    /// The file, relative to the project's folder.
    pub path: PathBuf,
    /// True if it exists.
    pub exists: bool,
}

/// Finds the file for the tests of a module: an existing one, by its name or imports, otherwise a
/// new one in the project's test folder. With `folder`, only files in that folder count.
#[must_use]
pub fn find_test_file(
    project: &PythonProject,
    module: &str,
    folder: Option<&Path>,
) -> TestLocation {
    let in_folder = |candidate: &&ProjectModule| {
        folder.is_none_or(|folder| candidate.path.parent() == Some(folder))
    };
    let tests: Vec<&ProjectModule> = project
        .modules
        .iter()
        .filter(|candidate| candidate.is_test && candidate.name != "conftest")
        .filter(in_folder)
        .collect();
    for name in test_file_names(module) {
        let found = tests.iter().find(|test| {
            let stem = test.path.file_stem().and_then(|stem| stem.to_str());
            stem.is_some_and(|stem| stem.eq_ignore_ascii_case(&name.stem))
                && (name.has_full_name || imports_module(test, module))
        });
        if let Some(found) = found {
            return TestLocation {
                path: found.path.clone(),
                exists: true,
            };
        }
    }
    let folder = folder.map_or_else(|| default_test_folder(project), Path::to_path_buf);
    let path = folder.join(format!("test_{}.py", module.replace('.', "_")));
    let exists = project.root.join(&path).exists();
    TestLocation { path, exists }
}

/// A possible name of a test file.
struct TestFileName {
    /// The name without extension.
    stem: String,
    /// True if it contains the whole dotted name, so that it cannot belong to another module.
    has_full_name: bool,
}

/// Returns the usual names of a module's test file, the most specific first.
fn test_file_names(module: &str) -> Vec<TestFileName> {
    let full = module.replace('.', "_");
    let last = module.rsplit('.').next().unwrap_or(module).to_owned();
    let mut names = Vec::new();
    for (stem, is_full) in [(full, true), (last, false)] {
        let bare = stem.replace('_', "");
        for name in [
            format!("test_{stem}"),
            format!("{stem}_test"),
            format!("tests_{stem}"),
            format!("{stem}_tests"),
            format!("test{bare}"),
            format!("{bare}test"),
        ] {
            let stem = name;
            names.push(TestFileName {
                stem,
                has_full_name: is_full,
            });
        }
    }
    names
}

/// Returns true if a test file imports a module.
fn imports_module(test: &ProjectModule, module: &str) -> bool {
    test.imports.iter().any(|import| {
        import.module == module
            || import
                .name
                .as_ref()
                .is_some_and(|name| format!("{}.{name}", import.module) == module)
    })
}

/// Returns the folder for new test files: pytest's configured one, the one with most test files, or
/// `tests`.
fn default_test_folder(project: &PythonProject) -> PathBuf {
    let configured = project.settings.folders.iter().map(PathBuf::from);
    if let Some(folder) = configured
        .into_iter()
        .find(|folder| project.root.join(folder).is_dir())
    {
        return folder;
    }
    let mut counts: BTreeMap<&Path, usize> = BTreeMap::new();
    for module in project.modules.iter().filter(|module| module.is_test) {
        let folder = module.path.parent().unwrap_or(Path::new(""));
        let is_conftest = module
            .path
            .file_name()
            .is_some_and(|name| name == "conftest.py");
        if !is_conftest {
            *counts.entry(folder).or_default() += 1;
        }
    }
    let largest = counts
        .into_iter()
        .max_by(|left, right| (left.1, right.0).cmp(&(right.1, left.0)));
    match largest {
        Some((folder, _)) => folder.to_owned(),
        None if project.root.join("test").is_dir() => PathBuf::from("test"),
        None => PathBuf::from("tests"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::inspect::FileFilter;

    fn located(files: &[(&str, &str)], module: &str) -> (PathBuf, bool) {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            fs::write(path, text).expect("a file");
        }
        let project = PythonProject::read(folder.path(), &FileFilter::default());
        let place = find_test_file(&project, module, None);
        (place.path, place.exists)
    }

    #[test]
    fn a_module_keeps_its_test_file() {
        let files = [("checks/cart_test.py", "from shop import cart\n")];
        assert_eq!(
            located(&files, "shop.cart"),
            (PathBuf::from("checks/cart_test.py"), true)
        );
        // The last word alone may mean another module.
        assert_eq!(
            located(&files, "zoo.cart"),
            (PathBuf::from("checks/test_zoo_cart.py"), false)
        );
    }

    #[test]
    fn a_new_file_goes_where_tests_are() {
        assert_eq!(
            located(&[("shop.py", "")], "shop"),
            (PathBuf::from("tests/test_shop.py"), false)
        );
        let configured = [
            ("pytest.ini", "[pytest]\ntestpaths = none checks\n"),
            ("checks/x.py", ""),
        ];
        assert_eq!(
            located(&configured, "shop"),
            (PathBuf::from("checks/test_shop.py"), false)
        );
    }
}
