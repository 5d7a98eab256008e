//! `tstl_rt`: the random tester.

use std::path::{Path, PathBuf};
use std::time::Duration;

use testwright_core::shrink::{ReduceMethod, ReduceOptions};
use testwright_python::{MeasuredCode, Options, OutputMode};

use super::{Invocation, Tool, ToolOutcome, parse_probability, seconds};
use crate::compiled::CompiledModule;
use crate::console::Console;
use crate::{CommandError, load};

mod analyses;
mod failures;
mod observed_system;
mod quick;
mod session;
mod strategy;
mod summary;

use session::{Session, SessionFiles};

/// Search for failures with random tests
#[derive(clap::Parser)]
#[command(name = "tstl_rt", rename_all = "camelCase")]
pub(super) struct RandomTester {
    /// Same seed, same tests
    #[arg(long, short, value_name = "N", allow_negative_numbers = true)]
    seed: Option<i64>,

    /// Time to search, in seconds
    #[arg(long, short, value_name = "SECONDS", default_value = "3600", value_parser = seconds)]
    timeout: Duration,

    /// Maximum number of tests; -1 for no limit
    #[arg(
        long,
        short,
        value_name = "N",
        default_value = "-1",
        allow_negative_numbers = true
    )]
    max_tests: i64,

    /// Maximum number of steps in a test
    #[arg(long, short, value_name = "N", default_value = "100")]
    depth: u32,

    /// File to save a failing test to [default: failure.PID.test]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Continue after failures
    #[arg(long, short = 'M')]
    multiple: bool,

    /// Print code that is covered for the first time
    #[arg(long, short)]
    running: bool,

    /// Save a short test for all that is covered
    #[arg(long, short)]
    quick_tests: bool,

    /// Do not measure coverage
    #[arg(long, short)]
    no_cover: bool,

    /// Print more
    #[arg(long, short)]
    verbose: bool,

    /// Do not show all values when a failing test is shown
    #[arg(long)]
    silent_fail: bool,

    /// Do not show what the system prints
    #[arg(long = "silentSUT")]
    silent_sut: bool,

    /// Make failing tests simpler, too
    #[arg(long)]
    normalize: bool,

    /// Show which other values make failing tests fail too
    #[arg(long)]
    generalize: bool,

    /// Leave out some lines of the harness in each test
    #[arg(long, short = 'w')]
    swarm: bool,

    /// Accepted, but has no effect
    #[arg(long = "generateLOC", value_name = "FILE")]
    generate_loc: Option<PathBuf>,

    /// Prefer actions that run many lines of code, by a file of lines `ACTION %%%% NUMBER`
    #[arg(long = "biasLOC", value_name = "FILE")]
    bias_loc: Option<PathBuf>,

    /// Probability of continuing from a test that covered something new
    #[arg(long, short = 'x', value_name = "P", value_parser = parse_probability)]
    exploit: Option<f64>,

    /// Shorten tests that covered something new before continuing from them
    #[arg(long)]
    reduce_pool: bool,

    /// Probability of mutating a test to continue from
    #[arg(long = "Pmutate", value_name = "P", default_value = "0.0", value_parser = parse_probability)]
    p_mutate: f64,

    /// Probability of crossing a mutated test with another
    #[arg(long = "Pcrossover", value_name = "P", default_value = "0.2", value_parser = parse_probability)]
    p_crossover: f64,

    /// Print how often each line of the harness was taken, and the time it took
    #[arg(long)]
    profile: bool,

    /// Prefer lines of the harness that were rarely taken
    #[arg(long)]
    profile_probs: bool,

    /// Also continue from tests that reached a new state
    #[arg(long)]
    track_states: bool,

    /// Stop when several sessions cover the same code
    #[arg(long)]
    stop_saturated: bool,

    /// Number of sessions to compare for --stopSaturated
    #[arg(long, value_name = "N", default_value = "4")]
    sessions: usize,

    /// Measure coverage at the end
    #[arg(long)]
    post_cover: bool,

    /// Write pages of what is covered to this folder
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,

    /// Keep the current test in `currtest.test`, in case of a crash
    #[arg(long)]
    replayable: bool,

    /// Keep all tests in `fulltest.test`, in case of a crash
    #[arg(long)]
    total: bool,

    /// Do not check properties
    #[arg(long)]
    no_check: bool,

    /// Exceptions of actions are no failures
    #[arg(long)]
    uncaught: bool,

    /// Rerun each test, and stop if it behaves differently
    #[arg(long)]
    check_determinism: bool,

    /// Number of times to rerun a test for --checkDeterminism
    #[arg(long, value_name = "N", default_value = "1")]
    determinism_tries: usize,

    /// Time to wait before each rerun
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    determinism_delay: Duration,

    /// Rerun each test in other processes, and stop if its values differ
    #[arg(long)]
    check_process_determinism: bool,

    /// Accepted for scripts; has no effect
    #[arg(long, value_name = "N", default_value = "1")]
    process_det_tries: usize,

    /// Accepted for scripts; has no effect
    #[arg(long, value_name = "SECONDS", default_value = "0")]
    process_det_delay: f64,

    /// Prefix of the names of quick tests
    #[arg(long, value_name = "PREFIX", default_value = "quick")]
    quick_prefix: String,

    /// Begin with the existing quick tests
    #[arg(long)]
    read_quick: bool,

    /// Print code that failing tests run and passing tests do not
    #[arg(long)]
    localize: bool,

    /// Number of locations that --localize prints
    #[arg(long, value_name = "N", default_value = "20")]
    localize_top: usize,

    /// Do not make failing tests shorter
    #[arg(long)]
    full: bool,

    /// Show `log:` lines up to this level
    #[arg(long, short, value_name = "N", allow_negative_numbers = true)]
    logging: Option<i64>,

    /// Show `log:` lines up to this level for failing tests
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    failed_logging: Option<i64>,

    /// Print progress after each test
    #[arg(long)]
    progress: bool,

    /// Seconds between reports of progress; -1 for none
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "30",
        allow_negative_numbers = true
    )]
    timed_progress: i64,

    /// Use classic delta debugging
    #[arg(long)]
    ddmin: bool,

    /// Use dependencies to see what is enabled
    #[arg(long)]
    use_dependencies: bool,

    /// List all enabled actions before choosing one
    #[arg(long)]
    enumerate_enabled: bool,

    /// Do not list all enabled actions
    #[arg(long)]
    no_enumerate_enabled: bool,

    /// Include in a state whether its values were used
    #[arg(long)]
    track_used: bool,

    /// Keep the last step of a failing test
    #[arg(long, short)]
    keep_last: bool,

    /// Keep steps that are not enabled
    #[arg(long)]
    no_prune_guards: bool,

    /// Probability of each line of the harness to be in a test
    #[arg(long, value_name = "P", default_value = "0.5", value_parser = parse_probability)]
    swarm_p: f64,

    /// Print which lines of the harness lead to which coverage
    #[arg(long)]
    compute_feature_stats: bool,

    /// Write the lines of the harness in each test, and its coverage
    #[arg(long, value_name = "FILE")]
    save_swarm_coverage: Option<PathBuf>,

    /// Leave nothing out, but take some lines of the harness with this probability in all
    #[arg(long, value_name = "P", value_parser = parse_probability)]
    high_low_swarm: Option<f64>,

    /// File with the probability of each line of the harness to be in a test
    #[arg(long, value_name = "FILE")]
    swarm_probs: Option<PathBuf>,

    /// Take only lines of the harness that this test has
    #[arg(long, value_name = "TEST")]
    swarm_from_test: Option<PathBuf>,

    /// Number of times to choose other lines of the harness within a test
    #[arg(long, value_name = "N")]
    swarm_switch: Option<usize>,

    /// Number of steps after which to choose other lines of the harness
    #[arg(long, value_name = "N")]
    swarm_length: Option<usize>,

    /// Choose lines of the harness by probabilities in a file
    #[arg(long, value_name = "FILE")]
    probs: Option<PathBuf>,

    /// Choose lines of the harness with equal probabilities
    #[arg(long)]
    equal_probs: bool,

    /// The probability of all actions that run no code of the system
    #[arg(long = "LOCBaseline", value_name = "P", default_value = "0.2", value_parser = parse_probability)]
    loc_baseline: f64,

    /// Choose lines of the harness by how much code they call
    #[arg(long = "LOCProbs")]
    loc_probs: bool,

    /// Choose by a model that `tstl_markov` wrote
    #[arg(long, value_name = "FILE")]
    markov: Option<PathBuf>,

    /// Probability of choosing by the model
    #[arg(long = "markovP", value_name = "P", default_value = "1.0", value_parser = parse_probability)]
    markov_p: f64,

    /// Put pieces of these tests together, a pattern with `*` and `?`
    #[arg(long, value_name = "GLOB")]
    sequences_from_tests: Option<String>,

    /// Probability of taking a step from such a piece
    #[arg(long = "sequenceP", value_name = "P", default_value = "1.0", value_parser = parse_probability)]
    sequence_p: f64,

    /// Number of steps in a piece
    #[arg(long, value_name = "N", default_value = "3")]
    sequence_size: usize,

    /// Use pieces of quick tests, too
    #[arg(long)]
    use_quick_sequences: bool,

    /// Save each test that covers something new as PREFIX.N.test
    #[arg(long, value_name = "PREFIX")]
    save_pool: Option<String>,

    /// Begin with tests that --savePool saved
    #[arg(long, value_name = "PREFIX")]
    read_pool: Option<String>,

    /// Seconds after which to continue from other tests
    #[arg(long, value_name = "SECONDS", default_value = "0.0", value_parser = seconds)]
    start_exploit: Duration,

    /// Number of tests without new coverage after which to continue from other tests
    #[arg(long, value_name = "N", default_value = "0")]
    start_exploit_stall: u64,

    /// Print more about continuing from other tests
    #[arg(long)]
    verbose_exploit: bool,

    /// Continue from tests that cover rare code: covered by at most RATIO times the mean number of tests
    #[arg(long, value_name = "RATIO", default_value = "0.5")]
    exploit_ceiling: f64,

    /// Also continue from tests with the highest `hint:` values
    #[arg(long)]
    use_hints: bool,

    /// Do not continue from tests because they covered something new
    #[arg(long)]
    no_coverage_exploit: bool,

    /// Number of tests with the highest `hint:` values to continue from
    #[arg(long, value_name = "N", default_value = "1")]
    exploit_best_hint: usize,

    /// Show all covered code at the end
    #[arg(long)]
    internal: bool,

    /// Write the number of tests that cover each branch and statement
    #[arg(long, value_name = "FILE")]
    full_coverage: Option<PathBuf>,

    /// File to write the coverage to
    #[arg(long, value_name = "FILE", default_value = "coverage.out")]
    cover_file: PathBuf,

    /// Reduced tests may fail in another way
    #[arg(long)]
    no_exception_match: bool,

    /// Print the number of actions per second after each test
    #[arg(long)]
    throughput: bool,

    /// Stop when N branches are covered
    #[arg(long, value_name = "N")]
    stop_when_branches: Option<usize>,

    /// Stop when N statements are covered
    #[arg(long, value_name = "N")]
    stop_when_statements: Option<usize>,

    /// Stop after N tests that covered nothing new
    #[arg(long, value_name = "N")]
    stop_when_no_coverage: Option<u64>,

    /// End a test after N steps that covered nothing new
    #[arg(long, value_name = "N")]
    stop_test_when_no_coverage: Option<u64>,

    /// End a test when it takes fewer than RATE actions per second
    #[arg(long, value_name = "RATE")]
    stop_test_when_throughput_below: Option<f64>,

    /// Stop when this branch, FILE:FROM-TO, is covered, and keep a test for it
    #[arg(long, value_name = "BRANCH")]
    stop_when_hit_branch: Option<String>,

    /// Stop when this statement, FILE:LINE, is covered, and keep a test for it
    #[arg(long, value_name = "STATEMENT")]
    stop_when_hit_statement: Option<String>,

    /// Save the test that covers the most
    #[arg(long, value_name = "FILE")]
    track_max_coverage: Option<PathBuf>,

    /// The test that covers the most must cover this branch
    #[arg(long, value_name = "BRANCH")]
    max_must_hit_branch: Option<String>,

    /// The test that covers the most must cover this statement
    #[arg(long, value_name = "STATEMENT")]
    max_must_hit_statement: Option<String>,

    /// Show all values that a step uses
    #[arg(long)]
    verbose_actions: bool,

    /// Do not show values of opaque pools
    #[arg(long)]
    hide_opaque: bool,

    /// Show each step
    #[arg(long)]
    show_actions: bool,

    /// Do not put slots in order
    #[arg(long)]
    no_alpha_convert: bool,

    /// Show how failing tests differ
    #[arg(long)]
    compare_fails: bool,

    /// Allow swarms without the lines that make the values they need
    #[arg(long)]
    no_swarm_dependencies: bool,

    /// Allow swarms without lines that use the values they make
    #[arg(long)]
    no_swarm_force_parent: bool,

    /// Depth of the search for similar tests
    #[arg(long, value_name = "N")]
    gen_depth: Option<usize>,

    /// Probability of repeating an action
    #[arg(long, value_name = "P", value_parser = parse_probability)]
    stutter: Option<f64>,

    /// Repeat an action if it covered something new
    #[arg(long)]
    greedy_stutter: bool,

    /// Print the steps that failing tests need
    #[arg(long)]
    essentials: bool,

    /// Shorten tests for each branch, and print their contents
    #[arg(long)]
    quick_analysis: bool,

    /// Shorten tests for each value, and print their contents
    #[arg(long)]
    unique_values_analysis: bool,

    /// Leave out branches that other short tests have
    #[arg(long)]
    fast_quick_analysis: bool,

    /// Thoroughness of making failing tests simpler
    #[arg(long, value_name = "WORD", default_value = "FAST")]
    speed: String,

    /// Make failing tests simpler so that no slot is filled twice
    #[arg(long)]
    no_reassign: bool,

    /// Values may be replaced before they are used
    #[arg(long)]
    relax: bool,
}

impl Tool for RandomTester {
    const WITHOUT_EFFECT: &'static [(&'static str, &'static str)] = &[
        (
            "generate_loc",
            "lines of code per action are not counted; --profileProbs and --equalProbs find rare actions, too",
        ),
        (
            "loc_probs",
            "lines of code per action are not counted; --profileProbs and --equalProbs find rare actions, too",
        ),
        (
            "reduce_pool",
            "tests end with the step that covered something new as it is",
        ),
        (
            "post_cover",
            "coverage is measured while tests run, at little cost",
        ),
        (
            "process_det_tries",
            "TSTL ignores it as well; --determinismTries is meant",
        ),
        (
            "process_det_delay",
            "TSTL ignores it as well; --determinismDelay is meant",
        ),
        (
            "use_dependencies",
            "choosing among enabled actions is always exact and fast",
        ),
        (
            "enumerate_enabled",
            "choosing among enabled actions is always exact and fast",
        ),
        (
            "no_enumerate_enabled",
            "choosing among enabled actions is always exact and fast",
        ),
        (
            "track_used",
            "whether values were used is always a part of a state",
        ),
        (
            "no_prune_guards",
            "steps that are not enabled do nothing, so they are always left out",
        ),
        (
            "compute_feature_stats",
            "--saveSwarmCoverage writes what they are computed from",
        ),
        ("use_quick_sequences", "TSTL ignores it as well"),
        ("verbose_exploit", "there is nothing more to say"),
        (
            "stop_test_when_no_coverage",
            "a test always runs to its full length, as with TSTL; --depth makes tests shorter",
        ),
        (
            "stop_test_when_throughput_below",
            "a test always runs to its full length; --depth makes tests shorter",
        ),
        (
            "no_alpha_convert",
            "reduced tests always have their slots in order",
        ),
        (
            "compare_fails",
            "`tstl_triage` shows which failing tests are alike",
        ),
        (
            "gen_depth",
            "`tstl_triage` shows which failing tests are alike",
        ),
        (
            "essentials",
            "`tstl_reduce --multiple` finds other reductions",
        ),
        (
            "quick_analysis",
            "--quickTests saves a short test for all that is covered",
        ),
        (
            "unique_values_analysis",
            "--quickTests saves a short test for all that is covered",
        ),
        (
            "fast_quick_analysis",
            "--quickTests saves a short test for all that is covered",
        ),
    ];

    fn run(
        self,
        console: &mut Console<'_>,
        invocation: &Invocation,
    ) -> Result<ToolOutcome, CommandError> {
        let compiled = CompiledModule::read(Path::new("sut.py"))?;
        let files = SessionFiles::new(&self)?;
        let seed = match self.seed {
            Some(seed) => seed.cast_unsigned(),
            None => crate::commands::draw_seed(),
        };
        let config = invocation.config_with(&[
            ("seed", seed.cast_signed().to_string()),
            ("output", files.output.shown().display().to_string()),
        ]);
        console.out(format_args!("Random testing using config={config}"));
        console.flush();
        let measured = if self.no_cover {
            MeasuredCode::Nothing
        } else {
            MeasuredCode::ModulesIfPossible
        };
        let options = Options {
            log_level: self.logging,
            ..compiled.options(self.shown_output(), measured)
        };
        let (file, harness) = load::harness(console, &compiled.harness)?;
        load::with_system(console, &file, harness, &options, |console, system| {
            let cover_resets = compiled.settings.count_loading_as_covered;
            Session::new(&self, &files, seed).run(console, system, &file.name, cover_resets)
        })
    }
}

impl RandomTester {
    /// Returns the destination of the system's output.
    fn shown_output(&self) -> OutputMode {
        if self.silent_sut {
            OutputMode::Drop
        } else {
            OutputMode::Show
        }
    }

    /// Returns the options of the reduction.
    fn reduce_options(&self) -> ReduceOptions {
        ReduceOptions {
            method: if self.ddmin {
                ReduceMethod::Ddmin
            } else {
                ReduceMethod::Greedy
            },
            keep_last: self.keep_last,
            check: !self.no_check,
        }
    }

    /// Returns true if the coverage of each single test is needed.
    fn measures_each_test(&self) -> bool {
        self.quick_tests
            || self.localize
            || self.stop_saturated
            || self.full_coverage.is_some()
            || self.save_swarm_coverage.is_some()
            || self.track_max_coverage.is_some()
            || self.stop_when_hit_branch.is_some()
            || self.stop_when_hit_statement.is_some()
    }
}
