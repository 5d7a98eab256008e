//! Strategies: TSTL's options translated to the strategies of the core.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use testwright_core::generate::swarm::{Configuration, Inclusion, Switching};
use testwright_core::generate::{
    ByClass, ClassTable, Corpus, CorpusOptions, Exploit, ExploitOptions, GeneratedTest, Markov,
    MarkovModel, NewCoverage, NewStates, NothingNew, Novelty, Profile, SequenceOptions, Sequences,
    Strategy, Swarm, SwarmOptions, TestStart, Uniform, WithHint,
};
use testwright_core::{
    ActionClasses, ActionId, Equivalence, Error, Fingerprint, Random, Step, System, TargetId, Test,
};

use super::RandomTester;
use super::observed_system::ObservedSystem;
use crate::compat::test_file::{self, TestFile};
use crate::console::Console;
use crate::files::TextFile;
use crate::{CommandError, load};

/// A strategy for the observed system.
type BoxedStrategy<'s, 'py, 'c> = Box<dyn Strategy<ObservedSystem<'s, 'py, 'c>> + 's>;

/// A strategy, and the swarm in it, whose classes can be recorded.
pub(super) struct TesterStrategy<'s, 'py, 'c> {
    /// The strategy that makes tests.
    pub(super) strategy: BoxedStrategy<'s, 'py, 'c>,
    /// The swarm that the strategy contains, if any.
    pub(super) swarm: Option<Rc<RefCell<Swarm>>>,
}

/// Builds the strategy that the options describe. `given` are tests to go on from.
pub(super) fn build<'s, 'py, 'c>(
    tool: &RandomTester,
    observed: &mut ObservedSystem<'s, 'py, 'c>,
    given: &[Test],
) -> Result<TesterStrategy<'s, 'py, 'c>, CommandError> {
    let classes = Arc::clone(observed.classes());
    let mut swarm = None;
    let mut strategies: Vec<(&str, BoxedStrategy<'s, 'py, 'c>)> = Vec::new();
    if let Some(pattern) = &tool.sequences_from_tests {
        strategies.push(("--sequencesFromTests", sequences(tool, observed, pattern)?));
    }
    if let Some(path) = &tool.markov {
        let file = TextFile::read(path)?;
        let (model, problems) = MarkovModel::read(&classes, &file.text);
        load::reject_problems(observed.console, &file, &problems)?;
        strategies.push((
            "--markov",
            Box::new(Markov::new(&classes, model, tool.markov_p)),
        ));
    }
    if let Some(path) = &tool.probs {
        let table = table(observed.console, &classes, path)?;
        strategies.push(("--probs", Box::new(ByClass::new(&classes, &table))));
    }
    if let Some(path) = &tool.bias_loc {
        let lines = table(observed.console, &classes, path)?;
        let table = ClassTable::by_lines_of_code(&classes, &lines, tool.loc_baseline);
        strategies.push(("--biasLOC", Box::new(ByClass::new(&classes, &table))));
    }
    if tool.equal_probs {
        strategies.push(("--equalProbs", Box::new(ByClass::equal(&classes))));
    }
    if tool.profile_probs {
        strategies.push(("--profileProbs", Box::new(Profile::new(&classes))));
    }
    if tool.swarm || tool.high_low_swarm.is_some() {
        let options = swarm_options(tool, observed, &classes)?;
        let made = Rc::new(RefCell::new(Swarm::new(&classes, options)));
        swarm = Some(Rc::clone(&made));
        strategies.push(("--swarm", Box::new(SharedSwarm(made))));
    }
    let mut strategies = strategies.into_iter();
    let mut strategy: BoxedStrategy<'s, 'py, 'c> = match strategies.next() {
        None => Box::new(Uniform),
        Some((first, strategy)) => {
            for (other, _) in strategies {
                let message = format!(
                    "{other} has no effect together with {first}: a step is chosen in one way"
                );
                observed.console.err(message);
            }
            strategy
        }
    };
    if let Some(probability) = tool.exploit {
        let beginning = exploit(tool, observed, probability, given);
        strategy = Box::new(StartingStrategy {
            start_strategy: beginning,
            strategy,
        });
    }
    if tool.stutter.is_some() || tool.greedy_stutter {
        strategy = Box::new(Stutter {
            strategy,
            probability: tool.stutter.unwrap_or(0.0),
            greedy: tool.greedy_stutter,
            last: None,
        });
    }
    Ok(TesterStrategy { strategy, swarm })
}

/// Builds the strategy that puts pieces of tests together.
fn sequences<'s, 'py, 'c>(
    tool: &RandomTester,
    observed: &mut ObservedSystem<'s, 'py, 'c>,
    pattern: &str,
) -> Result<BoxedStrategy<'s, 'py, 'c>, CommandError> {
    observed.console.out("READING TESTS...");
    let mut tests = Vec::new();
    for path in test_file::glob(pattern) {
        let file = TestFile::read(&path, false)?;
        let test = file.test(observed.console, observed.system)?;
        tests.push((file.name().to_owned(), test));
    }
    observed
        .console
        .out(format_args!("READ {} TESTS", tests.len()));
    if tests.iter().all(|(_, test)| test.is_empty()) {
        let message = format!("no test with steps matches `{pattern}`");
        return Err(Error::new(message).into());
    }
    let options = SequenceOptions {
        size: tool.sequence_size.max(1),
        probability: tool.sequence_p,
    };
    let tests = tests.iter().map(|(name, test)| (name.clone(), test));
    Ok(Box::new(Sequences::new(tests, options)))
}

/// Returns the options of a swarm.
fn swarm_options(
    tool: &RandomTester,
    observed: &mut ObservedSystem<'_, '_, '_>,
    classes: &ActionClasses,
) -> Result<SwarmOptions, CommandError> {
    let inclusion = if let Some(path) = &tool.swarm_probs {
        Inclusion::Table(table(observed.console, classes, path)?, tool.swarm_p)
    } else if let Some(path) = &tool.swarm_from_test {
        let file = TestFile::read(path, false)?;
        let test = file.test(observed.console, observed.system)?;
        let mut table = ClassTable::equal(classes);
        classes.iter().for_each(|class| table.set(class, 0.0));
        for step in &test.steps {
            if let Step::Act(action) = step {
                table.set(
                    classes.class_of_action(observed.system.actions(), *action),
                    1.0,
                );
            }
        }
        Inclusion::Table(table, tool.swarm_p)
    } else {
        Inclusion::Same(tool.swarm_p)
    };
    Ok(SwarmOptions {
        inclusion,
        switching: match (tool.swarm_length, tool.swarm_switch) {
            (Some(steps), _) => Switching::Every(steps),
            (None, Some(times)) => Switching::Times(times),
            (None, None) => Switching::PerTest,
        },
        include_dependencies: !tool.no_swarm_dependencies,
        force_parent: !tool.no_swarm_force_parent,
        included_share: tool.high_low_swarm,
    })
}

/// Builds the strategy that goes on from tests that found something.
fn exploit<'s, 'py, 'c>(
    tool: &RandomTester,
    observed: &ObservedSystem<'s, 'py, 'c>,
    probability: f64,
    given: &[Test],
) -> BoxedStrategy<'s, 'py, 'c> {
    let options = ExploitOptions {
        probability,
        mutate: tool.p_mutate,
        crossover: tool.p_crossover,
        start_after: 0,
        min_tests_without_new: tool.start_exploit_stall,
    };
    let corpus = CorpusOptions {
        ceiling: tool.exploit_ceiling,
        best_hints: tool.exploit_best_hint,
        ..CorpusOptions::default()
    };
    let start = observed.started.checked_add(tool.start_exploit);
    let covers = !tool.no_coverage_exploit && observed.system.coverage().is_some();
    let make = ExploitBuilder {
        options,
        corpus,
        start,
        given,
    };
    match (covers, tool.track_states, tool.use_hints) {
        (_, true, false) => make.exploit(NewStates::new(Equivalence::Equal)),
        (_, true, true) => make.exploit(WithHint(NewStates::new(Equivalence::Equal), hint)),
        (true, false, false) => make.exploit(NewCoverage),
        (true, false, true) => make.exploit(WithHint(NewCoverage, hint)),
        (false, false, false) => make.exploit(NothingNew),
        (false, false, true) => make.exploit(WithHint(NothingNew, hint)),
    }
}

/// Returns the best hint of the current test.
fn hint(observed: &mut ObservedSystem<'_, '_, '_>) -> f64 {
    observed.system.best_hint().unwrap_or(f64::NAN)
}

/// The settings of exploitation that do not depend on the kind of novelty.
struct ExploitBuilder<'m> {
    options: ExploitOptions,
    corpus: CorpusOptions,
    start: Option<Instant>,
    given: &'m [Test],
}

impl ExploitBuilder<'_> {
    /// Builds the strategy for one kind of novelty.
    fn exploit<'s, 'py, 'c, N>(self, novelty: N) -> BoxedStrategy<'s, 'py, 'c>
    where
        N: Novelty<ObservedSystem<'s, 'py, 'c>> + 's,
    {
        let mut corpus = Corpus::new(novelty, self.corpus);
        self.given.iter().for_each(|test| corpus.add(test));
        let start = self.start;
        let is_time = move || start.is_some_and(|start| Instant::now() >= start);
        Box::new(Exploit::new(corpus, self.options).with_permission(is_time))
    }
}

/// Reads a table with a number for each line of the harness.
fn table(
    console: &mut Console<'_>,
    classes: &ActionClasses,
    path: &Path,
) -> Result<ClassTable, CommandError> {
    let file = TextFile::read(path)?;
    let (table, problems) = ClassTable::read(classes, &file.text);
    load::reject_problems(console, &file, &problems)?;
    Ok(table)
}

impl Fingerprint for ObservedSystem<'_, '_, '_> {
    fn fingerprint(&mut self, equivalence: Equivalence) -> Result<u128, Error> {
        self.system.fingerprint(equivalence)
    }
}

/// A swarm whose current classes can be read while it is in use.
struct SharedSwarm(Rc<RefCell<Swarm>>);

impl<S: System + ?Sized> Strategy<S> for SharedSwarm {
    fn begin_test(
        &mut self,
        system: &mut S,
        start: &mut TestStart,
        random: &mut Random,
    ) -> Result<(), Error> {
        self.0.borrow_mut().begin_test(system, start, random)
    }

    fn next_action(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        self.0.borrow_mut().next_action(system, random)
    }
}

/// Returns the classes that a swarm includes at the moment.
pub(super) fn configuration(swarm: &Rc<RefCell<Swarm>>) -> Configuration {
    swarm.borrow().configuration().clone()
}

/// Begins tests with one strategy, and chooses steps with another.
struct StartingStrategy<'s, 'py, 'c> {
    start_strategy: BoxedStrategy<'s, 'py, 'c>,
    strategy: BoxedStrategy<'s, 'py, 'c>,
}

impl<'s, 'py, 'c> Strategy<ObservedSystem<'s, 'py, 'c>> for StartingStrategy<'s, 'py, 'c> {
    fn begin_test(
        &mut self,
        system: &mut ObservedSystem<'s, 'py, 'c>,
        start: &mut TestStart,
        random: &mut Random,
    ) -> Result<(), Error> {
        self.start_strategy.begin_test(system, start, random)?;
        self.strategy.begin_test(system, start, random)
    }

    fn next_action(
        &mut self,
        system: &mut ObservedSystem<'s, 'py, 'c>,
        random: &mut Random,
    ) -> Option<ActionId> {
        self.strategy.next_action(system, random)
    }

    fn remark(&mut self) -> Option<String> {
        self.strategy.remark()
    }

    fn after_step(
        &mut self,
        system: &mut ObservedSystem<'s, 'py, 'c>,
        steps: &[Step],
    ) -> Result<(), Error> {
        self.start_strategy.after_step(system, steps)?;
        self.strategy.after_step(system, steps)
    }

    fn end_test(
        &mut self,
        system: &mut ObservedSystem<'s, 'py, 'c>,
        made: &GeneratedTest<'_>,
    ) -> Result<(), Error> {
        self.start_strategy.end_test(system, made)?;
        self.strategy.end_test(system, made)
    }

    fn new_targets(&self) -> &[TargetId] {
        self.start_strategy.new_targets()
    }

    fn depends_on_results(&self) -> bool {
        true
    }
}

/// Repeats the last action now and then.
struct Stutter<'s, 'py, 'c> {
    strategy: BoxedStrategy<'s, 'py, 'c>,
    /// The probability of a repetition.
    probability: f64,
    /// Also repeat an action that was the first to cover something.
    greedy: bool,
    /// The last action.
    last: Option<ActionId>,
}

impl<'s, 'py, 'c> Strategy<ObservedSystem<'s, 'py, 'c>> for Stutter<'s, 'py, 'c> {
    fn begin_test(
        &mut self,
        system: &mut ObservedSystem<'s, 'py, 'c>,
        start: &mut TestStart,
        random: &mut Random,
    ) -> Result<(), Error> {
        self.last = None;
        self.strategy.begin_test(system, start, random)
    }

    fn next_action(
        &mut self,
        system: &mut ObservedSystem<'s, 'py, 'c>,
        random: &mut Random,
    ) -> Option<ActionId> {
        let should_repeat = (self.greedy && system.was_new) || random.chance(self.probability);
        let repeated = self
            .last
            .filter(|last| should_repeat && system.is_enabled(*last));
        self.last = repeated.or_else(|| self.strategy.next_action(system, random));
        self.last
    }

    fn remark(&mut self) -> Option<String> {
        self.strategy.remark()
    }

    fn after_step(
        &mut self,
        system: &mut ObservedSystem<'s, 'py, 'c>,
        steps: &[Step],
    ) -> Result<(), Error> {
        self.strategy.after_step(system, steps)
    }

    fn end_test(
        &mut self,
        system: &mut ObservedSystem<'s, 'py, 'c>,
        made: &GeneratedTest<'_>,
    ) -> Result<(), Error> {
        self.strategy.end_test(system, made)
    }

    fn new_targets(&self) -> &[TargetId] {
        self.strategy.new_targets()
    }

    fn depends_on_results(&self) -> bool {
        true
    }
}
