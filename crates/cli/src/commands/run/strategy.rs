//! `--strategy`: the way in which tests are made.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use testwright_core::generate::swarm::{Inclusion, Switching};
use testwright_core::generate::{
    Auto, BorrowingStrategy, ByClass, ClassTable, Exploit, Extend, ExtendOptions, Markov,
    MarkovModel, NewCoverage, NothingNew, Profile, SearchOptions, SearchSummary, SearchWatcher,
    SequenceOptions, Sequences, Strategy, Swarm, SwarmOptions, search, search_with,
};
use testwright_core::{ActionClasses, Covered, Error, System, Test};
use testwright_python::MeasuredCode;

use crate::console::Console;
use crate::files::TextFile;
use crate::quantity::parse_from_zero;
use crate::target::Target;
use crate::{CommandError, load};

/// Options that choose and configure the strategy.
#[derive(Args)]
#[command(next_help_heading = "Making tests")]
pub(super) struct StrategyArguments {
    /// Strategy that chooses the next action of a test
    #[arg(long, value_name = "NAME", value_enum, default_value = "auto")]
    strategy: StrategyName,

    /// Input of `markov`, `probabilities` and `sequences`: a file, or a folder of tests
    #[arg(long, value_name = "PATH")]
    from: Option<PathBuf>,

    /// Probability that `swarm` uses a line of the harness in a test
    #[arg(long, value_name = "P", default_value = "0.5", value_parser = parse_probability)]
    swarm_inclusion: f64,

    /// Number of times that `swarm` chooses other lines within a test
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true, value_parser = parse_from_zero::<usize>)]
    swarm_switch: usize,
}

/// Values of `--strategy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StrategyName {
    /// mix the others, and prefer the ones that reach new code in this system
    Auto,
    /// any enabled action, all equally likely
    Random,
    /// some lines of the harness, different ones in each test
    Swarm,
    /// any line of the harness, then one of its actions
    Equal,
    /// lines that were rarely taken so far
    Rare,
    /// continue tests that reached new code, changed or not
    Exploit,
    /// continue tests that reached much code
    Extend,
    /// the action that followed the last steps in the tests that a model was learned from
    Markov,
    /// a line by its probability in a file, then one of its actions
    Probabilities,
    /// pieces of saved tests in new combinations
    Sequences,
}

/// Parses a number from 0 to 1.
pub(crate) fn parse_probability(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|number| (0.0..=1.0).contains(number))
        .ok_or_else(|| "must be a number from 0 to 1".to_owned())
}

impl StrategyArguments {
    /// Returns what must be measured. Some strategies need coverage even if no report is requested.
    pub(super) fn measured(&self, requested: MeasuredCode) -> MeasuredCode {
        match (requested, self.strategy) {
            (MeasuredCode::Nothing, StrategyName::Auto) => MeasuredCode::ModulesIfPossible,
            (MeasuredCode::Nothing, StrategyName::Exploit | StrategyName::Extend) => {
                MeasuredCode::Modules
            }
            (requested, _) => requested,
        }
    }

    /// Returns true if tests may have more steps than `--length`.
    pub(super) fn may_be_longer(&self, is_length_fixed: bool) -> bool {
        match self.strategy {
            StrategyName::Auto => !is_length_fixed,
            StrategyName::Exploit | StrategyName::Extend => true,
            _ => false,
        }
    }

    /// Builds the strategy for a system. With a fixed length, tests are never longer than that.
    pub(super) fn build<S: System + Covered>(
        &self,
        console: &mut Console<'_>,
        system: &mut impl Target,
        is_length_fixed: bool,
    ) -> Result<SelectedStrategy<S>, CommandError> {
        let classes = Arc::new(ActionClasses::new(system.actions()));
        let boxed: Box<dyn Strategy<S>> = match self.strategy {
            StrategyName::Auto => {
                return Ok(match (system.is_measured(), is_length_fixed) {
                    (true, false) => {
                        SelectedStrategy::Auto(Box::new(Auto::new(&classes, NewCoverage)))
                    }
                    (true, true) => {
                        let auto = Auto::new(&classes, NewCoverage);
                        SelectedStrategy::Auto(Box::new(auto.with_fixed_length()))
                    }
                    (false, false) => {
                        SelectedStrategy::Other(Box::new(Auto::new(&classes, NothingNew)))
                    }
                    (false, true) => {
                        let auto = Auto::new(&classes, NothingNew);
                        SelectedStrategy::Other(Box::new(auto.with_fixed_length()))
                    }
                });
            }
            StrategyName::Random => return Ok(SelectedStrategy::Uniform),
            StrategyName::Swarm => Box::new(Swarm::new(&classes, self.swarm_options())),
            StrategyName::Equal => Box::new(ByClass::equal(&classes)),
            StrategyName::Rare => Box::new(Profile::new(&classes)),
            StrategyName::Exploit => Box::new(Exploit::with_novelty(NewCoverage)),
            StrategyName::Extend => Box::new(Extend::new(NewCoverage, ExtendOptions::default())),
            StrategyName::Markov => {
                let file =
                    self.required_file("markov", "a model that `testwright markov` wrote")?;
                let (model, problems) = MarkovModel::read(&classes, &file.text);
                load::reject_problems(console, &file, &problems)?;
                Box::new(Markov::new(&classes, model, 1.0))
            }
            StrategyName::Probabilities => {
                let file =
                    self.required_file("probabilities", "a file of lines `CLASS %%%% 0.5`")?;
                let (table, problems) = ClassTable::read(&classes, &file.text);
                load::reject_problems(console, &file, &problems)?;
                Box::new(ByClass::new(&classes, &table))
            }
            StrategyName::Sequences => {
                let path = self.required_path("sequences", "saved tests, as a folder or a file")?;
                let mut tests = Vec::new();
                for file in load::test_files(std::slice::from_ref(path))? {
                    let (file, test) = load::test(console, system, file)?;
                    tests.push((file.name, test));
                }
                let tests = tests.iter().map(|(name, test)| (name.clone(), test));
                Box::new(Sequences::new(tests, SequenceOptions::default()))
            }
        };
        Ok(SelectedStrategy::Other(boxed))
    }

    /// Returns the options of `swarm`.
    fn swarm_options(&self) -> SwarmOptions {
        SwarmOptions {
            inclusion: Inclusion::Same(self.swarm_inclusion),
            switching: match self.swarm_switch {
                0 => Switching::PerTest,
                times => Switching::Times(times),
            },
            ..SwarmOptions::default()
        }
    }

    /// Returns the value of `--from`, which this strategy needs.
    fn required_path(&self, strategy: &str, description: &str) -> Result<&PathBuf, Error> {
        self.from.as_ref().ok_or_else(|| {
            Error::new(format!("the strategy `{strategy}` needs {description}"))
                .with_help("name it with `--from PATH`")
        })
    }

    /// Reads the file named by `--from`.
    fn required_file(&self, strategy: &str, description: &str) -> Result<TextFile, Error> {
        TextFile::read(self.required_path(strategy, description)?)
    }
}

/// A strategy that is ready to search.
pub(crate) enum SelectedStrategy<S> {
    /// Every enabled action is equally likely.
    Uniform,
    /// The default mix of strategies.
    Auto(Box<Auto<NewCoverage>>),
    /// Any other strategy.
    Other(Box<dyn Strategy<S>>),
}

impl<S: System + Covered> SelectedStrategy<S> {
    /// Searches with the strategy. `shared_tests` returns tests of other workers, which the
    /// strategy may build on.
    pub(crate) fn search<F: FnMut(&mut S) -> Option<Test>>(
        self,
        system: &mut S,
        plan: &SearchOptions,
        watcher: &mut dyn SearchWatcher<S>,
        shared_tests: Option<F>,
    ) -> Result<SearchSummary, Error> {
        // The common strategies are called directly: a virtual call for each step would be noticeable.
        match (self, shared_tests) {
            (SelectedStrategy::Uniform, _) => search(system, plan, watcher),
            (SelectedStrategy::Auto(mut auto), None) => {
                search_with(system, &mut *auto, plan, watcher)
            }
            (SelectedStrategy::Auto(auto), Some(shared_tests)) => search_with(
                system,
                &mut BorrowingStrategy::new(*auto, shared_tests),
                plan,
                watcher,
            ),
            (SelectedStrategy::Other(mut strategy), None) => {
                search_with(system, &mut strategy, plan, watcher)
            }
            (SelectedStrategy::Other(strategy), Some(shared_tests)) => search_with(
                system,
                &mut BorrowingStrategy::new(strategy, shared_tests),
                plan,
                watcher,
            ),
        }
    }
}
