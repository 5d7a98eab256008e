//! Enabled actions, and the choice among them.

use std::collections::BTreeSet;
use std::time::Instant;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyString, PyTuple};
use testwright_core::{
    ActionClasses, ActionId, ClassId, Random, Step, System, TemplateId, TemplateSet,
};

use super::Sut;
use crate::action::PyAction;

/// Makes a stream of random numbers from a `random.Random`, or from the module `random` for `None`.
pub(super) fn random_stream(
    python: Python<'_>,
    rgen: Option<&Bound<'_, PyAny>>,
) -> PyResult<Random> {
    let module;
    let source = match rgen {
        Some(rgen) => rgen,
        None => {
            module = python.import("random")?.into_any();
            &module
        }
    };
    if !source.hasattr("getrandbits")? {
        let kind = source.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "random numbers come from a random.Random or None, not {kind}"
        )));
    }
    let seed: u64 = source.call_method1("getrandbits", (64,))?.extract()?;
    Ok(Random::new(seed))
}

#[pymethods]
impl Sut {
    /// All actions that are switched on, in the order of the harness.
    ///
    ///     >>> len(sut.actions())
    ///     13
    ///     >>> sut.actions()[6:8]
    ///     [<stack0 = stack.Stack()>, <stack0.push(int0)>]
    fn actions<'py>(slf: &Bound<'py, Sut>) -> PyResult<Bound<'py, PyList>> {
        let ids: Vec<ActionId> = Sut::borrow(slf)?.switched_on_actions().collect();
        action_list(slf, &ids)
    }

    /// All actions that are enabled now, in the order of the harness.
    ///
    ///     >>> sut.enabled()
    ///     [<int0 = 1>, <int0 = 2>, <int0 = 3>, <int1 = 1>, <int1 = 2>, <int1 = 3>, <stack0 = stack.Stack()>]
    pub(crate) fn enabled<'py>(slf: &Bound<'py, Sut>) -> PyResult<Bound<'py, PyList>> {
        let ids = Sut::enabled_ids(slf)?;
        action_list(slf, &ids)
    }

    /// A random enabled action, every one as likely as the other, or `None`.
    ///
    ///     >>> sut.random_enabled(rgen)
    ///     <int1 = 3>
    ///     >>> sut.random_enabled(rgen, act_filter=lambda action: "stack" in action.text)
    ///     <stack0 = stack.Stack()>
    #[pyo3(signature = (rgen = None, act_filter = None, enabled_acts = None))]
    fn random_enabled<'py>(
        slf: &Bound<'py, Sut>,
        rgen: Option<&Bound<'py, PyAny>>,
        act_filter: Option<&Bound<'py, PyAny>>,
        enabled_acts: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAction>>> {
        let mut random = random_stream(slf.py(), rgen)?;
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
            if enabled_acts.is_some() && !Sut::is_step_enabled(slf, &action)? {
                continue;
            }
            let wanted = match act_filter {
                Some(filter) => filter.call1((&action,))?.is_truthy()?,
                None => true,
            };
            if wanted {
                return Sut::python_action(slf, &action).map(Some);
            }
        }
        Ok(None)
    }

    /// Up to `n` different enabled actions, in random order.
    ///
    ///     >>> sut.random_enableds(rgen, 3)
    ///     [<int0 = 3>, <stack0 = stack.Stack()>, <int1 = 2>]
    fn random_enableds<'py>(
        slf: &Bound<'py, Sut>,
        rgen: Option<&Bound<'py, PyAny>>,
        n: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut random = random_stream(slf.py(), rgen)?;
        let mut chosen = shuffled(Sut::enabled_ids(slf)?, &mut random);
        chosen.truncate(n);
        action_list(slf, &chosen)
    }

    /// The first of up to `n` random enabled actions that satisfies a predicate, else the last one tried.
    ///
    ///     >>> sut.random_enabled_pred(rgen, 100, lambda action: action.text.endswith("3"))
    ///     <int0 = 3>
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
    ///
    ///     >>> probs = [(0.9, "<stack>.top()"), (0.1, "<int> := <[1..3]>")]
    ///     >>> sut.random_enabled_class_probs(rgen, probs)
    ///     <int0 = 2>
    fn random_enabled_class_probs<'py>(
        slf: &Bound<'py, Sut>,
        rgen: Option<&Bound<'py, PyAny>>,
        probs: Vec<(f64, String)>,
    ) -> PyResult<Option<Bound<'py, PyAction>>> {
        let mut random = random_stream(slf.py(), rgen)?;
        let mut left = Vec::new();
        for (probability, text) in probs {
            let templates = Sut::borrow(slf)?.class_templates(&text)?;
            left.push((probability, templates));
        }
        while !left.is_empty() {
            let total: f64 = left.iter().map(|(probability, _)| probability).sum();
            let mut rest = random.unit_float() * total;
            let drawn = left.iter().position(|(probability, _)| {
                rest -= probability;
                rest < 0.0
            });
            let (lost, templates) = left.swap_remove(drawn.unwrap_or(left.len() - 1));
            if let Some(action) = Sut::pick_from_templates(slf, Some(&templates), &mut random)? {
                return Sut::action(slf, Step::Act(action), None).map(Some);
            }
            let share = lost / left.len().max(1) as f64;
            left.iter_mut()
                .for_each(|(probability, _)| *probability += share);
        }
        Ok(None)
    }

    /// Switches off all actions with a text or name whose beginning matches a regular expression.
    ///
    ///     >>> sut.disable("int1")
    ///     >>> sut.enabled()
    ///     [<int0 = 1>, <int0 = 2>, <int0 = 3>, <stack0 = stack.Stack()>]
    fn disable(slf: &Bound<'_, Sut>, regex: &Bound<'_, PyAny>) -> PyResult<()> {
        let pattern = slf.py().import("re")?.call_method1("compile", (regex,))?;
        let matches = |text: &str| -> PyResult<bool> {
            Ok(!pattern.call_method1("match", (text,))?.is_none())
        };
        let catalog = std::sync::Arc::clone(&Sut::borrow(slf)?.catalog);
        let (mut on, mut off) = (Sut::borrow(slf)?.switched_on_templates(), BTreeSet::new());
        for template in on.clone().iter() {
            let (first, count) = (catalog.first(template).0, catalog.count(template));
            let mut matching = Vec::new();
            for action in (first..first + count).map(ActionId) {
                let name = Sut::action(slf, Step::Act(action), None)?
                    .get()
                    .name(slf.py())?;
                if matches(&name)? || matches(&catalog.text(action))? {
                    matching.push(action);
                }
            }
            if matching.len() as u64 == count {
                on.remove(template);
            } else {
                off.extend(matching);
            }
        }
        let mut sut = Sut::borrow_mut(slf)?;
        sut.enabled_templates = Some(on);
        sut.disabled_actions.extend(off);
        Ok(())
    }

    /// Switches all actions on again; there is no swarm any more.
    ///
    ///     >>> sut.disable("stack0")
    ///     >>> len(sut.actions())
    ///     6
    ///     >>> sut.enable_all()
    ///     >>> len(sut.actions())
    ///     13
    pub(super) fn enable_all(&mut self) {
        self.enabled_templates = None;
        self.disabled_actions.clear();
        self.swarm = None;
    }

    /// Lets actions happen again after an assumption was violated. The next restart does so, too.
    ///
    ///     >>> sut.p_int[0] = 9
    ///     >>> sut.safely(test[0]), sut.enabled()
    ///     (True, [])
    ///     >>> sut.enable_all_assume()
    ///     >>> len(sut.enabled())
    ///     8
    fn enable_all_assume(slf: &Bound<'_, Sut>) -> PyResult<()> {
        Sut::with(slf, |system| system.clear_assumption_violation())
    }

    /// Lets slots be filled again although their values were not used.
    ///
    ///     >>> sut.safely(sut.playable("int0 = 1"))
    ///     True
    ///     >>> sut.playable("int0 = 2").guard()
    ///     False
    ///     >>> sut.relax()
    ///     >>> sut.playable("int0 = 2").guard()
    ///     True
    fn relax(slf: &Bound<'_, Sut>) -> PyResult<()> {
        Sut::with(slf, |system| system.set_relaxed(true))
    }

    /// A fresh value must be used before its slot is filled again, which is the rule.
    ///
    ///     >>> sut.relax()
    ///     >>> sut.stop_relax()
    ///     >>> sut.safely(sut.playable("int0 = 1"))
    ///     True
    ///     >>> sut.playable("int0 = 2").guard()
    ///     False
    fn stop_relax(slf: &Bound<'_, Sut>) -> PyResult<()> {
        Sut::with(slf, |system| system.set_relaxed(false))
    }

    /// Restarts and takes up to `size` steps: random ones, or those that a generator returns.
    ///
    /// `generator(i)` returns the action of step i. `sgenerator(state, sut)` returns an action and its next state,
    /// `initial` is the first one. Returns the test and `True`, `False` if it fails, or `"DEADLOCK"`.
    ///
    ///     >>> found, passed = sut.make_test(100, rgen)
    ///     >>> passed, str(found[-1])
    ///     (False, 'stack0.top()')
    ///     >>> sut.make_test(2, generator=lambda number: test[number])
    ///     (Test([<stack0 = stack.Stack()>, <int0 = 3>]), True)
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
        let mut random = random_stream(slf.py(), rgen.as_ref())?;
        let mut state = initial.unwrap_or_else(|| slf.py().None().into_bound(slf.py()));
        Sut::restart(slf)?;
        let mut ok = true;
        for number in 0..size {
            let enough = match &stop_when {
                Some(stop_when) => stop_when.call0()?.is_truthy()?,
                None => false,
            };
            if enough || timeout.is_some_and(|timeout| started.elapsed().as_secs_f64() > timeout) {
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
                let test = Sut::test_so_far(slf)?;
                return Ok((test, PyString::new(slf.py(), "DEADLOCK").into_any()));
            }
            let passed = Sut::take(slf, &action)? && (!check_prop || Sut::check(slf)?);
            ok &= passed;
            if !passed && stop_fail {
                break;
            }
        }
        let test = Sut::test_so_far(slf)?;
        Ok((test, PyBool::new(slf.py(), ok).to_owned().into_any()))
    }
}

impl Sut {
    /// Returns the steps since the last restart, as a list that does not grow with the next one.
    pub(super) fn test_so_far<'py>(slf: &Bound<'py, Sut>) -> PyResult<Bound<'py, PyAny>> {
        let test = Sut::borrow(slf)?.test(slf.py())?;
        test.as_any().call_method0("copy")
    }

    /// Returns true if an action is switched on.
    pub(super) fn is_switched_on(&self, action: ActionId) -> bool {
        let chosen = self.enabled_templates.as_ref();
        chosen.is_none_or(|chosen| chosen.contains(self.catalog.template_of(action)))
            && !self.disabled_actions.contains(&action)
    }

    /// Returns all actions that are switched on, in order.
    pub(super) fn switched_on_actions(&self) -> impl Iterator<Item = ActionId> {
        let all = (0..self.catalog.len()).map(ActionId);
        all.filter(|action| self.is_switched_on(*action))
    }

    /// Returns the templates that are switched on.
    pub(super) fn switched_on_templates(&self) -> TemplateSet {
        let all = (0..self.catalog.templates().len()).map(TemplateId);
        match &self.enabled_templates {
            Some(chosen) => chosen.clone(),
            None => all.collect(),
        }
    }

    /// Returns the templates of the class with this text.
    pub(super) fn class_templates(&self, class: &str) -> PyResult<TemplateSet> {
        let class = find_class(&self.classes, class)?;
        Ok(self.classes.templates(class).iter().copied().collect())
    }

    /// Returns the enabled actions that are switched on.
    pub(super) fn enabled_ids(slf: &Bound<'_, Sut>) -> PyResult<Vec<ActionId>> {
        let mut ids = Sut::with(slf, |system| system.enabled())?;
        let sut = Sut::borrow(slf)?;
        ids.retain(|action| sut.is_switched_on(*action));
        Ok(ids)
    }

    /// Picks a random enabled action that is switched on.
    pub(super) fn pick(slf: &Bound<'_, Sut>, random: &mut Random) -> PyResult<Option<ActionId>> {
        Sut::pick_from_templates(slf, None, random)
    }

    /// Picks a random enabled action that is switched on, of these templates if some are given.
    pub(super) fn pick_from_templates(
        slf: &Bound<'_, Sut>,
        among: Option<&TemplateSet>,
        random: &mut Random,
    ) -> PyResult<Option<ActionId>> {
        let among = {
            let sut = Sut::borrow(slf)?;
            match (among, &sut.enabled_templates) {
                (Some(among), Some(chosen)) => {
                    Some(among.iter().filter(|one| chosen.contains(*one)).collect())
                }
                (among, chosen) => among.or(chosen.as_ref()).cloned(),
            }
        };
        // Single actions that are off are rare, so most draws are good. Each is uniform, and so is the first good one.
        for _ in 0..MAX_DRAWS {
            let picked = Sut::with(slf, |system| match &among {
                Some(among) => system.pick_among(among, random),
                None => system.pick(random),
            })?;
            match picked {
                Some(picked) if Sut::borrow(slf)?.disabled_actions.contains(&picked) => {}
                picked => return Ok(picked),
            }
        }
        let mut enabled = Sut::enabled_ids(slf)?;
        let sut = Sut::borrow(slf)?;
        let is_candidate = |action: &ActionId| {
            let template = sut.catalog.template_of(*action);
            among
                .as_ref()
                .is_none_or(|among: &TemplateSet| among.contains(template))
        };
        enabled.retain(is_candidate);
        Ok(random.choose(&enabled).copied())
    }
}

/// The number of draws that may hit an action that is switched off before all enabled ones are
/// listed.
const MAX_DRAWS: usize = 32;

/// Finds the class with a text.
pub(super) fn find_class(classes: &ActionClasses, text: &str) -> PyResult<ClassId> {
    classes.find(text).ok_or_else(|| {
        PyValueError::new_err(format!(
            "the harness has no line `{}` (`action_classes()` lists them)",
            text.trim()
        ))
    })
}

/// Splits the result of a generator with a state into the action and the state, in either order.
///
/// The TSTL paper's own example has the state first, and the action in both places where it wants
/// to keep its state.
fn action_and_state<'py>(
    answer: &Bound<'py, PyAny>,
    state: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let wrong = || PyTypeError::new_err("a generator with a state returns an action and a state");
    let pair = answer.cast::<PyTuple>().map_err(|_| wrong())?;
    let (first, second) = (pair.get_item(0)?, pair.get_item(1)?);
    let is_action = |value: &Bound<'py, PyAny>| value.cast::<PyAction>().is_ok();
    match (is_action(&first), is_action(&second)) {
        (true, true) => Ok((first, state.clone())),
        (true, false) => Ok((first, second)),
        (false, true) => Ok((second, first)),
        (false, false) if first.is_none() => Ok((first, second)),
        (false, false) if second.is_none() => Ok((second, first)),
        (false, false) => Err(wrong()),
    }
}

/// Converts actions to a Python list.
fn action_list<'py>(slf: &Bound<'py, Sut>, ids: &[ActionId]) -> PyResult<Bound<'py, PyList>> {
    let actions = ids
        .iter()
        .map(|action| Sut::action(slf, Step::Act(*action), None));
    PyList::new(slf.py(), actions.collect::<PyResult<Vec<_>>>()?)
}

/// Shuffles items.
fn shuffled<T>(mut items: Vec<T>, random: &mut Random) -> Vec<T> {
    for index in (1..items.len()).rev() {
        items.swap(index, random.below(index as u64 + 1) as usize);
    }
    items
}
