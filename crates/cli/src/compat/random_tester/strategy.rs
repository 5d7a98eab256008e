//! How tests are made: TSTL's options as strategies.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use testwright_core::generate::swarm::{Configuration, Inclusion, Switching};
use testwright_core::generate::{
    ByClass, ClassTable, Corpus, CorpusOptions, Exploit, ExploitOptions, Made, Markov, MarkovModel,
    NewCoverage, NewStates, NothingNew, Novelty, Profile, SequenceOptions, Sequences, Start,
    Strategy, Swarm, SwarmOptions, Uniform, WithHint,
};
use testwright_core::{
    ActionId, Classes, Error, Fingerprint, Likeness, Random, Step, System, TargetId, Test,
};

use super::RandomTester;
use super::observed::Observed;
use crate::compat::test_file::{self, TestFile};
use crate::console::Console;
use crate::files::TextFile;
use crate::{Trouble, load};

type Any<'s, 'py, 'c> = Box<dyn Strategy<Observed<'s, 'py, 'c>> + 's>;

/// A strategy, and the swarm in it if somebody wants to know what it has in.
pub(super) struct Chosen<'s, 'py, 'c> {
    pub(super) choosing: Any<'s, 'py, 'c>,
    pub(super) swarm: Option<Rc<RefCell<Swarm>>>,
}

/// The strategy that the options describe. `given` are tests to go on from.
pub(super) fn chosen<'s, 'py, 'c>(
    tool: &RandomTester,
    observed: &mut Observed<'s, 'py, 'c>,
    given: &[Test],
) -> Result<Chosen<'s, 'py, 'c>, Trouble> {
    let classes = Arc::clone(observed.classes());
    let mut swarm = None;
    let mut ways: Vec<(&str, Any<'s, 'py, 'c>)> = Vec::new();
    if let Some(pattern) = &tool.sequences_from_tests {
        ways.push(("--sequencesFromTests", sequences(tool, observed, pattern)?));
    }
    if let Some(path) = &tool.markov {
        let file = TextFile::read(path)?;
        let (model, problems) = MarkovModel::read(&classes, &file.text);
        load::refuse_problems(observed.console, &file, &problems)?;
        ways.push((
            "--markov",
            Box::new(Markov::new(&classes, model, tool.markov_p)),
        ));
    }
    if let Some(path) = &tool.probs {
        let table = table(observed.console, &classes, path)?;
        ways.push(("--probs", Box::new(ByClass::new(&classes, &table))));
    }
    if let Some(path) = &tool.bias_loc {
        let lines = table(observed.console, &classes, path)?;
        let table = ClassTable::by_lines_of_code(&classes, &lines, tool.loc_baseline);
        ways.push(("--biasLOC", Box::new(ByClass::new(&classes, &table))));
    }
    if tool.equal_probs {
        ways.push(("--equalProbs", Box::new(ByClass::equal(&classes))));
    }
    if tool.profile_probs {
        ways.push(("--profileProbs", Box::new(Profile::new(&classes))));
    }
    if tool.swarm || tool.high_low_swarm.is_some() {
        let options = swarm_options(tool, observed, &classes)?;
        let made = Rc::new(RefCell::new(Swarm::new(&classes, options)));
        swarm = Some(Rc::clone(&made));
        ways.push(("--swarm", Box::new(Shared(made))));
    }
    let mut ways = ways.into_iter();
    let mut choosing: Any<'s, 'py, 'c> = match ways.next() {
        None => Box::new(Uniform),
        Some((first, way)) => {
            for (other, _) in ways {
                let message = format!(
                    "{other} has no effect together with {first}: a step is chosen in one way"
                );
                observed.console.tell(message);
            }
            way
        }
    };
    if let Some(probability) = tool.exploit {
        let beginning = exploit(tool, observed, probability, given);
        choosing = Box::new(Beginning {
            beginning,
            choosing,
        });
    }
    if tool.stutter.is_some() || tool.greedy_stutter {
        choosing = Box::new(Stutter {
            choosing,
            probability: tool.stutter.unwrap_or(0.0),
            greedy: tool.greedy_stutter,
            last: None,
        });
    }
    Ok(Chosen { choosing, swarm })
}

fn sequences<'s, 'py, 'c>(
    tool: &RandomTester,
    observed: &mut Observed<'s, 'py, 'c>,
    pattern: &str,
) -> Result<Any<'s, 'py, 'c>, Trouble> {
    observed.console.say("READING TESTS...");
    let mut tests = Vec::new();
    for path in test_file::matching(pattern) {
        let file = TestFile::read(&path, false)?;
        let test = file.test(observed.console, observed.system)?;
        tests.push((file.name().to_owned(), test));
    }
    observed
        .console
        .say(format_args!("READ {} TESTS", tests.len()));
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

fn swarm_options(
    tool: &RandomTester,
    observed: &mut Observed<'_, '_, '_>,
    classes: &Classes,
) -> Result<SwarmOptions, Trouble> {
    let inclusion = if let Some(path) = &tool.swarm_probs {
        Inclusion::Table(table(observed.console, classes, path)?, tool.swarm_p)
    } else if let Some(path) = &tool.swarm_from_test {
        let file = TestFile::read(path, false)?;
        let test = file.test(observed.console, observed.system)?;
        let mut table = ClassTable::equal(classes);
        classes.iter().for_each(|class| table.set(class, 0.0));
        for step in &test.steps {
            if let Step::Act(action) = step {
                table.set(classes.of_action(observed.system.actions(), *action), 1.0);
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
        dependencies: !tool.no_swarm_dependencies,
        force_parent: !tool.no_swarm_force_parent,
        high: tool.high_low_swarm,
    })
}

/// Going on from tests that found something.
fn exploit<'s, 'py, 'c>(
    tool: &RandomTester,
    observed: &Observed<'s, 'py, 'c>,
    probability: f64,
    given: &[Test],
) -> Any<'s, 'py, 'c> {
    let options = ExploitOptions {
        probability,
        mutate: tool.p_mutate,
        crossover: tool.p_crossover,
        start_after: 0,
        stall: tool.start_exploit_stall,
    };
    let corpus = CorpusOptions {
        ceiling: tool.exploit_ceiling,
        best_hints: tool.exploit_best_hint,
        ..CorpusOptions::default()
    };
    let start = observed.started.checked_add(tool.start_exploit);
    let covers = !tool.no_coverage_exploit && observed.system.coverage().is_some();
    let make = Maker {
        options,
        corpus,
        start,
        given,
    };
    match (covers, tool.track_states, tool.use_hints) {
        (_, true, false) => make.exploit(NewStates::new(Likeness::Equal)),
        (_, true, true) => make.exploit(WithHint(NewStates::new(Likeness::Equal), hint)),
        (true, false, false) => make.exploit(NewCoverage),
        (true, false, true) => make.exploit(WithHint(NewCoverage, hint)),
        (false, false, false) => make.exploit(NothingNew),
        (false, false, true) => make.exploit(WithHint(NothingNew, hint)),
    }
}

fn hint(observed: &mut Observed<'_, '_, '_>) -> f64 {
    observed.system.best_hint().unwrap_or(f64::NAN)
}

/// All that is the same whatever counts as new.
struct Maker<'m> {
    options: ExploitOptions,
    corpus: CorpusOptions,
    start: Option<Instant>,
    given: &'m [Test],
}

impl Maker<'_> {
    fn exploit<'s, 'py, 'c, N>(self, novelty: N) -> Any<'s, 'py, 'c>
    where
        N: Novelty<Observed<'s, 'py, 'c>> + 's,
    {
        let mut corpus = Corpus::new(novelty, self.corpus);
        self.given.iter().for_each(|test| corpus.add(test));
        let start = self.start;
        let is_time = move || start.is_some_and(|start| Instant::now() >= start);
        Box::new(Exploit::new(corpus, self.options).with_permission(is_time))
    }
}

fn table(console: &mut Console<'_>, classes: &Classes, path: &Path) -> Result<ClassTable, Trouble> {
    let file = TextFile::read(path)?;
    let (table, problems) = ClassTable::read(classes, &file.text);
    load::refuse_problems(console, &file, &problems)?;
    Ok(table)
}

impl Fingerprint for Observed<'_, '_, '_> {
    fn fingerprint(&mut self, likeness: Likeness) -> Result<u128, Error> {
        self.system.fingerprint(likeness)
    }
}

/// A swarm that somebody else can look at.
struct Shared(Rc<RefCell<Swarm>>);

impl<S: System + ?Sized> Strategy<S> for Shared {
    fn begin(
        &mut self,
        system: &mut S,
        start: &mut Start,
        random: &mut Random,
    ) -> Result<(), Error> {
        self.0.borrow_mut().begin(system, start, random)
    }

    fn next(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        self.0.borrow_mut().next(system, random)
    }
}

/// The classes that a swarm has in at the moment.
pub(super) fn configuration(swarm: &Rc<RefCell<Swarm>>) -> Configuration {
    swarm.borrow().configuration().clone()
}

/// Begins as one strategy says, and chooses steps as another does.
struct Beginning<'s, 'py, 'c> {
    beginning: Any<'s, 'py, 'c>,
    choosing: Any<'s, 'py, 'c>,
}

impl<'s, 'py, 'c> Strategy<Observed<'s, 'py, 'c>> for Beginning<'s, 'py, 'c> {
    fn begin(
        &mut self,
        system: &mut Observed<'s, 'py, 'c>,
        start: &mut Start,
        random: &mut Random,
    ) -> Result<(), Error> {
        self.beginning.begin(system, start, random)?;
        self.choosing.begin(system, start, random)
    }

    fn next(
        &mut self,
        system: &mut Observed<'s, 'py, 'c>,
        random: &mut Random,
    ) -> Option<ActionId> {
        self.choosing.next(system, random)
    }

    fn remark(&mut self) -> Option<String> {
        self.choosing.remark()
    }

    fn after(&mut self, system: &mut Observed<'s, 'py, 'c>, steps: &[Step]) -> Result<(), Error> {
        self.beginning.after(system, steps)?;
        self.choosing.after(system, steps)
    }

    fn end(&mut self, system: &mut Observed<'s, 'py, 'c>, made: &Made<'_>) -> Result<(), Error> {
        self.beginning.end(system, made)?;
        self.choosing.end(system, made)
    }

    fn new_targets(&self) -> &[TargetId] {
        self.beginning.new_targets()
    }

    fn learns(&self) -> bool {
        true
    }
}

/// Takes an action again now and then.
struct Stutter<'s, 'py, 'c> {
    choosing: Any<'s, 'py, 'c>,
    probability: f64,
    /// Also if it was the first to cover something.
    greedy: bool,
    last: Option<ActionId>,
}

impl<'s, 'py, 'c> Strategy<Observed<'s, 'py, 'c>> for Stutter<'s, 'py, 'c> {
    fn begin(
        &mut self,
        system: &mut Observed<'s, 'py, 'c>,
        start: &mut Start,
        random: &mut Random,
    ) -> Result<(), Error> {
        self.last = None;
        self.choosing.begin(system, start, random)
    }

    fn next(
        &mut self,
        system: &mut Observed<'s, 'py, 'c>,
        random: &mut Random,
    ) -> Option<ActionId> {
        let wants = (self.greedy && system.was_new) || random.chance(self.probability);
        let again = self.last.filter(|last| wants && system.is_enabled(*last));
        self.last = again.or_else(|| self.choosing.next(system, random));
        self.last
    }

    fn remark(&mut self) -> Option<String> {
        self.choosing.remark()
    }

    fn after(&mut self, system: &mut Observed<'s, 'py, 'c>, steps: &[Step]) -> Result<(), Error> {
        self.choosing.after(system, steps)
    }

    fn end(&mut self, system: &mut Observed<'s, 'py, 'c>, made: &Made<'_>) -> Result<(), Error> {
        self.choosing.end(system, made)
    }

    fn new_targets(&self) -> &[TargetId] {
        self.choosing.new_targets()
    }

    fn learns(&self) -> bool {
        true
    }
}
