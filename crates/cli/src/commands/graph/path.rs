//! The path of a saved test: its steps, and some of the actions that were possible beside them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use testwright_core::replay::{ReplayOptions, ReplayWatcher, replay};
use testwright_core::{ActionId, Random, System};
use testwright_python::OutputMode;
use testwright_report::graph::path::{self, TestPath, summarize};

use super::GraphCommand;
use crate::console::Console;
use crate::files::TextFile;
use crate::{CommandError, ExitStatus};

/// Maximum number of kinds of other actions beside a step.
const MAX_BRANCHES: usize = 4;

/// Number of actions up to which all enabled ones are listed.
const MAX_LISTED: u64 = 5_000;

/// Number of actions to draw at random if there are more.
const DRAWS: usize = 60;

impl GraphCommand {
    /// Draws the path of a test.
    pub(super) fn draw_path(&self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let test = PathBuf::from(&self.models[0]);
        let mut setup = self.setup.clone();
        let picture = self.pictures.only_svg()?;
        let source = setup.restore(std::slice::from_ref(&test))?;
        let options = setup.options(&source, OutputMode::Drop)?;
        let title = source.display_name();
        let saved = TextFile::read(&test)?;
        source.read(console)?.with_test(
            console,
            saved,
            &options,
            &setup.system,
            |console, system, test| {
                let mut branches = BranchRecorder {
                    random: Random::new(self.seed),
                    steps: Vec::new(),
                };
                let trace = replay(
                    system,
                    &test,
                    &ReplayOptions {
                        check: setup.check(),
                    },
                    &mut branches,
                )?;
                let drawn = TestPath {
                    title,
                    before: 0,
                    steps: branches.steps,
                    end: trace
                        .failure()
                        .map_or_else(String::new, |failure| failure.message.clone()),
                };
                picture.write(&path::write(&drawn))?;
                console.out(format_args!("Written: {}", picture.shown().display()));
                Ok(ExitStatus::NothingFound)
            },
        )
    }
}

/// Watcher that records the other actions that are possible before each step.
struct BranchRecorder {
    /// Source of the random choice of branches.
    random: Random,
    /// Steps with their branches, to be drawn.
    steps: Vec<path::PathStep>,
}

impl<S: System + ?Sized> ReplayWatcher<S> for BranchRecorder {
    fn before_step(&mut self, system: &mut S, taken: ActionId) {
        let enabled = self.enabled(system);
        let text = |action: ActionId| system.actions().text(action);
        let others = enabled.into_iter().filter(|action| *action != taken);
        let others: Vec<String> = others.map(text).collect();
        let mut kinds = summarize(&others);
        // A random few of the kinds, in their order.
        while kinds.len() > MAX_BRANCHES {
            let left_out = self.random.below(kinds.len() as u64);
            kinds.remove(left_out as usize);
        }
        let shown: usize = kinds.iter().map(|kind| kind.more_actions + 1).sum();
        self.steps.push(path::PathStep {
            action: system.actions().text(taken),
            hidden_branches: others.len().saturating_sub(shown),
            branches: kinds,
        });
    }
}

impl BranchRecorder {
    /// Returns the enabled actions; a random sample if the harness has very many actions.
    fn enabled(&mut self, system: &mut (impl System + ?Sized)) -> Vec<ActionId> {
        if system.actions().len() <= MAX_LISTED {
            return system.enabled();
        }
        let draws = (0..DRAWS).filter_map(|_| system.pick(&mut self.random));
        let drawn: BTreeSet<ActionId> = draws.collect();
        drawn.into_iter().collect()
    }
}
