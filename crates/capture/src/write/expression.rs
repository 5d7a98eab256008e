//! Single values as expressions, for those who have no place for statements in front.

use super::Form;
use super::Knowledge;
use super::build::{Builder, HELPERS, Missing};
use super::code::Code;
use super::construct::Evidence;
use super::paths::Paths;
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

    /// An expression that makes a value of a call again. The scope has what it needs only if there is one.
    pub(crate) fn value(
        &self,
        call: &Call,
        node: NodeId,
        scope: &mut Scope,
    ) -> Result<Code, Missing> {
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
        let code = builder.expected(node)?;
        if !builder.setup.is_empty() {
            return Err(Missing("made in several steps".to_owned()));
        }
        let imports = tried.imports();
        if imports.iter().any(|import| import.module == HELPERS) {
            return Err(Missing(
                "of a class whose constructor was not seen".to_owned(),
            ));
        }
        *scope = tried;
        Ok(code)
    }
}
