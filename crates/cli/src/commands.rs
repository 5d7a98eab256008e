//! The subcommands of `testwright`, and the options that several of them share.
//!
//! Each command is a module with a struct of its arguments, parsed by clap, and a `run` method that
//! calls the libraries, prints the result and returns the exit status. Doc comments of these
//! structs are the text of `--help`.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use testwright_campaign::ResourceLimits;
use testwright_core::Error;
use testwright_python::{
    CheckMode, MeasuredCode, Options, OutputMode, ProcessOwner, ReferenceExceptions,
};

use crate::console::Console;
use crate::report::shell_word;
use crate::source::SystemSource;
use crate::{CommandError, ExitStatus, duration, guard, size, subprocess};
use near_miss::FileKind::{self, Folder, Harness, Log, Model, Python, Recording, Test};

mod campaign;
mod capture;
mod changes;
mod check;
mod compile;
mod conform;
mod cover;
mod expand;
mod explain;
mod explore;
mod feature;
mod generalize;
mod generate;
mod graph;
mod harness;
mod localize;
mod markov;
mod measure;
mod model;
mod mutate;
mod near_miss;
mod normalize;
mod quick;
mod reduce;
mod regress;
mod replay;
mod run;
mod show;
mod standalone;
mod triage;

pub(crate) use expand::template_text;
pub(crate) use near_miss::{unknown_command, wrong_files, wrong_models};
pub(crate) use run::{RunCommand, SelectedStrategy, SlowdownGuard, draw_seed, parse_probability};

/// Generates tests for Python code from small harnesses, and reduces what fails.
///
/// A harness (a `.tstl` file) names values to keep in pools and the actions that use them. Testwright
/// takes random actions until something breaks, then looks for the shortest test that still breaks and
/// writes it as a file.
#[derive(Parser)]
#[command(
    name = "testwright",
    version,
    verbatim_doc_comment,
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true,
    after_help = "\
Start with:
  testwright check stack.tstl      is the harness in order?
  testwright run stack.tstl        search for failures for 30 seconds

`testwright help COMMAND` explains a command, with examples.
Exit status: 0 nothing found, 1 a failure was found, 2 could not do what was asked.

The code under test is executed: run only harnesses and code that you trust."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// A command in the table of all commands.
struct CommandRow {
    name: &'static str,
    /// The files that it takes, in words.
    takes: &'static str,
    /// The files that it takes. Without any, files are not checked.
    kinds: &'static [FileKind],
}

/// Returns a row of the table.
const fn row(name: &'static str, takes: &'static str, kinds: &'static [FileKind]) -> CommandRow {
    CommandRow { name, takes, kinds }
}

/// All commands, in the groups and in the order of `testwright --help`.
static GROUPS: [(&str, &[CommandRow]); 5] = [
    (
        "Test",
        &[
            row("run", "harnesses and models", &[Harness, Model, Log]),
            row("check", "harnesses", &[Harness]),
            row("expand", "harnesses", &[Harness]),
            row("replay", "saved tests", &[Test, Folder]),
            row("reduce", "saved tests", &[Test]),
            row("normalize", "saved tests", &[Test]),
            row("generalize", "saved tests", &[Test]),
            row("standalone", "saved tests", &[Test]),
            row("regress", "saved tests", &[Test, Folder]),
            row("quick", "harnesses and models", &[Harness, Model, Log]),
            row("triage", "saved tests", &[Test, Folder]),
            row("localize", "saved tests", &[Test, Folder]),
            row("markov", "saved tests", &[Test, Folder]),
            row("cover", "Python programs", &[Python, Folder]),
            row("campaign", "", &[]),
        ],
    ),
    (
        "Explore and model",
        &[
            row("explore", "harnesses and models", &[Harness, Model, Log]),
            row("model", "models", &[Model, Log]),
            row("conform", "models and a log", &[Model, Log]),
            row("graph", "models and saved tests", &[Model, Test, Log]),
        ],
    ),
    (
        "Capture",
        &[
            row("capture", "programs", &[Python, Folder]),
            row("show", "names of recorded functions", &[Python, Folder]),
            row("generate", "Python modules", &[Python, Folder]),
            row("changes", "", &[]),
            row("mutate", "Python modules", &[Python, Folder]),
            row(
                "harness",
                "Python modules and recordings",
                &[Python, Folder, Recording],
            ),
        ],
    ),
    (
        "Read",
        &[
            row("explain", "models and harnesses", &[Python, Harness]),
            row("feature", "Python modules and saved tests", &[Python, Test]),
            row("measure", "", &[]),
        ],
    ),
    (
        "TSTL and PyModel",
        &[
            row("compile", "harnesses", &[Harness]),
            row("compat", "", &[]),
        ],
    ),
];

impl CommandRow {
    /// Returns the row of a command.
    fn find(name: &str) -> Option<&'static CommandRow> {
        let rows = GROUPS.iter().flat_map(|(_, rows)| *rows);
        rows.into_iter().find(|row| row.name == name)
    }

    /// Returns the row of a command that takes saved tests.
    fn tests() -> &'static CommandRow {
        CommandRow::find("replay").unwrap_or(CommandRow::any_system())
    }

    /// Returns the row of a command that takes harnesses and models.
    fn any_system() -> &'static CommandRow {
        &GROUPS[0].1[0]
    }
}

impl Cli {
    /// Returns the command line, with the commands in groups in its help.
    pub(crate) fn grouped_command() -> clap::Command {
        let command = Cli::command();
        let header = *command.get_styles().get_header();
        let literal = *command.get_styles().get_literal();
        let mut template =
            String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n");
        for (title, rows) in &GROUPS {
            template += &format!("\n{header}{title}:{header:#}\n");
            for row in *rows {
                let about = command
                    .find_subcommand(row.name)
                    .and_then(clap::Command::get_about);
                let about = about.map(ToString::to_string).unwrap_or_default();
                template += &format!("  {literal}{:<11}{literal:#} {about}\n", row.name);
            }
        }
        template += &format!("\n{header}Options:{header:#}\n{{options}}{{after-help}}");
        command.help_template(template)
    }
}

/// The subcommands of `testwright`.
#[derive(Subcommand)]
pub(crate) enum Command {
    Check(check::CheckCommand),
    Expand(expand::ExpandCommand),
    Run(run::RunCommand),
    Explore(explore::ExploreCommand),
    Replay(replay::ReplayCommand),
    Reduce(reduce::ReduceCommand),
    Normalize(normalize::NormalizeCommand),
    Generalize(generalize::GeneralizeCommand),
    Regress(regress::RegressCommand),
    Quick(quick::QuickCommand),
    Triage(triage::TriageCommand),
    Localize(localize::LocalizeCommand),
    Markov(markov::MarkovCommand),
    Standalone(standalone::StandaloneCommand),
    Compile(compile::CompileCommand),
    Cover(cover::CoverCommand),
    Model(model::ModelCommand),
    Conform(conform::ConformCommand),
    Graph(graph::GraphCommand),
    Feature(feature::FeatureCommand),
    Campaign(campaign::CampaignCommand),
    Explain(explain::ExplainCommand),
    Measure(measure::MeasureCommand),
    Capture(capture::CaptureCommand),
    Show(show::ShowCommand),
    Generate(generate::GenerateCommand),
    Changes(changes::ChangesCommand),
    Mutate(mutate::MutateCommand),
    Harness(harness::HarnessCommand),
    Compat(crate::compat::Compat),
    #[command(hide = true)]
    Worker(crate::workers::WorkerCommand),
}

impl Command {
    /// Runs the command. `args` are the arguments as they were typed, the subcommand included;
    /// `run` keeps them with a campaign so that it can be resumed.
    pub(crate) fn run(
        self,
        console: &mut Console<'_>,
        args: &[OsString],
    ) -> Result<ExitStatus, CommandError> {
        match self {
            Command::Check(check) => check.run(console),
            Command::Expand(expand) => expand.run(console),
            Command::Run(run) => run.run(console, args.get(1..).unwrap_or_default()),
            Command::Explore(explore) => explore.run(console),
            Command::Replay(replay) => replay.run(console),
            Command::Reduce(reduce) => reduce.run(console),
            Command::Normalize(normalize) => normalize.run(console),
            Command::Generalize(generalize) => generalize.run(console),
            Command::Regress(regress) => regress.run(console),
            Command::Quick(quick) => quick.run(console),
            Command::Triage(triage) => triage.run(console),
            Command::Localize(localize) => localize.run(console),
            Command::Markov(markov) => markov.run(console),
            Command::Standalone(standalone) => standalone.run(console),
            Command::Compile(compile) => compile.run(console),
            Command::Cover(cover) => cover.run(console),
            Command::Model(model) => model.run(console),
            Command::Conform(conform) => conform.run(console),
            Command::Graph(graph) => graph.run(console),
            Command::Feature(feature) => feature.run(console),
            Command::Campaign(campaign) => campaign.run(console),
            Command::Explain(explain) => explain.run(console),
            Command::Measure(measure) => measure.run(console),
            Command::Capture(capture) => capture.run(console),
            Command::Show(show) => show.run(console),
            Command::Generate(generate) => generate.run(console),
            Command::Changes(changes) => changes.run(console),
            Command::Mutate(mutate) => mutate.run(console),
            Command::Harness(harness) => harness.run(console),
            Command::Compat(compat) => compat.run(console),
            Command::Worker(worker) => worker.run(),
        }
    }
}

/// Options for running the system under test, shared by every command that runs it.
#[derive(Args, Clone)]
#[command(next_help_heading = "Running the system")]
pub(crate) struct SystemArguments {
    /// Do not check the properties after every step
    #[arg(long, conflicts_with = "checks")]
    no_check: bool,

    /// Properties to check after each step [default: all]
    #[arg(long, value_name = "WHICH", value_enum)]
    checks: Option<PropertyChecks>,

    /// Do not reload the imported modules for each test (faster)
    #[arg(long)]
    no_reset: bool,

    /// Rule by which exceptions of the system and of its reference agree [default: both]
    #[arg(long, value_name = "WHEN", value_enum)]
    reference_exceptions: Option<ExceptionAgreement>,

    /// Module with a machine or a list of runs that says which lines may come next; repeatable
    #[arg(long, value_name = "MODULE")]
    pub(crate) scenario: Vec<String>,

    /// Time limit of a step; a step that takes longer counts as a hang
    #[arg(long, value_name = "DURATION", default_value = STEP_TIMEOUT, allow_hyphen_values = true, value_parser = duration::parse)]
    pub(crate) step_timeout: Duration,
}

/// The `--stepper` option: the implementation that is tested against models.
#[derive(Args, Clone, Default)]
pub(crate) struct StepperArgument {
    /// For models: module that performs each step on an implementation, and reports what is wrong
    #[arg(long, value_name = "MODULE")]
    stepper: Option<String>,
}

impl StepperArgument {
    /// Returns the options with the stepper added. Fails if a stepper is given for a harness.
    pub(crate) fn apply_to(
        &self,
        options: Options,
        source: &SystemSource,
        step_timeout: Duration,
    ) -> Result<Options, Error> {
        match &self.stepper {
            None => Ok(options),
            Some(_) if !source.is_models() => Err(Error::new("`--stepper` is for models")
                .with_help("a harness says itself what is done to the system: leave it out")),
            Some(_) => Ok(Options {
                stepper: self.with_timeout(step_timeout),
                ..options
            }),
        }
    }

    /// Returns the stepper and the time it may take for a step.
    fn with_timeout(&self, step_timeout: Duration) -> Option<(String, Duration)> {
        Some((self.stepper.clone()?, step_timeout))
    }

    /// Sets the stepper module.
    pub(crate) fn set(&mut self, name: String) {
        self.stepper = Some(name);
    }

    /// Returns the name of the stepper module.
    pub(crate) fn name(&self) -> Option<String> {
        self.stepper.clone()
    }

    /// Formats the option as it is typed, with a leading blank; empty without a stepper.
    pub(crate) fn as_option(&self) -> String {
        let option = |name: &String| format!(" --stepper {}", shell_word(Path::new(name)));
        self.stepper.as_ref().map(option).unwrap_or_default()
    }
}

/// Options for the processes in which a system runs.
#[derive(Args, Clone, Default, PartialEq, Eq)]
pub(crate) struct ProcessArguments {
    /// Memory limit of each process: 500MB, 2GB [default for `run`: its share of the free memory]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_limit::<{ 16 << 20 }>)]
    memory: Option<usize>,

    /// Size limit of each file that a test writes [default for `run`: 1GB]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    file_size: Option<usize>,

    /// Environment variable to set in the processes; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_variable)]
    pub(crate) env: Vec<(String, String)>,
}

/// Parses `NAME=VALUE`.
fn parse_variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("must be a name, an equals sign and a value".to_owned()),
    }
}

/// Variables that say which code other programs run. A test may come from a stranger, so it cannot
/// set them, and neither those that begin like these.
const UNSAFE_VARIABLES: [&str; 14] = [
    "PATH", "LD_", "DYLD_", "PYTHON", "GIT_", "SSH_", "BASH_", "ENV", "SHELL", "IFS", "PERL",
    "RUBY", "NODE_", "JAVA_",
];

impl ProcessArguments {
    /// Returns the limits that were given.
    pub(crate) fn limits(&self) -> ResourceLimits {
        ResourceLimits {
            memory: self.memory.map(|bytes| bytes as u64),
            file_size: self.file_size.map(|bytes| bytes as u64),
        }
    }

    /// Returns the variables for another process.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let pair = |(name, value): &(String, String)| (name.into(), value.into());
        self.env.iter().map(pair).collect()
    }

    /// Formats the limits as they are typed.
    pub(crate) fn noted_limits(&self, step_timeout: Duration) -> Vec<String> {
        let bytes = |bytes: usize| bytes.to_string();
        let is_default = duration::parse(STEP_TIMEOUT) == Ok(step_timeout);
        let limits = [
            ("--memory", self.memory.map(bytes)),
            ("--file-size", self.file_size.map(bytes)),
            (
                "--step-timeout",
                (!is_default).then(|| format!("{step_timeout:?}")),
            ),
        ];
        let given = limits
            .into_iter()
            .filter_map(|(name, value)| Some([name.to_owned(), value?]));
        given.flatten().collect()
    }

    /// Adopts limits that [`noted_limits`](ProcessArguments::noted_limits) has formatted, unless the
    /// user has given others. Returns a word that is no such option as an error.
    pub(crate) fn adopt_limits(
        &mut self,
        limits: &str,
        step_timeout: &mut Duration,
    ) -> Result<(), String> {
        let mut words = limits.split_whitespace();
        while let Some(word) = words.next() {
            let noted = words.next().unwrap_or_default();
            let limit = match word {
                "--memory" => &mut self.memory,
                "--file-size" => &mut self.file_size,
                "--step-timeout" => {
                    let noted = duration::parse(noted).map_err(|_| noted.to_owned())?;
                    if duration::parse(STEP_TIMEOUT) == Ok(*step_timeout) {
                        *step_timeout = noted;
                    }
                    continue;
                }
                unknown => return Err(unknown.to_owned()),
            };
            let noted = size::parse(noted).map_err(|_| noted.to_owned())?;
            *limit = limit.or(Some(noted));
        }
        Ok(())
    }

    /// Adopts a variable `NAME=VALUE` that a test notes, unless the user has given another value.
    pub(crate) fn adopt_variable(&mut self, noted: &str) -> Result<(), Error> {
        let (name, value) = parse_variable(noted).map_err(|_| {
            Error::new(format!(
                "the test notes a variable without a name: `{noted}`"
            ))
        })?;
        if self.env.iter().any(|(given, _)| *given == name)
            || std::env::var(&name).is_ok_and(|here| here == value)
        {
            return Ok(());
        }
        if UNSAFE_VARIABLES.iter().any(|start| name.starts_with(start)) {
            let message = format!("the test was made with `{noted}`, which a test cannot set");
            let help =
                format!("set the variable yourself if you trust the test: `{noted} testwright …`");
            return Err(Error::new(message).with_help(help));
        }
        self.env.push((name, value));
        Ok(())
    }

    /// Sets the variables in this process, and the limits in all copies of it from now on.
    pub(crate) fn put_in_force(&self) -> Result<(), Error> {
        let is_late = |(name, value): &&(String, String)| {
            name == "PYTHONHASHSEED" && std::env::var(name).ok().as_ref() != Some(value)
        };
        if let Some((name, value)) = self.env.iter().find(is_late) {
            let message = format!("`{name}` has no effect in a program that runs already");
            let help = format!("set it before: `{name}={value} testwright …`");
            return Err(Error::new(message).with_help(help));
        }
        guard::limit_copies(self.limits());
        subprocess::keep_from_files(&self.env);
        testwright_python::set_environment(&self.env)
    }
}

/// Default time limit of a step.
const STEP_TIMEOUT: &str = "5s";

/// Values of `--checks`.
#[derive(Clone, Copy, ValueEnum)]
enum PropertyChecks {
    /// every property of every slot
    All,
    /// only properties that depend on something that has changed (faster)
    Changed,
}

/// Values of `--reference-exceptions`.
#[derive(Clone, Copy, ValueEnum)]
enum ExceptionAgreement {
    /// both raise something, in compared actions
    Both,
    /// both raise the same type, in every mirrored action
    Type,
    /// both raise the same type with the same message, in every mirrored action
    Message,
}

impl SystemArguments {
    /// Returns true if properties are checked.
    pub(crate) fn check(&self) -> bool {
        !self.no_check
    }

    /// Formats the options as arguments for another Testwright process.
    pub(crate) fn to_args(&self) -> Vec<&str> {
        let mut args = self.noted_options();
        for scenario in &self.scenario {
            args.extend(["--scenario", scenario]);
        }
        args
    }

    /// Formats the options that change what a test does, apart from scenarios, as they are typed.
    pub(crate) fn noted_options(&self) -> Vec<&'static str> {
        let mut args = match self.reference_exceptions {
            None | Some(ExceptionAgreement::Both) => vec![],
            Some(ExceptionAgreement::Type) => vec!["--reference-exceptions", "type"],
            Some(ExceptionAgreement::Message) => vec!["--reference-exceptions", "message"],
        };
        if let Some(PropertyChecks::Changed) = self.checks {
            args.extend(["--checks", "changed"]);
        }
        args.extend(self.no_check.then_some("--no-check"));
        args.extend(self.no_reset.then_some("--no-reset"));
        args
    }

    /// Adopts options that [`noted_options`](SystemArguments::noted_options) has formatted, unless
    /// the user has given others. Returns a word that is no such option as an error.
    pub(crate) fn adopt(&mut self, options: &str) -> Result<(), String> {
        let mut words = options.split_whitespace();
        // `--checks` and `--no-check` exclude each other.
        let may_set_checks = self.checks.is_none() && !self.no_check;
        while let Some(word) = words.next() {
            match word {
                "--no-check" => self.no_check |= may_set_checks,
                "--no-reset" => self.no_reset = true,
                "--checks" => {
                    let noted = parse_noted(words.next())?;
                    self.checks = self.checks.or(noted.filter(|_| may_set_checks));
                }
                "--reference-exceptions" => {
                    let noted = parse_noted(words.next())?;
                    self.reference_exceptions = self.reference_exceptions.or(noted);
                }
                unknown => return Err(unknown.to_owned()),
            }
        }
        Ok(())
    }

    /// Converts the options for a harness or for models.
    ///
    /// Fails if models are given with an option that only harnesses have.
    pub(crate) fn options_for(
        &self,
        source: &SystemSource,
        output: OutputMode,
    ) -> Result<Options, Error> {
        let harness_options = [
            (!self.scenario.is_empty(), "--scenario"),
            (self.no_reset, "--no-reset"),
            (
                matches!(self.checks, Some(PropertyChecks::Changed)),
                "--checks",
            ),
            (
                !matches!(
                    self.reference_exceptions,
                    None | Some(ExceptionAgreement::Both)
                ),
                "--reference-exceptions",
            ),
        ];
        match harness_options
            .iter()
            .find(|(is_given, _)| *is_given && source.is_models())
        {
            None => Ok(self.options(output)),
            Some((_, "--scenario")) => Err(Error::new("`--scenario` is for harnesses")
                .with_help("a scenario is composed with models: name it beside them")),
            Some((_, option)) => {
                let help =
                    "models have no modules to reset, no references and no slots: leave it out";
                Err(Error::new(format!("`{option}` is for harnesses")).with_help(help))
            }
        }
    }

    /// Converts the options for a harness. Neither coverage nor a stepper is set.
    fn options(&self, output: OutputMode) -> Options {
        Options {
            process: ProcessOwner::Tool,
            output,
            reference_exceptions: match self.reference_exceptions {
                None | Some(ExceptionAgreement::Both) => ReferenceExceptions::BothRaise,
                Some(ExceptionAgreement::Type) => ReferenceExceptions::SameType,
                Some(ExceptionAgreement::Message) => ReferenceExceptions::SameTypeAndMessage,
            },
            reset_modules: !self.no_reset,
            log_level: None,
            measured: MeasuredCode::Nothing,
            checks: match self.checks {
                None | Some(PropertyChecks::All) => CheckMode::All,
                Some(PropertyChecks::Changed) => CheckMode::Changed,
            },
            scenarios: self.scenario.clone(),
            stepper: None,
        }
    }
}

/// Parses the value of an option in a note. Returns a value that does not exist as an error.
fn parse_noted<T: ValueEnum>(value: Option<&str>) -> Result<Option<T>, String> {
    let value = value.unwrap_or_default();
    T::from_str(value, false)
        .map(Some)
        .map_err(|_| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names in the table that clap does not have, and those of clap that are not in
    /// the table.
    fn differences(groups: &[(&str, &[CommandRow])]) -> (Vec<String>, Vec<String>) {
        let listed: Vec<String> = groups
            .iter()
            .flat_map(|(_, rows)| *rows)
            .map(|row| row.name.to_owned())
            .collect();
        let command = Cli::command();
        let known: Vec<String> = command
            .get_subcommands()
            .filter(|nested| !nested.is_hide_set())
            .map(|nested| nested.get_name().to_owned())
            .collect();
        let without = |these: &[String], others: &[String]| {
            let missing = these.iter().filter(|name| !others.contains(name));
            missing.cloned().collect()
        };
        (without(&listed, &known), without(&known, &listed))
    }

    #[test]
    fn every_command_is_in_the_help() {
        assert_eq!(differences(&GROUPS), (vec![], vec![]));
    }

    #[test]
    fn a_command_without_a_row_is_noticed() {
        let (unknown, missing) = differences(&GROUPS[..4]);
        assert_eq!(
            (unknown.len(), missing),
            (0, vec!["compile".into(), "compat".into()])
        );
        let invented = [row("fly", "", &[])];
        assert_eq!(differences(&[("Test", &invented)]).0, ["fly"]);
    }
}
