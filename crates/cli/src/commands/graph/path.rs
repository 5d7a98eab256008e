//! The path of a saved test: what it does, and some of what else could have been done.

use std::collections::BTreeSet;
use std::path::PathBuf;

use testwright_core::replay::{ReplayOptions, Watcher, replay};
use testwright_core::{ActionId, Random, System};
use testwright_python::Output;
use testwright_report::graph::path::{self, Path, summarise};

use super::Graph;
use crate::console::Console;
use crate::files::TextFile;
use crate::{ExitStatus, Trouble};

/// In how many kinds of other actions a step branches at most.
const MOST_BRANCHES: usize = 4;

/// Up to so many actions, all that are enabled are listed.
const FEW_ACTIONS: u64 = 5_000;

/// Otherwise, so many are drawn.
const DRAWS: usize = 60;

impl Graph {
    /// Draws the path of a test.
    pub(super) fn draw_path(&self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let test = PathBuf::from(&self.models[0]);
        let picture = self.pictures.only_svg()?;
        let source = self.harness.of(std::slice::from_ref(&test))?;
        let options = self.system.options_for(&source, Output::Drop)?;
        let title = source.shown();
        let saved = TextFile::read(&test)?;
        source.read(console)?.with_test(
            console,
            saved,
            &options,
            &self.system,
            |console, system, test| {
                let mut branches = Branches {
                    random: Random::new(self.seed),
                    steps: Vec::new(),
                };
                let trace = replay(system, &test, &ReplayOptions::default(), &mut branches)?;
                let drawn = Path {
                    title,
                    before: 0,
                    steps: branches.steps,
                    end: trace
                        .failure()
                        .map_or_else(String::new, |failure| failure.message.clone()),
                };
                picture.write(&path::write(&drawn))?;
                console.say(format_args!("Written: {}", picture.shown().display()));
                Ok(ExitStatus::NothingFound)
            },
        )
    }
}

/// Looks at what else could be done before each step.
struct Branches {
    random: Random,
    steps: Vec<path::Step>,
}

impl<S: System + ?Sized> Watcher<S> for Branches {
    fn before(&mut self, system: &mut S, taken: ActionId) {
        let enabled = self.enabled(system);
        let text = |action: ActionId| system.actions().text(action);
        let others = enabled.into_iter().filter(|one| *one != taken);
        let others: Vec<String> = others.map(text).collect();
        let mut kinds = summarise(&others);
        // A random few of the kinds, in their order.
        while kinds.len() > MOST_BRANCHES {
            let left_out = self.random.below(kinds.len() as u64);
            kinds.remove(left_out as usize);
        }
        let shown: usize = kinds.iter().map(|kind| kind.more + 1).sum();
        self.steps.push(path::Step {
            taken: system.actions().text(taken),
            hidden: others.len().saturating_sub(shown),
            others: kinds,
        });
    }
}

impl Branches {
    /// The actions that are enabled; of a harness with very many, some of them.
    fn enabled(&mut self, system: &mut (impl System + ?Sized)) -> Vec<ActionId> {
        if system.actions().len() <= FEW_ACTIONS {
            return system.enabled();
        }
        let draws = (0..DRAWS).filter_map(|_| system.pick(&mut self.random));
        let drawn: BTreeSet<ActionId> = draws.collect();
        drawn.into_iter().collect()
    }
}
