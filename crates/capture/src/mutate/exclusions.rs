//! Code without mutants that are worth running.

use testwright_source::tree::{Comparison, Expression, ExpressionKind, Statement, StatementKind};

/// Methods that write logs.
const LOGGING_FUNCTIONS: [&str; 9] = [
    "debug",
    "info",
    "warning",
    "warn",
    "error",
    "exception",
    "critical",
    "fatal",
    "log",
];

/// Functions whose first argument is only the name of the new object.
const NAMING_FUNCTIONS: [&str; 5] = [
    "TypeVar",
    "ParamSpec",
    "TypeVarTuple",
    "NewType",
    "namedtuple",
];

/// Returns true if no test can or should notice a change of a statement.
pub(super) fn is_excluded(statement: &Statement) -> bool {
    match &statement.kind {
        // Docstrings, and texts that serve as comments.
        StatementKind::Expression(expression) => {
            matches!(
                expression.kind,
                ExpressionKind::Text(_) | ExpressionKind::Ellipsis
            ) || is_logging(expression)
        }
        // `__all__`, `__version__`, `__slots__`: information about the module or class, not
        // behavior.
        StatementKind::Assign { targets, .. } => targets.iter().all(|target| {
            target
                .as_name()
                .is_some_and(|name| name.starts_with("__") && name.ends_with("__"))
        }),
        _ => false,
    }
}

/// Returns true for `logger.debug(…)`, `logging.info(…)`. Generated tests do not check logs, and
/// few others do.
fn is_logging(expression: &Expression) -> bool {
    let ExpressionKind::Call { function, .. } = &expression.kind else {
        return false;
    };
    let words = function.dotted_parts().unwrap_or_default();
    match words.as_slice() {
        [.., owner, method] => {
            let owner = owner.trim_start_matches('_').to_ascii_lowercase();
            LOGGING_FUNCTIONS.contains(method)
                && (owner.starts_with("log") || owner.ends_with("log"))
        }
        _ => false,
    }
}

/// Returns true for calls such as `TypeVar("T")`, whose first argument is a name without effect.
pub(super) fn is_naming_function(function: &Expression) -> bool {
    let words = function.dotted_parts().unwrap_or_default();
    words
        .last()
        .is_some_and(|word| NAMING_FUNCTIONS.contains(word))
}

/// Returns true for `Literal["x", "y"]`: a type, which hardly any program reads at run time.
pub(super) fn is_literal(object: &Expression) -> bool {
    let words = object.dotted_parts().unwrap_or_default();
    words.last() == Some(&"Literal")
}

/// The part of a condition's outcome that is known before the program runs.
pub(super) enum ConditionKind {
    /// Nothing is known.
    Normal,
    /// The body does not run in tests: `if TYPE_CHECKING:`, `if __name__ == "__main__":`.
    BodyNeverRuns,
    /// The outcome depends on the interpreter or the machine, so the other branch cannot run here.
    FixedOutcome,
}

/// Classifies a condition by its source.
pub(super) fn classify_condition(condition: &Expression) -> ConditionKind {
    let last_word = |side: &Expression| {
        let words = side.dotted_parts().unwrap_or_default();
        words.last().map(|word| (*word).to_owned())
    };
    if last_word(condition).as_deref() == Some("TYPE_CHECKING") {
        return ConditionKind::BodyNeverRuns;
    }
    let ExpressionKind::Compare { first, rest } = &condition.kind else {
        return ConditionKind::Normal;
    };
    let is_main =
        |side: &Expression| matches!(&side.kind, ExpressionKind::Text(text) if text == "__main__");
    let mut sides = std::iter::once(&**first).chain(rest.iter().map(|(_, side)| side));
    if matches!(rest.as_slice(), [(Comparison::Equal, _)]) && sides.clone().any(is_main) {
        return ConditionKind::BodyNeverRuns;
    }
    let is_fixed = |side: &Expression| {
        let side = match &side.kind {
            ExpressionKind::Subscript { object, .. } => object,
            _ => side,
        };
        let word = last_word(side).unwrap_or_default();
        matches!(word.as_str(), "version_info" | "platform" | "hexversion")
    };
    if sides.any(is_fixed) {
        ConditionKind::FixedOutcome
    } else {
        ConditionKind::Normal
    }
}
