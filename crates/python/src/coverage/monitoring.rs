//! Observation through `sys.monitoring`, which CPython has since 3.12.
//!
//! Every event that can be switched off at a location is switched off after the first time, so that
//! code runs at full speed once it has been fully observed. Where the interpreter would still lose
//! time, [`super::quicken`] helps. Events about exceptions cannot be switched off; they cost some
//! nanoseconds per exception. Once all lines of a code object are reached, its line events are
//! withdrawn: the interpreter would otherwise keep checking instructions that never start a line,
//! such as a loop within a line.

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
use super::flow::ExceptionOrigin;
use super::instrument::{disassemble, reassemble};
use super::observed_code::ObservedCode;
use super::quicken::{QuickeningPlan, join_all};
use super::record::CoverageRecord;
use crate::call;

/// Events requested for single code objects.
const LOCAL_EVENTS: [&str; 3] = ["LINE", "JUMP", "PY_RETURN"];
/// Events requested for all code.
///
/// Events about exceptions cannot be requested for single code objects. `RAISE` is not needed: when
/// an exception is handled or leaves, the frame still knows the raising instruction, and one event
/// less makes exceptions cheaper. `PY_START` finds copies of code objects, which `types.coroutine`
/// creates, for example. It also keeps 3.13 from replacing the first instruction of a function by a
/// faster one that reports no line event.
const GLOBAL_EVENTS: [&str; 4] = ["PY_START", "RERAISE", "EXCEPTION_HANDLED", "PY_UNWIND"];
/// The number of tool ids.
const TOOL_SLOTS: u8 = 6;
/// The tool ids to try. By convention 0 to 2 and 5 belong to debuggers, coverage.py, profilers and
/// optimizers.
const TOOLS: [u8; 2] = [4, 3];

/// Observes code objects through `sys.monitoring`.
#[pyclass(frozen, module = "testwright")]
pub(crate) struct Monitor {
    dialect: Dialect,
    /// The tool id.
    tool: u8,
    /// The events in [`LOCAL_EVENTS`], as a bit set.
    local_events: u32,
    line_event: u32,
    /// The object `sys.monitoring.DISABLE`.
    disable: Py<PyAny>,
    /// True once it has stopped; the tool id may belong to another tool then.
    is_stopped: AtomicBool,
    state: Mutex<MonitorState>,
}

/// The mutable state of a monitor.
#[derive(Default)]
struct MonitorState {
    record: CoverageRecord,
    units: Vec<ObservedCode>,
    /// Quickening plans, by number of the code object.
    shortcuts: Vec<QuickeningPlan>,
    /// A line that has just started. The interpreter removes its instrumentation only after our
    /// callback, so the instructions are quickened at the next event.
    started_line: Option<(CodeMemory, usize, u32)>,
    /// Known paths of exceptions: code object, offset of the origin, and offset of the handler or
    /// `None`. Only paths that do not depend on earlier lines.
    known_exception_paths: FxHashMap<(u32, u32, Option<u32>), ExceptionOrigin>,
    /// True if the current coverage is reset from time to time.
    was_reset: bool,
    /// Numbers of code objects, by address. The code objects are kept alive below, so that
    /// addresses stay unique.
    by_code: FxHashMap<usize, usize>,
    /// Observed code objects, by number.
    code_objects: Vec<Py<PyCode>>,
    /// Observed copies of them.
    copies: Vec<Py<PyCode>>,
    /// Code objects whose line events were withdrawn.
    finished: Vec<Py<PyAny>>,
    /// Numbers of code objects by file name and first line, to recognize copies.
    by_location: FxHashMap<(String, i32), Vec<usize>>,
}

impl Monitor {
    /// Claims a tool id and starts to observe.
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
            dialect: Dialect::read(python)?,
            tool,
            local_events: sum(&LOCAL_EVENTS)?,
            line_event: number("LINE")?,
            disable: monitoring.getattr("DISABLE")?.unbind(),
            is_stopped: AtomicBool::new(false),
            state: Mutex::default(),
        };
        let monitor = Py::new(python, monitor)?;
        for (name, function) in callbacks() {
            let callback = call::wrap_c_function(monitor.bind(python).as_any(), function)?;
            monitoring.call_method1("register_callback", (tool, number(name)?, callback))?;
        }
        monitoring.call_method1("set_events", (tool, sum(&GLOBAL_EVENTS)?))?;
        Ok(monitor)
    }

    /// Locks the state.
    fn state(&self) -> MutexGuard<'_, MonitorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` with the record.
    pub(crate) fn with_record<R>(&self, work: impl FnOnce(&mut CoverageRecord) -> R) -> R {
        work(&mut self.state().record)
    }

    /// Clears the current coverage, and observes all points again.
    pub(crate) fn reset(&self, python: Python<'_>) -> PyResult<()> {
        if self.is_stopped.load(Ordering::Relaxed) {
            self.state().record.current.clear();
            return Ok(());
        }
        let finished = {
            let mut state = self.state();
            state.record.current.clear();
            state.started_line = None;
            state.known_exception_paths.clear();
            state.was_reset = true;
            for unit in &mut state.units {
                unit.reset();
            }
            std::mem::take(&mut state.finished)
        };
        for code in finished {
            self.set_local_events(code.bind(python), self.local_events)?;
        }
        let monitoring = python.import("sys")?.getattr("monitoring")?;
        monitoring.call_method0("restart_events").map(|_| ())
    }

    /// Stops observing for good, and frees the tool id.
    pub(crate) fn stop(&self, python: Python<'_>) -> PyResult<()> {
        if self.is_stopped.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let monitoring = python.import("sys")?.getattr("monitoring")?;
        monitoring.call_method1("set_events", (self.tool, 0))?;
        let kept = {
            let mut state = self.state();
            let mut kept = std::mem::take(&mut state.code_objects);
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

    /// Puts a code object, and those nested in it, under observation.
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
        let Some(parsed) = disassemble(&self.dialect, code)? else {
            return Ok(code.clone());
        };
        let (mut unit, marks) = ObservedCode::monitored(
            &self.dialect,
            &parsed.instructions,
            parsed.first_line,
            file,
            &mut self.state().record,
        );
        let constants = PyTuple::new(python, constants)?;
        let (changed, assembled) = reassemble(&self.dialect, code, &parsed, &marks, &constants)?;
        let is_awaited = |origin| unit.awaits_line_at(origin, &marks);
        let shortcuts =
            QuickeningPlan::new(&self.dialect, &assembled, parsed.first_line, is_awaited);
        unit.set_origins(assembled.origins);
        let location = (
            changed.getattr("co_filename")?.extract()?,
            changed.getattr("co_firstlineno")?.extract()?,
        );
        {
            let mut state = self.state();
            let number = state.units.len();
            state.units.push(unit);
            state.shortcuts.push(shortcuts);
            state.by_code.insert(changed.as_ptr() as usize, number);
            state.code_objects.push(changed.clone().unbind());
            state.by_location.entry(location).or_default().push(number);
        }
        self.set_local_events(&changed, self.local_events)?;
        Ok(changed)
    }

    /// Requests exactly these events for a code object.
    fn set_local_events(&self, code: &Bound<'_, PyAny>, events: u32) -> PyResult<()> {
        let monitoring = code.py().import("sys")?.getattr("monitoring")?;
        let arguments = (self.tool, code, events);
        monitoring
            .call_method1("set_local_events", arguments)
            .map(|_| ())
    }

    /// Quickens a code object that starts, except for points that are still awaited.
    fn quicken(&self, code: &Bound<'_, PyCode>) -> PyResult<()> {
        let memory = CodeMemory::locate_inside_code(code);
        let state = self.state();
        let Some(number) = state.unit(code) else {
            // Code that is not observed. Repeating this after each reset would cost more than it
            // saves.
            let is_worth_it = !self.dialect.superinstructions.is_empty() && !state.was_reset;
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
        let has_idle_line_checks = state.shortcuts[number].has_idle_line_checks();
        drop(state);
        if has_idle_line_checks && self.is_only_tool(code.py())? {
            self.state().shortcuts[number].remove_idle_line_checks(&self.dialect, &memory);
        }
        self.state().shortcuts[number].join(&self.dialect, &memory);
        Ok(())
    }

    /// Returns true if no other tool observes the program.
    fn is_only_tool(&self, python: Python<'_>) -> PyResult<bool> {
        let system = python.import("sys")?;
        for function in ["gettrace", "getprofile"] {
            if !system.call_method0(function)?.is_none() {
                return Ok(false);
            }
        }
        let monitoring = system.getattr("monitoring")?;
        for location in (0..TOOL_SLOTS).filter(|location| *location != self.tool) {
            if !monitoring.call_method1("get_tool", (location,))?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Observes a code object if it is a copy of an observed one with the same instructions.
    fn observe_copy(&self, code: &Bound<'_, PyCode>) -> PyResult<()> {
        let name: String = code.getattr("co_filename")?.extract()?;
        let first_line: i32 = code.getattr("co_firstlineno")?.extract()?;
        let originals: Vec<(usize, Py<PyCode>)> = {
            let state = self.state();
            let Some(units) = state.by_location.get(&(name, first_line)) else {
                return Ok(());
            };
            let kept = |unit: &usize| (*unit, state.code_objects[*unit].clone_ref(code.py()));
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
                return self.set_local_events(code, self.local_events);
            }
        }
        Ok(())
    }
}

impl MonitorState {
    /// Returns the number of an observed code object.
    fn unit(&self, code: &Bound<'_, PyAny>) -> Option<usize> {
        self.by_code.get(&(code.as_ptr() as usize)).copied()
    }
}

#[pymethods]
impl Monitor {
    /// Returns the code of a module under observation.
    fn observe_module<'py>(&self, code: &Bound<'py, PyCode>) -> PyResult<Bound<'py, PyCode>> {
        if self.is_stopped.load(Ordering::Relaxed) {
            return Ok(code.clone());
        }
        let path: String = code.getattr("co_filename")?.extract()?;
        let path = std::path::absolute(&path).unwrap_or_else(|_| path.into());
        let file = self.state().record.file_number(&path);
        self.observe(code, file)
    }
}
