//! Analyses of the coverage of tests: localization, saturation, counts, and the best test.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use testwright_core::analyse::localize::{Spectrum, SuspicionFormula};
use testwright_core::analyse::saturation::Sessions;
use testwright_core::generate::Swarm;
use testwright_core::generate::swarm::SwarmRecord;
use testwright_core::{Coverage, Error, System, TargetId, Test};
use testwright_python::Collector;

use super::RandomTester;
use super::failures::StopTarget;
use super::observed_system::ObservedSystem;
use super::session::SessionFiles;
use super::strategy::configuration;
use crate::compat::covered_code::{CodeNames, SourceLine, statement_lines};
use crate::compat::{test_file, tstl_text};

/// The data for all analyses.
pub(super) struct CoverageAnalyses<'t> {
    tool: &'t RandomTester,
    files: &'t SessionFiles,
    /// The coverage of parallel sessions, which shows saturation.
    sessions: Sessions,
    /// The number of tests that covered each branch.
    branches: BTreeMap<TargetId, u64>,
    /// The number of tests that covered each statement.
    statements: BTreeMap<SourceLine, u64>,
    /// The tests that covered branches and statements, for localization.
    spectra: [Spectrum; 2],
    /// The statements of the second spectrum, by number.
    lines: Vec<SourceLine>,
    /// The test that covers the most branches and statements so far.
    best: Option<((usize, usize), Test)>,
    /// The included classes and the coverage of each test.
    swarm: Vec<SwarmRecord>,
    /// The target that stops the search, if the last test covered it.
    pub(super) hit_target: Option<StopTarget>,
}

impl<'t> CoverageAnalyses<'t> {
    /// Creates the analyses without any data.
    pub(super) fn new(tool: &'t RandomTester, files: &'t SessionFiles) -> CoverageAnalyses<'t> {
        CoverageAnalyses {
            tool,
            files,
            sessions: Sessions::new(tool.sessions),
            branches: BTreeMap::new(),
            statements: BTreeMap::new(),
            spectra: Default::default(),
            lines: Vec::new(),
            best: None,
            swarm: Vec::new(),
            hit_target: None,
        }
    }

    /// Records a test and its coverage.
    pub(super) fn add_test(
        &mut self,
        observed: &mut ObservedSystem<'_, '_, '_>,
        test: &Test,
        covered: &Coverage,
        failed: bool,
    ) {
        let Some(collector) = observed.system.coverage() else {
            return;
        };
        if self.files.counts.is_some() {
            for target in covered.iter() {
                *self.branches.entry(target).or_default() += 1;
            }
            for line in statement_lines(collector, covered.iter()) {
                *self.statements.entry(line).or_default() += 1;
            }
        }
        if self.tool.localize && !failed {
            self.add_to_spectra(collector, covered, false);
        }
        self.hit_target = self.find_stop_target(collector, covered);
        if self.files.best.is_some() && self.may_be_best(collector, covered) {
            let size = (
                covered.len(),
                statement_lines(collector, covered.iter()).len(),
            );
            if self.best.as_ref().is_none_or(|(best, _)| size > *best) {
                observed
                    .console
                    .out(format_args!("NEW BEST COVERAGE TEST: {size:?}"));
                self.best = Some((size, test.clone()));
            }
        }
    }

    /// Records the coverage of the final form of a failing test.
    pub(super) fn add_failure(
        &mut self,
        observed: &ObservedSystem<'_, '_, '_>,
        covered: &Coverage,
    ) {
        if let Some(collector) = observed.system.coverage().filter(|_| self.tool.localize) {
            self.add_to_spectra(collector, covered, true);
        }
    }

    /// Records the classes that a swarm included.
    pub(super) fn add_swarm(
        &mut self,
        observed: &ObservedSystem<'_, '_, '_>,
        swarm: Option<&Rc<RefCell<Swarm>>>,
        covered: &Coverage,
    ) {
        let (Some(collector), Some(_)) = (observed.system.coverage(), &self.files.swarm) else {
            return;
        };
        let names = CodeNames::new(collector);
        let statements = statement_lines(collector, covered.iter());
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

    /// Adds the coverage of a test to both spectra.
    fn add_to_spectra(&mut self, collector: &Collector<'_>, covered: &Coverage, failed: bool) {
        let lines = statement_lines(collector, covered.iter());
        let lines: Coverage = lines
            .into_iter()
            .map(|line| self.statement_number(line))
            .collect();
        let [branches, statements] = &mut self.spectra;
        branches.add(covered, failed);
        statements.add(&lines, failed);
    }

    /// Returns the number of a statement in its spectrum.
    fn statement_number(&mut self, line: SourceLine) -> TargetId {
        let known = self.lines.iter().position(|known| *known == line);
        let number = known.unwrap_or_else(|| {
            self.lines.push(line);
            self.lines.len() - 1
        });
        TargetId(u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// Finds the branch or statement that stops the search in the coverage of a test.
    fn find_stop_target(
        &self,
        collector: &Collector<'_>,
        covered: &Coverage,
    ) -> Option<StopTarget> {
        let hit =
            |kind,
             name: &Option<String>,
             find: fn(&CodeNames, &Collector<'_>, &Coverage, &str) -> Option<TargetId>| {
                let name = name.as_ref()?;
                let target = find(&CodeNames::new(collector), collector, covered, name)?;
                Some(StopTarget {
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

    /// Returns true if a test covers the code that the best test must cover.
    fn may_be_best(&self, collector: &Collector<'_>, covered: &Coverage) -> bool {
        let names = CodeNames::new(collector);
        let branch = self.tool.max_must_hit_branch.as_ref();
        let statement = self.tool.max_must_hit_statement.as_ref();
        branch.is_none_or(|name| branch_named(&names, collector, covered, name).is_some())
            && statement
                .is_none_or(|name| statement_named(&names, collector, covered, name).is_some())
    }

    /// Adds the coverage of a test, and returns true if all sessions have covered the same.
    pub(super) fn is_saturated(&mut self, covered: Option<&Coverage>) -> bool {
        if let Some(covered) = covered {
            self.sessions.add(covered);
        }
        self.sessions.have_same_coverage()
    }

    /// Writes all requested files.
    pub(super) fn write(&self, observed: &mut ObservedSystem<'_, '_, '_>) -> Result<(), Error> {
        let Some(collector) = observed.system.coverage() else {
            return Ok(());
        };
        if let Some(path) = &self.files.swarm {
            path.write(&SwarmRecord::write(observed.classes(), &self.swarm))?;
        }
        if let Some(path) = &self.files.counts {
            let names = CodeNames::new(collector);
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
            path.write(&text)?;
        }
        Ok(())
    }

    /// Prints and saves the test that covers the most.
    pub(super) fn print_best(
        &self,
        observed: &mut ObservedSystem<'_, '_, '_>,
    ) -> Result<(), Error> {
        let (Some(path), Some((size, test))) = (&self.files.best, &self.best) else {
            return Ok(());
        };
        observed.console.out("BEST COVERAGE TEST:");
        tstl_text::print_test(observed.console, observed.system.actions(), test);
        let shown = path.shown().display();
        observed.console.out(format_args!(
            "Writing best coverage test with coverage {size:?} to {shown}"
        ));
        test_file::save(observed.system, test, path)
    }

    /// Prints the code that failing tests cover and passing ones do not.
    pub(super) fn print_suspects(&self, observed: &mut ObservedSystem<'_, '_, '_>) {
        let Some(collector) = observed.system.coverage() else {
            return;
        };
        let names = CodeNames::new(collector);
        let top = self.tool.localize_top;
        let console = &mut observed.console;
        console.out(format_args!(
            "FAULT LOCALIZATION RESULTS (TOP {top}  RESULTS)"
        ));
        let [branches, statements] = &self.spectra;
        console.out("STATEMENTS:");
        for suspect in statements.rank(SuspicionFormula::Ochiai).iter().take(top) {
            if let Some(line) = self.lines.get(suspect.target.0 as usize) {
                let name = names.statement(*line);
                console.out(format_args!("   {name} {:?}", suspect.score));
            }
        }
        console.out("BRANCHES:");
        for suspect in branches.rank(SuspicionFormula::Ochiai).iter().take(top) {
            let name = names.branch(collector, suspect.target);
            console.out(format_args!("   {name} {:?}", suspect.score));
        }
    }
}

/// Returns true if the name of a location is the one that was typed, which may leave out folders.
fn matches_name(name: &str, typed: &str) -> bool {
    name == typed
        || name
            .strip_suffix(typed)
            .is_some_and(|rest| rest.ends_with('/'))
}

/// Finds a covered branch by its typed name.
fn branch_named(
    names: &CodeNames,
    collector: &Collector<'_>,
    covered: &Coverage,
    typed: &str,
) -> Option<TargetId> {
    let mut targets = covered.iter();
    targets.find(|target| matches_name(&names.typed_branch(collector, *target), typed))
}

/// Finds a covered branch that leads to or from a statement with this typed name.
fn statement_named(
    names: &CodeNames,
    collector: &Collector<'_>,
    covered: &Coverage,
    typed: &str,
) -> Option<TargetId> {
    covered.iter().find(|target| {
        let lines = statement_lines(collector, [*target]);
        lines
            .into_iter()
            .any(|line| matches_name(&names.typed_statement(line), typed))
    })
}
