//! What code objects are to the recorder.

use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyFunction, PyTuple};
use rustc_hash::{FxHashMap, FxHashSet};
use testwright_capture::{Parameter, ParameterKind, Reference, Unit, UnitKind};

use super::{names, passing};

const OPTIMIZED: u32 = 0x1;
const POSITIONALS: u32 = 0x4;
const KEYWORDS: u32 = 0x8;
const NESTED: u32 = 0x10;
const GENERATOR: u32 = 0x20;
const COROUTINE: u32 = 0x80;
const ASYNC_GENERATOR: u32 = 0x200;

/// Up to this number all calls of a unit are kept.
const FIRST_CALLS: u32 = 8;
/// No more calls of a unit are kept than this.
const MOST_CALLS: u32 = 200;
/// No more words than this make calls of a unit different.
const MOST_WORDS: usize = 40;
/// This many calls of a unit are looked at closely; then only now and then one.
const CLOSELY: u32 = 1_000;
/// After that, one call in so many is.
const SAMPLED: u64 = 1_024;

/// A code object.
pub(super) enum Kind {
    /// Not the project's.
    Foreign,
    /// The code of a module.
    Module,
    /// A function that is recorded.
    Unit(Box<WatchedUnit>),
    /// Anything else: class bodies, comprehensions, functions inside functions.
    Other,
}

/// What is known about a unit in this process.
pub(super) struct WatchedUnit {
    pub(super) unit: Unit,
    /// Its number in the store.
    pub(super) number: u32,
    pub(super) code: Py<PyCode>,
    pub(super) interest: Interest,
    /// How many of its calls are being recorded at the moment.
    pub(super) open: u32,
    /// Whether the interpreter was asked to tell more than beginnings of calls.
    #[cfg(Py_3_12)]
    pub(super) tells_everything: bool,
    /// Whether it was asked not to tell of some lines again.
    #[cfg(Py_3_12)]
    pub(super) has_silent_lines: bool,
}

impl WatchedUnit {
    /// A call begins: whether it is to be looked at closely. If not, those after it pass until the next one that is.
    pub(super) fn begins(&mut self, address: usize) -> bool {
        self.interest.calls += passing::passed(address);
        passing::allow(address, 0);
        let closely = self.interest.begins();
        // Before 3.12 the frames of generators that go on ask the same question, and those that are recorded must not
        // pass.
        let may_pass = cfg!(Py_3_12) || self.open == 0;
        if !closely && may_pass {
            passing::allow(address, self.interest.pause());
        }
        closely
    }
}

/// Whether calls are worth looking at, and worth keeping.
#[derive(Default)]
pub(super) struct Interest {
    pub(super) calls: u64,
    examined: u32,
    kept: u32,
    seen: FxHashSet<u64>,
    lines: FxHashSet<u32>,
    words: FxHashSet<u64>,
}

impl Interest {
    /// Counts a call. Whether it is to be looked at closely.
    pub(super) fn begins(&mut self) -> bool {
        self.calls += 1;
        if self.kept >= MOST_CALLS {
            return false;
        }
        let closely =
            self.is_close() || self.calls.is_power_of_two() || self.calls.is_multiple_of(SAMPLED);
        self.examined = self.examined.saturating_add(u32::from(closely));
        closely
    }

    /// A call takes as long to look at as another one.
    pub(super) fn looks_again(&mut self) {
        self.examined = self.examined.saturating_add(1);
    }

    /// Whether calls are still looked at one by one.
    pub(super) fn is_close(&self) -> bool {
        self.examined < CLOSELY && self.kept < MOST_CALLS
    }

    /// How many of the next calls are not to be looked at.
    pub(super) fn pause(&self) -> u32 {
        if self.kept >= MOST_CALLS {
            return 1 << 30;
        }
        if self.is_close() {
            return 0;
        }
        let next = (self.calls + 1).next_power_of_two();
        let next = next.min((self.calls / SAMPLED + 1) * SAMPLED);
        u32::try_from(next - 1 - self.calls).unwrap_or(0)
    }

    /// Whether a call reaches a line that none reached before.
    pub(super) fn has_new_line(&mut self, lines: &[u32]) -> bool {
        let mut is_new = false;
        for line in lines {
            is_new |= self.lines.insert(*line);
        }
        is_new
    }

    /// Whether a call is given a word that none was given before. They are choices only where they are few.
    pub(super) fn has_new_word(&mut self, words: &[u64]) -> bool {
        let mut is_new = false;
        for word in words {
            is_new |= self.words.len() < MOST_WORDS && self.words.insert(*word);
        }
        is_new
    }

    /// Whether a call is to be kept: one of the first, one with a trait that none had before, or one that is wanted anyway.
    pub(super) fn is_worth_keeping(
        &mut self,
        traits: impl IntoIterator<Item = u64>,
        is_wanted: bool,
    ) -> bool {
        let mut is_new = is_wanted || self.kept < FIRST_CALLS || self.calls.is_power_of_two();
        for one in traits {
            is_new |= self.seen.insert(one);
        }
        is_new &= self.kept < MOST_CALLS;
        self.kept += u32::from(is_new);
        is_new
    }
}

/// What a code object is. `module` is the name of the module it runs in.
pub(super) fn kind(
    code: &Bound<'_, PyCode>,
    module: &str,
    qualified: &mut QualifiedNames,
) -> PyResult<Kind> {
    let flags: u32 = code.getattr("co_flags")?.extract()?;
    let name: String = code.getattr("co_name")?.extract()?;
    if name == "<module>" {
        return Ok(Kind::Module);
    }
    if flags & OPTIMIZED == 0 || flags & NESTED != 0 || name.starts_with('<') {
        return Ok(Kind::Other);
    }
    let file: String = code.getattr("co_filename")?.extract()?;
    let line: u32 = code.getattr("co_firstlineno")?.extract()?;
    let unit = Unit {
        module: module.to_owned(),
        qualified_name: qualified.of(code, &file, line, &name),
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
    Ok(Kind::Unit(Box::new(WatchedUnit {
        unit,
        number: 0,
        code: code.clone().unbind(),
        interest: Interest::default(),
        open: 0,
        #[cfg(Py_3_12)]
        tells_everything: false,
        #[cfg(Py_3_12)]
        has_silent_lines: false,
    })))
}

/// Parameters in the order of a signature: the interpreter has `*args` and `**kwargs` at the end.
fn parameters(code: &Bound<'_, PyCode>, flags: u32) -> PyResult<Vec<Parameter>> {
    let count = |name: &str| -> PyResult<usize> { code.getattr(name)?.extract() };
    let names: Vec<String> = code.getattr("co_varnames")?.extract()?;
    let positional_only = count("co_posonlyargcount")?;
    let positional = count("co_argcount")?;
    let keyword_only = count("co_kwonlyargcount")?;
    let mut names = names.into_iter();
    let mut found = Vec::new();
    let mut take = |number: usize, kind: &dyn Fn(usize) -> ParameterKind| -> Vec<Parameter> {
        (names.by_ref().take(number).enumerate())
            .map(|(place, name)| Parameter {
                name,
                kind: kind(place),
            })
            .collect()
    };
    found.extend(take(positional, &|place| {
        if place < positional_only {
            ParameterKind::PositionalOnly
        } else {
            ParameterKind::Normal
        }
    }));
    let by_keyword = take(keyword_only, &|_| ParameterKind::KeywordOnly);
    if flags & POSITIONALS != 0 {
        found.extend(take(1, &|_| ParameterKind::Positionals));
    }
    found.extend(by_keyword);
    if flags & KEYWORDS != 0 {
        found.extend(take(1, &|_| ParameterKind::Keywords));
    }
    Ok(found)
}

/// The function that a unit is, where an importer finds it, with its default values by parameter.
pub(super) fn defaults<'py>(
    watched: &WatchedUnit,
    python: Python<'py>,
) -> FxHashMap<String, Bound<'py, PyAny>> {
    let mut found = FxHashMap::default();
    let reference = Reference::new(&watched.unit.module, &watched.unit.qualified_name);
    let Some(object) = names::found(python, &reference) else {
        return found;
    };
    let object = names::function_inside(&object).unwrap_or(object);
    let Ok(function) = object.cast_exact::<PyFunction>() else {
        return found;
    };
    // Functions answer these themselves.
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
                ParameterKind::PositionalOnly | ParameterKind::Normal
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
            if let Some(name) = unsafe { names::text(python, name.as_ptr()) } {
                found.insert(name, value);
            }
        }
    }
    found
}

/// `Class.method` for code objects. They know it themselves since 3.11; before, the text of the file tells.
#[derive(Default)]
pub(super) struct QualifiedNames {
    #[cfg(not(Py_3_11))]
    by_file: FxHashMap<String, FxHashMap<(u32, String), String>>,
}

impl QualifiedNames {
    #[cfg(Py_3_11)]
    fn of(&mut self, code: &Bound<'_, PyCode>, _file: &str, _line: u32, name: &str) -> String {
        let qualified = code.getattr("co_qualname").and_then(|name| name.extract());
        qualified.unwrap_or_else(|_| name.to_owned())
    }

    #[cfg(not(Py_3_11))]
    fn of(&mut self, _code: &Bound<'_, PyCode>, file: &str, line: u32, name: &str) -> String {
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
        let mut interest = Interest::default();
        let mut plain = Interest::default();
        let mut looked_at = Vec::new();
        while interest.calls < 10_000 {
            let is_close = interest.begins();
            if is_close {
                looked_at.push(interest.calls);
            } else {
                interest.calls += u64::from(interest.pause());
            }
        }
        let expected: Vec<u64> = (1..=10_000).filter(|_| plain.begins()).collect();
        assert_eq!(looked_at, expected);
    }
}
