//! Loading of a harness: namespace, raw code, functions, and all parts of a [`PythonSystem`].

pub(crate) mod mistakes;
mod problems;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyList, PyModule};
use testwright_core::Error;
use testwright_core::product::ModelError;
use testwright_lang::harness::{CodeLine, CodePart, Fragment, LocatedText};
use testwright_lang::{Diagnostic, Harness, Severity};

use crate::actions::CompiledActions;
use crate::checks::Checks;
use crate::context::HarnessContext;
use crate::coverage::{Collector, SourceSelection};
use crate::draw::RankDraw;
use crate::failures::RaisedException;
use crate::functions;
use crate::harness_object::{HarnessObject, LogLevel};
use crate::hooks::{Hook, Hooks};
use crate::interrupt;
use crate::line_code::{LineCode, LineKind};
use crate::logs::LogLine;
use crate::logs::LogLines;
use crate::modules::ResettableModules;
use crate::pool_states::PoolStates;
use crate::process_state::ProcessState;
use crate::reference_rules::ReferenceRules;
use crate::rejected::RejectedConditions;
use crate::restricted::RestrictedWeights;
use crate::scenario_guide::ScenarioGuide;
use crate::shapes::TemplateShapes;
use crate::skeleton::Skeletons;
use crate::slot_layout::SlotLayout;
use crate::system::PythonSystem;
use crate::unawaited::UnawaitedCoroutines;
use crate::weights::Weights;

use crate::{CheckMode, Interpreter, MeasuredCode, Options, ProcessOwner};

pub use problems::check;

/// The reason why a harness could not be loaded.
#[derive(Clone, Debug)]
pub enum LoadError {
    /// Errors in its text that only the interpreter can detect.
    Diagnostics(Vec<Diagnostic>),
    /// Any other error.
    Failed(Error),
}

/// The keyword lines of a harness as functions.
pub(crate) struct KeywordLines<'py> {
    /// The `init:` lines.
    pub(crate) inits: Vec<LineCode<'py>>,
    /// The `finally:` lines, with their versions for the reference.
    pub(crate) finallys: Vec<LineCode<'py>>,
    /// The `assume:` lines.
    pub(crate) assumptions: Vec<LineCode<'py>>,
    /// The `hint:` lines.
    pub(crate) hints: Vec<LineCode<'py>>,
    /// The `property:` lines and pool types.
    pub(crate) checks: Checks<'py>,
    /// The `log:` lines, with their versions for the reference.
    pub(crate) logs: Vec<LogLine<'py>>,
}

/// Loads a harness. See [`PythonSystem::load`].
pub(crate) fn load<'py>(
    interpreter: Interpreter<'py>,
    path: &Path,
    text: &str,
    harness: Harness,
    options: &Options,
) -> Result<PythonSystem<'py>, LoadError> {
    let python = interpreter.0;
    interrupt::reset(options.process);
    let failed = |error: PyErr| {
        let raised = RaisedException::new(python, &error);
        LoadError::Failed(Error::new(format!(
            "the harness could not be set up: {}",
            raised.summary()
        )))
    };
    let support = load_support(python).map_err(failed)?;
    let process_state = match options.process {
        ProcessOwner::Caller => None,
        owner => Some(ProcessState::start(&support, options.output, owner).map_err(failed)?),
    };
    extend_search_path(python, path).map_err(failed)?;
    let module = support
        .call_method1("new_namespace", (module_name(path), path))
        .map_err(failed)?;
    let namespace = module
        .getattr("__dict__")
        .and_then(|dict| Ok(dict.cast_into::<PyDict>()?))
        .map_err(failed)?;
    let mut context = new_context(python, path, harness, namespace, support).map_err(failed)?;
    let problems = problems::find_problems(&context, text, true).map_err(failed)?;
    if problems
        .iter()
        .any(|problem| problem.severity == Severity::Error)
    {
        return Err(LoadError::Diagnostics(problems));
    }
    let (warned, reference_raised) = (PyList::empty(python), PyList::empty(python));
    let log_level = LogLevel::new(options.log_level);
    let object =
        fill_namespace(&context, &warned, &reference_raised, log_level.clone()).map_err(failed)?;
    prefer_local_modules(&context).map_err(failed)?;
    let collector = collector(interpreter, &context, options.measured)?;
    let finder = module_finder(&context, &module, options.process).map_err(failed)?;
    run_raw_code(&context, text, collector.as_ref(), options.measured)?;
    finder
        .call_method1("set_text", (&context.harness.raw.text,))
        .map_err(failed)?;
    let mistakes = mistakes::find(&context, text, true).map_err(failed)?;
    if !mistakes.is_empty() {
        return Err(LoadError::Diagnostics(mistakes));
    }
    let hooks = Hooks::new(&context.namespace, object);
    prepare_after_hook(&context, &hooks).map_err(failed)?;
    let (rules, _) = ReferenceRules::new(python, &context.harness).map_err(failed)?;
    let actions = CompiledActions::new(
        &context,
        &rules,
        options.reference_exceptions,
        hooks.has(Hook::AfterEach),
    );
    let lines = KeywordLines::new(&context, &rules, options.checks).map_err(failed)?;
    let wanted_finder = Some(finder.clone()).filter(|_| options.reset_modules);
    let modules = ResettableModules::new(python, wanted_finder).map_err(failed)?;
    let _hooks_may_raise = hooks.call(Hook::BeforeAll);
    let sizes: Vec<u32> = context.harness.pools.iter().map(|pool| pool.size).collect();
    let states = PoolStates::new(&sizes);
    let loaded = modules.loaded_names();
    let guide = match options.scenarios.as_slice() {
        [] => None,
        scenarios => {
            let catalog = &context.harness.catalog;
            let guide = ScenarioGuide::load(interpreter, scenarios, catalog);
            Some(guide.map_err(|error| match error {
                ModelError::Unusable(error) => LoadError::Failed(error),
                other => {
                    LoadError::Failed(Error::new(format!("the scenario cannot be used: {other}")))
                }
            })?)
        }
    };
    finder
        .call_method1("ignore_new", (loaded,))
        .map_err(failed)?;
    context.unawaited =
        Some(UnawaitedCoroutines::watch(&context, options.process).map_err(failed)?);
    Ok(PythonSystem {
        weights: Weights::new(&context.harness.catalog, &states),
        restricted: RestrictedWeights::default(),
        shapes: TemplateShapes::new(&context.harness.catalog),
        slots_may_change_unseen: hooks.has(Hook::BeforeEach)
            || hooks.has(Hook::AfterEach)
            || mentions_slots_by_name(&context.harness),
        logs: LogLines::new(lines.logs, log_level, options.log_level.is_some()),
        path: path.to_path_buf(),
        inits: lines.inits,
        finallys: lines.finallys,
        assumptions: lines.assumptions,
        hints: lines.hints,
        checks: lines.checks,
        draw: RankDraw::default(),
        problems: collector
            .as_ref()
            // Without a requested report, unknown sources do not matter.
            .filter(|_| options.measured != MeasuredCode::ModulesIfPossible)
            .map(|collector| unknown_sources(&context.harness, collector))
            .unwrap_or_default(),
        assumption_violated: false,
        guide,
        last_expected: None,
        last_warned: None,
        prepared: None,
        rejected: RejectedConditions::default(),
        last_failure: None,
        values: Vec::new(),
        is_at_start: false,
        states_seen: None,
        context,
        states,
        rules,
        actions,
        hooks,
        modules,
        finder,
        warned,
        reference_raised,
        collector,
        process_state,
    })
}

/// Starts to measure coverage as the harness says. Must be called before the measured modules are
/// imported.
fn collector<'py>(
    interpreter: Interpreter<'py>,
    context: &HarnessContext<'py>,
    measured: MeasuredCode,
) -> Result<Option<Collector<'py>>, LoadError> {
    if measured == MeasuredCode::Nothing {
        return Ok(None);
    }
    let imports = testwright_source::imports(&context.harness.raw.text).unwrap_or_default();
    let sources = context.harness.sources.iter();
    let selection = SourceSelection {
        names: sources.map(|source| source.text.clone()).collect(),
        imports: imports
            .iter()
            .map(|import| top_package(&import.module).to_owned())
            .collect(),
        folder: Path::new(&context.path)
            .parent()
            .map(Path::to_path_buf)
            .unwrap_or_default(),
        first_on_path: None,
    };
    match Collector::start(interpreter, &selection) {
        Ok(collector) => Ok(Some(collector)),
        Err(_) if measured == MeasuredCode::ModulesIfPossible => Ok(None),
        Err(error) => Err(LoadError::Failed(error)),
    }
}

/// Returns `source:` lines that name nothing, as problems of the harness.
fn unknown_sources(harness: &Harness, collector: &Collector<'_>) -> BTreeMap<(usize, String), u64> {
    let unknown = collector.unknown_names();
    let sources = harness.sources.iter();
    let problem = |source: &LocatedText| {
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

/// Returns the top-level package of a module.
fn top_package(module: &str) -> &str {
    module.split('.').next().unwrap_or_default()
}

/// Loads `support.py`.
pub(crate) fn load_support(python: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let code = CString::new(include_str!("support.py"))?;
    PyModule::from_code(
        python,
        &code,
        c"testwright/support.py",
        c"testwright_support",
    )
}

/// Returns a module name for a harness that no module under test has.
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

/// Extends the search path: modules beside the harness come first, then those in the current
/// directory.
fn extend_search_path(python: Python<'_>, path: &Path) -> PyResult<()> {
    let folder = std::path::absolute(path)?
        .parent()
        .map(Path::to_path_buf)
        .unwrap_or_default();
    let search = python.import("sys")?.getattr("path")?;
    let mut folders = vec![folder];
    folders.extend(std::env::current_dir());
    // For a link to a harness elsewhere, its modules are beside the target.
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

/// Creates the context of a harness, with all slots empty.
fn new_context<'py>(
    python: Python<'py>,
    path: &Path,
    harness: Harness,
    namespace: Bound<'py, PyDict>,
    support: Bound<'py, PyModule>,
) -> PyResult<HarnessContext<'py>> {
    let layout = SlotLayout::new(&harness);
    let slots = PyList::new(python, (0..layout.total()).map(|_| python.None()))?;
    let positions = (0..layout.total())
        .map(|position| Ok(position.into_pyobject(python)?.into_any()))
        .collect::<PyResult<Vec<_>>>()?;
    let path = std::path::absolute(path)?.to_string_lossy().into_owned();
    Ok(HarnessContext {
        python,
        harness,
        layout,
        slots,
        positions,
        namespace,
        path,
        support,
        skeletons: Skeletons::default(),
        unawaited: None,
    })
}

/// Adds the names that generated functions and harness code refer to. Returns the harness object.
fn fill_namespace<'py>(
    context: &HarnessContext<'py>,
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

/// Defines the function that mirrored actions call between the action and its reference.
fn prepare_after_hook<'py>(context: &HarnessContext<'py>, hooks: &Hooks<'py>) -> PyResult<()> {
    if hooks.has(Hook::AfterEach) {
        let code = "try: test_after_each(self)\n except Exception: pass";
        let wrapped = context.function(&functions::statement("after_each", 1, "", code))?;
        context.namespace.set_item("_tw_after_each", wrapped)?;
    }
    Ok(())
}

/// Forgets imported modules that the project under test replaces by its own.
fn prefer_local_modules(context: &HarnessContext<'_>) -> PyResult<()> {
    let imports = testwright_source::imports(&context.harness.raw.text).unwrap_or_default();
    let names: Vec<&str> = imports
        .iter()
        .map(|import| top_package(&import.module))
        .collect();
    context
        .support
        .call_method1("prefer_local", (names,))
        .map(|_| ())
}

/// Runs the raw code of the harness.
fn run_raw_code<'py>(
    context: &HarnessContext<'py>,
    text: &str,
    collector: Option<&Collector<'py>>,
    measured: MeasuredCode,
) -> Result<(), LoadError> {
    let raw = &context.harness.raw;
    let entry_values: Vec<(&str, &str, usize)> = raw
        .entry_values
        .iter()
        .map(|value| (value.name.as_str(), value.expression.as_str(), value.line))
        .collect();
    let collector = collector.filter(|_| measured == MeasuredCode::ModulesAndHarness);
    let observe = collector.and_then(|collector| collector.observer().ok());
    let arguments = (
        &raw.text,
        text,
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

/// Creates the object that finds the modules which a reset restores. Must be called before the raw
/// code is run.
fn module_finder<'py>(
    context: &HarnessContext<'py>,
    module: &Bound<'py, PyAny>,
    process: ProcessOwner,
) -> PyResult<Bound<'py, PyAny>> {
    let python = context.python;
    let code = CString::new(include_str!("project_modules.py"))?;
    let script = PyModule::from_code(
        python,
        &code,
        c"testwright/project_modules.py",
        c"testwright_project_modules",
    )?;
    let read_imports = PyCFunction::new_closure(python, None, None, |arguments, _| {
        let text: String = arguments.get_item(0)?.extract()?;
        let imports = testwright_source::imports(&text).unwrap_or_default();
        let parts = |import: testwright_source::Import| {
            let names = (import.names, import.bound_names);
            (
                import.module,
                import.level,
                names.0,
                names.1,
                import.top_level,
            )
        };
        PyResult::Ok(imports.into_iter().map(parts).collect::<Vec<_>>())
    })?;
    let sources: BTreeSet<&str> = context
        .harness
        .sources
        .iter()
        .map(|source| source.text.as_str())
        .collect();
    let sources: Vec<&str> = sources.into_iter().collect();
    // A caller's own modules are not under test.
    let takes_all = process != ProcessOwner::Caller;
    let class = script.getattr("ModulesUnderTest")?;
    class.call1((module, read_imports, sources, takes_all))
}

impl<'py> KeywordLines<'py> {
    fn new(
        context: &HarnessContext<'py>,
        rules: &ReferenceRules<'py>,
        checks: CheckMode,
    ) -> PyResult<KeywordLines<'py>> {
        let harness = &context.harness;
        let statement = |line: &CodeLine| LineCode::new(context, line, LineKind::Statement);
        let expression =
            |line: &CodeLine| LineCode::new(context, line, LineKind::Expression(Vec::new()));
        let mut finallys = Vec::new();
        for line in &harness.finallys {
            finallys.push(statement(line));
            if rules.is_active() {
                finallys.extend(
                    LineCode::reference_lines(context, rules, line)?
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
            if rules.is_active() {
                LineCode::reference_lines(context, rules, &log.line)?
                    .iter()
                    .for_each(add);
            }
        }
        Ok(KeywordLines {
            inits: harness.inits.iter().map(statement).collect(),
            finallys,
            assumptions: harness.assumptions.iter().map(expression).collect(),
            hints: harness.hints.iter().map(expression).collect(),
            checks: Checks::new(context, checks)?,
            logs,
        })
    }

    /// Returns the code of all lines.
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

/// Returns true if harness code may change a slot that an action does not name, by writing
/// `self.p_name[…]` itself.
fn mentions_slots_by_name(harness: &Harness) -> bool {
    let in_fragment = |fragment: &Fragment| {
        fragment
            .parts
            .iter()
            .any(|part| matches!(part, CodePart::Text(text) if text.contains("self")))
    };
    harness.raw.text.contains(".p_")
        || harness
            .actions
            .iter()
            .any(|action| in_fragment(&action.statement))
}
