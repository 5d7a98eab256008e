//! Python expressions with their structure, so that long ones can be broken into lines.

/// The maximum length of lines, where possible.
pub(crate) const WIDTH: usize = 88;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PythonCode {
    /// A text without structure.
    Text(String),
    /// A string literal in pieces, which Python joins.
    Pieces(Vec<String>),
    /// A bracketed list of items: a display or a call.
    Group {
        open: String,
        items: Vec<PythonCode>,
        close: String,
        /// True if a single item needs a trailing comma.
        is_tuple: bool,
    },
    /// Two parts with a separator: `key: value`, `name=value`, `folder / name`.
    Pair {
        left: Box<PythonCode>,
        separator: &'static str,
        right: Box<PythonCode>,
    },
}

impl PythonCode {
    /// Creates an expression without structure.
    pub(crate) fn text(text: impl Into<String>) -> PythonCode {
        PythonCode::Text(text.into())
    }

    /// Creates a list display.
    pub(crate) fn list(items: Vec<PythonCode>) -> PythonCode {
        PythonCode::group("[", items, "]")
    }

    /// Creates a tuple display.
    pub(crate) fn tuple(items: Vec<PythonCode>) -> PythonCode {
        PythonCode::Group {
            open: "(".to_owned(),
            items,
            close: ")".to_owned(),
            is_tuple: true,
        }
    }

    /// Creates a bracketed group.
    pub(crate) fn group(open: &str, items: Vec<PythonCode>, close: &str) -> PythonCode {
        PythonCode::Group {
            open: open.to_owned(),
            items,
            close: close.to_owned(),
            is_tuple: false,
        }
    }

    /// Creates a call.
    pub(crate) fn call(function: &str, arguments: Vec<PythonCode>) -> PythonCode {
        PythonCode::group(&format!("{function}("), arguments, ")")
    }

    /// Creates a pair with a separator.
    pub(crate) fn pair(left: PythonCode, separator: &'static str, right: PythonCode) -> PythonCode {
        PythonCode::Pair {
            left: Box::new(left),
            separator,
            right: Box::new(right),
        }
    }

    /// Creates a keyword argument.
    pub(crate) fn keyword(name: &str, value: PythonCode) -> PythonCode {
        PythonCode::pair(PythonCode::text(name), "=", value)
    }

    /// Renders the expression on one line.
    pub(crate) fn one_line(&self) -> String {
        match self {
            PythonCode::Text(text) => text.clone(),
            PythonCode::Pieces(pieces) => format!("({})", pieces.join(" ")),
            PythonCode::Group {
                open,
                items,
                close,
                is_tuple,
            } => {
                let flat: Vec<String> = items.iter().map(PythonCode::one_line).collect();
                let comma = if *is_tuple && items.len() == 1 {
                    ","
                } else {
                    ""
                };
                format!("{open}{}{comma}{close}", flat.join(", "))
            }
            PythonCode::Pair {
                left,
                separator: between,
                right,
            } => format!("{}{between}{}", left.one_line(), right.one_line()),
        }
    }

    /// Returns true if it fits on one line after `before` characters.
    pub(crate) fn fits(&self, before: usize) -> bool {
        let is_broken = matches!(self, PythonCode::Pieces(pieces) if pieces.len() > 1);
        !is_broken && before + self.one_line().chars().count() <= WIDTH
    }

    /// Renders the expression as lines, with texts before and after it, each line indented by
    /// `indent` blanks.
    pub(crate) fn lines(&self, before: &str, behind: &str, indent: usize) -> Vec<String> {
        let blanks = " ".repeat(indent);
        let around = indent + before.chars().count() + behind.chars().count();
        let whole = || vec![format!("{blanks}{before}{}{behind}", self.one_line())];
        if self.fits(around) {
            return whole();
        }
        match self {
            PythonCode::Text(_) => whole(),
            PythonCode::Pieces(pieces) => {
                let mut lines = vec![format!("{blanks}{before}(")];
                lines.extend(pieces.iter().map(|piece| format!("{blanks}    {piece}")));
                lines.push(format!("{blanks}){behind}"));
                lines
            }
            PythonCode::Group {
                open,
                items,
                close,
                is_tuple,
            } => {
                if items.is_empty() {
                    return whole();
                }
                let mut lines = vec![format!("{blanks}{before}{open}")];
                // The brackets of a call suffice for a text in pieces.
                if let ([PythonCode::Pieces(pieces)], ")", false) =
                    (items.as_slice(), close.as_str(), is_tuple)
                {
                    lines.extend(pieces.iter().map(|piece| format!("{blanks}    {piece}")));
                    lines.push(format!("{blanks}{close}{behind}"));
                    return lines;
                }
                for item in items {
                    lines.extend(item.lines("", ",", indent + 4));
                }
                lines.push(format!("{blanks}{close}{behind}"));
                lines
            }
            PythonCode::Pair {
                left,
                separator: between,
                right,
            } => right.lines(
                &format!("{before}{}{between}", left.one_line()),
                behind,
                indent,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_groups_are_broken_as_formatters_do() {
        let word = || PythonCode::text("'twenty characters here'");
        let inner = PythonCode::list(vec![word(), word(), word(), word()]);
        let code = PythonCode::call(
            "f",
            vec![PythonCode::text("1"), PythonCode::keyword("names", inner)],
        );
        assert_eq!(
            code.lines("x = ", "", 4),
            [
                "    x = f(",
                "        1,",
                "        names=[",
                "            'twenty characters here',",
                "            'twenty characters here',",
                "            'twenty characters here',",
                "            'twenty characters here',",
                "        ],",
                "    )",
            ]
        );
    }

    #[test]
    fn short_ones_stay_on_their_line() {
        let one = PythonCode::tuple(vec![PythonCode::text("1")]);
        assert_eq!(one.lines("x = ", "", 0), ["x = (1,)"]);
        assert_eq!(PythonCode::tuple(vec![]).one_line(), "()");
    }
}
