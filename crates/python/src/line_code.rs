//! Keyword lines with host code (`property:`, `init:`, `log:` …) as functions.

use pyo3::prelude::*;
use testwright_core::{Axis, Role};
use testwright_lang::harness::{Fragment, Line, Part};

use crate::by_key::ByKey;
use crate::call::{self, Operands};
use crate::context::Context;
use crate::functions::{self, FunctionText};
use crate::mirror::Mirror;
use crate::plan::{Plan, Writer};
use crate::pool_states::PoolStates;

/// Whether the code of a line has a value.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// It has; these exceptions count as true.
    Expression(Vec<String>),
    /// It has none.
    Statement,
}

/// A line, its functions so far, and the values of its literal alternatives.
pub(crate) struct LineCode<'py> {
    pub(crate) line: Line,
    kind: Kind,
    plan: Plan,
    functions: ByKey<Bound<'py, PyAny>>,
    operands: Operands<'py>,
    /// All combinations, unless there are too many to keep.
    combinations: Option<Vec<Combination<'py>>>,
    arguments: Vec<Bound<'py, PyAny>>,
}

/// One combination of slots and alternatives.
struct Combination<'py> {
    values: Vec<u64>,
    /// The function and its arguments, once it has been called.
    call: Option<(Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>)>,
}

/// One combination, ready to be called.
pub(crate) struct PreparedLine<'py> {
    /// Of the slots it names.
    pub(crate) places: Vec<usize>,
    pub(crate) function: Bound<'py, PyAny>,
    /// Literal alternatives, handed over as values.
    pub(crate) operands: Vec<Bound<'py, PyAny>>,
}

/// The code of an expression for one combination, nothing left to arguments.
pub(crate) struct InstanceCode {
    pub(crate) code: String,
    /// The places that must not be empty.
    pub(crate) filled: Vec<usize>,
    /// Exceptions that count as true.
    pub(crate) excuses: Vec<String>,
    pub(crate) values: Vec<u64>,
}

/// A line that has more combinations takes its time anyway.
const MOST_COMBINATIONS: u64 = 256;

impl<'py> LineCode<'py> {
    pub(crate) fn new(context: &Context<'py>, line: &Line, kind: Kind) -> LineCode<'py> {
        let plan = Plan::new(&context.harness, &line.axes, [&line.code], false);
        LineCode {
            line: line.clone(),
            kind,
            plan,
            functions: ByKey::default(),
            operands: Operands::new(),
            combinations: None,
            arguments: Vec::new(),
        }
    }

    /// The text of the function for these values, for checking that it compiles.
    pub(crate) fn source(&self, context: &Context<'py>, values: &[u64]) -> FunctionText {
        let writer = Writer {
            harness: &context.harness,
            layout: &context.layout,
            plan: &self.plan,
            values,
        };
        let code = writer.code(&self.line.code);
        match &self.kind {
            Kind::Expression(excuses) => functions::expression(
                "line",
                self.line.line,
                &self.plan.parameters(),
                &code,
                excuses,
            ),
            Kind::Statement => {
                functions::statement("line", self.line.line, &self.plan.parameters(), &code)
            }
        }
    }

    /// Runs the line once per combination of slots and alternatives, until `visit` says that it is enough.
    ///
    /// With `states`, slots that the line uses must be filled; without, every slot counts.
    pub(crate) fn for_each(
        &mut self,
        context: &Context<'py>,
        states: Option<&PoolStates>,
        visit: impl FnMut(&Line, &[u64], PyResult<Bound<'py, PyAny>>) -> bool,
    ) {
        self.for_each_wanted(context, states, |_| true, visit);
    }

    /// The same, for those combinations only that are wanted, by number. Lines with too many combinations to keep run
    /// them all.
    #[inline]
    pub(crate) fn for_each_wanted(
        &mut self,
        context: &Context<'py>,
        states: Option<&PoolStates>,
        mut is_wanted: impl FnMut(usize) -> bool,
        mut visit: impl FnMut(&Line, &[u64], PyResult<Bound<'py, PyAny>>) -> bool,
    ) {
        let Some(mut combinations) = self.combinations.take().or_else(|| self.all_combinations())
        else {
            return self.for_each_of_many(context, states, visit);
        };
        for (number, combination) in combinations.iter_mut().enumerate() {
            if !allowed(states, &self.line.axes, &combination.values) || !is_wanted(number) {
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

    /// The combinations, if they can be kept.
    #[cold]
    fn all_combinations(&self) -> Option<Vec<Combination<'py>>> {
        let sizes = self.plan.sizes();
        let count = sizes
            .iter()
            .try_fold(1u64, |count, size| count.checked_mul(*size))?;
        if count > MOST_COMBINATIONS {
            return None;
        }
        let mut combinations = Vec::new();
        let mut values = vec![0; sizes.len()];
        while combinations.len() < count as usize {
            combinations.push(Combination {
                values: values.clone(),
                call: None,
            });
            advance(&mut values, sizes);
        }
        Some(combinations)
    }

    /// Its code for every combination, all of it as text; `None` if that cannot share a function with other code, or
    /// if there are too many.
    pub(crate) fn instances(
        &self,
        context: &Context<'py>,
        most: usize,
    ) -> Option<Vec<InstanceCode>> {
        let Kind::Expression(excuses) = &self.kind else {
            return None;
        };
        let plan = Plan::new(&context.harness, &self.line.axes, [&self.line.code], true);
        let combinations = self.all_combinations()?;
        if combinations.len() > most {
            return None;
        }
        let instance = |values: Vec<u64>| {
            let writer = Writer {
                harness: &context.harness,
                layout: &context.layout,
                plan: &plan,
                values: &values,
            };
            let code = writer.code(&self.line.code);
            // A name that one property binds would be another's, too.
            (!code.contains(":=")).then(|| InstanceCode {
                code,
                filled: self.places_to_fill(context, &values),
                excuses: excuses.clone(),
                values,
            })
        };
        let values = combinations.into_iter().map(|it| it.values);
        values.map(instance).collect()
    }

    /// The places of the slots that must be filled for the line to be run.
    fn places_to_fill(&self, context: &Context<'py>, values: &[u64]) -> Vec<usize> {
        let axes = self.line.axes.iter().zip(values);
        let places = axes.filter_map(|(axis, value)| match axis {
            Axis::Slot { pool, role } if *role != Role::Mention => {
                Some(context.layout.place(*pool, *value as u32))
            }
            _ => None,
        });
        places.collect()
    }

    /// Every combination with its function, which is compiled if it was not yet, and the slots it names; `None` if
    /// there are too many to keep.
    #[cold]
    pub(crate) fn prepare(
        &mut self,
        context: &Context<'py>,
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
                    let call = self.compiled(context, &combination.values)?;
                    combination.call.insert(call)
                }
            };
            prepared.push(PreparedLine {
                places: self.places(context, &combination.values),
                function: function.clone(),
                operands: arguments[1..].to_vec(),
            });
        }
        self.combinations = Some(combinations);
        Ok(Some(prepared))
    }

    fn compiled(
        &mut self,
        context: &Context<'py>,
        values: &[u64],
    ) -> PyResult<(Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>)> {
        let (plan, operands) = (&self.plan, &mut self.operands);
        call::collect(context, plan, values, operands, &mut self.arguments)?;
        let key = self.plan.key(values);
        if self.functions.get(key).is_none() {
            let function = context.function(&self.source(context, values))?;
            self.functions.insert(key, function);
        }
        let function = self.functions.get(key).cloned();
        let function = function.expect("it was inserted if it was not there");
        Ok((function, self.arguments.clone()))
    }

    /// The places of the slots that the line names.
    fn places(&self, context: &Context<'py>, values: &[u64]) -> Vec<usize> {
        let place = |part: &Part| match part {
            Part::Slot { axis, twin, .. } => match &self.line.axes[*axis] {
                Axis::Slot { pool, .. } => {
                    let distance = if *twin {
                        context.layout.twin_distance(*pool)
                    } else {
                        0
                    };
                    Some(context.layout.place(*pool, values[*axis] as u32) + distance)
                }
                _ => None,
            },
            _ => None,
        };
        let mut places: Vec<usize> = self.line.code.parts.iter().filter_map(place).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    #[cold]
    fn first_call(
        &mut self,
        context: &Context<'py>,
        combination: &mut Combination<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let result = self.call(context, &combination.values);
        let function = self.functions.get(self.plan.key(&combination.values));
        combination.call = function.map(|function| (function.clone(), self.arguments.clone()));
        result
    }

    fn for_each_of_many(
        &mut self,
        context: &Context<'py>,
        states: Option<&PoolStates>,
        mut visit: impl FnMut(&Line, &[u64], PyResult<Bound<'py, PyAny>>) -> bool,
    ) {
        if self.plan.sizes().contains(&0) {
            return;
        }
        let mut values = vec![0; self.line.axes.len()];
        loop {
            if allowed(states, &self.line.axes, &values) {
                let result = self.call(context, &values);
                if !visit(&self.line, &values, result) {
                    break;
                }
            }
            if !advance(&mut values, self.plan.sizes()) {
                break;
            }
        }
    }

    /// Runs the line for one combination.
    pub(crate) fn call(
        &mut self,
        context: &Context<'py>,
        values: &[u64],
    ) -> PyResult<Bound<'py, PyAny>> {
        let key = self.plan.key(values);
        call::collect(
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

    /// The line with the reference in place of the system, where that differs.
    pub(crate) fn mirrored(
        context: &Context<'py>,
        mirror: &Mirror<'py>,
        line: &Line,
    ) -> PyResult<Vec<Line>> {
        let plan = Plan::new(&context.harness, &line.axes, [&line.code], true);
        let mut lines = Vec::new();
        if plan.sizes().contains(&0) {
            return Ok(lines);
        }
        let mut values = vec![0; line.axes.len()];
        loop {
            let writer = Writer {
                harness: &context.harness,
                layout: &context.layout,
                plan: &plan,
                values: &values,
            };
            let own = writer.pattern_text(&line.code, false);
            let translated = mirror.translate(&writer.pattern_text(&line.code, true))?;
            if own != translated {
                let part = Part::Text(translated.clone());
                lines.push(Line {
                    line: line.line,
                    text: translated,
                    axes: Vec::new(),
                    code: Fragment { parts: vec![part] },
                });
            }
            if !advance(&mut values, plan.sizes()) {
                return Ok(lines);
            }
        }
    }
}

/// Counts up, the last axis fastest; false after the last combination.
fn advance(values: &mut [u64], sizes: &[u64]) -> bool {
    for (value, size) in values.iter_mut().zip(sizes).rev() {
        *value += 1;
        if *value < *size {
            return true;
        }
        *value = 0;
    }
    false
}

#[inline]
fn allowed(states: Option<&PoolStates>, axes: &[Axis], values: &[u64]) -> bool {
    let Some(states) = states else { return true };
    axes.iter().zip(values).all(|(axis, value)| match axis {
        Axis::Slot {
            role: Role::Mention,
            ..
        } => true,
        Axis::Slot { pool, .. } => states.is_filled(*pool, *value as u32),
        _ => true,
    })
}
