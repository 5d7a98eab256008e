//! `--strategy`: how tests are made.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use testwright_core::generate::swarm::{Inclusion, Switching};
use testwright_core::generate::{
    Auto, ByClass, ClassTable, Exploit, Extend, ExtendOptions, Markov, MarkovModel, NewCoverage,
    NothingNew, Profile, Search, SearchWatcher, SequenceOptions, Sequences, Shared, Strategy,
    Summary, Swarm, SwarmOptions, search, search_with,
};
use testwright_core::{Classes, Covered, Error, System, Test};
use testwright_python::Measured;

use crate::console::Console;
use crate::files::TextFile;
use crate::subject::Subject;
use crate::{Trouble, load};

/// How tests are made.
#[derive(Args)]
#[command(next_help_heading = "How tests are made")]
pub(super) struct StrategyArguments {
    /// How to choose what a test does next
    #[arg(long, value_name = "NAME", value_enum, default_value = "auto")]
    strategy: Name,

    /// What `markov`, `probabilities` and `sequences` work with: a file, or a folder of tests
    #[arg(long, value_name = "PATH")]
    from: Option<PathBuf>,

    /// How likely each line of the harness is to be in a test made by `swarm`
    #[arg(long, value_name = "P", default_value = "0.5", value_parser = probability)]
    swarm_inclusion: f64,

    /// Let `swarm` change its mind so many times within each test
    #[arg(long, value_name = "N", default_value = "0")]
    swarm_switch: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// mix all of them, and shift to what reaches new code in this system
    Auto,
    /// any enabled action, all equally likely
    Random,
    /// only some lines of the harness, others in each test
    Swarm,
    /// any line of the harness first, then one of its actions
    Equal,
    /// lines that were rarely taken so far
    Rare,
    /// go on from tests that reached new code, changed or not
    Exploit,
    /// go on from tests that reached much code
    Extend,
    /// what followed the last steps in the tests that a model was learned from
    Markov,
    /// a line by its probability in a file, then one of its actions
    Probabilities,
    /// pieces of saved tests, put together anew
    Sequences,
}

pub(crate) fn probability(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|number| (0.0..=1.0).contains(number))
        .ok_or_else(|| "must be a number from 0 to 1".to_owned())
}

impl StrategyArguments {
    /// What has to be measured for the strategy, whether anybody wants a report or not.
    pub(super) fn measured(&self, wanted: Measured) -> Measured {
        match (wanted, self.strategy) {
            (Measured::Nothing, Name::Auto) => Measured::ModulesIfPossible,
            (Measured::Nothing, Name::Exploit | Name::Extend) => Measured::Modules,
            (wanted, _) => wanted,
        }
    }

    /// Whether tests may have more steps than were asked for.
    pub(super) fn may_be_longer(&self, is_length_fixed: bool) -> bool {
        match self.strategy {
            Name::Auto => !is_length_fixed,
            Name::Exploit | Name::Extend => true,
            _ => false,
        }
    }

    /// The strategy, made for a system. A length that somebody asked for is kept to.
    pub(super) fn chosen<S: System + Covered>(
        &self,
        console: &mut Console<'_>,
        system: &mut impl Subject,
        is_length_fixed: bool,
    ) -> Result<Chosen<S>, Trouble> {
        let classes = Arc::new(Classes::new(system.actions()));
        let boxed: Box<dyn Strategy<S>> = match self.strategy {
            Name::Auto => {
                return Ok(match (system.is_measured(), is_length_fixed) {
                    (true, false) => Chosen::Auto(Box::new(Auto::new(&classes, NewCoverage))),
                    (true, true) => {
                        let auto = Auto::new(&classes, NewCoverage);
                        Chosen::Auto(Box::new(auto.with_fixed_length()))
                    }
                    (false, false) => Chosen::Other(Box::new(Auto::new(&classes, NothingNew))),
                    (false, true) => {
                        let auto = Auto::new(&classes, NothingNew);
                        Chosen::Other(Box::new(auto.with_fixed_length()))
                    }
                });
            }
            Name::Random => return Ok(Chosen::Uniform),
            Name::Swarm => Box::new(Swarm::new(&classes, self.swarm())),
            Name::Equal => Box::new(ByClass::equal(&classes)),
            Name::Rare => Box::new(Profile::new(&classes)),
            Name::Exploit => Box::new(Exploit::with(NewCoverage)),
            Name::Extend => Box::new(Extend::new(NewCoverage, ExtendOptions::default())),
            Name::Markov => {
                let file = self.file("markov", "a model that `testwright markov` wrote")?;
                let (model, problems) = MarkovModel::read(&classes, &file.text);
                load::refuse_problems(console, &file, &problems)?;
                Box::new(Markov::new(&classes, model, 1.0))
            }
            Name::Probabilities => {
                let file = self.file("probabilities", "a file of lines `CLASS %%%% 0.5`")?;
                let (table, problems) = ClassTable::read(&classes, &file.text);
                load::refuse_problems(console, &file, &problems)?;
                Box::new(ByClass::new(&classes, &table))
            }
            Name::Sequences => {
                let path = self.path("sequences", "saved tests, as a folder or a file")?;
                let mut tests = Vec::new();
                for file in load::test_files(std::slice::from_ref(path))? {
                    let (file, test) = load::test(console, system, file)?;
                    tests.push((file.name, test));
                }
                let tests = tests.iter().map(|(name, test)| (name.clone(), test));
                Box::new(Sequences::new(tests, SequenceOptions::default()))
            }
        };
        Ok(Chosen::Other(boxed))
    }

    fn swarm(&self) -> SwarmOptions {
        SwarmOptions {
            inclusion: Inclusion::Same(self.swarm_inclusion),
            switching: match self.swarm_switch {
                0 => Switching::PerTest,
                times => Switching::Times(times),
            },
            ..SwarmOptions::default()
        }
    }

    fn path(&self, strategy: &str, what: &str) -> Result<&PathBuf, Error> {
        self.from.as_ref().ok_or_else(|| {
            Error::new(format!("the strategy `{strategy}` needs {what}"))
                .with_help("name it with `--from PATH`")
        })
    }

    fn file(&self, strategy: &str, what: &str) -> Result<TextFile, Error> {
        TextFile::read(self.path(strategy, what)?)
    }
}

/// A strategy, ready to be used.
pub(crate) enum Chosen<S> {
    Uniform,
    Auto(Box<Auto<NewCoverage>>),
    Other(Box<dyn Strategy<S>>),
}

impl<S: System + Covered> Chosen<S> {
    /// Searches with it, and lets it profit from tests of others, if there are any.
    pub(crate) fn search<F: FnMut(&mut S) -> Option<Test>>(
        self,
        system: &mut S,
        plan: &Search,
        watcher: &mut dyn SearchWatcher<S>,
        others: Option<F>,
    ) -> Result<Summary, Error> {
        // The usual ones are called directly, because a call through a pointer for each step would be felt.
        match (self, others) {
            (Chosen::Uniform, _) => search(system, plan, watcher),
            (Chosen::Auto(mut auto), None) => search_with(system, &mut *auto, plan, watcher),
            (Chosen::Auto(auto), Some(others)) => {
                search_with(system, &mut Shared::new(*auto, others), plan, watcher)
            }
            (Chosen::Other(mut strategy), None) => {
                search_with(system, &mut strategy, plan, watcher)
            }
            (Chosen::Other(strategy), Some(others)) => {
                search_with(system, &mut Shared::new(strategy, others), plan, watcher)
            }
        }
    }
}
