//! Single values as Python expressions, for other purposes than tests, such as harnesses.

use super::Knowledge;
use super::TestForm;
use super::build::{BuildError, HELPERS, ValueBuilder};
use super::code::PythonCode;
use super::construct::RecordingIndex;
use super::paths::PathRewriter;
use super::plan::SetupStep;
use super::scope::ImportScope;
use crate::recording::{Call, Recording};
use crate::value::NodeId;

/// A writer of expressions for the values of a recording.
pub(crate) struct ExpressionWriter<'a> {
    knowledge: &'a Knowledge<'a>,
    index: RecordingIndex<'a>,
}

impl<'a> ExpressionWriter<'a> {
    /// Creates a writer for a recording.
    pub(crate) fn new(
        recording: &'a Recording,
        knowledge: &'a Knowledge<'a>,
    ) -> ExpressionWriter<'a> {
        ExpressionWriter {
            knowledge,
            index: RecordingIndex::new(recording),
        }
    }

    /// Writes a value of a call. The imports that it needs are added to the scope only on success.
    pub(crate) fn write_value(
        &self,
        call: &Call,
        node: NodeId,
        scope: &mut ImportScope,
    ) -> Result<ValueCode, BuildError> {
        let mut tried = scope.clone();
        let paths = PathRewriter::default();
        let mut builder = ValueBuilder::new(
            call,
            self.knowledge,
            &self.index,
            TestForm::ALL[0],
            &paths,
            &mut tried,
        );
        let code = builder.standalone_value(node)?;
        let mut before = Vec::new();
        for step in builder.setup {
            match step {
                SetupStep::Assign { target, code } => {
                    before.extend(code.lines(&format!("{target} = "), "", 0));
                }
                SetupStep::Evaluate(code) => before.extend(code.lines("", "", 0)),
                SetupStep::Definition(lines) => before.extend(lines),
                _ => return Err(BuildError("something that a test pins".to_owned())),
            }
        }
        let imports = tried.imports();
        if imports.iter().any(|import| import.module == HELPERS) {
            return Err(BuildError(
                "of a class whose constructor was not seen".to_owned(),
            ));
        }
        // Variables inside of a function are its own.
        scope.take_imports(tried);
        Ok(ValueCode {
            setup_lines: before,
            code,
        })
    }

    /// Returns the name by which the main program can be imported, if importing does not run it.
    pub(crate) fn importable_program(&self, recording: &Recording) -> Option<String> {
        let executions = 0..u32::try_from(recording.executions.len()).unwrap_or(u32::MAX);
        let mut names = executions.map(|execution| {
            let script = self.index.script(execution).map(|(script, _)| script);
            self.knowledge.main_module(recording, execution, script)
        });
        let first = names.next()??;
        names
            .all(|name| name.as_ref() == Some(&first))
            .then_some(first)
    }
}

/// A value as Python code.
pub(crate) struct ValueCode {
    /// Statements that have to come first, line by line.
    pub(crate) setup_lines: Vec<String>,
    /// The expression.
    pub(crate) code: PythonCode,
}
