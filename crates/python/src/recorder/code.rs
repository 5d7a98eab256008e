//! Classification of code objects, and sampling of their calls.
//!
//! The first calls of a unit are all kept. After that a call is kept if it reaches a new line,
//! passes a new word or has a new trait (`equivalence`). After [`MAX_EXAMINED_CALLS`] only a sample
//! of calls is examined.

use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyFunction, PyTuple};
use rustc_hash::{FxHashMap, FxHashSet};
use testwright_capture::{BindingKind, CodeUnit, ImportPath, UnitKind, UnitParameter};

use super::{names, skip_table};

/// Flags of `co_flags`, as CPython defines them.
const OPTIMIZED: u32 = 0x1;
const POSITIONALS: u32 = 0x4;
const KEYWORDS: u32 = 0x8;
const NESTED: u32 = 0x10;
const GENERATOR: u32 = 0x20;
const COROUTINE: u32 = 0x80;
const ASYNC_GENERATOR: u32 = 0x200;

/// The number of calls of a unit that are kept in any case.
const FIRST_CALLS: u32 = 8;
/// The maximum number of calls kept per unit.
const MAX_CALLS: u32 = 200;
/// The maximum number of distinct words per unit that make its calls different.
const MAX_WORDS: usize = 40;
/// The number of calls of a unit that are examined one by one. After that they are sampled.
const MAX_EXAMINED_CALLS: u32 = 1_000;
/// One call in this many is examined when sampling.
const SAMPLING_INTERVAL: u64 = 1_024;

/// The kind of a code object.
pub(super) enum CodeKind {
    /// Code outside the project.
    Foreign,
    /// The body of a module.
    Module,
    /// A function that is recorded.
    Unit(Box<WatchedUnit>),
    /// Anything else: class bodies, comprehensions, nested functions.
    Other,
}

/// A unit, and the state of its recording in this process.
pub(super) struct WatchedUnit {
    pub(super) unit: CodeUnit,
    /// The number of the unit in the store.
    pub(super) number: u32,
    pub(super) code: Py<PyCode>,
    pub(super) sampler: CallSampler,
    /// The number of its calls being recorded at the moment.
    pub(super) open: u32,
    /// True if the interpreter reports more than the starts of its calls.
    #[cfg(Py_3_12)]
    pub(super) reports_all_events: bool,
    /// True if some of its lines are no longer reported.
    #[cfg(Py_3_12)]
    pub(super) has_silent_lines: bool,
}

impl WatchedUnit {
    /// Handles the start of a call. Returns true if it is to be examined; if not, further calls are
    /// skipped until the next one that is.
    pub(super) fn should_examine(&mut self, address: usize) -> bool {
        self.sampler.calls += skip_table::skipped_count(address);
        skip_table::skip_next(address, 0);
        let is_examined = self.sampler.count_call();
        // Before 3.12 resuming frames of generators consult the skip table as well, and recorded
        // ones must not be skipped.
        let may_skip = cfg!(Py_3_12) || self.open == 0;
        if !is_examined && may_skip {
            skip_table::skip_next(address, self.sampler.calls_to_skip());
        }
        is_examined
    }
}

/// Decides which calls of a unit are examined, and which are kept.
#[derive(Default)]
pub(super) struct CallSampler {
    /// The number of calls so far.
    pub(super) calls: u64,
    /// The number of calls examined so far.
    examined: u32,
    /// The number of calls kept so far.
    kept_calls: u32,
    /// Hashes of the traits of earlier calls.
    traits_seen: FxHashSet<u64>,
    /// Lines reached by earlier calls.
    lines: FxHashSet<u32>,
    /// Hashes of the words passed to earlier calls.
    words: FxHashSet<u64>,
}

impl CallSampler {
    /// Counts a call. Returns true if it is to be examined.
    pub(super) fn count_call(&mut self) -> bool {
        self.calls += 1;
        if self.kept_calls >= MAX_CALLS {
            return false;
        }
        let is_examined = self.examines_every_call()
            || self.calls.is_power_of_two()
            || self.calls.is_multiple_of(SAMPLING_INTERVAL);
        self.examined = self.examined.saturating_add(u32::from(is_examined));
        is_examined
    }

    /// Counts work worth one more examined call.
    pub(super) fn add_examined(&mut self) {
        self.examined = self.examined.saturating_add(1);
    }

    /// Returns true if every call is still examined.
    pub(super) fn examines_every_call(&self) -> bool {
        self.examined < MAX_EXAMINED_CALLS && self.kept_calls < MAX_CALLS
    }

    /// Returns the number of calls to skip until the next one to examine.
    pub(super) fn calls_to_skip(&self) -> u32 {
        if self.kept_calls >= MAX_CALLS {
            return 1 << 30;
        }
        if self.examines_every_call() {
            return 0;
        }
        let next = (self.calls + 1).next_power_of_two();
        let next = next.min((self.calls / SAMPLING_INTERVAL + 1) * SAMPLING_INTERVAL);
        u32::try_from(next - 1 - self.calls).unwrap_or(0)
    }

    /// Adds the lines that a call reached. Returns true if any is new.
    pub(super) fn add_lines(&mut self, lines: &[u32]) -> bool {
        let mut is_new = false;
        for line in lines {
            is_new |= self.lines.insert(*line);
        }
        is_new
    }

    /// Adds the words passed to a call. Returns true if any is new. Beyond [`MAX_WORDS`] words are
    /// data rather than choices, and not counted.
    pub(super) fn add_words(&mut self, words: &[u64]) -> bool {
        let mut is_new = false;
        for word in words {
            is_new |= self.words.len() < MAX_WORDS && self.words.insert(*word);
        }
        is_new
    }

    /// Returns true if a call is to be kept: it is one of the first, has a new trait, or is wanted
    /// anyway.
    pub(super) fn should_keep(
        &mut self,
        traits: impl IntoIterator<Item = u64>,
        is_wanted: bool,
    ) -> bool {
        let mut is_new = is_wanted || self.kept_calls < FIRST_CALLS || self.calls.is_power_of_two();
        for trait_hash in traits {
            is_new |= self.traits_seen.insert(trait_hash);
        }
        is_new &= self.kept_calls < MAX_CALLS;
        self.kept_calls += u32::from(is_new);
        is_new
    }
}

/// Classifies a code object. `module` is the name of the module that it runs in.
pub(super) fn classify(
    code: &Bound<'_, PyCode>,
    module: &str,
    qualified: &mut QualifiedNames,
) -> PyResult<CodeKind> {
    let flags: u32 = code.getattr("co_flags")?.extract()?;
    let name: String = code.getattr("co_name")?.extract()?;
    if name == "<module>" {
        return Ok(CodeKind::Module);
    }
    if flags & OPTIMIZED == 0 || flags & NESTED != 0 || name.starts_with('<') {
        return Ok(CodeKind::Other);
    }
    let file: String = code.getattr("co_filename")?.extract()?;
    let line: u32 = code.getattr("co_firstlineno")?.extract()?;
    let unit = CodeUnit {
        module: module.to_owned(),
        qualified_name: qualified.qualified_name(code, &file, line, &name),
        file,
        line,
        kind: match flags {
            flags if flags & ASYNC_GENERATOR != 0 => UnitKind::AsyncGenerator,
            flags if flags & COROUTINE != 0 => UnitKind::Coroutine,
            flags if flags & GENERATOR != 0 => UnitKind::Generator,
            _ => UnitKind::Function,
        },
        parameters: parameters(code, flags)?,
        calls: 0,
    };
    Ok(CodeKind::Unit(Box::new(WatchedUnit {
        unit,
        number: 0,
        code: code.clone().unbind(),
        sampler: CallSampler::default(),
        open: 0,
        #[cfg(Py_3_12)]
        reports_all_events: false,
        #[cfg(Py_3_12)]
        has_silent_lines: false,
    })))
}

/// Returns the parameters in the order of a signature. The interpreter stores `*args` and
/// `**kwargs` last.
fn parameters(code: &Bound<'_, PyCode>, flags: u32) -> PyResult<Vec<UnitParameter>> {
    let count = |name: &str| -> PyResult<usize> { code.getattr(name)?.extract() };
    let names: Vec<String> = code.getattr("co_varnames")?.extract()?;
    let positional_only = count("co_posonlyargcount")?;
    let positional = count("co_argcount")?;
    let keyword_only = count("co_kwonlyargcount")?;
    let mut names = names.into_iter();
    let mut found = Vec::new();
    let mut take = |number: usize, kind: &dyn Fn(usize) -> BindingKind| -> Vec<UnitParameter> {
        (names.by_ref().take(number).enumerate())
            .map(|(index, name)| UnitParameter {
                name,
                kind: kind(index),
            })
            .collect()
    };
    found.extend(take(positional, &|index| {
        if index < positional_only {
            BindingKind::PositionalOnly
        } else {
            BindingKind::Normal
        }
    }));
    let by_keyword = take(keyword_only, &|_| BindingKind::KeywordOnly);
    if flags & POSITIONALS != 0 {
        found.extend(take(1, &|_| BindingKind::Positionals));
    }
    found.extend(by_keyword);
    if flags & KEYWORDS != 0 {
        found.extend(take(1, &|_| BindingKind::Keywords));
    }
    Ok(found)
}

/// Returns the default values of a unit by parameter, if the function can be found by its import
/// path.
pub(super) fn default_values<'py>(
    watched: &WatchedUnit,
    python: Python<'py>,
) -> FxHashMap<String, Bound<'py, PyAny>> {
    let mut found = FxHashMap::default();
    let reference = ImportPath::new(&watched.unit.module, &watched.unit.qualified_name);
    let Some(object) = names::resolve(python, &reference) else {
        return found;
    };
    let object = names::inner_function(&object).unwrap_or(object);
    let Ok(function) = object.cast_exact::<PyFunction>() else {
        return found;
    };
    // These attributes are read without running code of the program.
    if !function
        .getattr("__code__")
        .is_ok_and(|code| code.is(&watched.code))
    {
        return found;
    }
    if let Ok(values) = function.getattr("__defaults__")
        && let Ok(values) = values.cast::<PyTuple>()
    {
        let positional = watched.unit.parameters.iter().filter(|parameter| {
            matches!(
                parameter.kind,
                BindingKind::PositionalOnly | BindingKind::Normal
            )
        });
        let positional: Vec<_> = positional.collect();
        let first = positional.len().saturating_sub(values.len());
        for (parameter, value) in positional[first..].iter().zip(values.iter()) {
            found.insert(parameter.name.clone(), value);
        }
    }
    if let Ok(values) = function.getattr("__kwdefaults__")
        && let Ok(values) = values.cast::<PyDict>()
    {
        for (name, value) in values.iter() {
            // SAFETY: the name is alive.
            if let Some(name) = unsafe { names::read_text(python, name.as_ptr()) } {
                found.insert(name, value);
            }
        }
    }
    found
}

/// Qualified names of code objects, such as `Class.method`. Code objects store them since 3.11;
/// before, they are found in the source file.
#[derive(Default)]
pub(super) struct QualifiedNames {
    /// Qualified names by file, then by first line and simple name.
    #[cfg(not(Py_3_11))]
    by_file: FxHashMap<String, FxHashMap<(u32, String), String>>,
}

impl QualifiedNames {
    /// Returns the qualified name of a code object, or its simple name if the former is unknown.
    #[cfg(Py_3_11)]
    fn qualified_name(
        &mut self,
        code: &Bound<'_, PyCode>,
        _file: &str,
        _line: u32,
        name: &str,
    ) -> String {
        let qualified = code.getattr("co_qualname").and_then(|name| name.extract());
        qualified.unwrap_or_else(|_| name.to_owned())
    }

    #[cfg(not(Py_3_11))]
    fn qualified_name(
        &mut self,
        _code: &Bound<'_, PyCode>,
        file: &str,
        line: u32,
        name: &str,
    ) -> String {
        let known = self.by_file.entry(file.to_owned()).or_insert_with(|| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let functions = testwright_source::functions(&text);
            (functions.into_iter())
                .map(|function| ((function.line, function.name), function.qualified_name))
                .collect()
        });
        let found = known.get(&(line, name.to_owned()));
        found.cloned().unwrap_or_else(|| name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_lasts_until_the_next_call_that_is_looked_at() {
        let mut sampler = CallSampler::default();
        let mut plain = CallSampler::default();
        let mut looked_at = Vec::new();
        while sampler.calls < 10_000 {
            let examines_every_call = sampler.count_call();
            if examines_every_call {
                looked_at.push(sampler.calls);
            } else {
                sampler.calls += u64::from(sampler.calls_to_skip());
            }
        }
        let expected: Vec<u64> = (1..=10_000).filter(|_| plain.count_call()).collect();
        assert_eq!(looked_at, expected);
    }
}
