//! What a project consists of, read from its files alone: nothing is imported and nothing is run.
//!
//! [`Project::read`] finds the modules of a folder, and [`Module`] says what each of them defines. A running program's code
//! objects are matched to definitions by file, first line and qualified name ([`Project::definition`]), because that is what
//! CPython tells of them in every version.
//!
//! One bad file never stops the rest: it is a module with a [`Module::problem`] and without definitions.

mod definition;
mod encoding;
mod files;
mod ignore;
mod module;
mod nature;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(crate) use definition::is_public;
pub use definition::{
    Class, Default, Definition, DefinitionKind, Flow, Function, Nature, Parameter, Role, Signature,
};
pub use encoding::readable;
pub use files::Chosen;
pub use module::{Imported, Module, Trouble};
pub use settings::Settings;

/// The modules of a folder.
#[derive(Debug, Clone)]
pub struct Project {
    /// The folder.
    pub root: PathBuf,
    /// What the project's configuration says about tests.
    pub settings: Settings,
    /// All modules, by path.
    pub modules: Vec<Module>,
    by_path: BTreeMap<PathBuf, usize>,
}

impl Project {
    /// Reads all Python files below `root` that `chosen` does not leave out.
    #[must_use]
    pub fn read(root: &Path, chosen: &Chosen) -> Project {
        Project::of_files(root, &files::python_files(root, chosen))
    }

    /// Reads a module or package of its own in a folder that may have many others, such as that of installed ones.
    #[must_use]
    pub fn of_package(root: &Path, name: &str) -> Option<Project> {
        let file = PathBuf::from(format!("{name}.py"));
        let folder = Path::new(name);
        let paths = if root.join(folder).is_dir() {
            let inside = files::python_files(&root.join(folder), &Chosen::default());
            inside.iter().map(|path| folder.join(path)).collect()
        } else if root.join(&file).is_file() {
            vec![file]
        } else {
            Vec::new()
        };
        (!paths.is_empty()).then(|| Project::of_files(root, &paths))
    }

    /// Reads these files only, given relative to `root`.
    fn of_files(root: &Path, paths: &[PathBuf]) -> Project {
        let settings = Settings::read(root);
        let mut modules: Vec<Module> = paths
            .iter()
            .map(|path| Module::read(root, path, &settings))
            .collect();
        mark_heirs_of_test_classes(&mut modules);
        let by_path = modules
            .iter()
            .enumerate()
            .map(|(index, module)| (module.path.clone(), index))
            .collect();
        Project {
            root: root.to_owned(),
            settings,
            modules,
            by_path,
        }
    }

    /// Adds the packages of modules that are not below the project's folder, each told by its name and its file. What tests
    /// they bring along is not the project's.
    pub fn add_elsewhere<'a>(&mut self, modules: impl IntoIterator<Item = (&'a str, &'a Path)>) {
        let mut seen = BTreeSet::new();
        for (name, file) in modules {
            let is_known = self.module_at(file).is_some() || !file.is_absolute();
            let above = files::above_package(name, file).filter(|_| !is_known);
            let Some(above) = above.filter(|_| file.is_file()) else {
                continue;
            };
            let first = name.split('.').next().unwrap_or(name);
            if !seen.insert((above.clone(), first.to_owned())) {
                continue;
            }
            for path in files::files_of_package(&above, first) {
                let mut module = Module::read(&above, &path, &self.settings);
                if !module.is_test {
                    module.path = above.join(path);
                    self.by_path.insert(module.path.clone(), self.modules.len());
                    self.modules.push(module);
                }
            }
        }
    }

    /// Adds a module of another project, if there is one in this file. It is found by the path that it has there.
    pub fn add_from(&mut self, other: &Project, file: &Path) {
        let Some(module) = other.module_at(file) else {
            return;
        };
        let path = other.root.join(&module.path);
        for path in [module.path.clone(), path.clone()] {
            self.by_path.entry(path).or_insert(self.modules.len());
        }
        self.modules.push(Module {
            path,
            ..module.clone()
        });
    }

    /// The module in the file at `path`, which may be absolute or relative to the project's folder.
    #[must_use]
    pub fn module_at(&self, path: &Path) -> Option<&Module> {
        let relative = path.strip_prefix(&self.root).unwrap_or(path);
        // `./app.py` is `app.py`.
        let relative: PathBuf = relative
            .components()
            .filter(|part| !matches!(part, std::path::Component::CurDir))
            .collect();
        let index = *self.by_path.get(&relative)?;
        self.modules.get(index)
    }

    /// The module that is imported by this dotted name.
    #[must_use]
    pub fn module_named(&self, name: &str) -> Option<&Module> {
        self.modules.iter().find(|module| module.name == name)
    }

    /// The definition that a code object comes from.
    #[must_use]
    pub fn definition(
        &self,
        path: &Path,
        first_line: u32,
        qualified_name: &str,
    ) -> Option<(&Module, &Definition)> {
        let module = self.module_at(path)?;
        Some((module, module.definition_at(first_line, qualified_name)?))
    }
}

/// A class whose base is a test class of the project is one itself, however it is called.
fn mark_heirs_of_test_classes(modules: &mut [Module]) {
    loop {
        let known: Vec<String> = modules
            .iter()
            .flat_map(|module| &module.definitions)
            .filter(|definition| definition.is_test)
            .filter(|definition| matches!(definition.kind, DefinitionKind::Class(_)))
            .map(|definition| definition.name.clone())
            .collect();
        let mut changed = false;
        for definition in modules
            .iter_mut()
            .flat_map(|module| &mut module.definitions)
        {
            let DefinitionKind::Class(class) = &definition.kind else {
                continue;
            };
            let inherits = class.bases.iter().any(|base| {
                let last = base.rsplit('.').next().unwrap_or(base);
                known.iter().any(|name| name == last)
            });
            if inherits && !definition.is_test {
                definition.is_test = true;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Project) {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            fs::write(path, text).expect("a file");
        }
        let project = Project::read(folder.path(), &Chosen::default());
        (folder, project)
    }

    fn names(project: &Project) -> Vec<&str> {
        project
            .modules
            .iter()
            .map(|module| module.name.as_str())
            .collect()
    }

    #[test]
    fn modules_are_named_as_an_importer_would_name_them() {
        let (_folder, project) = project(&[
            ("src/shop/__init__.py", ""),
            ("src/shop/cart.py", ""),
            ("src/spaces/deep/leaf.py", ""),
            ("tool.py", ""),
            ("lib/plain.py", ""),
        ]);
        assert_eq!(
            names(&project),
            ["lib.plain", "shop", "shop.cart", "spaces.deep.leaf", "tool"]
        );
    }

    #[test]
    fn what_is_ignored_or_installed_is_no_part_of_the_project() {
        let (_folder, project) = project(&[
            (
                ".gitignore",
                "/made/\n*.gen.py\n!keep.gen.py\nsub/**/deep.py\n",
            ),
            ("made/a.py", ""),
            ("other/made/b.py", ""),
            ("x.gen.py", ""),
            ("keep.gen.py", ""),
            ("sub/one/two/deep.py", ""),
            ("env/pyvenv.cfg", ""),
            ("env/lib/c.py", ""),
            (".hidden/d.py", ""),
            ("build/lib/e.py", ""),
            ("pkg/.gitignore", "local.py\n"),
            ("pkg/local.py", ""),
            ("pkg/kept.py", ""),
        ]);
        assert_eq!(names(&project), ["keep.gen", "other.made.b", "pkg.kept"]);
    }

    #[test]
    fn packages_elsewhere_are_read_without_their_tests() {
        let (_folder, mut project) = project(&[("app.py", "")]);
        let (elsewhere, _) = self::project(&[
            ("shop/__init__.py", ""),
            ("shop/cart.py", "def total(): pass\n"),
            ("shop/test_cart.py", ""),
            ("single.py", ""),
            ("other.py", ""),
        ]);
        let file = |name: &str| elsewhere.path().join(name);
        let (cart, package, single) = (
            file("shop/cart.py"),
            file("shop/__init__.py"),
            file("single.py"),
        );
        project.add_elsewhere([
            ("shop.cart", cart.as_path()),
            ("shop", package.as_path()),
            ("single", single.as_path()),
            ("app", Path::new("app.py")),
            ("built.in", Path::new("<frozen>")),
        ]);
        assert_eq!(names(&project), ["app", "shop", "shop.cart", "single"]);
        let found = project.definition(&cart, 1, "total");
        assert_eq!(
            found.map(|(module, _)| module.name.as_str()),
            Some("shop.cart")
        );
    }

    #[test]
    fn one_bad_file_does_not_stop_the_rest() {
        let (_folder, project) = project(&[
            ("bad.py", "x = 1\ndef f(:\n"),
            ("good.py", "def g(): pass\n"),
        ]);
        let bad = project.module_named("bad").expect("it is there");
        let problem = bad.problem.as_ref().expect("a problem");
        assert_eq!(problem.line, 2);
        assert!(bad.definitions.is_empty());
        let good = project.module_named("good").expect("it is there");
        assert_eq!(good.definitions.len(), 1);
    }

    #[test]
    fn a_code_object_is_found_by_file_line_and_name() {
        let text = "import functools\n\n@functools.cache\n@other\ndef f(x):\n    def g(): pass\n    return g\n\nclass A:\n    class B:\n        def m(self): pass\n";
        let (_folder, project) = project(&[("app.py", text)]);
        let find = |line, name| {
            project
                .definition(Path::new("app.py"), line, name)
                .map(|(_, definition)| definition.name.as_str())
        };
        assert_eq!(find(3, "f"), Some("f"));
        assert_eq!(find(6, "f.<locals>.g"), Some("g"));
        assert_eq!(find(11, "A.B.m"), Some("m"));
        assert_eq!(find(5, "f"), None);
    }

    #[test]
    fn heirs_of_test_classes_are_tests() {
        let (_folder, project) = project(&[
            (
                "base.py",
                "import unittest\nclass Base(unittest.TestCase): pass\n",
            ),
            (
                "app.py",
                "from base import Base\nclass Shop(Base): pass\nclass Other: pass\n",
            ),
        ]);
        let app = project.module_named("app").expect("it is there");
        let tests: Vec<bool> = app.definitions.iter().map(|found| found.is_test).collect();
        assert_eq!(tests, [true, false]);
    }
}
