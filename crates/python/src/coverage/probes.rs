//! Observation by calls of our own, for the versions of CPython that have no `sys.monitoring`.
//!
//! A probe is an object among the constants of a code object, and a few instructions that apply an operator to it:
//! that is how it learns that the control has come to its place. If that needs to be known once, it has the
//! interpreter jump over these instructions from then on, which costs a nanosecond.

use std::cell::{Cell, RefCell};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyTuple};
use rustc_hash::FxHashMap;

use super::assemble::{Assembled, Mark, Origin};
use super::code_memory::{CodeMemory, CodeUnit};
use super::dialect::Dialect;
use super::flow::Arc;
use super::instrument::{put_together, take_apart};
use super::record::Record;
use super::unit::{Seen, Unit};
use super::watch::{Watch, probe};

thread_local! {
    /// By number of the unit: the line that this thread was last known to be in.
    static LAST_LINES: RefCell<FxHashMap<u32, i32>> = RefCell::default();
    /// The exception that is just being thrown again.
    static AGAIN: Cell<Option<Again>> = const { Cell::new(None) };
}

#[derive(Clone, Copy)]
struct Again {
    /// The number of the unit.
    unit: u32,
    last_line: Option<i32>,
    /// The instruction, unless it is as if it was thrown where it was thrown before.
    instruction: Option<usize>,
}

/// How many probes in copies are jumped over. Each keeps its copy alive, and a program may make ever more of them;
/// those of the rest are called each time.
const MOST_COPIES: usize = 10_000;

/// Observes code objects.
#[pyclass(frozen, module = "testwright")]
pub(crate) struct Prober {
    dialect: Dialect,
    /// Nothing is done with the interpreter while this is locked: it might come back here.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    record: Record,
    units: Vec<Probed>,
    /// Probes that are jumped over, by unit and number.
    silent: Vec<(u32, u32)>,
    /// The same in copies of code objects, which `types.coroutine` makes, for example.
    silent_copies: Vec<(CodeMemory, usize)>,
    is_over: bool,
}

/// A code object with probes.
struct Probed {
    unit: Unit,
    /// By number of the probe, as is the next.
    watches: Vec<Watch>,
    spots: Vec<Spot>,
    /// Where it runs, if probes can be jumped over.
    memory: Option<CodeMemory>,
}

/// Where a probe is.
#[derive(Clone, Copy)]
struct Spot {
    start: usize,
    end: usize,
    /// The jump over it.
    jump: CodeUnit,
}

/// What the instructions of a probe apply operators to.
#[pyclass(frozen, module = "testwright", name = "Probe")]
struct ProbeObject {
    prober: Py<Prober>,
    unit: u32,
    number: u32,
    is_once: bool,
}

#[pymethods]
impl ProbeObject {
    /// The control comes along.
    fn __pos__(&self, python: Python<'_>) -> Py<PyAny> {
        self.prober.get().passed(python, self);
        python.None()
    }

    /// An exception comes along, and this thread is handling it (until 3.10).
    fn __neg__(&self, python: Python<'_>) -> Py<PyAny> {
        if let Some(from) = place_of_handled(python) {
            self.prober.get().thrown(self, from);
        }
        python.None()
    }

    /// An exception comes along; it is from this code unit (3.11).
    fn __matmul__(&self, from: usize, python: Python<'_>) -> Py<PyAny> {
        self.prober.get().thrown(self, from);
        python.None()
    }
}

impl Prober {
    /// Starts to observe.
    pub(crate) fn start(python: Python<'_>) -> PyResult<Py<Prober>> {
        let prober = Prober {
            dialect: Dialect::of(python)?,
            state: Mutex::default(),
        };
        Py::new(python, prober)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a probe begins with as long as it is not jumped over.
    fn listening(&self) -> CodeUnit {
        [self.dialect.numbers.no_operation, 0]
    }

    pub(crate) fn with_record<R>(&self, use_it: impl FnOnce(&mut Record) -> R) -> R {
        use_it(&mut self.state().record)
    }

    /// Sees everything again that was seen before.
    pub(crate) fn begin_anew(&self, _python: Python<'_>) {
        let copies = {
            let mut state = self.state();
            state.record.current.clear();
            for (unit, number) in std::mem::take(&mut state.silent) {
                let probed = &state.units[unit as usize];
                if let Some(memory) = &probed.memory {
                    memory.set(probed.spots[number as usize].start, self.listening());
                }
            }
            std::mem::take(&mut state.silent_copies)
        };
        for (memory, place) in copies {
            memory.set(place, self.listening());
        }
    }

    /// Stops observing.
    pub(crate) fn stop(&self, _python: Python<'_>) {
        let (memories, copies) = {
            let mut state = self.state();
            state.is_over = true;
            let take = |probed: &mut Probed| {
                let memory = probed.memory.take()?;
                for (spot, watch) in probed.spots.iter().zip(&probed.watches) {
                    if let Watch::Passing(_) | Watch::Again(_) = watch {
                        memory.set(spot.start, spot.jump);
                    }
                }
                Some(memory)
            };
            let memories: Vec<CodeMemory> = state.units.iter_mut().filter_map(take).collect();
            (memories, std::mem::take(&mut state.silent_copies))
        };
        // Not before the state is free: this may be the end of code objects.
        drop((memories, copies));
    }

    /// A code object, and those inside it, under observation.
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
        let Some(taken) = take_apart(&prober.dialect, code)? else {
            return Ok(code.clone());
        };
        let (unit_number, marks, once) = {
            let mut state = prober.state();
            let (unit, watches) = Unit::probed(
                &prober.dialect,
                &taken.instructions,
                taken.first_line,
                file,
                &mut state.record,
            );
            let mark = |(number, (place, watch)): (usize, &_)| Mark {
                place: *place,
                number,
                has_line: true,
                code: probe(
                    &prober.dialect,
                    &taken.instructions,
                    watch,
                    (constants.len() + number) as u32,
                ),
            };
            let marks: Vec<Mark> = watches.iter().enumerate().map(mark).collect();
            let once: Vec<bool> = watches.iter().map(|(_, watch)| watch.is_once()).collect();
            state.units.push(Probed {
                unit,
                watches: watches.into_iter().map(|(_, watch)| watch).collect(),
                spots: Vec::new(),
                memory: None,
            });
            (state.units.len() - 1, marks, once)
        };
        for (mark, is_once) in marks.iter().zip(once) {
            let probe = ProbeObject {
                prober: slf.clone().unbind(),
                unit: unit_number as u32,
                number: mark.number as u32,
                is_once,
            };
            constants.push(Bound::new(slf.py(), probe)?.into_any());
        }
        let constants = PyTuple::new(slf.py(), constants)?;
        let (changed, assembled) = put_together(&prober.dialect, code, &taken, &marks, &constants)?;
        let memory = CodeMemory::of(&changed)?;
        let is_as_expected = memory.read() == assembled.code;
        let mut state = prober.state();
        let probed = &mut state.units[unit_number];
        probed.spots = spots(&prober.dialect, &assembled, marks.len());
        probed.unit.set_origins(assembled.origins);
        probed.memory = is_as_expected.then_some(memory);
        Ok(changed)
    }

    fn passed(&self, python: Python<'_>, probe: &ProbeObject) {
        // Of code objects that were copied, only the one that runs is to be changed.
        let running = if probe.is_once {
            running_code(python)
        } else {
            None
        };
        let mut state = self.state();
        let State {
            record,
            units,
            silent,
            is_over: false,
            ..
        } = &mut *state
        else {
            return;
        };
        let probed = &units[probe.unit as usize];
        match &probed.watches[probe.number as usize] {
            Watch::Passing(all) => {
                for seen in all {
                    see(*seen, probe.unit, probed.unit.file, record);
                }
            }
            Watch::Again(number) => {
                let last_line = probed.unit.last_line(*number);
                let last_line = last_line.or_else(|| last_line_in(probe.unit));
                AGAIN.set(Some(Again {
                    unit: probe.unit,
                    last_line,
                    instruction: probed.unit.throws_again_from(*number),
                }));
            }
            Watch::Handler(_) | Watch::Uncaught => {}
        }
        let (Some(memory), Some(running)) = (&probed.memory, running) else {
            return;
        };
        let spot = probed.spots[probe.number as usize];
        if memory.code().as_ptr() != running.as_ptr() {
            drop(state);
            self.passed_in_copy(&running, probe, spot);
        } else if memory.get(spot.start) == self.listening() {
            memory.set(spot.start, spot.jump);
            silent.push((probe.unit, probe.number));
        }
    }

    /// Silences a probe in a copy of the code object.
    fn passed_in_copy(&self, running: &Bound<'_, PyCode>, probe: &ProbeObject, spot: Spot) {
        let Ok(copy) = CodeMemory::of(running) else {
            return;
        };
        let mut state = self.state();
        let Some(memory) = &state.units[probe.unit as usize].memory else {
            return;
        };
        if state.silent_copies.len() >= MOST_COPIES {
            return;
        }
        let is_same = copy.len() == memory.len()
            && copy.get(spot.start) == self.listening()
            && (spot.start + 1..spot.end).all(|unit| copy.get(unit) == memory.get(unit));
        if is_same {
            copy.set(spot.start, spot.jump);
            state.silent_copies.push((copy, spot.start));
        }
    }

    fn thrown(&self, probe: &ProbeObject, from: usize) {
        let mut state = self.state();
        let State {
            record,
            units,
            is_over: false,
            ..
        } = &mut *state
        else {
            return;
        };
        let Probed { unit, watches, .. } = &units[probe.unit as usize];
        let again = AGAIN.take().filter(|again| again.unit == probe.unit);
        let last_line = again.and_then(|again| again.last_line);
        let previous = again.and_then(|again| again.instruction);
        let Some(previous) = previous.or_else(|| unit.instruction_up_to(from)) else {
            return;
        };
        let Some(thrown) = unit.thrown_from(previous, last_line, last_line_in(probe.unit)) else {
            return;
        };
        let arc: Option<Arc> = match watches[probe.number as usize] {
            Watch::Handler(handler) => unit.handled_by(thrown, handler),
            Watch::Uncaught => unit.unwound(thrown),
            Watch::Passing(_) | Watch::Again(_) => None,
        };
        let last_line = arc.map_or(thrown.last_line, |(_, line)| line);
        remember(probe.unit, last_line);
        if let Some(arc) = arc {
            let target = record.target(unit.file, arc);
            record.reach(target);
        }
    }
}

#[pymethods]
impl Prober {
    /// A module's code under observation.
    fn observe_module<'py>(
        slf: &Bound<'py, Prober>,
        code: &Bound<'py, PyCode>,
    ) -> PyResult<Bound<'py, PyCode>> {
        let path: String = code.getattr("co_filename")?.extract()?;
        let path = std::path::absolute(&path).unwrap_or_else(|_| path.into());
        let file = slf.get().state().record.file(&path);
        Prober::observe(slf, code, file)
    }
}

fn see(seen: Seen, unit: u32, file: u32, record: &mut Record) {
    match seen {
        Seen::Target(target) => record.reach(target),
        Seen::Remember(thrown) => remember(unit, thrown.last_line),
        Seen::FromRemembered(line) => {
            if let Some(last_line) = last_line_in(unit) {
                let target = record.target(file, (last_line, line));
                record.reach(target);
            }
        }
    }
}

fn remember(unit: u32, line: i32) {
    LAST_LINES.with_borrow_mut(|lines| lines.insert(unit, line));
}

/// The line of this unit that this thread was last known to be in.
fn last_line_in(unit: u32) -> Option<i32> {
    LAST_LINES.with_borrow(|lines| lines.get(&unit).copied())
}

/// Where the probes ended up.
fn spots(dialect: &Dialect, assembled: &Assembled, probes: usize) -> Vec<Spot> {
    let nothing = Spot {
        start: 0,
        end: 0,
        jump: [0, 0],
    };
    let mut spots = vec![nothing; probes];
    for (unit, origin) in assembled.origins.iter().enumerate() {
        if let Origin::Mark(number) = *origin {
            let spot = &mut spots[number];
            if spot.end == 0 {
                spot.start = unit;
            }
            spot.end = unit + 1;
        }
    }
    let jump = dialect.numbers.jump_forward;
    let bytes = dialect.bytes_per_jump_unit();
    for spot in &mut spots {
        // After a probe there may be a jump, which may as well be done at once.
        let next = assembled.code.get(2 * spot.end..2 * spot.end + 2);
        let further = match (assembled.origins.get(spot.end), next) {
            (Some(Origin::Detour), Some(&[operation, argument])) if operation == jump => {
                bytes + usize::from(argument)
            }
            _ => 0,
        };
        let distance = (spot.end - spot.start).saturating_sub(1) * bytes;
        let argument = u8::try_from(distance + further).unwrap_or(distance as u8);
        spot.jump = [jump, argument];
    }
    spots
}

/// The code unit in the innermost frame that the exception comes from which this thread is handling.
fn place_of_handled(python: Python<'_>) -> Option<usize> {
    let mut handled = [std::ptr::null_mut::<ffi::PyObject>(); 3];
    let [class, value, traceback] = &mut handled;
    // SAFETY: the lock is held, and all three are written to: new references, or null.
    let [_class, _value, traceback] = unsafe {
        ffi::PyErr_GetExcInfo(class, value, traceback);
        handled.map(|object| Bound::from_owned_ptr_or_opt(python, object))
    };
    let offset: usize = traceback?.getattr("tb_lasti").ok()?.extract().ok()?;
    Some(offset / size_of::<CodeUnit>())
}

/// The code object that runs in the innermost Python frame.
fn running_code(python: Python<'_>) -> Option<Bound<'_, PyCode>> {
    // SAFETY: the lock is held. The frame is a borrowed reference, or null outside of Python code; the code object
    // is a new one, never null.
    let code = unsafe {
        let frame = ffi::PyEval_GetFrame();
        if frame.is_null() {
            return None;
        }
        Bound::from_owned_ptr(python, ffi::PyFrame_GetCode(frame).cast())
    };
    code.cast_into().ok()
}
