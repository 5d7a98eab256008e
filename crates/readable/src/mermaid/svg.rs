//! Sequence diagrams as SVG, which needs no script to be seen.
//!
//! Widths are estimated from the number of letters, because no font is available here. Columns are
//! placed far enough apart for the longest text between them.

use super::{DiagramMessage, DiagramRow, SequenceDiagram};

/// The width of a letter in pixels. The widest letters of common fonts are wider; the mean of a
/// text is narrower.
const LETTER_WIDTH: f64 = 7.6;
/// The height of a line of text, in pixels.
const LINE_HEIGHT: f64 = 18.0;
/// The empty border around the picture, in pixels.
const MARGIN: f64 = 16.0;
/// The height of the box with the name of a participant, in pixels.
const HEADER_HEIGHT: f64 = 30.0;
/// The longest line of a text. Longer texts are wrapped, because very long arrows are hard to
/// follow.
const MAX_LINE_LETTERS: usize = 56;

/// The style sheet of every picture.
const STYLE: &str = "text{font:14px system-ui,sans-serif;fill:#222}\
    .box{fill:#eef3fb;stroke:#5b7db1}.life{stroke:#bbb;stroke-dasharray:3 4}\
    .arrow{stroke:#333;fill:none}.back{stroke-dasharray:6 4}.bad{stroke:#c0262d}.bad-text{fill:#c0262d}\
    .tip{fill:#333}.note{fill:#fff8dc;stroke:#c9b458}";

/// The shapes drawn so far, and the position of the next one.
struct SvgCanvas {
    /// The horizontal center of each participant, the tester first.
    columns: Vec<f64>,
    /// The width of the picture.
    width: f64,
    /// The lowest position that is in use; the next row is drawn below it.
    bottom: f64,
    /// The SVG elements, in drawing order.
    shapes: Vec<String>,
}

impl SequenceDiagram {
    /// Returns the diagram as an SVG element.
    #[must_use]
    pub fn svg(&self) -> String {
        let names: Vec<&str> = std::iter::once("Tester")
            .chain(self.participants.iter().map(String::as_str))
            .collect();
        let rows = self.rows();
        let mut columns = column_positions(&names, &rows);
        let last = columns.last().copied().unwrap_or(MARGIN);
        let half_name = names
            .last()
            .map_or(0.0, |name| text_width(name) / 2.0 + 12.0);
        let notes = rows.iter().filter_map(|row| match row {
            DiagramRow::Note(text) => wrap_text(text)
                .iter()
                .map(|line| text_width(line))
                .reduce(f64::max),
            DiagramRow::Message(_) => None,
        });
        let widest = notes.fold(0.0, f64::max) + 24.0 + 2.0 * MARGIN;
        let needed = last + half_name + MARGIN;
        let width = needed.max(widest);
        columns
            .iter_mut()
            .for_each(|column| *column += (width - needed) / 2.0);
        let mut sheet = SvgCanvas {
            width,
            columns,
            bottom: MARGIN + HEADER_HEIGHT,
            shapes: Vec::new(),
        };
        for row in &rows {
            match row {
                DiagramRow::Message(message) => sheet.draw_message(message),
                DiagramRow::Note(text) => sheet.draw_note(text),
            }
        }
        sheet.finish(&names)
    }
}

impl SvgCanvas {
    /// Draws an arrow with its text above it. Answers are dashed, failures end in a cross.
    fn draw_message(&mut self, message: &DiagramMessage) {
        let (other, text, is_back, is_bad) = match message {
            DiagramMessage::Call { to, text } => (*to, text, false, false),
            DiagramMessage::Answer { from, text } => (*from, text, true, false),
            DiagramMessage::Failure { from, text } => (*from, text, true, true),
        };
        let tester = self.columns.first().copied().unwrap_or_default();
        let there = self.columns.get(other + 1).copied().unwrap_or(tester);
        let colour = if is_bad { " class=\"bad-text\"" } else { "" };
        self.bottom += 8.0;
        for line in wrap_text(text) {
            self.bottom += LINE_HEIGHT;
            let (x, y) = ((tester + there) / 2.0, self.bottom);
            self.draw_text(x, y, &line, colour);
        }
        self.bottom += 8.0;
        let (from, to) = if is_back {
            (there, tester)
        } else {
            (tester, there)
        };
        let class = match (is_back, is_bad) {
            (_, true) => "arrow back bad",
            (true, false) => "arrow back",
            (false, false) => "arrow",
        };
        let tip = if to > from { to - 8.0 } else { to + 8.0 };
        let y = self.bottom;
        self.shapes.push(format!(
            "<path class=\"{class}\" d=\"M{from:.0} {y:.0}H{tip:.0}\"/>"
        ));
        self.shapes.push(if is_bad {
            format!(
                "<path class=\"arrow bad\" d=\"M{:.0} {:.0}l10 10m0-10l-10 10\"/>",
                to + 3.0,
                y - 5.0
            )
        } else {
            format!(
                "<path class=\"tip\" d=\"M{to:.0} {y:.0}L{tip:.0} {:.0}V{:.0}z\"/>",
                y - 5.0,
                y + 5.0
            )
        });
    }

    /// Draws a box with text across the whole picture.
    fn draw_note(&mut self, text: &str) {
        let lines = wrap_text(text);
        self.bottom += 14.0;
        let (top, width) = (self.bottom, self.width - 2.0 * MARGIN);
        #[allow(clippy::cast_precision_loss, reason = "notes have few lines")]
        let height = lines.len() as f64 * LINE_HEIGHT + 10.0;
        self.shapes.push(format!(
            "<rect class=\"note\" x=\"{MARGIN:.0}\" y=\"{top:.0}\" width=\"{width:.0}\" height=\"{height:.0}\"/>"
        ));
        for line in lines {
            self.bottom += LINE_HEIGHT;
            let (x, y) = (self.width / 2.0, self.bottom);
            self.draw_text(x, y, &line, "");
        }
        self.bottom = top + height;
    }

    /// Adds a line of text that is centered at `x`. `more` holds further attributes.
    fn draw_text(&mut self, x: f64, y: f64, text: &str, more: &str) {
        let text = escape(text);
        self.shapes.push(format!(
            "<text x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"middle\"{more}>{text}</text>"
        ));
    }

    /// Puts the names of the participants on top, draws their lifelines below everything else, and
    /// returns the picture.
    fn finish(mut self, names: &[&str]) -> String {
        let messages = std::mem::take(&mut self.shapes);
        let foot = self.bottom + 8.0;
        for (name, x) in names.iter().zip(self.columns.clone()) {
            let half = text_width(name) / 2.0 + 10.0;
            let top = MARGIN + HEADER_HEIGHT;
            self.shapes.push(format!(
                "<path class=\"life\" d=\"M{x:.0} {top:.0}V{foot:.0}\"/>"
            ));
            self.shapes.push(format!(
                "<rect class=\"box\" x=\"{:.0}\" y=\"{MARGIN:.0}\" width=\"{:.0}\" height=\"{HEADER_HEIGHT:.0}\" rx=\"4\"/>",
                x - half,
                2.0 * half
            ));
            self.draw_text(x, MARGIN + HEADER_HEIGHT - 10.0, name, "");
        }
        self.shapes.extend(messages);
        let (width, height) = (self.width, foot + MARGIN);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\">\n<title>Sequence diagram</title>\n<style>{STYLE}</style>\n{}\n</svg>\n",
            self.shapes.join("\n")
        )
    }
}

/// Computes the center of each participant: far enough from the tester for their messages, and from
/// the neighbor for their names.
fn column_positions(names: &[&str], rows: &[DiagramRow<'_>]) -> Vec<f64> {
    let mut columns: Vec<f64> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let half = text_width(name) / 2.0 + 12.0;
        let Some(before) = columns.last().copied() else {
            columns.push(MARGIN + half);
            continue;
        };
        let tester = columns.first().copied().unwrap_or_default();
        let half_before = names
            .get(index - 1)
            .map_or(0.0, |name| text_width(name) / 2.0 + 12.0);
        let of_it = rows.iter().filter_map(|row| match row {
            DiagramRow::Message(DiagramMessage::Call { to: other, text })
            | DiagramRow::Message(DiagramMessage::Answer { from: other, text })
            | DiagramRow::Message(DiagramMessage::Failure { from: other, text }) => {
                (other + 1 == index).then(|| wrap_text(text))
            }
            DiagramRow::Note(_) => None,
        });
        let widest = of_it
            .flatten()
            .map(|line| text_width(&line))
            .fold(80.0, f64::max);
        columns.push((before + half_before + half).max(tester + widest + 36.0));
    }
    columns
}

/// Estimates the width of a text.
#[allow(clippy::cast_precision_loss, reason = "texts are short")]
fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER_WIDTH
}

/// Splits a text into lines between words.
fn wrap_text(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        for piece in split_word(word) {
            let Some(line) = lines.last_mut() else {
                continue;
            };
            let is_full = line.chars().count() + 1 + piece.chars().count() > MAX_LINE_LETTERS;
            if line.is_empty() {
                *line = piece;
            } else if is_full {
                lines.push(piece);
            } else {
                line.push(' ');
                line.push_str(&piece);
            }
        }
    }
    lines
}

/// Splits a word that is too long for a line.
fn split_word(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    letters
        .chunks(MAX_LINE_LETTERS)
        .map(|piece| piece.iter().collect())
        .collect()
}

/// Escapes text for SVG and drops control characters, which XML does not allow.
fn escape(text: &str) -> String {
    let harmless = text.chars().filter(|letter| !letter.is_control());
    let text: String = harmless.collect();
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(to: usize, text: &str) -> DiagramMessage {
        DiagramMessage::Call {
            to,
            text: text.to_owned(),
        }
    }

    #[test]
    fn everything_is_on_the_sheet() {
        let diagram = SequenceDiagram {
            participants: vec!["one (stack)".to_owned(), "two".to_owned()],
            messages: vec![
                call(0, "push <1> & more"),
                call(1, &"very ".repeat(60)),
                DiagramMessage::Failure {
                    from: 1,
                    text: "error".to_owned(),
                },
            ],
            notes: vec!["Expected: no error is raised".to_owned()],
        };
        let svg = diagram.svg();
        assert!(svg.contains(">push &lt;1&gt; &amp; more</text>"), "{svg}");
        assert!(svg.contains("class=\"arrow back bad\""), "{svg}");
        let number = |text: &str, name: &str| -> f64 {
            let rest = text
                .split(&format!(" {name}=\""))
                .nth(1)
                .unwrap_or_default();
            rest.split('"')
                .next()
                .unwrap_or_default()
                .parse()
                .unwrap_or_default()
        };
        let (width, height) = (number(&svg, "width"), number(&svg, "height"));
        for text in svg.lines().filter(|line| line.starts_with("<text")) {
            let words = text.split(['>', '<']).nth(2).unwrap_or_default();
            let half = super::text_width(words) / 2.0;
            let x = number(text, "x");
            assert!(x - half >= 0.0 && x + half <= width, "{text} in {width}");
            assert!(number(text, "y") < height, "{text} in {height}");
        }
    }

    #[test]
    fn long_texts_are_broken() {
        assert_eq!(wrap_text(""), [""]);
        assert_eq!(wrap_text("a b"), ["a b"]);
        let long = "x".repeat(MAX_LINE_LETTERS + 1);
        assert_eq!(wrap_text(&long), [&long[..MAX_LINE_LETTERS], "x"]);
    }
}
