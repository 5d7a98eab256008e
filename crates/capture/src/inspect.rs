//! Reads the modules of a project from their source alone: nothing is imported and nothing is run.
//!
//! [`PythonProject::read`] finds the modules of a folder, and [`ProjectModule`] lists the
//! definitions of each. The code objects of a running program are matched to definitions by file,
//! first line and qualified name ([`PythonProject::definition`]), because CPython provides these in
//! every version.
//!
//! A file with errors never stops the rest: it is a module with a [`ProjectModule::problem`] and
//! without definitions.

mod classify;
mod definition;
mod encoding;
mod files;
mod ignore;
mod module;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(crate) use definition::is_public;
pub use definition::{
    ClassDefinition, ClassKind, CodeDefinition, DefaultValue, DefinitionKind, ExecutionKind,
    FunctionDefinition, FunctionRole, FunctionSignature, SignatureParameter,
};
pub use encoding::decode_source;
pub use files::FileFilter;
pub use module::{ImportedName, ModuleProblem, ProjectModule};
pub use settings::PytestSettings;

/// The modules of a folder.
#[derive(Debug, Clone)]
pub struct PythonProject {
    /// The folder.
    pub root: PathBuf,
    /// The pytest settings of the project.
    pub settings: PytestSettings,
    /// All modules, sorted by path.
    pub modules: Vec<ProjectModule>,
    /// The indices of the modules, by path.
    by_path: BTreeMap<PathBuf, usize>,
}

impl PythonProject {
    /// Reads all Python files below `root` that pass the filter.
    #[must_use]
    pub fn read(root: &Path, chosen: &FileFilter) -> PythonProject {
        PythonProject::read_files(root, &files::python_files(root, chosen))
    }

    /// Reads a single module or package in a folder that may contain many others, such as that of
    /// installed packages.
    #[must_use]
    pub fn read_package(root: &Path, name: &str) -> Option<PythonProject> {
        let file = PathBuf::from(format!("{name}.py"));
        let folder = Path::new(name);
        let paths = if root.join(folder).is_dir() {
            let inside = files::python_files(&root.join(folder), &FileFilter::default());
            inside.iter().map(|path| folder.join(path)).collect()
        } else if root.join(&file).is_file() {
            vec![file]
        } else {
            Vec::new()
        };
        (!paths.is_empty()).then(|| PythonProject::read_files(root, &paths))
    }

    /// Reads these files, given relative to `root`.
    fn read_files(root: &Path, paths: &[PathBuf]) -> PythonProject {
        let settings = PytestSettings::read(root);
        let mut modules: Vec<ProjectModule> = paths
            .iter()
            .map(|path| ProjectModule::read(root, path, &settings))
            .collect();
        mark_derived_test_classes(&mut modules);
        let by_path = modules
            .iter()
            .enumerate()
            .map(|(index, module)| (module.path.clone(), index))
            .collect();
        PythonProject {
            root: root.to_owned(),
            settings,
            modules,
            by_path,
        }
    }

    /// Adds the packages of modules outside of the project's folder, each given by its name and
    /// file. Their tests are left out.
    pub fn add_external_packages<'a>(
        &mut self,
        modules: impl IntoIterator<Item = (&'a str, &'a Path)>,
    ) {
        let mut seen = BTreeSet::new();
        for (name, file) in modules {
            let is_known = self.module_at(file).is_some() || !file.is_absolute();
            let above = files::package_parent(name, file).filter(|_| !is_known);
            let Some(above) = above.filter(|_| file.is_file()) else {
                continue;
            };
            let first = name.split('.').next().unwrap_or(name);
            if !seen.insert((above.clone(), first.to_owned())) {
                continue;
            }
            for path in files::files_of_package(&above, first) {
                let mut module = ProjectModule::read(&above, &path, &self.settings);
                if !module.is_test {
                    module.path = above.join(path);
                    self.by_path.insert(module.path.clone(), self.modules.len());
                    self.modules.push(module);
                }
            }
        }
    }

    /// Adds a module of another project, if it has one in this file.
    pub fn add_module_from(&mut self, other: &PythonProject, file: &Path) {
        let Some(module) = other.module_at(file) else {
            return;
        };
        let path = other.root.join(&module.path);
        for path in [module.path.clone(), path.clone()] {
            self.by_path.entry(path).or_insert(self.modules.len());
        }
        self.modules.push(ProjectModule {
            path,
            ..module.clone()
        });
    }

    /// Returns the module in a file, given absolute or relative to the project's folder.
    #[must_use]
    pub fn module_at(&self, path: &Path) -> Option<&ProjectModule> {
        let relative = path.strip_prefix(&self.root).unwrap_or(path);
        // `./app.py` is `app.py`.
        let relative: PathBuf = relative
            .components()
            .filter(|part| !matches!(part, std::path::Component::CurDir))
            .collect();
        let index = *self.by_path.get(&relative)?;
        self.modules.get(index)
    }

    /// Returns the module with a dotted name.
    #[must_use]
    pub fn module_named(&self, name: &str) -> Option<&ProjectModule> {
        self.modules.iter().find(|module| module.name == name)
    }

    /// Returns the definition that a code object comes from.
    #[must_use]
    pub fn definition(
        &self,
        path: &Path,
        first_line: u32,
        qualified_name: &str,
    ) -> Option<(&ProjectModule, &CodeDefinition)> {
        let module = self.module_at(path)?;
        Some((module, module.definition_at(first_line, qualified_name)?))
    }
}

/// Marks classes derived from test classes of the project as tests, whatever their names are.
fn mark_derived_test_classes(modules: &mut [ProjectModule]) {
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

    fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, PythonProject) {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            fs::write(path, text).expect("a file");
        }
        let project = PythonProject::read(folder.path(), &FileFilter::default());
        (folder, project)
    }

    fn names(project: &PythonProject) -> Vec<&str> {
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
    fn ignored_and_installed_files_are_no_part_of_the_project() {
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
        project.add_external_packages([
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
    fn derived_test_classes_are_tests() {
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
