//! Observation by `sys.monitoring`, which CPython has since 3.12.
//!
//! Every event that can be switched off is switched off at its place after the first time, so that code runs at
//! full speed once all it does has been seen; where the interpreter would still lose time, [`super::quicken`] helps.
//! Events about exceptions cannot be switched off; they cost some nanoseconds per exception. A code object whose lines have all begun is not asked for lines any more, because the
//! interpreter goes on to look at those places that are never the first of a line for it: a loop within a line is
//! one.

mod events;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes, PyCode, PyTuple};
use rustc_hash::FxHashMap;

use self::events::callbacks;
use super::code_memory::CodeMemory;
use super::dialect::Dialect;
use super::flow::Thrown;
use super::instrument::{put_together, take_apart};
use super::quicken::{Shortcuts, join_all};
use super::record::Record;
use super::unit::Unit;
use crate::call;

/// The events of single code objects.
const LOCAL_EVENTS: [&str; 3] = ["LINE", "JUMP", "PY_RETURN"];
/// The events of all code.
///
/// Those about exceptions cannot be had for single code objects. `RAISE` is not needed: when an exception comes to a
/// handler or leaves, the frame still tells where it was raised, and one event less makes exceptions cheaper. `PY_START` finds copies of code objects, which
/// `types.coroutine` makes, for example. Besides, 3.13 replaces the instruction a function starts with by a faster
/// one, and then does not tell of a line that starts with it any more; as long as this event is awaited, it does.
const GLOBAL_EVENTS: [&str; 4] = ["PY_START", "RERAISE", "EXCEPTION_HANDLED", "PY_UNWIND"];
/// How many places for tools there are.
const PLACES: u8 = 6;
/// 0 to 2 and 5 belong to debuggers, coverage.py, profilers and optimisers.
const TOOLS: [u8; 2] = [4, 3];

/// Observes code objects.
#[pyclass(frozen, module = "testwright")]
pub(crate) struct Monitor {
    dialect: Dialect,
    tool: u8,
    local_events: u32,
    line_event: u32,
    disable: Py<PyAny>,
    /// It has stopped; its place among the tools may be another's.
    is_over: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    record: Record,
    units: Vec<Unit>,
    /// By number of the unit.
    shortcuts: Vec<Shortcuts>,
    /// A line that has just begun: the interpreter is still about to note that nobody waits for it any more. What can be
    /// done faster then is done with the next event.
    begun: Option<(CodeMemory, usize, u32)>,
    /// The ways that exceptions have gone already: in which unit, from which offset, to the handler at which offset or
    /// out of it. Only those that do not depend on more than that.
    known_ways: FxHashMap<(u32, u32, Option<u32>), Thrown>,
    /// Whether everything is seen again from time to time.
    begins_anew: bool,
    /// By the address of the code object. They are kept alive below, so that addresses stay theirs.
    by_code: FxHashMap<usize, usize>,
    kept: Vec<Py<PyCode>>,
    copies: Vec<Py<PyCode>>,
    /// Those that are not asked for lines any more.
    finished: Vec<Py<PyAny>>,
    /// By file name and first line, to recognise copies.
    by_place: FxHashMap<(String, i32), Vec<usize>>,
}

impl Monitor {
    /// Starts to observe.
    pub(crate) fn install(python: Python<'_>) -> PyResult<Py<Monitor>> {
        let monitoring = python.import("sys")?.getattr("monitoring")?;
        let free = |tool: &u8| {
            monitoring
                .call_method1("use_tool_id", (*tool, "testwright"))
                .is_ok()
        };
        let Some(tool) = TOOLS.into_iter().find(free) else {
            let message = "other tools occupy all places for monitoring tools in this process";
            return Err(PyRuntimeError::new_err(message));
        };
        let events = monitoring.getattr("events")?;
        let number = |name: &str| -> PyResult<u32> { events.getattr(name)?.extract() };
        let sum = |names: &[&str]| -> PyResult<u32> {
            names
                .iter()
                .try_fold(0, |sum, name| Ok(sum | number(name)?))
        };
        let monitor = Monitor {
            dialect: Dialect::of(python)?,
            tool,
            local_events: sum(&LOCAL_EVENTS)?,
            line_event: number("LINE")?,
            disable: monitoring.getattr("DISABLE")?.unbind(),
            is_over: AtomicBool::new(false),
            state: Mutex::default(),
        };
        let monitor = Py::new(python, monitor)?;
        for (name, function) in callbacks() {
            let callback = call::around(monitor.bind(python).as_any(), function)?;
            monitoring.call_method1("register_callback", (tool, number(name)?, callback))?;
        }
        monitoring.call_method1("set_events", (tool, sum(&GLOBAL_EVENTS)?))?;
        Ok(monitor)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn with_record<R>(&self, use_it: impl FnOnce(&mut Record) -> R) -> R {
        use_it(&mut self.state().record)
    }

    /// Sees everything again that was seen before.
    pub(crate) fn begin_anew(&self, python: Python<'_>) -> PyResult<()> {
        if self.is_over.load(Ordering::Relaxed) {
            self.state().record.current.clear();
            return Ok(());
        }
        let finished = {
            let mut state = self.state();
            state.record.current.clear();
            state.begun = None;
            state.known_ways.clear();
            state.begins_anew = true;
            for unit in &mut state.units {
                unit.begin_anew();
            }
            std::mem::take(&mut state.finished)
        };
        for code in finished {
            self.listen_to(code.bind(python), self.local_events)?;
        }
        let monitoring = python.import("sys")?.getattr("monitoring")?;
        monitoring.call_method0("restart_events").map(|_| ())
    }

    /// Stops observing, once and for all.
    pub(crate) fn stop(&self, python: Python<'_>) -> PyResult<()> {
        if self.is_over.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let monitoring = python.import("sys")?.getattr("monitoring")?;
        monitoring.call_method1("set_events", (self.tool, 0))?;
        let kept = {
            let mut state = self.state();
            let mut kept = std::mem::take(&mut state.kept);
            kept.append(&mut state.copies);
            kept
        };
        for code in kept {
            monitoring.call_method1("set_local_events", (self.tool, code, 0))?;
        }
        for name in LOCAL_EVENTS.iter().chain(&GLOBAL_EVENTS) {
            let event = monitoring.getattr("events")?.getattr(*name)?;
            monitoring.call_method1("register_callback", (self.tool, event, python.None()))?;
        }
        monitoring
            .call_method1("free_tool_id", (self.tool,))
            .map(|_| ())
    }

    /// A code object, and those inside it, under observation.
    pub(crate) fn observe<'py>(
        &self,
        code: &Bound<'py, PyCode>,
        file: u32,
    ) -> PyResult<Bound<'py, PyCode>> {
        let python = code.py();
        let mut constants = Vec::new();
        for constant in code.getattr("co_consts")?.cast::<PyTuple>()? {
            constants.push(match constant.cast::<PyCode>() {
                Ok(inner) => self.observe(inner, file)?.into_any(),
                Err(_) => constant,
            });
        }
        let Some(taken) = take_apart(&self.dialect, code)? else {
            return Ok(code.clone());
        };
        let (mut unit, marks) = Unit::monitored(
            &self.dialect,
            &taken.instructions,
            taken.first_line,
            file,
            &mut self.state().record,
        );
        let constants = PyTuple::new(python, constants)?;
        let (changed, assembled) = put_together(&self.dialect, code, &taken, &marks, &constants)?;
        let is_waited_for = |origin| unit.waits_for_line_at(origin, &marks);
        let shortcuts = Shortcuts::new(&self.dialect, &assembled, taken.first_line, is_waited_for);
        unit.set_origins(assembled.origins);
        let place = (
            changed.getattr("co_filename")?.extract()?,
            changed.getattr("co_firstlineno")?.extract()?,
        );
        {
            let mut state = self.state();
            let number = state.units.len();
            state.units.push(unit);
            state.shortcuts.push(shortcuts);
            state.by_code.insert(changed.as_ptr() as usize, number);
            state.kept.push(changed.clone().unbind());
            state.by_place.entry(place).or_default().push(number);
        }
        self.listen_to(&changed, self.local_events)?;
        Ok(changed)
    }

    fn listen_to(&self, code: &Bound<'_, PyAny>, events: u32) -> PyResult<()> {
        let monitoring = code.py().import("sys")?.getattr("monitoring")?;
        let arguments = (self.tool, code, events);
        monitoring
            .call_method1("set_local_events", arguments)
            .map(|_| ())
    }

    /// Has a code object that starts run as fast as if nobody observed it, apart from what is yet to be seen.
    fn quicken(&self, code: &Bound<'_, PyCode>) -> PyResult<()> {
        let memory = CodeMemory::inside(code);
        let state = self.state();
        let Some(number) = state.unit(code) else {
            // Code of others. To do this again and again takes more time than it saves.
            let is_worth_it = !self.dialect.joints.is_empty() && !state.begins_anew;
            drop(state);
            if is_worth_it {
                let instructions = code.getattr("co_code")?;
                join_all(
                    &self.dialect,
                    instructions.cast::<PyBytes>()?.as_bytes(),
                    &memory,
                );
            }
            return Ok(());
        };
        let has_vain_places = state.shortcuts[number].has_vain_places();
        drop(state);
        if has_vain_places && self.is_alone(code.py())? {
            self.state().shortcuts[number].look_no_more_in_vain(&self.dialect, &memory);
        }
        self.state().shortcuts[number].join(&self.dialect, &memory);
        Ok(())
    }

    /// Whether no other tool observes the program.
    fn is_alone(&self, python: Python<'_>) -> PyResult<bool> {
        let system = python.import("sys")?;
        for function in ["gettrace", "getprofile"] {
            if !system.call_method0(function)?.is_none() {
                return Ok(false);
            }
        }
        let monitoring = system.getattr("monitoring")?;
        for place in (0..PLACES).filter(|place| *place != self.tool) {
            if !monitoring.call_method1("get_tool", (place,))?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Observes a code object that was copied, with changes that have nothing to do with what it does.
    fn observe_copy(&self, code: &Bound<'_, PyCode>) -> PyResult<()> {
        let name: String = code.getattr("co_filename")?.extract()?;
        let first_line: i32 = code.getattr("co_firstlineno")?.extract()?;
        let originals: Vec<(usize, Py<PyCode>)> = {
            let state = self.state();
            let Some(units) = state.by_place.get(&(name, first_line)) else {
                return Ok(());
            };
            let kept = |unit: &usize| (*unit, state.kept[*unit].clone_ref(code.py()));
            units.iter().map(kept).collect()
        };
        let instructions = code.getattr("co_code")?;
        for (number, original) in originals {
            if original
                .bind(code.py())
                .getattr("co_code")?
                .eq(&instructions)?
            {
                {
                    let mut state = self.state();
                    state.by_code.insert(code.as_ptr() as usize, number);
                    state.copies.push(code.clone().unbind());
                }
                return self.listen_to(code, self.local_events);
            }
        }
        Ok(())
    }
}

impl State {
    fn unit(&self, code: &Bound<'_, PyAny>) -> Option<usize> {
        self.by_code.get(&(code.as_ptr() as usize)).copied()
    }
}

#[pymethods]
impl Monitor {
    /// A module's code under observation.
    fn observe_module<'py>(&self, code: &Bound<'py, PyCode>) -> PyResult<Bound<'py, PyCode>> {
        if self.is_over.load(Ordering::Relaxed) {
            return Ok(code.clone());
        }
        let path: String = code.getattr("co_filename")?.extract()?;
        let path = std::path::absolute(&path).unwrap_or_else(|_| path.into());
        let file = self.state().record.file(&path);
        self.observe(code, file)
    }
}
