//! Action lines as functions: compiled when first needed, one per textual alternative.

use std::collections::BTreeSet;
use std::rc::Rc;

use pyo3::prelude::*;
use testwright_core::{ActionId, TemplateId};
use testwright_lang::Harness;
use testwright_lang::harness::{Action, Fragment, Part};

use crate::assignment::Assignment;
use crate::by_key::ByKey;
use crate::call::{self, Attempt, Operands};
use crate::context::Context;
use crate::failures::Raised;
use crate::functions::{self, FunctionText, ReferenceCode};
use crate::mirror::Mirror;
use crate::options::ReferenceExceptions;
use crate::plan::{Plan, Writer};

/// All actions of a harness.
pub(crate) struct Actions<'py> {
    templates: Vec<TemplateCode<'py>>,
    variants: Vec<Variant<'py>>,
    global_exceptions: Vec<String>,
    reference_exceptions: ReferenceExceptions,
    has_after_hook: bool,
    arguments: Vec<Bound<'py, PyAny>>,
}

struct TemplateCode<'py> {
    /// Shared by neighbours that are alike.
    plan: Rc<Plan>,
    /// By textual alternatives.
    variants: ByKey<VariantId>,
    /// The axes that its conditions mention, if that leaves any out.
    deciding: Option<Vec<usize>>,
    operands: Operands<'py>,
}

/// Names what serves one combination of textual alternatives of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VariantId(usize);

/// What serves one combination of textual alternatives.
pub(crate) struct Variant<'py> {
    run: Run<'py>,
    /// What must be true for the action to be enabled.
    conditions: Vec<Bound<'py, PyAny>>,
    /// The reference mirrors the action; the function calls the hook after the action itself.
    pub(crate) mirrored: bool,
    /// Some exceptions of the action are taken as warnings.
    pub(crate) warns: bool,
}

/// How an action is taken.
enum Run<'py> {
    /// By calling a function.
    Call(Bound<'py, PyAny>),
    /// By storing a value, which takes no function.
    Assign(Assignment),
}

/// What the texts of one concrete action are, with slots written `self.p_avl[0]`.
pub(crate) struct ConcreteTexts {
    pub(crate) statement: String,
    /// The reference's statement, where it differs.
    pub(crate) reference: Option<String>,
    /// Results are compared.
    pub(crate) compared: bool,
}

impl<'py> Actions<'py> {
    pub(crate) fn new(
        context: &Context<'py>,
        mirror: &Mirror<'py>,
        reference_exceptions: ReferenceExceptions,
        has_after_hook: bool,
    ) -> Actions<'py> {
        let plan = |action: &Action, all_textual| {
            Plan::new(
                &context.harness,
                &action.axes,
                fragments(action),
                all_textual,
            )
        };
        let mut latest = None;
        let template = |action: &Action| TemplateCode {
            plan: shared(&mut latest, plan(action, mirror.depends_on_indices())),
            variants: ByKey::default(),
            deciding: deciding(&context.harness, action),
            operands: Operands::new(),
        };
        let mut actions = Actions {
            templates: context.harness.actions.iter().map(template).collect(),
            variants: Vec::new(),
            global_exceptions: context
                .harness
                .exceptions
                .iter()
                .map(|exception| exception.text.clone())
                .collect(),
            reference_exceptions,
            has_after_hook,
            arguments: Vec::new(),
        };
        for (number, action) in context.harness.actions.iter().enumerate() {
            let first = vec![0; action.axes.len()];
            if mirror.is_active()
                && actions
                    .mirrored(context, mirror, TemplateId(number), &first)
                    .is_err()
            {
                // A pattern takes slots apart: translate each concrete action by itself.
                actions.templates[number].plan = Rc::new(plan(action, true));
            }
        }
        actions
    }

    /// The functions for an action, if they are there and it has no conditions.
    #[inline]
    pub(crate) fn unconditional(&self, template: TemplateId, values: &[u64]) -> Option<VariantId> {
        let code = &self.templates[template.0];
        let known = *code.variants.get(code.plan.key(values))?;
        self.variants[known.0]
            .conditions
            .is_empty()
            .then_some(known)
    }

    /// The functions for an action.
    pub(crate) fn variant(
        &mut self,
        context: &Context<'py>,
        mirror: &Mirror<'py>,
        template: TemplateId,
        values: &[u64],
    ) -> PyResult<VariantId> {
        let code = &self.templates[template.0];
        let key = code.plan.key(values);
        match code.variants.get(key) {
            Some(known) => Ok(*known),
            None => self.new_variant(context, mirror, template, values, key),
        }
    }

    #[cold]
    fn new_variant(
        &mut self,
        context: &Context<'py>,
        mirror: &Mirror<'py>,
        template: TemplateId,
        values: &[u64],
        key: u64,
    ) -> PyResult<VariantId> {
        let variant = self.compile(context, mirror, template, values)?;
        let number = VariantId(self.variants.len());
        self.variants.push(variant);
        self.templates[template.0].variants.insert(key, number);
        Ok(number)
    }

    /// What is known of the functions of an action.
    #[inline]
    pub(crate) fn about(&self, variant: VariantId) -> &Variant<'py> {
        &self.variants[variant.0]
    }

    fn compile(
        &self,
        context: &Context<'py>,
        mirror: &Mirror<'py>,
        template: TemplateId,
        values: &[u64],
    ) -> PyResult<Variant<'py>> {
        let action = &context.harness.actions[template.0];
        let mirrored = self.mirrored(context, mirror, template, values)?;
        let assignment = Assignment::of(action).filter(|_| mirrored.is_none());
        let run = match assignment {
            Some(assignment) => Run::Assign(assignment),
            None => {
                let source = self.action_source(context, template, values, mirrored.as_ref());
                Run::Call(context.function(&source)?)
            }
        };
        let conditions = self
            .condition_sources(context, template, values)
            .iter()
            .map(|text| context.function(text))
            .collect::<PyResult<Vec<_>>>()?;
        debug_assert_eq!(
            conditions.len(),
            usize::from(action.guard.is_some()) + usize::from(action.speculative.is_some())
        );
        Ok(Variant {
            run,
            conditions,
            mirrored: mirrored.is_some(),
            warns: !action.warnings.is_empty(),
        })
    }

    fn writer<'a>(
        &'a self,
        context: &'a Context<'py>,
        template: TemplateId,
        values: &'a [u64],
    ) -> Writer<'a> {
        Writer {
            harness: &context.harness,
            layout: &context.layout,
            plan: &self.templates[template.0].plan,
            values,
        }
    }

    /// The texts of all functions of an action, for checking that they compile.
    pub(crate) fn sources(
        &self,
        context: &Context<'py>,
        mirror: &Mirror<'py>,
        template: TemplateId,
        values: &[u64],
    ) -> PyResult<Vec<FunctionText>> {
        let mirrored = self.mirrored(context, mirror, template, values)?;
        let mut sources = self.condition_sources(context, template, values);
        sources.push(self.action_source(context, template, values, mirrored.as_ref()));
        Ok(sources)
    }

    fn action_source(
        &self,
        context: &Context<'py>,
        template: TemplateId,
        values: &[u64],
        mirrored: Option<&ReferenceCode>,
    ) -> FunctionText {
        functions::action(
            &self.writer(context, template, values),
            &context.harness.actions[template.0],
            &self.global_exceptions,
            mirrored,
            self.reference_exceptions,
            self.has_after_hook,
        )
    }

    fn condition_sources(
        &self,
        context: &Context<'py>,
        template: TemplateId,
        values: &[u64],
    ) -> Vec<FunctionText> {
        let action = &context.harness.actions[template.0];
        let writer = self.writer(context, template, values);
        let conditions = action.guard.iter().chain(&action.speculative);
        conditions
            .map(|condition| {
                functions::expression(
                    "guard",
                    action.line,
                    &writer.plan.parameters(),
                    &writer.code(condition),
                    &[],
                )
            })
            .collect()
    }

    /// What the reference does in place of an action; `None` if it does nothing different.
    pub(crate) fn mirrored(
        &self,
        context: &Context<'py>,
        mirror: &Mirror<'py>,
        template: TemplateId,
        values: &[u64],
    ) -> PyResult<Option<ReferenceCode>> {
        if !mirror.is_active() {
            return Ok(None);
        }
        let writer = self.writer(context, template, values);
        let statement = &context.harness.actions[template.0].statement;
        let own = writer.pattern_text(statement, false);
        let text = mirror.translate(&writer.pattern_text(statement, true))?;
        if text == own {
            return Ok(None);
        }
        let compared = mirror.is_compared(&own)?;
        let Some(code) = writer.code_of_pattern_text(&text) else {
            return Err(pyo3::exceptions::PyValueError::new_err(
                "a `reference:` pattern takes a slot of this line apart, so that its meaning is lost",
            ));
        };
        Ok(Some(ReferenceCode { code, compared }))
    }

    /// Whether the result of an action is to be compared, but there is none.
    pub(crate) fn is_compared_in_vain(
        &self,
        context: &Context<'py>,
        mirror: &Mirror<'py>,
        template: TemplateId,
        values: &[u64],
    ) -> PyResult<bool> {
        let compared = self
            .mirrored(context, mirror, template, values)?
            .is_some_and(|reference| reference.compared);
        let statement = self
            .writer(context, template, values)
            .code(&context.harness.actions[template.0].statement);
        // `del` and the like are compared for what they raise; that a whole `if` is not compared surprises.
        let is_compound = ["if ", "for ", "while ", "with "]
            .iter()
            .any(|word| statement.starts_with(word));
        Ok(compared && is_compound)
    }

    /// Whether the conditions of an action hold, or what was raised instead of an answer.
    pub(crate) fn conditions_hold(
        &mut self,
        context: &Context<'py>,
        template: TemplateId,
        variant: VariantId,
        values: &[u64],
    ) -> PyResult<bool> {
        if self.variants[variant.0].conditions.is_empty() {
            return Ok(true);
        }
        let TemplateCode { plan, operands, .. } = &mut self.templates[template.0];
        call::collect(context, plan, values, operands, &mut self.arguments)?;
        for condition in &self.variants[variant.0].conditions {
            let answer = call::call(condition, &self.arguments)?;
            if !call::is_true(&answer) && !answer.is_truthy()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Which of its conditions an action has, as a number: actions of a template with the same number have the same.
    /// `None` if no two actions have.
    #[inline]
    pub(crate) fn condition_number(&self, template: TemplateId, values: &[u64]) -> Option<u64> {
        let code = &self.templates[template.0];
        let axes = code.deciding.as_ref()?.iter();
        Some(axes.fold(0, |number, axis| {
            number * code.plan.sizes()[*axis] + values[*axis]
        }))
    }

    /// Runs an action.
    #[inline]
    pub(crate) fn run(
        &mut self,
        context: &Context<'py>,
        template: TemplateId,
        variant: VariantId,
        values: &[u64],
    ) -> Attempt<'py> {
        let TemplateCode { plan, operands, .. } = &mut self.templates[template.0];
        match &self.variants[variant.0].run {
            Run::Call(function) => {
                call::collect(context, plan, values, operands, &mut self.arguments)
                    .map_err(Box::new)?;
                call::attempt(function, &self.arguments)
            }
            Run::Assign(assignment) => {
                let assigned = assignment.run(context, plan, values, operands);
                assigned.map_err(Box::new)?;
                Ok(context.python.None().into_bound(context.python))
            }
        }
    }

    /// The texts of an action, every hole filled.
    pub(crate) fn concrete_texts(
        &self,
        context: &Context<'py>,
        mirror: &Mirror<'py>,
        action: ActionId,
    ) -> PyResult<ConcreteTexts> {
        let (template, values) = context.harness.catalog.values(action);
        let line = &context.harness.actions[template.0];
        let plan = Plan::new(&context.harness, &line.axes, fragments(line), true);
        let writer = Writer {
            harness: &context.harness,
            layout: &context.layout,
            plan: &plan,
            values: &values,
        };
        let statement = writer.pattern_text(&line.statement, false);
        let reference = mirror.translate(&writer.pattern_text(&line.statement, true))?;
        let reference = Some(reference).filter(|reference| *reference != statement);
        let compared = reference.is_some() && mirror.is_compared(&statement)?;
        Ok(ConcreteTexts {
            statement,
            reference,
            compared,
        })
    }
}

impl ConcreteTexts {
    /// The statement and the reference's as TSTL writes them: `result = self.p_c[0].find(…)`.
    pub(crate) fn as_in_saved_tests(&self) -> (String, Option<String>) {
        let named = |text: &str, name: &str| match functions::with_result(text, name) {
            (text, Some(result)) => format!("{text} ; {result}"),
            (text, None) => text,
        };
        match (&self.reference, self.compared) {
            (Some(reference), true) => (
                named(&self.statement, "result"),
                Some(named(reference, "result_REF")),
            ),
            (reference, _) => (self.statement.clone(), reference.clone()),
        }
    }
}

/// The plan, or the latest one if that is equal.
fn shared(latest: &mut Option<Rc<Plan>>, plan: Plan) -> Rc<Plan> {
    match latest {
        Some(latest) if **latest == plan => Rc::clone(latest),
        _ => Rc::clone(latest.insert(Rc::new(plan))),
    }
}

fn fragments(action: &Action) -> Vec<&Fragment> {
    let optional = [
        &action.guard,
        &action.post,
        &action.post_message,
        &action.post_tail,
        &action.speculative,
    ];
    let mut all = vec![&action.statement];
    all.extend(optional.into_iter().flatten());
    all.extend(&action.pre_values);
    all.extend(action.expect.iter().map(|expect| &expect.arguments));
    all
}

/// The axes that the conditions of an action depend on; `None` if it has no conditions, or if they depend on all that
/// its actions differ in.
fn deciding(harness: &Harness, action: &Action) -> Option<Vec<usize>> {
    let conditions: Vec<&Fragment> = action.guard.iter().chain(&action.speculative).collect();
    if conditions.is_empty() {
        return None;
    }
    let parts = conditions.iter().flat_map(|condition| &condition.parts);
    let mentioned: BTreeSet<usize> = parts
        .filter_map(|part| match part {
            Part::Slot { axis, .. } | Part::Choice { axis, .. } => Some(*axis),
            Part::Text(_) | Part::Pre(_) => None,
        })
        .collect();
    let plan = Plan::new(harness, &action.axes, conditions, false);
    let left_out =
        (0..action.axes.len()).any(|axis| plan.sizes()[axis] > 1 && !mentioned.contains(&axis));
    left_out.then(|| mentioned.into_iter().collect())
}

/// A sentence about an exception that harness code raised where it must not.
pub(crate) fn complaint(python: Python<'_>, what: &str, error: &PyErr) -> String {
    format!("{what} raised {}", Raised::new(python, error).summary())
}
