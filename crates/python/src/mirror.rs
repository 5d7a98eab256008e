//! The reference implementation: what an action becomes for it, and whether results are compared.
//!
//! Patterns of `reference:` and `compare:` lines are regular expressions of the host language, so the host's
//! own engine applies them.

use pyo3::prelude::*;
use testwright_lang::Harness;

/// The `reference:` and `compare:` lines of a harness, ready to use.
pub(crate) struct Mirror<'py> {
    references: Vec<(Bound<'py, PyAny>, String)>,
    compares: Vec<Bound<'py, PyAny>>,
    depends_on_indices: bool,
    active: bool,
}

/// A pattern that the host rejects.
pub(crate) struct BadPattern {
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl<'py> Mirror<'py> {
    pub(crate) fn new(
        python: Python<'py>,
        harness: &Harness,
    ) -> PyResult<(Mirror<'py>, Vec<BadPattern>)> {
        let module = python.import("re")?;
        let mut bad = Vec::new();
        let mut compile = |pattern: &str, replacement: &str, line: usize| {
            let compiled = module.call_method1("compile", (pattern,));
            // A wrong group number in the replacement shows when something is replaced.
            let trial = compiled.and_then(|compiled| {
                compiled.call_method1("sub", (replacement, ""))?;
                Ok(compiled)
            });
            trial
                .map_err(|error| {
                    bad.push(BadPattern {
                        line,
                        message: error.value(python).to_string(),
                    })
                })
                .ok()
        };
        let mut references = Vec::new();
        for reference in &harness.references {
            if let Some(pattern) =
                compile(&reference.pattern, &reference.replacement, reference.line)
            {
                references.push((pattern, reference.replacement.clone()));
            }
        }
        let mut compares = Vec::new();
        for compare in &harness.compares {
            compares.extend(compile(&compare.text, "", compare.line));
        }
        let patterns = harness
            .references
            .iter()
            .map(|reference| &reference.pattern);
        let depends_on_indices = patterns
            .chain(harness.compares.iter().map(|compare| &compare.text))
            .any(|text| tells_indices_apart(text));
        let active = !references.is_empty() || harness.pools.iter().any(|pool| pool.reference);
        Ok((
            Mirror {
                references,
                compares,
                depends_on_indices,
                active,
            },
            bad,
        ))
    }

    /// Whether patterns may treat slot 0 and slot 1, or the literals `1` and `"a"`, differently. Then every
    /// concrete action is translated by itself.
    pub(crate) fn depends_on_indices(&self) -> bool {
        self.depends_on_indices
    }

    /// Whether there is a reference implementation at all.
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    /// Applies all replacements.
    pub(crate) fn translate(&self, text: &str) -> PyResult<String> {
        let mut text = text.to_owned();
        for (pattern, replacement) in &self.references {
            text = pattern
                .call_method1("sub", (replacement, text))?
                .extract()?;
        }
        Ok(text)
    }

    /// Whether the result of a statement is compared.
    pub(crate) fn is_compared(&self, text: &str) -> PyResult<bool> {
        for pattern in &self.compares {
            if !pattern.call_method1("search", (text,))?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A digit (not a group number), a digit class or a quote in a pattern: it may match some literals and not others.
fn tells_indices_apart(pattern: &str) -> bool {
    let mut previous = ' ';
    pattern.chars().any(|character| {
        let found = (character.is_ascii_digit() && previous != '\\')
            || (character == 'd' && previous == '\\')
            || matches!(character, '\'' | '"');
        previous = character;
        found
    })
}
