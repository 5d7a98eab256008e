//! Tests that are being validated: written, run, rewritten in a weaker form, and finally accepted
//! or dropped.

use crate::recording::Call;
use crate::validate::TestVerdict;
use crate::write::{Completeness, TestForm, TestWriter, WrittenTest};

/// The outcome of writing a test for a selected call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestOutcome {
    /// The call has a test.
    Written(Completeness),
    /// The call has no test, for this reason.
    Dropped(String),
}

/// The state of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CandidateState {
    /// It has to be run.
    Pending,
    /// It passed, or is a stub.
    Accepted,
    /// It was given up, for this reason.
    Dropped(String),
}

/// A test for one call.
pub(super) struct TestCandidate<'a> {
    /// The call.
    pub(super) call: &'a Call,
    /// The module of its unit.
    pub(super) module: String,
    /// The test as it is written now.
    pub(super) written: WrittenTest,
    /// The index of its form in [`TestForm::ALL`].
    form_index: usize,
    /// Globals that the test has to restore, besides those with recorded changes.
    pinned_globals: Vec<(String, String)>,
    /// Its state.
    state: CandidateState,
}

impl<'a> TestCandidate<'a> {
    /// Writes the test of a call in the first form.
    pub(super) fn new(
        writer: &TestWriter<'a>,
        call: &'a Call,
        module: String,
    ) -> Option<TestCandidate<'a>> {
        let form = TestForm::ALL.first()?;
        let written = writer.write(call, *form, &[])?;
        let is_stub = matches!(written.completeness, Completeness::Stub(_));
        Some(TestCandidate {
            call,
            module,
            written,
            form_index: 0,
            pinned_globals: Vec::new(),
            state: if is_stub {
                CandidateState::Accepted
            } else {
                CandidateState::Pending
            },
        })
    }

    /// Returns true if it has to be run.
    pub(super) fn is_pending(&self) -> bool {
        self.state == CandidateState::Pending
    }

    /// Returns true if it was given up.
    pub(super) fn is_dropped(&self) -> bool {
        matches!(self.state, CandidateState::Dropped(_))
    }

    /// Returns true if it passes and checks something.
    pub(super) fn is_test(&self) -> bool {
        let checks = matches!(
            self.written.completeness,
            Completeness::Full | Completeness::Partial(_)
        );
        self.state == CandidateState::Accepted && checks
    }

    /// Returns true if it passes and checks nothing.
    pub(super) fn is_smoke(&self) -> bool {
        self.state == CandidateState::Accepted && self.written.completeness == Completeness::Smoke
    }

    /// Returns true if it is skipped.
    pub(super) fn is_stub(&self) -> bool {
        let is_stub = matches!(self.written.completeness, Completeness::Stub(_));
        self.state == CandidateState::Accepted && is_stub
    }

    /// Returns true if it imports a name that appears in Python's message about a failed import.
    pub(super) fn imports_missing_name(&self, verdict: &TestVerdict) -> bool {
        let TestVerdict::Failed(message) = verdict else {
            return false;
        };
        let named: Vec<&str> = message.split('\'').skip(1).step_by(2).collect();
        self.written.test.imports.iter().any(|import| {
            let name = import.name.as_deref();
            // In `cannot import name 'x' from 'm'`, the first name is the missing one.
            named.first().is_some_and(|missing| {
                name == Some(*missing)
                    || import.module == *missing
                    || import.module.starts_with(&format!("{missing}."))
            })
        })
    }

    /// Returns the outcome for the report.
    pub(super) fn outcome(&self) -> TestOutcome {
        match &self.state {
            CandidateState::Dropped(reason) => TestOutcome::Dropped(reason.clone()),
            _ => TestOutcome::Written(self.written.completeness.clone()),
        }
    }

    /// Accepts the test.
    pub(super) fn accept(&mut self) {
        self.state = CandidateState::Accepted;
    }

    /// Gives the test up.
    pub(super) fn drop_with_reason(&mut self, reason: String) {
        self.state = CandidateState::Dropped(reason);
    }

    /// Marks a test that passes whatever the unit does.
    pub(super) fn demote(&mut self) {
        self.written.completeness = Completeness::Smoke;
    }

    /// Rewrites the test in the next form that makes a difference, or gives it up.
    pub(super) fn try_next_form(&mut self, writer: &TestWriter<'a>, message: &str) {
        while let Some(form) = TestForm::ALL.get(self.form_index + 1) {
            self.form_index += 1;
            if self.rewrite(writer, *form) {
                return;
            }
        }
        self.drop_with_reason(message.to_owned());
    }

    /// Rewrites the test. Returns true if its text changed and it is no stub.
    fn rewrite(&mut self, writer: &TestWriter<'a>, form: TestForm) -> bool {
        let Some(written) = writer.write(self.call, form, &self.pinned_globals) else {
            return false;
        };
        let is_new = written.test.lines != self.written.test.lines;
        let is_test = !matches!(written.completeness, Completeness::Stub(_));
        if is_new && is_test {
            self.written = written;
        }
        is_new && is_test
    }

    /// Makes the test restore a global that it left changed, or gives it up.
    pub(super) fn pin_leak(&mut self, writer: &TestWriter<'a>, name: &str) {
        let pin = name
            .rsplit_once('.')
            .map(|(module, name)| (module.to_owned(), name.to_owned()));
        let form = TestForm::ALL.get(self.form_index).copied();
        if let (Some(pin), Some(form)) = (pin, form)
            && !self.pinned_globals.contains(&pin)
        {
            self.pinned_globals.push(pin);
            if self.rewrite(writer, form) {
                return;
            }
        }
        self.drop_with_reason(format!("it leaves {name} changed"));
    }
}
