//! What a harness is drafted for: modules by name or path, and recordings.

use std::path::{Path, PathBuf};

use testwright_capture::inspect::{Chosen, Module, Project};
use testwright_capture::store::{self, Loaded};
use testwright_capture::{Recording, Unit};
use testwright_core::Error;

use super::super::capture::store_folder;
use crate::console::Console;

/// Modules of a project, and what was recorded.
pub(super) struct Subject {
    pub(super) project: Project,
    pub(super) modules: Vec<String>,
    pub(super) recording: Recording,
}

impl Subject {
    /// What these words mean: the names of modules and the paths of recordings.
    pub(super) fn of(words: &[String], console: &mut Console<'_>) -> Result<Subject, Error> {
        let root = std::env::current_dir()
            .and_then(std::fs::canonicalize)
            .map_err(|error| Error::new(format!("cannot tell the current folder: {error}")))?;
        let (recordings, wanted): (Vec<&String>, Vec<&String>) =
            words.iter().partition(|word| is_recording(Path::new(word)));
        let recording = loaded(&recordings, console)?;
        let mut project = Project::read(&root, &Chosen::default());
        let mut modules: Vec<String> = Vec::new();
        for word in wanted {
            let (found, name) = match name_in(&project, word) {
                Some(name) => (None, name),
                None => elsewhere(word, &recording).map(|(found, name)| (Some(found), name)).ok_or_else(|| {
                    let error = Error::new(format!("there is no module `{word}`, neither here nor where Python looks for modules"));
                    error.with_help("name it as an import does (`shop.cart`), or by its path (`shop/cart.py`)")
                })?,
            };
            if let Some(found) = found {
                if !modules.is_empty() {
                    let error = Error::new(format!(
                        "`{word}` and `{}` are in different places",
                        modules.join("`, `")
                    ));
                    return Err(error.with_help("draft a harness for each of them"));
                }
                project = with_programs(found, &project, &recording);
            }
            modules.push(name);
        }
        if modules.is_empty() {
            (project, modules) = recorded(project, &recording)?;
        }
        let subject = Subject {
            project,
            modules,
            recording,
        };
        subject.complain()?;
        Ok(subject)
    }

    /// The file that the harness is written to if nothing else is said.
    pub(super) fn usual_file(&self) -> PathBuf {
        let name = self.modules.first().map_or("draft", String::as_str);
        let first = name.split('.').next().unwrap_or(name);
        let last = name.rsplit('.').next().unwrap_or(name);
        // For several modules of a package, the package.
        let name = if self.modules.len() > 1 { first } else { last };
        PathBuf::from(format!("{name}.tstl"))
    }

    /// A module that cannot be read has nothing to draft from.
    fn complain(&self) -> Result<(), Error> {
        for module in &self.project.modules {
            if let (true, Some(problem)) = (self.modules.contains(&module.name), &module.problem) {
                let place = format!("{}:{}", module.path.display(), problem.line);
                return Err(Error::new(format!("{place}: {}", problem.message))
                    .with_help("a harness needs a module that can be imported"));
            }
        }
        Ok(())
    }
}

/// Whether a path is a recording, or a folder of recordings.
fn is_recording(path: &Path) -> bool {
    let has_ending = |path: &Path| {
        path.extension()
            .is_some_and(|ending| ending == store::EXTENSION)
    };
    if has_ending(path) {
        return true;
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| has_ending(&entry.path()))
}

/// These recordings, or those of the current folder.
fn loaded(paths: &[&String], console: &mut Console<'_>) -> Result<Recording, Error> {
    let unreadable = |path: &Path, error: std::io::Error| {
        Error::new(format!("cannot read `{}`: {error}", path.display()))
    };
    let loaded: Loaded = if paths.is_empty() {
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
        store::load_files(&files)
            .map_err(|error| Error::new(format!("cannot read the recordings: {error}")))?
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

/// The name of a module or package of a project that is named or pointed to.
fn name_in(project: &Project, word: &str) -> Option<String> {
    let is_inside = |module: &Module| {
        module
            .name
            .strip_prefix(word)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    if project.module_named(word).is_some() || project.modules.iter().any(is_inside) {
        return Some(word.to_owned());
    }
    let path = Path::new(word);
    let found = project
        .module_at(path)
        .or_else(|| project.module_at(&path.join("__init__.py")));
    found.map(|module| module.name.clone())
}

/// A project with the programs that were recorded, which use it and stay where they are.
fn with_programs(mut found: Project, here: &Project, recording: &Recording) -> Project {
    let words = recording.executions.iter().flat_map(|run| &run.command);
    for script in words.filter(|word| word.ends_with(".py")) {
        found.add_from(here, Path::new(script));
    }
    found
}

/// A module that is installed, or was recorded in another place.
fn elsewhere(word: &str, recording: &Recording) -> Option<(Project, String)> {
    let top = word
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
        let project = Project::of_package(&folder, top)?;
        let name = name_in(&project, word)?;
        Some((project, name))
    })
}

fn is_within(unit: &Unit, top: &str) -> bool {
    unit.module.split('.').next() == Some(top)
}

/// The folder from which the module of a unit is imported.
fn root_of(unit: &Unit) -> Option<PathBuf> {
    let file = Path::new(&unit.file);
    let depth = unit.module.split('.').count()
        + usize::from(file.file_stem().is_some_and(|stem| stem == "__init__"));
    file.ancestors().nth(depth).map(Path::to_owned)
}

/// The modules that were recorded.
fn recorded(project: Project, recording: &Recording) -> Result<(Project, Vec<String>), Error> {
    let mut names: Vec<String> = Vec::new();
    for unit in &recording.units {
        let module = project.module_at(Path::new(&unit.file));
        // A program without the usual guard would run if it were imported.
        let is_program =
            |module: &&Module| unit.module == "__main__" && module.main_guard.is_none();
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
    let found = first.and_then(|unit| elsewhere(unit.module.split('.').next()?, recording));
    let (project, name) = found.ok_or_else(|| {
        let error = Error::new("nothing was recorded in this folder, and no module is named");
        error.with_help("name a module (`testwright harness shop.cart`), or record a program first: `testwright capture -- python app.py`")
    })?;
    Ok((project, vec![name]))
}
