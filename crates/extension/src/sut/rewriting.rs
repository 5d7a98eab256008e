//! Normalization and generalization of tests, and their single rules.

use std::collections::HashSet;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use testwright_core::shrink::{
    Generalization, GeneralizeOptions, NormalizeOptions, NormalizeRule, Speed,
};
use testwright_core::{Step, Test};

use super::Sut;
use super::loading::parse_choice;
use super::reducing::ReduceSettings;
use super::settings::{print, truthy};

/// The maximum number of equivalent tests that are collected.
const MAX_COLLECTED: usize = 100_000;

#[pymethods]
impl Sut {
    /// Rewrites a test into a simple, canonical one that still satisfies a predicate.
    ///
    /// `speed` is `"FAST"`, `"SLOW"` or, for replacements of at most three characters, `"VERYFAST"`; `dist_limit` sets
    /// another such limit. `no_reassigns` prefers tests that fill no slot twice.
    ///
    ///     >>> print(sut.normalize(test[:3], sut.covers_same(test[:3])))
    ///     int0 = 1
    ///     stack0 = stack.Stack()
    ///     stack0.push(int0)
    #[pyo3(signature = (test, pred, prune_guards = true, keep_last = false, verbose = false, speed = "FAST", check_enabled = false, dist_limit = None, reorder = true, no_reassigns = false, use_cache = true, try_fast = true))]
    #[expect(
        clippy::too_many_arguments,
        reason = "TSTL has them all, most are by name"
    )]
    fn normalize<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        pred: &Bound<'py, PyAny>,
        prune_guards: bool,
        keep_last: bool,
        #[pyo3(from_py_with = truthy)] verbose: bool,
        speed: &str,
        check_enabled: bool,
        dist_limit: Option<usize>,
        reorder: bool,
        no_reassigns: bool,
        use_cache: bool,
        try_fast: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let _without_effect = (prune_guards, check_enabled, reorder, use_cache);
        let test = Sut::core_test(slf, test)?;
        let options = NormalizeOptions {
            speed: speed_of(speed),
            no_reassigns,
            max_text_distance: dist_limit.or(speed.starts_with("VERYFAST").then_some(3)),
        };
        let settings = ReduceSettings {
            keep_last,
            classic: !try_fast,
            verbose,
            ..ReduceSettings::default()
        };
        let shrunk = Sut::shrink_if_good(slf, pred, &settings, |shrinker| {
            shrinker.normalize(&test, &options)
        })?;
        Sut::python_test(slf, &shrunk.map_or(test, |shrunk| shrunk.test))
    }

    /// Prints a test with comments on the steps and values that could replace its own, and returns that text.
    ///
    /// With `return_collect` it returns a triple: true if one of the `targets` was found among the equally good tests,
    /// that target, and a dictionary of all these tests, written as `capture_replay` writes them. With a `depth`, their
    /// own replacements are added, and so on.
    ///
    ///     >>> text = sut.generalize(test[:3], sut.covers_same(test[:3]))
    ///     #[
    ///     stack0 = stack.Stack()                                       # STEP 0
    ///     int0 = 3                                                     # STEP 1
    ///     #  or int0 = 1
    ///     #   - int0 = 2
    ///     #] (steps in [] can be in any order)
    ///     stack0.push(int0)                                            # STEP 2
    #[pyo3(signature = (test, pred, prune_guards = true, keep_last = false, verbose = false, check_enabled = false, dist_limit = None, return_collect = false, collected = None, depth = 0, silent = false, targets = None, fresh = true, speed = "FAST"))]
    #[expect(
        clippy::too_many_arguments,
        reason = "TSTL has them all, most are by name"
    )]
    fn generalize<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        pred: &Bound<'py, PyAny>,
        prune_guards: bool,
        keep_last: bool,
        #[pyo3(from_py_with = truthy)] verbose: bool,
        check_enabled: bool,
        dist_limit: Option<usize>,
        return_collect: bool,
        collected: Option<Bound<'py, PyAny>>,
        depth: usize,
        silent: bool,
        targets: Option<Bound<'py, PyAny>>,
        fresh: bool,
        speed: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _without_effect = (prune_guards, verbose, check_enabled, dist_limit);
        let test = Sut::core_test(slf, test)?;
        let options = GeneralizeOptions {
            speed: speed_of(speed),
            fresh,
        };
        let settings = ReduceSettings {
            keep_last,
            ..ReduceSettings::default()
        };
        let found = Sut::shrink_if_good(slf, pred, &settings, |shrinker| {
            let first = shrinker.generalize(&test, &options)?;
            let mut equivalents: Vec<Test> = Vec::new();
            let mut known = HashSet::new();
            let mut newest = if return_collect {
                first.equivalents(MAX_COLLECTED)
            } else {
                Vec::new()
            };
            for level in 0..=depth {
                newest.retain(|test| known.insert(test.steps.clone()));
                let mut next = Vec::new();
                for test in newest.iter().filter(|_| level < depth) {
                    let further = shrinker.generalize(test, &options)?;
                    next.extend(further.equivalents(MAX_COLLECTED));
                }
                equivalents.append(&mut newest);
                newest = next;
            }
            Ok((first, equivalents))
        })?;
        let (first, equivalents) =
            found.unwrap_or_else(|| (Generalization::from_test(&test), Vec::new()));
        let catalog = Arc::clone(&Sut::borrow(slf)?.catalog);
        let text = first.render(&|step| match step {
            Step::Act(action) => catalog.text(action),
            Step::Restart => String::from("<<RESTART>>"),
        });
        if !silent {
            print(slf.py(), text.trim_end())?;
        }
        if !return_collect {
            return Ok(text.into_pyobject(slf.py())?.into_any());
        }
        let all = PyDict::new(slf.py());
        if let Some(collected) = collected {
            for known in collected.try_iter()? {
                all.set_item(known?, true)?;
            }
        }
        for test in equivalents {
            let test = Sut::python_test(slf, &test)?;
            let written = slf.call_method1("capture_replay", (test,))?;
            all.set_item(&written, true)?;
            if let Some(targets) = &targets
                && targets.contains(&written)?
            {
                return Ok((true, written, all).into_pyobject(slf.py())?.into_any());
            }
        }
        Ok((false, slf.py().None(), all)
            .into_pyobject(slf.py())?
            .into_any())
    }

    /// Applies a single rule of normalization to a test. Returns true if it could be applied, and the resulting test.
    ///
    /// The rules are `"NoReassigns"`, `"SimplifyAll"`, `"ReplacePool"`, `"SimplifySingle"`, `"SwapPool"`, `"SwapAction"`
    /// and `"ReduceAction"`.
    ///
    ///     >>> sut.apply_rule("ReduceAction", test, sut.fails)
    ///     (True, Test([<stack0 = stack.Stack()>, <stack0.top()>]))
    #[pyo3(signature = (rule, test, pred, keep_last = false, dist_limit = None))]
    fn apply_rule<'py>(
        slf: &Bound<'py, Sut>,
        rule: &str,
        test: &Bound<'py, PyAny>,
        pred: &Bound<'py, PyAny>,
        keep_last: bool,
        dist_limit: Option<usize>,
    ) -> PyResult<(bool, Bound<'py, PyList>)> {
        let names = NormalizeRule::ALL.map(|rule| (format!("{rule:?}"), rule));
        let names: Vec<_> = names
            .iter()
            .map(|(name, rule)| (name.as_str(), *rule))
            .collect();
        let rule = parse_choice("rule", rule, &names)?;
        let test = Sut::core_test(slf, test)?;
        let options = NormalizeOptions {
            speed: Speed::Thorough,
            no_reassigns: rule == NormalizeRule::NoReassigns,
            max_text_distance: dist_limit,
        };
        let settings = ReduceSettings {
            keep_last,
            ..ReduceSettings::default()
        };
        let shrunk = Sut::shrink(slf, pred, &settings, |shrinker| {
            shrinker.apply(rule, &test, &options)
        })?;
        let changed = shrunk.is_some();
        let test = shrunk.map_or(test, |shrunk| shrunk.test);
        Ok((changed, Sut::python_test(slf, &test)?))
    }
}

/// Translates a speed of TSTL.
fn speed_of(word: &str) -> Speed {
    match word {
        "SLOW" | "THOROUGH" | "thorough" => Speed::Thorough,
        _ => Speed::Fast,
    }
}
