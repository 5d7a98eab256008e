//! Records a running program: the inputs and outcomes of the calls of its functions.
//!
//! The interpreter reports when functions start, suspend, resume and end: through `sys.monitoring`
//! since 3.12 (`monitoring`), and through its tracing interface before (`tracing`). Both lead to
//! the same few methods of `CallRecorder`, in `calls`. They read the arguments and the global
//! variables within reach at the start of a call (`object_reader`, `variables`), read them again at
//! its end, and hand both to the store of `testwright-capture` as plain data. Calls to the clock,
//! the file system, the network and other external sources are recorded on the way (`external`).
//! Calls equivalent to earlier ones are dropped (`equivalence`).
//!
//! Recording runs no code of the program, and keeps none of its objects alive for longer than the
//! call that used it (`identity`). There is one recorder per process. It ignores events that it
//! causes itself, for example when an object dies while it works.

mod call_context;
mod calls;
mod code;
mod equivalence;
mod external;
mod frame;
mod identity;
mod importable_objects;
#[cfg(Py_3_12)]
mod monitoring;
mod names;
mod object_reader;
mod scope;
mod skip_table;
#[cfg(not(Py_3_12))]
mod tracing;
mod variables;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCode;
use rustc_hash::FxHashMap;
use testwright_capture::ProgramRun;
use testwright_capture::store::RecordingWriter;

use calls::{ActiveCall, ThreadCalls};
use code::{CodeKind, QualifiedNames};
use importable_objects::ImportableObjects;
use object_reader::ObjectReader;
pub use scope::ProjectScope;
use scope::ScopeCache;
use variables::{ImportBaseline, ReachCache};

#[cfg(Py_3_12)]
use monitoring::MonitoringListener as Listener;
#[cfg(not(Py_3_12))]
use tracing::TracingListener as Listener;

static RECORDER: Mutex<Option<CallRecorder>> = Mutex::new(None);
/// The thread that holds the recorder, or held it last.
static WORKING_THREAD: AtomicUsize = AtomicUsize::new(0);
/// The id of the process that the recorder was started in. A forked child differs from it until its
/// first event.
static RECORDED_PROCESS: AtomicU32 = AtomicU32::new(0);

/// Number of attempts to lock the recorder, and the pause between them. The limit keeps the program
/// from hanging if the thread that holds the recorder waits for this one.
const LOCK_RETRY: (u32, Duration) = (10_000, Duration::from_micros(100));

/// Options of a capture.
#[derive(Clone, Debug)]
pub struct CaptureOptions {
    /// The folder of the recording store.
    pub folder: PathBuf,
    /// The name of this process's file in the store.
    pub name: String,
    /// The code to record.
    pub scope: ProjectScope,
    /// The command line of the program, for the recording.
    pub command: Vec<String>,
}

/// The state of the recorder of this process.
struct CallRecorder {
    /// Kept to open a new file after a fork.
    capture: CaptureOptions,
    /// The open file of the store.
    writer: RecordingWriter,
    /// The process that `writer` writes for.
    process: u32,
    reader: ObjectReader,
    scope_cache: ScopeCache,
    /// Finds qualified names of code objects.
    qualified: QualifiedNames,
    /// Code objects seen so far, by address. Each is kept alive, so that its address stays unique.
    codes: FxHashMap<usize, (CodeKind, Py<PyCode>)>,
    /// The addresses of the code objects of units, by unit number.
    units: Vec<usize>,
    /// Calls being recorded, by thread id.
    threads: FxHashMap<usize, ThreadCalls>,
    /// Calls of suspended generators and coroutines, by the address of their frame.
    suspended: FxHashMap<usize, ActiveCall>,
    /// Values of variables right after import.
    baseline: ImportBaseline,
    /// Objects that can be imported by name.
    importables: ImportableObjects,
    /// Variables within reach of each unit.
    reach_cache: ReachCache,
    /// The addresses of standard input, output and error when last seen. The program may replace
    /// them.
    streams: [usize; 3],
    /// A logical clock: the number of recorded starts, ends and events.
    time: u64,
    /// The number of calls kept so far.
    written_calls: u64,
    /// The approximate memory use of the calls being recorded.
    open_bytes: usize,
    /// Objects to drop once the recorder is unlocked, because dropping them may run code of the
    /// program.
    pending_drops: Vec<Py<PyAny>>,
}

/// Starts to record this process.
///
/// Fails if a capture is already running, or if other tools occupy the interpreter's monitoring
/// slots.
pub fn start(python: Python<'_>, capture: CaptureOptions) -> PyResult<()> {
    let execution = describe_execution(python, &capture.command)?;
    let writer = RecordingWriter::create(&capture.folder, &capture.name, &execution)?;
    let recorder = CallRecorder {
        writer,
        process: std::process::id(),
        reader: ObjectReader::new(python)?,
        scope_cache: ScopeCache::new(python, capture.scope.clone())?,
        qualified: QualifiedNames::default(),
        codes: FxHashMap::default(),
        units: Vec::new(),
        threads: FxHashMap::default(),
        suspended: FxHashMap::default(),
        baseline: ImportBaseline::default(),
        importables: ImportableObjects::default(),
        reach_cache: ReachCache::default(),
        streams: [0; 3],
        time: 0,
        written_calls: 0,
        open_bytes: 0,
        pending_drops: Vec::new(),
        capture,
    };
    {
        let Ok(mut slot) = RECORDER.try_lock() else {
            return Err(PyRuntimeError::new_err(
                "a capture is just starting or ending",
            ));
        };
        if slot.is_some() {
            return Err(PyRuntimeError::new_err(
                "this process is being captured already",
            ));
        }
        RECORDED_PROCESS.store(recorder.process, Ordering::Relaxed);
        *slot = Some(recorder);
    }
    with_recorder(python, |recorder| recorder.record_loaded_modules(python));
    skip_table::clear();
    skip_table::clear_after_fork();
    external::install_audit_hook(python);
    let started = external::install(python).and_then(|()| Listener::start(python));
    if started.is_err() {
        // A start that failed half-way leaves nothing behind.
        stop(python)?;
    }
    started
}

/// Stops recording and finishes the file. Returns its path, or `None` if nothing is being recorded.
pub fn stop(python: Python<'_>) -> PyResult<Option<PathBuf>> {
    Listener::stop(python)?;
    external::uninstall(python)?;
    // The lock is held by another thread in the middle of an event, which takes a moment only.
    let recorder = loop {
        match RECORDER.try_lock() {
            Ok(mut slot) => break slot.take(),
            Err(TryLockError::Poisoned(slot)) => break slot.into_inner().take(),
            Err(TryLockError::WouldBlock) => python.detach(std::thread::yield_now),
        }
    };
    let Some(mut recorder) = recorder else {
        return Ok(None);
    };
    recorder.finish(python)?;
    Ok(Some(recorder.writer.path().to_path_buf()))
}

/// Returns true if this process is being recorded.
pub fn is_capturing() -> bool {
    match RECORDER.try_lock() {
        Ok(recorder) => recorder.is_some(),
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Poisoned(_)) => false,
    }
}

/// Describes this run of the program for the head of the file.
fn describe_execution(python: Python<'_>, command: &[String]) -> PyResult<ProgramRun> {
    let system = python.import("sys")?;
    let folder = std::env::current_dir().unwrap_or_default();
    let version = Python::version_str();
    Ok(ProgramRun {
        command: command.to_vec(),
        python: version.split(' ').next().unwrap_or(version).to_owned(),
        folder: folder.to_string_lossy().into_owned(),
        path: system.getattr("path")?.extract().unwrap_or_default(),
        is_complete: false,
        problems: Vec::new(),
    })
}

/// Runs `work` with the recorder. Returns `None` if there is no recorder or this thread already
/// holds it.
///
/// Objects released by `work` are dropped after the lock is free, because that may run code of the
/// program.
fn with_recorder<R>(python: Python<'_>, work: impl FnOnce(&mut CallRecorder) -> R) -> Option<R> {
    let mut slot = lock_recorder(python)?;
    let recorder = slot.as_mut()?;
    let result = work(recorder);
    let pending_drops = std::mem::take(&mut recorder.pending_drops);
    drop(slot);
    drop(pending_drops);
    Some(result)
}

/// Locks the recorder, waiting for other threads: reading objects may run code of the standard
/// library, and the interpreter may switch threads in the middle of it.
///
/// Returns `None` if this thread holds the lock itself, so that the recorder ignores its own
/// events, and if the wait takes too long.
fn lock_recorder(python: Python<'_>) -> Option<MutexGuard<'static, Option<CallRecorder>>> {
    thread_local!(static THREAD_MARK: u8 = const { 0 });
    let this_thread = THREAD_MARK.with(|this_thread| std::ptr::from_ref(this_thread) as usize);
    let (retries, pause) = LOCK_RETRY;
    for _ in 0..retries {
        match RECORDER.try_lock() {
            Ok(slot) => {
                WORKING_THREAD.store(this_thread, Ordering::Relaxed);
                return Some(slot);
            }
            Err(TryLockError::Poisoned(_)) => return None,
            Err(TryLockError::WouldBlock) => {
                // A forked child has a single thread, so a lock that another thread held is never
                // released there.
                let is_copy = RECORDED_PROCESS.load(Ordering::Relaxed) != std::process::id();
                if is_copy || WORKING_THREAD.load(Ordering::Relaxed) == this_thread {
                    return None;
                }
                python.detach(|| std::thread::sleep(pause));
            }
        }
    }
    None
}

impl CallRecorder {
    /// Advances the logical clock and returns the new time.
    fn tick(&mut self) -> u64 {
        self.time += 1;
        self.time
    }

    /// Opens a new file if this process was forked since the last event.
    ///
    /// The child inherits the parent's state, but its file is empty, so all units are registered
    /// again.
    fn handle_fork(&mut self, python: Python<'_>) -> PyResult<()> {
        let process = std::process::id();
        if process == self.process {
            return Ok(());
        }
        self.process = process;
        RECORDED_PROCESS.store(process, Ordering::Relaxed);
        let execution = describe_execution(python, &self.capture.command)?;
        let name = format!("{}_{process}", self.capture.name);
        self.writer = RecordingWriter::create(&self.capture.folder, &name, &execution)?;
        for address in &self.units {
            if let Some((CodeKind::Unit(watched), _)) = self.codes.get_mut(address) {
                watched.sampler = code::CallSampler::default();
                watched.open = 0;
                watched.number = self.writer.add_unit(&watched.unit)?.0;
            }
        }
        // The child has no other threads, and the calls in progress belong to the parent's file.
        calls::forget_innermost();
        self.open_bytes = 0;
        let threads = std::mem::take(&mut self.threads);
        self.pending_drops
            .extend(threads.into_values().flat_map(ThreadCalls::into_objects));
        let suspended = std::mem::take(&mut self.suspended);
        self.pending_drops
            .extend(suspended.into_values().flat_map(ActiveCall::into_objects));
        Ok(())
    }

    /// Returns the number of calls of each unit, by unit number.
    fn call_counts(&self) -> Vec<u64> {
        let calls = |address: &usize| match self.codes.get(address) {
            Some((CodeKind::Unit(watched), _)) => {
                watched.sampler.calls + skip_table::skipped_count(*address)
            }
            _ => 0,
        };
        self.units.iter().map(calls).collect()
    }

    /// Writes suspended calls as unfinished, then the call counts and the end of the file.
    fn finish(&mut self, python: Python<'_>) -> PyResult<()> {
        let mut suspended: Vec<ActiveCall> =
            std::mem::take(&mut self.suspended).into_values().collect();
        suspended.sort_by_key(ActiveCall::id);
        for active in suspended {
            self.abandon(python, active)?;
        }
        let counts = self.call_counts();
        self.writer.write_counts(&counts)?;
        self.writer.finish()?;
        Ok(())
    }
}

/// Returns the folder to put first on an interpreter's path so that it starts a capture by itself.
pub fn bootstrap_folder(interpreter: crate::Interpreter<'_>) -> Option<PathBuf> {
    let module = interpreter.0.import("testwright").ok()?;
    let file: PathBuf = module.getattr("__file__").ok()?.extract().ok()?;
    Some(file.parent()?.join("watched")).filter(|folder| folder.is_dir())
}
