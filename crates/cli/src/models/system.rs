//! Models as a [`Target`] that commands can work on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustc_hash::FxHashSet;
use testwright_campaign::SentName;
use testwright_core::product::ModelError;
use testwright_core::{
    ActionId, Catalog, Coverage, Covered, Error, Examination, FailureKind, Outcome, Random, Step,
    System, TargetId, TemplateSet, saved,
};
use testwright_model::{ProductSystem, state_text};
use testwright_python::{
    HarnessProblem, Models, OutputCapture, OutputMode, SlotValue, StepperFactory,
};

use super::ModelPytestFile;
use crate::files::TextFile;
use crate::guard::ProgressNote;
use crate::target::{NameListener, ReachedArcs, Target, TargetDescription};
use crate::unit_test::{UnitTestDraft, UnitTestForm, UnitTestRequest, limit_in_file};
use crate::workers::actions::mentioned_actions;
use crate::workers::reduce::is_fatal;

/// Redirects the output of models, from before they are imported.
pub(crate) struct OutputGuard(OutputCapture);

impl OutputGuard {
    /// Starts the redirection.
    pub(crate) fn new(output: OutputMode) -> Result<OutputGuard, Error> {
        OutputCapture::start(output).map(OutputGuard)
    }
}

impl Drop for OutputGuard {
    fn drop(&mut self) {
        // Output that is still buffered must not appear after the redirection ends.
        testwright_python::flush();
    }
}

/// The notes that a system writes for the process that watches it.
#[derive(Clone, Copy)]
pub(crate) enum StepNotes<'s> {
    /// No notes.
    Off,
    /// The current step of a saved test while its steps are looked up.
    Lookup(&'s ProgressNote),
    /// The steps of the current test.
    Test(&'s ProgressNote),
}

/// Models that are run step by step, as one system.
pub(crate) struct ModelSystem<'s, 'w, 'm> {
    /// The composed models.
    product: ProductSystem<'w, 'm>,
    /// The names of the models, as they were given.
    names: Vec<String>,
    /// The redirection of the models' output.
    output_guard: &'s mut OutputGuard,
    /// The notes for the process that watches this one.
    notes: StepNotes<'s>,
    /// The folder that names of modules refer to.
    folder: Option<PathBuf>,
    /// The listener for the names of actions.
    name_listener: Option<NameListener>,
    /// The actions whose names were announced already.
    announced: FxHashSet<ActionId>,
    /// The module of the stepper and its time limit, until it is imported.
    pending_stepper: Option<(String, Duration)>,
    /// The module of the stepper and its time limit.
    stepper: Option<(String, Duration)>,
    /// The importer for steppers.
    steppers: StepperFactory<'m>,
}

/// The maximum number of possible states that are shown.
const MAX_SHOWN: usize = 3;

impl<'s, 'w, 'm> ModelSystem<'s, 'w, 'm> {
    /// Creates a system in its initial state. The stepper is imported by [`start`](Target::start).
    pub(crate) fn new(
        models: &'w mut Models<'m>,
        names: &[String],
        output_guard: &'s mut OutputGuard,
        notes: StepNotes<'s>,
        pending_stepper: Option<(String, Duration)>,
    ) -> Result<ModelSystem<'s, 'w, 'm>, ModelError> {
        // With a stepper, the implementation decides what happens to be observed.
        if pending_stepper.is_none() {
            models.product.try_observables();
        }
        Ok(ModelSystem {
            steppers: models.stepper_factory(),
            stepper: pending_stepper.clone(),
            pending_stepper,
            names: names.to_vec(),
            product: ProductSystem::new(&mut models.product)?,
            output_guard,
            notes,
            folder: std::env::current_dir().ok(),
            name_listener: None,
            announced: FxHashSet::default(),
        })
    }

    /// Returns the names of all actions, without their arguments.
    pub(crate) fn class_names(&self) -> Vec<String> {
        let templates = self.product.actions().templates().iter();
        templates.map(|template| template.class.clone()).collect()
    }

    /// Returns true if an invariant is false before any step.
    pub(crate) fn starts_invalid(&self) -> bool {
        let product = self.product.product();
        !self
            .product
            .starts()
            .iter()
            .all(|state| product.is_safe(state))
    }
}

impl ModelSystem<'_, '_, '_> {
    /// Returns the reason for which the models or the stepper cannot be used, if one has come up.
    pub(crate) fn unusable(&self) -> Option<Error> {
        self.product.unusable().cloned()
    }

    /// Renders a test as a pytest file that replays it with the stepper.
    fn pytest_file(
        &self,
        wanted: &UnitTestRequest<'_>,
        (stepper, timeout): (&str, Duration),
    ) -> Result<String, Error> {
        let product = self.product.product();
        if product.has_suite() {
            return Err(Error::new("one of the models is a suite")
                .with_help("`testwright model test` writes runs of suites"));
        }
        let mut steps = Vec::new();
        for step in &wanted.test.steps {
            let known = match step {
                Step::Act(action) => self.product.name_and_arguments(*action),
                Step::Restart => return Err(Error::new("the failure needs several tests")),
            };
            let (name, arguments) =
                known.ok_or_else(|| Error::new("the models do not know all of its steps"))?;
            let interner = product.interner();
            let arguments = interner.value_text(arguments).literal.clone();
            steps.push((interner.name_text(name).to_owned(), arguments));
        }
        let here = self.folder.clone().unwrap_or_default();
        let pytest_file = ModelPytestFile {
            command_line: &format!(
                "testwright run {} --stepper {stepper}",
                self.names.join(" ")
            ),
            title: wanted.title,
            models: &self.names,
            stepper,
            model_folder: &here,
            steps,
            reason: "A test that failed in `testwright run`",
            timeout,
            check: wanted.check,
            run: None,
            tries: None,
        };
        Ok(pytest_file.write(wanted.file.parent().unwrap_or(Path::new("."))))
    }
}

impl System for ModelSystem<'_, '_, '_> {
    fn actions(&self) -> &Catalog {
        self.product.actions()
    }

    fn action_by_name(&mut self, class: &str, rest: &str) -> Option<ActionId> {
        self.product.action_by_name(class, rest)
    }

    fn reset(&mut self) -> Result<(), Error> {
        if let StepNotes::Test(note) = self.notes {
            // The steps before a reset have no influence on the next ones.
            note.write("");
        }
        self.product.reset()
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        self.product.is_enabled(action)
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        self.product.pick(random)
    }

    fn pick_among(&mut self, templates: &TemplateSet, random: &mut Random) -> Option<ActionId> {
        self.product.pick_among(templates, random)
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        if let StepNotes::Test(note) = self.notes {
            note.add(&format!("{}\n", self.product.actions().text(action)));
        }
        if let Some(name_listener) = &mut self.name_listener
            && self.announced.insert(action)
            && let Some(name) = SentName::from_action(action, self.product.actions())
        {
            name_listener(name);
        }
        let outcome = self.product.step(action);
        if let StepNotes::Test(note) = self.notes {
            note.mark_own_work();
        }
        outcome
    }

    fn examine(&mut self) -> Option<Examination> {
        self.product.examine()
    }

    fn step_with_lines(&mut self, action: ActionId, lines: &mut Vec<String>) -> Outcome {
        self.product.step_with_lines(action, lines)
    }

    fn check(&mut self) -> Outcome {
        self.product.check()
    }

    fn enabled(&mut self) -> Vec<ActionId> {
        self.product.enabled()
    }
}

impl Covered for ModelSystem<'_, '_, '_> {
    fn all_touched(&self) -> Coverage {
        self.product.all_touched()
    }

    fn take_new(&mut self) -> Vec<TargetId> {
        self.product.take_new()
    }

    fn reset_touched(&mut self) -> Result<(), Error> {
        self.product.reset_touched()
    }

    fn touched(&self) -> Coverage {
        self.product.touched()
    }
}

impl Target for ModelSystem<'_, '_, '_> {
    fn is_measured(&self) -> bool {
        true
    }

    fn take_new_targets(&self) -> Vec<TargetId> {
        self.product.take_new_transitions()
    }

    fn unit(&self) -> &'static str {
        "transition"
    }

    fn problems(&self) -> Vec<HarnessProblem> {
        let problem = |error: &Error| {
            let help = error.help.iter().map(|help| format!("; {help}"));
            HarnessProblem {
                line: 0,
                message: error.message.clone() + &help.collect::<String>(),
                times: 1,
                is_mistake: true,
            }
        };
        self.product.unusable().map(problem).into_iter().collect()
    }

    fn describe_targets(&self, targets: &[TargetId], _root: &Path) -> Vec<TargetDescription> {
        let names: Vec<&str> = self
            .product
            .product()
            .models()
            .iter()
            .map(|one| one.name())
            .collect();
        let file = names.join(" ");
        let each = targets.iter().map(|target| {
            let transition = self.product.transition(*target);
            let (state, action) = transition
                .map(|transition| (transition.state, transition.action))
                .unwrap_or_default();
            TargetDescription {
                file: file.clone(),
                from: None,
                to: None,
                location: format!("{action} in {state}"),
                source: action,
            }
        });
        each.collect()
    }

    fn announce_names(&mut self, name_listener: Option<NameListener>) {
        self.announced.clear();
        self.name_listener = name_listener;
    }

    fn start(&mut self) -> Result<(), Error> {
        let Some((name, timeout)) = self.pending_stepper.take() else {
            return Ok(());
        };
        match self
            .steppers
            .import_managed(&name, Some(super::stepper_limits(timeout)))
        {
            Ok(stepper) => {
                self.product.attach(Box::new(stepper));
                Ok(())
            }
            Err(ModelError::Unusable(error)) => Err(error),
            Err(ModelError::Raised {
                exception: what,
                traceback,
            }) => {
                let mut message = format!("the stepper `{name}` cannot be imported: {what}");
                for line in traceback.lines() {
                    message.push_str("\n  ");
                    message.push_str(line);
                }
                Err(Error::new(message))
            }
            Err(error) => Err(Error::new(error.to_string())),
        }
    }

    fn unit_test(&mut self, wanted: &UnitTestRequest<'_>) -> Option<Result<UnitTestDraft, Error>> {
        let (stepper, timeout) = self.stepper.clone()?;
        // The file interrupts a stepper that hangs, but nothing that ends its process.
        let kind = wanted.failure.kind;
        if is_fatal(kind) && kind != FailureKind::Hang {
            return None;
        }
        // In a process that has not run the test, only the names of its steps are known.
        let text = saved::write(self.actions(), wanted.test, &[]);
        self.product.discover_actions(&text, &mut |_, _| {});
        let timeout = limit_in_file(timeout);
        let text = self.pytest_file(wanted, (&stepper, timeout));
        let process_context = self.process_context();
        Some(text.map(|text| UnitTestDraft {
            forms: vec![UnitTestForm::Replay(text)],
            limit: None,
            process_context,
        }))
    }

    fn use_full_limits(&mut self) {
        self.product.use_full_limits();
    }

    fn reserve_actions(&mut self, test: &str) {
        for (class, rest) in mentioned_actions(test) {
            self.product.action_by_name(class, rest);
        }
    }

    fn is_resolved(&self, action: ActionId) -> bool {
        self.product.name_and_arguments(action).is_some()
    }

    /// Encodes transitions: the files are the names of actions, and the two lines of an arc are the
    /// halves of the transition's number.
    fn reached_arcs(&self, targets: &[TargetId], known: usize) -> ReachedArcs {
        let templates = self.product.actions().templates();
        let new = templates.get(known..).unwrap_or_default();
        let files = new
            .iter()
            .map(|one| (PathBuf::from(&one.class), Vec::new()));
        let keys = targets
            .iter()
            .filter_map(|one| self.product.transition_key(*one));
        let arcs = keys.map(|(template, key)| (template.0, (key >> 32) as i32, key as i32));
        ReachedArcs {
            files: files.collect(),
            arcs: arcs.collect(),
        }
    }

    fn move_to(&mut self, folder: &Path) -> Result<(), Error> {
        testwright_python::attach(|interpreter| {
            testwright_python::change_folder(interpreter, folder)
        })
    }

    fn take_observed(&mut self) -> Vec<String> {
        let observed = self.product.take_observed().into_iter();
        observed
            .map(|action| self.product.actions().text(action))
            .collect()
    }

    fn coverage_help(&self) -> &'static str {
        "none of their steps is possible: `testwright explore` tells what is"
    }

    fn register_actions(&mut self, test: &TextFile) {
        let notes = self.notes;
        if let StepNotes::Lookup(note) | StepNotes::Test(note) = notes {
            // The reset before the first step has a time limit.
            note.write("");
        }
        self.product
            .discover_actions(&test.text, &mut |step, text| match notes {
                StepNotes::Off => {}
                StepNotes::Lookup(note) => {
                    note.write(&format!("{}: fails at step {step}, {text}", test.name));
                }
                StepNotes::Test(note) if step == 1 => note.write(&format!("{text}\n")),
                StepNotes::Test(note) => note.add(&format!("{text}\n")),
            });
        if let StepNotes::Test(note) = notes {
            note.mark_own_work();
        }
    }

    fn take_output(&mut self) -> String {
        testwright_python::flush();
        self.output_guard.0.take()
    }

    fn set_output(&mut self, output: OutputMode) -> Result<(), Error> {
        testwright_python::flush();
        self.output_guard.0.set(output)
    }

    fn flush(&self) {
        testwright_python::flush();
    }

    /// Returns the states of all models, whatever the action.
    fn slot_values(&self, _action: ActionId) -> Vec<SlotValue> {
        let product = self.product.product();
        let value = |name: &str, text: String| SlotValue {
            name: name.to_owned(),
            text,
            type_name: "state".to_owned(),
            opaque: false,
        };
        match self.product.states() {
            [only] => {
                let models = product.models().iter().zip(only);
                models
                    .map(|(model, place)| value(model.name(), model.text(*place)))
                    .collect()
            }
            several => several
                .iter()
                .take(MAX_SHOWN)
                .map(|state| value("one of its states", state_text(product, state)))
                .collect(),
        }
    }

    fn process_context(&self) -> Option<(PathBuf, PathBuf)> {
        let program = testwright_python::attach(testwright_python::executable)?;
        Some((program, self.folder.clone()?))
    }
}
