//! Single values as Python, for those who write something else than tests.

use super::Form;
use super::Knowledge;
use super::build::{Builder, HELPERS, Missing};
use super::code::Code;
use super::construct::Evidence;
use super::paths::Paths;
use super::plan::Setup;
use super::scope::Scope;
use crate::recording::{Call, Recording};
use crate::value::NodeId;

/// Makes expressions for values of a recording.
pub(crate) struct Expressions<'a> {
    knowledge: &'a Knowledge<'a>,
    evidence: Evidence<'a>,
}

impl<'a> Expressions<'a> {
    pub(crate) fn of(recording: &'a Recording, knowledge: &'a Knowledge<'a>) -> Expressions<'a> {
        Expressions {
            knowledge,
            evidence: Evidence::of(recording),
        }
    }

    /// What makes a value of a call again. The scope has what it needs only if there is a way.
    pub(crate) fn value(
        &self,
        call: &Call,
        node: NodeId,
        scope: &mut Scope,
    ) -> Result<Expressed, Missing> {
        let mut tried = scope.clone();
        let paths = Paths::default();
        let mut builder = Builder::new(
            call,
            self.knowledge,
            &self.evidence,
            Form::ALL[0],
            &paths,
            &mut tried,
        );
        let code = builder.alone(node)?;
        let mut before = Vec::new();
        for step in builder.setup {
            match step {
                Setup::Assign { target, code } => {
                    before.extend(code.lines(&format!("{target} = "), "", 0));
                }
                Setup::Do(code) => before.extend(code.lines("", "", 0)),
                Setup::Definition(lines) => before.extend(lines),
                _ => return Err(Missing("something that a test pins".to_owned())),
            }
        }
        let imports = tried.imports();
        if imports.iter().any(|import| import.module == HELPERS) {
            return Err(Missing(
                "of a class whose constructor was not seen".to_owned(),
            ));
        }
        // Names inside of a function are its own.
        scope.take_imports(tried);
        Ok(Expressed { before, code })
    }

    /// The name by which the program itself can be imported, if that does not run it.
    pub(crate) fn program(&self, recording: &Recording) -> Option<String> {
        let executions = 0..u32::try_from(recording.executions.len()).unwrap_or(u32::MAX);
        let mut names = executions.map(|execution| {
            let script = self.evidence.script(execution).map(|(script, _)| script);
            self.knowledge.main_module(recording, execution, script)
        });
        let first = names.next()??;
        names
            .all(|name| name.as_ref() == Some(&first))
            .then_some(first)
    }
}

/// A value as Python.
pub(crate) struct Expressed {
    /// What has to be done first, line by line.
    pub(crate) before: Vec<String>,
    /// The value itself.
    pub(crate) code: Code,
}
