//! Swarm testing: each test uses only some of the lines.
//!
//! A test in which everything happens a little rarely goes far in any direction: with as many pops
//! as pushes, the stack stays small. Leave out a different half of the lines each time, and some
//! test only pushes (Groce and others, *Swarm Testing*, 2012). It costs next to nothing and finds
//! bugs that uniform choice does not, which is why several arms of [`Auto`](super::Auto) are
//! swarms.
//!
//! The included lines are a [`Configuration`]. It is closed so that included lines are usable: a
//! line that fills the slots of another is useless without that one, and the other way round.

mod configuration;
pub mod directed;
mod record;

use std::sync::Arc;

pub use configuration::{Configuration, Inclusion};
pub use record::SwarmRecord;

use super::class_draw::ClassDraw;
use super::{Strategy, TestStart};
use crate::{ActionClasses, ActionId, Error, Random, System};

/// The points at which the configuration changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Switching {
    /// With each test only.
    #[default]
    PerTest,
    /// Also within a test, each time after this many steps.
    Every(usize),
    /// Also within a test, at this many random points.
    Times(usize),
}

/// Options of a swarm.
#[derive(Clone, Debug, PartialEq)]
pub struct SwarmOptions {
    /// The probability of each class to be included.
    pub inclusion: Inclusion,
    /// The points at which the configuration changes.
    pub switching: Switching,
    /// Include classes that make what included classes need.
    pub include_dependencies: bool,
    /// Include a class that uses what included classes make.
    pub force_parent: bool,
    /// Exclude nothing: included classes share this probability, the others the rest.
    pub included_share: Option<f64>,
}

impl Default for SwarmOptions {
    fn default() -> SwarmOptions {
        SwarmOptions {
            inclusion: Inclusion::default(),
            switching: Switching::PerTest,
            include_dependencies: true,
            force_parent: true,
            included_share: None,
        }
    }
}

/// Takes only actions of some classes, different ones in each test.
///
/// If none of them is enabled, any enabled action is taken, so that they may become enabled.
#[derive(Clone, Debug)]
pub struct Swarm {
    classes: Arc<ActionClasses>,
    options: SwarmOptions,
    configuration: Configuration,
    draw: ClassDraw,
    steps: usize,
    /// The steps at which to switch, in reverse order.
    switches: Vec<usize>,
}

impl Swarm {
    /// Creates a swarm over these classes.
    pub fn new(classes: &Arc<ActionClasses>, options: SwarmOptions) -> Swarm {
        Swarm {
            draw: ClassDraw::new(classes),
            classes: Arc::clone(classes),
            options,
            configuration: Configuration::default(),
            steps: 0,
            switches: Vec::new(),
        }
    }

    /// Returns the current configuration.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// Draws a new configuration.
    fn switch(&mut self, random: &mut Random) {
        self.configuration = Configuration::draw(&self.classes, &self.options, random);
        if let Some(high) = self.options.included_share {
            self.draw
                .set_weights(self.configuration.weights(&self.classes, high));
        }
    }

    /// Returns true if the configuration changes before this step.
    fn is_time_to_switch(&mut self) -> bool {
        match self.options.switching {
            Switching::PerTest => false,
            Switching::Every(steps) => self.steps > 0 && self.steps.is_multiple_of(steps.max(1)),
            Switching::Times(_) => {
                let now = self.switches.last() == Some(&self.steps);
                while self.switches.last() == Some(&self.steps) {
                    self.switches.pop();
                }
                now
            }
        }
    }
}

impl<S: System + ?Sized> Strategy<S> for Swarm {
    fn begin_test(
        &mut self,
        _system: &mut S,
        start: &mut TestStart,
        random: &mut Random,
    ) -> Result<(), Error> {
        self.steps = 0;
        self.switches.clear();
        if let Switching::Times(times) = self.options.switching {
            let position = |_| random.below(start.length as u64) as usize;
            self.switches.extend((0..times).map(position));
            self.switches.sort_unstable_by(|one, next| next.cmp(one));
        }
        self.switch(random);
        Ok(())
    }

    fn next_action(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        if self.is_time_to_switch() {
            self.switch(random);
        }
        self.steps += 1;
        if self.options.included_share.is_some() {
            return self.draw.pick(system, random);
        }
        let picked = system.pick_among(self.configuration.templates(), random);
        picked.or_else(|| system.pick(random))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SEARCH, generate_tests, median_of_seeds, steps_to_failure};
    use super::super::{SearchOptions, Uniform};
    use super::*;
    use crate::toys::{Buffer, Counters};
    use crate::{Step, Test};

    fn classes_in(system: &impl System, classes: &ActionClasses, steps: &[Step]) -> Vec<usize> {
        let class = |step: &Step| match step {
            Step::Act(action) => Some(classes.class_of_action(system.actions(), *action).0),
            Step::Restart => None,
        };
        let mut found: Vec<usize> = steps.iter().filter_map(class).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn buffer_tests(switching: Switching) -> (Buffer, Arc<ActionClasses>, Vec<Test>) {
        let mut buffer = Buffer::new(usize::MAX);
        let classes = Arc::new(ActionClasses::new(buffer.actions()));
        let options = SwarmOptions {
            switching,
            ..SwarmOptions::default()
        };
        let mut swarm = Swarm::new(&classes, options);
        let tests = generate_tests(&mut buffer, &mut swarm, &SEARCH, 60);
        (buffer, classes, tests)
    }

    #[test]
    fn each_test_has_its_own_lines() {
        let (buffer, classes, tests) = buffer_tests(Switching::PerTest);
        let mut seen: Vec<Vec<usize>> = tests
            .iter()
            .map(|test| classes_in(&buffer, &classes, &test.steps))
            .collect();
        seen.sort();
        seen.dedup();
        // Fifteen sets of four lines, without the empty one.
        assert!(seen.len() > 11, "{seen:?}");
    }

    #[test]
    fn lines_change_within_a_test_where_that_is_asked_for() {
        let (buffer, classes, tests) = buffer_tests(Switching::Every(20));
        let narrow = |steps: &[Step]| classes_in(&buffer, &classes, steps).len() < 4;
        let parts = tests.iter().flat_map(|test| test.steps.chunks(20));
        assert!(parts.filter(|steps| narrow(steps)).count() > 200);
        let whole = tests.iter().filter(|test| narrow(&test.steps));
        assert!(whole.count() < 15);

        let (buffer, classes, tests) = buffer_tests(Switching::Times(4));
        let narrow = |test: &&Test| classes_in(&buffer, &classes, &test.steps).len() < 4;
        assert!(tests.iter().filter(narrow).count() < 20);
    }

    #[test]
    fn swarm_finds_what_uniform_choice_hardly_does() {
        let classes = Arc::new(ActionClasses::new(Buffer::new(12).actions()));
        let uniform = median_of_seeds(|seed| {
            let options = SearchOptions { seed, ..SEARCH };
            steps_to_failure(&mut Buffer::new(12), &mut Uniform, &options, 30_000)
        });
        assert_eq!(uniform, 30_000, "not found at all");
        for (options, max_steps) in [
            (SwarmOptions::default(), 2_000),
            (
                SwarmOptions {
                    switching: Switching::Every(25),
                    ..SwarmOptions::default()
                },
                2_000,
            ),
            (
                SwarmOptions {
                    included_share: Some(0.95),
                    ..SwarmOptions::default()
                },
                8_000,
            ),
        ] {
            let swarm = median_of_seeds(|seed| {
                let search = SearchOptions { seed, ..SEARCH };
                let mut swarm = Swarm::new(&classes, options.clone());
                steps_to_failure(&mut Buffer::new(12), &mut swarm, &search, 30_000)
            });
            assert!(swarm < max_steps, "{swarm} steps with {options:?}");
        }
    }

    #[test]
    fn high_low_leaves_nothing_out() {
        let mut counters = Counters::new(u64::MAX);
        let classes = Arc::new(ActionClasses::new(counters.actions()));
        let options = SwarmOptions {
            included_share: Some(0.9),
            ..SwarmOptions::default()
        };
        let mut swarm = Swarm::new(&classes, options);
        let options = SearchOptions {
            length: 1000,
            ..SEARCH
        };
        for test in generate_tests(&mut counters, &mut swarm, &options, 20) {
            assert_eq!(
                classes_in(&counters, &classes, &test.steps),
                [0, 1, 2, 3],
                "in {test:?}"
            );
        }
    }
}
