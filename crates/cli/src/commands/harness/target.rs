//! The target of a draft: modules by name or path, and recordings.

use std::path::{Path, PathBuf};

use testwright_capture::inspect::{FileFilter, ProjectModule, PythonProject};
use testwright_capture::store::{self, LoadedRecordings};
use testwright_capture::{CodeUnit, Recording};
use testwright_core::{Error, describe_os_error};

use super::super::capture::store_folder;
use crate::console::Console;
use crate::project::current_folder;

/// Modules to draft a harness for, and the recording of their calls.
pub(super) struct DraftTarget {
    /// The project that contains the modules.
    pub(super) project: PythonProject,
    /// Dotted names of the modules.
    pub(super) modules: Vec<String>,
    pub(super) recording: Recording,
}

impl DraftTarget {
    /// Resolves the arguments: names of modules, and paths of recordings.
    pub(super) fn resolve(
        args: &[String],
        console: &mut Console<'_>,
    ) -> Result<DraftTarget, Error> {
        let root = current_folder()?;
        let (recordings, names): (Vec<&String>, Vec<&String>) = args
            .iter()
            .partition(|name_or_path| is_recording(Path::new(name_or_path)));
        let recording = load_recordings(&recordings, console)?;
        let mut project = PythonProject::read(&root, &FileFilter::default());
        let mut modules: Vec<String> = Vec::new();
        for name_or_path in names {
            let (found, name) = match module_name(&project, name_or_path) {
                Some(name) => (None, name),
                None => find_elsewhere(name_or_path, &recording).map(|(found, name)| (Some(found), name)).ok_or_else(|| {
                    let error = Error::new(format!("there is no module `{name_or_path}`, neither here nor where Python looks for modules"));
                    error.with_help("name it as an import does (`shop.cart`), or by its path (`shop/cart.py`)")
                })?,
            };
            if let Some(found) = found {
                if !modules.is_empty() {
                    let error = Error::new(format!(
                        "`{name_or_path}` and `{}` are in different places",
                        modules.join("`, `")
                    ));
                    return Err(error.with_help("draft a harness for each of them"));
                }
                project = add_programs(found, &project, &recording);
            }
            modules.push(name);
        }
        if modules.is_empty() {
            (project, modules) = recorded_modules(project, &recording)?;
        }
        let target = DraftTarget {
            project,
            modules,
            recording,
        };
        target.check_readable()?;
        Ok(target)
    }

    /// Returns the default file for the harness, named after the module or the package.
    pub(super) fn default_file(&self) -> PathBuf {
        let name = self.modules.first().map_or("draft", String::as_str);
        let first = name.split('.').next().unwrap_or(name);
        let last = name.rsplit('.').next().unwrap_or(name);
        // Several modules of a package get the name of the package.
        let name = if self.modules.len() > 1 { first } else { last };
        PathBuf::from(format!("{name}.tstl"))
    }

    /// Fails if a module has syntax errors, since nothing can be drafted from it.
    fn check_readable(&self) -> Result<(), Error> {
        for module in &self.project.modules {
            if let (true, Some(problem)) = (self.modules.contains(&module.name), &module.problem) {
                let position = format!("{}:{}", module.path.display(), problem.line);
                return Err(Error::new(format!("{position}: {}", problem.message))
                    .with_help("a harness needs a module that can be imported"));
            }
        }
        Ok(())
    }
}

/// Returns true if a path is a recording, or a folder with recordings.
fn is_recording(path: &Path) -> bool {
    let has_extension = |path: &Path| {
        path.extension()
            .is_some_and(|ending| ending == store::EXTENSION)
    };
    if has_extension(path) {
        return true;
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .into_iter()
        .any(|entry| has_extension(&entry.path()))
}

/// Loads the given recordings, or those of the current folder.
fn load_recordings(paths: &[&String], console: &mut Console<'_>) -> Result<Recording, Error> {
    let unreadable = |path: &Path, error: std::io::Error| {
        Error::new(format!(
            "cannot read `{}`: {}",
            path.display(),
            describe_os_error(&error)
        ))
    };
    let loaded: LoadedRecordings = if paths.is_empty() {
        let folder = store_folder();
        store::load(&folder).map_err(|error| unreadable(&folder, error))?
    } else {
        let mut files = Vec::new();
        for path in paths.iter().map(Path::new) {
            if path.is_dir() {
                let inside = store::files(path).map_err(|error| unreadable(path, error))?;
                files.extend(inside);
            } else {
                std::fs::metadata(path).map_err(|error| unreadable(path, error))?;
                files.push(path.to_owned());
            }
        }
        store::load_files(&files).map_err(|error| {
            Error::new(format!(
                "cannot read the recordings: {}",
                describe_os_error(&error)
            ))
        })?
    };
    for (path, reason) in &loaded.ignored {
        if !paths.is_empty() {
            let error = Error::new(format!("`{}` cannot be used: {reason}", path.display()));
            return Err(error.with_help("record again: `testwright capture -- python PROGRAM`"));
        }
        console.warning(&format!("`{}` is left out: {reason}", path.display()), None);
    }
    Ok(loaded.recording)
}

/// Returns the dotted name of a module or package that is named or pointed to.
fn module_name(project: &PythonProject, name_or_path: &str) -> Option<String> {
    let is_inside = |module: &ProjectModule| {
        module
            .name
            .strip_prefix(name_or_path)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    if project.module_named(name_or_path).is_some() || project.modules.iter().any(is_inside) {
        return Some(name_or_path.to_owned());
    }
    let path = Path::new(name_or_path);
    let found = project
        .module_at(path)
        .or_else(|| project.module_at(&path.join("__init__.py")));
    found.map(|module| module.name.clone())
}

/// Adds the recorded programs to a project found elsewhere: they use it, but stay in their own
/// folder.
fn add_programs(
    mut found: PythonProject,
    here: &PythonProject,
    recording: &Recording,
) -> PythonProject {
    let args = recording.executions.iter().flat_map(|run| &run.command);
    for script in args.filter(|name_or_path| name_or_path.ends_with(".py")) {
        found.add_module_from(here, Path::new(script));
    }
    found
}

/// Finds a module that is installed, or was recorded in another folder.
fn find_elsewhere(name_or_path: &str, recording: &Recording) -> Option<(PythonProject, String)> {
    let top = name_or_path
        .split('.')
        .next()
        .filter(|top| !top.is_empty() && !top.contains('/'))?;
    let folders = testwright_python::attach(testwright_python::search_path);
    let recorded = recording
        .units
        .iter()
        .filter(|unit| is_within(unit, top))
        .filter_map(root_of);
    recorded.chain(folders).find_map(|folder| {
        let project = PythonProject::read_package(&folder, top)?;
        let name = module_name(&project, name_or_path)?;
        Some((project, name))
    })
}

/// Returns true if a unit belongs to a top-level package.
fn is_within(unit: &CodeUnit, top: &str) -> bool {
    unit.module.split('.').next() == Some(top)
}

/// Returns the folder from which the module of a unit is imported.
fn root_of(unit: &CodeUnit) -> Option<PathBuf> {
    let file = Path::new(&unit.file);
    let depth = unit.module.split('.').count()
        + usize::from(file.file_stem().is_some_and(|stem| stem == "__init__"));
    file.ancestors().nth(depth).map(Path::to_owned)
}

/// Returns the modules that were recorded.
fn recorded_modules(
    project: PythonProject,
    recording: &Recording,
) -> Result<(PythonProject, Vec<String>), Error> {
    let mut names: Vec<String> = Vec::new();
    for unit in &recording.units {
        let module = project.module_at(Path::new(&unit.file));
        // A program without an `if __name__` guard would run if it were imported.
        let is_program =
            |module: &&ProjectModule| unit.module == "__main__" && module.main_guard.is_none();
        if let Some(module) = module.filter(|module| !module.is_test && !is_program(module))
            && !names.contains(&module.name)
        {
            names.push(module.name.clone());
        }
    }
    if !names.is_empty() {
        return Ok((project, names));
    }
    let first = recording
        .units
        .iter()
        .find(|unit| unit.module != "__main__");
    let found = first.and_then(|unit| find_elsewhere(unit.module.split('.').next()?, recording));
    let (project, name) = found.ok_or_else(|| {
        let error = Error::new("nothing was recorded in this folder, and no module is named");
        error.with_help("name a module (`testwright harness shop.cart`), or record a program first: `testwright capture -- python app.py`")
    })?;
    Ok((project, vec![name]))
}
