//! Observation through probes, for versions of CPython without `sys.monitoring`.
//!
//! A probe is an object among the constants of a code object, with a few instructions that apply an
//! operator to it. The operator method records that its position was reached. A probe that needs to
//! fire only once then overwrites its first instruction with a jump over the rest, which costs a
//! nanosecond per pass.

use std::cell::{Cell, RefCell};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyTuple};
use rustc_hash::FxHashMap;

use super::assemble::{AssembledCode, CodeMark, UnitOrigin};
use super::code_memory::{BytecodeUnit, CodeMemory};
use super::dialect::Dialect;
use super::flow::Arc;
use super::instrument::{disassemble, reassemble};
use super::observed_code::{ObservedCode, TargetEffect};
use super::probe_plan::{ProbeKind, probe_code};
use super::record::CoverageRecord;

thread_local! {
    /// The last known line of this thread in each code object, by its number.
    static LAST_LINES: RefCell<FxHashMap<u32, i32>> = RefCell::default();
    /// The exception that is just being reraised.
    static RERAISED: Cell<Option<ReraisedException>> = const { Cell::new(None) };
}

/// An exception about to be reraised.
#[derive(Clone, Copy)]
struct ReraisedException {
    /// The number of the code object.
    unit: u32,
    /// The last line before, if known.
    last_line: Option<i32>,
    /// The instruction that reraises, unless it restores the origin of the exception.
    instruction: Option<usize>,
}

/// The maximum number of silenced probes in copies of code objects. Each keeps its copy alive, and
/// a program may create copies without end. Further ones are called each time.
const MAX_COPIES: usize = 10_000;

/// Observes code objects through probes.
#[pyclass(frozen, module = "testwright")]
pub(crate) struct Prober {
    dialect: Dialect,
    /// The mutable state. The interpreter is not called while it is locked, because it might call
    /// back.
    state: Mutex<ProberState>,
}

/// The mutable state of a prober.
#[derive(Default)]
struct ProberState {
    record: CoverageRecord,
    units: Vec<ProbedCode>,
    /// Silenced probes, by code object and number.
    silenced: Vec<(u32, u32)>,
    /// Silenced probes in copies of code objects, which `types.coroutine` creates, for example.
    silenced_copies: Vec<(CodeMemory, usize)>,
    /// True once observation has ended.
    is_stopped: bool,
}

/// A code object with probes.
struct ProbedCode {
    unit: ObservedCode,
    /// The kind of each probe, by number.
    kinds: Vec<ProbeKind>,
    /// The location of each probe, by number.
    spans: Vec<ProbeSpan>,
    /// The memory of the running code, if probes can be silenced.
    memory: Option<CodeMemory>,
}

/// The location of a probe in the assembled code, in code units.
#[derive(Clone, Copy)]
struct ProbeSpan {
    start: usize,
    end: usize,
    /// The instruction that jumps over the probe.
    jump: BytecodeUnit,
}

/// The constant that the instructions of a probe apply operators to.
#[pyclass(frozen, module = "testwright", name = "Probe")]
struct ProbeObject {
    prober: Py<Prober>,
    unit: u32,
    number: u32,
    /// True if the probe is silenced after its first call.
    fires_once: bool,
}

#[pymethods]
impl ProbeObject {
    /// Handles control reaching the position of the probe.
    fn __pos__(&self, python: Python<'_>) -> Py<PyAny> {
        self.prober.get().on_reached(python, self);
        python.None()
    }

    /// Handles an exception that this thread is handling (until 3.10).
    fn __neg__(&self, python: Python<'_>) -> Py<PyAny> {
        if let Some(from) = handled_exception_unit(python) {
            self.prober.get().on_exception(self, from);
        }
        python.None()
    }

    /// Handles an exception raised at this code unit (3.11).
    fn __matmul__(&self, from: usize, python: Python<'_>) -> Py<PyAny> {
        self.prober.get().on_exception(self, from);
        python.None()
    }
}

impl Prober {
    /// Creates a prober.
    pub(crate) fn start(python: Python<'_>) -> PyResult<Py<Prober>> {
        let prober = Prober {
            dialect: Dialect::read(python)?,
            state: Mutex::default(),
        };
        Py::new(python, prober)
    }

    /// Locks the state.
    fn state(&self) -> MutexGuard<'_, ProberState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the first instruction of a probe that is not silenced.
    fn active_start(&self) -> BytecodeUnit {
        [self.dialect.opcodes.no_operation, 0]
    }

    /// Runs `work` with the record.
    pub(crate) fn with_record<R>(&self, work: impl FnOnce(&mut CoverageRecord) -> R) -> R {
        work(&mut self.state().record)
    }

    /// Clears the current coverage, and reactivates all probes.
    pub(crate) fn reset(&self, _python: Python<'_>) {
        let copies = {
            let mut state = self.state();
            state.record.current.clear();
            for (unit, number) in std::mem::take(&mut state.silenced) {
                let probed = &state.units[unit as usize];
                if let Some(memory) = &probed.memory {
                    memory.set(probed.spans[number as usize].start, self.active_start());
                }
            }
            std::mem::take(&mut state.silenced_copies)
        };
        for (memory, position) in copies {
            memory.set(position, self.active_start());
        }
    }

    /// Stops observing: silences all probes for good.
    pub(crate) fn stop(&self, _python: Python<'_>) {
        let (memories, copies) = {
            let mut state = self.state();
            state.is_stopped = true;
            let take = |probed: &mut ProbedCode| {
                let memory = probed.memory.take()?;
                for (span, kind) in probed.spans.iter().zip(&probed.kinds) {
                    if let ProbeKind::Reached(_) | ProbeKind::Reraise(_) = kind {
                        memory.set(span.start, span.jump);
                    }
                }
                Some(memory)
            };
            let memories: Vec<CodeMemory> = state.units.iter_mut().filter_map(take).collect();
            (memories, std::mem::take(&mut state.silenced_copies))
        };
        // Dropped after the state is unlocked, because code objects may die here.
        drop((memories, copies));
    }

    /// Returns a code object with probes in it and in the code objects nested in it.
    fn observe<'py>(
        slf: &Bound<'py, Prober>,
        code: &Bound<'py, PyCode>,
        file: u32,
    ) -> PyResult<Bound<'py, PyCode>> {
        let prober = slf.get();
        let mut constants = Vec::new();
        for constant in code.getattr("co_consts")?.cast::<PyTuple>()? {
            constants.push(match constant.cast::<PyCode>() {
                Ok(inner) => Prober::observe(slf, inner, file)?.into_any(),
                Err(_) => constant,
            });
        }
        let Some(parsed) = disassemble(&prober.dialect, code)? else {
            return Ok(code.clone());
        };
        let (unit_number, marks, once) = {
            let mut state = prober.state();
            let (unit, kinds) = ObservedCode::probed(
                &prober.dialect,
                &parsed.instructions,
                parsed.first_line,
                file,
                &mut state.record,
            );
            let mark = |(number, (position, kind)): (usize, &_)| CodeMark {
                position: *position,
                number,
                has_line: true,
                code: probe_code(
                    &prober.dialect,
                    &parsed.instructions,
                    kind,
                    (constants.len() + number) as u32,
                ),
            };
            let marks: Vec<CodeMark> = kinds.iter().enumerate().map(mark).collect();
            let once: Vec<bool> = kinds.iter().map(|(_, kind)| kind.fires_once()).collect();
            state.units.push(ProbedCode {
                unit,
                kinds: kinds.into_iter().map(|(_, kind)| kind).collect(),
                spans: Vec::new(),
                memory: None,
            });
            (state.units.len() - 1, marks, once)
        };
        for (mark, fires_once) in marks.iter().zip(once) {
            let probe = ProbeObject {
                prober: slf.clone().unbind(),
                unit: unit_number as u32,
                number: mark.number as u32,
                fires_once,
            };
            constants.push(Bound::new(slf.py(), probe)?.into_any());
        }
        let constants = PyTuple::new(slf.py(), constants)?;
        let (changed, assembled) = reassemble(&prober.dialect, code, &parsed, &marks, &constants)?;
        let memory = CodeMemory::locate(&changed)?;
        let is_as_expected = memory.read() == assembled.code;
        let mut state = prober.state();
        let probed = &mut state.units[unit_number];
        probed.spans = spans(&prober.dialect, &assembled, marks.len());
        probed.unit.set_origins(assembled.origins);
        probed.memory = is_as_expected.then_some(memory);
        Ok(changed)
    }

    /// Handles a probe that control has reached.
    fn on_reached(&self, python: Python<'_>, probe: &ProbeObject) {
        // If the code object was copied, only the running copy is changed.
        let running = if probe.fires_once {
            running_code(python)
        } else {
            None
        };
        let mut state = self.state();
        let ProberState {
            record,
            units,
            silenced,
            is_stopped: false,
            ..
        } = &mut *state
        else {
            return;
        };
        let probed = &units[probe.unit as usize];
        match &probed.kinds[probe.number as usize] {
            ProbeKind::Reached(all) => {
                for effect in all {
                    apply_effect(*effect, probe.unit, probed.unit.file, record);
                }
            }
            ProbeKind::Reraise(number) => {
                let last_line = probed.unit.last_line(*number);
                let last_line = last_line.or_else(|| last_line_in(probe.unit));
                RERAISED.set(Some(ReraisedException {
                    unit: probe.unit,
                    last_line,
                    instruction: probed.unit.reraise_instruction(*number),
                }));
            }
            ProbeKind::Handler(_) | ProbeKind::Uncaught => {}
        }
        let (Some(memory), Some(running)) = (&probed.memory, running) else {
            return;
        };
        let span = probed.spans[probe.number as usize];
        if memory.code().as_ptr() != running.as_ptr() {
            drop(state);
            self.silence_in_copy(&running, probe, span);
        } else if memory.get(span.start) == self.active_start() {
            memory.set(span.start, span.jump);
            silenced.push((probe.unit, probe.number));
        }
    }

    /// Silences a probe in a copy of the code object.
    fn silence_in_copy(&self, running: &Bound<'_, PyCode>, probe: &ProbeObject, span: ProbeSpan) {
        let Ok(copy) = CodeMemory::locate(running) else {
            return;
        };
        let mut state = self.state();
        let Some(memory) = &state.units[probe.unit as usize].memory else {
            return;
        };
        if state.silenced_copies.len() >= MAX_COPIES {
            return;
        }
        let is_same = copy.len() == memory.len()
            && copy.get(span.start) == self.active_start()
            && (span.start + 1..span.end).all(|unit| copy.get(unit) == memory.get(unit));
        if is_same {
            copy.set(span.start, span.jump);
            state.silenced_copies.push((copy, span.start));
        }
    }

    /// Handles an exception that arrives at a handler or leaves.
    fn on_exception(&self, probe: &ProbeObject, from: usize) {
        let mut state = self.state();
        let ProberState {
            record,
            units,
            is_stopped: false,
            ..
        } = &mut *state
        else {
            return;
        };
        let ProbedCode { unit, kinds, .. } = &units[probe.unit as usize];
        let reraised = RERAISED
            .take()
            .filter(|reraised| reraised.unit == probe.unit);
        let last_line = reraised.and_then(|reraised| reraised.last_line);
        let previous = reraised.and_then(|reraised| reraised.instruction);
        let Some(previous) = previous.or_else(|| unit.instruction_at_or_before(from)) else {
            return;
        };
        let Some(origin) = unit.origin_from(previous, last_line, last_line_in(probe.unit)) else {
            return;
        };
        let arc: Option<Arc> = match kinds[probe.number as usize] {
            ProbeKind::Handler(handler) => unit.arc_to_handler(origin, handler),
            ProbeKind::Uncaught => unit.arc_when_unwound(origin),
            ProbeKind::Reached(_) | ProbeKind::Reraise(_) => None,
        };
        let last_line = arc.map_or(origin.last_line, |(_, line)| line);
        remember(probe.unit, last_line);
        if let Some(arc) = arc {
            let target = record.target(unit.file, arc);
            record.reach(target);
        }
    }
}

#[pymethods]
impl Prober {
    /// Returns the code of a module with probes.
    fn observe_module<'py>(
        slf: &Bound<'py, Prober>,
        code: &Bound<'py, PyCode>,
    ) -> PyResult<Bound<'py, PyCode>> {
        let path: String = code.getattr("co_filename")?.extract()?;
        let path = std::path::absolute(&path).unwrap_or_else(|_| path.into());
        let file = slf.get().state().record.file_number(&path);
        Prober::observe(slf, code, file)
    }
}

/// Records the effect of reaching an observation point.
fn apply_effect(effect: TargetEffect, unit: u32, file: u32, record: &mut CoverageRecord) {
    match effect {
        TargetEffect::Target(target) => record.reach(target),
        TargetEffect::Remember(origin) => remember(unit, origin.last_line),
        TargetEffect::FromRemembered(line) => {
            if let Some(last_line) = last_line_in(unit) {
                let target = record.target(file, (last_line, line));
                record.reach(target);
            }
        }
    }
}

/// Sets the last known line of this thread in a code object.
fn remember(unit: u32, line: i32) {
    LAST_LINES.with_borrow_mut(|lines| lines.insert(unit, line));
}

/// Returns the last known line of this thread in a code object.
fn last_line_in(unit: u32) -> Option<i32> {
    LAST_LINES.with_borrow(|lines| lines.get(&unit).copied())
}

/// Finds the location of each probe in the assembled code.
fn spans(dialect: &Dialect, assembled: &AssembledCode, probes: usize) -> Vec<ProbeSpan> {
    let nothing = ProbeSpan {
        start: 0,
        end: 0,
        jump: [0, 0],
    };
    let mut spans = vec![nothing; probes];
    for (unit, origin) in assembled.origins.iter().enumerate() {
        if let UnitOrigin::CodeMark(number) = *origin {
            let span = &mut spans[number];
            if span.end == 0 {
                span.start = unit;
            }
            span.end = unit + 1;
        }
    }
    let jump = dialect.opcodes.jump_forward;
    let bytes = dialect.bytes_per_jump_unit();
    for span in &mut spans {
        // If the probe is followed by a jump, both are done in one.
        let next = assembled.code.get(2 * span.end..2 * span.end + 2);
        let further = match (assembled.origins.get(span.end), next) {
            (Some(UnitOrigin::Detour), Some(&[operation, argument])) if operation == jump => {
                bytes + usize::from(argument)
            }
            _ => 0,
        };
        let distance = (span.end - span.start).saturating_sub(1) * bytes;
        let argument = u8::try_from(distance + further).unwrap_or(distance as u8);
        span.jump = [jump, argument];
    }
    spans
}

/// Returns the code unit, in the innermost frame, that raised the exception this thread is
/// handling.
fn handled_exception_unit(python: Python<'_>) -> Option<usize> {
    let mut handled = [std::ptr::null_mut::<ffi::PyObject>(); 3];
    let [class, value, traceback] = &mut handled;
    // SAFETY: the lock is held, and all three are written to: new references, or null.
    let [_class, _value, traceback] = unsafe {
        ffi::PyErr_GetExcInfo(class, value, traceback);
        handled.map(|object| Bound::from_owned_ptr_or_opt(python, object))
    };
    let offset: usize = traceback?.getattr("tb_lasti").ok()?.extract().ok()?;
    Some(offset / size_of::<BytecodeUnit>())
}

/// Returns the code object of the innermost Python frame.
fn running_code(python: Python<'_>) -> Option<Bound<'_, PyCode>> {
    // SAFETY: the lock is held. The frame is a borrowed reference, or null outside of Python code;
    // the code object is a new one, never null.
    let code = unsafe {
        let frame = ffi::PyEval_GetFrame();
        if frame.is_null() {
            return None;
        }
        Bound::from_owned_ptr(python, ffi::PyFrame_GetCode(frame).cast())
    };
    code.cast_into().ok()
}
