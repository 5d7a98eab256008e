//! A harness plus the interpreter, as a [`System`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use testwright_core::{
    ActionId, Axis, Catalog, Error, Failure, FailureKind, Outcome, PoolId, Random, System,
    TemplateId,
};
use testwright_lang::Harness;

use crate::actions::{Actions, ConcreteTexts, complaint};
use crate::context::Context;
use crate::draw::Draw;
use crate::failures::{self, Raised, shown};
use crate::harness_object::LogLevel;
use crate::hooks::{Hook, Hooks};
use crate::interrupt;
use crate::line_code::LineCode;
use crate::load::{self, Loaded};
use crate::mirror::Mirror;
use crate::output::Output;
use crate::pool_states::PoolStates;
use crate::stage::Stage;
use crate::weights::Weights;
use crate::{Interpreter, LoadError, Options};

/// A slot's value, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotValue {
    /// `avl0`, or `avl_REF0` for the reference's slot.
    pub name: String,
    /// Its `repr`, or a note that it has none.
    pub text: String,
    /// The name of its type.
    pub type_name: String,
    /// The harness says that it is not worth showing.
    pub opaque: bool,
}

/// Something that showed only while the harness ran and is not the system's fault: a guard that raises, for example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line of the harness, from 1.
    pub line: usize,
    /// One sentence without full stop.
    pub message: String,
    /// How often.
    pub times: u64,
}

/// A harness plus the interpreter, as a [`System`].
///
/// While it lives, standard input, output and error of the process belong to the system under test; the tool's
/// own messages must go to duplicates of the descriptors made before.
pub struct PythonSystem<'py> {
    pub(crate) context: Context<'py>,
    pub(crate) path: PathBuf,
    pub(crate) mirror: Mirror<'py>,
    pub(crate) actions: Actions<'py>,
    states: PoolStates,
    weights: Weights,
    draw: Draw,
    inits: Vec<LineCode<'py>>,
    finallys: Vec<LineCode<'py>>,
    assumptions: Vec<LineCode<'py>>,
    properties: Vec<LineCode<'py>>,
    types: Vec<PoolType<'py>>,
    logs: Vec<LogCode<'py>>,
    log_level: LogLevel,
    log_lines: Vec<String>,
    hooks: Hooks<'py>,
    modules: Vec<(Bound<'py, PyDict>, Bound<'py, PyAny>)>,
    warned: Bound<'py, PyList>,
    /// Exceptions that the reference raised in the last step.
    pub(crate) reference_raised: Bound<'py, PyList>,
    stage: Stage<'py>,
    problems: BTreeMap<(usize, String), u64>,
    /// Harness code may change slots that the action does not name.
    slots_may_change_unseen: bool,
    assumption_violated: bool,
    /// What the last failure was, in detail, for writing a test that fails in the same way.
    pub(crate) last_failure: Option<LastFailure>,
    values: Vec<u64>,
}

/// A failure as the backend knows it.
pub(crate) enum LastFailure {
    /// The step raised.
    Step(PyErr),
    /// The property with this number does not hold for these values.
    Property(usize, Vec<u64>),
    /// This slot holds a value of another type than declared.
    Type(PoolId, u32),
}

/// A pool that declares the type of its values.
pub(crate) struct PoolType<'py> {
    pub(crate) pool: PoolId,
    /// From a value to whether it has exactly the type.
    pub(crate) function: Bound<'py, PyAny>,
}

/// A `log:` line.
pub(crate) struct LogCode<'py> {
    pub(crate) code: LineCode<'py>,
    pub(crate) after: bool,
    pub(crate) level: i64,
}

impl<'py> PythonSystem<'py> {
    /// Brings a harness to life: imports what it imports and runs its raw code.
    ///
    /// `path` is the harness file. Modules are looked for in its folder, then in the current directory, then as usual.
    pub fn load(
        interpreter: Interpreter<'py>,
        path: &Path,
        text: &str,
        harness: Harness,
        options: &Options,
    ) -> Result<PythonSystem<'py>, LoadError> {
        let Loaded {
            context,
            mirror,
            actions,
            hooks,
            lines,
            modules,
            warned,
            reference_raised,
            stage,
            log_level,
        } = load::load(interpreter, path, text, harness, options)?;
        let sizes: Vec<u32> = context.harness.pools.iter().map(|pool| pool.size).collect();
        let states = PoolStates::new(&sizes);
        let weights = Weights::new(&context.harness.catalog, &states);
        let slots_may_change_unseen = hooks.any() || load::mentions_slots_by_name(&context.harness);
        let system = PythonSystem {
            context,
            path: path.to_path_buf(),
            mirror,
            actions,
            states,
            weights,
            draw: Draw::default(),
            inits: lines.inits,
            finallys: lines.finallys,
            assumptions: lines.assumptions,
            properties: lines.properties,
            types: lines.types,
            logs: lines.logs,
            log_level,
            log_lines: Vec::new(),
            hooks,
            modules,
            warned,
            reference_raised,
            stage,
            problems: BTreeMap::new(),
            slots_may_change_unseen,
            assumption_violated: false,
            last_failure: None,
            values: Vec::new(),
        };
        Ok(system)
    }

    /// The harness.
    pub fn harness(&self) -> &Harness {
        &self.context.harness
    }

    /// What went wrong with the harness itself so far, one entry per cause, in order of lines.
    pub fn problems(&self) -> Vec<Problem> {
        let problem = |((line, message), times): (&(usize, String), &u64)| Problem {
            line: *line,
            message: message.clone(),
            times: *times,
        };
        self.problems.iter().map(problem).collect()
    }

    /// Lines that `log:` lines produced since the last call.
    pub fn take_log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log_lines)
    }

    /// What the system printed since the last call, with [`Output::Capture`].
    pub fn take_output(&mut self) -> String {
        self.stage.take_output()
    }

    /// Changes what becomes of the system's output from now on.
    pub fn set_output(&mut self, output: Output) -> Result<(), Error> {
        self.stage
            .set_output(output)
            .map_err(|error| Error::new(format!("cannot redirect the output: {error}")))
    }

    /// Writes out what the system has printed so far, so that it comes before what the tool prints next.
    pub fn flush(&self) {
        self.stage.flush();
    }

    /// Calls a hook of the harness; exceptions in it are remembered as problems.
    pub fn call_hook(&mut self, hook: Hook) {
        if let Err(error) = self.hooks.call(hook) {
            self.complain(0, complaint(self.context.python, "a hook", &error));
        }
    }

    /// The values of the slots that an action names, reference twins included, as they are now.
    pub fn values(&self, action: ActionId) -> Vec<SlotValue> {
        let mut values: Vec<SlotValue> = Vec::new();
        for (pool, slot, _) in self.context.harness.catalog.slots(action) {
            let declared = self.context.harness.pool(pool);
            let names = self.context.harness.catalog.pool(pool);
            let place = self.context.layout.place(pool, slot);
            values.extend(self.slot_value(names.slot_name(slot), place, declared.opaque));
            if declared.reference {
                let twin = place + self.context.layout.twin_distance(pool);
                values.extend(self.slot_value(
                    names.twin_name(slot),
                    twin,
                    declared.opaque || declared.opaque_twin,
                ));
            }
        }
        let mut seen = Vec::new();
        values.retain(|value| {
            let first = !seen.contains(&value.name);
            seen.push(value.name.clone());
            first
        });
        values
    }

    fn slot_value(&self, name: String, place: usize, opaque: bool) -> Option<SlotValue> {
        let value = self.context.slots.get_item(place).ok()?;
        let type_name = value
            .get_type()
            .name()
            .map_or_else(|_| String::new(), |name| name.to_string());
        Some(SlotValue {
            name,
            text: shown(&value),
            type_name,
            opaque,
        })
    }

    /// The reference's version of an action in display form, if there is one.
    pub fn reference_text(&self, action: ActionId) -> Option<String> {
        let reference = self.concrete_texts(action).ok()?.reference;
        reference.map(|text| {
            self.with_slot_names(&text, |pool, slot, twin| match twin {
                true => self.context.harness.catalog.pool(pool).twin_name(slot),
                false => self.context.harness.catalog.pool(pool).slot_name(slot),
            })
        })
    }

    /// The statement of an action and that of its reference as TSTL names them in saved tests.
    pub fn ancestor_texts(&self, action: ActionId) -> Result<(String, Option<String>), Error> {
        self.concrete_texts(action)
            .map(|texts| texts.as_in_saved_tests())
    }

    pub(crate) fn concrete_texts(&self, action: ActionId) -> Result<ConcreteTexts, Error> {
        self.actions
            .concrete_texts(&self.context, &self.mirror, action)
            .map_err(|error| {
                Error::new(complaint(
                    self.context.python,
                    "translating the action",
                    &error,
                ))
            })
    }

    /// A text with slot accesses such as `self.p_avl[0]` replaced by names.
    pub(crate) fn with_slot_names(
        &self,
        text: &str,
        name: impl Fn(PoolId, u32, bool) -> String,
    ) -> String {
        let mut named = text.to_owned();
        for (number, pool) in self.context.harness.pools.iter().enumerate() {
            for (suffix, twin) in [("", false), ("_REF", true)] {
                let access = format!("self.p_{}{suffix}[", pool.name);
                while let Some(start) = named.find(&access) {
                    let index_start = start + access.len();
                    let Some(length) = named[index_start..].find(']') else {
                        break;
                    };
                    let Ok(slot) = named[index_start..index_start + length].parse() else {
                        break;
                    };
                    named.replace_range(
                        start..=index_start + length,
                        &name(PoolId(number), slot, twin),
                    );
                }
            }
        }
        named
    }

    fn complain(&mut self, line: usize, message: String) {
        *self.problems.entry((line, message)).or_default() += 1;
    }

    /// Whether harness code lets an action happen; one that raises instead of answering does not.
    fn conditions_hold(&mut self, template: TemplateId, values: &[u64]) -> bool {
        match self
            .actions
            .conditions_hold(&self.context, &self.mirror, template, values)
        {
            Ok(hold) => hold,
            Err(error) => {
                if !failures::is_interrupt(self.context.python, &error) {
                    let line = self.context.harness.actions[template.0].line;
                    self.complain(line, complaint(self.context.python, "the guard", &error));
                }
                false
            }
        }
    }

    /// Looks at the values of slots after harness code ran.
    fn notice_values(&mut self, axes_of: Option<(TemplateId, &[u64])>) {
        if let (Some((template, values)), false) = (axes_of, self.slots_may_change_unseen) {
            for (axis, value) in self.context.harness.catalog.templates()[template.0]
                .axes
                .iter()
                .zip(values)
            {
                if let Axis::Slot { pool, .. } = axis {
                    let filled = self.context.is_filled(*pool, *value as u32);
                    self.states.set_filled(*pool, *value as u32, filled);
                }
            }
            return;
        }
        for (number, pool) in self.context.harness.pools.iter().enumerate() {
            for slot in 0..pool.size {
                self.states.set_filled(
                    PoolId(number),
                    slot,
                    self.context.is_filled(PoolId(number), slot),
                );
            }
        }
    }

    fn check_assumptions(&mut self) {
        let mut violated = false;
        for assumption in &mut self.assumptions {
            assumption.for_each(&self.context, None, |_, _, result| {
                // One that cannot be evaluated, for example because a slot is empty, counts as holding.
                violated |= result
                    .and_then(|value| value.is_truthy())
                    .is_ok_and(|holds| !holds);
                !violated
            });
        }
        self.assumption_violated |= violated;
    }

    fn log(&mut self, action: ActionId, after: bool) {
        if !self
            .logs
            .iter()
            .any(|log| log.after == after && self.log_level.shows(log.level))
        {
            return;
        }
        let name = self.context.harness.catalog.text(action);
        let word = if after { "POST LOG" } else { "LOG" };
        for log in &mut self.logs {
            if log.after != after || !self.log_level.shows(log.level) {
                continue;
            }
            log.code
                .for_each(&self.context, None, |line, values, result| {
                    if let Ok(value) = result {
                        let text = value
                            .str()
                            .map_or_else(|_| shown(&value), |text| text.to_string());
                        let code = self.context.shown(&line.code, &line.axes, values);
                        self.log_lines
                            .push(format!("[ {word} {name}  :  {code}] {text}"));
                    }
                    true
                });
        }
    }

    /// Turns what a step raised into an outcome.
    fn outcome_of_error(&self, action: ActionId, line: usize, error: &PyErr) -> Outcome {
        let python = self.context.python;
        if failures::is_interrupt(python, error) {
            return Outcome::Interrupted;
        }
        let is = |name: &str| {
            self.context
                .support
                .getattr(name)
                .is_ok_and(|class| error.value(python).is_instance(&class).unwrap_or(false))
        };
        let attribute = |name: &str| {
            error
                .value(python)
                .getattr(name)
                .map_or_else(|_| String::from("?"), |value| shown(&value))
        };
        let text = self.context.harness.catalog.text(action);
        let reference = self.reference_text(action).unwrap_or_default();
        let raised = Raised::new(python, error);
        let failure = |kind, message, details| Failure {
            kind,
            message,
            signature: format!("line {line}"),
            details,
        };
        Outcome::Failed(Box::new(if is("PostConditionFailed") {
            let note = if raised.message.is_empty() {
                String::new()
            } else {
                format!(": {}", raised.message)
            };
            let condition = self.post_text(action);
            failure(
                FailureKind::PostCondition,
                format!("after `{text}`, `{condition}` is false{note}"),
                String::new(),
            )
        } else if is("ReferenceMismatch") {
            let (result, expected) = (attribute("result"), attribute("reference"));
            let details = format!(
                "`{text}` gave\n  {result}\nthe reference `{reference}` gave\n  {expected}\n"
            );
            let message =
                format!("`{text}` gave {result}, the reference `{reference}` gave {expected}");
            failure(
                FailureKind::ReferenceMismatch,
                first_line(&message),
                details,
            )
        } else if is("ExceptionMismatch") {
            let (own, expected) = (
                raised_text(&attribute("raised")),
                raised_text(&attribute("reference_raised")),
            );
            let message = format!("`{text}` {own}, the reference `{reference}` {expected}");
            failure(
                FailureKind::ExceptionMismatch,
                first_line(&message),
                String::new(),
            )
        } else {
            failures::uncaught(python, error)
        }))
    }

    pub(crate) fn post_text(&self, action: ActionId) -> String {
        let (template, values) = self.context.harness.catalog.values(action);
        let line = &self.context.harness.actions[template.0];
        let shown = |fragment| self.context.shown(fragment, &line.axes, &values);
        let mut text = line
            .post
            .as_ref()
            .map(shown)
            .or_else(|| {
                line.expect
                    .as_ref()
                    .map(|expect| format!("{}_check", expect.name))
            })
            .unwrap_or_default();
        for (number, value) in line.pre_values.iter().enumerate().rev() {
            text = text.replace(&format!("pre{number}"), &format!("pre<({})>", shown(value)));
        }
        text
    }

    fn remember_warnings(&mut self, line: usize) {
        let warned: Vec<String> = self.warned.iter().map(|error| shown(&error)).collect();
        if !warned.is_empty() {
            let _a_list_can_be_emptied = self.warned.del_slice(0, warned.len());
        }
        for warning in warned {
            self.complain(
                line,
                format!("the action raised {warning}, which the harness takes as a warning"),
            );
        }
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

fn raised_text(shown: &str) -> String {
    match shown {
        "None" => String::from("raised nothing"),
        exception => format!("raised {exception}"),
    }
}

impl System for PythonSystem<'_> {
    fn actions(&self) -> &Catalog {
        &self.context.harness.catalog
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.assumption_violated = false;
        for line in &mut self.finallys {
            // Slots may be empty, anything may fail: cleaning up does what it can.
            line.for_each(&self.context, None, |_, _, _| true);
        }
        self.call_hook(Hook::BeforeRestart);
        let python = self.context.python;
        let failed = |what: &str, error: &PyErr| Error::new(complaint(python, what, error));
        self.stage
            .restore()
            .map_err(|error| failed("putting the surroundings back", &error))?;
        let execute = python
            .import("builtins")
            .and_then(|builtins| builtins.getattr("exec"));
        let execute = execute.map_err(|error| failed("a reset", &error))?;
        for (namespace, code) in &self.modules {
            if let Err(error) = execute.call1((code, namespace)) {
                if failures::is_interrupt(python, &error) {
                    return Ok(());
                }
                let name = namespace
                    .get_item("__name__")
                    .ok()
                    .flatten()
                    .map(|name| name.to_string())
                    .unwrap_or_default();
                return Err(failed(
                    &format!("running the module `{name}` again for a new test"),
                    &error,
                )
                .with_help(
                    "if the module cannot be run twice, switch this off with `--no-reset`",
                ));
            }
        }
        for place in 0..self.context.layout.total() {
            self.context
                .slots
                .set_item(place, python.None())
                .map_err(|error| failed("emptying the slots", &error))?;
        }
        self.states.reset();
        let mut problem = None;
        for line in &mut self.inits {
            line.for_each(&self.context, None, |line, _, result| match result {
                Err(error) if !failures::is_interrupt(python, &error) => {
                    let what = format!("`init: {}` in line {}", line.text, line.line);
                    problem = Some(failed(&what, &error));
                    false
                }
                _ => true,
            });
            if let Some(problem) = problem.take() {
                return Err(problem);
            }
        }
        self.call_hook(Hook::AfterRestart);
        if !self.inits.is_empty() || self.hooks.any() {
            self.notice_values(None);
        }
        Ok(())
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        let mut values = std::mem::take(&mut self.values);
        let template = self
            .context
            .harness
            .catalog
            .values_into(action, &mut values);
        let axes = &self.context.harness.catalog.templates()[template.0].axes;
        let enabled = !self.assumption_violated
            && self.states.allow(axes, &values)
            && self.conditions_hold(template, &values);
        self.values = values;
        enabled
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        if self.assumption_violated {
            return None;
        }
        self.weights.update(&self.states);
        self.draw.start(self.weights.total());
        let mut values = std::mem::take(&mut self.values);
        let mut picked = None;
        while let Some(rank) = self.draw.next(random) {
            let action = self.weights.action(
                &self.context.harness.catalog,
                &self.states,
                rank,
                &mut values,
            );
            let template = self.context.harness.catalog.template_of(action);
            if self.conditions_hold(template, &values) {
                picked = Some(action);
                break;
            }
            if interrupt::interrupted() {
                break;
            }
        }
        self.values = values;
        picked
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        let mut values = std::mem::take(&mut self.values);
        let template = self
            .context
            .harness
            .catalog
            .values_into(action, &mut values);
        let line = self.context.harness.actions[template.0].line;
        self.log(action, false);
        if self.hooks.has(Hook::BeforeEach) {
            self.call_hook(Hook::BeforeEach);
        }
        if !self.reference_raised.is_empty() {
            let _a_list_can_be_emptied = self
                .reference_raised
                .del_slice(0, self.reference_raised.len());
        }
        let (result, mirrored) = self
            .actions
            .run(&self.context, &self.mirror, template, &values);
        self.states.mark(
            &self.context.harness.catalog.templates()[template.0].axes,
            &values,
        );
        if self.hooks.has(Hook::AfterEach) && !(mirrored && result.is_ok()) {
            self.call_hook(Hook::AfterEach);
        }
        self.notice_values(Some((template, &values)));
        self.values = values;
        if !self.assumptions.is_empty() {
            self.check_assumptions();
        }
        if !self.context.harness.actions[template.0].warnings.is_empty() {
            self.remember_warnings(line);
        }
        match result {
            Ok(value) => {
                self.log(action, true);
                match value.is_instance_of::<pyo3::exceptions::PyException>() {
                    true => Outcome::Expected(
                        Raised::new(self.context.python, &PyErr::from_value(value)).summary(),
                    ),
                    false => Outcome::Passed,
                }
            }
            Err(error) => {
                let outcome = self.outcome_of_error(action, line, &error);
                self.last_failure = Some(LastFailure::Step(error));
                outcome
            }
        }
    }

    fn check(&mut self) -> Outcome {
        if let Some(failure) = self.wrong_type() {
            return Outcome::Failed(Box::new(failure));
        }
        let python = self.context.python;
        let mut outcome = Outcome::Passed;
        for (number, property) in self.properties.iter_mut().enumerate() {
            property.for_each(&self.context, Some(&self.states), |line, values, result| {
                let answer = result.and_then(|value| value.is_truthy());
                if matches!(answer, Ok(true)) {
                    return true;
                }
                self.last_failure = Some(LastFailure::Property(number, values.to_vec()));
                let text = self.context.shown(&line.code, &line.axes, values);
                let signature = format!("property in line {}", line.line);
                let (message, signature, details) = match answer {
                    Err(error) if failures::is_interrupt(python, &error) => {
                        outcome = Outcome::Interrupted;
                        return false;
                    }
                    Err(error) => {
                        let raised = Raised::new(python, &error);
                        let message = format!("property `{text}` raised {}", raised.summary());
                        (
                            message,
                            format!("{signature} raised {}", raised.type_name),
                            raised.traceback,
                        )
                    }
                    Ok(_) => (
                        format!("property `{text}` is false"),
                        signature,
                        String::new(),
                    ),
                };
                outcome = Outcome::Failed(Box::new(Failure {
                    kind: FailureKind::Property,
                    message,
                    signature,
                    details,
                }));
                false
            });
            if outcome != Outcome::Passed {
                break;
            }
        }
        outcome
    }
}

impl PythonSystem<'_> {
    /// The first slot whose value does not have the type that its pool declares.
    fn wrong_type(&mut self) -> Option<Failure> {
        for declared in &self.types {
            let pool = self.context.harness.pool(declared.pool);
            for slot in 0..pool.size {
                let value = self
                    .context
                    .slots
                    .get_item(self.context.layout.place(declared.pool, slot))
                    .ok()?;
                if value.is_none()
                    || declared
                        .function
                        .call1((&value,))
                        .and_then(|right| right.is_truthy())
                        .unwrap_or(false)
                {
                    continue;
                }
                self.last_failure = Some(LastFailure::Type(declared.pool, slot));
                let name = self
                    .context
                    .harness
                    .catalog
                    .pool(declared.pool)
                    .slot_name(slot);
                let wanted = pool.type_name.as_deref().unwrap_or_default();
                let found = value
                    .get_type()
                    .name()
                    .map_or_else(|_| String::from("?"), |name| name.to_string());
                return Some(Failure {
                    kind: FailureKind::PoolType,
                    message: format!(
                        "`{name}` holds a value of type {found}, but its pool is declared `: {wanted}`"
                    ),
                    signature: format!("pool {}", pool.name),
                    details: shown(&value),
                });
            }
        }
        None
    }
}
