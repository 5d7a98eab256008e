//! The steps of a test as lines of Python.

use pyo3::prelude::*;
use testwright_core::{ActionId, Axis, Error, Failure, FailureKind, PoolId, Step, Trace};
use testwright_lang::harness::{Fragment, Line, Part};

use super::Style;
use super::variables::Variables;
use crate::checks::Violation;
use crate::functions::with_result;
use crate::system::{LastFailure, PythonSystem};

/// What happened at one step.
pub(super) struct StepRecord {
    pub(super) step: Step,
    /// The expected exception it raised, as text.
    pub(super) raised: Option<String>,
    /// The reference raised.
    pub(super) reference_raised: bool,
}

/// The body of the test function.
pub(super) struct Body {
    pub(super) lines: Vec<String>,
    /// What fails, in terms of the variables.
    pub(super) complaint: Option<String>,
    pub(super) needs_suppress: bool,
    pub(super) needs_pytest: bool,
    style: Style,
    /// The reference has a part in the failure, so it must keep up.
    mirrored: bool,
}

impl Body {
    pub(super) fn write(
        system: &PythonSystem<'_>,
        steps: &[StepRecord],
        trace: &Trace,
        style: Style,
    ) -> Result<Body, Error> {
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
        let variables = Variables::new(&system.context.harness, &slots, is_taken);
        let mut body = Body {
            lines: Vec::new(),
            complaint: trace
                .failure()
                .map(|failure| with_variables(system, &variables, &slots, &failure.message)),
            needs_suppress: false,
            needs_pytest: false,
            style,
            mirrored: trace
                .failure()
                .is_none_or(|failure| involves_reference(system, steps, failure)),
        };
        let names = Names {
            system,
            variables: &variables,
            slots: &slots,
        };
        body.write_inits(&names);
        let failure = trace.failure();
        for (number, record) in steps.iter().enumerate() {
            let Step::Act(action) = record.step else {
                body.write_restart(&names);
                continue;
            };
            match failure {
                Some(failure) if number + 1 == steps.len() => {
                    body.write_failing_step(&names, action, record, failure)?
                }
                _ => body.write_step(&names, action, record)?,
            }
        }
        body.write_finallys(&names);
        if body.lines.is_empty() {
            body.lines.push(String::from("pass"));
        }
        Ok(body)
    }

    fn write_inits(&mut self, names: &Names<'_, '_>) {
        for line in &names.system.context.harness.inits {
            self.lines.extend(names.combinations(line));
        }
    }

    fn write_finallys(&mut self, names: &Names<'_, '_>) {
        let cleaning: Vec<String> = names
            .system
            .context
            .harness
            .finallys
            .iter()
            .flat_map(|line| names.combinations(line))
            .collect();
        if cleaning.is_empty() {
            return;
        }
        let body = std::mem::take(&mut self.lines);
        self.lines.push(String::from("try:"));
        self.lines.extend(body.iter().map(|line| indent(line)));
        self.lines.push(String::from("finally:"));
        for statement in cleaning {
            self.suppressed(1, &statement);
        }
    }

    fn write_restart(&mut self, names: &Names<'_, '_>) {
        self.lines.push(String::new());
        self.lines
            .push(String::from("# From here on everything starts anew."));
        let namespace = &names.system.context.namespace;
        for module in &names.system.context.harness.raw.reset_modules {
            // One that is imported in a block may not be there.
            let first = module.text.split('.').next().unwrap_or_default();
            if namespace.contains(first).unwrap_or(false) {
                self.lines
                    .push(format!("importlib.reload({})", module.text));
            }
        }
        self.write_inits(names);
    }

    fn suppressed(&mut self, depth: usize, statement: &str) {
        self.needs_suppress = true;
        let margin = "    ".repeat(depth);
        self.lines
            .push(format!("{margin}with contextlib.suppress(Exception):"));
        self.lines.push(format!("{margin}    {statement}"));
    }

    /// A step that passes: the statement, and the reference's so that it keeps up.
    fn write_step(
        &mut self,
        names: &Names<'_, '_>,
        action: ActionId,
        record: &StepRecord,
    ) -> Result<(), Error> {
        let texts = names.texts(action)?;
        match &record.raised {
            Some(raised) => {
                self.write_raising(&texts.statement, &expected_class(names, action, raised))
            }
            None => {
                self.lines.push(texts.statement);
                self.lines.extend(tail(names, action));
            }
        }
        // Without a twin in it, the reference acts on the system's own slots.
        let acts_on_system = |reference: &String| !reference.contains("_reference");
        if let Some(reference) = texts
            .reference
            .filter(|text| self.mirrored || acts_on_system(text))
        {
            match record.reference_raised {
                true => self.suppressed(0, &reference),
                false => self.lines.push(reference),
            }
        }
        Ok(())
    }

    /// A statement that must raise.
    fn write_raising(&mut self, statement: &str, class: &str) {
        match self.style {
            Style::Pytest => {
                self.needs_pytest = true;
                self.lines.push(format!("with pytest.raises({class}):"));
                self.lines.push(indent(statement));
            }
            Style::Unittest => {
                self.lines.push(format!("with self.assertRaises({class}):"));
                self.lines.push(indent(statement));
            }
            Style::Script => {
                self.lines.push(String::from("try:"));
                self.lines.push(indent(statement));
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

    /// The last step, and the check that fails.
    fn write_failing_step(
        &mut self,
        names: &Names<'_, '_>,
        action: ActionId,
        record: &StepRecord,
        failure: &Failure,
    ) -> Result<(), Error> {
        match failure.kind {
            FailureKind::UncaughtException => {
                let first_line = failure.message.lines().next().unwrap_or_default();
                self.lines.push(format!(
                    "{}  # raises {first_line}",
                    names.texts(action)?.statement
                ));
                self.lines.extend(tail(names, action));
            }
            FailureKind::Property => {
                self.write_step(names, action, record)?;
                if let Some(LastFailure::Check(Violation::Property(number, values))) =
                    &names.system.last_failure
                {
                    let property = &names.system.context.harness.properties[*number];
                    let text = names.code(&property.line.code, &property.line.axes, values);
                    let message = property
                        .message
                        .as_ref()
                        .map(|message| names.code(message, &property.line.axes, values));
                    self.lines.push(assertion(&text, message.as_deref()));
                }
            }
            FailureKind::PoolType => {
                self.write_step(names, action, record)?;
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
            FailureKind::PostCondition => self.write_post_condition(names, action)?,
            FailureKind::ReferenceMismatch => self.write_comparison(names, action)?,
            FailureKind::ExceptionMismatch => self.write_exception_mismatch(names, action)?,
        }
        Ok(())
    }

    fn write_comparison(&mut self, names: &Names<'_, '_>, action: ActionId) -> Result<(), Error> {
        let texts = names.texts(action)?;
        let reference = texts.reference.unwrap_or_default();
        if is_expression(&texts.statement) && is_expression(&reference) {
            self.lines
                .push(format!("assert {} == {reference}", texts.statement));
            return Ok(());
        }
        for (statement, name) in [(texts.statement, "result"), (reference, "expected")] {
            let (statement, value) = with_result(&statement, name);
            self.lines.push(statement);
            self.lines.extend(value);
        }
        self.lines.push(String::from("assert result == expected"));
        Ok(())
    }

    fn write_exception_mismatch(
        &mut self,
        names: &Names<'_, '_>,
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
                // The class may not be known by its bare name here; what matters is that something is raised.
                let known = python
                    .import("builtins")
                    .is_ok_and(|builtins| builtins.hasattr(wanted.as_str()).unwrap_or(false));
                self.write_raising(&statement, if known { &wanted } else { "Exception" });
            }
            None => self
                .lines
                .push(format!("{statement}  # the reference does not raise here")),
        }
        Ok(())
    }

    fn write_post_condition(
        &mut self,
        names: &Names<'_, '_>,
        action: ActionId,
    ) -> Result<(), Error> {
        let (template, values) = names.system.context.harness.catalog.values(action);
        let line = &names.system.context.harness.actions[template.0];
        let code = |fragment: &Fragment| names.code(fragment, &line.axes, &values);
        let texts = names.texts(action)?;
        for (number, value) in line.pre_values.iter().enumerate().rev() {
            self.lines
                .push(format!("{} = {}", before_name(number), code(value)));
        }
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
                .push(format!("assert {name}_check(before, after{all})"));
            return Ok(());
        }
        let (statement, value) = match line.post_mentions_reference {
            true => with_result(&texts.statement, "result"),
            false => (texts.statement.clone(), None),
        };
        if line.post_mentions_raised || line.post_mentions_reference {
            self.lines.push(String::from("raised = None"));
            self.lines
                .extend(caught(&statement, value.as_deref(), "raised"));
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
                .extend(caught(&reference, value.as_deref(), "refRaised"));
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

/// The statements behind the post-condition of an action, unless they need what only the post-condition knows.
fn tail(names: &Names<'_, '_>, action: ActionId) -> Option<String> {
    let (template, values) = names.system.context.harness.catalog.values(action);
    let line = &names.system.context.harness.actions[template.0];
    let tail = line.post_tail.as_ref()?;
    let needs_pre = tail.parts.iter().any(|part| matches!(part, Part::Pre(_)));
    let is_plain = !needs_pre && !line.post_mentions_raised && !line.post_mentions_reference;
    is_plain.then(|| names.code(tail, &line.axes, &values))
}

/// A message with the names of variables for those of slots.
fn with_variables(
    system: &PythonSystem<'_>,
    variables: &Variables,
    slots: &[(PoolId, u32)],
    message: &str,
) -> String {
    let name_of = |word: &str| {
        slots.iter().find_map(|(pool, slot)| {
            let names = system.context.harness.catalog.pool(*pool);
            let twin = names.twin_name(*slot) == word;
            (twin || names.slot_name(*slot) == word).then(|| variables.name(*pool, *slot, twin))
        })
    };
    let is_part_of_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut text = String::new();
    let mut rest = message;
    while let Some(start) = rest.find(is_part_of_word) {
        let end = rest[start..]
            .find(|character| !is_part_of_word(character))
            .map_or(rest.len(), |length| start + length);
        text.push_str(&rest[..start]);
        text.push_str(&name_of(&rest[start..end]).unwrap_or_else(|| rest[start..end].to_owned()));
        rest = &rest[end..];
    }
    text + rest
}

/// Whether a failure can only be seen with the reference beside the system.
fn involves_reference(system: &PythonSystem<'_>, steps: &[StepRecord], failure: &Failure) -> bool {
    let harness = &system.context.harness;
    let has_twin = |fragment: &Fragment| {
        fragment
            .parts
            .iter()
            .any(|part| matches!(part, Part::Slot { twin: true, .. }))
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
        Some(LastFailure::Check(Violation::Property(number, _))) => {
            has_twin(&harness.properties[*number].line.code)
        }
        _ => false,
    };
    let compared = matches!(
        failure.kind,
        FailureKind::ReferenceMismatch | FailureKind::ExceptionMismatch
    );
    compared || any_twin || property
}

/// An attempt that keeps the exception.
fn caught(statement: &str, value: Option<&str>, name: &str) -> Vec<String> {
    let mut lines = vec![String::from("try:"), indent(statement)];
    lines.extend(value.map(indent));
    lines.extend([
        String::from("except Exception as error:"),
        indent(&format!("{name} = error")),
    ]);
    lines
}

fn assertion(condition: &str, message: Option<&str>) -> String {
    match message {
        Some(message) => format!("assert {condition}, {message}"),
        None => format!("assert {condition}"),
    }
}

fn indent(line: &str) -> String {
    if line.is_empty() {
        String::new()
    } else {
        format!("    {line}")
    }
}

fn before_name(number: usize) -> String {
    match number {
        0 => String::from("before"),
        _ => format!("before{}", number + 1),
    }
}

fn is_expression(statement: &str) -> bool {
    use testwright_source::Shape;
    testwright_source::statements(statement).is_ok_and(
        |parts| matches!(parts.as_slice(), [only] if matches!(only.shape, Shape::Expression)),
    )
}

/// Of the classes a line expects, the one that was raised.
fn expected_class(names: &Names<'_, '_>, action: ActionId, raised: &str) -> String {
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

/// The texts of a step with variables for slots.
struct StepTexts {
    statement: String,
    reference: Option<String>,
    compared: bool,
}

/// Writes code with variables for slots.
struct Names<'a, 'py> {
    system: &'a PythonSystem<'py>,
    variables: &'a Variables,
    slots: &'a [(PoolId, u32)],
}

impl Names<'_, '_> {
    fn texts(&self, action: ActionId) -> Result<StepTexts, Error> {
        let texts = self.system.concrete_texts(action)?;
        let named = |text: &str| {
            self.system
                .with_slot_names(text, |pool, slot, twin| {
                    self.variables.name(pool, slot, twin)
                })
                .trim()
                .to_owned()
        };
        Ok(StepTexts {
            statement: named(&texts.statement),
            reference: texts.reference.as_deref().map(named),
            compared: texts.compared,
        })
    }

    fn code(&self, fragment: &Fragment, axes: &[Axis], values: &[u64]) -> String {
        let text = fragment.render(|part| match part {
            Part::Slot { axis, twin, .. } => match &axes[*axis] {
                Axis::Slot { pool, .. } => self.variables.name(*pool, values[*axis] as u32, *twin),
                _ => String::new(),
            },
            Part::Choice { axis, .. } => match &axes[*axis] {
                Axis::Choice(choice) => choice.text(values[*axis]).into_owned(),
                _ => String::new(),
            },
            Part::Pre(number) => before_name(*number),
            Part::Text(text) => text.clone(),
        });
        text.trim().to_owned()
    }

    /// A keyword line for all combinations of the slots that occur in the test.
    fn combinations(&self, line: &Line) -> Vec<String> {
        let mut all = vec![Vec::new()];
        for axis in &line.axes {
            let choices: Vec<u64> = match axis {
                Axis::Slot { pool, .. } => self
                    .slots
                    .iter()
                    .filter(|slot| slot.0 == *pool)
                    .map(|slot| u64::from(slot.1))
                    .collect(),
                Axis::Choice(choice) => (0..choice.len()).collect(),
                Axis::Repeat(_) => vec![0],
            };
            all = all
                .iter()
                .flat_map(|values: &Vec<u64>| {
                    choices
                        .iter()
                        .map(move |choice| [values.as_slice(), &[*choice]].concat())
                })
                .collect();
        }
        all.iter()
            .map(|values| self.code(&line.code, &line.axes, values))
            .collect()
    }
}

/// Every slot that the test, or the property it violates, names, in order of first mention.
fn slots_in_order(system: &PythonSystem<'_>, steps: &[StepRecord]) -> Vec<(PoolId, u32)> {
    let mut slots = Vec::new();
    let mut add = |slot: (PoolId, u32)| {
        if !slots.contains(&slot) {
            slots.push(slot);
        }
    };
    for record in steps {
        if let Step::Act(action) = record.step {
            system
                .context
                .harness
                .catalog
                .slots(action)
                .iter()
                .for_each(|slot| add((slot.0, slot.1)));
        }
    }
    if let Some(LastFailure::Check(Violation::Property(number, values))) = &system.last_failure {
        let axes = &system.context.harness.properties[*number].line.axes;
        for (axis, value) in axes.iter().zip(values) {
            if let Axis::Slot { pool, .. } = axis {
                add((*pool, *value as u32));
            }
        }
    }
    slots
}

/// Names that mean something in the code of the test, which variables must not hide.
fn names_in_use(system: &PythonSystem<'_>, steps: &[StepRecord]) -> Vec<String> {
    let mut taken = Vec::new();
    for record in steps {
        let Step::Act(action) = record.step else {
            continue;
        };
        let Ok(texts) = system.concrete_texts(action) else {
            continue;
        };
        for text in std::iter::once(&texts.statement).chain(&texts.reference) {
            if let Ok(names) = testwright_source::names(text.trim()) {
                taken.extend(names.reads);
                taken.extend(names.binds);
            }
        }
    }
    let defined =
        testwright_source::definitions(&system.context.harness.raw.text).unwrap_or_default();
    taken.extend(
        defined
            .into_iter()
            .flat_map(|definition| definition.defines),
    );
    taken.extend(["before", "after", "raised", "result", "expected"].map(String::from));
    taken
}
