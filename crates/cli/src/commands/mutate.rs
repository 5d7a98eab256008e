//! `testwright mutate`: small changes of the program that the tests should notice.

mod report;

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use testwright_capture::inspect::{FileFilter, ProjectModule, PythonProject};
use testwright_capture::mutate::mutants;
use testwright_capture::mutate::run::{
    MutantId, MutantVerdict, MutatedFile, MutationSetup, TestMeasurements, measure, run,
};
use testwright_capture::write::{HELPERS_MODULE, TestFramework};
use testwright_core::{Error, Random, describe_os_error};

use super::changes::generated_tests;
use super::generate::{default_style, executable, import_path, named_modules};
use super::run::interrupt::Interrupt;
use crate::console::Console;
use crate::files::{TextFile, UserPath};
use crate::project::current_folder;
use crate::quantity::{parse_from_zero, parse_nonzero};
use crate::{CommandError, ExitStatus, quantity};
use report::MutationReport;

/// Maximum number of mutants without `--sample`.
const MAX_MUTANTS: usize = 1000;

/// Change the program in small ways, and show which changes the tests miss
///
/// Each mutant is one small change: `<` becomes `<=`, a number is one off, a statement is gone. The tests that
/// reach its line run with it, in separate processes. No file is changed. A mutant survives if all tests still
/// pass; it is shown as the line before and after.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright mutate                        all modules that generated tests reach
  testwright mutate shop.cart              one module, by its name or its path
  testwright mutate --tests tests          what all tests in a folder notice, also your own
  testwright mutate --sample 100 --seed 1  a hundred of them, and the same again next time

Exit status: 0 none survived, 1 some survived, 2 could not do what was asked, was interrupted before one
survived, or the tests fail without any mutant."
)]
pub(crate) struct MutateCommand {
    /// Modules to change, by dotted name or path [default: all that the tests reach]
    #[arg(value_name = "MODULE")]
    modules: Vec<String>,

    /// Run the tests in this file or folder [default: those that `testwright generate` wrote]
    #[arg(long, value_name = "PATH")]
    tests: Option<PathBuf>,

    /// Number of mutants to try, chosen at random [default: all, but not more than 1,000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_nonzero)]
    sample: Option<NonZero<usize>>,

    /// Seed that selects the mutants
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = parse_from_zero::<u64>)]
    seed: u64,

    /// Also count mutants on lines that no test reaches as survivors
    #[arg(long)]
    all_lines: bool,

    /// Number of processes [default: one for each core]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_nonzero)]
    jobs: Option<NonZero<usize>>,

    /// Python interpreter that runs the tests [default: the one that runs this command]
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,

    /// File to write the report to as JSON, `-` for standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl MutateCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let interrupt = Interrupt::listen();
        let is_stopped = &*interrupt.is_requested;
        let root = current_folder()?;
        let project = PythonProject::read(&root, &FileFilter::default());
        let modules = self.modules(console, &project)?;
        let setting = self.setting(&project)?;
        let files = read_files(&project, &modules)?;
        console.status(|| "running the tests without any mutant …".to_owned());
        let measured = measure(&setting, &files, is_stopped, |tests| {
            console.status(|| {
                format!(
                    "without any mutant: {} pass …",
                    quantity::format_count(tests as u64, "test")
                )
            });
        })
        .map_err(|error| self.with_advice(&setting, &describe_os_error(&error.0)))?
        .ok_or(CommandError::Interrupted)?;
        let chosen = self.choose(&files, &measured);
        let jobs = self.jobs.map_or_else(
            || std::thread::available_parallelism().map_or(1, NonZero::get),
            NonZero::get,
        );
        let (mut done, mut survivors) = (0, 0);
        let verdicts = run(
            &setting,
            &files,
            &measured,
            &chosen,
            jobs,
            is_stopped,
            |_, verdict| {
                done += 1;
                survivors += usize::from(*verdict == MutantVerdict::Survived);
                let total = chosen.len();
                console.status(|| format!("{done} of {total} mutants, {survivors} survived …"));
            },
        )
        .map_err(|error| {
            Error::new(format!(
                "the tests cannot be run: {}",
                describe_os_error(&error.0)
            ))
        })?;
        let is_interrupted = is_stopped.load(Ordering::Relaxed);
        if is_interrupted && verdicts.is_empty() {
            return Err(CommandError::Interrupted);
        }
        let report = MutationReport {
            modules: &modules,
            files: &files,
            measured: &measured,
            verdicts: &verdicts,
            counts_all_lines: self.all_lines,
            shows_all_modules: !self.modules.is_empty(),
            seed: self.seed,
            is_interrupted,
        };
        self.finish(console, &report)
    }

    /// Prints or writes the report, and returns the exit status.
    fn finish(
        &self,
        console: &mut Console<'_>,
        report: &MutationReport<'_>,
    ) -> Result<ExitStatus, CommandError> {
        if !report.has_tried_any() {
            let error = Error::new("no test reaches anything that could be changed");
            let help = "`--tests` names other tests, `--all-lines` counts what no test reaches";
            return Err(error.with_help(help).into());
        }
        let is_alone = self.json.as_deref() == Some(Path::new("-"));
        if is_alone {
            console.out(report.json());
        } else {
            report.print(console, self.sample.is_some());
        }
        if let Some(path) = self.json.as_deref().filter(|_| !is_alone) {
            UserPath::of_output(path)?.write(&(report.json() + "\n"))?;
        }
        Ok(match report.survivors().next() {
            Some(_) => ExitStatus::FailureFound,
            None if report.is_interrupted => ExitStatus::Error,
            None => ExitStatus::NothingFound,
        })
    }

    /// Returns the modules to mutate. Unreadable ones are left out with a warning, or are an error
    /// if they were named.
    fn modules<'a>(
        &self,
        console: &mut Console<'_>,
        project: &'a PythonProject,
    ) -> Result<Vec<&'a ProjectModule>, CommandError> {
        let named = named_modules(project, &self.modules)?;
        if let Some(broken) = named.iter().find(|module| module.problem.is_some()) {
            let problem = broken.problem.as_ref();
            let (line, message) = problem.map_or((1, ""), |found| (found.line, &found.message));
            let path = broken.path.display();
            return Err(
                Error::new(format!("`{path}` cannot be read: line {line}: {message}")).into(),
            );
        }
        if !named.is_empty() {
            return Ok(named);
        }
        let (good, broken): (Vec<&ProjectModule>, Vec<&ProjectModule>) = project
            .modules
            .iter()
            .filter(|module| !module.is_test && !is_test_helper(module))
            .partition(|module| module.problem.is_none());
        for module in broken {
            let problem = module.problem.as_ref();
            let (line, message) = problem.map_or((1, ""), |found| (found.line, &found.message));
            let path = module.path.display();
            console.warning(
                &format!("`{path}` is left out: line {line}: {message}"),
                None,
            );
        }
        Ok(good)
    }

    /// Returns the tests to run, and how to run them.
    fn setting(&self, project: &PythonProject) -> Result<MutationSetup, Error> {
        let python = executable(self.python.as_ref());
        let root = project.root.clone();
        let (tests, wanted, start) = match &self.tests {
            None => {
                let files = generated_tests(project)?;
                let names = files.iter().flat_map(|(path, tests)| {
                    tests
                        .iter()
                        .map(move |test| format!("{path}::{}", test.name.replace('.', "::")))
                });
                let wanted: Vec<String> = names.collect();
                let paths = files.iter().map(|(path, _)| root.join(path));
                (paths.collect(), Some(wanted), None)
            }
            // Tests written by hand may rely on running in the folder of the project.
            Some(path) => (test_files(project, path)?, None, Some(root.clone())),
        };
        Ok(MutationSetup {
            style: default_style(&python)?,
            python,
            path: import_path(&root, &[]),
            root,
            tests,
            selected_tests: wanted,
            start,
        })
    }

    /// Converts the reason why the tests do not run to an error with advice.
    fn with_advice(&self, setting: &MutationSetup, reason: &str) -> Error {
        let error = Error::new(reason.to_owned());
        match setting.style {
            TestFramework::Unittest => error.with_help(format!(
                "`{}` has no pytest; if the tests are written for it, install it there or name another interpreter with `--python`",
                setting.python.display()
            )),
            TestFramework::Pytest if self.tests.is_some() => error.with_help(
                "mutants are found by tests that pass; tests may neither write outside of temporary folders nor start processes, and plugins of pytest are left out",
            ),
            TestFramework::Pytest => error.with_help("`testwright changes` tells what has changed since the tests were written"),
        }
    }

    /// Chooses the mutants to try, in the order of the code.
    fn choose(&self, files: &[MutatedFile], measured: &TestMeasurements) -> Vec<MutantId> {
        let mut ids: Vec<MutantId> = Vec::new();
        for (number, file) in files.iter().enumerate() {
            for (mutant, found) in file.mutants.iter().enumerate() {
                if self.all_lines || measured.is_reached(number, found) {
                    ids.push((number, mutant));
                }
            }
        }
        let limit = self.sample.map_or(MAX_MUTANTS, NonZero::get);
        if ids.len() > limit {
            let mut random = Random::new(self.seed);
            for index in 0..limit {
                let rest = (ids.len() - index) as u64;
                let other = index + usize::try_from(random.below(rest)).unwrap_or(0);
                ids.swap(index, other);
            }
            ids.truncate(limit);
            ids.sort_unstable();
        }
        ids
    }
}

/// Returns true for modules that only help tests, and so are not mutated.
fn is_test_helper(module: &ProjectModule) -> bool {
    let stem = module.path.file_stem().and_then(|stem| stem.to_str());
    stem.is_some_and(|stem| stem == HELPERS_MODULE || stem == "conftest")
}

/// Returns the test files at a path.
fn test_files(project: &PythonProject, path: &Path) -> Result<Vec<PathBuf>, Error> {
    let shown = path.display();
    let absolute = fs::canonicalize(path).map_err(|error| {
        Error::new(format!(
            "cannot find the tests in `{shown}`: {}",
            describe_os_error(&error)
        ))
    })?;
    if absolute.is_file() {
        return Ok(vec![absolute]);
    }
    let found: Vec<PathBuf> = project
        .modules
        .iter()
        .filter(|module| module.is_test && module.problem.is_none())
        .map(|module| project.root.join(&module.path))
        .filter(|file| file.starts_with(&absolute))
        .collect();
    if found.is_empty() {
        Err(Error::new(format!("there are no test files in `{shown}`"))
            .with_help("a test file is called `test_….py` or `…_test.py`, and belongs to the project in the current folder"))
    } else {
        Ok(found)
    }
}

/// Reads the modules and finds their mutants.
fn read_files(
    project: &PythonProject,
    modules: &[&ProjectModule],
) -> Result<Vec<MutatedFile>, Error> {
    let mut files = Vec::new();
    for module in modules {
        let path = project.root.join(&module.path);
        let text = TextFile::read(&path)?.text;
        files.push(MutatedFile {
            // A file that became unreadable just now has no mutants.
            mutants: mutants(&text).unwrap_or_default(),
            path,
            text,
        });
    }
    Ok(files)
}
