//! From a recorded call to a unit test that makes it again and checks all that came of it.
//!
//! A test has four phases. *Setup* makes what was there when the call began: the values of globals and class attributes where
//! they are not what a fresh import gives, files, the keyboard's input, answers of clock and chance, and the arguments.
//! *Exercise* makes the call. *Verify* looks at its result or exception, the receiver, the arguments, globals and the outside,
//! in that order. *Teardown* is registered as things are set up, so that it happens whatever fails.
//!
//! [`Writer::write`] does this for one call, in one [`Form`]. Forms differ in how much they trust: the first builds objects by
//! their constructors and compares with `==`, later ones build by state, compare attribute by attribute, and check less. Which
//! one is true is found by running it (see [`validate`](crate::validate)). What cannot be built at all becomes a stub, which is
//! skipped and says why.

mod access;
mod apart;
mod build;
mod checks;
mod code;
mod construct;
mod exercise;
mod expression;
mod external;
mod functions;
mod identity;
mod imported;
mod joined;
mod knowledge;
mod life;
mod literal;
mod made;
mod name;
mod paths;
mod pins;
mod plan;
mod scope;
mod stand_ins;
mod style;

use std::collections::BTreeMap;

pub(crate) use apart::told_apart;
pub(crate) use build::Missing;
pub(crate) use code::Code;
pub(crate) use construct::{Bare, given};
pub(crate) use exercise::{Exercised, on_object, operator};
pub(crate) use expression::{Expressed, Expressions};
pub(crate) use joined::{FEWEST as FEWEST_JOINED, Likeness};
pub use knowledge::Knowledge;
pub(crate) use literal::{bytes as bytes_literal, text as text_literal};
pub(crate) use name::numbered;
pub(crate) use scope::{Scope, snake_case};
pub use style::Style;

use crate::recording::{Call, CallId, External, Receiver, Recording, Unit};
use crate::suite::UnitTest;
use crate::value::{ObjectId, Reference};
use build::Builder;
use construct::Evidence;
use paths::Paths;
use plan::Plan;

/// The helpers that tests use, as the module that is written beside them.
pub const HELPERS_TEXT: &str = include_str!("write/helpers.py");

/// The name of that module.
pub const HELPERS_MODULE: &str = build::HELPERS;

/// How often a test is written anew because a module needs a name that something else has.
const MOST_RENAMINGS: usize = 3;

/// How a test is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Whether objects are made by their constructors where the recording tells how.
    pub constructors: bool,
    /// Whether values with objects in them are compared by their own `==` where they have one.
    pub natural: bool,
    /// How much is checked.
    pub strength: Strength,
}

/// How much a test checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Everything that is known.
    All,
    /// Not what was printed, nor the arguments of exceptions.
    Quiet,
    /// Of the result only its type.
    Type,
}

impl Form {
    /// All forms, the one to try first in front.
    pub const ALL: [Form; 5] = [
        Form {
            constructors: true,
            natural: true,
            strength: Strength::All,
        },
        Form {
            constructors: false,
            natural: true,
            strength: Strength::All,
        },
        Form {
            constructors: false,
            natural: false,
            strength: Strength::All,
        },
        Form {
            constructors: false,
            natural: false,
            strength: Strength::Quiet,
        },
        Form {
            constructors: false,
            natural: false,
            strength: Strength::Type,
        },
    ];
}

/// How much of a call a test checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// All of it.
    Full,
    /// Something could not be told: what.
    Partial(String),
    /// There is nothing to check but that it runs.
    Smoke,
    /// It could not be built: why.
    Stub(String),
}

/// A written test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The class it belongs to.
    pub class: String,
    /// Its text.
    pub test: UnitTest,
    /// What else it may be called, if others are called as it is; the best first.
    pub other_names: Vec<String>,
    /// How much it checks.
    pub completeness: Completeness,
    /// What it was made of, if it is no stub.
    plan: Option<Plan>,
}

/// Writes tests for the calls of one recording.
pub struct Writer<'a> {
    recording: &'a Recording,
    knowledge: &'a Knowledge<'a>,
    evidence: Evidence<'a>,
    /// The objects that are made by calls of constructors.
    creations: BTreeMap<(u32, CallId), ObjectId>,
    style: Style,
}

impl<'a> Writer<'a> {
    /// A writer of tests in this style.
    #[must_use]
    pub fn new(recording: &'a Recording, knowledge: &'a Knowledge<'a>, style: Style) -> Writer<'a> {
        let creations = recording.calls.iter().filter_map(|call| {
            let object = made_by(recording, call)?;
            Some(((call.execution, call.id), object))
        });
        Writer {
            recording,
            knowledge,
            evidence: Evidence::of(recording),
            creations: creations.collect(),
            style,
        }
    }

    /// The id of the interaction that a call is.
    #[must_use]
    pub fn id(&self, call: &Call) -> String {
        let unit = self.recording.unit(call.unit);
        unit.map_or_else(String::new, |unit| identity::id(unit, call))
    }

    /// Whether a call is the constructor of a base, which the constructor of the object's own class has called: nobody makes
    /// an object like that.
    #[must_use]
    pub fn is_part_of_creation(&self, call: &Call) -> bool {
        let object = made_by(self.recording, call);
        let caller = call.caller.map(|caller| (call.execution, caller));
        let around = caller.and_then(|caller| self.creations.get(&caller));
        object.is_some() && object.as_ref() == around
    }

    /// Whether a call is that of a method which objects of this class replace by one of their own. Only that calls it, and so
    /// it is tested by the calls of that.
    #[must_use]
    pub fn is_part_of_override(&self, call: &Call) -> bool {
        let unit = self.recording.unit(call.unit);
        match (&call.receiver, unit) {
            (Receiver::Instance(class), Some(unit)) => {
                let class = match self.aliases(call).get(&class.module) {
                    Some(name) => Reference::new(name.clone(), class.path.clone()),
                    None => class.clone(),
                };
                call.caller.is_some() && self.knowledge.is_overridden(&class, unit)
            }
            _ => false,
        }
    }

    /// Writes the test of a call. The name is one that the call deserves; names of several tests may be the same.
    ///
    /// `pins` are variables of modules that the test has to put back, though the recording does not know of a change.
    #[must_use]
    pub fn write(&self, call: &'a Call, form: Form, pins: &[(String, String)]) -> Option<Written> {
        let unit = self.recording.unit(call.unit)?;
        let id = identity::id(unit, call);
        let says_something = self
            .evidence
            .none_says_something(self.knowledge, unit, call);
        let (name, other_names) = name::test_names(self.knowledge, unit, call, says_something);
        let class = format!("Test{}", scope::camel_case(&name::subject(unit)));
        let mut scope = Scope::new(self.aliases(call));
        let mut planned = self.plan(call, unit, form, false, &mut scope);
        // Names that were kept may lead to modules that want others, but hardly ever.
        for _ in 0..MOST_RENAMINGS {
            let Some(again) = scope.again(self.aliases(call)) else {
                break;
            };
            scope = again;
            planned = self.plan(call, unit, form, false, &mut scope);
        }
        let written = planned.and_then(|(mut plan, completeness)| {
            pin_copies(pins, &mut plan, &mut scope);
            let lines = style::lines(self.style, &name, &plan, &mut scope);
            if self.names_the_machine(call, &lines) {
                Err(Missing(
                    "a value has a folder of one machine in it".to_owned(),
                ))
            } else {
                Ok((lines, completeness, Some(plan)))
            }
        });
        let (lines, completeness, plan) = written.unwrap_or_else(|Missing(reason)| {
            scope = Scope::new(self.aliases(call));
            let lines = self.stub(call, unit, &name, &reason, &mut scope);
            (lines, Completeness::Stub(reason), None)
        });
        Some(Written {
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

    /// A test that is skipped, with the part of it that is known.
    fn stub(
        &self,
        call: &'a Call,
        unit: &Unit,
        name: &str,
        reason: &str,
        scope: &mut Scope,
    ) -> Vec<String> {
        let form = Form::ALL[0];
        let known = self.plan(call, unit, form, true, scope);
        let known = known.map(|(plan, _)| style::lines(self.style, name, &plan, scope));
        let mut lines = style::skip(self.style, reason, scope);
        match known {
            Ok(known) if !self.names_the_machine(call, &known) => lines.extend(known),
            _ => {
                *scope = Scope::new(self.aliases(call));
                lines = style::skip(self.style, reason, scope);
                lines.extend([format!("def {name}(self):"), "    ...".to_owned()]);
            }
        }
        lines
    }

    fn plan(
        &self,
        call: &'a Call,
        unit: &Unit,
        form: Form,
        is_lenient: bool,
        scope: &mut Scope,
    ) -> Result<(Plan, Completeness), Missing> {
        if let Some(event) = call.uncaptured.first().filter(|_| !is_lenient) {
            return Err(Missing(format!("uncaptured effect: {event}")));
        }
        // First of all, so that the unit's own name means the unit.
        scope.reference(&name::importable(unit, call));
        let mut paths = Paths::of(call, self.evidence.temporary_folders());
        let mut plan = Plan::default();
        external::prepare(call, scope, &mut paths, &mut plan);
        let mut builder = Builder::new(call, self.knowledge, &self.evidence, form, &paths, scope);
        builder.is_lenient = is_lenient;
        checks::name_what_is_asserted(&mut builder, unit);
        stand_ins::name_partners(&mut builder);
        pins::pin_places(&mut builder)?;
        pins::pin_defaults(&mut builder, unit)?;
        external::replay(&mut builder, unit)?;
        exercise::forget_earlier_answers(&mut builder, unit)?;
        let exercised = exercise::exercise(&mut builder, unit)?;
        let verified = checks::verify(&mut builder, unit, exercised)?;
        plan.exercise = verified.exercise;
        plan.checks = verified.checks;
        plan.checks.extend(stand_ins::slept(&mut builder));
        plan.checks.extend(stand_ins::verify(&mut builder));
        plan.logged = logged(call);
        if form.strength == Strength::All {
            plan.output = external::output(call);
        }
        external::verify(call, builder.scope, &paths, &mut plan);
        let mut completeness = verified.completeness;
        if !plan.checks_something()
            && let Some((checks, known)) = checks::unchanged(&mut builder)
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

    /// The module that ran as the program is imported by its own name.
    fn aliases(&self, call: &Call) -> BTreeMap<String, String> {
        let script = self
            .evidence
            .script(call.execution)
            .map(|(script, _)| script);
        let main = self
            .knowledge
            .main_module(self.recording, call.execution, script);
        main.map(|name| ("__main__".to_owned(), name))
            .into_iter()
            .collect()
    }

    /// Whether a folder of the machine stands in a test, where it would be of no use to anybody else.
    fn names_the_machine(&self, call: &Call, lines: &[String]) -> bool {
        let execution = self.recording.executions.get(call.execution as usize);
        let folder = execution.map_or("", |execution| execution.folder.as_str());
        let root = self.knowledge.project.root.to_string_lossy();
        [folder, root.as_ref()]
            .into_iter()
            .filter(|folder| folder.len() > 1 && folder.starts_with('/'))
            .any(|folder| lines.iter().any(|line| line.contains(folder)))
    }
}

/// What was logged: logger, level and message.
fn logged(call: &Call) -> Vec<plan::Logged> {
    let events = call.events.iter();
    let messages = events.filter_map(|event| match &event.external {
        External::Logged {
            logger,
            level,
            message: Some(message),
        } => Some(plan::Logged {
            logger: logger.clone(),
            level: *level,
            message: message.clone(),
        }),
        _ => None,
    });
    messages.collect()
}

/// The object that a call of a constructor is about.
fn made_by(recording: &Recording, call: &Call) -> Option<ObjectId> {
    let unit = recording.unit(call.unit)?;
    let own = call.arguments.first()?;
    let is_constructor = name::last(unit) == "__init__";
    call.values.object(own.before).filter(|_| is_constructor)
}

/// Copies in the place of variables, so that what a call does to them is forgotten.
fn pin_copies(pins: &[(String, String)], plan: &mut Plan, scope: &mut Scope) {
    for (module, name) in pins.iter().rev() {
        let owner = scope.module(module);
        let copy = scope.module("copy").flat();
        let value = Code::Text(format!("{copy}.copy({}.{name})", owner.flat()));
        let name = name.clone();
        plan.setup.insert(0, plan::Setup::pin(owner, name, value));
    }
}

#[cfg(test)]
mod tests;
