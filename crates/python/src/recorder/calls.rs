//! Start, suspension and end of recorded calls.
//!
//! Each thread has a stack of the calls being recorded; calls that are only counted are not on it.
//! A call is identified by its frame. When a generator or coroutine suspends, its call leaves the
//! stack, and joins the stack of the thread that resumes it.

mod stack;

use std::collections::BTreeSet;
use std::time::Instant;

use pyo3::exceptions::PyGeneratorExit;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyType};
use testwright_capture::{
    BoundArgument, Call, CallId, CallOutcome, GeneratorStep, NodeId, Receiver, StepAction,
    StepOutcome, UnitId, UnitKind, ValueGraph,
};

use super::CallRecorder;
use super::call_context;
use super::code::{self, CodeKind};
use super::equivalence;
use super::external::GeneratorInput;
use super::frame::PythonFrame;
use super::identity::HeldObjects;
use super::importable_objects;
use super::names;
use super::object_reader::{ValueGraphBuilder, memory_size};
use super::skip_table;
#[cfg(not(Py_3_12))]
pub(super) use stack::innermost_frame;
pub(super) use stack::{ActiveCall, ThreadCalls, forget_innermost, thread_id};
#[cfg(Py_3_12)]
pub(super) use stack::{count_unrecorded, ends_innermost, innermost_code, is_innermost};

/// Call counts are written to the file after this many kept calls.
const COUNTS_INTERVAL: u64 = 64;

/// The maximum number of code objects remembered, in case a program creates them without end.
const MAX_CODES: usize = 50_000;

/// The maximum number of recorded steps of a generator, as some never end.
const MAX_STEPS: usize = 1_000;
/// The maximum number of value nodes of a generator's call.
const MAX_NODES: usize = 20_000;
/// This many generator steps take as long to read as one call, and count as one.
const STEPS_PER_EXAMINED_CALL: usize = 8;

/// The approximate maximum memory use of all calls being recorded. Above it, further calls are only
/// counted.
const MAX_OPEN_BYTES: usize = 40 << 20;

/// After this many line events in one call, known lines are no longer reported: the call is in a
/// loop.
#[cfg(Py_3_12)]
const MAX_LINE_EVENTS: u32 = 200;

/// The treatment of a function that starts, for the code that requests events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryStatus {
    /// The code is outside the project or not a unit; its calls are never recorded.
    Foreign,
    /// The code is the body of a module.
    Module,
    /// The code is a unit, but this call is not recorded.
    Skipped,
    /// This call is being recorded.
    Recorded,
}

/// A change to the set of events that the interpreter reports for a unit.
#[cfg(Py_3_12)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventRequest {
    /// Report all events of its calls.
    All,
    /// Report all events, including those switched off at single lines.
    RestartAll,
    /// Report only the starts of its calls.
    StartsOnly,
}

/// The way a frame ended.
pub(super) enum FrameExit<'a, 'py> {
    /// It returned this value.
    Returned(&'a Bound<'py, PyAny>),
    /// It was left by this exception.
    Raised(&'a Bound<'py, PyAny>),
}

impl CallRecorder {
    /// Handles the start of a function, and records the call if it is worth it.
    ///
    /// `frame` is called only if the frame is needed, because the interpreter may have to create
    /// it.
    pub(super) fn enter<'py>(
        &mut self,
        code: &Bound<'py, PyCode>,
        frame: impl FnOnce() -> Option<PythonFrame<'py>>,
    ) -> PyResult<EntryStatus> {
        let address = code.as_ptr() as usize;
        let mut frame = Some(frame);
        let mut found = None;
        if !self.codes.contains_key(&address) {
            found = frame.take().and_then(|frame| frame());
            let globals = found.as_ref().and_then(PythonFrame::globals);
            let Some(globals) = globals else {
                return Ok(EntryStatus::Skipped);
            };
            if !self
                .scope_cache
                .contains(&code.getattr("co_filename")?, &globals)
            {
                if self.codes.len() < MAX_CODES {
                    let known = (CodeKind::Foreign, code.clone().unbind());
                    self.codes.insert(address, known);
                    skip_table::skip_always(address);
                }
                return Ok(EntryStatus::Foreign);
            }
            self.handle_fork(code.py())?;
            self.register_code(code, &globals)?;
        }
        match self.codes.get_mut(&address) {
            Some((CodeKind::Unit(watched), _)) => {
                let is_affordable = self.open_bytes < MAX_OPEN_BYTES;
                if !watched.should_examine(address) || !is_affordable {
                    #[cfg(Py_3_12)]
                    count_unrecorded(address);
                    return Ok(EntryStatus::Skipped);
                }
            }
            Some((CodeKind::Module, _)) => return Ok(EntryStatus::Module),
            _ => {
                skip_table::skip_always(address);
                return Ok(EntryStatus::Foreign);
            }
        }
        self.handle_fork(code.py())?;
        super::external::watch_streams(code.py(), &mut self.streams);
        let frame = found.or_else(|| frame.take().and_then(|frame| frame()));
        let Some(frame) = frame else {
            return Ok(EntryStatus::Skipped);
        };
        self.begin_call(code, &frame)?;
        Ok(EntryStatus::Recorded)
    }

    /// Classifies a code object seen for the first time, and registers units in the store.
    fn register_code(
        &mut self,
        code: &Bound<'_, PyCode>,
        globals: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let module = names::entry(globals, "__name__");
        // SAFETY: the entry is alive.
        let module = module.and_then(|name| unsafe { names::read_text(code.py(), name.as_ptr()) });
        let mut kind = code::classify(code, &module.unwrap_or_default(), &mut self.qualified)?;
        let address = code.as_ptr() as usize;
        if let CodeKind::Unit(watched) = &mut kind {
            watched.number = self.writer.add_unit(&watched.unit)?.0;
            self.units.push(address);
            #[cfg(not(Py_3_12))]
            if let Some(start) = super::tracing::start_offset(code) {
                skip_table::set_start(address, start);
            }
        }
        self.codes.insert(address, (kind, code.clone().unbind()));
        Ok(())
    }

    /// Reads the arguments and reachable variables of a call, and pushes it on the thread's stack.
    fn begin_call(&mut self, code: &Bound<'_, PyCode>, frame: &PythonFrame<'_>) -> PyResult<()> {
        let python = code.py();
        let address = code.as_ptr() as usize;
        let Some((CodeKind::Unit(watched), _)) = self.codes.get(&address) else {
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
            call_context::receiver(&watched.unit.qualified_name, &watched.unit.module, first);
        let class = match (&receiver, first) {
            (Receiver::Instance(_), Some(first)) => Some(first.get_type()),
            (Receiver::Class(_), Some(first)) => first.cast::<PyType>().ok().cloned(),
            _ => None,
        };
        let is_from_own_method = class.is_some()
            && first.is_some_and(|own| call_context::is_called_by_own_method(frame, own));
        let defaults = code::default_values(watched, python);
        let globals = frame.globals().unwrap_or_else(|| PyDict::new(python));
        let (reach_cache, scope_cache) = (&mut self.reach_cache, &mut self.scope_cache);
        let reachable = reach_cache.reachable(code, &globals, class.as_ref(), scope_cache);
        let mut values = ValueGraph::default();
        let mut held = HeldObjects::default();
        let mut builder = ValueGraphBuilder::new(&mut self.reader, &mut values, &mut held);
        let arguments = (bound.iter())
            .map(|(name, value)| BoundArgument {
                name: name.clone(),
                before: builder.add(value),
                after: None,
                is_default: defaults.get(name).is_some_and(|default| default.is(value)),
            })
            .collect();
        let variables = reachable.read_before_call(python, &mut builder, &mut self.baseline);
        let mut importables = self.importables.find_in_graph(python, &builder);
        importables.retain(|state| {
            !variables
                .iter()
                .any(|known| known.variable == state.variable)
        });
        let memory_size = memory_size(&values);
        self.open_bytes += memory_size;
        let id = CallId(self.tick());
        let threads = u32::try_from(self.threads.len()).unwrap_or(u32::MAX);
        let thread = self
            .threads
            .entry(thread_id())
            .or_insert_with(|| ThreadCalls {
                number: threads,
                stack: Vec::new(),
            });
        let caller = thread.stack.last().map(ActiveCall::id);
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
            variables,
            outcome: CallOutcome::Unfinished,
            steps: Vec::new(),
            events: Vec::new(),
            lines: Vec::new(),
            microseconds: 0,
            uncaptured: Vec::new(),
            values,
        };
        thread.push(ActiveCall {
            code: address,
            frame: frame.address(),
            kind,
            call,
            held,
            arguments: bound.into_iter().map(|(_, value)| value.unbind()).collect(),
            reachable,
            importables,
            lines: BTreeSet::new(),
            #[cfg(Py_3_12)]
            line_events: 0,
            #[cfg(Py_3_12)]
            unrecorded_above: 0,
            memory_size,
            reaches_new_line: false,
            started: Instant::now(),
            #[cfg(not(Py_3_12))]
            exception: None,
            used_resources: super::external::UsedResources::default(),
            action: StepAction::Next,
        });
        if let Some((CodeKind::Unit(watched), _)) = self.codes.get_mut(&address) {
            watched.open += 1;
        }
        if kind == UnitKind::Generator {
            super::external::watch_generators(python);
        }
        // A suspended frame at the same address has died without an event.
        if let Some(old) = self.suspended.remove(&frame.address()) {
            self.abandon(python, old)?;
        }
        self.writer.enter_call(id, unit, caller)?;
        Ok(())
    }

    /// Returns true if any generator or coroutine is suspended.
    pub(super) fn has_suspended(&self) -> bool {
        !self.suspended.is_empty()
    }

    /// Returns true if a code object, given by address, is a recorded unit.
    pub(super) fn is_unit(&self, code: usize) -> bool {
        matches!(self.codes.get(&code), Some((CodeKind::Unit(_), _)))
    }

    /// Returns true if a code object, given by address, is the body of a module.
    #[cfg(Py_3_12)]
    pub(super) fn is_module(&self, code: usize) -> bool {
        matches!(self.codes.get(&code), Some((CodeKind::Module, _)))
    }

    /// Records a line reached by the innermost call. Returns false if the line need not be reported
    /// again.
    pub(super) fn record_line(&mut self, line: u32) -> bool {
        let thread = self.threads.get_mut(&thread_id());
        let Some(top) = thread.and_then(|thread| thread.stack.last_mut()) else {
            return true;
        };
        top.lines.insert(line);
        #[cfg(Py_3_12)]
        {
            top.line_events = top.line_events.saturating_add(1);
            if top.line_events > MAX_LINE_EVENTS
                && let Some((CodeKind::Unit(watched), _)) = self.codes.get_mut(&top.code)
            {
                watched.has_silent_lines = true;
                return false;
            }
        }
        true
    }

    /// Returns the change of events to request for a code object, or `None` if nothing changes.
    #[cfg(Py_3_12)]
    pub(super) fn event_request(&mut self, code: usize) -> Option<EventRequest> {
        let Some((CodeKind::Unit(watched), _)) = self.codes.get_mut(&code) else {
            return None;
        };
        let wanted = watched.open > 0 || watched.sampler.examines_every_call();
        let reported_before = std::mem::replace(&mut watched.reports_all_events, wanted);
        let has_silent_lines = watched.has_silent_lines;
        watched.has_silent_lines &= wanted && watched.open == 0;
        match (reported_before, wanted) {
            (false, true) => Some(EventRequest::All),
            (true, true) if has_silent_lines && watched.open > 0 => Some(EventRequest::RestartAll),
            (true, false) => Some(EventRequest::StartsOnly),
            _ => None,
        }
    }

    /// Remembers an exception that passes through the innermost frame.
    #[cfg(not(Py_3_12))]
    pub(super) fn set_exception(&mut self, frame: usize, exception: Option<Bound<'_, PyAny>>) {
        let thread = self.threads.get_mut(&thread_id());
        if let Some(top) = thread.and_then(|thread| thread.stack.last_mut())
            && top.frame == frame
        {
            self.pending_drops.extend(top.exception.take());
            top.exception = exception.map(Bound::unbind);
        }
    }

    /// Takes the exception last seen in a frame.
    #[cfg(not(Py_3_12))]
    pub(super) fn take_exception(&mut self, frame: usize) -> Option<Py<PyAny>> {
        let top = self.threads.get_mut(&thread_id())?.stack.last_mut()?;
        (top.frame == frame).then(|| top.exception.take())?
    }

    /// Abandons the call of a frame left by an exception that was not reported, because another
    /// tool has replaced ours. The call has no outcome.
    #[cfg(not(Py_3_12))]
    pub(super) fn abandon_frame(
        &mut self,
        python: Python<'_>,
        frame: &PythonFrame<'_>,
    ) -> PyResult<()> {
        match self.pop_call(frame.address()) {
            Some(active) => self.abandon(python, active),
            None => Ok(()),
        }
    }

    /// Writes an error to the recording. The program does not notice it.
    pub(super) fn report_error(&mut self, result: PyResult<()>) {
        if let Err(error) = result {
            let _ = self.writer.add_problem(&error.to_string());
        }
    }

    /// Takes the call of a frame off the stack of this thread.
    fn pop_call(&mut self, frame: usize) -> Option<ActiveCall> {
        self.threads.get_mut(&thread_id())?.pop(frame)
    }

    /// Suspends a generator or coroutine, and records the yielded value as a step.
    pub(super) fn suspend(
        &mut self,
        frame: &PythonFrame<'_>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let Some(mut active) = self.pop_call(frame.address()) else {
            return Ok(());
        };
        if active.call.steps.len() >= MAX_STEPS || active.call.values.len() >= MAX_NODES {
            return self.abandon(value.py(), active);
        }
        let yielded = match active.kind {
            UnitKind::Generator => Some(value.clone()),
            UnitKind::AsyncGenerator => call_context::yielded_value(value),
            UnitKind::Function | UnitKind::Coroutine => None,
        };
        if let Some(value) = yielded {
            let node = self.read_value(&mut active, &value);
            let action = std::mem::replace(&mut active.action, StepAction::Next);
            let outcome = StepOutcome::Yielded(node);
            active.call.steps.push(GeneratorStep { action, outcome });
            if active
                .call
                .steps
                .len()
                .is_multiple_of(STEPS_PER_EXAMINED_CALL)
                && let Some((CodeKind::Unit(watched), _)) = self.codes.get_mut(&active.code)
            {
                watched.sampler.add_examined();
            }
        }
        self.suspended.insert(frame.address(), active);
        Ok(())
    }

    /// Resumes a suspended generator or coroutine, and notes the sent or thrown value.
    pub(super) fn resume(&mut self, python: Python<'_>, frame: usize) {
        let Some(mut active) = self.suspended.remove(&frame) else {
            return;
        };
        active.action = match super::external::take_input(frame) {
            Some(GeneratorInput::Sent(value)) => match value.bind(python) {
                value if value.is_none() => StepAction::Next,
                value => StepAction::Send(self.read_value(&mut active, value)),
            },
            Some(GeneratorInput::Thrown(error)) => {
                StepAction::Throw(self.read_value(&mut active, error.bind(python)))
            }
            Some(GeneratorInput::Closed) => StepAction::Close,
            None => StepAction::Next,
        };
        let threads = u32::try_from(self.threads.len()).unwrap_or(u32::MAX);
        let thread = self
            .threads
            .entry(thread_id())
            .or_insert_with(|| ThreadCalls {
                number: threads,
                stack: Vec::new(),
            });
        thread.push(active);
    }

    /// Adds a value to the graph of a call.
    fn read_value(&mut self, active: &mut ActiveCall, value: &Bound<'_, PyAny>) -> NodeId {
        ValueGraphBuilder::new(&mut self.reader, &mut active.call.values, &mut active.held)
            .add(value)
    }

    /// Handles the end of a function, by return or exception.
    pub(super) fn leave(
        &mut self,
        frame: &PythonFrame<'_>,
        exit: FrameExit<'_, '_>,
    ) -> PyResult<()> {
        let Some(active) = self.pop_call(frame.address()) else {
            if let FrameExit::Returned(value) = exit {
                self.record_module_end(frame, value.py());
            }
            return Ok(());
        };
        self.finish_call(active, exit)
    }

    /// Finishes the call of a suspended generator that is closed without being resumed.
    pub(super) fn close_generator(&mut self, python: Python<'_>, frame: usize) -> PyResult<()> {
        match self.suspended.remove(&frame) {
            Some(active) => {
                let error = PyGeneratorExit::new_err(()).into_value(python);
                self.finish_call(active, FrameExit::Raised(error.bind(python)))
            }
            None => Ok(()),
        }
    }

    /// Reads arguments and variables again at the end of a call, and records its outcome.
    fn finish_call(&mut self, mut active: ActiveCall, exit: FrameExit<'_, '_>) -> PyResult<()> {
        let python = match &exit {
            FrameExit::Returned(value) | FrameExit::Raised(value) => value.py(),
        };
        let is_generator = matches!(active.kind, UnitKind::Generator | UnitKind::AsyncGenerator);
        let ActiveCall {
            call,
            held,
            arguments,
            reachable,
            importables,
            action,
            ..
        } = &mut active;
        let action = std::mem::replace(action, StepAction::Next);
        let mut builder = ValueGraphBuilder::new(&mut self.reader, &mut call.values, held);
        for (argument, object) in call.arguments.iter_mut().zip(arguments.iter()) {
            argument.after = Some(builder.add(object.bind(python)));
        }
        reachable.read_after_call(python, &mut builder, &mut call.variables);
        importable_objects::read_final_states(python, &mut builder, importables);
        match exit {
            FrameExit::Returned(value) => {
                let node = builder.add(value);
                if is_generator {
                    let outcome = StepOutcome::Returned(node);
                    call.steps.push(GeneratorStep { action, outcome });
                }
                call.outcome = CallOutcome::Returned(node);
            }
            FrameExit::Raised(exception) => {
                let node = builder.add(exception);
                let is_closed = is_generator && exception.is_instance_of::<PyGeneratorExit>();
                if is_generator {
                    let action = if is_closed { StepAction::Close } else { action };
                    let outcome = StepOutcome::Raised(node);
                    call.steps.push(GeneratorStep { action, outcome });
                }
                if !is_closed {
                    let is_own = call_context::is_raised_here(exception);
                    call.outcome = CallOutcome::Raised {
                        exception: node,
                        is_own,
                    };
                }
            }
        }
        self.write_call(python, active)
    }

    /// Writes a call that will not end, as far as can be observed, without an outcome.
    pub(super) fn abandon(&mut self, python: Python<'_>, active: ActiveCall) -> PyResult<()> {
        self.write_call(python, active)
    }

    /// Decides whether to keep a call, writes it, and releases its objects.
    fn write_call(&mut self, python: Python<'_>, mut active: ActiveCall) -> PyResult<()> {
        self.open_bytes = self.open_bytes.saturating_sub(active.memory_size);
        let end = self.tick();
        let call = &mut active.call;
        if !matches!(call.outcome, CallOutcome::Unfinished) {
            call.end = Some(end);
        }
        call.lines = std::mem::take(&mut active.lines).into_iter().collect();
        call.microseconds = u64::try_from(active.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        active.used_resources.finish(call, python);
        let id = call.id;
        let (traits, words) = (
            equivalence::call_traits(call),
            equivalence::word_choices(call),
        );
        let is_kept = match self.codes.get_mut(&active.code) {
            Some((CodeKind::Unit(watched), _)) => {
                watched.open = watched.open.saturating_sub(1);
                let sampler = &mut watched.sampler;
                active.reaches_new_line |= sampler.add_lines(&active.call.lines);
                let is_wanted = active.reaches_new_line | sampler.add_words(&words);
                sampler.should_keep(traits, is_wanted)
            }
            _ => false,
        };
        let caller = self.threads.get_mut(&thread_id());
        if let Some(caller) = caller.and_then(|thread| thread.stack.last_mut()) {
            caller.reaches_new_line |= active.reaches_new_line;
        }
        let held = std::mem::take(&mut active.held);
        self.pending_drops
            .extend(self.reader.identities.release(held, python));
        #[cfg(not(Py_3_12))]
        self.pending_drops.extend(active.exception.take());
        if is_kept {
            let importables = std::mem::take(&mut active.importables);
            let importables =
                importable_objects::unchanged_objects(&active.call.values, importables);
            active.call.variables.extend(importables);
            let empty = ValueGraph::default();
            let values = std::mem::replace(&mut active.call.values, empty);
            let call = Call {
                values,
                ..active.call.clone()
            };
            self.writer.add_call(call)?;
            self.written_calls += 1;
            if self.written_calls.is_multiple_of(COUNTS_INTERVAL) {
                let counts = self.call_counts();
                self.writer.write_counts(&counts)?;
            }
        } else {
            self.writer.drop_call(id)?;
        }
        self.pending_drops.extend(active.into_objects());
        Ok(())
    }

    /// Records the variables of a module at the end of its import, if the frame is a module's.
    fn record_module_end(&mut self, frame: &PythonFrame<'_>, python: Python<'_>) {
        let code = frame.code();
        let address = code.map(|code| code.as_ptr() as usize);
        let kind = address.and_then(|address| self.codes.get(&address));
        if matches!(kind, Some((CodeKind::Module, _)))
            && let Some(globals) = frame.globals()
        {
            let held = self.baseline.add_module(&globals, &mut self.reader);
            self.importables.add_module(&globals);
            self.reach_cache.forget();
            self.pending_drops
                .extend(self.reader.identities.release(held, python));
        }
    }

    /// Records the project's modules that were imported before the capture started.
    pub(super) fn record_loaded_modules(&mut self, python: Python<'_>) {
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
            if file.is_some_and(|file| self.scope_cache.contains(&file, &namespace)) {
                let held = self.baseline.add_module(&namespace, &mut self.reader);
                self.importables.add_module(&namespace);
                self.pending_drops
                    .extend(self.reader.identities.release(held, python));
            }
        }
    }
}
