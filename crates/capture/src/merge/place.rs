//! Which file the tests of a module belong to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::inspect::{Module, Project};

/// Where tests go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, relative to the project's folder.
    pub path: PathBuf,
    /// Whether it is there already.
    pub exists: bool,
}

/// The file for the tests of the module of this name: the one that it has by name or by what it imports, else a new one in the
/// project's test folder. With `folder`, only that folder counts.
#[must_use]
pub fn place(project: &Project, module: &str, folder: Option<&Path>) -> Place {
    let in_folder =
        |candidate: &&Module| folder.is_none_or(|folder| candidate.path.parent() == Some(folder));
    let tests: Vec<&Module> = project
        .modules
        .iter()
        .filter(|candidate| candidate.is_test && candidate.name != "conftest")
        .filter(in_folder)
        .collect();
    for name in names(module) {
        let found = tests.iter().find(|test| {
            let stem = test.path.file_stem().and_then(|stem| stem.to_str());
            stem.is_some_and(|stem| stem.eq_ignore_ascii_case(&name.stem))
                && (name.is_full || imports(test, module))
        });
        if let Some(found) = found {
            return Place {
                path: found.path.clone(),
                exists: true,
            };
        }
    }
    let folder = folder.map_or_else(|| usual_folder(project), Path::to_path_buf);
    let path = folder.join(format!("test_{}.py", module.replace('.', "_")));
    let exists = project.root.join(&path).exists();
    Place { path, exists }
}

struct Name {
    stem: String,
    /// Whether it has the whole dotted name, so that no other module can be meant.
    is_full: bool,
}

/// The ways in which people name the test file of a module, the most telling first.
fn names(module: &str) -> Vec<Name> {
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
            names.push(Name { stem, is_full });
        }
    }
    names
}

fn imports(test: &Module, module: &str) -> bool {
    test.imports.iter().any(|import| {
        import.module == module
            || import
                .name
                .as_ref()
                .is_some_and(|name| format!("{}.{name}", import.module) == module)
    })
}

/// pytest's own folder, or the one with the most test files, or `tests`.
fn usual_folder(project: &Project) -> PathBuf {
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
    let most = counts
        .into_iter()
        .max_by(|left, right| (left.1, right.0).cmp(&(right.1, left.0)));
    match most {
        Some((folder, _)) => folder.to_owned(),
        None if project.root.join("test").is_dir() => PathBuf::from("test"),
        None => PathBuf::from("tests"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::inspect::Chosen;

    fn placed(files: &[(&str, &str)], module: &str) -> (PathBuf, bool) {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            fs::write(path, text).expect("a file");
        }
        let project = Project::read(folder.path(), &Chosen::default());
        let place = place(&project, module, None);
        (place.path, place.exists)
    }

    #[test]
    fn a_module_keeps_its_test_file() {
        let files = [("checks/cart_test.py", "from shop import cart\n")];
        assert_eq!(
            placed(&files, "shop.cart"),
            (PathBuf::from("checks/cart_test.py"), true)
        );
        // The last word alone may mean another module.
        assert_eq!(
            placed(&files, "zoo.cart"),
            (PathBuf::from("checks/test_zoo_cart.py"), false)
        );
    }

    #[test]
    fn a_new_file_goes_where_tests_are() {
        assert_eq!(
            placed(&[("shop.py", "")], "shop"),
            (PathBuf::from("tests/test_shop.py"), false)
        );
        let configured = [
            ("pytest.ini", "[pytest]\ntestpaths = none checks\n"),
            ("checks/x.py", ""),
        ];
        assert_eq!(
            placed(&configured, "shop"),
            (PathBuf::from("checks/test_shop.py"), false)
        );
    }
}
