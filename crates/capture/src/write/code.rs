//! Python expressions that know where they may be broken into lines.

/// Lines are at most this long where that is possible.
pub(crate) const WIDTH: usize = 88;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// Written as it is.
    Text(String),
    /// A string literal in pieces, which Python joins.
    Pieces(Vec<String>),
    /// Something in brackets: a display or a call.
    Group {
        open: String,
        items: Vec<Code>,
        close: String,
        /// Whether a single item needs a comma behind it.
        is_tuple: bool,
    },
    /// `key: value`, `name=value`, `folder / name`.
    Pair {
        left: Box<Code>,
        between: &'static str,
        right: Box<Code>,
    },
}

impl Code {
    pub(crate) fn text(text: impl Into<String>) -> Code {
        Code::Text(text.into())
    }

    pub(crate) fn list(items: Vec<Code>) -> Code {
        Code::group("[", items, "]")
    }

    pub(crate) fn tuple(items: Vec<Code>) -> Code {
        Code::Group {
            open: "(".to_owned(),
            items,
            close: ")".to_owned(),
            is_tuple: true,
        }
    }

    pub(crate) fn group(open: &str, items: Vec<Code>, close: &str) -> Code {
        Code::Group {
            open: open.to_owned(),
            items,
            close: close.to_owned(),
            is_tuple: false,
        }
    }

    pub(crate) fn call(function: &str, arguments: Vec<Code>) -> Code {
        Code::group(&format!("{function}("), arguments, ")")
    }

    pub(crate) fn pair(left: Code, between: &'static str, right: Code) -> Code {
        Code::Pair {
            left: Box::new(left),
            between,
            right: Box::new(right),
        }
    }

    pub(crate) fn keyword(name: &str, value: Code) -> Code {
        Code::pair(Code::text(name), "=", value)
    }

    /// On one line.
    pub(crate) fn flat(&self) -> String {
        match self {
            Code::Text(text) => text.clone(),
            Code::Pieces(pieces) => format!("({})", pieces.join(" ")),
            Code::Group {
                open,
                items,
                close,
                is_tuple,
            } => {
                let flat: Vec<String> = items.iter().map(Code::flat).collect();
                let comma = if *is_tuple && items.len() == 1 {
                    ","
                } else {
                    ""
                };
                format!("{open}{}{comma}{close}", flat.join(", "))
            }
            Code::Pair {
                left,
                between,
                right,
            } => format!("{}{between}{}", left.flat(), right.flat()),
        }
    }

    /// Whether it stays on one line behind so many characters.
    pub(crate) fn fits(&self, before: usize) -> bool {
        let is_broken = matches!(self, Code::Pieces(pieces) if pieces.len() > 1);
        !is_broken && before + self.flat().chars().count() <= WIDTH
    }

    /// As lines, with something before and behind it, each line indented by `indent` blanks.
    pub(crate) fn lines(&self, before: &str, behind: &str, indent: usize) -> Vec<String> {
        let blanks = " ".repeat(indent);
        let around = indent + before.chars().count() + behind.chars().count();
        let whole = || vec![format!("{blanks}{before}{}{behind}", self.flat())];
        if self.fits(around) {
            return whole();
        }
        match self {
            Code::Text(_) => whole(),
            Code::Pieces(pieces) => {
                let mut lines = vec![format!("{blanks}{before}(")];
                lines.extend(pieces.iter().map(|piece| format!("{blanks}    {piece}")));
                lines.push(format!("{blanks}){behind}"));
                lines
            }
            Code::Group {
                open,
                items,
                close,
                is_tuple,
            } => {
                if items.is_empty() {
                    return whole();
                }
                let mut lines = vec![format!("{blanks}{before}{open}")];
                // The brackets of a call are brackets enough for a text.
                if let ([Code::Pieces(pieces)], ")", false) =
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
            Code::Pair {
                left,
                between,
                right,
            } => right.lines(&format!("{before}{}{between}", left.flat()), behind, indent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_groups_are_broken_as_formatters_do() {
        let word = || Code::text("'twenty characters here'");
        let inner = Code::list(vec![word(), word(), word(), word()]);
        let code = Code::call("f", vec![Code::text("1"), Code::keyword("names", inner)]);
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
        let one = Code::tuple(vec![Code::text("1")]);
        assert_eq!(one.lines("x = ", "", 0), ["x = (1,)"]);
        assert_eq!(Code::tuple(vec![]).flat(), "()");
    }
}
