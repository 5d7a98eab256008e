//! Watching a program: what goes into the calls of its units, and what comes of them.
//!
//! The interpreter tells of functions that begin, wait, go on and end, by `sys.monitoring` since 3.12 (`monitoring`)
//! and as a tracing tool before (`tracing`). Either way it comes to the same few methods of [`Recorder`], in `calls`:
//! at the beginning of a call the values of its arguments and of the places that it can reach are read (`snapshot`,
//! `places`), at its end again, and both go to the store of `testwright-capture` as plain data. What comes from
//! outside the program (`sources`) is noted in passing. Calls that are like others (`likeness`) are not kept.
//!
//! No code of the program runs because it is watched, and none of its objects lives longer than the call that it was
//! seen in (`identity`). There is one recorder per process. An event that comes while it is at work, because an object
//! died or another thread runs, is let go: the recorder never waits.

mod calls;
mod circumstances;
mod code;
mod frame;
mod homes;
mod identity;
mod likeness;
#[cfg(Py_3_12)]
mod monitoring;
mod names;
mod passing;
mod places;
mod scope;
mod snapshot;
mod sources;
#[cfg(not(Py_3_12))]
mod tracing;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCode;
use rustc_hash::FxHashMap;
use testwright_capture::Execution;
use testwright_capture::store::Writer;

use calls::{Active, Thread};
use code::{Kind, QualifiedNames};
use homes::Homes;
use places::{Baseline, Plans};
pub use scope::Scope;
use scope::Scoped;
use snapshot::Eyes;

#[cfg(Py_3_12)]
use monitoring::Listener;
#[cfg(not(Py_3_12))]
use tracing::Listener;

static RECORDER: Mutex<Option<Recorder>> = Mutex::new(None);
/// The thread that is, or was last, at work with the recorder.
static AT_WORK: AtomicUsize = AtomicUsize::new(0);
/// The process that the recorder knows itself to be in.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// How often, and how long each time, a thread waits for another one. No program may stand still because of us, so that it
/// does not go on for ever, should the other one wait for this.
const PATIENCE: (u32, Duration) = (10_000, Duration::from_micros(100));

/// Where and what to record.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The folder of the store.
    pub folder: PathBuf,
    /// What the file of this process is called.
    pub name: String,
    /// Which code.
    pub scope: Scope,
    /// What is run.
    pub command: Vec<String>,
}

/// All that is known about the program while it is watched.
struct Recorder {
    capture: Capture,
    writer: Writer,
    process: u32,
    eyes: Eyes,
    scoped: Scoped,
    qualified: QualifiedNames,
    /// By the address of the code object; those of units are kept alive, others are looked at again.
    codes: FxHashMap<usize, (Kind, Py<PyCode>)>,
    /// The code objects of units, by their number.
    units: Vec<usize>,
    threads: FxHashMap<usize, Thread>,
    /// Calls of generators and coroutines that wait, by the address of their frame.
    waiting: FxHashMap<usize, Active>,
    baseline: Baseline,
    homes: Homes,
    plans: Plans,
    /// Where standard input, output and error are: the program may replace them.
    streams: [usize; 3],
    time: u64,
    written: u64,
    /// What the calls that are being recorded take in memory, about.
    open_weight: usize,
    /// What is to be let go when the recorder is at rest.
    released: Vec<Py<PyAny>>,
}

/// Starts to watch this process.
pub fn start(python: Python<'_>, capture: Capture) -> PyResult<()> {
    let execution = execution(python, &capture.command)?;
    let writer = Writer::create(&capture.folder, &capture.name, &execution)?;
    let recorder = Recorder {
        writer,
        process: std::process::id(),
        eyes: Eyes::new(python)?,
        scoped: Scoped::new(python, capture.scope.clone())?,
        qualified: QualifiedNames::default(),
        codes: FxHashMap::default(),
        units: Vec::new(),
        threads: FxHashMap::default(),
        waiting: FxHashMap::default(),
        baseline: Baseline::default(),
        homes: Homes::default(),
        plans: Plans::default(),
        streams: [0; 3],
        time: 0,
        written: 0,
        open_weight: 0,
        released: Vec::new(),
        capture,
    };
    {
        let Ok(mut place) = RECORDER.try_lock() else {
            return Err(PyRuntimeError::new_err(
                "a capture is just starting or ending",
            ));
        };
        if place.is_some() {
            return Err(PyRuntimeError::new_err(
                "this process is being captured already",
            ));
        }
        PROCESS.store(recorder.process, Ordering::Relaxed);
        *place = Some(recorder);
    }
    with(python, |recorder| recorder.note_loaded_modules(python));
    passing::forget();
    passing::forget_in_copies();
    sources::listen(python);
    let started = sources::install(python).and_then(|()| Listener::start(python));
    if started.is_err() {
        // Nothing stays behind of a start that failed half-way.
        stop(python)?;
    }
    started
}

/// Stops watching, and finishes the file. Without effect if nothing is watched.
pub fn stop(python: Python<'_>) -> PyResult<Option<PathBuf>> {
    Listener::stop(python)?;
    sources::remove(python)?;
    // Whoever holds the lock now is another thread in the middle of an event, and done in a moment.
    let recorder = loop {
        match RECORDER.try_lock() {
            Ok(mut place) => break place.take(),
            Err(TryLockError::Poisoned(place)) => break place.into_inner().take(),
            Err(TryLockError::WouldBlock) => python.detach(std::thread::yield_now),
        }
    };
    let Some(mut recorder) = recorder else {
        return Ok(None);
    };
    recorder.finish(python)?;
    Ok(Some(recorder.writer.path().to_path_buf()))
}

/// Whether this process is being watched.
pub fn is_capturing() -> bool {
    match RECORDER.try_lock() {
        Ok(recorder) => recorder.is_some(),
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Poisoned(_)) => false,
    }
}

fn execution(python: Python<'_>, command: &[String]) -> PyResult<Execution> {
    let system = python.import("sys")?;
    let folder = std::env::current_dir().unwrap_or_default();
    let version = Python::version_str();
    Ok(Execution {
        command: command.to_vec(),
        python: version.split(' ').next().unwrap_or(version).to_owned(),
        folder: folder.to_string_lossy().into_owned(),
        path: system.getattr("path")?.extract().unwrap_or_default(),
        is_complete: false,
        troubles: Vec::new(),
    })
}

/// Does something with the recorder, if there is one and it is at rest. What is released by that dies afterwards.
fn with<R>(python: Python<'_>, work: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
    let mut place = at_rest(python)?;
    let recorder = place.as_mut()?;
    let result = work(recorder);
    let released = std::mem::take(&mut recorder.released);
    drop(place);
    drop(released);
    Some(result)
}

/// Waits until no other thread is at work with the recorder: looking at objects may run code of the standard library, in the
/// middle of which another thread may have its turn. Nothing if it is this thread that is at work, and notices itself.
fn at_rest(python: Python<'_>) -> Option<MutexGuard<'static, Option<Recorder>>> {
    thread_local!(static HERE: u8 = const { 0 });
    let here = HERE.with(|here| std::ptr::from_ref(here) as usize);
    let (most, pause) = PATIENCE;
    for _ in 0..most {
        match RECORDER.try_lock() {
            Ok(place) => {
                AT_WORK.store(here, Ordering::Relaxed);
                return Some(place);
            }
            Err(TryLockError::Poisoned(_)) => return None,
            Err(TryLockError::WouldBlock) => {
                // Of the threads of a process, only one is in its copy: what another one was doing there never ends.
                let is_copy = PROCESS.load(Ordering::Relaxed) != std::process::id();
                if is_copy || AT_WORK.load(Ordering::Relaxed) == here {
                    return None;
                }
                python.detach(|| std::thread::sleep(pause));
            }
        }
    }
    None
}

impl Recorder {
    /// The next point in time.
    fn tick(&mut self) -> u64 {
        self.time += 1;
        self.time
    }

    /// A process that was forked goes on in a file of its own. It knows what its parent knew, but the file does not,
    /// so all units are new to it.
    fn notice_fork(&mut self, python: Python<'_>) -> PyResult<()> {
        let process = std::process::id();
        if process == self.process {
            return Ok(());
        }
        self.process = process;
        PROCESS.store(process, Ordering::Relaxed);
        let execution = execution(python, &self.capture.command)?;
        let name = format!("{}_{process}", self.capture.name);
        self.writer = Writer::create(&self.capture.folder, &name, &execution)?;
        for address in &self.units {
            if let Some((Kind::Unit(watched), _)) = self.codes.get_mut(address) {
                watched.interest = code::Interest::default();
                watched.open = 0;
                watched.number = self.writer.unit(&watched.unit)?.0;
            }
        }
        // Other threads are not in the copy, and what has begun belongs to the parent.
        calls::forget_innermost();
        self.open_weight = 0;
        let threads = std::mem::take(&mut self.threads);
        self.released
            .extend(threads.into_values().flat_map(Thread::into_objects));
        let waiting = std::mem::take(&mut self.waiting);
        self.released
            .extend(waiting.into_values().flat_map(Active::into_objects));
        Ok(())
    }

    /// How often each unit was called.
    fn counts(&self) -> Vec<u64> {
        let calls = |address: &usize| match self.codes.get(address) {
            Some((Kind::Unit(watched), _)) => watched.interest.calls + passing::passed(*address),
            _ => 0,
        };
        self.units.iter().map(calls).collect()
    }

    fn finish(&mut self, python: Python<'_>) -> PyResult<()> {
        let mut waiting: Vec<Active> = std::mem::take(&mut self.waiting).into_values().collect();
        waiting.sort_by_key(Active::id);
        for active in waiting {
            self.leave_unfinished(python, active)?;
        }
        let counts = self.counts();
        self.writer.counts(&counts)?;
        self.writer.finish()?;
        Ok(())
    }
}

/// The folder that has to be first on the path of an interpreter for it to start a capture by itself.
pub fn bootstrap(interpreter: crate::Interpreter<'_>) -> Option<PathBuf> {
    let module = interpreter.0.import("testwright").ok()?;
    let file: PathBuf = module.getattr("__file__").ok()?.extract().ok()?;
    Some(file.parent()?.join("watched")).filter(|folder| folder.is_dir())
}
