//! A test on its way: written, tried, written again in a weaker form, and at last kept or not.

use crate::recording::Call;
use crate::validate::Verdict;
use crate::write::{Completeness, Form, Writer, Written};

/// What became of a selected call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has a test.
    Written(Completeness),
    /// It has none, because of this.
    Dropped(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Pending,
    Accepted,
    Dropped(String),
}

/// A test for one call.
pub(super) struct Candidate<'a> {
    pub(super) call: &'a Call,
    pub(super) module: String,
    pub(super) written: Written,
    /// Which of [`Form::ALL`].
    form: usize,
    /// Globals that the test has to put back, besides those that are known to change.
    pins: Vec<(String, String)>,
    state: State,
}

impl<'a> Candidate<'a> {
    pub(super) fn new(
        writer: &Writer<'a>,
        call: &'a Call,
        module: String,
    ) -> Option<Candidate<'a>> {
        let form = Form::ALL.first()?;
        let written = writer.write(call, *form, &[])?;
        let is_stub = matches!(written.completeness, Completeness::Stub(_));
        Some(Candidate {
            call,
            module,
            written,
            form: 0,
            pins: Vec::new(),
            state: if is_stub {
                State::Accepted
            } else {
                State::Pending
            },
        })
    }

    pub(super) fn is_pending(&self) -> bool {
        self.state == State::Pending
    }

    pub(super) fn is_dropped(&self) -> bool {
        matches!(self.state, State::Dropped(_))
    }

    /// Whether it is a test that passes and checks something.
    pub(super) fn is_test(&self) -> bool {
        let checks = matches!(
            self.written.completeness,
            Completeness::Full | Completeness::Partial(_)
        );
        self.state == State::Accepted && checks
    }

    pub(super) fn is_smoke(&self) -> bool {
        self.state == State::Accepted && self.written.completeness == Completeness::Smoke
    }

    pub(super) fn is_stub(&self) -> bool {
        let is_stub = matches!(self.written.completeness, Completeness::Stub(_));
        self.state == State::Accepted && is_stub
    }

    /// Whether it imports something that Python names in a message about what it cannot import.
    pub(super) fn imports_what(&self, verdict: &Verdict) -> bool {
        let Verdict::Failed(message) = verdict else {
            return false;
        };
        let named: Vec<&str> = message.split('\'').skip(1).step_by(2).collect();
        self.written.test.imports.iter().any(|import| {
            let name = import.name.as_deref();
            // Of `cannot import name 'x' from 'm'` the first is what is missing.
            named.first().is_some_and(|missing| {
                name == Some(*missing)
                    || import.module == *missing
                    || import.module.starts_with(&format!("{missing}."))
            })
        })
    }

    pub(super) fn outcome(&self) -> Outcome {
        match &self.state {
            State::Dropped(reason) => Outcome::Dropped(reason.clone()),
            _ => Outcome::Written(self.written.completeness.clone()),
        }
    }

    pub(super) fn accept(&mut self) {
        self.state = State::Accepted;
    }

    pub(super) fn drop_with(&mut self, reason: String) {
        self.state = State::Dropped(reason);
    }

    /// It passes whatever the unit does.
    pub(super) fn demote(&mut self) {
        self.written.completeness = Completeness::Smoke;
    }

    /// Writes the test in the next form that makes a difference; if there is none, gives up.
    pub(super) fn try_next_form(&mut self, writer: &Writer<'a>, message: &str) {
        while let Some(form) = Form::ALL.get(self.form + 1) {
            self.form += 1;
            if self.rewrite(writer, *form) {
                return;
            }
        }
        self.drop_with(message.to_owned());
    }

    /// Whether the test now says something else that can be tried.
    fn rewrite(&mut self, writer: &Writer<'a>, form: Form) -> bool {
        let Some(written) = writer.write(self.call, form, &self.pins) else {
            return false;
        };
        let is_new = written.test.lines != self.written.test.lines;
        let is_test = !matches!(written.completeness, Completeness::Stub(_));
        if is_new && is_test {
            self.written = written;
        }
        is_new && is_test
    }

    /// Lets the test put back what it left changed.
    pub(super) fn pin_leak(&mut self, writer: &Writer<'a>, name: &str) {
        let pin = name
            .rsplit_once('.')
            .map(|(module, name)| (module.to_owned(), name.to_owned()));
        let form = Form::ALL.get(self.form).copied();
        if let (Some(pin), Some(form)) = (pin, form)
            && !self.pins.contains(&pin)
        {
            self.pins.push(pin);
            if self.rewrite(writer, form) {
                return;
            }
        }
        self.drop_with(format!("it leaves {name} changed"));
    }
}
