//! What has no mutants worth running.

use testwright_source::tree::{Comparison, Expression, ExpressionKind, Statement, StatementKind};

/// Methods by which programs write logs.
const LOGGING: [&str; 9] = [
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

/// Functions whose first argument is nothing but the name of what they make.
const NAMING: [&str; 5] = [
    "TypeVar",
    "ParamSpec",
    "TypeVarTuple",
    "NewType",
    "namedtuple",
];

/// A statement that no test can or should tell from another.
pub(super) fn statement(statement: &Statement) -> bool {
    match &statement.kind {
        // Docstrings, and texts that stand for comments.
        StatementKind::Expression(expression) => {
            matches!(
                expression.kind,
                ExpressionKind::Text(_) | ExpressionKind::Ellipsis
            ) || is_logging(expression)
        }
        // `__all__`, `__version__`, `__slots__`: about the module or class, not what it does.
        StatementKind::Assign { targets, .. } => targets.iter().all(|target| {
            target
                .as_name()
                .is_some_and(|name| name.starts_with("__") && name.ends_with("__"))
        }),
        _ => false,
    }
}

/// `logger.debug(…)`, `logging.info(…)`: generated tests do not look into logs, and few others do.
fn is_logging(expression: &Expression) -> bool {
    let ExpressionKind::Call { function, .. } = &expression.kind else {
        return false;
    };
    let words = function.dotted().unwrap_or_default();
    match words.as_slice() {
        [.., owner, method] => {
            let owner = owner.trim_start_matches('_').to_ascii_lowercase();
            LOGGING.contains(method) && (owner.starts_with("log") || owner.ends_with("log"))
        }
        _ => false,
    }
}

/// `TypeVar("T")`: a name that nobody asks for.
pub(super) fn is_naming(function: &Expression) -> bool {
    let words = function.dotted().unwrap_or_default();
    words.last().is_some_and(|word| NAMING.contains(word))
}

/// `Literal["x", "y"]`: a type, which hardly any program looks at while it runs.
pub(super) fn is_literal(object: &Expression) -> bool {
    let words = object.dotted().unwrap_or_default();
    words.last() == Some(&"Literal")
}

/// What is known of a condition before anything runs.
pub(super) enum Known {
    /// Nothing.
    Nothing,
    /// Its body does not run with the tests: `if TYPE_CHECKING:`, `if __name__ == "__main__":`.
    NoBody,
    /// It is about the interpreter or the machine, and the other way cannot be gone here.
    Fixed,
}

/// What is known of a condition.
pub(super) fn known(condition: &Expression) -> Known {
    let last_word = |side: &Expression| {
        let words = side.dotted().unwrap_or_default();
        words.last().map(|word| (*word).to_owned())
    };
    if last_word(condition).as_deref() == Some("TYPE_CHECKING") {
        return Known::NoBody;
    }
    let ExpressionKind::Compare { first, rest } = &condition.kind else {
        return Known::Nothing;
    };
    let is_main =
        |side: &Expression| matches!(&side.kind, ExpressionKind::Text(text) if text == "__main__");
    let mut sides = std::iter::once(&**first).chain(rest.iter().map(|(_, side)| side));
    if matches!(rest.as_slice(), [(Comparison::Equal, _)]) && sides.clone().any(is_main) {
        return Known::NoBody;
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
        Known::Fixed
    } else {
        Known::Nothing
    }
}
