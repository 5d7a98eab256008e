//! Generates tests from a recording: selects calls, writes tests, runs them, and rewrites those
//! that fail.

mod candidate;
mod joining;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use candidate::TestCandidate;
pub use candidate::TestOutcome;
use joining::JoinedTests;

use crate::inspect::{ClassKind, DefinitionKind, PythonProject};
use crate::recording::{self, Call, Recording, UnitId};
use crate::select::{UntestedCalls, select};
use crate::suite::{TestClass, UnitTest, UnitTestSuite};
use crate::validate::{
    CandidateFile, Error, TestRunner, TestVerdict, TestedUnits, ValidationRound,
};
use crate::write::{Completeness, Knowledge, TestFramework, TestWriter, WrittenTest};

/// The request for tests.
#[derive(Clone, Debug)]
pub struct Options {
    /// The modules to generate tests for, by dotted name; all if empty.
    pub modules: Vec<String>,
    /// The test framework to write for.
    pub style: TestFramework,
    /// The ids of tests that exist already. These stay as they are, so they are not joined with
    /// others.
    pub existing_ids: BTreeSet<String>,
}

/// The generated tests, with a report on each selected call.
#[derive(Clone, Debug, Default)]
pub struct GeneratedTests {
    /// The tests for each module, by its dotted name.
    pub suites: BTreeMap<String, UnitTestSuite>,
    /// The selected calls with their outcomes, in order.
    pub tests: Vec<SelectedCall>,
    /// The number of selected calls without a test, because it would be a stub or check nothing,
    /// and the unit has better tests.
    pub superseded: usize,
    /// Units that were called and cannot have tests, with the reason.
    pub untestable: Vec<(String, String)>,
    /// Units that could have tests and were never called.
    pub uncalled: Vec<String>,
}

/// A call that was selected for a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedCall {
    /// The name of its unit: `module.Class.method`.
    pub unit: String,
    /// The module of the unit.
    pub module: String,
    /// The name of its test: `Class::test`; empty without one.
    pub test: String,
    /// The id of the test.
    pub id: String,
    /// The outcome of writing its test.
    pub outcome: TestOutcome,
}

/// The maximum number of rounds in which other calls are selected for those that could not be
/// tested.
const MAX_CYCLES: usize = 3;

/// Generates tests from a recording.
///
/// # Errors
/// If tests cannot be run.
pub fn generate(
    recording: &Recording,
    project: &PythonProject,
    options: &Options,
    runner: &dyn TestRunner,
) -> Result<GeneratedTests, Error> {
    let knowledge = Knowledge::new(project);
    let writer = TestWriter::new(recording, &knowledge, options.style);
    let mut generator = SuiteGenerator {
        recording,
        writer: &writer,
        runner,
        style: options.style,
        candidates: Vec::new(),
        joined: Vec::new(),
    };
    let mut generated = GeneratedTests::default();
    let mut pools: Vec<UnitCalls<'_>> = Vec::new();
    let mut words: BTreeMap<&str, Rc<BTreeSet<String>>> = BTreeMap::new();
    for (number, unit) in (0..).zip(&recording.units) {
        // A call without a recorded caller shows that the unit is meant to be used, even if its
        // name is private.
        let mut calls = recording.calls_of(UnitId(number));
        let is_used = calls.any(|call| call.caller.is_none());
        match target_module(&knowledge, unit, is_used) {
            Ok(module) if options.modules.is_empty() || options.modules.contains(&module) => {
                let calls = generator.testable_calls(UnitId(number));
                // Without testable calls, the unit is tested through its callers.
                if !calls.is_empty() {
                    let choices = words.entry(&unit.file);
                    let choices = choices.or_insert_with(|| Rc::new(knowledge.quoted_words(unit)));
                    pools.push(UnitCalls {
                        unit: UnitId(number),
                        module,
                        calls,
                        choices: Rc::clone(choices),
                    });
                }
            }
            Ok(_) => {}
            Err(Some(reason)) => generated.untestable.push((unit.name(), reason)),
            Err(None) => {}
        }
    }
    for _ in 0..MAX_CYCLES {
        let added = generator.add_candidates(&pools);
        if !added {
            break;
        }
        generator.validate_pending()?;
    }
    generator.drop_vacuous()?;
    generator.join_similar(&options.existing_ids)?;
    generator.run_together()?;
    generator.collect_results(&mut generated);
    generated.uncalled = find_uncalled(project, recording, options);
    Ok(generated)
}

/// The calls of a unit that a test could be made of.
struct UnitCalls<'a> {
    /// The unit.
    unit: UnitId,
    /// The module in which it is tested.
    module: String,
    /// The calls, each input once.
    calls: Vec<&'a Call>,
    /// The quoted words in its module.
    choices: Rc<BTreeSet<String>>,
}

/// Returns the module in which a unit is tested, or the reason why it is not, which is `None` where
/// no test is expected. Private units are tested only if code outside of the recording uses them.
fn target_module(
    knowledge: &Knowledge<'_>,
    unit: &recording::CodeUnit,
    is_used: bool,
) -> Result<String, Option<String>> {
    let Some((module, definition)) = knowledge.definition(unit) else {
        return Err(None);
    };
    let is_target = definition.is_target() || (is_used && definition.can_be_tested());
    if module.is_test || definition.is_test || !is_target {
        return Err(None);
    }
    // The code between the two halves of a context manager belongs to its caller.
    let is_context = |decorator: &String| decorator.contains("contextmanager");
    if definition.decorators.iter().any(is_context) {
        return Err(None);
    }
    if let Some((class, method)) = unit.qualified_name.rsplit_once('.') {
        let around = module.definition(class).map(|found| &found.kind);
        let is_exception = matches!(around, Some(DefinitionKind::Class(class)) if class.kind == ClassKind::Exception);
        // Storing its arguments is no behavior of an exception that is worth a test.
        if is_exception && matches!(method, "__init__" | "__str__" | "__repr__") {
            return Err(None);
        }
    }
    if unit.module == "__main__" && module.main_guard.is_none() {
        let file = module.path.display();
        return Err(Some(format!(
            "importing {file} would run the program; put its start below `if __name__ == \"__main__\":`"
        )));
    }
    Ok(module.name.clone())
}

/// Finds functions and methods that could have tests and were never called, in modules with
/// recorded calls.
fn find_uncalled(project: &PythonProject, recording: &Recording, options: &Options) -> Vec<String> {
    let called: BTreeSet<(String, u32)> = recording
        .units
        .iter()
        .filter_map(|unit| {
            let module = project.module_at(std::path::Path::new(&unit.file))?;
            Some((module.name.clone(), unit.line))
        })
        .collect();
    // Modules that were not imported are left out, unless they are requested.
    let is_requested = |name: &String| {
        if options.modules.is_empty() {
            called.iter().any(|(module, _)| module == name)
        } else {
            options.modules.contains(name)
        }
    };
    let modules = project
        .modules
        .iter()
        .filter(|module| !module.is_test && is_requested(&module.name));
    let mut found = Vec::new();
    for module in modules {
        for definition in &module.definitions {
            let is_function = matches!(definition.kind, DefinitionKind::Function(_));
            let key = (module.name.clone(), definition.first_line);
            if is_function && definition.is_target() && !called.contains(&key) {
                found.push(format!("{}.{}", module.name, definition.qualified_name));
            }
        }
    }
    found
}

/// The state of the generation.
struct SuiteGenerator<'a, 'w> {
    /// The recording.
    recording: &'a Recording,
    /// The writer of tests.
    writer: &'w TestWriter<'a>,
    /// The runner of tests.
    runner: &'w dyn TestRunner,
    /// The test framework.
    style: TestFramework,
    /// The tests written so far, one for each selected call.
    candidates: Vec<TestCandidate<'a>>,
    /// Tests that are joined in a table.
    joined: Vec<JoinedTests>,
}

impl<'a> SuiteGenerator<'a, '_> {
    /// Returns the finished calls of a unit, each input once.
    fn testable_calls(&self, unit: UnitId) -> Vec<&'a Call> {
        let mut seen = BTreeSet::new();
        self.recording
            .calls_of(unit)
            .filter(|call| {
                call.outcome != recording::CallOutcome::Unfinished || !call.steps.is_empty()
            })
            .filter(|call| !self.is_part_of_another(call))
            .filter(|call| seen.insert(self.writer.test_id(call)))
            .collect()
    }

    /// Returns true if a call is only a step of another one, which covers it.
    fn is_part_of_another(&self, call: &Call) -> bool {
        self.writer.is_part_of_creation(call) || self.writer.is_part_of_override(call)
    }

    /// Adds candidates for behavior that no test shows yet. Returns true if there are any.
    fn add_candidates(&mut self, pools: &[UnitCalls<'a>]) -> bool {
        let mut added = false;
        let mut untested =
            UntestedCalls::new(self.recording, |call| self.may_be_tested(call, pools));
        for candidate in self.candidates.iter().filter(|known| known.is_test()) {
            untested.mark_reached(candidate.call);
        }
        for pool in pools {
            let of_unit = |candidate: &&TestCandidate<'a>| candidate.call.unit == pool.unit;
            let tried: Vec<&Call> = self
                .candidates
                .iter()
                .filter(of_unit)
                .map(|known| known.call)
                .collect();
            let done: Vec<&Call> = self
                .candidates
                .iter()
                .filter(of_unit)
                .filter(|candidate| candidate.is_test())
                .map(|candidate| candidate.call)
                .collect();
            let left: Vec<&Call> = pool
                .calls
                .iter()
                .filter(|call| !tried.iter().any(|known| std::ptr::eq(*known, **call)))
                .copied()
                .collect();
            let is_choice = |word: &str| pool.choices.contains(word);
            for call in select(&left, &done, &mut untested, &is_choice) {
                let candidate = TestCandidate::new(self.writer, call, pool.module.clone());
                added |= candidate.is_some();
                self.candidates.extend(candidate);
            }
        }
        added
    }

    /// Returns true unless a call is known to be testable only through its callers.
    fn may_be_tested(&self, call: &Call, pools: &[UnitCalls<'a>]) -> bool {
        if !pools.iter().any(|pool| pool.unit == call.unit) || self.is_part_of_another(call) {
            return false;
        }
        let of_unit = |known: &&TestCandidate<'a>| known.call.unit == call.unit;
        let mut tried = self.candidates.iter().filter(of_unit).peekable();
        if tried.peek().is_none() {
            return true;
        }
        let mut is_hopeless = true;
        for candidate in tried {
            if std::ptr::eq(candidate.call, call) {
                return candidate.is_test();
            }
            is_hopeless &= !candidate.is_test();
        }
        !is_hopeless
    }

    /// Runs pending candidates until each has passed every round or has no form left to try.
    fn validate_pending(&mut self) -> Result<(), Error> {
        loop {
            let pending = self.indices_where(|candidate| candidate.is_pending());
            if pending.is_empty() {
                return Ok(());
            }
            let mut failed: BTreeMap<usize, (usize, String)> = BTreeMap::new();
            let mut leaked: BTreeMap<usize, String> = BTreeMap::new();
            let mut standing = pending.clone();
            for round in ValidationRound::ALL {
                for (index, verdict) in self.run(&standing, round)? {
                    match verdict {
                        TestVerdict::Passed | TestVerdict::Skipped => {}
                        TestVerdict::Leaked(name) => {
                            leaked.entry(index).or_insert(name);
                        }
                        TestVerdict::Failed(message) => {
                            failed.entry(index).or_insert((0, message)).0 += 1;
                        }
                    }
                }
                // Tests that fail alone are not run with others, where they might hang.
                if round.is_isolated {
                    standing.retain(|index| !failed.contains_key(index));
                }
            }
            for index in pending {
                let Some(candidate) = self.candidates.get_mut(index) else {
                    continue;
                };
                match (failed.remove(&index), leaked.remove(&index)) {
                    (Some((_, message)), _) => candidate.try_next_form(self.writer, &message),
                    (None, Some(name)) => candidate.pin_leak(self.writer, &name),
                    (None, None) => candidate.accept(),
                }
            }
        }
    }

    /// Demotes tests that pass with an empty body of the unit, because they check nothing.
    fn drop_vacuous(&mut self) -> Result<(), Error> {
        let accepted = self.indices_where(TestCandidate::is_test);
        let verdicts = self.run(&accepted, ValidationRound::EMPTY)?;
        for (index, verdict) in verdicts {
            if let (TestVerdict::Passed, Some(candidate)) =
                (verdict, self.candidates.get_mut(index))
            {
                candidate.demote();
            }
        }
        Ok(())
    }

    /// Runs all tests together, as they will be in their files, and drops those that fail.
    fn run_together(&mut self) -> Result<(), Error> {
        let accepted = self.indices_where(|candidate| candidate.is_test() || candidate.is_smoke());
        for round in ValidationRound::ALL
            .into_iter()
            .filter(|round| !round.is_isolated)
        {
            for (index, verdict) in self.run(&accepted, round)? {
                if let (
                    TestVerdict::Failed(message) | TestVerdict::Leaked(message),
                    Some(candidate),
                ) = (verdict, self.candidates.get_mut(index))
                {
                    candidate.drop_with_reason(format!("fails beside other tests: {message}"));
                }
            }
        }
        Ok(())
    }

    /// Returns the indices of some candidates.
    fn indices_where(&self, wanted: impl Fn(&TestCandidate<'a>) -> bool) -> Vec<usize> {
        let all = self.candidates.iter().enumerate();
        all.filter(|(_, candidate)| wanted(candidate))
            .map(|(index, _)| index)
            .collect()
    }

    /// Runs candidates in a round, and returns their verdicts by index.
    fn run(
        &self,
        indices: &[usize],
        round: ValidationRound,
    ) -> Result<Vec<(usize, TestVerdict)>, Error> {
        if indices.is_empty() {
            return Ok(Vec::new());
        }
        let modules = self.arrange_by_module(indices);
        let mut files = Vec::new();
        let mut units = TestedUnits::new();
        let mut known: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (module, layout) in &modules {
            let name = format!("test_{}.py", module.replace('.', "_"));
            let empty = BTreeSet::new();
            let merged = crate::merge::merge(
                None,
                &layout.suite,
                &empty,
                crate::merge::RewritePolicy::Keep,
            );
            let bytes = merged.map(|merged| merged.bytes).unwrap_or_default();
            for (class, test, indices) in &layout.test_names {
                let key = format!("{name}::{class}::{test}");
                let first = indices
                    .first()
                    .and_then(|index| self.candidates.get(*index));
                let unit = first.and_then(|candidate| {
                    let unit = self.recording.unit(candidate.call.unit)?;
                    Some((candidate.module.clone(), unit.qualified_name.clone()))
                });
                units.extend(unit.map(|unit| (key.clone(), unit)));
                known.insert(key, indices.clone());
            }
            files.push(CandidateFile {
                name,
                text: String::from_utf8_lossy(&bytes).into_owned(),
            });
        }
        let mut verdicts = self.runner.run(&files, &units, round)?;
        let broken = verdicts
            .iter()
            .filter(|(name, _)| !name.contains("::"))
            .map(|(name, verdict)| (name.clone(), verdict.clone()))
            .collect::<Vec<_>>();
        let mut found = Vec::new();
        let mut unimported: BTreeMap<&String, Vec<usize>> = BTreeMap::new();
        for (key, indices) in known {
            let of_file = broken
                .iter()
                .find(|(name, _)| name.rsplit('/').next() == key.split("::").next());
            match (verdicts.remove(&key), of_file) {
                (Some(verdict), _) => {
                    found.extend(indices.into_iter().map(|index| (index, verdict.clone())));
                }
                (None, Some((name, _))) => unimported.entry(name).or_default().extend(indices),
                (None, None) => {
                    let verdict = TestVerdict::Failed("it was never run".to_owned());
                    found.extend(indices.into_iter().map(|index| (index, verdict.clone())));
                }
            }
        }
        // A file that cannot be imported fails with all its tests, although few of them are the
        // cause. The search for these is by import names first, then by halving.
        for (name, tests) in unimported {
            let Some((_, verdict)) = broken.iter().find(|(broken, _)| broken == name) else {
                continue;
            };
            let is_to_blame = |index: &usize| {
                let candidate = self.candidates.get(*index);
                candidate.is_some_and(|candidate| candidate.imports_missing_name(verdict))
            };
            let (mut culprits, others): (Vec<usize>, Vec<usize>) =
                tests.into_iter().partition(is_to_blame);
            if let ([], [only]) = (culprits.as_slice(), others.as_slice()) {
                culprits.push(*only);
            } else if culprits.is_empty() {
                let (first_half, second_half) = others.split_at(others.len() / 2);
                found.extend(self.run(first_half, round)?);
                found.extend(self.run(second_half, round)?);
            } else {
                found.extend(self.run(&others, round)?);
            }
            found.extend(culprits.into_iter().map(|index| (index, verdict.clone())));
        }
        Ok(found)
    }

    /// Lays out candidates as suites by module, with names that are unique in their classes.
    fn arrange_by_module(&self, indices: &[usize]) -> BTreeMap<String, ModuleTests> {
        let mut tests: BTreeMap<String, Vec<(&WrittenTest, Vec<usize>)>> = BTreeMap::new();
        for index in indices {
            let Some(candidate) = self.candidates.get(*index) else {
                continue;
            };
            let tests = tests.entry(candidate.module.clone()).or_default();
            match self.joined_test_of(*index, indices) {
                None => tests.push((&candidate.written, vec![*index])),
                Some(joined) if joined.members.first() == Some(index) => {
                    tests.push((&joined.written, joined.members.clone()));
                }
                // It is laid out with the first of its table.
                Some(_) => {}
            }
        }
        let layout = |tests| ModuleTests::new(tests, self.style);
        tests
            .into_iter()
            .map(|(module, tests)| (module, layout(tests)))
            .collect()
    }

    /// Collects the tests that are kept, and the outcomes of all candidates.
    fn collect_results(&self, generated: &mut GeneratedTests) {
        let mut kept = Vec::new();
        for (index, candidate) in self.candidates.iter().enumerate() {
            // A stub, or a test that checks nothing, is kept only where there is nothing better.
            let better = self
                .candidates
                .iter()
                .any(|other| other.call.unit == candidate.call.unit && other.is_test());
            let first = self.candidates.iter().position(|other| {
                other.call.unit == candidate.call.unit && (other.is_stub() || other.is_smoke())
            });
            let is_only = !better && first == Some(index);
            if candidate.is_test() || is_only {
                kept.push(index);
            } else if !candidate.is_dropped() {
                generated.superseded += 1;
            }
        }
        let mut names: BTreeMap<usize, String> = BTreeMap::new();
        for (module, layout) in self.arrange_by_module(&kept) {
            for (class, test, indices) in layout.test_names {
                let named = |index| (index, format!("{class}::{test}"));
                names.extend(indices.into_iter().map(named));
            }
            generated.suites.insert(module, layout.suite);
        }
        for (index, candidate) in self.candidates.iter().enumerate() {
            let unit = self.recording.unit(candidate.call.unit);
            let is_listed = names.contains_key(&index) || candidate.is_dropped();
            if let Some(unit) = unit.filter(|_| is_listed) {
                generated.tests.push(SelectedCall {
                    unit: unit.name(),
                    module: candidate.module.clone(),
                    test: names.remove(&index).unwrap_or_default(),
                    id: match self.joined_test_of(index, &kept) {
                        Some(joined) => joined.written.test.id.clone(),
                        None => candidate.written.test.id.clone(),
                    },
                    outcome: candidate.outcome(),
                });
            }
        }
    }
}

/// The tests of one module.
struct ModuleTests {
    /// The suite.
    suite: UnitTestSuite,
    /// The class, the name and the candidates of each test.
    test_names: Vec<(String, String, Vec<usize>)>,
}

impl ModuleTests {
    /// Lays out tests in classes.
    fn new(tests: Vec<(&WrittenTest, Vec<usize>)>, style: TestFramework) -> ModuleTests {
        let mut layout = ModuleTests {
            suite: UnitTestSuite {
                main_guard: style == TestFramework::Unittest,
                ..UnitTestSuite::default()
            },
            test_names: Vec::new(),
        };
        let mut classes: Vec<&str> = Vec::new();
        for (written, _) in &tests {
            if !classes.contains(&written.class.as_str()) {
                classes.push(&written.class);
            }
        }
        for class in classes {
            let own = tests.iter().filter(|(written, _)| written.class == class);
            let named: Vec<(&str, &[String])> = own
                .clone()
                .map(|(written, _)| (written.test.name.as_str(), written.other_names.as_slice()))
                .collect();
            let names = crate::write::choose_distinct_names(&named);
            let mut of_class = TestClass {
                name: class.to_owned(),
                base: style.base_class().map(str::to_owned),
                tests: Vec::new(),
            };
            for ((written, indices), name) in own.zip(names) {
                let test = renamed_test(&written.test, &name, &of_class.tests);
                let test_name = (class.to_owned(), test.name.clone(), indices.clone());
                layout.test_names.push(test_name);
                of_class.tests.push(test);
            }
            layout.suite.classes.push(of_class);
        }
        layout
    }
}

/// Renames a test, with a number after the name if it is taken.
fn renamed_test(test: &UnitTest, wanted: &str, others: &[UnitTest]) -> UnitTest {
    let mut test = test.clone();
    let definition = format!("def {}(", test.name);
    let mut number = 1;
    test.name = wanted.to_owned();
    while others.iter().any(|other| other.name == test.name) {
        number += 1;
        test.name = crate::write::with_number(wanted, number);
    }
    let renamed = format!("def {}(", test.name);
    for line in &mut test.lines {
        *line = line.replacen(&definition, &renamed, 1);
    }
    test
}

/// The numbers of tests by completeness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// Tests that check everything.
    pub full: usize,
    /// Tests that check a part.
    pub partial: usize,
    /// Tests that check only that a call ends.
    pub smoke: usize,
    /// Tests that are skipped until they are completed by hand.
    pub stubs: usize,
    /// Calls without a test.
    pub dropped: usize,
}

impl GeneratedTests {
    /// Counts the tests by completeness.
    #[must_use]
    pub fn counts(&self) -> TestCounts {
        let mut counts = TestCounts::default();
        for tested in &self.tests {
            match &tested.outcome {
                TestOutcome::Written(Completeness::Full) => counts.full += 1,
                TestOutcome::Written(Completeness::Partial(_)) => counts.partial += 1,
                TestOutcome::Written(Completeness::Smoke) => counts.smoke += 1,
                TestOutcome::Written(Completeness::Stub(_)) => counts.stubs += 1,
                TestOutcome::Dropped(_) => counts.dropped += 1,
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests;
