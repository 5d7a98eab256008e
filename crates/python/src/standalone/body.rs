//! The steps of a test as lines of Python.

use std::ops::Range;

use pyo3::prelude::*;
use testwright_core::{ActionId, Error, Failure, FailureKind, PoolId, Step, Trace};
use testwright_lang::harness::{CodePart, Fragment};

use super::StandaloneStyle;
use super::names::{
    VariableWriter, before_name, names_from_outside, names_in_use, slots_in_order, with_variables,
};
use super::variables::{Naming, Variables};
use crate::checks::Violation;
use crate::functions::with_result;
use crate::system::{LastFailure, PythonSystem};

/// The record of one step.
pub(super) struct StepRecord {
    /// The step.
    pub(super) step: Step,
    /// The expected exception it raised, as text.
    pub(super) raised: Option<String>,
    /// The reference raised.
    pub(super) reference_raised: bool,
    /// The slots that hold values after the step.
    pub(super) filled: Vec<(PoolId, u32)>,
}

/// The checks that a file makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrittenChecks {
    /// The one that fails; all at the end if none does.
    Failing,
    /// Those that the search makes: guards before, and properties after each step. A check may
    /// change the state.
    AfterEachStep,
}

/// The body of the test function.
pub(super) struct StandaloneBody {
    /// The lines so far, without the indentation of the function.
    pub(super) lines: Vec<String>,
    /// The failure message, with variables in place of slots.
    pub(super) failure_message: Option<String>,
    /// The lines use `contextlib.suppress`.
    pub(super) needs_suppress: bool,
    /// The lines use `pytest.raises`.
    pub(super) needs_pytest: bool,
    /// The lines run in a process of their own.
    pub(super) is_child_process: bool,
    /// The lines call `reset_modules`.
    pub(super) resets_modules: bool,
    /// Clean-up lines, until they are written.
    pub(super) cleanup_lines: Vec<String>,
    /// The index of the first line of each step.
    step_starts: Vec<usize>,
    /// The index of the first line of the checks after the last step.
    checks_start: Option<usize>,
    /// The lines of the last step, or of the check after it, in which a failing test fails.
    failing: Option<Range<usize>>,
    style: StandaloneStyle,
    checks: WrittenChecks,
    /// The scheme for variable names.
    naming: Naming,
    /// The failure involves the reference, so its steps are written, too.
    writes_reference: bool,
}

impl StandaloneBody {
    /// Writes the steps without the clean-up after them.
    pub(super) fn from_steps(
        system: &PythonSystem<'_>,
        steps: &[StepRecord],
        trace: &Trace,
        (style, naming, checks): (StandaloneStyle, Naming, WrittenChecks),
    ) -> Result<StandaloneBody, Error> {
        let slots = slots_in_order(system, steps);
        let taken = names_in_use(system, steps);
        let builtins = system
            .context
            .python
            .import("builtins")
            .map(Bound::into_any)
            .ok();
        let is_taken = |name: &str| {
            taken.iter().any(|taken| taken == name)
                || builtins
                    .as_ref()
                    .is_some_and(|builtins| builtins.hasattr(name).unwrap_or(false))
        };
        let variables = Variables::new(&system.context.harness, &slots, naming, is_taken);
        let mut body = StandaloneBody {
            lines: Vec::new(),
            cleanup_lines: Vec::new(),
            step_starts: Vec::new(),
            checks_start: None,
            failing: None,
            naming,
            failure_message: trace
                .failure()
                .map(|failure| with_variables(system, &variables, &slots, &failure.message)),
            needs_suppress: false,
            needs_pytest: false,
            is_child_process: false,
            resets_modules: false,
            style,
            checks,
            writes_reference: trace
                .failure()
                .is_none_or(|failure| involves_reference(system, steps, failure)),
        };
        let outside = names_from_outside(system, steps);
        let names = VariableWriter {
            system,
            variables: &variables,
            slots: &slots,
            outside: &outside,
        };
        body.write_inits(&names);
        let failure = trace.failure();
        for (number, record) in steps.iter().enumerate() {
            body.step_starts.push(body.lines.len());
            let Step::Act(action) = record.step else {
                body.write_restart(&names);
                continue;
            };
            body.write_guard(&names, action);
            match failure {
                Some(failure) if number + 1 == steps.len() => {
                    let start = body.lines.len();
                    body.write_failing_step(&names, action, record, failure)?;
                    let end = body.lines.len();
                    let start = if body.fails_in_check(system) {
                        end - 1
                    } else {
                        start
                    };
                    body.failing = Some(start..end);
                    continue;
                }
                Some(_) => body.write_step(&names, action, record)?,
                None => body.write_checked_step(&names, action, record)?,
            }
            let is_end = failure.is_none() && number + 1 == steps.len();
            if is_end || body.checks == WrittenChecks::AfterEachStep {
                body.write_properties(&names, &record.filled, None);
            }
        }
        let finallys = names.system.context.harness.finallys.iter();
        let cleaning = finallys.flat_map(|line| names.combinations(line, |_, _| true));
        body.cleanup_lines = cleaning
            .flat_map(|statement| suppressed(&statement))
            .collect();
        Ok(body)
    }

    /// Returns true if the last line is the check that fails, and nothing before it raises.
    fn fails_in_check(&self, system: &PythonSystem<'_>) -> bool {
        self.checks_start.is_some()
            && match &system.last_failure {
                Some(LastFailure::Check(_)) => true,
                Some(LastFailure::Step(error)) => system.is_false_check(error),
                None => false,
            }
    }

    /// Returns lines of the body followed by the clean-up code.
    fn finished(&self, lines: &[String]) -> Vec<String> {
        let mut all = lines.to_vec();
        if all.is_empty() {
            all.push(String::from("pass"));
        }
        if !self.cleanup_lines.is_empty() {
            all = all.iter().map(|line| indent(line)).collect();
            all.insert(0, String::from("try:"));
            all.push(String::from("finally:"));
            all.extend(self.cleanup_lines.iter().map(|line| indent(line)));
        }
        all
    }

    /// Adds the clean-up code. Returns the body without the step that fails, if one does.
    pub(super) fn finish(&mut self) -> Option<Vec<String>> {
        self.needs_suppress |= !self.cleanup_lines.is_empty();
        let before = self.failing.as_ref().map(|failing| failing.start);
        let before = before.map(|end| self.finished(&self.lines[..end]));
        self.lines = self.finished(&self.lines);
        if let (Some(failing), false) = (&mut self.failing, self.cleanup_lines.is_empty()) {
            *failing = failing.start + 1..failing.end + 1;
        }
        before
    }

    /// Returns the position of the failing lines in a text that contains the lines of the body from
    /// this line on, where the first line is 1.
    pub(super) fn failing_lines(&self, first: usize) -> Option<Range<usize>> {
        let failing = self.failing.clone()?;
        let height = |lines: &[String]| -> usize {
            let height = |line: &String| line.matches('\n').count() + 1;
            lines.iter().map(height).sum()
        };
        let start = first + height(&self.lines[..failing.start]);
        Some(start..start + height(&self.lines[failing]))
    }

    /// Returns the lines before the first step.
    pub(super) fn before(&self) -> &[String] {
        let end = self
            .step_starts
            .first()
            .copied()
            .unwrap_or(self.lines.len());
        self.lines.get(..end).unwrap_or_default()
    }

    /// Returns the lines of each step.
    pub(super) fn steps(&self) -> Vec<Vec<String>> {
        let end = self.checks_start.unwrap_or(self.lines.len());
        let ends = self.step_starts.iter().skip(1).copied().chain([end]);
        let each = self.step_starts.iter().zip(ends);
        let lines = |(start, end): (&usize, usize)| {
            self.lines.get(*start..end).unwrap_or_default().to_vec()
        };
        each.map(lines).collect()
    }

    /// Returns the checks after the last step.
    pub(super) fn check(&self) -> &[String] {
        let start = self.checks_start.unwrap_or(self.lines.len());
        self.lines.get(start..).unwrap_or_default()
    }

    /// Writes the `init:` lines.
    fn write_inits(&mut self, names: &VariableWriter<'_, '_>) {
        for line in &names.system.context.harness.inits {
            self.lines.extend(names.combinations(line, |_, _| true));
        }
    }

    /// Writes a restart within a test.
    fn write_restart(&mut self, names: &VariableWriter<'_, '_>) {
        self.lines.push(String::new());
        self.lines.push(String::from("# Everything is reset here."));
        let finallys = names.system.context.harness.finallys.iter();
        let cleaning = finallys.flat_map(|line| names.combinations(line, |_, _| true));
        for statement in cleaning {
            self.needs_suppress = true;
            self.lines.extend(suppressed(&statement));
        }
        if !names.system.modules.names().is_empty() {
            self.resets_modules = true;
            self.lines.push(String::from("reset_modules()"));
        }
        self.write_inits(names);
    }

    /// Writes a step that passes: the statement, and the reference's so that it stays in the same
    /// state.
    fn write_step(
        &mut self,
        names: &VariableWriter<'_, '_>,
        action: ActionId,
        record: &StepRecord,
    ) -> Result<(), Error> {
        let texts = names.texts(action)?;
        match &record.raised {
            // The check after the statement raised, not the statement.
            Some(raised) if raised.starts_with("PostConditionFailed") => {
                self.lines.push(texts.statement)
            }
            Some(raised) => {
                let mut attempt = pre_values(names, action);
                attempt.push(texts.statement);
                self.write_raising(&attempt, &expected_class(names, action, raised));
            }
            None => {
                self.lines.push(texts.statement);
                self.lines.extend(tail(names, action));
            }
        }
        // Without a twin in its code, the reference acts on the system's own slots.
        let acts_on_system = |reference: &String| !reference.contains("_reference");
        if let Some(reference) = texts
            .reference
            .filter(|text| self.writes_reference || acts_on_system(text))
        {
            if record.reference_raised {
                self.needs_suppress = true;
                self.lines.extend(suppressed(&reference));
            } else {
                self.lines.push(reference)
            }
        }
        Ok(())
    }

    /// Writes a step of a passing test with the checks of its line, so that the test is worth
    /// keeping.
    fn write_checked_step(
        &mut self,
        names: &VariableWriter<'_, '_>,
        action: ActionId,
        record: &StepRecord,
    ) -> Result<(), Error> {
        let harness = &names.system.context.harness;
        let line = &harness.actions[harness.catalog.template_of(action).0];
        let raised = record.raised.is_some() || record.reference_raised;
        if !raised && names.texts(action)?.compared {
            self.write_comparison(names, action)
        } else if !raised && line.post.is_some() && !line.post_mentions_reference {
            self.write_post_condition(names, action)?;
            self.lines.extend(names.texts(action)?.reference);
            Ok(())
        } else {
            self.write_step(names, action, record)
        }
    }

    /// Writes the guard of an action, which holds.
    fn write_guard(&mut self, names: &VariableWriter<'_, '_>, action: ActionId) {
        if self.checks == WrittenChecks::Failing {
            return;
        }
        let harness = &names.system.context.harness;
        let (template, values) = harness.catalog.values(action);
        let line = &harness.actions[template.0];
        if let Some(guard) = &line.guard {
            let guard = names.code(guard, &line.axes, &values);
            self.lines.push(assertion(&guard, None));
        }
    }

    /// Writes the properties that hold for these slots, up to the one that is violated.
    fn write_properties(
        &mut self,
        names: &VariableWriter<'_, '_>,
        filled: &[(PoolId, u32)],
        violated: Option<(usize, &str)>,
    ) {
        let harness = &names.system.context.harness;
        for (number, property) in harness.properties.iter().enumerate() {
            let violated = violated.filter(|violated| violated.0 <= number);
            if violated.is_some_and(|violated| violated.0 < number) {
                return;
            }
            let mut classes: Vec<&str> = Vec::new();
            classes.extend(harness.exceptions.iter().map(|class| class.text.as_str()));
            classes.extend(property.expected.iter().map(String::as_str));
            if !classes.is_empty() && self.checks == WrittenChecks::Failing {
                continue;
            }
            let is_filled = |pool, slot| filled.contains(&(pool, slot));
            for condition in names.combinations(&property.line, is_filled) {
                if violated.is_some_and(|violated| violated.1 == condition) {
                    return;
                }
                let check = assertion(&condition, None);
                if classes.is_empty() {
                    self.lines.push(check);
                } else {
                    self.needs_suppress = true;
                    self.lines
                        .push(format!("with contextlib.suppress({}):", classes.join(", ")));
                    self.lines.push(indent(&check));
                }
            }
        }
    }

    /// Writes a statement that must raise.
    fn write_raising(&mut self, attempt: &[String], class: &str) {
        let attempt = attempt.iter().map(|line| indent(line));
        match self.style {
            StandaloneStyle::Pytest => {
                self.needs_pytest = true;
                self.lines.push(format!("with pytest.raises({class}):"));
                self.lines.extend(attempt);
            }
            StandaloneStyle::Unittest => {
                self.lines.push(format!("with self.assertRaises({class}):"));
                self.lines.extend(attempt);
            }
            StandaloneStyle::Script => {
                self.lines.push(String::from("try:"));
                self.lines.extend(attempt);
                self.lines.push(format!("except {class}:"));
                self.lines.push(indent("pass"));
                self.lines.push(String::from("else:"));
                self.lines.push(indent(&format!(
                    "raise AssertionError(\"did not raise {}\")",
                    class.replace('"', "'")
                )));
            }
        }
    }

    /// Writes the last step and the check that fails.
    fn write_failing_step(
        &mut self,
        names: &VariableWriter<'_, '_>,
        action: ActionId,
        record: &StepRecord,
        failure: &Failure,
    ) -> Result<(), Error> {
        match failure.kind {
            FailureKind::UncaughtException => self.write_uncaught(names, action, failure)?,
            FailureKind::Property => {
                self.write_step(names, action, record)?;
                self.checks_start = Some(self.lines.len());
                if let Some(LastFailure::Check(Violation::Property(number, values, _))) =
                    &names.system.last_failure
                {
                    let property = &names.system.context.harness.properties[*number];
                    let text = names.code(&property.line.code, &property.line.axes, values);
                    if self.checks == WrittenChecks::AfterEachStep {
                        self.write_properties(names, &record.filled, Some((*number, &text)));
                    }
                    let message = property
                        .message
                        .as_ref()
                        .map(|message| names.code(message, &property.line.axes, values));
                    self.lines.push(assertion(&text, message.as_deref()));
                }
            }
            FailureKind::PoolType => {
                self.write_step(names, action, record)?;
                self.checks_start = Some(self.lines.len());
                if let Some(LastFailure::Check(Violation::Type(pool, slot))) =
                    &names.system.last_failure
                {
                    let wanted = names
                        .system
                        .context
                        .harness
                        .pool(*pool)
                        .type_name
                        .clone()
                        .unwrap_or_default();
                    self.lines.push(format!(
                        "assert type({}) == {wanted}",
                        names.variables.name(*pool, *slot, false)
                    ));
                }
            }
            FailureKind::PostCondition => {
                self.write_post_condition(names, action)?;
                // The check is its last line.
                self.checks_start = self.lines.len().checked_sub(1);
            }
            FailureKind::ReferenceMismatch => self.write_comparison(names, action)?,
            FailureKind::ExceptionMismatch => self.write_exception_mismatch(names, action)?,
            // The failure shows when the file runs: in the step, or in a check after it.
            FailureKind::Crash | FailureKind::Hang
                if self.checks == WrittenChecks::AfterEachStep =>
            {
                self.write_checked_step(names, action, record)?;
                self.write_properties(names, &record.filled, None);
            }
            // Harnesses have no model, so the last kind does not occur.
            FailureKind::Crash | FailureKind::Hang | FailureKind::ModelMismatch => {
                self.write_step(names, action, record)?;
            }
        }
        Ok(())
    }

    /// Writes the step that raises an unexpected exception.
    fn write_uncaught(
        &mut self,
        names: &VariableWriter<'_, '_>,
        action: ActionId,
        failure: &Failure,
    ) -> Result<(), Error> {
        let harness = &names.system.context.harness;
        let line = &harness.actions[harness.catalog.template_of(action).0];
        if line.post.is_some() && !line.post_mentions_raised && !line.post_mentions_reference {
            // The condition may be what raises, or a value it needs from before.
            return self.write_post_condition(names, action);
        }
        let statement = names.texts(action)?.statement;
        if self.style == StandaloneStyle::Script && failure.message.starts_with("SystemExit") {
            self.lines
                .extend([String::from("try:"), indent(&statement)]);
            self.lines
                .push(String::from("except SystemExit as leaving:"));
            self.lines.push(indent(
                "raise AssertionError(\"the system ends the program\") from leaving",
            ));
            return Ok(());
        }
        // An assertion needs no comment about what it raises.
        let note = if statement.starts_with("assert") {
            String::new()
        } else {
            format!(
                "  # raises {}",
                failure.message.split(" in `").next().unwrap_or_default()
            )
        };
        self.lines.push(format!("{statement}{note}"));
        self.lines.extend(tail(names, action));
        Ok(())
    }

    /// Writes the comparison of a result with the reference's.
    fn write_comparison(
        &mut self,
        names: &VariableWriter<'_, '_>,
        action: ActionId,
    ) -> Result<(), Error> {
        let texts = names.texts(action)?;
        let reference = texts.reference.unwrap_or_default();
        let is_whole = self.naming == Naming::Short;
        if is_whole && is_expression(&texts.statement) && is_expression(&reference) {
            self.lines
                .push(format!("assert {} == {reference}", texts.statement));
            return Ok(());
        }
        for (statement, name) in [(texts.statement, "result"), (reference, "expected")] {
            let (statement, value) = with_result(&statement, name);
            self.lines.push(statement);
            self.lines.extend(value);
        }
        self.checks_start = Some(self.lines.len());
        self.lines.push(String::from("assert result == expected"));
        Ok(())
    }

    /// Writes a step whose exception differs from the reference's.
    fn write_exception_mismatch(
        &mut self,
        names: &VariableWriter<'_, '_>,
        action: ActionId,
    ) -> Result<(), Error> {
        let statement = names.texts(action)?.statement;
        let python = names.system.context.python;
        let wanted = match &names.system.last_failure {
            Some(LastFailure::Step(error)) => error
                .value(python)
                .getattr("reference_raised")
                .ok()
                .filter(|raised| !raised.is_none())
                .and_then(|raised| raised.get_type().name().ok().map(|name| name.to_string())),
            _ => None,
        };
        match wanted {
            Some(wanted) => {
                // The class may not be available by its bare name here; it matters only that
                // something is raised.
                let known = python
                    .import("builtins")
                    .is_ok_and(|builtins| builtins.hasattr(wanted.as_str()).unwrap_or(false));
                self.write_raising(&[statement], if known { &wanted } else { "Exception" });
            }
            None => self
                .lines
                .push(format!("{statement}  # the reference does not raise here")),
        }
        Ok(())
    }

    /// Writes a step with its post-condition or expect check.
    fn write_post_condition(
        &mut self,
        names: &VariableWriter<'_, '_>,
        action: ActionId,
    ) -> Result<(), Error> {
        let (template, values) = names.system.context.harness.catalog.values(action);
        let line = &names.system.context.harness.actions[template.0];
        let code = |fragment: &Fragment| {
            names.rename_locals(action, &names.code(fragment, &line.axes, &values))
        };
        let texts = names.texts(action)?;
        self.lines.extend(pre_values(names, action));
        if let Some(expect) = &line.expect {
            let arguments = code(&expect.arguments);
            let all = if arguments.trim().is_empty() {
                String::new()
            } else {
                format!(", {arguments}")
            };
            let name = &expect.name;
            self.lines
                .push(format!("before = {name}_before({arguments})"));
            self.lines.push(texts.statement);
            self.lines
                .push(format!("after = {name}_after({arguments})"));
            self.lines
                .push(format!("assert {name}_check(before, after{all}) == True"));
            return Ok(());
        }
        let (statement, value) = if line.post_mentions_reference {
            with_result(&texts.statement, "result")
        } else {
            (texts.statement.clone(), None)
        };
        if line.post_mentions_raised || line.post_mentions_reference {
            self.lines.push(String::from("raised = None"));
            self.lines
                .extend(catching(&statement, value.as_deref(), "raised"));
        } else {
            self.lines.push(statement);
        }
        if let Some(reference) = texts
            .reference
            .filter(|_| line.post_mentions_reference || texts.compared)
        {
            self.lines.push(String::from("refRaised = None"));
            let (reference, value) = with_result(&reference, "result_REF");
            self.lines
                .extend(catching(&reference, value.as_deref(), "refRaised"));
        }
        if let Some(post) = &line.post {
            self.lines.push(assertion(
                &code(post),
                line.post_message.as_ref().map(code).as_deref(),
            ));
        }
        Ok(())
    }
}

/// Returns assignments for the values that a post-condition needs from before the step.
fn pre_values(names: &VariableWriter<'_, '_>, action: ActionId) -> Vec<String> {
    let (template, values) = names.system.context.harness.catalog.values(action);
    let line = &names.system.context.harness.actions[template.0];
    let assignment = |(number, value): (usize, &Fragment)| {
        format!(
            "{} = {}",
            before_name(number),
            names.code(value, &line.axes, &values)
        )
    };
    line.pre_values
        .iter()
        .enumerate()
        .rev()
        .map(assignment)
        .collect()
}

/// Returns the statements after the post-condition of an action, unless they need values that only
/// the post-condition has.
fn tail(names: &VariableWriter<'_, '_>, action: ActionId) -> Option<String> {
    let (template, values) = names.system.context.harness.catalog.values(action);
    let line = &names.system.context.harness.actions[template.0];
    let tail = line.post_tail.as_ref()?;
    let needs_pre = tail
        .parts
        .iter()
        .any(|part| matches!(part, CodePart::Pre(_)));
    let is_plain = !needs_pre && !line.post_mentions_raised && !line.post_mentions_reference;
    is_plain.then(|| names.rename_locals(action, &names.code(tail, &line.axes, &values)))
}

/// Returns true if a failure can only be seen with the reference beside the system.
fn involves_reference(system: &PythonSystem<'_>, steps: &[StepRecord], failure: &Failure) -> bool {
    let harness = &system.context.harness;
    let has_twin = |fragment: &Fragment| {
        fragment
            .parts
            .iter()
            .any(|part| matches!(part, CodePart::Slot { twin: true, .. }))
    };
    let any_twin = steps.iter().any(|record| match record.step {
        Step::Act(action) => {
            let line = &harness.actions[harness.catalog.template_of(action).0];
            line.post_mentions_reference
                || has_twin(&line.statement)
                || line.post.as_ref().is_some_and(has_twin)
        }
        Step::Restart => false,
    });
    let property = match &system.last_failure {
        Some(LastFailure::Check(Violation::Property(number, ..))) => {
            has_twin(&harness.properties[*number].line.code)
        }
        _ => false,
    };
    let compared = failure.kind == FailureKind::ReferenceMismatch;
    compared || any_twin || property
}

/// Returns a statement whose exceptions are suppressed.
fn suppressed(statement: &str) -> [String; 2] {
    [
        String::from("with contextlib.suppress(Exception):"),
        indent(statement),
    ]
}

/// Returns a statement that stores its exception in a variable.
fn catching(statement: &str, value: Option<&str>, name: &str) -> Vec<String> {
    let mut lines = vec![String::from("try:"), indent(statement)];
    lines.extend(value.map(indent));
    lines.extend([
        String::from("except Exception as error:"),
        indent(&format!("{name} = error")),
    ]);
    lines
}

/// Returns an `assert` statement.
fn assertion(condition: &str, message: Option<&str>) -> String {
    match message {
        Some(message) => format!("assert {condition}, {message}"),
        None => format!("assert {condition}"),
    }
}

/// Returns a line indented by one level; empty lines stay empty.
fn indent(line: &str) -> String {
    if line.is_empty() {
        String::new()
    } else {
        format!("    {line}")
    }
}

/// Returns true if a statement is a single expression.
fn is_expression(statement: &str) -> bool {
    use testwright_source::StatementForm;
    testwright_source::statements(statement).is_ok_and(
        |parts| matches!(parts.as_slice(), [only] if matches!(only.form, StatementForm::Expression)),
    )
}

/// Returns the class that was raised, out of those that a line expects.
fn expected_class(names: &VariableWriter<'_, '_>, action: ActionId, raised: &str) -> String {
    let harness = &names.system.context.harness;
    let (template, _) = harness.catalog.values(action);
    let line = &harness.actions[template.0];
    let globally = harness.exceptions.iter().map(|exception| &exception.text);
    let classes: Vec<&String> = globally
        .chain(&line.expected)
        .chain(&line.warnings)
        .collect();
    let type_name = raised.split(':').next().unwrap_or(raised);
    let exact = classes
        .iter()
        .find(|class| class.rsplit('.').next() == Some(type_name));
    match (exact, classes.as_slice()) {
        (Some(class), _) => class.to_string(),
        (None, [only]) => only.to_string(),
        (None, all) => format!(
            "({})",
            all.iter()
                .map(|class| class.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        ),
    }
}
