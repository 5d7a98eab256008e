//! Keyword lines with host code (`property:`, `init:`, `log:` …) compiled to functions.

use pyo3::prelude::*;
use testwright_core::{Axis, SlotRole};
use testwright_lang::harness::{CodeLine, CodePart, Fragment};

use crate::call::{self, Operands};
use crate::context::HarnessContext;
use crate::functions::{self, FunctionText};
use crate::key_table::KeyTable;
use crate::plan::{CodeWriter, FillPlan};
use crate::pool_states::PoolStates;
use crate::reference_rules::ReferenceRules;

/// The kind of code in a line.
#[derive(Clone, Debug)]
pub(crate) enum LineKind {
    /// An expression; these exceptions count as true.
    Expression(Vec<String>),
    /// A statement, which has no value.
    Statement,
}

/// A keyword line with the functions compiled so far and the values of its literals.
pub(crate) struct LineCode<'py> {
    /// The line of the harness.
    pub(crate) line: CodeLine,
    /// Expression or statement.
    kind: LineKind,
    /// The way its holes are filled.
    plan: FillPlan,
    /// Compiled functions by textual alternatives.
    functions: KeyTable<Bound<'py, PyAny>>,
    /// Literal values created so far.
    operands: Operands<'py>,
    /// All combinations, unless there are too many to keep.
    combinations: Option<Vec<Combination<'py>>>,
    /// Buffer for the arguments of a call.
    arguments: Vec<Bound<'py, PyAny>>,
}

/// One combination of slots and alternatives.
struct Combination<'py> {
    /// The value on each axis.
    values: Vec<u64>,
    /// The function and its arguments, once it has been called.
    call: Option<(Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>)>,
}

/// One combination, ready to be called.
pub(crate) struct PreparedLine<'py> {
    /// The positions of the slots it names.
    pub(crate) positions: Vec<usize>,
    /// The compiled function.
    pub(crate) function: Bound<'py, PyAny>,
    /// Literal alternatives that are passed as arguments.
    pub(crate) operands: Vec<Bound<'py, PyAny>>,
}

/// The code of an expression for one combination, with everything filled in.
pub(crate) struct InstanceCode {
    /// The expression.
    pub(crate) code: String,
    /// The positions of slots that must not be empty.
    pub(crate) filled: Vec<usize>,
    /// Exceptions that count as true.
    pub(crate) allowed_exceptions: Vec<String>,
    /// The value on each axis.
    pub(crate) values: Vec<u64>,
}

/// The maximum number of combinations to keep. For lines with more, the calls dominate anyway.
const MAX_COMBINATIONS: u64 = 256;

impl<'py> LineCode<'py> {
    /// Plans a line. Nothing is compiled yet.
    pub(crate) fn new(
        context: &HarnessContext<'py>,
        line: &CodeLine,
        kind: LineKind,
    ) -> LineCode<'py> {
        let plan = FillPlan::new(&context.harness, &line.axes, [&line.code], false);
        LineCode {
            line: line.clone(),
            kind,
            plan,
            functions: KeyTable::default(),
            operands: Operands::new(),
            combinations: None,
            arguments: Vec::new(),
        }
    }

    /// Returns the text of the function for these values, to check that it compiles.
    pub(crate) fn source(&self, context: &HarnessContext<'py>, values: &[u64]) -> FunctionText {
        let writer = CodeWriter {
            harness: &context.harness,
            layout: &context.layout,
            plan: &self.plan,
            values,
        };
        let code = writer.code(&self.line.code);
        match &self.kind {
            LineKind::Expression(allowed_exceptions) => functions::expression(
                "line",
                self.line.line,
                &self.plan.parameters(),
                &code,
                allowed_exceptions,
            ),
            LineKind::Statement => {
                functions::statement("line", self.line.line, &self.plan.parameters(), &code)
            }
        }
    }

    /// Runs the line once per combination of slots and alternatives, until `visit` returns false.
    ///
    /// With `states`, slots that the line uses must be filled; without, every slot counts.
    pub(crate) fn for_each(
        &mut self,
        context: &HarnessContext<'py>,
        states: Option<&PoolStates>,
        visit: impl FnMut(&CodeLine, &[u64], PyResult<Bound<'py, PyAny>>) -> bool,
    ) {
        self.for_each_where(context, states, |_| true, visit);
    }

    /// Runs the line like [`LineCode::for_each`], but only for combinations for which `is_wanted`
    /// returns true, given their number. Lines with too many combinations to keep run all of them.
    #[inline]
    pub(crate) fn for_each_where(
        &mut self,
        context: &HarnessContext<'py>,
        states: Option<&PoolStates>,
        mut is_wanted: impl FnMut(usize) -> bool,
        mut visit: impl FnMut(&CodeLine, &[u64], PyResult<Bound<'py, PyAny>>) -> bool,
    ) {
        let Some(mut combinations) = self.combinations.take().or_else(|| self.all_combinations())
        else {
            return self.for_each_uncached(context, states, visit);
        };
        for (number, combination) in combinations.iter_mut().enumerate() {
            if !slots_allow(states, &self.line.axes, &combination.values) || !is_wanted(number) {
                continue;
            }
            let result = match &combination.call {
                Some((function, arguments)) => call::call(function, arguments),
                None => self.first_call(context, combination),
            };
            if !visit(&self.line, &combination.values, result) {
                break;
            }
        }
        self.combinations = Some(combinations);
    }

    /// Returns all combinations, unless there are too many to keep.
    #[cold]
    fn all_combinations(&self) -> Option<Vec<Combination<'py>>> {
        let sizes = self.plan.sizes();
        let count = sizes
            .iter()
            .try_fold(1u64, |count, size| count.checked_mul(*size))?;
        if count > MAX_COMBINATIONS {
            return None;
        }
        let mut combinations = Vec::new();
        let mut values = vec![0; sizes.len()];
        while combinations.len() < count as usize {
            combinations.push(Combination {
                values: values.clone(),
                call: None,
            });
            next_combination(&mut values, sizes);
        }
        Some(combinations)
    }

    /// Returns the code for every combination as text. `None` if it cannot share a function with
    /// other code, or if there are more than `max` combinations.
    pub(crate) fn instances(
        &self,
        context: &HarnessContext<'py>,
        max: usize,
    ) -> Option<Vec<InstanceCode>> {
        let LineKind::Expression(allowed_exceptions) = &self.kind else {
            return None;
        };
        let plan = FillPlan::new(&context.harness, &self.line.axes, [&self.line.code], true);
        let combinations = self.all_combinations()?;
        if combinations.len() > max {
            return None;
        }
        let instance = |values: Vec<u64>| {
            let writer = CodeWriter {
                harness: &context.harness,
                layout: &context.layout,
                plan: &plan,
                values: &values,
            };
            let code = writer.code(&self.line.code);
            // A name bound in one property would be visible in the others.
            (!code.contains(":=")).then(|| InstanceCode {
                code,
                filled: self.positions_to_fill(context, &values),
                allowed_exceptions: allowed_exceptions.clone(),
                values,
            })
        };
        let values = combinations.into_iter().map(|it| it.values);
        values.map(instance).collect()
    }

    /// Returns the positions of the slots that must be filled to run the line.
    fn positions_to_fill(&self, context: &HarnessContext<'py>, values: &[u64]) -> Vec<usize> {
        let axes = self.line.axes.iter().zip(values);
        let positions = axes.filter_map(|(axis, value)| match axis {
            Axis::Slot { pool, role } if *role != SlotRole::Mention => {
                Some(context.layout.position(*pool, *value as u32))
            }
            _ => None,
        });
        positions.collect()
    }

    /// Returns every combination with its compiled function and the slots it names. `None` if there
    /// are too many to keep.
    #[cold]
    pub(crate) fn prepare(
        &mut self,
        context: &HarnessContext<'py>,
    ) -> PyResult<Option<Vec<PreparedLine<'py>>>> {
        let Some(mut combinations) = self.combinations.take().or_else(|| self.all_combinations())
        else {
            return Ok(None);
        };
        let mut prepared = Vec::new();
        for combination in &mut combinations {
            let (function, arguments) = match &combination.call {
                Some(call) => call,
                None => {
                    let call = self.compile_call(context, &combination.values)?;
                    combination.call.insert(call)
                }
            };
            prepared.push(PreparedLine {
                positions: self.positions(context, &combination.values),
                function: function.clone(),
                operands: arguments[1..].to_vec(),
            });
        }
        self.combinations = Some(combinations);
        Ok(Some(prepared))
    }

    /// Returns the function for these values, compiled if necessary, and its arguments.
    fn compile_call(
        &mut self,
        context: &HarnessContext<'py>,
        values: &[u64],
    ) -> PyResult<(Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>)> {
        let (plan, operands) = (&self.plan, &mut self.operands);
        call::collect_arguments(context, plan, values, operands, &mut self.arguments)?;
        let key = self.plan.key(values);
        if self.functions.get(key).is_none() {
            let function = context.function(&self.source(context, values))?;
            self.functions.insert(key, function);
        }
        let function = self.functions.get(key).cloned();
        let function = function.expect("it was inserted if it was not there");
        Ok((function, self.arguments.clone()))
    }

    /// Returns the positions of the slots that the line names, sorted.
    fn positions(&self, context: &HarnessContext<'py>, values: &[u64]) -> Vec<usize> {
        let position = |part: &CodePart| match part {
            CodePart::Slot { axis, twin, .. } => match &self.line.axes[*axis] {
                Axis::Slot { pool, .. } => {
                    let distance = if *twin {
                        context.layout.twin_distance(*pool)
                    } else {
                        0
                    };
                    Some(context.layout.position(*pool, values[*axis] as u32) + distance)
                }
                _ => None,
            },
            _ => None,
        };
        let mut positions: Vec<usize> = self.line.code.parts.iter().filter_map(position).collect();
        positions.sort_unstable();
        positions.dedup();
        positions
    }

    /// Calls a combination for the first time and keeps its function and arguments.
    #[cold]
    fn first_call(
        &mut self,
        context: &HarnessContext<'py>,
        combination: &mut Combination<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let result = self.call(context, &combination.values);
        let function = self.functions.get(self.plan.key(&combination.values));
        combination.call = function.map(|function| (function.clone(), self.arguments.clone()));
        result
    }

    /// Runs all combinations without keeping them.
    fn for_each_uncached(
        &mut self,
        context: &HarnessContext<'py>,
        states: Option<&PoolStates>,
        mut visit: impl FnMut(&CodeLine, &[u64], PyResult<Bound<'py, PyAny>>) -> bool,
    ) {
        if self.plan.sizes().contains(&0) {
            return;
        }
        let mut values = vec![0; self.line.axes.len()];
        loop {
            if slots_allow(states, &self.line.axes, &values) {
                let result = self.call(context, &values);
                if !visit(&self.line, &values, result) {
                    break;
                }
            }
            if !next_combination(&mut values, self.plan.sizes()) {
                break;
            }
        }
    }

    /// Runs the line for one combination.
    pub(crate) fn call(
        &mut self,
        context: &HarnessContext<'py>,
        values: &[u64],
    ) -> PyResult<Bound<'py, PyAny>> {
        let key = self.plan.key(values);
        call::collect_arguments(
            context,
            &self.plan,
            values,
            &mut self.operands,
            &mut self.arguments,
        )?;
        if let Some(function) = self.functions.get(key) {
            return call::call(function, &self.arguments);
        }
        let function = context.function(&self.source(context, values))?;
        let result = call::call(&function, &self.arguments);
        self.functions.insert(key, function);
        result
    }

    /// Returns the lines for the reference in place of the system, one per combination in which
    /// they differ.
    pub(crate) fn reference_lines(
        context: &HarnessContext<'py>,
        rules: &ReferenceRules<'py>,
        line: &CodeLine,
    ) -> PyResult<Vec<CodeLine>> {
        let plan = FillPlan::new(&context.harness, &line.axes, [&line.code], true);
        let mut lines = Vec::new();
        if plan.sizes().contains(&0) {
            return Ok(lines);
        }
        let mut values = vec![0; line.axes.len()];
        loop {
            let writer = CodeWriter {
                harness: &context.harness,
                layout: &context.layout,
                plan: &plan,
                values: &values,
            };
            let own = writer.pattern_text(&line.code, false);
            let translated = rules.translate(&writer.pattern_text(&line.code, true))?;
            if own != translated {
                let part = CodePart::Text(translated.clone());
                lines.push(CodeLine {
                    line: line.line,
                    text: translated,
                    axes: Vec::new(),
                    code: Fragment { parts: vec![part] },
                });
            }
            if !next_combination(&mut values, plan.sizes()) {
                return Ok(lines);
            }
        }
    }
}

/// Advances to the next combination, the last axis fastest. Returns false after the last one.
fn next_combination(values: &mut [u64], sizes: &[u64]) -> bool {
    for (value, size) in values.iter_mut().zip(sizes).rev() {
        *value += 1;
        if *value < *size {
            return true;
        }
        *value = 0;
    }
    false
}

/// Returns true if all slots that the line uses are filled.
#[inline]
fn slots_allow(states: Option<&PoolStates>, axes: &[Axis], values: &[u64]) -> bool {
    let Some(states) = states else { return true };
    axes.iter().zip(values).all(|(axis, value)| match axis {
        Axis::Slot {
            role: SlotRole::Mention,
            ..
        } => true,
        Axis::Slot { pool, .. } => states.is_filled(*pool, *value as u32),
        _ => true,
    })
}
