//! The text of the Python functions that harness lines are turned into: one per line, or per
//! textual alternative of a line.

use testwright_lang::harness::ActionTemplate;

use crate::line_code::InstanceCode;
use crate::options::ReferenceExceptions;
use crate::plan::CodeWriter;

/// The text of one function.
pub(crate) struct FunctionText {
    /// The source code, starting with `def`.
    pub(crate) text: String,
    /// The line of the harness it was made from, for tracebacks.
    pub(crate) line: usize,
}

/// The code that runs on the reference implementation in place of an action.
pub(crate) struct ReferenceCode {
    /// The statement for the reference.
    pub(crate) code: String,
    /// The results of both are compared.
    pub(crate) compared: bool,
}

/// Writes the function of an action. It returns `None` or an expected exception, and raises
/// exceptions that count as failures.
pub(crate) fn action(
    writer: &CodeWriter<'_>,
    action: &ActionTemplate,
    global_exceptions: &[String],
    reference: Option<&ReferenceCode>,
    exceptions: ReferenceExceptions,
    has_after_hook: bool,
) -> FunctionText {
    let mut expected: Vec<&str> = global_exceptions.iter().map(String::as_str).collect();
    expected.extend(action.expected.iter().map(String::as_str));
    let post = PostCondition::new(writer, action, reference);
    let statement = writer.code(&action.statement);
    let wants_result =
        reference.is_some_and(|reference| reference.compared) || action.post_mentions_reference;
    let plain = expected.is_empty()
        && action.warnings.is_empty()
        && reference.is_none()
        && matches!(post.time, CheckTime::Never | CheckTime::Inside)
        && !wants_result;

    let catches =
        !expected.is_empty() || !action.warnings.is_empty() || post.time == CheckTime::AlsoIfRaised;

    let mut body = FunctionBody::new(action.line);
    if plain {
        write_attempt(&mut body, 1, writer, action, &statement, &post, false);
    } else if let (Some(reference), false, CheckTime::Never | CheckTime::Inside) =
        (reference, catches, post.time)
    {
        let compared = reference.compared;
        write_attempt(&mut body, 1, writer, action, &statement, &post, compared);
        if has_after_hook {
            body.push(1, "_tw_after_each()");
        }
        write_plain_reference(&mut body, &statement, reference, exceptions);
    } else {
        body.push(1, "raised = refRaised = None");
        if wants_result {
            body.push(1, "result = result_REF = _tw_Unset");
        }
        if catches {
            body.push(1, "try:");
        }
        let depth = if catches { 2 } else { 1 };
        write_attempt(
            &mut body,
            depth,
            writer,
            action,
            &statement,
            &post,
            wants_result,
        );
        if !expected.is_empty() {
            body.push(
                1,
                &format!("except ({},) as _tw_error:", expected.join(", ")),
            );
            body.push(2, "raised = _tw_error");
        }
        if !action.warnings.is_empty() {
            body.push(
                1,
                &format!("except ({},) as _tw_error:", action.warnings.join(", ")),
            );
            body.push(2, "raised = _tw_error");
            body.push(2, "_tw_warn(_tw_error)");
        }
        if post.time == CheckTime::AlsoIfRaised {
            body.push(1, "except Exception as _tw_error:");
            body.push(2, "raised = _tw_error");
            post.write(&mut body, 2);
            body.push(2, "raise");
            post.write(&mut body, 1);
        }
        match reference {
            Some(reference) => {
                if has_after_hook {
                    body.push(1, "_tw_after_each()");
                }
                write_reference(&mut body, reference, &post, exceptions);
            }
            None if post.time == CheckTime::AfterReference => post.write(&mut body, 1),
            None => {}
        }
        body.push(1, "return raised");
    }
    body.function(&format!(
        "def line_{}({}):",
        action.line,
        writer.plan.parameters()
    ))
}

/// Writes the statement with the parts that belong to the same attempt: pre-values, the plain
/// post-condition, the expect check.
fn write_attempt(
    body: &mut FunctionBody,
    depth: usize,
    writer: &CodeWriter<'_>,
    action: &ActionTemplate,
    statement: &str,
    post: &PostCondition,
    wants_result: bool,
) {
    for (number, value) in action.pre_values.iter().enumerate().rev() {
        body.push(
            depth,
            &format!("_tw_pre{number} = ({})", writer.code(value)),
        );
    }
    let expect = action
        .expect
        .as_ref()
        .map(|expect| (&expect.name, writer.code(&expect.arguments)));
    if let Some((name, arguments)) = &expect {
        body.push(depth, &format!("_tw_before = {name}_before({arguments})"));
    }
    let (statement, result) = if wants_result {
        with_result(statement, "result")
    } else {
        (statement.to_owned(), None)
    };
    body.push(depth, &statement);
    if let Some(result) = result {
        body.push(depth, &result);
    }
    if post.time == CheckTime::Inside {
        post.write(body, depth);
    }
    if let Some((name, arguments)) = &expect {
        let comma = if arguments.trim().is_empty() {
            ""
        } else {
            ", "
        };
        body.push(depth, &format!("_tw_after = {name}_after({arguments})"));
        body.push(
            depth,
            &format!("if {name}_check(_tw_before, _tw_after{comma}{arguments}) != True:"),
        );
        body.push(depth + 1, "raise _tw_PostConditionFailed()");
    }
}

/// Writes the reference's part after a statement whose exceptions are not caught. When it runs, the
/// statement has raised nothing, so few tests are needed. Most lines are of this kind.
fn write_plain_reference(
    body: &mut FunctionBody,
    statement: &str,
    reference: &ReferenceCode,
    exceptions: ReferenceExceptions,
) {
    let (code, result) = if reference.compared {
        with_result(&reference.code, "result_REF")
    } else {
        (reference.code.clone(), None)
    };
    let have_results = has_result(statement) && has_result(&reference.code);
    body.push(1, "try:");
    body.push(2, &code);
    if let Some(result) = result {
        body.push(2, &result);
    }
    body.push(1, "except Exception as _tw_error:");
    body.push(2, "_tw_reference_raised(_tw_error)");
    if reference.compared || exceptions != ReferenceExceptions::BothRaise {
        body.push(2, "raise _tw_ExceptionMismatch(None, _tw_error) from None");
    }
    if reference.compared && have_results {
        body.push(1, "if not (result == result_REF):");
        body.push(2, "raise _tw_ReferenceMismatch(result, result_REF)");
    }
}

/// Writes the reference's part after a statement that may have raised, with all comparisons.
fn write_reference(
    body: &mut FunctionBody,
    reference: &ReferenceCode,
    post: &PostCondition,
    exceptions: ReferenceExceptions,
) {
    let (statement, result) = if reference.compared {
        with_result(&reference.code, "result_REF")
    } else {
        (reference.code.clone(), None)
    };
    body.push(1, "try:");
    body.push(2, &statement);
    if let Some(result) = result {
        body.push(2, &result);
    }
    body.push(1, "except Exception as _tw_error:");
    body.push(2, "refRaised = _tw_error");
    body.push(2, "_tw_reference_raised(_tw_error)");
    if post.time == CheckTime::AfterReference {
        post.write(body, 1);
    }
    let differs = match exceptions {
        ReferenceExceptions::BothRaise if !reference.compared => None,
        // Only jumps, because comparing two booleans takes longer than computing them.
        ReferenceExceptions::BothRaise => {
            Some("(refRaised is not None) if raised is None else (refRaised is None)")
        }
        ReferenceExceptions::SameType => Some("type(raised) != type(refRaised)"),
        ReferenceExceptions::SameTypeAndMessage => {
            Some("type(raised) != type(refRaised) or str(raised) != str(refRaised)")
        }
    };
    if let Some(differs) = differs {
        body.push(1, &format!("if {differs}:"));
        body.push(2, "raise _tw_ExceptionMismatch(raised, refRaised)");
    }
    if reference.compared {
        body.push(1, "if result is not _tw_Unset and result_REF is not _tw_Unset and not (result == result_REF):");
        body.push(2, "raise _tw_ReferenceMismatch(result, result_REF)");
    }
}

/// Returns a statement that stores its value in `name`: the value of its first assignment, else of
/// its first statement if that is an expression. The second part is a line to add behind it. Other
/// statements have no value and stay unchanged.
pub(crate) fn with_result(statement: &str, name: &str) -> (String, Option<String>) {
    use testwright_source::StatementForm;
    let Ok(parts) = testwright_source::statements(statement) else {
        return (statement.to_owned(), None);
    };
    let target = parts.iter().find_map(|part| match &part.form {
        StatementForm::Assignment { target } => Some(target.clone()),
        _ => None,
    });
    if let Some(target) = target.and_then(|target| statement.get(target)) {
        return (statement.to_owned(), Some(format!("{name} = {target}")));
    }
    match parts.first() {
        Some(first) if matches!(first.form, StatementForm::Expression) => {
            let (before, rest) = statement.split_at(first.range.start);
            (format!("{before}{name} = {rest}"), None)
        }
        _ => (statement.to_owned(), None),
    }
}

/// Returns true if [`with_result`] finds a value.
fn has_result(statement: &str) -> bool {
    let (with_result, line) = with_result(statement, "result");
    line.is_some() || with_result != statement
}

/// The time at which a post-condition is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckTime {
    Never,
    /// Right after the statement, in the same attempt.
    Inside,
    /// After the attempt, also if it raised.
    AlsoIfRaised,
    /// After the reference ran.
    AfterReference,
}

/// The post-condition of an action as code.
struct PostCondition {
    time: CheckTime,
    /// The check itself, as one statement.
    code: String,
    /// Statements to run after the check passed.
    tail: Option<String>,
}

impl PostCondition {
    fn new(
        writer: &CodeWriter<'_>,
        action: &ActionTemplate,
        reference: Option<&ReferenceCode>,
    ) -> PostCondition {
        let Some(condition) = &action.post else {
            return PostCondition {
                time: CheckTime::Never,
                code: String::new(),
                tail: None,
            };
        };
        let time = if action.post_mentions_reference
            || reference.is_some_and(|reference| reference.compared)
        {
            CheckTime::AfterReference
        } else if action.post_mentions_raised {
            CheckTime::AlsoIfRaised
        } else {
            CheckTime::Inside
        };
        let message = action
            .post_message
            .as_ref()
            .map(|message| writer.code(message))
            .unwrap_or_default();
        let code = format!(
            "if not ({}): raise _tw_PostConditionFailed({message})",
            writer.code(condition)
        );
        let tail = action.post_tail.as_ref().map(|tail| writer.code(tail));
        PostCondition { time, code, tail }
    }

    /// Writes the check and the statements after it.
    fn write(&self, body: &mut FunctionBody, depth: usize) {
        body.push(depth, &self.code);
        if let Some(tail) = &self.tail {
            body.push(depth, tail);
        }
    }
}

/// Writes a function that returns the value of an expression. Exceptions in `allowed_exceptions`
/// count as true.
pub(crate) fn expression(
    name: &str,
    line: usize,
    parameters: &str,
    code: &str,
    allowed_exceptions: &[String],
) -> FunctionText {
    let mut body = FunctionBody::new(line);
    if allowed_exceptions.is_empty() {
        body.push(1, &format!("return ({code})"));
    } else {
        body.push(1, "try:");
        body.push(2, &format!("return ({code})"));
        body.push(1, &format!("except ({},):", allowed_exceptions.join(", ")));
        body.push(2, "return True");
    }
    body.function(&format!("def {name}({parameters}):"))
}

/// Writes the part for one expression in a function that checks many: it returns `number` if the
/// expression is false. With `is_filled`, the slots are known to be filled and are not tested.
pub(crate) fn instance(number: usize, instance: &InstanceCode, is_filled: bool) -> String {
    let filled = instance.filled.iter();
    let conditions: Vec<String> = filled
        .map(|position| format!("_tw_p[{position}] is not None"))
        .collect();
    let code = &instance.code;
    let mut body = FunctionBody::new(0);
    let depth = match conditions.as_slice() {
        [] => 0,
        _ if is_filled => 0,
        conditions => {
            body.push(0, &format!("if {}:", conditions.join(" and ")));
            1
        }
    };
    body.push(depth, &format!("_tw_at = {number}"));
    if instance.allowed_exceptions.is_empty() {
        body.push(depth, &format!("if not ({code}): return {number}"));
    } else {
        body.push(depth, "try:");
        body.push(depth + 1, &format!("_tw_holds = ({code})"));
        let allowed_exceptions = instance.allowed_exceptions.join(", ");
        body.push(depth, &format!("except ({allowed_exceptions},):"));
        body.push(depth + 1, "_tw_holds = True");
        body.push(depth, &format!("if not _tw_holds: return {number}"));
    }
    body.lines.join("\n")
}

/// Writes a function that runs a statement.
pub(crate) fn statement(name: &str, line: usize, parameters: &str, code: &str) -> FunctionText {
    let mut body = FunctionBody::new(line);
    body.push(1, code);
    body.function(&format!("def {name}({parameters}):"))
}

/// The lines of a function while it is written.
struct FunctionBody {
    /// The lines so far, indented.
    lines: Vec<String>,
    line: usize,
}

impl FunctionBody {
    fn new(line: usize) -> FunctionBody {
        FunctionBody {
            lines: Vec::new(),
            line,
        }
    }

    /// Adds a line at a depth of indentation.
    fn push(&mut self, depth: usize, text: &str) {
        self.lines.push(format!("{}{text}", " ".repeat(depth)));
    }

    /// Returns the function with this first line.
    fn function(&self, head: &str) -> FunctionText {
        let text = format!("{head}\n{}\n", self.lines.join("\n"));
        FunctionText {
            text,
            line: self.line,
        }
    }
}
