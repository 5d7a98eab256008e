//! A harness plus the interpreter, as a [`System`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyException;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::{
    ActionId, Catalog, Error, Examination, Outcome, PoolId, Random, System, TemplateId, TemplateSet,
};
use testwright_lang::Harness;

use crate::actions::{CompiledActions, Variant, VariantId, describe_exception};
use crate::checks::{Checks, Violation};
use crate::context::HarnessContext;
use crate::coverage::Collector;
use crate::draw::RankDraw;
use crate::failures;
use crate::forking;
use crate::hooks::{Hook, Hooks};
use crate::interpreter;
use crate::interrupt;
use crate::line_code::LineCode;
use crate::load;
use crate::logs::LogLines;
use crate::modules::ResettableModules;
use crate::output::OutputMode;
use crate::pool_states::PoolStates;
use crate::process_state::ProcessState;
use crate::reference_rules::ReferenceRules;
use crate::rejected::RejectedConditions;
use crate::restricted::RestrictedWeights;
use crate::scenario_guide::ScenarioGuide;
use crate::shapes::TemplateShapes;
use crate::state_tracker::ObjectTracker;
use crate::unawaited::UnawaitedCoroutines;
use crate::weights::{Weights, action_at_rank};
use crate::{Interpreter, LoadError, Options};

/// A problem of the harness itself that showed only while it ran: a guard that raises, for example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarnessProblem {
    /// The line of the harness, from 1.
    pub line: usize,
    /// One sentence without full stop.
    pub message: String,
    /// The number of occurrences.
    pub times: u64,
    /// It is a mistake of the harness: the tests have not tested what its line says.
    pub is_mistake: bool,
}

impl HarnessProblem {
    /// Returns the problem as an error, for one that makes the work pointless.
    pub fn to_error(&self) -> Error {
        if self.line == 0 {
            return Error::new(self.message.clone());
        }
        Error::new(format!(
            "line {} of the harness: {}",
            self.line, self.message
        ))
        .with_help(
            "run a coroutine to its end, for example with `asyncio.run(…)` and `@import asyncio`",
        )
    }
}

/// A harness plus the interpreter, as a [`System`].
///
/// While it lives in a [process of the tool](crate::ProcessOwner::Tool), standard input, output and
/// error belong to the system under test; the tool's own messages must go to duplicates of the
/// descriptors made before.
pub struct PythonSystem<'py> {
    /// The constant data of the harness.
    pub(crate) context: HarnessContext<'py>,
    /// The harness file as given.
    pub(crate) path: PathBuf,
    /// The rules for the reference implementation.
    pub(crate) rules: ReferenceRules<'py>,
    /// The actions and their functions.
    pub(crate) actions: CompiledActions<'py>,
    /// The states of all slots.
    pub(crate) states: PoolStates,
    /// The number of allowed actions per template.
    pub(crate) weights: Weights,
    /// Weights of subsets of templates.
    pub(crate) restricted: RestrictedWeights,
    /// The axes of each template in compact form.
    pub(crate) shapes: TemplateShapes,
    /// The draw without replacement behind `pick`.
    pub(crate) draw: RankDraw,
    /// The `init:` lines, run at the end of each reset.
    pub(crate) inits: Vec<LineCode<'py>>,
    /// The `finally:` lines, run at the beginning of each reset.
    pub(crate) finallys: Vec<LineCode<'py>>,
    /// The `assume:` lines.
    pub(crate) assumptions: Vec<LineCode<'py>>,
    /// The `hint:` lines.
    pub(crate) hints: Vec<LineCode<'py>>,
    /// The invariants.
    pub(crate) checks: Checks<'py>,
    /// The `log:` lines.
    pub(crate) logs: LogLines<'py>,
    /// The hooks in raw code.
    pub(crate) hooks: Hooks<'py>,
    /// The modules that a reset restores.
    pub(crate) modules: ResettableModules<'py>,
    /// The object that finds these modules.
    pub(crate) finder: Bound<'py, PyAny>,
    /// Exceptions of the last step that count as warnings.
    pub(crate) warned: Bound<'py, PyList>,
    /// Exceptions that the reference raised in the last step.
    pub(crate) reference_raised: Bound<'py, PyList>,
    /// The coverage collector, if coverage is measured.
    pub(crate) collector: Option<Collector<'py>>,
    /// The process state to restore on every reset, if the process belongs to the tool.
    pub(crate) process_state: Option<ProcessState<'py>>,
    /// Problems by line and message, with the number of occurrences.
    pub(crate) problems: BTreeMap<(usize, String), u64>,
    /// Harness code may change slots that the action does not name.
    pub(crate) slots_may_change_unseen: bool,
    /// An assumption is violated, so no action is enabled until the next reset.
    pub(crate) assumption_violated: bool,
    /// The scenarios that decide which lines may come next, if any.
    pub(crate) guide: Option<ScenarioGuide<'py>>,
    /// The expected exception that the last step raised.
    pub(crate) last_expected: Option<Bound<'py, PyAny>>,
    /// The exception of the last step that counts as a warning.
    pub(crate) last_warned: Option<Bound<'py, PyAny>>,
    /// Details of the last failure, for writing a test that fails in the same way.
    pub(crate) last_failure: Option<LastFailure>,
    /// The action that was last picked or queried, which mostly is the one that is taken next.
    pub(crate) prepared: Option<PreparedAction>,
    /// The values of the prepared action on each axis.
    pub(crate) values: Vec<u64>,
    /// Conditions found to be false in the current pick.
    pub(crate) rejected: RejectedConditions,
    /// No step was taken since the last reset.
    pub(crate) is_at_start: bool,
    /// The walker over the objects of a state, once states are compared or kept.
    pub(crate) states_seen: Option<Box<ObjectTracker<'py>>>,
}

/// An action, ready to be taken.
#[derive(Clone, Copy)]
pub(crate) struct PreparedAction {
    /// The action itself.
    action: ActionId,
    /// Its template.
    template: TemplateId,
    /// Its functions.
    variant: VariantId,
}

/// The details of a failure.
pub(crate) enum LastFailure {
    /// The step raised this exception.
    Step(PyErr),
    /// This invariant does not hold.
    Check(Violation),
}

impl<'py> PythonSystem<'py> {
    /// Loads a harness: imports its modules and runs its raw code.
    ///
    /// `path` is the harness file. Modules are looked for in its folder, then in the current
    /// directory, then as usual.
    pub fn load(
        interpreter: Interpreter<'py>,
        path: &Path,
        text: &str,
        harness: Harness,
        options: &Options,
    ) -> Result<PythonSystem<'py>, LoadError> {
        load::load(interpreter, path, text, harness, options)
    }

    /// Returns the harness.
    pub fn harness(&self) -> &Harness {
        &self.context.harness
    }

    /// Returns the absolute path of the harness file.
    pub fn file(&self) -> &Path {
        Path::new(&self.context.path)
    }

    /// Returns the folder that was the current one when the harness was loaded.
    pub fn folder(&self) -> Option<PathBuf> {
        match &self.process_state {
            Some(process_state) => process_state.folder(),
            None => std::env::current_dir().ok(),
        }
    }

    /// Makes the system run in another folder from now on.
    pub fn move_to(&mut self, folder: &Path) -> Result<(), Error> {
        let python = self.context.python;
        let process_state = self.process_state.as_mut();
        process_state
            .map_or(Ok(()), |process_state| process_state.move_to(folder))
            .map_err(|error| {
                let raised = failures::summary(python, &error);
                Error::new(format!("cannot run in `{}`: {raised}", folder.display()))
            })
    }

    /// Returns the interpreter's executable.
    pub fn executable(&self) -> Option<PathBuf> {
        interpreter::executable(self.context.python.into())
    }

    /// Returns the problems of the harness itself so far, one entry per cause, in order of lines.
    pub fn problems(&self) -> Vec<HarnessProblem> {
        let problem = |((line, message), times): (&(usize, String), &u64)| HarnessProblem {
            line: *line,
            message: message.clone(),
            times: *times,
            is_mistake: false,
        };
        let mut problems: Vec<HarnessProblem> = self.problems.iter().map(problem).collect();
        if let Some(reason) = self.checks.reason_for_all() {
            let message = format!("all properties were checked after every step: {reason}");
            problems.insert(
                0,
                HarnessProblem {
                    line: 0,
                    message,
                    times: 1,
                    is_mistake: false,
                },
            );
        }
        let unawaited = self.context.unawaited.iter();
        let unawaited = unawaited.inspect(|found| found.note_kept(&self.context.slots));
        problems.extend(unawaited.flat_map(UnawaitedCoroutines::problems));
        problems
    }

    /// Takes the messages of `log:` lines since the last call.
    pub fn take_log(&mut self) -> Vec<String> {
        self.logs.take()
    }

    /// Returns the coverage collector, if coverage is measured.
    pub fn coverage(&self) -> Option<&Collector<'py>> {
        self.collector.as_ref()
    }

    /// Takes the system's output since the last call, with [`OutputMode::Capture`].
    pub fn take_output(&mut self) -> String {
        let process_state = self.process_state.as_mut();
        process_state
            .map(ProcessState::take_output)
            .unwrap_or_default()
    }

    /// Changes the handling of the system's output from now on.
    pub fn set_output(&mut self, output: OutputMode) -> Result<(), Error> {
        let process_state = self.process_state.as_mut();
        process_state
            .map_or(Ok(()), |process_state| process_state.set_output(output))
            .map_err(crate::output::redirect_error)
    }

    /// Writes out the system's buffered output, so that it comes before the tool's next message.
    pub fn flush(&self) {
        if let Some(process_state) = &self.process_state {
            process_state.flush();
        }
    }

    /// Calls a hook of the harness. Exceptions are recorded as problems.
    #[inline(never)]
    pub fn call_hook(&mut self, hook: Hook) {
        if let Err(error) = self.hooks.call(hook) {
            self.add_problem(0, describe_exception(self.context.python, "a hook", &error));
        }
    }

    /// Records a problem of the harness.
    fn add_problem(&mut self, line: usize, message: String) {
        *self.problems.entry((line, message)).or_default() += 1;
    }

    /// Prepares an action, whose values are in `self.values`, if its conditions hold. A condition
    /// that raises does not hold.
    #[inline]
    fn prepare_if_allowed(&mut self, action: ActionId, template: TemplateId) -> bool {
        // Mostly the functions are compiled already, and there are no conditions.
        let Some(variant) = self.actions.unconditional(template, &self.values) else {
            return self.prepare_with_conditions(action, template);
        };
        self.prepared = Some(PreparedAction {
            action,
            template,
            variant,
        });
        true
    }

    /// Compiles an action if necessary, evaluates its conditions, and prepares it if they hold.
    #[inline(never)]
    fn prepare_with_conditions(&mut self, action: ActionId, template: TemplateId) -> bool {
        let watched = self.watch(self.context.harness.actions[template.0].line);
        let (context, values) = (&self.context, &self.values);
        let variant = self.actions.variant(context, &self.rules, template, values);
        let answer = variant.and_then(|variant| {
            let hold = self
                .actions
                .conditions_hold(context, template, variant, values)?;
            Ok(hold.then_some(variant))
        });
        drop(watched);
        match answer {
            Ok(variant) => {
                self.prepared = variant.map(|variant| PreparedAction {
                    action,
                    template,
                    variant,
                });
                variant.is_some()
            }
            Err(error) => {
                if !interrupt::is_interrupt(self.context.python, &error) {
                    let line = self.context.harness.actions[template.0].line;
                    let has_guard = self.context.harness.actions[template.0].guard.is_some();
                    let subject = if has_guard {
                        "the guard"
                    } else {
                        "compiling this line"
                    };
                    self.add_problem(
                        line,
                        describe_exception(self.context.python, subject, &error),
                    );
                }
                false
            }
        }
    }

    /// Draws from `total` actions until one is enabled, and prepares it. `find` returns the
    /// template of a rank and the rank of the action in it.
    #[inline]
    fn draw_enabled(
        &mut self,
        total: u64,
        random: &mut Random,
        find: impl Fn(&PythonSystem<'py>, u64) -> (TemplateId, u64),
    ) -> Option<ActionId> {
        self.prepared = None;
        if self.assumption_violated {
            return None;
        }
        self.draw.start(total);
        self.rejected.clear();
        while let Some(rank) = self.draw.next(random) {
            let (template, rest) = find(self, rank);
            let catalog = &self.context.harness.catalog;
            let source = (catalog, &self.shapes, &self.states);
            let action = action_at_rank(template, rest, source, &mut self.values);
            // Mostly the first action is enabled. Nothing was rejected then, and its conditions
            // need no lookup.
            if !self.rejected.is_empty() && self.was_rejected(template) {
                continue;
            }
            if self.prepare_if_allowed(action, template) {
                return Some(action);
            }
            if let Some(condition) = self.actions.condition_number(template, &self.values) {
                self.rejected.add(template, condition);
            }
            if interrupt::is_interrupted() {
                break;
            }
        }
        None
    }

    /// Returns true if the conditions of the action in `self.values` were rejected before.
    #[cold]
    fn was_rejected(&self, template: TemplateId) -> bool {
        let condition = self.actions.condition_number(template, &self.values);
        condition.is_some_and(|condition| self.rejected.contains(template, condition))
    }

    /// Returns the template and the functions of an action that was not prepared.
    #[cold]
    fn look_up(&mut self, action: ActionId) -> Result<PreparedAction, Box<Outcome>> {
        let template = self
            .context
            .harness
            .catalog
            .values_into(action, &mut self.values);
        let variant = self
            .actions
            .variant(&self.context, &self.rules, template, &self.values);
        match variant {
            Ok(variant) => Ok(PreparedAction {
                action,
                template,
                variant,
            }),
            Err(error) => Err(Box::new(self.outcome_of_exception(action, template, error))),
        }
    }

    /// Returns the outcome of a step that raised, and keeps the exception.
    #[cold]
    fn outcome_of_exception(
        &mut self,
        action: ActionId,
        template: TemplateId,
        error: PyErr,
    ) -> Outcome {
        let line = self.context.harness.actions[template.0].line;
        let outcome = self.outcome_of_error(action, line, &error);
        self.last_failure = Some(LastFailure::Step(error));
        outcome
    }

    /// Returns the outcome of a step that returned a value: the expected exception, if it is one.
    #[inline(never)]
    fn outcome_of_value(&mut self, value: Bound<'py, PyAny>) -> Outcome {
        if !value.is_instance_of::<PyException>() {
            return Outcome::Passed;
        }
        clear_traceback(&value);
        self.last_expected = Some(value);
        Outcome::Expected
    }

    /// Returns the expected exception of the last step as text.
    pub(crate) fn text_of_expected(&self) -> Option<String> {
        let raised = self.last_expected.as_ref()?;
        Some(failures::summary(
            self.context.python,
            &PyErr::from_value(raised.clone()),
        ))
    }

    /// Discards the exceptions of the last step.
    #[inline]
    fn clear_exceptions(&mut self) {
        if self.last_expected.is_some() || !self.reference_raised.is_empty() {
            self.clear_raised();
        }
    }

    /// Discards the exceptions of the last step when there are any.
    #[inline(never)]
    fn clear_raised(&mut self) {
        self.last_expected = None;
        let raised = &self.reference_raised;
        raised.iter().for_each(|raised| clear_traceback(&raised));
        let _a_list_can_be_emptied = raised.del_slice(0, raised.len());
    }

    /// Updates the states of all slots after harness code ran.
    #[inline(never)]
    pub(crate) fn refresh_slot_states(&mut self) {
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

    /// Evaluates the `assume:` lines.
    #[inline(never)]
    fn check_assumptions(&mut self) {
        let mut violated = false;
        for assumption in &mut self.assumptions {
            let context = &self.context;
            assumption.for_each(context, None, |line, _, result| {
                // An assumption that raises, for example because a slot is empty, counts as
                // holding.
                violated |= result
                    .and_then(|value| context.is_truthy(line.line, &value))
                    .is_ok_and(|holds| !holds);
                !violated
            });
        }
        self.assumption_violated |= violated;
    }

    /// Records the exceptions of the last step that count as warnings.
    #[inline(never)]
    fn record_warnings(&mut self, line: usize) {
        let name = |error: Bound<'_, PyAny>| {
            error
                .get_type()
                .name()
                .map_or_else(|_| String::from("?"), |name| name.to_string())
        };
        self.last_warned = self.warned.iter().last();
        let warned: Vec<String> = self.warned.iter().map(name).collect();
        if !warned.is_empty() {
            let _a_list_can_be_emptied = self.warned.del_slice(0, warned.len());
        }
        for warning in warned {
            self.add_problem(
                line,
                format!("the action raised {warning}, which the harness takes as a warning"),
            );
        }
    }
}

/// Removes the traceback of an exception, which would keep all its frames alive.
///
/// The function of an action keeps the exception it caught, and the exception keeps the function's
/// frame. Only the garbage collector would free this cycle, and until then everything in it stays
/// alive.
fn clear_traceback(exception: &Bound<'_, PyAny>) {
    // SAFETY: the object is an exception, or else nothing happens but an error, which is cleared;
    // the reference to `None` is borrowed for the call.
    unsafe {
        if ffi::PyExceptionInstance_Check(exception.as_ptr()) != 0
            && ffi::PyException_SetTraceback(exception.as_ptr(), ffi::Py_None()) != 0
        {
            ffi::PyErr_Clear();
        }
    }
}

impl PythonSystem<'_> {
    /// Picks a uniformly random enabled action of some templates.
    fn pick_restricted(
        &mut self,
        templates: &TemplateSet,
        random: &mut Random,
    ) -> Option<ActionId> {
        self.weights.update(&self.states);
        let catalog = &self.context.harness.catalog;
        let total = self
            .restricted
            .select(templates, &self.weights, catalog, &self.states);
        self.draw_enabled(total, random, |system, rank| system.restricted.find(rank))
    }
}

impl System for PythonSystem<'_> {
    fn actions(&self) -> &Catalog {
        &self.context.harness.catalog
    }

    fn reset(&mut self) -> Result<(), Error> {
        let unawaited = self.context.unawaited.as_ref();
        if let Some(mistake) = unawaited.and_then(UnawaitedCoroutines::mistake) {
            return Err(mistake);
        }
        match self.reset_all() {
            // The caller sees the interruption before the next step.
            Err(error) if interrupt::is_interrupt(self.context.python, &error.error) => Ok(()),
            Err(error) => {
                let message =
                    describe_exception(self.context.python, &error.failed_step, &error.error);
                Err(Error {
                    message,
                    help: error.help,
                })
            }
            Ok(()) => Ok(()),
        }
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        self.prepared = None;
        let template = self
            .context
            .harness
            .catalog
            .values_into(action, &mut self.values);
        if let Some(guide) = &self.guide
            && !guide.allowed().contains(template)
        {
            return false;
        }
        let slots = &self.shapes.shape(template).slots;
        !self.assumption_violated
            && self.states.allows(slots, &self.values)
            && self.prepare_if_allowed(action, template)
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        if let Some(guide) = &self.guide {
            let allowed = guide.allowed().clone();
            return self.pick_restricted(&allowed, random);
        }
        self.weights.update(&self.states);
        let total = self.weights.total();
        self.draw_enabled(total, random, |system, rank| system.weights.find(rank))
    }

    fn pick_among(&mut self, templates: &TemplateSet, random: &mut Random) -> Option<ActionId> {
        match &self.guide {
            None => self.pick_restricted(templates, random),
            Some(guide) => {
                let both = templates.intersection(guide.allowed());
                self.pick_restricted(&both, random)
            }
        }
    }

    fn enabling_group(&self, template: TemplateId) -> Option<u64> {
        let line = &self.context.harness.actions[template.0];
        if line.guard.is_some() || line.speculative.is_some() {
            return None;
        }
        let guide = self.guide.as_ref();
        let name = guide.and_then(|guide| guide.action_name(template));
        let name = name.map_or(0, |name| u64::from(name.0) + 1);
        Some(name << 32 | u64::from(self.weights.group_of(template)))
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        let prepared = match self.prepared.take() {
            Some(prepared) if prepared.action == action => prepared,
            _ => match self.look_up(action) {
                Ok(prepared) => prepared,
                Err(outcome) => return *outcome,
            },
        };
        let PreparedAction {
            template, variant, ..
        } = prepared;
        self.logs.evaluate(&self.context, action, false);
        if self.hooks.has(Hook::BeforeEach) {
            self.call_hook(Hook::BeforeEach);
        }
        self.clear_exceptions();
        self.is_at_start = false;
        interrupt::mark_progress();
        let watched = self.watch(self.context.harness.actions[template.0].line);
        let (context, values) = (&self.context, &self.values);
        let result = self.actions.run(context, template, variant, values);
        drop(watched);
        forking::exit_if_child();
        if let Some(guide) = &mut self.guide {
            guide.record_action(template);
        }
        let is_filled = |pool, slot| context.is_filled(pool, slot);
        self.states
            .record_action(self.shapes.shape(template), values, is_filled);
        let Variant {
            has_reference: mirrored,
            warns,
            ..
        } = *self.actions.get_variant(variant);
        if self.hooks.has(Hook::AfterEach) && !(mirrored && result.is_ok()) {
            self.call_hook(Hook::AfterEach);
        }
        if self.slots_may_change_unseen {
            self.refresh_slot_states();
        }
        if !self.assumptions.is_empty() {
            self.check_assumptions();
        }
        if warns {
            self.record_warnings(self.context.harness.actions[template.0].line);
        }
        match result {
            Ok(value) => {
                self.logs.evaluate(&self.context, action, true);
                if value.is_none() {
                    Outcome::Passed
                } else {
                    self.outcome_of_value(value)
                }
            }
            Err(error) => self.outcome_of_exception(action, template, *error),
        }
    }

    fn expected_exception(&mut self) -> String {
        self.text_of_expected().unwrap_or_default()
    }

    fn examine(&mut self) -> Option<Examination> {
        Some(self.examination())
    }

    fn step_with_lines(&mut self, action: ActionId, lines: &mut Vec<String>) -> Outcome {
        self.traced_step(action, lines)
    }

    fn check(&mut self) -> Outcome {
        interrupt::mark_progress();
        // Not a line: all properties together.
        let _watched = self.watch(0);
        match self.checks.check(&self.context, &self.states) {
            Ok(()) => Outcome::Passed,
            Err(broken) => {
                self.last_failure = Some(LastFailure::Check(broken.violation));
                broken.outcome
            }
        }
    }
}
