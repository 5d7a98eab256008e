//! Error messages for people who are learning Python.
//!
//! The parser's own messages are written for people who know its internals. A message here is a
//! lower-case phrase without a full stop, puts code in backticks, and gives advice where the
//! mistake is a common one.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{
    InterpolatedStringErrorType, LexicalErrorType, ParseError, ParseErrorType,
};

/// Returns the message of an error; `text` is what the parser was given.
pub(crate) fn message(error: &ParseError, text: &str) -> String {
    use ParseErrorType as Type;
    let found = text.get(error.location.to_std_range()).unwrap_or("");
    let known_message = match &error.error {
        Type::ExpectedExpression => {
            return format!("expected an expression{}", found_instead(found));
        }
        Type::ExpectedToken {
            expected,
            found: kind,
        } => {
            let comparison = if *kind == TokenKind::Equal {
                "; to compare, write `==`"
            } else {
                ""
            };
            return format!(
                "expected {}, found {}{comparison}",
                token_name(*expected, ""),
                token_name(*kind, found)
            );
        }
        Type::UnexpectedExpressionToken if found == "=" => {
            "an assignment has no value; to compare, write `==`"
        }
        Type::UnexpectedExpressionToken => {
            return format!("expected the end of the expression{}", found_instead(found));
        }
        Type::UnexpectedTokenAfterAsync(kind) => {
            return format!(
                "expected `def`, `with` or `for` after `async`, found {}",
                token_name(*kind, found)
            );
        }
        Type::SimpleStatementsOnSameLine => {
            "expected the end of the statement; statements on one line are separated by `;`"
        }
        Type::SimpleAndCompoundStatementOnSameLine => {
            "a statement with a block, such as `if` or `for`, must start on a new line"
        }
        Type::UnparenthesizedNamedExpression => {
            "an assignment with `:=` must be in parentheses here"
        }
        Type::UnparenthesizedTupleExpression => {
            "several values separated by commas must be in parentheses here"
        }
        Type::UnparenthesizedGeneratorExpression => {
            "a generator expression must be in parentheses here"
        }
        Type::InvalidLambdaExpressionUsage => "a `lambda` must be in parentheses here",
        Type::InvalidYieldExpressionUsage => "`yield` cannot be used here",
        Type::InvalidStarredExpressionUsage => "a `*` before a value cannot be used here",
        Type::InvalidStarPatternUsage => {
            "a `*` in a pattern is only allowed inside `[...]` or `(...)`"
        }
        Type::InvalidMatchPatternTarget => "`_` matches anything and cannot be given a value",
        Type::EmptySlice => "expected an index between `[` and `]`",
        Type::EmptyGlobalNames => "expected a name after `global`",
        Type::EmptyNonlocalNames => "expected a name after `nonlocal`",
        Type::EmptyDeleteTargets => "expected what to delete after `del`",
        Type::EmptyImportNames => "expected a name after `import`",
        Type::EmptyTypeParams => "expected a type parameter between `[` and `]`",
        Type::ParamAfterVarKeywordParam => "no parameter can follow the one with `**`",
        Type::NonDefaultParamAfterDefaultParam => {
            "a parameter without a default cannot follow one with a default"
        }
        Type::VarParameterWithDefault => "a parameter with `*` or `**` cannot have a default",
        Type::ExpectedKeywordParam => "expected a parameter after `*`",
        Type::PositionalAfterKeywordArgument => {
            "an argument without a name cannot follow one with a name"
        }
        Type::PositionalAfterKeywordUnpacking => "an argument without a name cannot follow `**`",
        Type::InvalidArgumentUnpackingOrder => "an argument with `*` cannot follow one with `**`",
        Type::IterableUnpackingInComprehension => "`*` cannot be used in a comprehension",
        Type::InvalidAssignmentTarget
        | Type::InvalidAnnotatedAssignmentTarget
        | Type::InvalidAugmentedAssignmentTarget => {
            let after = text.get(error.location.end().to_usize()..).unwrap_or("");
            let comparison = if after.trim_start().starts_with('=') {
                "; to compare, write `==`"
            } else {
                ""
            };
            return format!("cannot assign to {}{comparison}", quoted(found));
        }
        Type::InvalidNamedAssignmentTarget => "only a name can be on the left of `:=`",
        Type::InvalidDeleteTarget => return format!("cannot delete {}", quoted(found)),
        Type::UnexpectedIndentation => "this line is indented, but no block starts before it",
        Type::UnexpectedIpythonEscapeCommand => "this is a command of IPython, not of Python",
        Type::FStringError(error) | Type::TStringError(error) => interpolation_message(error),
        Type::Lexical(error) => return lexical_message(error, found),
        Type::OtherError(known_message) if known_message == "Expected a statement" => {
            return statement_message(found);
        }
        Type::OtherError(known_message) if known_message == "Expected a simple statement" => {
            "a statement with a block cannot follow a colon on the same line"
        }
        Type::OtherError(known_message)
            if known_message.starts_with("Expected an identifier, but found a keyword") =>
        {
            return format!(
                "{} is a keyword of Python and cannot stand here",
                quoted(found)
            );
        }
        Type::OtherError(known_message)
            if known_message.starts_with("Expected an identifier") && found == "=" =>
        {
            let before = text.get(..error.location.start().to_usize());
            return match before.and_then(keyword_at_end) {
                Some(keyword) => format!("`{keyword}` is a keyword of Python and cannot be a name"),
                None => String::from("expected a name, found `=`"),
            };
        }
        // The remaining messages are clear already.
        other => return adapt_message(&other.to_string()),
    };
    known_message.to_owned()
}

/// Returns the keyword at the end of a text, if there is one.
fn keyword_at_end(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let start = text.rfind(|letter: char| letter != '_' && !letter.is_alphanumeric());
    let word = text.get(start.map_or(0, |start| start + 1)..)?;
    crate::is_keyword(word).then_some(word)
}

/// Returns the message for text that cannot start a statement.
fn statement_message(found: &str) -> String {
    match found {
        "elif" => "`elif` without an `if` before it, equally indented".to_owned(),
        "else" => {
            "`else` without an `if`, `for`, `while` or `try` before it, equally indented".to_owned()
        }
        "except" | "finally" => format!("`{found}` without a `try` before it, equally indented"),
        _ => format!("expected a statement{}", found_instead(found)),
    }
}

/// Returns the message of a lexical error.
fn lexical_message(error: &LexicalErrorType, found: &str) -> String {
    use LexicalErrorType as Type;
    let known_message = match error {
        Type::UnclosedStringError | Type::StringError if is_triple(found) => {
            "this string has no closing triple quote"
        }
        Type::UnclosedStringError | Type::StringError => "this string has no closing quote",
        Type::UnicodeError => "this escape sequence names no character",
        Type::MissingUnicodeLbrace => "expected `{` after `\\N`",
        Type::MissingUnicodeRbrace => "expected `}` after the name of the character",
        Type::IndentationError => {
            "this line is indented differently from every line it could belong to"
        }
        Type::UnrecognizedToken { tok: '`' } => "a backtick means nothing in Python 3",
        Type::UnrecognizedToken {
            tok: '“' | '”' | '„' | '‘' | '’',
        } => "a typographic quote starts no string; write `'` or `\"`",
        Type::UnrecognizedToken { tok } => {
            return format!("the character `{tok}` means nothing here");
        }
        Type::FStringError(error) | Type::TStringError(error) => interpolation_message(error),
        Type::InvalidByteLiteral => "a bytes literal can only contain ASCII characters",
        Type::LineContinuationError => "a backslash must be the last character of its line",
        Type::Eof => "the text ends too early; is a bracket or a quote not closed?",
        other => return adapt_message(&other.to_string()),
    };
    known_message.to_owned()
}

/// Returns true if a string has triple quotes.
fn is_triple(string: &str) -> bool {
    let quotes = string.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    quotes.starts_with("\"\"\"") || quotes.starts_with("'''")
}

/// Returns the message of an error in a formatted string.
fn interpolation_message(error: &InterpolatedStringErrorType) -> &'static str {
    use InterpolatedStringErrorType as Type;
    match error {
        Type::UnclosedLbrace => {
            "expected `}` in this formatted string; for a brace itself write `{{`"
        }
        Type::InvalidConversionFlag => {
            "after `!` only `r`, `s` or `a` is allowed in a formatted string"
        }
        Type::SingleRbrace => {
            "`}` without `{` in this formatted string; for a brace itself write `}}`"
        }
        Type::UnterminatedString => "this formatted string has no closing quote",
        Type::UnterminatedTripleQuotedString => "this formatted string has no closing triple quote",
        Type::LambdaWithoutParentheses => "a `lambda` in a formatted string must be in parentheses",
        Type::ConversionFlagNotImmediatelyAfterExclamation => {
            "no blank is allowed after `!` in a formatted string"
        }
        Type::NewlineInFormatSpec => {
            "a format after `:` must be on one line, or the string in triple quotes"
        }
    }
}

/// Returns the name of a token for people; `text` is the token, where known.
fn token_name(kind: TokenKind, text: &str) -> String {
    use TokenKind as Kind;
    let known_message = match kind {
        Kind::Newline | Kind::NonLogicalNewline => "the end of the line",
        Kind::EndOfFile => "the end of the text",
        Kind::Indent => "an indented block",
        Kind::Dedent => "the end of the block",
        Kind::Name if text.is_empty() => "a name",
        Kind::FStringStart | Kind::FStringMiddle | Kind::FStringEnd => "a formatted string",
        Kind::TStringStart | Kind::TStringMiddle | Kind::TStringEnd => "a template string",
        Kind::Unknown | Kind::Name | Kind::Int | Kind::Float | Kind::Complex | Kind::String => {
            return quoted(text);
        }
        other => return other.to_string(),
    };
    known_message.to_owned()
}

/// Returns `, found …` unless nothing was found.
fn found_instead(found: &str) -> String {
    if found.trim().is_empty() {
        String::new()
    } else {
        format!(", found {}", quoted(found))
    }
}

/// Returns the text in backticks, or `this` if it is too long to repeat.
fn quoted(text: &str) -> String {
    const MAX_LENGTH: usize = 30;
    let text = text.trim();
    if text.is_empty() || text.contains(['\n', '\r', '`']) || text.chars().count() > MAX_LENGTH {
        "this".to_owned()
    } else {
        format!("`{text}`")
    }
}

/// Adapts a message of the parser: starts in lower case, ends without a full stop, quotes with
/// backticks.
fn adapt_message(message: &str) -> String {
    let message = message
        .trim_end_matches('.')
        .replace('\'', "`")
        .replace("an identifier", "a name");
    let mut characters = message.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => "this is not Python".to_owned(),
    }
}
