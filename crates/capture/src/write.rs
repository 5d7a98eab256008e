//! Writes unit tests for recorded calls: each test repeats a call and checks everything that it
//! did.
//!
//! A test has four phases. *Setup* restores the state at the start of the call: globals and class
//! attributes whose values differ from a fresh import, files, standard input, the replies of clock
//! and random generators, and the arguments. *Exercise* makes the call. *Verify* checks its result
//! or exception, the receiver, the arguments, globals and the outside, in that order. *Teardown* is
//! registered during setup, so it runs whatever fails.
//!
//! [`TestWriter::write`] does this for one call, in one [`TestForm`]. The first form builds objects
//! by their constructors and compares with `==`. Later forms build by state, compare attribute by
//! attribute, and check less. Running the test decides which form holds (see
//! [`validate`](crate::validate)). A call that cannot be rebuilt at all becomes a stub: a test that
//! is skipped and states the reason.
//!
//! Inside, `plan` is the test before it is Python. `build` and its neighbors (`construct`,
//! `functions`, `history`, `imported_objects`, `well_known`) turn recorded values into expressions.
//! `exercise` writes the call, `checks` the assertions, `external` and `test_doubles` the
//! interactions with the outside. `style` renders a plan for pytest or unittest.

mod access;
mod build;
mod checks;
mod code;
mod construct;
mod distinct_names;
mod exercise;
mod expression;
mod external;
mod functions;
mod history;
mod identity;
mod imported_objects;
mod knowledge;
mod literal;
mod name;
mod paths;
mod pins;
mod plan;
mod scope;
mod style;
mod tables;
mod test_doubles;
mod well_known;

use std::collections::BTreeMap;

pub(crate) use build::BuildError;
pub(crate) use code::PythonCode;
pub(crate) use construct::{BareArguments, call_arguments};
pub(crate) use distinct_names::choose_distinct_names;
pub(crate) use exercise::{CallCode, binary_operator, method_code};
pub(crate) use expression::{ExpressionWriter, ValueCode};
pub use knowledge::Knowledge;
pub(crate) use literal::{bytes_literal, text_literal};
pub(crate) use name::with_number;
pub(crate) use scope::{ImportScope, snake_case};
pub use style::TestFramework;
pub(crate) use tables::{MIN_ROWS as MIN_TABLE_ROWS, TestSkeleton};

use crate::recording::{Call, CallId, CodeUnit, Interaction, Receiver, Recording};
use crate::suite::UnitTest;
use crate::value::{ImportPath, ObjectId};
use build::ValueBuilder;
use construct::RecordingIndex;
use paths::PathRewriter;
use plan::TestPlan;

/// The text of the helper module that is written beside the tests.
pub const HELPERS_TEXT: &str = include_str!("write/helpers.py");

/// The name of the helper module.
pub const HELPERS_MODULE: &str = build::HELPERS;

/// The maximum number of times a test is rewritten because a module needs a name that is taken.
const MAX_RENAMINGS: usize = 3;

/// The way in which a test is written: how objects are built, and how much is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestForm {
    /// True if objects are built by their constructors where the recording shows a matching call.
    pub constructors: bool,
    /// True if values that contain objects are compared by `==` where their class defines it.
    pub use_equality: bool,
    /// The amount of checks.
    pub strength: Strength,
}

/// The amount of checks in a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Everything that is known.
    All,
    /// Everything but printed output and the arguments of exceptions.
    WithoutOutput,
    /// Only the type of the result.
    Type,
}

impl TestForm {
    /// All forms, in the order in which they are tried.
    pub const ALL: [TestForm; 5] = [
        TestForm {
            constructors: true,
            use_equality: true,
            strength: Strength::All,
        },
        TestForm {
            constructors: false,
            use_equality: true,
            strength: Strength::All,
        },
        TestForm {
            constructors: false,
            use_equality: false,
            strength: Strength::All,
        },
        TestForm {
            constructors: false,
            use_equality: false,
            strength: Strength::WithoutOutput,
        },
        TestForm {
            constructors: false,
            use_equality: false,
            strength: Strength::Type,
        },
    ];
}

/// The part of a call's behavior that a test checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// All of it.
    Full,
    /// All but one thing, which is named.
    Partial(String),
    /// Nothing but that the call runs.
    Smoke,
    /// Nothing, because the test could not be built, for this reason.
    Stub(String),
}

/// A test together with alternatives for its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenTest {
    /// The class that it belongs to.
    pub class: String,
    /// The test itself.
    pub test: UnitTest,
    /// Alternative names in case other tests have the same name, the best first.
    pub other_names: Vec<String>,
    /// The part of the behavior that it checks.
    pub completeness: Completeness,
    /// The plan that it was rendered from; `None` for stubs and tables.
    plan: Option<TestPlan>,
}

/// A writer of tests for the calls of one recording.
pub struct TestWriter<'a> {
    /// The recording.
    recording: &'a Recording,
    /// The project's source.
    knowledge: &'a Knowledge<'a>,
    /// An index of the recording, for facts that single calls do not show.
    index: RecordingIndex<'a>,
    /// The objects created by calls of constructors.
    creations: BTreeMap<(u32, CallId), ObjectId>,
    /// The test framework to write for.
    style: TestFramework,
}

impl<'a> TestWriter<'a> {
    /// Creates a writer of tests in the given style.
    #[must_use]
    pub fn new(
        recording: &'a Recording,
        knowledge: &'a Knowledge<'a>,
        style: TestFramework,
    ) -> TestWriter<'a> {
        let creations = recording.calls.iter().filter_map(|call| {
            let object = created_object(recording, call)?;
            Some(((call.execution, call.id), object))
        });
        TestWriter {
            recording,
            knowledge,
            index: RecordingIndex::new(recording),
            creations: creations.collect(),
            style,
        }
    }

    /// Returns the id of the test for a call. Calls with equal inputs have equal ids.
    #[must_use]
    pub fn test_id(&self, call: &Call) -> String {
        let unit = self.recording.unit(call.unit);
        unit.map_or_else(String::new, |unit| identity::test_id(unit, call))
    }

    /// Returns true if a call is a base class constructor that the constructor of the object's own
    /// class has called. Such a call creates no object by itself.
    #[must_use]
    pub fn is_part_of_creation(&self, call: &Call) -> bool {
        let object = created_object(self.recording, call);
        let caller = call.caller.map(|caller| (call.execution, caller));
        let around = caller.and_then(|caller| self.creations.get(&caller));
        object.is_some() && object.as_ref() == around
    }

    /// Returns true if the object's class overrides the called method, and the override made the
    /// call. The tests of the override cover it.
    #[must_use]
    pub fn is_part_of_override(&self, call: &Call) -> bool {
        let unit = self.recording.unit(call.unit);
        match (&call.receiver, unit) {
            (Receiver::Instance(class), Some(unit)) => {
                let class = match self.aliases(call).get(&class.module) {
                    Some(name) => ImportPath::new(name.clone(), class.path.clone()),
                    None => class.clone(),
                };
                call.caller.is_some() && self.knowledge.is_overridden(&class, unit)
            }
            _ => false,
        }
    }

    /// Writes the test of a call. Several tests may get the same name; `choose_distinct_names`
    /// resolves that.
    ///
    /// `pins` are module variables that the test must restore, although no change of them was
    /// recorded.
    #[must_use]
    pub fn write(
        &self,
        call: &'a Call,
        form: TestForm,
        pins: &[(String, String)],
    ) -> Option<WrittenTest> {
        let unit = self.recording.unit(call.unit)?;
        let id = identity::test_id(unit, call);
        let is_none_meaningful = self.index.is_none_meaningful(self.knowledge, unit, call);
        let (name, other_names) = name::test_names(self.knowledge, unit, call, is_none_meaningful);
        let class = format!("Test{}", scope::camel_case(&name::subject_name(unit)));
        let mut scope = ImportScope::new(self.aliases(call));
        let mut planned = self.plan_test(call, unit, form, false, &mut scope);
        // Renaming variables may lead to further clashes with modules, but hardly ever does.
        for _ in 0..MAX_RENAMINGS {
            let Some(retried) = scope.reserving_missing(self.aliases(call)) else {
                break;
            };
            scope = retried;
            planned = self.plan_test(call, unit, form, false, &mut scope);
        }
        let written = planned.and_then(|(mut plan, completeness)| {
            pin_copies(pins, &mut plan, &mut scope);
            let lines = style::render_test(self.style, &name, &plan, &mut scope);
            if self.mentions_local_folder(call, &lines) {
                Err(BuildError(
                    "a value has a folder of one machine in it".to_owned(),
                ))
            } else {
                Ok((lines, completeness, Some(plan)))
            }
        });
        let (lines, completeness, plan) = written.unwrap_or_else(|BuildError(reason)| {
            scope = ImportScope::new(self.aliases(call));
            let lines = self.write_stub(call, unit, &name, &reason, &mut scope);
            (lines, Completeness::Stub(reason), None)
        });
        Some(WrittenTest {
            class,
            test: UnitTest {
                id,
                name,
                lines,
                imports: scope.imports(),
            },
            other_names,
            completeness,
            plan,
        })
    }

    /// Writes a skipped test with the part of its body that is known.
    fn write_stub(
        &self,
        call: &'a Call,
        unit: &CodeUnit,
        name: &str,
        reason: &str,
        scope: &mut ImportScope,
    ) -> Vec<String> {
        let form = TestForm::ALL[0];
        let known = self.plan_test(call, unit, form, true, scope);
        let known = known.map(|(plan, _)| style::render_test(self.style, name, &plan, scope));
        let mut lines = style::skip_decorator(self.style, reason, scope);
        match known {
            Ok(known) if !self.mentions_local_folder(call, &known) => lines.extend(known),
            _ => {
                *scope = ImportScope::new(self.aliases(call));
                lines = style::skip_decorator(self.style, reason, scope);
                lines.extend([format!("def {name}(self):"), "    ...".to_owned()]);
            }
        }
        lines
    }

    /// Plans the test of a call. With `is_lenient`, values that cannot be built become
    /// placeholders.
    fn plan_test(
        &self,
        call: &'a Call,
        unit: &CodeUnit,
        form: TestForm,
        is_lenient: bool,
        scope: &mut ImportScope,
    ) -> Result<(TestPlan, Completeness), BuildError> {
        if let Some(event) = call.uncaptured.first().filter(|_| !is_lenient) {
            return Err(BuildError(format!("uncaptured effect: {event}")));
        }
        // This comes first, so that the name of the unit refers to the unit.
        scope.reference(&name::import_path(unit, call));
        let mut paths = PathRewriter::for_call(call, self.index.temporary_folders());
        let mut plan = TestPlan::default();
        external::prepare_files(call, scope, &mut paths, &mut plan);
        let mut builder = ValueBuilder::new(call, self.knowledge, &self.index, form, &paths, scope);
        builder.is_lenient = is_lenient;
        checks::name_asserted_objects(&mut builder, unit);
        test_doubles::name_peers(&mut builder);
        pins::pin_variables(&mut builder)?;
        pins::pin_defaults(&mut builder, unit)?;
        external::replay_inputs(&mut builder, unit)?;
        exercise::clear_cache(&mut builder, unit)?;
        let exercised = exercise::write_call(&mut builder, unit)?;
        let verified = checks::verify(&mut builder, unit, exercised)?;
        plan.exercise = verified.exercise;
        plan.checks = verified.checks;
        plan.checks.extend(test_doubles::check_sleeps(&mut builder));
        plan.checks.extend(test_doubles::check_mocks(&mut builder));
        plan.logged = logged_messages(call);
        if form.strength == Strength::All {
            plan.output = external::printed_output(call);
        }
        external::check_interactions(call, builder.scope, &paths, &mut plan);
        let mut completeness = verified.completeness;
        if !plan.checks_something()
            && let Some((checks, known)) = checks::check_unchanged(&mut builder)
        {
            plan.checks = checks;
            if completeness == Completeness::Full {
                completeness = known;
            }
        }
        plan.setup.append(&mut builder.setup);
        if form.strength != Strength::All && completeness == Completeness::Full {
            completeness = Completeness::Partial("what it does varies".to_owned());
        }
        if !plan.checks_something() {
            completeness = Completeness::Smoke;
        }
        Ok((plan, completeness))
    }

    /// Maps `__main__` to the module's importable name, for calls in the main program.
    fn aliases(&self, call: &Call) -> BTreeMap<String, String> {
        let script = self.index.script(call.execution).map(|(script, _)| script);
        let main = self
            .knowledge
            .main_module(self.recording, call.execution, script);
        main.map(|name| ("__main__".to_owned(), name))
            .into_iter()
            .collect()
    }

    /// Returns true if a test contains a folder of this machine, which makes it useless elsewhere.
    fn mentions_local_folder(&self, call: &Call, lines: &[String]) -> bool {
        let execution = self.recording.executions.get(call.execution as usize);
        let folder = execution.map_or("", |execution| execution.folder.as_str());
        let root = self.knowledge.project.root.to_string_lossy();
        [folder, root.as_ref()]
            .into_iter()
            .filter(|folder| folder.len() > 1 && folder.starts_with('/'))
            .any(|folder| lines.iter().any(|line| line.contains(folder)))
    }
}

/// Returns the logged messages of a call.
fn logged_messages(call: &Call) -> Vec<plan::LogMessage> {
    let events = call.events.iter();
    let messages = events.filter_map(|event| match &event.external {
        Interaction::Logged {
            logger,
            level,
            message: Some(message),
        } => Some(plan::LogMessage {
            logger: logger.clone(),
            level: *level,
            message: message.clone(),
        }),
        _ => None,
    });
    messages.collect()
}

/// Returns the object that a call of a constructor creates.
fn created_object(recording: &Recording, call: &Call) -> Option<ObjectId> {
    let unit = recording.unit(call.unit)?;
    let own = call.arguments.first()?;
    let is_constructor = name::last_name(unit) == "__init__";
    call.values.object(own.before).filter(|_| is_constructor)
}

/// Replaces variables by copies for the time of the test, so that changes made by the call do not
/// last.
fn pin_copies(pins: &[(String, String)], plan: &mut TestPlan, scope: &mut ImportScope) {
    for (module, name) in pins.iter().rev() {
        let owner = scope.module(module);
        let copy = scope.module("copy").one_line();
        let value = PythonCode::Text(format!("{copy}.copy({}.{name})", owner.one_line()));
        let name = name.clone();
        plan.setup
            .insert(0, plan::SetupStep::pin(owner, name, value));
    }
}

#[cfg(test)]
mod tests;
