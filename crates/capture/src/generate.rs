//! From a recording to tests that are true: select, write, validate, and try again where a test was not.

mod candidate;
mod joining;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use candidate::Candidate;
pub use candidate::Outcome;
use joining::Joined;

use crate::inspect::{DefinitionKind, Nature, Project};
use crate::recording::{self, Call, Recording, UnitId};
use crate::select::{Below, select};
use crate::suite::{Suite, TestClass, UnitTest};
use crate::validate::{Error, Round, Run, TestFile, Units, Verdict};
use crate::write::{Completeness, Knowledge, Style, Writer, Written};

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Options {
    /// The modules that tests are wanted for, by dotted name; all if there are none.
    pub modules: Vec<String>,
    /// How tests are written.
    pub style: Style,
    /// The ids of tests that are there already. They stay as they are, so they are not joined with others.
    pub present: BTreeSet<String>,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// The tests for each module, by its dotted name.
    pub suites: BTreeMap<String, Suite>,
    /// What became of each selected call, in order.
    pub tests: Vec<Tested>,
    /// Selected calls without a test of their own, because it would be a stub or check nothing, and their unit has better ones.
    pub outdone: usize,
    /// Units that were called and cannot have tests, with the reason.
    pub left_out: Vec<(String, String)>,
    /// Units that could have tests and were never called.
    pub uncalled: Vec<String>,
}

/// A call that was selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tested {
    /// `module.Class.method`
    pub unit: String,
    /// The module that it is in.
    pub module: String,
    /// `Class::test`
    pub test: String,
    /// The id of the interaction.
    pub id: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// More cycles than this of choosing other calls for those that could not be tested are not made.
const CYCLES: usize = 3;

/// Makes tests of a recording.
///
/// # Errors
/// If tests cannot be run.
pub fn generate(
    recording: &Recording,
    project: &Project,
    options: &Options,
    runner: &dyn Run,
) -> Result<Generated, Error> {
    let knowledge = Knowledge::new(project);
    let writer = Writer::new(recording, &knowledge, options.style);
    let mut generator = Generator {
        recording,
        writer: &writer,
        runner,
        style: options.style,
        candidates: Vec::new(),
        joined: Vec::new(),
    };
    let mut generated = Generated::default();
    let mut pools: Vec<Pool<'_>> = Vec::new();
    let mut words: BTreeMap<&str, Rc<BTreeSet<String>>> = BTreeMap::new();
    for (number, unit) in (0..).zip(&recording.units) {
        // Whoever is not recorded uses what is meant to be used, whatever it is called.
        let mut calls = recording.calls_of(UnitId(number));
        let is_used = calls.any(|call| call.caller.is_none());
        match target(&knowledge, unit, is_used) {
            Ok(module) if options.modules.is_empty() || options.modules.contains(&module) => {
                let calls = generator.pool(UnitId(number));
                // Without any, what it does is a matter of those who call it.
                if !calls.is_empty() {
                    let choices = words.entry(&unit.file);
                    let choices = choices.or_insert_with(|| Rc::new(knowledge.words(unit)));
                    pools.push(Pool {
                        unit: UnitId(number),
                        module,
                        calls,
                        choices: Rc::clone(choices),
                    });
                }
            }
            Ok(_) => {}
            Err(Some(reason)) => generated.left_out.push((unit.name(), reason)),
            Err(None) => {}
        }
    }
    for _ in 0..CYCLES {
        let added = generator.choose(&pools);
        if !added {
            break;
        }
        generator.settle()?;
    }
    generator.drop_vacuous()?;
    generator.join(&options.present)?;
    generator.check_together()?;
    generator.finish(&mut generated);
    generated.uncalled = uncalled(project, recording, options);
    Ok(generated)
}

/// The calls of a unit that a test could be made of.
struct Pool<'a> {
    unit: UnitId,
    module: String,
    calls: Vec<&'a Call>,
    /// Words that stand in its module.
    choices: Rc<BTreeSet<String>>,
}

/// The module in which a unit is tested, or why it is not (nothing where nobody would expect it). What is private is tested
/// only if code that was not recorded uses it.
fn target(
    knowledge: &Knowledge<'_>,
    unit: &recording::Unit,
    is_used: bool,
) -> Result<String, Option<String>> {
    let Some((module, definition)) = knowledge.definition(unit) else {
        return Err(None);
    };
    let is_target = definition.is_target() || (is_used && definition.can_be_tested());
    if module.is_test || definition.is_test || !is_target {
        return Err(None);
    }
    // What happens between its two halves is up to those who use it.
    let is_context = |decorator: &String| decorator.contains("contextmanager");
    if definition.decorators.iter().any(is_context) {
        return Err(None);
    }
    if let Some((class, method)) = unit.qualified_name.rsplit_once('.') {
        let around = module.definition(class).map(|found| &found.kind);
        let is_exception = matches!(around, Some(DefinitionKind::Class(class)) if class.nature == Nature::Exception);
        // That an exception holds what it is given is no behaviour worth a test.
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

/// Functions and methods that could have tests and were never called, in modules of which something was.
fn uncalled(project: &Project, recording: &Recording, options: &Options) -> Vec<String> {
    let called: BTreeSet<(String, u32)> = recording
        .units
        .iter()
        .filter_map(|unit| {
            let module = project.module_at(std::path::Path::new(&unit.file))?;
            Some((module.name.clone(), unit.line))
        })
        .collect();
    // Modules that nobody imported are another story, unless somebody asks for them.
    let is_asked_for = |name: &String| {
        if options.modules.is_empty() {
            called.iter().any(|(module, _)| module == name)
        } else {
            options.modules.contains(name)
        }
    };
    let modules = project
        .modules
        .iter()
        .filter(|module| !module.is_test && is_asked_for(&module.name));
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

struct Generator<'a, 'w> {
    recording: &'a Recording,
    writer: &'w Writer<'a>,
    runner: &'w dyn Run,
    style: Style,
    candidates: Vec<Candidate<'a>>,
    /// Tests that are written together.
    joined: Vec<Joined>,
}

impl<'a> Generator<'a, '_> {
    /// The finished calls of a unit, each input once.
    fn pool(&self, unit: UnitId) -> Vec<&'a Call> {
        let mut seen = BTreeSet::new();
        self.recording
            .calls_of(unit)
            .filter(|call| call.outcome != recording::Outcome::Unfinished || !call.steps.is_empty())
            .filter(|call| !self.is_part_of_another(call))
            .filter(|call| seen.insert(self.writer.id(call)))
            .collect()
    }

    /// Whether a call is nothing but a step of another one, with which it is tested.
    fn is_part_of_another(&self, call: &Call) -> bool {
        self.writer.is_part_of_creation(call) || self.writer.is_part_of_override(call)
    }

    /// Adds candidates for what no test shows yet. Whether there were any.
    fn choose(&mut self, pools: &[Pool<'a>]) -> bool {
        let mut added = false;
        let mut below = Below::new(self.recording, |call| self.may_be_tested(call, pools));
        for candidate in self.candidates.iter().filter(|known| known.is_test()) {
            below.note(candidate.call);
        }
        for pool in pools {
            let of_unit = |candidate: &&Candidate<'a>| candidate.call.unit == pool.unit;
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
            for call in select(&left, &done, &mut below, &is_choice) {
                let candidate = Candidate::new(self.writer, call, pool.module.clone());
                added |= candidate.is_some();
                self.candidates.extend(candidate);
            }
        }
        added
    }

    /// Whether a call is not known to be one that only those who make it can test.
    fn may_be_tested(&self, call: &Call, pools: &[Pool<'a>]) -> bool {
        if !pools.iter().any(|pool| pool.unit == call.unit) || self.is_part_of_another(call) {
            return false;
        }
        let of_unit = |known: &&Candidate<'a>| known.call.unit == call.unit;
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

    /// Runs what is pending until each test passed every time, or nothing is left to try.
    fn settle(&mut self) -> Result<(), Error> {
        loop {
            let pending = self.indices(|candidate| candidate.is_pending());
            if pending.is_empty() {
                return Ok(());
            }
            let mut failed: BTreeMap<usize, (usize, String)> = BTreeMap::new();
            let mut leaked: BTreeMap<usize, String> = BTreeMap::new();
            let mut standing = pending.clone();
            for round in Round::ALL {
                for (index, verdict) in self.run(&standing, round)? {
                    match verdict {
                        Verdict::Passed | Verdict::Skipped => {}
                        Verdict::Leaked(name) => {
                            leaked.entry(index).or_insert(name);
                        }
                        Verdict::Failed(message) => {
                            failed.entry(index).or_insert((0, message)).0 += 1;
                        }
                    }
                }
                // What fails alone need not be run with others, where it might hang.
                if round.is_alone {
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

    /// What passes without the unit's body checks nothing.
    fn drop_vacuous(&mut self) -> Result<(), Error> {
        let accepted = self.indices(Candidate::is_test);
        let verdicts = self.run(&accepted, Round::EMPTY)?;
        for (index, verdict) in verdicts {
            if let (Verdict::Passed, Some(candidate)) = (verdict, self.candidates.get_mut(index)) {
                candidate.demote();
            }
        }
        Ok(())
    }

    /// All tests together, as they will be in their files.
    fn check_together(&mut self) -> Result<(), Error> {
        let accepted = self.indices(|candidate| candidate.is_test() || candidate.is_smoke());
        for round in Round::ALL.into_iter().filter(|round| !round.is_alone) {
            for (index, verdict) in self.run(&accepted, round)? {
                if let (Verdict::Failed(message) | Verdict::Leaked(message), Some(candidate)) =
                    (verdict, self.candidates.get_mut(index))
                {
                    candidate.drop_with(format!("fails beside other tests: {message}"));
                }
            }
        }
        Ok(())
    }

    fn indices(&self, wanted: impl Fn(&Candidate<'a>) -> bool) -> Vec<usize> {
        let all = self.candidates.iter().enumerate();
        all.filter(|(_, candidate)| wanted(candidate))
            .map(|(index, _)| index)
            .collect()
    }

    fn run(&self, indices: &[usize], round: Round) -> Result<Vec<(usize, Verdict)>, Error> {
        if indices.is_empty() {
            return Ok(Vec::new());
        }
        let laid_out = self.layout(indices);
        let mut files = Vec::new();
        let mut units = Units::new();
        let mut known: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (module, layout) in &laid_out {
            let name = format!("test_{}.py", module.replace('.', "_"));
            let empty = BTreeSet::new();
            let merged =
                crate::merge::merge(None, &layout.suite, &empty, crate::merge::Force::Keep);
            let bytes = merged.map(|merged| merged.bytes).unwrap_or_default();
            for (class, test, indices) in &layout.places {
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
            files.push(TestFile {
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
                    let verdict = Verdict::Failed("it was never run".to_owned());
                    found.extend(indices.into_iter().map(|index| (index, verdict.clone())));
                }
            }
        }
        // A file that cannot be imported fails with all its tests, and few of them are to blame.
        for (name, tests) in unimported {
            let Some((_, verdict)) = broken.iter().find(|(broken, _)| broken == name) else {
                continue;
            };
            let is_to_blame = |index: &usize| {
                let candidate = self.candidates.get(*index);
                candidate.is_some_and(|candidate| candidate.imports_what(verdict))
            };
            let (mut guilty, innocent): (Vec<usize>, Vec<usize>) =
                tests.into_iter().partition(is_to_blame);
            if let ([], [only]) = (guilty.as_slice(), innocent.as_slice()) {
                guilty.push(*only);
            } else if guilty.is_empty() {
                let (some, others) = innocent.split_at(innocent.len() / 2);
                found.extend(self.run(some, round)?);
                found.extend(self.run(others, round)?);
            } else {
                found.extend(self.run(&innocent, round)?);
            }
            found.extend(guilty.into_iter().map(|index| (index, verdict.clone())));
        }
        Ok(found)
    }

    /// Suites of these candidates, with names that are unique in their classes.
    fn layout(&self, indices: &[usize]) -> BTreeMap<String, Layout> {
        let mut tests: BTreeMap<String, Vec<(&Written, Vec<usize>)>> = BTreeMap::new();
        for index in indices {
            let Some(candidate) = self.candidates.get(*index) else {
                continue;
            };
            let tests = tests.entry(candidate.module.clone()).or_default();
            match self.joined_with(*index, indices) {
                None => tests.push((&candidate.written, vec![*index])),
                Some(joined) if joined.members.first() == Some(index) => {
                    tests.push((&joined.written, joined.members.clone()));
                }
                // It is there with the first of them.
                Some(_) => {}
            }
        }
        let layout = |tests| Layout::new(tests, self.style);
        tests
            .into_iter()
            .map(|(module, tests)| (module, layout(tests)))
            .collect()
    }

    fn finish(&self, generated: &mut Generated) {
        let mut kept = Vec::new();
        for (index, candidate) in self.candidates.iter().enumerate() {
            // A stub, or a test that checks nothing, is worth something only where there is nothing better.
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
                generated.outdone += 1;
            }
        }
        let mut names: BTreeMap<usize, String> = BTreeMap::new();
        for (module, layout) in self.layout(&kept) {
            for (class, test, indices) in layout.places {
                let named = |index| (index, format!("{class}::{test}"));
                names.extend(indices.into_iter().map(named));
            }
            generated.suites.insert(module, layout.suite);
        }
        for (index, candidate) in self.candidates.iter().enumerate() {
            let unit = self.recording.unit(candidate.call.unit);
            let is_listed = names.contains_key(&index) || candidate.is_dropped();
            if let Some(unit) = unit.filter(|_| is_listed) {
                generated.tests.push(Tested {
                    unit: unit.name(),
                    module: candidate.module.clone(),
                    test: names.remove(&index).unwrap_or_default(),
                    id: match self.joined_with(index, &kept) {
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
struct Layout {
    suite: Suite,
    /// Class, function and candidates of each test.
    places: Vec<(String, String, Vec<usize>)>,
}

impl Layout {
    fn new(tests: Vec<(&Written, Vec<usize>)>, style: Style) -> Layout {
        let mut layout = Layout {
            suite: Suite {
                main_guard: style == Style::Unittest,
                ..Suite::default()
            },
            places: Vec::new(),
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
            let names = crate::write::told_apart(&named);
            let mut of_class = TestClass {
                name: class.to_owned(),
                base: style.base().map(str::to_owned),
                tests: Vec::new(),
            };
            for ((written, indices), name) in own.zip(names) {
                let test = called(&written.test, &name, &of_class.tests);
                let place = (class.to_owned(), test.name.clone(), indices.clone());
                layout.places.push(place);
                of_class.tests.push(test);
            }
            layout.suite.classes.push(of_class);
        }
        layout
    }
}

/// A test by another name, with a number behind it if there is such a test already.
fn called(test: &UnitTest, wanted: &str, others: &[UnitTest]) -> UnitTest {
    let mut test = test.clone();
    let definition = format!("def {}(", test.name);
    let mut number = 1;
    test.name = wanted.to_owned();
    while others.iter().any(|other| other.name == test.name) {
        number += 1;
        test.name = crate::write::numbered(wanted, number);
    }
    let renamed = format!("def {}(", test.name);
    for line in &mut test.lines {
        *line = line.replacen(&definition, &renamed, 1);
    }
    test
}

/// How many tests of each kind there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests that check all that is known.
    pub full: usize,
    /// Tests that check less.
    pub partial: usize,
    /// Tests that check only that a call ends.
    pub smoke: usize,
    /// Tests that are skipped until somebody completes them.
    pub stubs: usize,
    /// Calls without a test.
    pub dropped: usize,
}

impl Generated {
    /// The numbers of the report.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for tested in &self.tests {
            match &tested.outcome {
                Outcome::Written(Completeness::Full) => counts.full += 1,
                Outcome::Written(Completeness::Partial(_)) => counts.partial += 1,
                Outcome::Written(Completeness::Smoke) => counts.smoke += 1,
                Outcome::Written(Completeness::Stub(_)) => counts.stubs += 1,
                Outcome::Dropped(_) => counts.dropped += 1,
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests;
