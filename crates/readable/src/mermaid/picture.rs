//! The same diagrams as pictures that need nothing to be seen.

use super::{Diagram, Message, Row};

/// In pixels. The widest letters of common fonts are wider, the mean of a text is narrower.
const LETTER: f64 = 7.6;
const LINE: f64 = 18.0;
const MARGIN: f64 = 16.0;
const HEAD: f64 = 30.0;
/// Longer texts are broken: an arrow across the room connects nothing.
const LETTERS: usize = 56;

const STYLE: &str = "text{font:14px system-ui,sans-serif;fill:#222}\
    .box{fill:#eef3fb;stroke:#5b7db1}.life{stroke:#bbb;stroke-dasharray:3 4}\
    .arrow{stroke:#333;fill:none}.back{stroke-dasharray:6 4}.bad{stroke:#c0262d}.bad-text{fill:#c0262d}\
    .tip{fill:#333}.note{fill:#fff8dc;stroke:#c9b458}";

/// What has been drawn, and where the next thing comes.
struct Sheet {
    /// The middle of each participant, the tester first.
    columns: Vec<f64>,
    width: f64,
    bottom: f64,
    shapes: Vec<String>,
}

impl Diagram {
    /// The diagram as an SVG element.
    #[must_use]
    pub fn svg(&self) -> String {
        let names: Vec<&str> = std::iter::once("Tester")
            .chain(self.participants.iter().map(String::as_str))
            .collect();
        let rows = self.rows();
        let mut columns = columns(&names, &rows);
        let last = columns.last().copied().unwrap_or(MARGIN);
        let half_name = names.last().map_or(0.0, |name| width(name) / 2.0 + 12.0);
        let notes = rows.iter().filter_map(|row| match row {
            Row::Note(text) => broken(text).iter().map(|line| width(line)).reduce(f64::max),
            Row::Message(_) => None,
        });
        let widest = notes.fold(0.0, f64::max) + 24.0 + 2.0 * MARGIN;
        let needed = last + half_name + MARGIN;
        let width = needed.max(widest);
        columns
            .iter_mut()
            .for_each(|column| *column += (width - needed) / 2.0);
        let mut sheet = Sheet {
            width,
            columns,
            bottom: MARGIN + HEAD,
            shapes: Vec::new(),
        };
        for row in &rows {
            match row {
                Row::Message(message) => sheet.message(message),
                Row::Note(text) => sheet.note(text),
            }
        }
        sheet.finished(&names)
    }
}

impl Sheet {
    fn message(&mut self, message: &Message) {
        let (other, text, is_back, is_bad) = match message {
            Message::Call { to, text } => (*to, text, false, false),
            Message::Answer { from, text } => (*from, text, true, false),
            Message::Failure { from, text } => (*from, text, true, true),
        };
        let tester = self.columns.first().copied().unwrap_or_default();
        let there = self.columns.get(other + 1).copied().unwrap_or(tester);
        let colour = if is_bad { " class=\"bad-text\"" } else { "" };
        self.bottom += 8.0;
        for line in broken(text) {
            self.bottom += LINE;
            let (x, y) = ((tester + there) / 2.0, self.bottom);
            self.text(x, y, &line, colour);
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

    fn note(&mut self, text: &str) {
        let lines = broken(text);
        self.bottom += 14.0;
        let (top, width) = (self.bottom, self.width - 2.0 * MARGIN);
        #[allow(clippy::cast_precision_loss, reason = "nobody writes that many lines")]
        let height = lines.len() as f64 * LINE + 10.0;
        self.shapes.push(format!(
            "<rect class=\"note\" x=\"{MARGIN:.0}\" y=\"{top:.0}\" width=\"{width:.0}\" height=\"{height:.0}\"/>"
        ));
        for line in lines {
            self.bottom += LINE;
            let (x, y) = (self.width / 2.0, self.bottom);
            self.text(x, y, &line, "");
        }
        self.bottom = top + height;
    }

    fn text(&mut self, x: f64, y: f64, text: &str, more: &str) {
        let text = escaped(text);
        self.shapes.push(format!(
            "<text x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"middle\"{more}>{text}</text>"
        ));
    }

    /// With everybody's name on top, and a line from there to the last of what was said.
    fn finished(mut self, names: &[&str]) -> String {
        let said = std::mem::take(&mut self.shapes);
        let foot = self.bottom + 8.0;
        for (name, x) in names.iter().zip(self.columns.clone()) {
            let half = width(name) / 2.0 + 10.0;
            let top = MARGIN + HEAD;
            self.shapes.push(format!(
                "<path class=\"life\" d=\"M{x:.0} {top:.0}V{foot:.0}\"/>"
            ));
            self.shapes.push(format!(
                "<rect class=\"box\" x=\"{:.0}\" y=\"{MARGIN:.0}\" width=\"{:.0}\" height=\"{HEAD:.0}\" rx=\"4\"/>",
                x - half,
                2.0 * half
            ));
            self.text(x, MARGIN + HEAD - 10.0, name, "");
        }
        self.shapes.extend(said);
        let (width, height) = (self.width, foot + MARGIN);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\">\n<title>Who said what to whom</title>\n<style>{STYLE}</style>\n{}\n</svg>\n",
            self.shapes.join("\n")
        )
    }
}

/// Where everybody stands: far enough from the tester for what the two say, and from each other for their names.
fn columns(names: &[&str], rows: &[Row<'_>]) -> Vec<f64> {
    let mut columns: Vec<f64> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let half = width(name) / 2.0 + 12.0;
        let Some(before) = columns.last().copied() else {
            columns.push(MARGIN + half);
            continue;
        };
        let tester = columns.first().copied().unwrap_or_default();
        let half_before = names
            .get(index - 1)
            .map_or(0.0, |name| width(name) / 2.0 + 12.0);
        let of_it = rows.iter().filter_map(|row| match row {
            Row::Message(Message::Call { to: other, text })
            | Row::Message(Message::Answer { from: other, text })
            | Row::Message(Message::Failure { from: other, text }) => {
                (other + 1 == index).then(|| broken(text))
            }
            Row::Note(_) => None,
        });
        let widest = of_it
            .flatten()
            .map(|line| width(&line))
            .fold(80.0, f64::max);
        columns.push((before + half_before + half).max(tester + widest + 36.0));
    }
    columns
}

#[allow(
    clippy::cast_precision_loss,
    reason = "nobody reads texts of that length"
)]
fn width(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER
}

/// The lines of a text, broken between words.
fn broken(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        for piece in pieces(word) {
            let Some(line) = lines.last_mut() else {
                continue;
            };
            let is_full = line.chars().count() + 1 + piece.chars().count() > LETTERS;
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

/// A word, or parts of it if it is too long for any line.
fn pieces(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    letters
        .chunks(LETTERS)
        .map(|piece| piece.iter().collect())
        .collect()
}

fn escaped(text: &str) -> String {
    let harmless = text.chars().filter(|letter| !letter.is_control());
    let text: String = harmless.collect();
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(to: usize, text: &str) -> Message {
        Message::Call {
            to,
            text: text.to_owned(),
        }
    }

    #[test]
    fn everything_is_on_the_sheet() {
        let diagram = Diagram {
            participants: vec!["one (stack)".to_owned(), "two".to_owned()],
            messages: vec![
                call(0, "push <1> & more"),
                call(1, &"very ".repeat(60)),
                Message::Failure {
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
            let half = super::width(words) / 2.0;
            let x = number(text, "x");
            assert!(x - half >= 0.0 && x + half <= width, "{text} in {width}");
            assert!(number(text, "y") < height, "{text} in {height}");
        }
    }

    #[test]
    fn long_texts_are_broken() {
        assert_eq!(broken(""), [""]);
        assert_eq!(broken("a b"), ["a b"]);
        let long = "x".repeat(LETTERS + 1);
        assert_eq!(broken(&long), [&long[..LETTERS], "x"]);
    }
}
