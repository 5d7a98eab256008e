//! `tstl_markov`: learns from tests which actions follow which.

use std::path::{Path, PathBuf};

use testwright_core::generate::MarkovModel;
use testwright_core::{ActionClasses, Error, System, Test};
use testwright_python::{MeasuredCode, OutputMode, PythonSystem};

use super::test_file::TestFile;
use super::{Invocation, Tool, ToolOutcome};
use crate::CommandError;
use crate::compiled::CompiledModule;
use crate::console::Console;
use crate::files::{Destination, TextFile};

/// Learn from tests which actions follow which
#[derive(clap::Parser)]
#[command(name = "tstl_markov", rename_all = "camelCase")]
pub(super) struct MarkovTool {
    /// File to write the model to
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// Number of preceding steps that an action depends on
    #[arg(value_name = "N")]
    order: u16,

    /// The tests
    #[arg(value_name = "TESTS", required = true)]
    tests: Vec<PathBuf>,

    /// The files hold action classes instead of steps
    #[arg(long)]
    not_raw: bool,
}

impl Tool for MarkovTool {
    fn run(self, console: &mut Console<'_>, _: &Invocation) -> Result<ToolOutcome, CommandError> {
        let compiled = CompiledModule::read(Path::new("sut.py"))?;
        let tests = self
            .tests
            .iter()
            .map(|path| (path.as_path(), "one of the tests"));
        let mut to_keep: Vec<(&Path, &str)> = tests.collect();
        to_keep.push((&compiled.harness, "the harness"));
        let destination = Destination::prepare(&self.output, &to_keep)?;
        let files = self.tests.iter().map(|path| TextFile::read(path));
        let files: Vec<TextFile> = files.collect::<Result<_, _>>()?;
        let options = compiled.options(OutputMode::Drop, MeasuredCode::Nothing);
        compiled.with_system(console, &options, |console, system| {
            let mut tests = Vec::new();
            for file in files {
                tests.push(if self.not_raw {
                    test_of_classes(system, &file)?
                } else {
                    TestFile::Lines(file).test(console, system)?
                });
            }
            let catalog = system.actions();
            let classes = ActionClasses::new(catalog);
            let model = MarkovModel::learn(catalog, &classes, self.order.into(), &tests);
            let text = model.write(&classes);
            match destination.file() {
                Some(place) => {
                    place.write(&text)?;
                    print_model(console, &text);
                }
                None => console.out(text.trim_end()),
            }
            Ok(ToolOutcome::Passed)
        })
    }
}

/// Makes a test with any actions of the classes that a file lists. Only the classes count.
fn test_of_classes(system: &PythonSystem<'_>, file: &TextFile) -> Result<Test, Error> {
    let catalog = system.actions();
    let classes = ActionClasses::new(catalog);
    let mut actions = Vec::new();
    for (number, line) in (1..).zip(file.text.lines()) {
        let class = classes.find(line).or_else(|| {
            classes
                .iter()
                .find(|class| classes.text(*class).trim() == line.trim())
        });
        let template = class.and_then(|class| classes.templates(class).first());
        let Some(template) = template else {
            let message = format!(
                "{}, line {number}: no action class reads `{line}`",
                file.name
            );
            return Err(
                Error::new(message).with_help("`testwright expand HARNESS` shows the lines")
            );
        };
        actions.push(catalog.first(*template));
    }
    Ok(Test::from_actions(actions))
}

/// Prints the model as TSTL does: the preceding classes, then the next class and its frequency.
fn print_model(console: &mut Console<'_>, text: &str) {
    let mut prefix: Option<Vec<&str>> = None;
    for line in text.lines().skip(1) {
        match (line, &mut prefix) {
            ("START CLASS", _) => prefix = Some(Vec::new()),
            ("END CLASS", Some(classes)) => {
                let classes: Vec<String> =
                    classes.iter().map(|class| format!("'{class}'")).collect();
                console.out(format_args!("PREFIX: ({})", classes.join(", ")));
                prefix = None;
            }
            (class, Some(classes)) => classes.push(class),
            (line, None) => match line.split_once(" %%%% ") {
                Some((probability, class)) => console.out(format_args!("{class} {probability}")),
                None => console.out(line),
            },
        }
    }
}
