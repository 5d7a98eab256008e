//! What can be done now, and what to do next.

use std::time::Instant;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyString, PyTuple};
use testwright_core::{ActionId, Random, Step, System, TemplateId, TemplateSet};

use super::Sut;
use crate::action::Action;

/// A stream of random numbers of ours from one of Python's: a `random.Random`, or the module `random` for `None`.
pub(super) fn stream(python: Python<'_>, rgen: Option<&Bound<'_, PyAny>>) -> PyResult<Random> {
    let module;
    let source = match rgen {
        Some(rgen) => rgen,
        None => {
            module = python.import("random")?.into_any();
            &module
        }
    };
    let seed: u64 = source.call_method1("getrandbits", (64,))?.extract()?;
    Ok(Random::new(seed))
}

#[pymethods]
impl Sut {
    /// All actions that are switched on, in the order of the harness.
    fn actions<'py>(slf: &Bound<'py, Sut>) -> PyResult<Bound<'py, PyList>> {
        let ids: Vec<ActionId> = {
            let sut = Sut::look_at(slf)?;
            let all = (0..sut.catalog.len()).map(ActionId);
            all.filter(|action| sut.is_on(*action)).collect()
        };
        listed(slf, &ids)
    }

    /// All actions that are enabled now, in the order of the harness.
    pub(crate) fn enabled<'py>(slf: &Bound<'py, Sut>) -> PyResult<Bound<'py, PyList>> {
        let ids = Sut::enabled_ids(slf)?;
        listed(slf, &ids)
    }

    /// A random enabled action, every one as likely as the other, or `None`.
    #[pyo3(signature = (rgen = None, act_filter = None, enabled_acts = None))]
    fn random_enabled<'py>(
        slf: &Bound<'py, Sut>,
        rgen: Option<&Bound<'py, PyAny>>,
        act_filter: Option<&Bound<'py, PyAny>>,
        enabled_acts: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, Action>>> {
        let mut random = stream(slf.py(), rgen)?;
        if act_filter.is_none() && enabled_acts.is_none() {
            return match Sut::pick(slf, &mut random)? {
                Some(action) => Sut::action(slf, Step::Act(action), None).map(Some),
                None => Ok(None),
            };
        }
        let candidates: Vec<Bound<'py, PyAny>> = match enabled_acts {
            Some(acts) => acts.try_iter()?.collect::<PyResult<_>>()?,
            None => Sut::enabled(slf)?.iter().collect(),
        };
        for action in shuffled(candidates, &mut random) {
            let wanted = match act_filter {
                Some(filter) => filter.call1((&action,))?.is_truthy()?,
                None => true,
            };
            if wanted {
                return Ok(Some(action.cast_into::<Action>()?));
            }
        }
        Ok(None)
    }

    /// Up to `n` different enabled actions, in random order.
    fn random_enableds<'py>(
        slf: &Bound<'py, Sut>,
        rgen: Option<&Bound<'py, PyAny>>,
        n: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut random = stream(slf.py(), rgen)?;
        let mut chosen = shuffled(Sut::enabled_ids(slf)?, &mut random);
        chosen.truncate(n);
        listed(slf, &chosen)
    }

    /// The first of up to `n` random enabled actions that satisfies a predicate, else the last one tried.
    fn random_enabled_pred<'py>(
        slf: &Bound<'py, Sut>,
        rgen: Option<&Bound<'py, PyAny>>,
        n: usize,
        pred: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut last = None;
        for action in Sut::random_enableds(slf, rgen, n)?.iter() {
            let found = pred.call1((&action,))?.is_truthy()?;
            last = Some(action);
            if found {
                break;
            }
        }
        Ok(last)
    }

    /// A random enabled action of a class that is drawn by its probability: `probs` lists pairs of probability and
    /// class. Classes without an enabled action share theirs among the others.
    fn random_enabled_class_probs<'py>(
        slf: &Bound<'py, Sut>,
        rgen: Option<&Bound<'py, PyAny>>,
        probs: Vec<(f64, String)>,
    ) -> PyResult<Option<Bound<'py, Action>>> {
        let mut random = stream(slf.py(), rgen)?;
        let mut left = Vec::new();
        for (probability, text) in probs {
            let templates = Sut::look_at(slf)?.templates_of(&text)?;
            left.push((probability, templates));
        }
        while !left.is_empty() {
            let total: f64 = left.iter().map(|(probability, _)| probability).sum();
            let mut rest = fraction(&mut random) * total;
            let drawn = left.iter().position(|(probability, _)| {
                rest -= probability;
                rest < 0.0
            });
            let (lost, templates) = left.swap_remove(drawn.unwrap_or(left.len() - 1));
            let picked = Sut::with(slf, |system| system.pick_among(&templates, &mut random))?;
            if let Some(action) = picked {
                return Sut::action(slf, Step::Act(action), None).map(Some);
            }
            let share = lost / left.len().max(1) as f64;
            left.iter_mut()
                .for_each(|(probability, _)| *probability += share);
        }
        Ok(None)
    }

    /// Switches off all actions whose name begins with something that a regular expression matches.
    fn disable(slf: &Bound<'_, Sut>, regex: &Bound<'_, PyAny>) -> PyResult<()> {
        let pattern = slf.py().import("re")?.call_method1("compile", (regex,))?;
        let count = Sut::look_at(slf)?.catalog.templates().len();
        let mut on = Sut::look_at(slf)?.templates_on();
        for template in (0..count).map(TemplateId) {
            let first = {
                let sut = Sut::look_at(slf)?;
                (sut.catalog.count(template) > 0).then(|| sut.catalog.first(template))
            };
            let Some(first) = first else { continue };
            let action = Sut::action(slf, Step::Act(first), None)?;
            let (name, text): (String, String) = (
                action.getattr("name")?.extract()?,
                action.getattr("text")?.extract()?,
            );
            let matches = |text: &str| -> PyResult<bool> {
                Ok(!pattern.call_method1("match", (text,))?.is_none())
            };
            if matches(&name)? || matches(&text)? {
                on.remove(template);
            }
        }
        Sut::take_hold(slf)?.chosen = Some(on);
        Ok(())
    }

    /// Switches all actions on again.
    fn enable_all(&mut self) {
        self.chosen = None;
    }

    /// Lets slots be filled again although their values were not used.
    fn relax(slf: &Bound<'_, Sut>) -> PyResult<()> {
        Sut::with(slf, |system| system.relax(true))
    }

    /// A fresh value must be used before its slot is filled again, which is the rule.
    fn stop_relax(slf: &Bound<'_, Sut>) -> PyResult<()> {
        Sut::with(slf, |system| system.relax(false))
    }

    /// Restarts and takes up to `size` steps, random ones unless a generator says otherwise.
    ///
    /// `generator(i)` returns the action of step i. `sgenerator(state, sut)` returns an action and its next state,
    /// `initial` is the first one. Returns the test and `True`, `False` if it fails, or `"DEADLOCK"`.
    #[pyo3(signature = (size, rgen = None, generator = None, sgenerator = None, stop_fail = true, check_prop = true, initial = None, timeout = None, stop_when = None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "TSTL has them all, most are by name"
    )]
    fn make_test<'py>(
        slf: &Bound<'py, Sut>,
        size: usize,
        rgen: Option<Bound<'py, PyAny>>,
        generator: Option<Bound<'py, PyAny>>,
        sgenerator: Option<Bound<'py, PyAny>>,
        stop_fail: bool,
        check_prop: bool,
        initial: Option<Bound<'py, PyAny>>,
        timeout: Option<f64>,
        stop_when: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let started = Instant::now();
        let mut random = stream(slf.py(), rgen.as_ref())?;
        let mut state = initial.unwrap_or_else(|| slf.py().None().into_bound(slf.py()));
        Sut::restart(slf)?;
        let mut ok = true;
        for number in 0..size {
            if timeout.is_some_and(|timeout| started.elapsed().as_secs_f64() > timeout) {
                break;
            }
            let action = match (&generator, &sgenerator) {
                (Some(generator), _) => generator.call1((number,))?,
                (None, Some(generator)) => {
                    let answer = generator.call1((&state, slf))?;
                    let (action, next) = action_and_state(&answer, &state)?;
                    state = next;
                    action
                }
                (None, None) => match Sut::pick(slf, &mut random)? {
                    Some(action) => Sut::action(slf, Step::Act(action), None)?.into_any(),
                    None => slf.py().None().into_bound(slf.py()),
                },
            };
            if action.is_none() {
                let test = Sut::look_at(slf)?.test(slf.py())?.into_any();
                return Ok((test, PyString::new(slf.py(), "DEADLOCK").into_any()));
            }
            let passed = Sut::take(slf, &action)? && (!check_prop || Sut::check(slf)?);
            ok &= passed;
            let enough = match &stop_when {
                Some(stop_when) => stop_when.call0()?.is_truthy()?,
                None => false,
            };
            if (!passed && stop_fail) || enough {
                break;
            }
        }
        let test = Sut::look_at(slf)?.test(slf.py())?.into_any();
        Ok((test, PyBool::new(slf.py(), ok).to_owned().into_any()))
    }
}

impl Sut {
    pub(super) fn is_on(&self, action: ActionId) -> bool {
        let chosen = self.chosen.as_ref();
        chosen.is_none_or(|chosen| chosen.contains(self.catalog.template_of(action)))
    }

    pub(super) fn templates_on(&self) -> TemplateSet {
        let all = (0..self.catalog.templates().len()).map(TemplateId);
        match &self.chosen {
            Some(chosen) => chosen.clone(),
            None => all.collect(),
        }
    }

    /// The templates of the class with this text.
    pub(super) fn templates_of(&self, class: &str) -> PyResult<TemplateSet> {
        let Some(found) = self.classes.find(class) else {
            let message = format!("the harness has no line `{}`", class.trim());
            return Err(PyValueError::new_err(message));
        };
        Ok(self.classes.templates(found).iter().copied().collect())
    }

    pub(super) fn enabled_ids(slf: &Bound<'_, Sut>) -> PyResult<Vec<ActionId>> {
        let mut ids = Sut::with(slf, |system| system.enabled())?;
        let sut = Sut::look_at(slf)?;
        ids.retain(|action| sut.is_on(*action));
        Ok(ids)
    }

    pub(super) fn pick(slf: &Bound<'_, Sut>, random: &mut Random) -> PyResult<Option<ActionId>> {
        let mut sut = Sut::take_hold(slf)?;
        let Sut { system, chosen, .. } = &mut *sut;
        Ok(system.with(slf.py(), |system| match chosen {
            Some(chosen) => system.pick_among(chosen, random),
            None => system.pick(random),
        }))
    }
}

/// What a generator with a state returned: the action and the state, in either order.
///
/// The TSTL paper's own example has the state first, and the action in both places where it wants to keep its state.
fn action_and_state<'py>(
    answer: &Bound<'py, PyAny>,
    state: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let wrong = || PyTypeError::new_err("a generator with a state returns an action and a state");
    let pair = answer.cast::<PyTuple>().map_err(|_| wrong())?;
    let (first, second) = (pair.get_item(0)?, pair.get_item(1)?);
    let is_action = |value: &Bound<'py, PyAny>| value.cast::<Action>().is_ok();
    match (is_action(&first), is_action(&second)) {
        (true, true) => Ok((first, state.clone())),
        (true, false) => Ok((first, second)),
        (false, true) => Ok((second, first)),
        (false, false) if first.is_none() => Ok((first, second)),
        (false, false) if second.is_none() => Ok((second, first)),
        (false, false) => Err(wrong()),
    }
}

fn listed<'py>(slf: &Bound<'py, Sut>, ids: &[ActionId]) -> PyResult<Bound<'py, PyList>> {
    let actions = ids
        .iter()
        .map(|action| Sut::action(slf, Step::Act(*action), None));
    PyList::new(slf.py(), actions.collect::<PyResult<Vec<_>>>()?)
}

fn shuffled<T>(mut items: Vec<T>, random: &mut Random) -> Vec<T> {
    for place in (1..items.len()).rev() {
        items.swap(place, random.below(place as u64 + 1) as usize);
    }
    items
}

/// A number from 0 up to but not including 1.
fn fraction(random: &mut Random) -> f64 {
    const STEPS: u64 = 1 << 53;
    random.below(STEPS) as f64 / STEPS as f64
}
