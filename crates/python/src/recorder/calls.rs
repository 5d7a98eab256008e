//! Calls as they happen.
//!
//! Each thread has a stack of the calls that are being recorded; those that are only counted are not on it. A call is
//! recognised by its frame. A generator or coroutine that waits is taken off the stack, and put on that of whoever
//! makes it go on.

mod stack;

use std::collections::BTreeSet;
use std::time::Instant;

use pyo3::exceptions::PyGeneratorExit;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyType};
use testwright_capture::{
    Argument, Call, CallId, Graph, NodeId, Outcome, Receiver, Step, StepAction, StepOutcome,
    UnitId, UnitKind,
};

use super::Recorder;
use super::circumstances;
use super::code::{self, Kind};
use super::frame::Frame;
use super::homes;
use super::identity::Window;
use super::likeness;
use super::names;
use super::passing;
use super::snapshot::{Moment, weight};
use super::sources::Told;
#[cfg(not(Py_3_12))]
pub(super) use stack::innermost_frame;
pub(super) use stack::{Active, Thread, forget_innermost, thread};
#[cfg(Py_3_12)]
pub(super) use stack::{begins_above, ends_innermost, innermost_code, is_of_innermost};

/// After so many calls that were kept, the numbers of all calls are written down.
const COUNTED_EVERY: u64 = 64;

/// More code objects than this are not remembered, in case a program makes them without end.
const MOST_CODES: usize = 50_000;

/// More steps of a generator than this are not looked at: some have no end.
const MOST_STEPS: usize = 1_000;
/// Nor are they if they have come to so many nodes.
const MOST_NODES: usize = 20_000;
/// So many steps take as long as a look at a call, and count as one.
const STEPS_OF_A_LOOK: usize = 8;

/// What the calls that are being recorded may take in memory together, about. While they take more, others are only
/// counted.
const MOST_OPEN: usize = 40 << 20;

/// After so many lines in one call, those that are known already are no longer told: it is in a loop.
#[cfg(Py_3_12)]
const MANY_LINES: u32 = 200;

/// What a code object is to the recorder, for those who ask for events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Its calls are never recorded: it is not the project's, or no unit.
    Foreign,
    /// It is that of a module.
    Module,
    /// It is that of a unit, but this call is not recorded.
    Passed,
    /// A call of it is being recorded.
    Recorded,
}

/// What the interpreter is to be asked to tell of a unit.
#[cfg(Py_3_12)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Everything,
    /// Everything again, also what was switched off at some places.
    EverythingAgain,
    Beginnings,
}

/// How a frame is left.
pub(super) enum Left<'a, 'py> {
    With(&'a Bound<'py, PyAny>),
    By(&'a Bound<'py, PyAny>),
}

impl Recorder {
    /// A function begins. `frame` is asked for only if need be, as it may have to be made.
    pub(super) fn enter<'py>(
        &mut self,
        code: &Bound<'py, PyCode>,
        frame: impl FnOnce() -> Option<Frame<'py>>,
    ) -> PyResult<Standing> {
        let address = code.as_ptr() as usize;
        let mut frame = Some(frame);
        let mut found = None;
        if !self.codes.contains_key(&address) {
            found = frame.take().and_then(|frame| frame());
            let globals = found.as_ref().and_then(Frame::globals);
            let Some(globals) = globals else {
                return Ok(Standing::Passed);
            };
            if !self.scoped.has(&code.getattr("co_filename")?, &globals) {
                if self.codes.len() < MOST_CODES {
                    let known = (Kind::Foreign, code.clone().unbind());
                    self.codes.insert(address, known);
                    passing::allow_for_ever(address);
                }
                return Ok(Standing::Foreign);
            }
            self.notice_fork(code.py())?;
            self.get_to_know(code, &globals)?;
        }
        match self.codes.get_mut(&address) {
            Some((Kind::Unit(watched), _)) => {
                let is_affordable = self.open_weight < MOST_OPEN;
                if !watched.begins(address) || !is_affordable {
                    #[cfg(Py_3_12)]
                    begins_above(address);
                    return Ok(Standing::Passed);
                }
            }
            Some((Kind::Module, _)) => return Ok(Standing::Module),
            _ => {
                passing::allow_for_ever(address);
                return Ok(Standing::Foreign);
            }
        }
        self.notice_fork(code.py())?;
        super::sources::notice_streams(code.py(), &mut self.streams);
        let frame = found.or_else(|| frame.take().and_then(|frame| frame()));
        let Some(frame) = frame else {
            return Ok(Standing::Passed);
        };
        self.begin(code, &frame)?;
        Ok(Standing::Recorded)
    }

    fn get_to_know(
        &mut self,
        code: &Bound<'_, PyCode>,
        globals: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let module = names::entry(globals, "__name__");
        // SAFETY: the entry is alive.
        let module = module.and_then(|name| unsafe { names::text(code.py(), name.as_ptr()) });
        let mut kind = code::kind(code, &module.unwrap_or_default(), &mut self.qualified)?;
        let address = code.as_ptr() as usize;
        if let Kind::Unit(watched) = &mut kind {
            watched.number = self.writer.unit(&watched.unit)?.0;
            self.units.push(address);
            #[cfg(not(Py_3_12))]
            if let Some(start) = super::tracing::begins_at(code) {
                passing::note_start(address, start);
            }
        }
        self.codes.insert(address, (kind, code.clone().unbind()));
        Ok(())
    }

    fn begin(&mut self, code: &Bound<'_, PyCode>, frame: &Frame<'_>) -> PyResult<()> {
        let python = code.py();
        let address = code.as_ptr() as usize;
        let Some((Kind::Unit(watched), _)) = self.codes.get(&address) else {
            return Ok(());
        };
        let (unit, kind) = (UnitId(watched.number), watched.unit.kind);
        let bound: Vec<(String, Bound<'_, PyAny>)> = (watched.unit.parameters.iter())
            .filter_map(|parameter| {
                Some((parameter.name.clone(), frame.variable(&parameter.name)?))
            })
            .collect();
        let first = bound.first().map(|(_, value)| value);
        let receiver =
            circumstances::receiver(&watched.unit.qualified_name, &watched.unit.module, first);
        let class = match (&receiver, first) {
            (Receiver::Instance(_), Some(first)) => Some(first.get_type()),
            (Receiver::Class(_), Some(first)) => first.cast::<PyType>().ok().cloned(),
            _ => None,
        };
        let is_from_own_method =
            class.is_some() && first.is_some_and(|own| circumstances::is_own(frame, own));
        let defaults = code::defaults(watched, python);
        let globals = frame.globals().unwrap_or_else(|| PyDict::new(python));
        let (plans, scoped) = (&mut self.plans, &mut self.scoped);
        let reach = plans.reach(code, &globals, class.as_ref(), scoped);
        let mut values = Graph::default();
        let mut window = Window::default();
        let mut moment = Moment::new(&mut self.eyes, &mut values, &mut window);
        let arguments = (bound.iter())
            .map(|(name, value)| Argument {
                name: name.clone(),
                before: moment.of(value),
                after: None,
                is_default: defaults.get(name).is_some_and(|default| default.is(value)),
            })
            .collect();
        let places = reach.before(python, &mut moment, &mut self.baseline);
        let mut met = self.homes.met(python, &moment);
        met.retain(|state| !places.iter().any(|known| known.place == state.place));
        let weight = weight(&values);
        self.open_weight += weight;
        let id = CallId(self.tick());
        let threads = u32::try_from(self.threads.len()).unwrap_or(u32::MAX);
        let thread = self.threads.entry(thread()).or_insert_with(|| Thread {
            number: threads,
            stack: Vec::new(),
        });
        let caller = thread.stack.last().map(Active::id);
        let call = Call {
            id,
            end: None,
            execution: 0,
            thread: thread.number,
            task: None,
            unit,
            caller,
            is_from_own_method,
            receiver,
            arguments,
            places,
            outcome: Outcome::Unfinished,
            steps: Vec::new(),
            events: Vec::new(),
            lines: Vec::new(),
            microseconds: 0,
            uncaptured: Vec::new(),
            values,
        };
        thread.push(Active {
            code: address,
            frame: frame.address(),
            kind,
            call,
            window,
            arguments: bound.into_iter().map(|(_, value)| value.unbind()).collect(),
            reach,
            met,
            lines: BTreeSet::new(),
            #[cfg(Py_3_12)]
            steps_taken: 0,
            #[cfg(Py_3_12)]
            above: 0,
            weight,
            leads_to_new_line: false,
            started: Instant::now(),
            #[cfg(not(Py_3_12))]
            exception: None,
            outside: super::sources::Outside::default(),
            action: StepAction::Next,
        });
        if let Some((Kind::Unit(watched), _)) = self.codes.get_mut(&address) {
            watched.open += 1;
        }
        if kind == UnitKind::Generator {
            super::sources::watch_generators(python);
        }
        // A frame that lay here before is gone for good.
        if let Some(old) = self.waiting.remove(&frame.address()) {
            self.leave_unfinished(python, old)?;
        }
        self.writer.entered(id, unit, caller)?;
        Ok(())
    }

    /// Whether any generator or coroutine waits.
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn is_unit(&self, code: usize) -> bool {
        matches!(self.codes.get(&code), Some((Kind::Unit(_), _)))
    }

    #[cfg(Py_3_12)]
    pub(super) fn is_module(&self, code: usize) -> bool {
        matches!(self.codes.get(&code), Some((Kind::Module, _)))
    }

    /// A line of the innermost call is reached. Whether that is to be told again.
    pub(super) fn reach_line(&mut self, line: u32) -> bool {
        let thread = self.threads.get_mut(&thread());
        let Some(top) = thread.and_then(|thread| thread.stack.last_mut()) else {
            return true;
        };
        top.lines.insert(line);
        #[cfg(Py_3_12)]
        {
            top.steps_taken = top.steps_taken.saturating_add(1);
            if top.steps_taken > MANY_LINES
                && let Some((Kind::Unit(watched), _)) = self.codes.get_mut(&top.code)
            {
                watched.has_silent_lines = true;
                return false;
            }
        }
        true
    }

    /// What to ask the interpreter for a code object from now on; `None` if nothing changes.
    #[cfg(Py_3_12)]
    pub(super) fn wish(&mut self, code: usize) -> Option<Wish> {
        let Some((Kind::Unit(watched), _)) = self.codes.get_mut(&code) else {
            return None;
        };
        let wanted = watched.open > 0 || watched.interest.is_close();
        let had = std::mem::replace(&mut watched.tells_everything, wanted);
        let has_silent_lines = watched.has_silent_lines;
        watched.has_silent_lines &= wanted && watched.open == 0;
        match (had, wanted) {
            (false, true) => Some(Wish::Everything),
            (true, true) if has_silent_lines && watched.open > 0 => Some(Wish::EverythingAgain),
            (true, false) => Some(Wish::Beginnings),
            _ => None,
        }
    }

    /// An exception is on its way through a frame.
    #[cfg(not(Py_3_12))]
    pub(super) fn note_exception(&mut self, frame: usize, exception: Option<Bound<'_, PyAny>>) {
        let thread = self.threads.get_mut(&thread());
        if let Some(top) = thread.and_then(|thread| thread.stack.last_mut())
            && top.frame == frame
        {
            self.released.extend(top.exception.take());
            top.exception = exception.map(Bound::unbind);
        }
    }

    /// The exception that was last seen in a frame.
    #[cfg(not(Py_3_12))]
    pub(super) fn exception_of(&mut self, frame: usize) -> Option<Py<PyAny>> {
        let top = self.threads.get_mut(&thread())?.stack.last_mut()?;
        (top.frame == frame).then(|| top.exception.take())?
    }

    /// A frame is left by an exception that nobody saw: another tool has taken our place. The call has no outcome.
    #[cfg(not(Py_3_12))]
    pub(super) fn lose(&mut self, python: Python<'_>, frame: &Frame<'_>) -> PyResult<()> {
        match self.take(frame.address()) {
            Some(active) => self.leave_unfinished(python, active),
            None => Ok(()),
        }
    }

    /// Something did not work: the recording says so, and the program does not notice.
    pub(super) fn note_trouble(&mut self, result: PyResult<()>) {
        if let Err(error) = result {
            let _ = self.writer.trouble(&error.to_string());
        }
    }

    /// The call of a frame, taken off the stack of this thread.
    fn take(&mut self, frame: usize) -> Option<Active> {
        self.threads.get_mut(&thread())?.pop(frame)
    }

    /// A generator or coroutine waits, and hands something out.
    pub(super) fn wait(&mut self, frame: &Frame<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(mut active) = self.take(frame.address()) else {
            return Ok(());
        };
        if active.call.steps.len() >= MOST_STEPS || active.call.values.len() >= MOST_NODES {
            return self.leave_unfinished(value.py(), active);
        }
        let yielded = match active.kind {
            UnitKind::Generator => Some(value.clone()),
            UnitKind::AsyncGenerator => circumstances::yielded(value),
            UnitKind::Function | UnitKind::Coroutine => None,
        };
        if let Some(value) = yielded {
            let node = self.look(&mut active, &value);
            let action = std::mem::replace(&mut active.action, StepAction::Next);
            let outcome = StepOutcome::Yielded(node);
            active.call.steps.push(Step { action, outcome });
            if active.call.steps.len().is_multiple_of(STEPS_OF_A_LOOK)
                && let Some((Kind::Unit(watched), _)) = self.codes.get_mut(&active.code)
            {
                watched.interest.looks_again();
            }
        }
        self.waiting.insert(frame.address(), active);
        Ok(())
    }

    /// A generator or coroutine goes on.
    pub(super) fn go_on(&mut self, python: Python<'_>, frame: usize) {
        let Some(mut active) = self.waiting.remove(&frame) else {
            return;
        };
        active.action = match super::sources::told(frame) {
            Some(Told::Sent(value)) => match value.bind(python) {
                value if value.is_none() => StepAction::Next,
                value => StepAction::Send(self.look(&mut active, value)),
            },
            Some(Told::Thrown(error)) => {
                StepAction::Throw(self.look(&mut active, error.bind(python)))
            }
            Some(Told::Closed) => StepAction::Close,
            None => StepAction::Next,
        };
        let threads = u32::try_from(self.threads.len()).unwrap_or(u32::MAX);
        let thread = self.threads.entry(thread()).or_insert_with(|| Thread {
            number: threads,
            stack: Vec::new(),
        });
        thread.push(active);
    }

    fn look(&mut self, active: &mut Active, value: &Bound<'_, PyAny>) -> NodeId {
        Moment::new(&mut self.eyes, &mut active.call.values, &mut active.window).of(value)
    }

    /// A function ends.
    pub(super) fn leave(&mut self, frame: &Frame<'_>, left: Left<'_, '_>) -> PyResult<()> {
        let Some(active) = self.take(frame.address()) else {
            if let Left::With(value) = left {
                self.notice_module_end(frame, value.py());
            }
            return Ok(());
        };
        self.conclude(active, left)
    }

    /// A generator that waits is closed, without being made to go on.
    pub(super) fn close(&mut self, python: Python<'_>, frame: usize) -> PyResult<()> {
        match self.waiting.remove(&frame) {
            Some(active) => {
                let exit = PyGeneratorExit::new_err(()).into_value(python);
                self.conclude(active, Left::By(exit.bind(python)))
            }
            None => Ok(()),
        }
    }

    /// Looks at everything once more when a call has ended.
    fn conclude(&mut self, mut active: Active, left: Left<'_, '_>) -> PyResult<()> {
        let python = match &left {
            Left::With(value) | Left::By(value) => value.py(),
        };
        let is_generator = matches!(active.kind, UnitKind::Generator | UnitKind::AsyncGenerator);
        let Active {
            call,
            window,
            arguments,
            reach,
            met,
            action,
            ..
        } = &mut active;
        let action = std::mem::replace(action, StepAction::Next);
        let mut moment = Moment::new(&mut self.eyes, &mut call.values, window);
        for (argument, object) in call.arguments.iter_mut().zip(arguments.iter()) {
            argument.after = Some(moment.of(object.bind(python)));
        }
        reach.after(python, &mut moment, &mut call.places);
        homes::look_again(python, &mut moment, met);
        match left {
            Left::With(value) => {
                let node = moment.of(value);
                if is_generator {
                    let outcome = StepOutcome::Returned(node);
                    call.steps.push(Step { action, outcome });
                }
                call.outcome = Outcome::Returned(node);
            }
            Left::By(exception) => {
                let node = moment.of(exception);
                let is_closed = is_generator && exception.is_instance_of::<PyGeneratorExit>();
                if is_generator {
                    let action = if is_closed { StepAction::Close } else { action };
                    let outcome = StepOutcome::Raised(node);
                    call.steps.push(Step { action, outcome });
                }
                if !is_closed {
                    let is_own = circumstances::is_raised_here(exception);
                    call.outcome = Outcome::Raised {
                        exception: node,
                        is_own,
                    };
                }
            }
        }
        self.end(python, active)
    }

    /// A call that will not end any more, as far as anybody can see.
    pub(super) fn leave_unfinished(&mut self, python: Python<'_>, active: Active) -> PyResult<()> {
        self.end(python, active)
    }

    fn end(&mut self, python: Python<'_>, mut active: Active) -> PyResult<()> {
        self.open_weight = self.open_weight.saturating_sub(active.weight);
        let end = self.tick();
        let call = &mut active.call;
        if !matches!(call.outcome, Outcome::Unfinished) {
            call.end = Some(end);
        }
        call.lines = std::mem::take(&mut active.lines).into_iter().collect();
        call.microseconds = u64::try_from(active.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        active.outside.finish(call, python);
        let id = call.id;
        let (traits, words) = (likeness::traits(call), likeness::words(call));
        let is_kept = match self.codes.get_mut(&active.code) {
            Some((Kind::Unit(watched), _)) => {
                watched.open = watched.open.saturating_sub(1);
                let interest = &mut watched.interest;
                active.leads_to_new_line |= interest.has_new_line(&active.call.lines);
                let is_wanted = active.leads_to_new_line | interest.has_new_word(&words);
                interest.is_worth_keeping(traits, is_wanted)
            }
            _ => false,
        };
        let caller = self.threads.get_mut(&thread());
        if let Some(caller) = caller.and_then(|thread| thread.stack.last_mut()) {
            caller.leads_to_new_line |= active.leads_to_new_line;
        }
        let window = std::mem::take(&mut active.window);
        self.released
            .extend(self.eyes.identities.close(window, python));
        #[cfg(not(Py_3_12))]
        self.released.extend(active.exception.take());
        if is_kept {
            let met = std::mem::take(&mut active.met);
            let met = homes::unchanged(&active.call.values, met);
            active.call.places.extend(met);
            let empty = Graph::default();
            let values = std::mem::replace(&mut active.call.values, empty);
            let call = Call {
                values,
                ..active.call.clone()
            };
            self.writer.call(call)?;
            self.written += 1;
            if self.written.is_multiple_of(COUNTED_EVERY) {
                let counts = self.counts();
                self.writer.counts(&counts)?;
            }
        } else {
            self.writer.dropped(id)?;
        }
        self.released.extend(active.into_objects());
        Ok(())
    }

    /// If the frame is that of a module, what is there now is what an import gives.
    fn notice_module_end(&mut self, frame: &Frame<'_>, python: Python<'_>) {
        let code = frame.code();
        let address = code.map(|code| code.as_ptr() as usize);
        let kind = address.and_then(|address| self.codes.get(&address));
        if matches!(kind, Some((Kind::Module, _)))
            && let Some(globals) = frame.globals()
        {
            let window = self.baseline.note_module(&globals, &mut self.eyes);
            self.homes.note_module(&globals);
            self.plans.forget();
            self.released
                .extend(self.eyes.identities.close(window, python));
        }
    }

    /// Modules of the project that were there before.
    pub(super) fn note_loaded_modules(&mut self, python: Python<'_>) {
        let modules = python
            .import("sys")
            .and_then(|system| system.getattr("modules"));
        let modules = modules
            .ok()
            .and_then(|modules| modules.cast_into::<PyDict>().ok());
        let modules = modules.iter().flat_map(|modules| modules.iter());
        for (_, module) in modules.collect::<Vec<_>>() {
            let Some(namespace) = names::module_namespace(&module) else {
                continue;
            };
            let file = names::entry(&namespace, "__file__");
            if file.is_some_and(|file| self.scoped.has(&file, &namespace)) {
                let window = self.baseline.note_module(&namespace, &mut self.eyes);
                self.homes.note_module(&namespace);
                self.released
                    .extend(self.eyes.identities.close(window, python));
            }
        }
    }
}
