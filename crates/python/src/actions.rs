//! Action lines compiled to Python functions.
//!
//! A function is compiled when it is first needed. One function serves all actions of a template
//! that differ only in slots and literals; each combination of textual alternatives has its own.

use std::collections::BTreeSet;
use std::rc::Rc;

use pyo3::prelude::*;
use testwright_core::{ActionId, TemplateId};
use testwright_lang::Harness;
use testwright_lang::harness::{ActionTemplate, CodePart, Fragment};

use crate::assignment::LiteralAssignment;
use crate::call::{self, CallResult, Operands};
use crate::context::HarnessContext;
use crate::failures::RaisedException;
use crate::functions::{self, FunctionText, ReferenceCode};
use crate::key_table::KeyTable;
use crate::options::ReferenceExceptions;
use crate::plan::{CodeWriter, FillPlan};
use crate::reference_rules::ReferenceRules;

/// All actions of a harness, with the functions compiled so far.
pub(crate) struct CompiledActions<'py> {
    /// One entry per template, in the order of the catalog.
    templates: Vec<TemplateCode<'py>>,
    /// All compiled variants, by [`VariantId`].
    variants: Vec<Variant<'py>>,
    /// Exceptions that every action may raise.
    global_exceptions: Vec<String>,
    /// The rule for comparing exceptions with those of the reference.
    reference_exceptions: ReferenceExceptions,
    /// The harness defines `test_after_each`.
    has_after_hook: bool,
    /// Buffer for the arguments of a call, reused by all calls.
    arguments: Vec<Bound<'py, PyAny>>,
}

/// The functions of one template.
struct TemplateCode<'py> {
    /// Shared with the previous template if the two plans are equal.
    plan: Rc<FillPlan>,
    /// Compiled variants by their textual alternatives.
    variants: KeyTable<VariantId>,
    /// The axes that the conditions mention, if these are not all axes.
    condition_axes: Option<Vec<usize>>,
    /// Literal values of the template's alternatives, created so far.
    operands: Operands<'py>,
}

/// The index of a [`Variant`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VariantId(usize);

/// The functions for one combination of textual alternatives of a template.
pub(crate) struct Variant<'py> {
    /// The way to run the action.
    run: ActionBody<'py>,
    /// Functions that must all return true for the action to be enabled.
    conditions: Vec<Bound<'py, PyAny>>,
    /// The reference mirrors the action; the function calls the hook after the action itself.
    pub(crate) has_reference: bool,
    /// Some exceptions of the action are taken as warnings.
    pub(crate) warns: bool,
}

/// The way to run an action.
enum ActionBody<'py> {
    /// Call a function.
    Call(Bound<'py, PyAny>),
    /// Store a value directly, without a call.
    Assign(LiteralAssignment),
}

/// The source texts of one concrete action, with slots written `self.p_avl[0]`.
pub(crate) struct ConcreteTexts {
    /// The statement of the action.
    pub(crate) statement: String,
    /// The reference's statement, where it differs.
    pub(crate) reference: Option<String>,
    /// Results are compared.
    pub(crate) compared: bool,
}

impl<'py> CompiledActions<'py> {
    /// Plans all templates of a harness. Nothing is compiled yet.
    pub(crate) fn new(
        context: &HarnessContext<'py>,
        rules: &ReferenceRules<'py>,
        reference_exceptions: ReferenceExceptions,
        has_after_hook: bool,
    ) -> CompiledActions<'py> {
        let plan = |action: &ActionTemplate, all_textual| {
            FillPlan::new(
                &context.harness,
                &action.axes,
                fragments(action),
                all_textual,
            )
        };
        let mut latest = None;
        let template = |action: &ActionTemplate| TemplateCode {
            plan: share_plan(&mut latest, plan(action, rules.depends_on_indices())),
            variants: KeyTable::default(),
            condition_axes: condition_axes(&context.harness, action),
            operands: Operands::new(),
        };
        let mut actions = CompiledActions {
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
            if rules.is_active()
                && actions
                    .reference_code(context, rules, TemplateId(number), &first)
                    .is_err()
            {
                // A pattern splits the text of a slot: translate each concrete action separately.
                actions.templates[number].plan = Rc::new(plan(action, true));
            }
        }
        actions
    }

    /// Returns the variant of an action if it is compiled already and has no conditions.
    #[inline]
    pub(crate) fn unconditional(&self, template: TemplateId, values: &[u64]) -> Option<VariantId> {
        let code = &self.templates[template.0];
        let known = *code.variants.get(code.plan.key(values))?;
        self.variants[known.0]
            .conditions
            .is_empty()
            .then_some(known)
    }

    /// Returns the variant of an action, compiled if necessary.
    pub(crate) fn variant(
        &mut self,
        context: &HarnessContext<'py>,
        rules: &ReferenceRules<'py>,
        template: TemplateId,
        values: &[u64],
    ) -> PyResult<VariantId> {
        let code = &self.templates[template.0];
        let key = code.plan.key(values);
        match code.variants.get(key) {
            Some(known) => Ok(*known),
            None => self.new_variant(context, rules, template, values, key),
        }
    }

    /// Compiles a variant and stores it.
    #[cold]
    fn new_variant(
        &mut self,
        context: &HarnessContext<'py>,
        rules: &ReferenceRules<'py>,
        template: TemplateId,
        values: &[u64],
        key: u64,
    ) -> PyResult<VariantId> {
        let variant = self.compile(context, rules, template, values)?;
        let number = VariantId(self.variants.len());
        self.variants.push(variant);
        self.templates[template.0].variants.insert(key, number);
        Ok(number)
    }

    /// Returns a variant by its index.
    #[inline]
    pub(crate) fn get_variant(&self, variant: VariantId) -> &Variant<'py> {
        &self.variants[variant.0]
    }

    /// Compiles the functions of an action and its conditions.
    fn compile(
        &self,
        context: &HarnessContext<'py>,
        rules: &ReferenceRules<'py>,
        template: TemplateId,
        values: &[u64],
    ) -> PyResult<Variant<'py>> {
        let action = &context.harness.actions[template.0];
        let mirrored = self.reference_code(context, rules, template, values)?;
        let assignment = LiteralAssignment::from_action(action).filter(|_| mirrored.is_none());
        let run = match assignment {
            Some(assignment) => ActionBody::Assign(assignment),
            None => {
                let source = self.action_source(context, template, values, mirrored.as_ref());
                ActionBody::Call(context.function(&source)?)
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
            has_reference: mirrored.is_some(),
            warns: !action.warnings.is_empty(),
        })
    }

    /// Returns a writer for the code of an action with these values.
    fn writer<'a>(
        &'a self,
        context: &'a HarnessContext<'py>,
        template: TemplateId,
        values: &'a [u64],
    ) -> CodeWriter<'a> {
        CodeWriter {
            harness: &context.harness,
            layout: &context.layout,
            plan: &self.templates[template.0].plan,
            values,
        }
    }

    /// Returns the texts of all functions of an action, to check that they compile.
    pub(crate) fn sources(
        &self,
        context: &HarnessContext<'py>,
        rules: &ReferenceRules<'py>,
        template: TemplateId,
        values: &[u64],
    ) -> PyResult<Vec<FunctionText>> {
        let mirrored = self.reference_code(context, rules, template, values)?;
        let mut sources = self.condition_sources(context, template, values);
        sources.push(self.action_source(context, template, values, mirrored.as_ref()));
        Ok(sources)
    }

    /// Returns the text of the function that runs an action.
    fn action_source(
        &self,
        context: &HarnessContext<'py>,
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

    /// Returns the texts of the functions for the guard and the speculative condition.
    fn condition_sources(
        &self,
        context: &HarnessContext<'py>,
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

    /// Returns the reference's code for an action, or `None` if it equals the action's own code.
    pub(crate) fn reference_code(
        &self,
        context: &HarnessContext<'py>,
        rules: &ReferenceRules<'py>,
        template: TemplateId,
        values: &[u64],
    ) -> PyResult<Option<ReferenceCode>> {
        if !rules.is_active() {
            return Ok(None);
        }
        let writer = self.writer(context, template, values);
        let statement = &context.harness.actions[template.0].statement;
        let own = writer.pattern_text(statement, false);
        let text = rules.translate(&writer.pattern_text(statement, true))?;
        if text == own {
            return Ok(None);
        }
        let compared = rules.is_compared(&own)?;
        let Some(code) = writer.code_of_pattern_text(&text) else {
            return Err(pyo3::exceptions::PyValueError::new_err(
                "a `reference:` pattern takes a slot of this line apart, so that its meaning is lost",
            ));
        };
        Ok(Some(ReferenceCode { code, compared }))
    }

    /// Returns true if the reference does something else in an action: a `reference:` line changes its
    /// code, or it names a twin itself.
    pub(crate) fn is_translated(
        &self,
        context: &HarnessContext<'py>,
        rules: &ReferenceRules<'py>,
        template: TemplateId,
        values: &[u64],
    ) -> PyResult<bool> {
        let statement = &context.harness.actions[template.0].statement;
        let is_twin = |part: &CodePart| matches!(part, CodePart::Slot { twin: true, .. });
        let text = self
            .writer(context, template, values)
            .pattern_text(statement, true);
        Ok(statement.parts.iter().any(is_twin) || rules.translate(&text)? != text)
    }

    /// Returns true if a `compare:` line asks for the result of an action that has none.
    pub(crate) fn lacks_compared_result(
        &self,
        context: &HarnessContext<'py>,
        rules: &ReferenceRules<'py>,
        template: TemplateId,
        values: &[u64],
    ) -> PyResult<bool> {
        let compared = self
            .reference_code(context, rules, template, values)?
            .is_some_and(|reference| reference.compared);
        let statement = self
            .writer(context, template, values)
            .code(&context.harness.actions[template.0].statement);
        // Statements such as `del` are still compared for what they raise. A whole `if` without
        // comparison would be a surprise, so only that is reported.
        let is_compound = ["if ", "for ", "while ", "with "]
            .iter()
            .any(|word| statement.starts_with(word));
        Ok(compared && is_compound)
    }

    /// Returns true if the conditions of an action hold, or the exception that one of them raised.
    pub(crate) fn conditions_hold(
        &mut self,
        context: &HarnessContext<'py>,
        template: TemplateId,
        variant: VariantId,
        values: &[u64],
    ) -> PyResult<bool> {
        if self.variants[variant.0].conditions.is_empty() {
            return Ok(true);
        }
        let TemplateCode { plan, operands, .. } = &mut self.templates[template.0];
        call::collect_arguments(context, plan, values, operands, &mut self.arguments)?;
        let line = context.harness.actions[template.0].line;
        for condition in &self.variants[variant.0].conditions {
            let answer = call::call(condition, &self.arguments)?;
            if !call::is_true(&answer) && !context.is_truthy(line, &answer)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns a number that identifies the conditions of an action: actions of a template with the
    /// same number have the same conditions. `None` if no two actions share them.
    #[inline]
    pub(crate) fn condition_number(&self, template: TemplateId, values: &[u64]) -> Option<u64> {
        let code = &self.templates[template.0];
        let axes = code.condition_axes.as_ref()?.iter();
        Some(axes.fold(0, |number, axis| {
            number * code.plan.sizes()[*axis] + values[*axis]
        }))
    }

    /// Runs an action.
    #[inline]
    pub(crate) fn run(
        &mut self,
        context: &HarnessContext<'py>,
        template: TemplateId,
        variant: VariantId,
        values: &[u64],
    ) -> CallResult<'py> {
        let TemplateCode { plan, operands, .. } = &mut self.templates[template.0];
        match &self.variants[variant.0].run {
            ActionBody::Call(function) => {
                call::collect_arguments(context, plan, values, operands, &mut self.arguments)
                    .map_err(Box::new)?;
                call::try_call(function, &self.arguments)
            }
            ActionBody::Assign(assignment) => {
                let assigned = assignment.run(context, plan, values, operands);
                assigned.map_err(Box::new)?;
                Ok(context.python.None().into_bound(context.python))
            }
        }
    }

    /// Returns the texts of an action with all holes filled.
    pub(crate) fn concrete_texts(
        &self,
        context: &HarnessContext<'py>,
        rules: &ReferenceRules<'py>,
        action: ActionId,
    ) -> PyResult<ConcreteTexts> {
        let (template, values) = context.harness.catalog.values(action);
        let line = &context.harness.actions[template.0];
        let plan = FillPlan::new(&context.harness, &line.axes, fragments(line), true);
        let writer = CodeWriter {
            harness: &context.harness,
            layout: &context.layout,
            plan: &plan,
            values: &values,
        };
        let statement = writer.pattern_text(&line.statement, false);
        let reference = rules.translate(&writer.pattern_text(&line.statement, true))?;
        let reference = Some(reference).filter(|reference| *reference != statement);
        let compared = reference.is_some() && rules.is_compared(&statement)?;
        Ok(ConcreteTexts {
            statement,
            reference,
            compared,
        })
    }
}

impl ConcreteTexts {
    /// Returns the statement and the reference's statement as TSTL writes them: `result =
    /// self.p_c[0].find(…)`.
    pub(crate) fn tstl_texts(&self) -> (String, Option<String>) {
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

/// Returns the latest plan if it equals `plan`, else `plan` itself, so that equal neighbors share
/// memory.
fn share_plan(latest: &mut Option<Rc<FillPlan>>, plan: FillPlan) -> Rc<FillPlan> {
    match latest {
        Some(latest) if **latest == plan => Rc::clone(latest),
        _ => Rc::clone(latest.insert(Rc::new(plan))),
    }
}

/// Returns all pieces of code in an action line.
fn fragments(action: &ActionTemplate) -> Vec<&Fragment> {
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

/// Returns the axes that the conditions of an action depend on. `None` if there are no conditions,
/// or if they depend on everything that the actions differ in.
fn condition_axes(harness: &Harness, action: &ActionTemplate) -> Option<Vec<usize>> {
    let conditions: Vec<&Fragment> = action.guard.iter().chain(&action.speculative).collect();
    if conditions.is_empty() {
        return None;
    }
    let parts = conditions.iter().flat_map(|condition| &condition.parts);
    let mentioned: BTreeSet<usize> = parts
        .filter_map(|part| match part {
            CodePart::Slot { axis, .. } | CodePart::Choice { axis, .. } => Some(*axis),
            CodePart::Text(_) | CodePart::Pre(_) => None,
        })
        .collect();
    let plan = FillPlan::new(harness, &action.axes, conditions, false);
    let left_out =
        (0..action.axes.len()).any(|axis| plan.sizes()[axis] > 1 && !mentioned.contains(&axis));
    left_out.then(|| mentioned.into_iter().collect())
}

/// Returns a sentence about an exception in harness code: `a hook raised KeyError: 3`.
pub(crate) fn describe_exception(python: Python<'_>, subject: &str, error: &PyErr) -> String {
    format!(
        "{subject} raised {}",
        RaisedException::new(python, error).summary()
    )
}
