//! Bringing a harness to life.

mod problems;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyModule};
use testwright_core::Error;
use testwright_core::product::Trouble;
use testwright_lang::harness::{Fragment, Line, Located, Part};
use testwright_lang::{Diagnostic, Harness, Severity};

use crate::actions::Actions;
use crate::checks::Checks;
use crate::context::Context;
use crate::coverage::{Collector, SourceChoice};
use crate::draw::Draw;
use crate::failures::Raised;
use crate::functions;
use crate::guidance::Guidance;
use crate::harness_object::{HarnessObject, LogLevel};
use crate::hooks::{Hook, Hooks};
use crate::interrupt;
use crate::layout::Layout;
use crate::line_code::{Kind, LineCode};
use crate::logs::LogLine;
use crate::logs::Logs;
use crate::mirror::Mirror;
use crate::modules::Modules;
use crate::pool_states::PoolStates;
use crate::rejected::Rejected;
use crate::restricted::Restricted;
use crate::shapes::Shapes;
use crate::skeleton::Skeletons;
use crate::stage::Stage;
use crate::system::PythonSystem;
use crate::weights::Weights;

use crate::{ChecksWhen, Interpreter, Measured, Options, Process};

pub use problems::check;

/// Why a harness could not be brought to life.
#[derive(Clone, Debug)]
pub enum LoadError {
    /// Something in its text is wrong that only the interpreter could tell.
    Diagnostics(Vec<Diagnostic>),
    /// Something else.
    Failed(Error),
}

/// Keyword lines as functions.
pub(crate) struct Lines<'py> {
    pub(crate) inits: Vec<LineCode<'py>>,
    pub(crate) finallys: Vec<LineCode<'py>>,
    pub(crate) assumptions: Vec<LineCode<'py>>,
    pub(crate) hints: Vec<LineCode<'py>>,
    pub(crate) checks: Checks<'py>,
    pub(crate) logs: Vec<LogLine<'py>>,
}

pub(crate) fn load<'py>(
    interpreter: Interpreter<'py>,
    path: &Path,
    text: &str,
    harness: Harness,
    options: &Options,
) -> Result<PythonSystem<'py>, LoadError> {
    let python = interpreter.0;
    interrupt::forget(options.process);
    let failed = |error: PyErr| {
        let raised = Raised::new(python, &error);
        LoadError::Failed(Error::new(format!(
            "the harness could not be set up: {}",
            raised.summary()
        )))
    };
    let support = support(python).map_err(failed)?;
    let stage = match options.process {
        Process::OfTheCaller => None,
        whose => Some(Stage::start(&support, options.output, whose).map_err(failed)?),
    };
    search_beside(python, path).map_err(failed)?;
    let module = support
        .call_method1("new_namespace", (module_name(path), path))
        .map_err(failed)?;
    let namespace = module
        .getattr("__dict__")
        .and_then(|dict| Ok(dict.cast_into::<PyDict>()?))
        .map_err(failed)?;
    let context = context(python, path, harness, namespace, support).map_err(failed)?;
    let problems = problems::problems(&context, text, true).map_err(failed)?;
    if problems
        .iter()
        .any(|problem| problem.severity == Severity::Error)
    {
        return Err(LoadError::Diagnostics(problems));
    }
    let (warned, reference_raised) = (PyList::empty(python), PyList::empty(python));
    let log_level = LogLevel::new(options.log_level);
    let object =
        furnish(&context, &warned, &reference_raised, log_level.clone()).map_err(failed)?;
    prefer_local_modules(&context).map_err(failed)?;
    let collector = collector(interpreter, &context, options.measured)?;
    run_raw_code(&context, text, collector.as_ref(), options.measured)?;
    let hooks = Hooks::new(&context.namespace, object);
    prepare_after_hook(&context, &hooks).map_err(failed)?;
    let (mirror, _) = Mirror::new(python, &context.harness).map_err(failed)?;
    let actions = Actions::new(
        &context,
        &mirror,
        options.reference_exceptions,
        hooks.has(Hook::AfterEach),
    );
    let lines = Lines::new(&context, &mirror, options.checks).map_err(failed)?;
    let modules = modules_to_reset(&context, options.reset_modules).map_err(failed)?;
    let _hooks_may_raise = hooks.call(Hook::BeforeAll);
    let sizes: Vec<u32> = context.harness.pools.iter().map(|pool| pool.size).collect();
    let states = PoolStates::new(&sizes);
    let guidance = match options.scenarios.as_slice() {
        [] => None,
        scenarios => {
            let catalog = &context.harness.catalog;
            let guidance = Guidance::load(interpreter, scenarios, catalog);
            Some(guidance.map_err(|trouble| match trouble {
                Trouble::Unusable(error) => LoadError::Failed(error),
                other => {
                    LoadError::Failed(Error::new(format!("the scenario cannot be used: {other}")))
                }
            })?)
        }
    };
    Ok(PythonSystem {
        weights: Weights::new(&context.harness.catalog, &states),
        restricted: Restricted::default(),
        shapes: Shapes::new(&context.harness.catalog),
        slots_may_change_unseen: hooks.has(Hook::BeforeEach)
            || hooks.has(Hook::AfterEach)
            || mentions_slots_by_name(&context.harness),
        logs: Logs::new(lines.logs, log_level, options.log_level.is_some()),
        path: path.to_path_buf(),
        inits: lines.inits,
        finallys: lines.finallys,
        assumptions: lines.assumptions,
        hints: lines.hints,
        checks: lines.checks,
        draw: Draw::default(),
        problems: collector
            .as_ref()
            // Who did not ask for a report does not care what it would lack.
            .filter(|_| options.measured != Measured::ModulesIfPossible)
            .map(|collector| unknown_sources(&context.harness, collector))
            .unwrap_or_default(),
        assumption_violated: false,
        guidance,
        last_expected: None,
        last_warned: None,
        prepared: None,
        rejected: Rejected::default(),
        last_failure: None,
        values: Vec::new(),
        context,
        states,
        mirror,
        actions,
        hooks,
        modules,
        warned,
        reference_raised,
        collector,
        stage,
    })
}

/// Starts to measure what the harness says is to be measured. Must come before the first import of it.
fn collector<'py>(
    interpreter: Interpreter<'py>,
    context: &Context<'py>,
    measured: Measured,
) -> Result<Option<Collector<'py>>, LoadError> {
    if measured == Measured::Nothing {
        return Ok(None);
    }
    let imports = testwright_source::imports(&context.harness.raw.text).unwrap_or_default();
    let sources = context.harness.sources.iter();
    let choice = SourceChoice {
        names: sources.map(|source| source.text.clone()).collect(),
        imports: imports
            .iter()
            .map(|import| top_of(&import.module).to_owned())
            .collect(),
        folder: Path::new(&context.path)
            .parent()
            .map(Path::to_path_buf)
            .unwrap_or_default(),
        first_on_path: None,
    };
    match Collector::start(interpreter, &choice) {
        Ok(collector) => Ok(Some(collector)),
        Err(_) if measured == Measured::ModulesIfPossible => Ok(None),
        Err(error) => Err(LoadError::Failed(error)),
    }
}

/// `source:` lines that name nothing, as problems of the harness.
fn unknown_sources(harness: &Harness, collector: &Collector<'_>) -> BTreeMap<(usize, String), u64> {
    let unknown = collector.unknown_names();
    let sources = harness.sources.iter();
    let problem = |source: &Located| {
        let message = format!(
            "there is no file, folder or module `{}` to measure",
            source.text
        );
        ((source.line, message), 1)
    };
    sources
        .filter(|source| unknown.contains(&source.text))
        .map(problem)
        .collect()
}

/// The package that a module belongs to.
fn top_of(module: &str) -> &str {
    module.split('.').next().unwrap_or_default()
}

fn support(python: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let code = CString::new(include_str!("support.py"))?;
    PyModule::from_code(
        python,
        &code,
        c"testwright/support.py",
        c"testwright_support",
    )
}

/// A name that no module under test has.
fn module_name(path: &Path) -> String {
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy())
        .unwrap_or_default();
    format!(
        "harness_{}",
        stem.replace(|character: char| !character.is_alphanumeric(), "_")
    )
}

/// Modules beside the harness come first, then those in the current directory.
fn search_beside(python: Python<'_>, path: &Path) -> PyResult<()> {
    let folder = std::path::absolute(path)?
        .parent()
        .map(Path::to_path_buf)
        .unwrap_or_default();
    let search = python.import("sys")?.getattr("path")?;
    let mut folders = vec![folder];
    folders.extend(std::env::current_dir());
    // A link to a harness elsewhere: its modules are where it is.
    folders.extend(
        path.canonicalize()
            .ok()
            .and_then(|path| path.parent().map(Path::to_path_buf)),
    );
    folders.dedup();
    for folder in folders.iter().rev() {
        let folder = folder.to_string_lossy();
        if search.contains(folder.as_ref())? {
            search.call_method1("remove", (folder.as_ref(),))?;
        }
        search.call_method1("insert", (0, folder.as_ref()))?;
    }
    Ok(())
}

fn context<'py>(
    python: Python<'py>,
    path: &Path,
    harness: Harness,
    namespace: Bound<'py, PyDict>,
    support: Bound<'py, PyModule>,
) -> PyResult<Context<'py>> {
    let layout = Layout::new(&harness);
    let slots = PyList::new(python, (0..layout.total()).map(|_| python.None()))?;
    let places = (0..layout.total())
        .map(|place| Ok(place.into_pyobject(python)?.into_any()))
        .collect::<PyResult<Vec<_>>>()?;
    let path = std::path::absolute(path)?.to_string_lossy().into_owned();
    Ok(Context {
        python,
        harness,
        layout,
        slots,
        places,
        namespace,
        path,
        support,
        skeletons: Skeletons::default(),
    })
}

/// Puts into the namespace what generated functions and harness code refer to.
fn furnish<'py>(
    context: &Context<'py>,
    warned: &Bound<'py, PyList>,
    reference_raised: &Bound<'py, PyList>,
    log_level: LogLevel,
) -> PyResult<Bound<'py, PyAny>> {
    let object = HarnessObject::new(
        context.python,
        &context.harness,
        &context.layout,
        &context.slots,
        log_level,
    )?;
    context.namespace.set_item("self", &object)?;
    context
        .namespace
        .set_item("_tw_warn", warned.getattr("append")?)?;
    context
        .namespace
        .set_item("_tw_reference_raised", reference_raised.getattr("append")?)?;
    for name in [
        "PostConditionFailed",
        "ReferenceMismatch",
        "ExceptionMismatch",
        "Unset",
    ] {
        context
            .namespace
            .set_item(format!("_tw_{name}"), context.support.getattr(name)?)?;
    }
    Ok(object.into_any())
}

/// Functions of mirrored actions call the hook themselves, between the action and its reference.
fn prepare_after_hook<'py>(context: &Context<'py>, hooks: &Hooks<'py>) -> PyResult<()> {
    if hooks.has(Hook::AfterEach) {
        let code = "try: test_after_each(self)\n except Exception: pass";
        let wrapped = context.function(&functions::statement("after_each", 1, "", code))?;
        context.namespace.set_item("_tw_after_each", wrapped)?;
    }
    Ok(())
}

fn prefer_local_modules(context: &Context<'_>) -> PyResult<()> {
    let imports = testwright_source::imports(&context.harness.raw.text).unwrap_or_default();
    let names: Vec<&str> = imports
        .iter()
        .map(|import| top_of(&import.module))
        .collect();
    context
        .support
        .call_method1("prefer_local", (names,))
        .map(|_| ())
}

fn run_raw_code<'py>(
    context: &Context<'py>,
    text: &str,
    collector: Option<&Collector<'py>>,
    measured: Measured,
) -> Result<(), LoadError> {
    let raw = &context.harness.raw;
    let entry_values: Vec<(&str, &str, usize)> = raw
        .entry_values
        .iter()
        .map(|value| (value.name.as_str(), value.expression.as_str(), value.line))
        .collect();
    let collector = collector.filter(|_| measured == Measured::ModulesAndHarness);
    let observe = collector.and_then(|collector| collector.observer().ok());
    let arguments = (
        &raw.text,
        &context.path,
        entry_values,
        &context.namespace,
        observe,
    );
    let result = context.support.call_method1("run_raw_code", arguments);
    result.map(|_| ()).map_err(|error| {
        LoadError::Diagnostics(vec![problems::raw_code_failed(context, text, &error)])
    })
}

pub(crate) fn modules_to_reset<'py>(
    context: &Context<'py>,
    wanted: bool,
) -> PyResult<Modules<'py>> {
    if !wanted {
        return Modules::new(context.python, Vec::new());
    }
    let names: Vec<&str> = context
        .harness
        .raw
        .reset_modules
        .iter()
        .map(|module| module.text.as_str())
        .collect();
    let sources: BTreeSet<&str> = context
        .harness
        .sources
        .iter()
        .map(|source| source.text.as_str())
        .collect();
    let sources: Vec<&str> = sources.into_iter().collect();
    let found = context
        .support
        .call_method1("modules_to_reset", (names, sources, &context.namespace))?;
    Modules::new(context.python, found.extract()?)
}

impl<'py> Lines<'py> {
    fn new(
        context: &Context<'py>,
        mirror: &Mirror<'py>,
        checks: ChecksWhen,
    ) -> PyResult<Lines<'py>> {
        let harness = &context.harness;
        let statement = |line: &Line| LineCode::new(context, line, Kind::Statement);
        let expression = |line: &Line| LineCode::new(context, line, Kind::Expression(Vec::new()));
        let mut finallys = Vec::new();
        for line in &harness.finallys {
            finallys.push(statement(line));
            if mirror.is_active() {
                finallys.extend(
                    LineCode::mirrored(context, mirror, line)?
                        .iter()
                        .map(statement),
                );
            }
        }
        let mut logs = Vec::new();
        for log in &harness.logs {
            let mut add = |line| {
                logs.push(LogLine {
                    code: expression(line),
                    after: log.after,
                    level: log.level,
                })
            };
            add(&log.line);
            if mirror.is_active() {
                LineCode::mirrored(context, mirror, &log.line)?
                    .iter()
                    .for_each(add);
            }
        }
        Ok(Lines {
            inits: harness.inits.iter().map(statement).collect(),
            finallys,
            assumptions: harness.assumptions.iter().map(expression).collect(),
            hints: harness.hints.iter().map(expression).collect(),
            checks: Checks::new(context, checks)?,
            logs,
        })
    }

    fn all(&self) -> impl Iterator<Item = &LineCode<'py>> {
        let lists = [&self.inits, &self.finallys, &self.assumptions, &self.hints];
        let logs = self.logs.iter().map(|log| &log.code);
        lists
            .into_iter()
            .flatten()
            .chain(self.checks.lines())
            .chain(logs)
    }
}

/// Whether harness code may change a slot that an action does not name, by writing `self.p_name[…]` itself.
fn mentions_slots_by_name(harness: &Harness) -> bool {
    let in_fragment = |fragment: &Fragment| {
        fragment
            .parts
            .iter()
            .any(|part| matches!(part, Part::Text(text) if text.contains("self")))
    };
    harness.raw.text.contains(".p_")
        || harness
            .actions
            .iter()
            .any(|action| in_fragment(&action.statement))
}
