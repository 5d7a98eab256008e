//! What can be told from what each test covers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use testwright_core::analyse::localize::{Formula, Spectrum};
use testwright_core::analyse::saturation::Sessions;
use testwright_core::generate::Swarm;
use testwright_core::generate::swarm::SwarmRecord;
use testwright_core::{Coverage, Error, System, TargetId, Test};
use testwright_python::Collector;

use super::RandomTester;
use super::failures::Hit;
use super::observed::Observed;
use super::session::Places;
use super::strategy::configuration;
use crate::compat::tally::{Line, Names, statements_of};
use crate::compat::{test_file, words};

/// What was learned so far.
pub(super) struct Analyses<'t> {
    tool: &'t RandomTester,
    places: &'t Places,
    sessions: Sessions,
    /// How many tests covered what.
    branches: BTreeMap<TargetId, u64>,
    statements: BTreeMap<Line, u64>,
    /// Who covered what, for branches and for statements.
    spectra: [Spectrum; 2],
    /// The statements that the second of them knows, by number.
    lines: Vec<Line>,
    best: Option<((usize, usize), Test)>,
    swarm: Vec<SwarmRecord>,
    /// What somebody waits for, if the last test covered it.
    pub(super) hit: Option<Hit>,
}

impl<'t> Analyses<'t> {
    pub(super) fn new(tool: &'t RandomTester, places: &'t Places) -> Analyses<'t> {
        Analyses {
            tool,
            places,
            sessions: Sessions::new(tool.sessions),
            branches: BTreeMap::new(),
            statements: BTreeMap::new(),
            spectra: Default::default(),
            lines: Vec::new(),
            best: None,
            swarm: Vec::new(),
            hit: None,
        }
    }

    /// Takes note of a test and what it covered.
    pub(super) fn note(
        &mut self,
        observed: &mut Observed<'_, '_, '_>,
        test: &Test,
        covered: &Coverage,
        failed: bool,
    ) {
        let Some(collector) = observed.system.coverage() else {
            return;
        };
        if self.places.counts.is_some() {
            for target in covered.iter() {
                *self.branches.entry(target).or_default() += 1;
            }
            for line in statements_of(collector, covered.iter()) {
                *self.statements.entry(line).or_default() += 1;
            }
        }
        if self.tool.localize && !failed {
            self.add_to_spectra(collector, covered, false);
        }
        self.hit = self.find_hit(collector, covered);
        if self.places.best.is_some() && self.is_allowed_best(collector, covered) {
            let size = (
                covered.len(),
                statements_of(collector, covered.iter()).len(),
            );
            if self.best.as_ref().is_none_or(|(best, _)| size > *best) {
                observed
                    .console
                    .say(format_args!("NEW BEST COVERAGE TEST: {size:?}"));
                self.best = Some((size, test.clone()));
            }
        }
    }

    /// Takes note of what the final form of a failing test covered.
    pub(super) fn note_failure(&mut self, observed: &Observed<'_, '_, '_>, covered: &Coverage) {
        if let Some(collector) = observed.system.coverage().filter(|_| self.tool.localize) {
            self.add_to_spectra(collector, covered, true);
        }
    }

    /// Takes note of what a swarm had in.
    pub(super) fn note_swarm(
        &mut self,
        observed: &Observed<'_, '_, '_>,
        swarm: Option<&Rc<RefCell<Swarm>>>,
        covered: &Coverage,
    ) {
        let (Some(collector), Some(_)) = (observed.system.coverage(), &self.places.swarm) else {
            return;
        };
        let names = Names::new(collector);
        let statements = statements_of(collector, covered.iter());
        self.swarm.push(SwarmRecord {
            classes: match swarm {
                Some(swarm) => configuration(swarm).classes().iter().copied().collect(),
                None => observed.classes().iter().collect(),
            },
            branches: covered
                .iter()
                .map(|target| names.branch(collector, target))
                .collect(),
            statements: statements
                .into_iter()
                .map(|line| names.statement(line))
                .collect(),
        });
    }

    fn add_to_spectra(&mut self, collector: &Collector<'_>, covered: &Coverage, failed: bool) {
        let lines = statements_of(collector, covered.iter());
        let lines: Coverage = lines.into_iter().map(|line| self.number_of(line)).collect();
        let [branches, statements] = &mut self.spectra;
        branches.add(covered, failed);
        statements.add(&lines, failed);
    }

    fn number_of(&mut self, line: Line) -> TargetId {
        let known = self.lines.iter().position(|known| *known == line);
        let number = known.unwrap_or_else(|| {
            self.lines.push(line);
            self.lines.len() - 1
        });
        TargetId(u32::try_from(number).unwrap_or(u32::MAX))
    }

    fn find_hit(&self, collector: &Collector<'_>, covered: &Coverage) -> Option<Hit> {
        let hit =
            |kind,
             name: &Option<String>,
             find: fn(&Names, &Collector<'_>, &Coverage, &str) -> Option<TargetId>| {
                let name = name.as_ref()?;
                let target = find(&Names::new(collector), collector, covered, name)?;
                Some(Hit {
                    kind,
                    name: name.clone(),
                    target,
                })
            };
        hit("BRANCH", &self.tool.stop_when_hit_branch, branch_named).or_else(|| {
            hit(
                "STATEMENT",
                &self.tool.stop_when_hit_statement,
                statement_named,
            )
        })
    }

    /// Whether a test covers what the best one must cover.
    fn is_allowed_best(&self, collector: &Collector<'_>, covered: &Coverage) -> bool {
        let names = Names::new(collector);
        let branch = self.tool.max_must_hit_branch.as_ref();
        let statement = self.tool.max_must_hit_statement.as_ref();
        branch.is_none_or(|name| branch_named(&names, collector, covered, name).is_some())
            && statement
                .is_none_or(|name| statement_named(&names, collector, covered, name).is_some())
    }

    /// Whether all sessions have covered the same.
    pub(super) fn is_saturated(&mut self, covered: Option<&Coverage>) -> bool {
        if let Some(covered) = covered {
            self.sessions.add(covered);
        }
        self.sessions.agree()
    }

    /// Writes all files that somebody wants.
    pub(super) fn write(&self, observed: &mut Observed<'_, '_, '_>) -> Result<(), Error> {
        let Some(collector) = observed.system.coverage() else {
            return Ok(());
        };
        if let Some(place) = &self.places.swarm {
            place.write(&SwarmRecord::write(observed.classes(), &self.swarm))?;
        }
        if let Some(place) = &self.places.counts {
            let names = Names::new(collector);
            let branches = self.branches.iter();
            let mut branches: Vec<(u64, String)> = branches
                .map(|(target, count)| (*count, names.branch(collector, *target)))
                .collect();
            branches.sort();
            let statements = self.statements.iter();
            let mut statements: Vec<(u64, String)> = statements
                .map(|(line, count)| (*count, names.statement(*line)))
                .collect();
            statements.sort();
            let lines = branches.iter().chain(&statements);
            let text: String = lines
                .map(|(count, name)| format!("{count} {name}\n"))
                .collect();
            place.write(&text)?;
        }
        Ok(())
    }

    /// Says which test covers the most, and saves it.
    pub(super) fn say_best(&self, observed: &mut Observed<'_, '_, '_>) -> Result<(), Error> {
        let (Some(place), Some((size, test))) = (&self.places.best, &self.best) else {
            return Ok(());
        };
        observed.console.say("BEST COVERAGE TEST:");
        words::say_test(observed.console, observed.system.actions(), test);
        let shown = place.shown().display();
        observed.console.say(format_args!(
            "Writing best coverage test with coverage {size:?} to {shown}"
        ));
        test_file::save(observed.system, test, place)
    }

    /// Says which code failing tests cover and passing ones do not.
    pub(super) fn say_suspects(&self, observed: &mut Observed<'_, '_, '_>) {
        let Some(collector) = observed.system.coverage() else {
            return;
        };
        let names = Names::new(collector);
        let top = self.tool.localize_top;
        let console = &mut observed.console;
        console.say(format_args!(
            "FAULT LOCALIZATION RESULTS (TOP {top}  RESULTS)"
        ));
        let [branches, statements] = &self.spectra;
        console.say("STATEMENTS:");
        for suspect in statements.rank(Formula::Ochiai).iter().take(top) {
            if let Some(line) = self.lines.get(suspect.target.0 as usize) {
                let name = names.statement(*line);
                console.say(format_args!("   {name} {:?}", suspect.score));
            }
        }
        console.say("BRANCHES:");
        for suspect in branches.rank(Formula::Ochiai).iter().take(top) {
            let name = names.branch(collector, suspect.target);
            console.say(format_args!("   {name} {:?}", suspect.score));
        }
    }
}

/// Whether a place is the one that was typed, which may leave out folders.
fn is_meant(name: &str, typed: &str) -> bool {
    name == typed
        || name
            .strip_suffix(typed)
            .is_some_and(|rest| rest.ends_with('/'))
}

fn branch_named(
    names: &Names,
    collector: &Collector<'_>,
    covered: &Coverage,
    typed: &str,
) -> Option<TargetId> {
    let mut targets = covered.iter();
    targets.find(|target| is_meant(&names.typed_branch(collector, *target), typed))
}

/// A branch that leads to or from the statement.
fn statement_named(
    names: &Names,
    collector: &Collector<'_>,
    covered: &Coverage,
    typed: &str,
) -> Option<TargetId> {
    covered.iter().find(|target| {
        let lines = statements_of(collector, [*target]);
        lines
            .into_iter()
            .any(|line| is_meant(&names.typed_statement(line), typed))
    })
}
