//! `testwright generate`: unit tests from recorded calls.

mod files;
mod report;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::ValueEnum;
use testwright_capture::canonical_clock::with_canonical_clock;
use testwright_capture::generate::{GeneratedTests, Options, generate};
use testwright_capture::inspect::{FileFilter, ProjectModule, PythonProject};
use testwright_capture::validate::PythonRunner;
use testwright_capture::write::TestFramework;
use testwright_capture::{ProgramRun, Recording, store};
use testwright_core::{Error, describe_os_error};

use super::capture::store_folder;
use crate::console::Console;
use crate::project::current_folder;
use crate::{CommandError, ExitStatus};
use files::PlannedFiles;
pub(super) use files::write_error;

/// Write unit tests from recorded calls
///
/// Chooses a few of the calls that `testwright capture` recorded. Each becomes a test that makes the call again
/// and checks its outcome. Each test is run several times before it is kept: alone, together, in another order,
/// with other hash seeds, in another time zone. Tests are added to the test files of the project; nothing else
/// in these files changes.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright generate                          tests for everything that was recorded
  testwright generate shop.cart                for one module, by its name or its path
  testwright generate --style unittest         for unittest instead of pytest
  testwright generate --diff                   show what would be written, write nothing

Exit status: 0 done, 1 a file had to be left alone, 2 could not do what was asked."
)]
pub(crate) struct GenerateCommand {
    /// Modules to write tests for, by dotted name or path [default: all that were recorded]
    #[arg(value_name = "MODULE")]
    modules: Vec<String>,

    /// Style of the tests [default: pytest if the interpreter has it]
    #[arg(long, value_name = "STYLE", value_enum)]
    style: Option<StyleChoice>,

    /// Folder to write tests to [default: the project's own, or `tests`]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,

    /// Show the changes as a diff, and write nothing
    #[arg(long)]
    diff: bool,

    /// Write existing tests again, unless they were edited by hand
    #[arg(long)]
    force: bool,

    /// Python interpreter that runs the tests [default: the one that runs this command]
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Values of `--style`.
#[derive(Clone, Copy, ValueEnum)]
enum StyleChoice {
    /// functions with bare assertions, and pytest's fixtures
    Pytest,
    /// classes of unittest, which comes with Python
    Unittest,
}

impl GenerateCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let root = current_folder()?;
        let recording = with_canonical_clock(load_recording(console)?);
        let mut project = PythonProject::read(&root, &FileFilter::default());
        let units = recording.units.iter();
        project
            .add_external_packages(units.map(|unit| (unit.module.as_str(), Path::new(&unit.file))));
        for module in &project.modules {
            if let Some(problem) = &module.problem {
                let path = module.path.display();
                let message = format!(
                    "`{path}` is left out: line {}: {}",
                    problem.line, problem.message
                );
                console.warning(&message, None);
            }
        }
        let modules = named_modules(&project, &self.modules)?;
        let modules = modules
            .into_iter()
            .map(|module| module.name.clone())
            .collect();
        let executable = executable(self.python.as_ref());
        let style = self.choose_style(&executable)?;
        let runner = PythonRunner {
            executable,
            style,
            path: import_path(&root, &recording.executions),
            modules: project
                .modules
                .iter()
                .filter(|module| !module.is_test)
                .map(|module| module.name.clone())
                .collect(),
        };
        console.status(|| "choosing, writing and running tests …".to_owned());
        let options = Options {
            modules,
            style,
            existing_ids: existing_tests(&project)?,
        };
        let generated = generate(&recording, &project, &options, &runner).map_err(|error| {
            Error::new(format!(
                "the tests cannot be run: {}",
                describe_os_error(&error.0)
            ))
        })?;
        console.clear_status();
        self.finish(console, &project, style, &generated)
    }

    /// Merges the tests into the test files, writes or shows them, and prints the report.
    fn finish(
        &self,
        console: &mut Console<'_>,
        project: &PythonProject,
        style: TestFramework,
        generated: &GeneratedTests,
    ) -> Result<ExitStatus, CommandError> {
        let folder = self.out.as_deref();
        let written = files::plan(project, generated, folder, self.force)?;
        for (path, reason) in &written.refused {
            let message = format!("`{path}` is left alone: {reason}");
            console.warning(
                &message,
                Some("its tests were not written; change the file and try again"),
            );
        }
        if self.diff {
            for change in &written.changes {
                console.out(files::diff(project, change).trim_end());
            }
        } else {
            files::write(&written)?;
        }
        if self.json {
            console.out(report::json(generated, &written));
        } else {
            self.print_report(console, style, generated, &written);
        }
        Ok(if written.refused.is_empty() {
            ExitStatus::NothingFound
        } else {
            ExitStatus::FailureFound
        })
    }

    /// Prints the report, and how to run the tests.
    fn print_report(
        &self,
        console: &mut Console<'_>,
        style: TestFramework,
        generated: &GeneratedTests,
        written: &PlannedFiles,
    ) {
        for line in report::lines(generated, written, self.diff) {
            console.out(line);
        }
        if let Some(folder) = written.folder().filter(|_| !self.diff) {
            let folder = folder.display();
            console.out(match style {
                TestFramework::Pytest => format!("run them with: python -m pytest {folder}"),
                TestFramework::Unittest => {
                    format!("run them with: python -m unittest discover {folder}")
                }
            });
        }
    }

    /// Returns the style of the tests. Fails if pytest is requested but not installed.
    fn choose_style(&self, executable: &Path) -> Result<TestFramework, Error> {
        let default = default_style(executable)?;
        match self.style {
            Some(StyleChoice::Pytest) if default != TestFramework::Pytest => {
                let error = Error::new(format!("`{}` has no pytest", executable.display()));
                Err(error.with_help("install it there, or use `--style unittest`"))
            }
            Some(StyleChoice::Pytest) => Ok(TestFramework::Pytest),
            Some(StyleChoice::Unittest) => Ok(TestFramework::Unittest),
            None => Ok(default),
        }
    }
}

/// Returns the ids of all tests generated earlier, including deleted ones: they must not be written
/// again.
fn existing_tests(project: &PythonProject) -> Result<BTreeSet<String>, Error> {
    let files = super::changes::generated_tests(project).unwrap_or_default();
    let tests = files.into_iter().flat_map(|(_, tests)| tests);
    let mut ids: BTreeSet<String> = tests.map(|test| test.id).collect();
    ids.extend(files::read_ledger(project)?.all_ids().cloned());
    Ok(ids)
}

/// Finds modules by their dotted names or their paths.
pub(super) fn named_modules<'a>(
    project: &'a PythonProject,
    names: &[String],
) -> Result<Vec<&'a ProjectModule>, Error> {
    let mut modules = Vec::new();
    for name in names {
        let found = project
            .module_named(name)
            .or_else(|| project.module_at(Path::new(name)));
        let Some(found) = found else {
            let error = Error::new(format!("this project has no module `{name}`"));
            return Err(error.with_help(
                "name it as an import does (`shop.cart`), or by its path (`shop/cart.py`)",
            ));
        };
        modules.push(found);
    }
    Ok(modules)
}

/// Returns the chosen interpreter, or the one that runs this command.
pub(super) fn executable(chosen: Option<&PathBuf>) -> PathBuf {
    let current = || testwright_python::attach(testwright_python::executable);
    let found = chosen.cloned().or_else(current);
    found.unwrap_or_else(|| PathBuf::from("python3"))
}

/// Returns the style that an interpreter can run: pytest if it is installed.
pub(super) fn default_style(executable: &Path) -> Result<TestFramework, Error> {
    let has_pytest = Command::new(executable)
        .args(["-c", "import pytest"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| {
            Error::new(format!(
                "cannot run `{}`: {}",
                executable.display(),
                describe_os_error(&error)
            ))
            .with_help("name the interpreter of the project with `--python`")
        })?
        .success();
    Ok(if has_pytest {
        TestFramework::Pytest
    } else {
        TestFramework::Unittest
    })
}

/// Loads the recordings of the current folder. Fails if there are none.
fn load_recording(console: &mut Console<'_>) -> Result<Recording, Error> {
    let folder = store_folder();
    let loaded = store::load(&folder).map_err(|error| {
        Error::new(format!(
            "cannot read `{}`: {}",
            folder.display(),
            describe_os_error(&error)
        ))
    })?;
    for (path, reason) in &loaded.ignored {
        console.warning(&format!("`{}` is left out: {reason}", path.display()), None);
    }
    if loaded.recording.units.is_empty() {
        let error = Error::new("nothing was recorded in this folder");
        let help = "record a program first: `testwright capture -- python app.py`";
        return Err(error.with_help(help));
    }
    Ok(loaded.recording)
}

/// Returns the import path for tests: the project, its `src` folder, and folders of the project on
/// the path of the recorded program.
pub(super) fn import_path(root: &Path, executions: &[ProgramRun]) -> Vec<PathBuf> {
    let mut path = vec![root.to_owned()];
    let recorded = executions
        .iter()
        .flat_map(|execution| &execution.path)
        .map(|folder| root.join(folder));
    let default = std::iter::once(root.join("src"));
    for folder in default.chain(recorded) {
        if folder.is_dir() && folder.starts_with(root) && !path.contains(&folder) {
            path.push(folder);
        }
    }
    path
}
