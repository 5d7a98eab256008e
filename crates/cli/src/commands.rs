//! What can be typed after `testwright`.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use testwright_core::Error;
use testwright_python::{ChecksWhen, Measured, Options, Output, Process, ReferenceExceptions};

use crate::console::Console;
use crate::report::shell_word;
use crate::source::Source;
use crate::{ExitStatus, Trouble, duration};

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
mod normalize;
mod quick;
mod reduce;
mod regress;
mod replay;
mod run;
mod show;
mod standalone;
mod triage;

pub(crate) use run::{Chosen, Pace, Run, draw_seed, probability};

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

`testwright COMMAND --help` explains a command, with examples.
Exit status: 0 nothing found, 1 a failure was found, 2 could not do what was asked.

The code under test is executed: run only harnesses and code that you trust."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Check(check::Check),
    Expand(expand::Expand),
    Run(run::Run),
    Explore(explore::Explore),
    Replay(replay::Replay),
    Reduce(reduce::Reduce),
    Normalize(normalize::Normalize),
    Generalize(generalize::Generalize),
    Regress(regress::Regress),
    Quick(quick::Quick),
    Triage(triage::Triage),
    Localize(localize::Localize),
    Markov(markov::Markov),
    Standalone(standalone::Standalone),
    Compile(compile::Compile),
    Cover(cover::Cover),
    Model(model::Model),
    Conform(conform::Conform),
    Graph(graph::Graph),
    Feature(feature::Feature),
    Campaign(campaign::Campaign),
    Explain(explain::Explain),
    Measure(measure::Measure),
    Capture(capture::Capture),
    Show(show::Show),
    Generate(generate::Generate),
    Changes(changes::Changes),
    Mutate(mutate::Mutate),
    Harness(harness::Harness),
    Compat(crate::compat::Compat),
    #[command(hide = true)]
    Worker(crate::workers::Worker),
}

impl Command {
    /// `words` are what was typed.
    pub(crate) fn run(
        self,
        console: &mut Console<'_>,
        words: &[OsString],
    ) -> Result<ExitStatus, Trouble> {
        match self {
            Command::Check(check) => check.run(console),
            Command::Expand(expand) => expand.run(console),
            Command::Run(run) => run.run(console, words.get(1..).unwrap_or_default()),
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

/// How the system under test is run; the same for every command that runs it.
#[derive(Args)]
#[command(next_help_heading = "How the system runs")]
pub(crate) struct SystemArguments {
    /// Do not check the properties after every step
    #[arg(long, conflicts_with = "checks")]
    no_check: bool,

    /// Which properties to check after a step
    #[arg(long, value_name = "WHICH", value_enum, default_value = "all")]
    checks: Checked,

    /// Do not execute the imported modules again for each test (faster)
    #[arg(long)]
    no_reset: bool,

    /// When an exception of the system and one of its reference agree
    #[arg(long, value_name = "WHEN", value_enum, default_value = "both")]
    reference_exceptions: Agreement,

    /// Take only lines that this machine or list of runs lets come next; can be given several times
    #[arg(long, value_name = "MODULE")]
    scenario: Vec<String>,

    /// How long a step may take before it counts as a hang
    #[arg(long, value_name = "DURATION", default_value = STEP_TIMEOUT, allow_hyphen_values = true, value_parser = duration::parse)]
    pub(crate) step_timeout: Duration,
}

/// What is tested with models.
#[derive(Args, Default)]
struct StepperArgument {
    /// For models: the module that makes an implementation do each step, and tells what is wrong
    #[arg(long, value_name = "MODULE")]
    stepper: Option<String>,
}

impl StepperArgument {
    /// The same options, with the stepper.
    fn put_into(
        &self,
        options: Options,
        source: &Source,
        step_timeout: Duration,
    ) -> Result<Options, Error> {
        match &self.stepper {
            None => Ok(options),
            Some(_) if !source.is_models() => Err(Error::new("`--stepper` is for models")
                .with_help("a harness says itself what is done to the system: leave it out")),
            Some(_) => Ok(Options {
                stepper: self.patient(step_timeout),
                ..options
            }),
        }
    }

    /// The stepper, and how long it may take: it has time to say that it is late before somebody ends it.
    fn patient(&self, step_timeout: Duration) -> Option<(String, Duration)> {
        Some((self.stepper.clone()?, step_timeout / 2))
    }

    fn name(&self) -> Option<String> {
        self.stepper.clone()
    }

    /// The same again, as it is typed.
    fn as_option(&self) -> String {
        let option = |name: &String| format!(" --stepper {}", shell_word(Path::new(name)));
        self.stepper.as_ref().map(option).unwrap_or_default()
    }
}

/// How long a step may take unless somebody says otherwise.
const STEP_TIMEOUT: &str = "5s";

#[derive(Clone, Copy, ValueEnum)]
enum Checked {
    /// every property of every slot
    All,
    /// those that can see something that has changed (faster)
    Changed,
}

#[derive(Clone, Copy, ValueEnum)]
enum Agreement {
    /// both raise something, in compared actions
    Both,
    /// both raise the same type, in every mirrored action
    Type,
    /// both raise the same type with the same message, in every mirrored action
    Message,
}

impl SystemArguments {
    /// The same again, for another process.
    pub(crate) fn as_words(&self) -> Vec<&str> {
        let agreement = match self.reference_exceptions {
            Agreement::Both => "both",
            Agreement::Type => "type",
            Agreement::Message => "message",
        };
        let mut words = vec!["--reference-exceptions", agreement];
        if let Checked::Changed = self.checks {
            words.extend(["--checks", "changed"]);
        }
        words.extend(self.no_check.then_some("--no-check"));
        words.extend(self.no_reset.then_some("--no-reset"));
        for scenario in &self.scenario {
            words.extend(["--scenario", scenario]);
        }
        words
    }

    /// The same for what is to be run. Some of it has no meaning for models.
    fn options_for(&self, source: &Source, output: Output) -> Result<Options, Error> {
        let given = [
            (!self.scenario.is_empty(), "--scenario"),
            (self.no_reset, "--no-reset"),
            (matches!(self.checks, Checked::Changed), "--checks"),
            (
                !matches!(self.reference_exceptions, Agreement::Both),
                "--reference-exceptions",
            ),
        ];
        match given
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

    fn options(&self, output: Output) -> Options {
        Options {
            process: Process::OfTheTool,
            output,
            reference_exceptions: match self.reference_exceptions {
                Agreement::Both => ReferenceExceptions::BothRaise,
                Agreement::Type => ReferenceExceptions::SameType,
                Agreement::Message => ReferenceExceptions::SameTypeAndMessage,
            },
            reset_modules: !self.no_reset,
            log_level: None,
            measured: Measured::Nothing,
            checks: match self.checks {
                Checked::All => ChecksWhen::All,
                Checked::Changed => ChecksWhen::Changed,
            },
            scenarios: self.scenario.clone(),
            stepper: None,
        }
    }
}
