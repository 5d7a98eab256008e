//! What somebody sees of what is drawn: the codes are obeyed by a small terminal.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::rc::Rc;

use expect_test::{Expect, expect};

use super::*;

/// A terminal that knows the codes that are used here, and panics at any other.
struct Emulator {
    size: Size,
    /// What has left the screen at its top, and the screen.
    lines: Vec<Vec<char>>,
    /// Where the screen begins among the lines.
    top: usize,
    row: usize,
    column: usize,
}

impl Emulator {
    fn new(columns: usize, rows: usize) -> Emulator {
        Emulator {
            size: Size { columns, rows },
            lines: vec![Vec::new()],
            top: 0,
            row: 0,
            column: 0,
        }
    }

    fn obey(&mut self, text: &str) {
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\x1b' => {
                    assert_eq!(letters.next(), Some('['));
                    let mut number = String::new();
                    let code = loop {
                        match letters.next() {
                            Some(letter) if letter.is_ascii_alphabetic() => break letter,
                            Some(letter) => number.push(letter),
                            None => panic!("a code is cut off"),
                        }
                    };
                    self.code(code, &number);
                }
                '\r' => self.column = 0,
                // As the terminal's driver does it for programs that know nothing of carriages.
                '\n' => self.next_line(),
                letter => self.put(letter),
            }
        }
    }

    fn code(&mut self, code: char, number: &str) {
        match (code, number) {
            ('A', number) => {
                let up: usize = number.parse().unwrap();
                self.row = self.row.saturating_sub(up).max(self.top);
            }
            ('K', "") => self.lines[self.row].truncate(self.column),
            ('J', "") => {
                self.lines[self.row].truncate(self.column);
                self.lines.truncate(self.row + 1);
            }
            ('m', _) | ('h' | 'l', "?2026") => {}
            _ => panic!("unknown code: {number}{code}"),
        }
    }

    fn next_line(&mut self) {
        self.row += 1;
        self.column = 0;
        if self.row == self.lines.len() {
            self.lines.push(Vec::new());
        }
        self.top = self.top.max((self.row + 1).saturating_sub(self.size.rows));
    }

    fn put(&mut self, letter: char) {
        if self.column == self.size.columns {
            self.next_line();
        }
        let line = &mut self.lines[self.row];
        let width = line.len().max(self.column + 1);
        line.resize(width, ' ');
        line[self.column] = letter;
        self.column += 1;
    }

    /// Makes the window narrower or wider, as a person with a mouse does. Lines that do not fit any more are broken.
    fn resize(&mut self, columns: usize, rows: usize) {
        assert_eq!(self.column, 0, "the cursor rests below what is drawn");
        let mut lines = Vec::new();
        for (index, line) in std::mem::take(&mut self.lines).into_iter().enumerate() {
            if index == self.row {
                self.row = lines.len();
            }
            let first = lines.len();
            lines.extend(line.chunks(columns).map(<[char]>::to_vec));
            if lines.len() == first {
                lines.push(Vec::new());
            }
        }
        self.lines = lines;
        self.size = Size { columns, rows };
        self.top = (self.row + 1).saturating_sub(rows);
    }

    /// All lines, those that have left the screen as well, and where the cursor is.
    fn text(&self) -> String {
        let mut text = String::new();
        for (index, line) in self.lines.iter().enumerate() {
            let cursor = if index == self.row { ">" } else { "|" };
            text.push_str(cursor);
            text.extend(line);
            text.push('\n');
        }
        text
    }
}

/// A terminal on a desk: both streams go to it, and it can be resized meanwhile.
#[derive(Clone)]
struct Desk {
    emulator: Rc<RefCell<Emulator>>,
    /// How many pieces were written to it.
    pieces: Rc<Cell<usize>>,
}

impl Desk {
    fn new(columns: usize, rows: usize) -> Desk {
        Desk {
            emulator: Rc::new(RefCell::new(Emulator::new(columns, rows))),
            pieces: Rc::default(),
        }
    }

    fn terminal(&self) -> Terminal<'_> {
        Terminal {
            live: true,
            screen: Some(self),
            ..Terminal::plain()
        }
    }

    fn check(&self, expected: Expect) {
        expected.assert_eq(&self.emulator.borrow().text());
    }
}

impl Screen for Desk {
    fn size(&self) -> Option<Size> {
        Some(self.emulator.borrow().size)
    }
}

impl Write for Desk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(bytes).expect("no character is cut in two");
        self.emulator.borrow_mut().obey(text);
        self.pieces.set(self.pieces.get() + 1);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Draws lines without waiting until it is time to.
fn draw(console: &mut Console<'_>, lines: &[&str]) {
    console.drawn = None;
    console.panel(|_| lines.iter().map(|&line| line.to_owned()).collect());
}

#[test]
fn lines_are_redrawn_in_place_and_go_away() {
    let desk = Desk::new(20, 6);
    let (mut out, mut err) = (desk.clone(), desk.clone());
    let mut console = Console::new(&mut out, &mut err, desk.terminal());
    console.tell("before");
    draw(&mut console, &["first of two", "second"]);
    desk.check(expect![[r#"
        |before
        |first of two
        |second
        >
    "#]]);
    draw(&mut console, &["\x1b[1mnext\x1b[0m", "of two"]);
    desk.check(expect![[r#"
        |before
        |next
        |of two
        >
    "#]]);
    console.finish(ExitStatus::NothingFound);
    desk.check(expect![[r#"
        |before
        >
    "#]]);
}

#[test]
fn there_may_be_more_lines_or_fewer_than_before() {
    let desk = Desk::new(20, 6);
    let (mut out, mut err) = (desk.clone(), desk.clone());
    let mut console = Console::new(&mut out, &mut err, desk.terminal());
    console.tell("before");
    draw(&mut console, &["one"]);
    draw(&mut console, &["one", "two", "three"]);
    desk.check(expect![[r#"
        |before
        |one
        |two
        |three
        >
    "#]]);
    draw(&mut console, &["one", "two"]);
    desk.check(expect![[r#"
        |before
        |one
        |two
        >
    "#]]);
    draw(&mut console, &[]);
    desk.check(expect![[r#"
        |before
        >
    "#]]);
    draw(&mut console, &["one again"]);
    console.clear_status();
    console.clear_status();
    desk.check(expect![[r#"
        |before
        >
    "#]]);
}

#[test]
fn what_is_said_or_told_stands_above() {
    let desk = Desk::new(20, 5);
    let (mut out, mut err) = (desk.clone(), desk.clone());
    let mut console = Console::new(&mut out, &mut err, desk.terminal());
    draw(&mut console, &["panel", "panel"]);
    console.say("a result");
    draw(&mut console, &["panel", "panel"]);
    console.tell("a word");
    console.say("another result");
    draw(&mut console, &["panel", "panel"]);
    // It does not fit on the screen any more, but nothing of it is lost.
    console.say("the last result");
    draw(&mut console, &["panel", "panel"]);
    desk.check(expect![[r#"
        |a result
        |a word
        |another result
        |the last result
        |panel
        |panel
        >
    "#]]);
}

#[test]
fn a_narrower_window_breaks_lines_and_nothing_is_left_of_them() {
    let desk = Desk::new(40, 9);
    let (mut out, mut err) = (desk.clone(), desk.clone());
    let mut console = Console::new(&mut out, &mut err, desk.terminal());
    console.tell("before");
    draw(
        &mut console,
        &["a line of thirty-one characters", "", "short"],
    );
    desk.emulator.borrow_mut().resize(12, 9);
    desk.check(expect![[r#"
        |before
        |a line of th
        |irty-one cha
        |racters
        |
        |short
        >
    "#]]);
    draw(&mut console, &["narrow", "", "lines"]);
    desk.check(expect![[r#"
        |before
        |narrow
        |
        |lines
        >
    "#]]);
    desk.emulator.borrow_mut().resize(60, 9);
    draw(&mut console, &["a line that is wider than before"]);
    desk.check(expect![[r#"
        |before
        |a line that is wider than before
        >
    "#]]);
    desk.emulator.borrow_mut().resize(10, 9);
    console.tell("after");
    desk.check(expect![[r#"
        |before
        |after
        >
    "#]]);
}

#[test]
fn a_window_may_become_lower_than_what_is_drawn() {
    let desk = Desk::new(20, 8);
    let (mut out, mut err) = (desk.clone(), desk.clone());
    let mut console = Console::new(&mut out, &mut err, desk.terminal());
    draw(&mut console, &["1", "2", "3", "4", "5"]);
    desk.emulator.borrow_mut().resize(20, 3);
    draw(&mut console, &["one", "two"]);
    // What has left the screen cannot be taken back.
    desk.check(expect![[r#"
        |1
        |2
        |3
        |one
        |two
        >
    "#]]);
}

#[test]
fn the_room_is_asked_for_whenever_something_is_drawn() {
    let desk = Desk::new(20, 8);
    let (mut out, mut err) = (desk.clone(), desk.clone());
    let mut console = Console::new(&mut out, &mut err, desk.terminal());
    let mut rooms = Vec::new();
    for (columns, rows) in [(20, 8), (200, 50), (1, 1)] {
        desk.emulator.borrow_mut().resize(columns, rows);
        console.drawn = None;
        console.panel(|room| {
            rooms.push((room.columns, room.rows));
            Vec::new()
        });
    }
    assert_eq!(rooms, [(19, 7), (199, 49), (0, 0)]);
}

#[test]
fn a_status_is_one_line_that_fits() {
    let desk = Desk::new(20, 8);
    let (mut out, mut err) = (desk.clone(), desk.clone());
    let mut console = Console::new(&mut out, &mut err, desk.terminal());
    console.status(|| "a status of far too many words\nin two lines".to_owned());
    desk.check(expect![[r#"
        |a status of far to…
        >
    "#]]);
    console.drawn = None;
    console.status(|| "12 of 30\x1b[2J".to_owned());
    desk.check(expect![[r#"
        |12 of 30\u{1b}[2J
        >
    "#]]);
    console.say("the result");
    console.finish(ExitStatus::NothingFound);
    desk.check(expect![[r#"
        |the result
        >
    "#]]);
}

#[test]
fn a_drawing_arrives_in_one_piece_and_not_too_often() {
    let desk = Desk::new(20, 8);
    let (mut out, mut err) = (desk.clone(), desk.clone());
    let mut console = Console::new(&mut out, &mut err, desk.terminal());
    draw(&mut console, &["one", "two", "three"]);
    assert_eq!(desk.pieces.get(), 1);
    // As if it had just been drawn, however slow the machine is.
    console.drawn = Some(Instant::now() + Duration::from_secs(60));
    console.panel(|_| unreachable!("it is too early for another one"));
    assert_eq!(desk.pieces.get(), 1);
}

#[test]
fn what_comes_from_elsewhere_stands_on_a_line_of_its_own() {
    let desk = Desk::new(30, 8);
    let (mut out, mut err) = (desk.clone(), desk.clone());
    let mut console = Console::new(&mut out, &mut err, desk.terminal());
    draw(&mut console, &["one", "two"]);
    // Ctrl-C, as the terminal shows it.
    desk.emulator.borrow_mut().obey("^C");
    draw(&mut console, &["one", "two, stopping"]);
    desk.check(expect![[r#"
        |one
        |two, stopping
        >
    "#]]);
    // The last words of a process that is stuck.
    desk.emulator.borrow_mut().obey("The process is ended.\n");
    desk.check(expect![[r#"
        |one
        |two, stopping
        |The process is ended.
        >
    "#]]);
}

#[test]
fn without_a_terminal_nothing_is_drawn() {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut console = Console::new(&mut out, &mut err, Terminal::plain());
    console.status(|| unreachable!("nobody would see it"));
    console.tell("told");
    console.finish(ExitStatus::NothingFound);
    assert_eq!(err, b"told\n");
}
