//! The rules for a reference implementation: the translation of actions for it, and the decision
//! which results are compared.
//!
//! Patterns of `reference:` and `compare:` lines are regular expressions of the host language, so
//! the host's own engine applies them.

use pyo3::prelude::*;
use testwright_lang::Harness;

/// The compiled `reference:` and `compare:` lines of a harness.
pub(crate) struct ReferenceRules<'py> {
    /// Patterns and their replacements, in the order of lines.
    references: Vec<(Bound<'py, PyAny>, String)>,
    /// Patterns of statements whose results are compared.
    compares: Vec<Bound<'py, PyAny>>,
    /// Some pattern may distinguish slots or literals.
    depends_on_indices: bool,
    /// The harness has a reference implementation.
    active: bool,
}

/// A pattern that the host rejects.
pub(crate) struct BadPattern {
    /// Its line in the harness.
    pub(crate) line: usize,
    /// The host's reason.
    pub(crate) message: String,
}

impl<'py> ReferenceRules<'py> {
    /// Compiles all patterns. Also returns those that the host rejects.
    pub(crate) fn new(
        python: Python<'py>,
        harness: &Harness,
    ) -> PyResult<(ReferenceRules<'py>, Vec<BadPattern>)> {
        let module = python.import("re")?;
        let mut bad = Vec::new();
        let mut compile = |pattern: &str, replacement: &str, line: usize| {
            let compiled = module.call_method1("compile", (pattern,));
            // A wrong group number in the replacement is only detected when the replacement is
            // used.
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
            .any(|text| distinguishes_indices(text));
        let active = !references.is_empty() || harness.pools.iter().any(|pool| pool.reference);
        Ok((
            ReferenceRules {
                references,
                compares,
                depends_on_indices,
                active,
            },
            bad,
        ))
    }

    /// Returns true if patterns may treat slot 0 and slot 1, or the literals `1` and `"a"`,
    /// differently. Then every concrete action is translated separately.
    pub(crate) fn depends_on_indices(&self) -> bool {
        self.depends_on_indices
    }

    /// Returns true if there is a reference implementation.
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    /// Applies all replacements to a statement.
    pub(crate) fn translate(&self, text: &str) -> PyResult<String> {
        let mut text = text.to_owned();
        for (pattern, replacement) in &self.references {
            text = pattern
                .call_method1("sub", (replacement, text))?
                .extract()?;
        }
        Ok(text)
    }

    /// Returns true if the result of a statement is compared.
    pub(crate) fn is_compared(&self, text: &str) -> PyResult<bool> {
        for pattern in &self.compares {
            if !pattern.call_method1("search", (text,))?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns true if a pattern contains a digit (not a group number), a digit class or a quote: it
/// may match some literals and not others.
fn distinguishes_indices(pattern: &str) -> bool {
    let mut previous = ' ';
    pattern.chars().any(|character| {
        let found = (character.is_ascii_digit() && previous != '\\')
            || (character == 'd' && previous == '\\')
            || matches!(character, '\'' | '"');
        previous = character;
        found
    })
}
