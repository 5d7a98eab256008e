//! The current values of the system, and the parts of its harness.

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PySet};
use testwright_core::{ActionId, ClassId, Step, System};

use super::{Sut, to_py_error};
use crate::action::PyAction;
use crate::state::by_index;

/// Returns the attributes `p_NAME`, `p_NAME_REF` and `p_NAME_used`.
pub(super) fn pool_attribute<'py>(
    slf: &Bound<'py, Sut>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let unknown = || PyAttributeError::new_err(format!("a Sut has no attribute `{name}`"));
    let Some(pool) = name.strip_prefix("p_") else {
        return Err(unknown());
    };
    let pools = Sut::with(slf, |system| {
        let found = system.harness_object().getattr(name).ok();
        (found, system.pools())
    });
    let (found, pools) = pools?;
    if let Some(found) = found {
        return Ok(found);
    }
    let used = pool.strip_suffix("_used").ok_or_else(unknown)?;
    let pool = pools.into_iter().find(|known| known.name == used);
    let used = pool.ok_or_else(unknown)?.used;
    Ok(flags(slf.py(), &used)?.into_any())
}

/// Returns a dictionary of used flags.
pub(super) fn flags<'py>(python: Python<'py>, used: &[bool]) -> PyResult<Bound<'py, PyDict>> {
    let values = used.iter();
    by_index(
        python,
        values.map(|used| PyBool::new(python, *used).to_owned().into_any()),
    )
}

/// Renders the slot of a pool as harness code writes it.
fn access(pool: &str, index: usize) -> String {
    format!("self.p_{pool}[{index}]")
}

#[pymethods]
impl Sut {
    /// The name of the harness: its file without `.tstl`.
    ///
    ///     >>> sut.sut_name()
    ///     'stack'
    #[pyo3(name = "sut_name")]
    fn name_of_harness(&self) -> String {
        let stem = self.path.file_stem();
        stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    }

    /// A text with `self.p_avl[0]` written as people read it: `avl0`.
    ///
    ///     >>> sut.pretty_name("self.p_stack[0].push(self.p_int[1])")
    ///     'stack0.push(int1)'
    fn pretty_name(slf: &Bound<'_, Sut>, text: &str) -> PyResult<String> {
        Sut::with(slf, |system| system.with_display_names(text))
    }

    /// The class of an action: its line in the harness.
    ///
    ///     >>> sut.action_class(sut.playable("int0 = 2"))
    ///     '<int> := <[1..3]>'
    fn action_class(slf: &Bound<'_, Sut>, action: &Bound<'_, PyAny>) -> PyResult<String> {
        match PyAction::step_for(action, slf)? {
            Step::Act(action) => {
                let sut = Sut::borrow(slf)?;
                let class = sut.classes.class_of_action(&sut.catalog, action);
                Ok(sut.classes.text(class).to_owned())
            }
            Step::Restart => Ok(String::from("<<RESTART>>")),
        }
    }

    /// All classes, in the order of the harness.
    ///
    ///     >>> for line in sut.action_classes():
    ///     ...     print(line)
    ///     <int> := <[1..3]>
    ///     <stack> := stack.Stack()  #ESSENTIAL
    ///     <stack>.push(<int>) => len(<stack,1>) > pre<(len(<stack,1>))>
    ///     {IndexError} <stack>.pop()
    ///     {!ValueError} <stack>.remove(<int>)
    ///     <stack>.top()
    fn action_classes(&self) -> Vec<String> {
        let texts = self.classes.iter();
        texts
            .map(|class| self.classes.text(class).to_owned())
            .collect()
    }

    /// The classes that swarm testing never leaves out.
    ///
    ///     >>> sut.essential_classes()
    ///     ['<stack> := stack.Stack()  #ESSENTIAL']
    fn essential_classes(&self) -> Vec<String> {
        let essential = self
            .classes
            .iter()
            .filter(|class| self.classes.is_essential(*class));
        essential
            .map(|class| self.classes.text(class).to_owned())
            .collect()
    }

    /// Lists the needs of a class: of each list, at least one class.
    ///
    ///     >>> sut.dependencies("<stack>.top()")
    ///     [['<stack> := stack.Stack()  #ESSENTIAL']]
    fn dependencies(&self, class_: &str) -> Vec<Vec<String>> {
        let Some(class) = self.classes.find(class_) else {
            return Vec::new();
        };
        let texts = |list: &[ClassId]| {
            let texts = list
                .iter()
                .map(|class| self.classes.text(*class).to_owned());
            texts.collect()
        };
        self.classes.dependencies(class).map(texts).collect()
    }

    /// The place of an action in the harness, from 1; lower ones are simpler.
    ///
    ///     >>> [sut.act_order(step) for step in test[:3]]
    ///     [7, 3, 8]
    fn act_order(slf: &Bound<'_, Sut>, action: &Bound<'_, PyAny>) -> PyResult<i64> {
        Ok(match PyAction::step_for(action, slf)? {
            Step::Act(action) => action.0 as i64 + 1,
            Step::Restart => -1,
        })
    }

    /// Prints a test, a step a line.
    ///
    ///     >>> sut.pretty_print_test(test[:3], columns=30)
    ///     stack0 = stack.Stack()        # STEP 0
    ///     int0 = 3                      # STEP 1
    ///     stack0.push(int0)             # STEP 2
    #[pyo3(signature = (test, columns = 80))]
    fn pretty_print_test(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        columns: usize,
    ) -> PyResult<()> {
        let print = slf.py().import("builtins")?.getattr("print")?;
        for line in Sut::pretty_lines(slf, test, columns)? {
            print.call1((line,))?;
        }
        Ok(())
    }

    /// Prints the steps of the first test that the second does not have.
    ///
    ///     >>> sut.pretty_print_removed(test, sut.reduce(test, sut.fails), columns=30)
    ///     int0 = 3                      # STEP 1
    ///     stack0.push(int0)             # STEP 2
    ///     int1 = 2                      # STEP 3
    ///     stack0.pop()                  # STEP 4
    #[pyo3(signature = (t1, t2, columns = 80))]
    fn pretty_print_removed(
        slf: &Bound<'_, Sut>,
        t1: &Bound<'_, PyAny>,
        t2: &Bound<'_, PyAny>,
        columns: usize,
    ) -> PyResult<()> {
        let kept = Sut::core_test(slf, t2)?.steps;
        let print = slf.py().import("builtins")?.getattr("print")?;
        let steps = Sut::core_test(slf, t1)?.steps;
        for (line, step) in Sut::pretty_lines(slf, t1, columns)?.iter().zip(steps) {
            if !kept.contains(&step) {
                print.call1((line,))?;
            }
        }
        Ok(())
    }

    /// The pools as harness code writes them: `self.p_avl`.
    ///
    ///     >>> sut.pools()
    ///     ['self.p_int', 'self.p_stack', 'self.p_stack_REF']
    fn pools(slf: &Bound<'_, Sut>) -> PyResult<Vec<String>> {
        let pools = Sut::with(slf, |system| system.pools())?;
        Ok(pools
            .iter()
            .map(|pool| format!("self.p_{}", pool.name))
            .collect())
    }

    /// The pools whose values are not worth showing.
    ///
    ///     >>> sut.opaque()
    ///     ['self.p_stack_REF']
    fn opaque(slf: &Bound<'_, Sut>) -> PyResult<Vec<String>> {
        let pools = Sut::with(slf, |system| system.pools())?;
        let opaque = pools.iter().filter(|pool| pool.opaque);
        Ok(opaque.map(|pool| format!("self.p_{}", pool.name)).collect())
    }

    /// The slots that a text mentions, each with its index, by pool and then by place in the text.
    ///
    ///     >>> sut.pool_uses("self.p_stack[0].push(self.p_int[1])")
    ///     [('self.p_int[1]', '1'), ('self.p_stack[0]', '0')]
    fn pool_uses(slf: &Bound<'_, Sut>, text: &str) -> PyResult<Vec<(String, String)>> {
        let pools = Sut::with(slf, |system| system.pools())?;
        let mut uses = Vec::new();
        for pool in pools {
            let start = format!("self.p_{}[", pool.name);
            for (at, _) in text.match_indices(&start) {
                let rest = &text[at + start.len()..];
                if let Some(end) = rest.find(']') {
                    uses.push((format!("{start}{}]", &rest[..end]), rest[..end].to_owned()));
                }
            }
        }
        Ok(uses)
    }

    /// The slots that are empty, and those whose value was not used yet.
    ///
    ///     >>> sut.safely(sut.playable("int0 = 1"))
    ///     True
    ///     >>> empty, fresh = sut.get_pool_states()
    ///     >>> empty
    ///     ['self.p_int[1]', 'self.p_stack[0]', 'self.p_stack_REF[0]']
    ///     >>> fresh
    ///     ['self.p_int[0]']
    fn get_pool_states(slf: &Bound<'_, Sut>) -> PyResult<(Vec<String>, Vec<String>)> {
        let (mut empty, mut fresh) = (Vec::new(), Vec::new());
        for pool in Sut::with(slf, |system| system.pools())? {
            for (index, value) in pool.values.iter().enumerate() {
                if value.is_none() {
                    empty.push(access(&pool.name, index));
                }
                if !pool.used[index] {
                    fresh.push(access(&pool.name, index));
                }
            }
        }
        Ok((empty, fresh))
    }

    /// The different values of all slots: pairs of a pool and a text.
    ///
    ///     >>> sut.replay(test[:4])
    ///     True
    ///     >>> sut.unique_vals()
    ///     [('self.p_int', '3'), ('self.p_int', '2'), ('self.p_stack', 'Stack([3])')]
    fn unique_vals<'py>(slf: &Bound<'py, Sut>) -> PyResult<Bound<'py, PyList>> {
        let seen = PySet::empty(slf.py())?;
        let values = PyList::empty(slf.py());
        for pool in Sut::with(slf, |system| system.pools())? {
            for value in pool.values.iter().filter(|value| !value.is_none()) {
                let pair = (format!("self.p_{}", pool.name), value.str()?);
                if !pool.opaque && !seen.contains(&pair)? {
                    seen.add(&pair)?;
                    values.append(&pair)?;
                }
            }
        }
        Ok(values)
    }

    /// Evaluates all `hint:` lines now.
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> sut.hints()
    ///     [1]
    fn hints<'py>(slf: &Bound<'py, Sut>) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        Sut::with(slf, |system| system.hints())
    }

    /// The `feature:` lines.
    ///
    ///     >>> sut.features()
    ///     ['top']
    fn features(slf: &Bound<'_, Sut>) -> PyResult<Vec<String>> {
        Sut::with(slf, |system| {
            let features = system.harness().features.iter();
            features.map(|feature| feature.text.clone()).collect()
        })
    }

    /// The function that abstracts the values of a pool, or `None`.
    ///
    ///     >>> sut.abstraction("stack")
    ///     <built-in function len>
    ///     >>> sut.abstraction("int") is None
    ///     True
    pub(super) fn abstraction<'py>(
        slf: &Bound<'py, Sut>,
        pool: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let name = pool.strip_prefix("self.p_").unwrap_or(pool);
        let found = Sut::with(slf, |system| {
            let pools = system.pools();
            let expression = pools
                .into_iter()
                .find(|known| known.name == name)?
                .abstraction?;
            Some(system.evaluate(&expression))
        })?;
        found.transpose()
    }

    /// Returns the expressions that an action's post-condition evaluates before the action, a line each, or `None`.
    ///
    ///     >>> sut.get_pre_code(test[2])
    ///     'len(stack0)'
    fn get_pre_code(slf: &Bound<'_, Sut>, action: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let Some(action) = Sut::named_action(slf, action)? else {
            return Ok(None);
        };
        let texts = Sut::with(slf, |system| system.pre_texts(action))?;
        Ok(Some(texts.join("\n")).filter(|text| !text.is_empty()))
    }

    /// The statement of the reference for an action, or `None`.
    ///
    ///     >>> sut.get_ref_code(test[2])
    ///     'self.p_stack_REF[0].append(self.p_int[0])'
    fn get_ref_code(slf: &Bound<'_, Sut>, action: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let Some(action) = Sut::named_action(slf, action)? else {
            return Ok(None);
        };
        let texts = Sut::with(slf, |system| system.tstl_texts(action))?;
        Ok(texts.map_err(|error| to_py_error(&error))?.1)
    }

    /// The exceptions that an action may raise, with commas between them, or `None`.
    ///
    ///     >>> sut.get_ok_exceptions(sut.playable("stack0.pop()"))
    ///     'IndexError'
    fn get_ok_exceptions(
        slf: &Bound<'_, Sut>,
        action: &Bound<'_, PyAny>,
    ) -> PyResult<Option<String>> {
        let Some(action) = Sut::named_action(slf, action)? else {
            return Ok(None);
        };
        Sut::with(slf, |system| {
            let template = system.actions().template_of(action);
            let harness = system.harness();
            let global = harness.exceptions.iter().map(|exception| &exception.text);
            let own = &harness.actions[template.0].expected;
            let all: Vec<&str> = global.chain(own).map(String::as_str).collect();
            (!all.is_empty()).then(|| all.join(","))
        })
    }

    /// The post-condition of an action, or `None`.
    ///
    ///     >>> sut.get_prop_code(test[2])
    ///     'len(stack0) > pre<(len(stack0))>'
    fn get_prop_code(slf: &Bound<'_, Sut>, action: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let Some(action) = Sut::named_action(slf, action)? else {
            return Ok(None);
        };
        let text = Sut::with(slf, |system| system.post_text(action))?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }
}

impl Sut {
    /// Returns the action with a name, or the action itself.
    pub(super) fn named_action(
        slf: &Bound<'_, Sut>,
        action: &Bound<'_, PyAny>,
    ) -> PyResult<Option<ActionId>> {
        let step = match action.extract::<String>() {
            Ok(name) => Sut::borrow(slf)?.playable_step(&name)?,
            Err(_) => PyAction::step_for(action, slf)?,
        };
        Ok(match step {
            Step::Act(action) => Some(action),
            Step::Restart => None,
        })
    }

    /// Renders the lines of a test, with the number of the step at the right.
    fn pretty_lines(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        columns: usize,
    ) -> PyResult<Vec<String>> {
        let mut lines = Vec::new();
        for (number, action) in test.try_iter()?.enumerate() {
            let action = Sut::python_action(slf, &action?)?;
            let action = action.get();
            let mut line = format!("{:<columns$}# STEP {number}", action.display_text());
            if action.display_text().chars().count() >= columns {
                line = format!("{} # STEP {number}", action.display_text());
            }
            if let Some(note) = &action.note {
                line = format!("{line}  ;;; {note}");
            }
            lines.push(line);
        }
        Ok(lines)
    }
}
