//! Tests of the drawing codes: a small terminal emulator interprets them.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::rc::Rc;

use expect_test::{Expect, expect};

use super::*;

/// A terminal emulator for the codes that are used here. It panics at any other code.
struct Emulator {
    size: Size,
    /// The lines that have scrolled off the top, and then those on the screen.
    lines: Vec<Vec<char>>,
    /// The index of the first line on the screen.
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

    fn interpret(&mut self, text: &str) {
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
                    self.apply_code(code, &number);
                }
                '\r' => self.column = 0,
                // The terminal's driver returns to the first column, too.
                '\n' => self.next_line(),
                letter => self.put_character(letter),
            }
        }
    }

    fn apply_code(&mut self, code: char, number: &str) {
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

    fn put_character(&mut self, letter: char) {
        if self.column == self.size.columns {
            self.next_line();
        }
        let line = &mut self.lines[self.row];
        let width = line.len().max(self.column + 1);
        line.resize(width, ' ');
        line[self.column] = letter;
        self.column += 1;
    }

    /// Resizes the window, as a user does. Lines that do not fit any more are broken.
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

    /// Returns all lines, including those that have scrolled off, and marks the cursor's line.
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

/// A shared emulator: both streams write to it, and a test can resize it meanwhile.
#[derive(Clone)]
struct SharedTerminal {
    emulator: Rc<RefCell<Emulator>>,
    /// The number of writes.
    write_count: Rc<Cell<usize>>,
}

impl SharedTerminal {
    fn new(columns: usize, rows: usize) -> SharedTerminal {
        SharedTerminal {
            emulator: Rc::new(RefCell::new(Emulator::new(columns, rows))),
            write_count: Rc::default(),
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

impl Screen for SharedTerminal {
    fn size(&self) -> Option<Size> {
        Some(self.emulator.borrow().size)
    }
}

impl Write for SharedTerminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(bytes).expect("no character is cut in two");
        self.emulator.borrow_mut().interpret(text);
        self.write_count.set(self.write_count.get() + 1);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Draws lines without waiting for the next time that a drawing is due.
fn draw(console: &mut Console<'_>, lines: &[&str]) {
    console.drawn = None;
    console.panel(|_| lines.iter().map(|&line| line.to_owned()).collect());
}

#[test]
fn lines_are_redrawn_in_place_and_go_away() {
    let shared = SharedTerminal::new(20, 6);
    let (mut out, mut err) = (shared.clone(), shared.clone());
    let mut console = Console::new(&mut out, &mut err, shared.terminal());
    console.err("before");
    draw(&mut console, &["first of two", "second"]);
    shared.check(expect![[r#"
        |before
        |first of two
        |second
        >
    "#]]);
    draw(&mut console, &["\x1b[1mnext\x1b[0m", "of two"]);
    shared.check(expect![[r#"
        |before
        |next
        |of two
        >
    "#]]);
    console.finish(ExitStatus::NothingFound);
    shared.check(expect![[r#"
        |before
        >
    "#]]);
}

#[test]
fn the_panel_may_grow_and_shrink() {
    let shared = SharedTerminal::new(20, 6);
    let (mut out, mut err) = (shared.clone(), shared.clone());
    let mut console = Console::new(&mut out, &mut err, shared.terminal());
    console.err("before");
    draw(&mut console, &["one"]);
    draw(&mut console, &["one", "two", "three"]);
    shared.check(expect![[r#"
        |before
        |one
        |two
        |three
        >
    "#]]);
    draw(&mut console, &["one", "two"]);
    shared.check(expect![[r#"
        |before
        |one
        |two
        >
    "#]]);
    draw(&mut console, &[]);
    shared.check(expect![[r#"
        |before
        >
    "#]]);
    draw(&mut console, &["one again"]);
    console.clear_status();
    console.clear_status();
    shared.check(expect![[r#"
        |before
        >
    "#]]);
}

#[test]
fn output_appears_above_the_panel() {
    let shared = SharedTerminal::new(20, 5);
    let (mut out, mut err) = (shared.clone(), shared.clone());
    let mut console = Console::new(&mut out, &mut err, shared.terminal());
    draw(&mut console, &["panel", "panel"]);
    console.out("a result");
    draw(&mut console, &["panel", "panel"]);
    console.err("a word");
    console.out("another result");
    draw(&mut console, &["panel", "panel"]);
    // It does not fit on the screen any more, but no line is lost.
    console.out("the last result");
    draw(&mut console, &["panel", "panel"]);
    shared.check(expect![[r#"
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
    let shared = SharedTerminal::new(40, 9);
    let (mut out, mut err) = (shared.clone(), shared.clone());
    let mut console = Console::new(&mut out, &mut err, shared.terminal());
    console.err("before");
    draw(
        &mut console,
        &["a line of thirty-one characters", "", "short"],
    );
    shared.emulator.borrow_mut().resize(12, 9);
    shared.check(expect![[r#"
        |before
        |a line of th
        |irty-one cha
        |racters
        |
        |short
        >
    "#]]);
    draw(&mut console, &["narrow", "", "lines"]);
    shared.check(expect![[r#"
        |before
        |narrow
        |
        |lines
        >
    "#]]);
    shared.emulator.borrow_mut().resize(60, 9);
    draw(&mut console, &["a line that is wider than before"]);
    shared.check(expect![[r#"
        |before
        |a line that is wider than before
        >
    "#]]);
    shared.emulator.borrow_mut().resize(10, 9);
    console.err("after");
    shared.check(expect![[r#"
        |before
        |after
        >
    "#]]);
}

#[test]
fn a_window_may_become_lower_than_what_is_drawn() {
    let shared = SharedTerminal::new(20, 8);
    let (mut out, mut err) = (shared.clone(), shared.clone());
    let mut console = Console::new(&mut out, &mut err, shared.terminal());
    draw(&mut console, &["1", "2", "3", "4", "5"]);
    shared.emulator.borrow_mut().resize(20, 3);
    draw(&mut console, &["one", "two"]);
    // Lines that have scrolled off cannot be removed.
    shared.check(expect![[r#"
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
    let shared = SharedTerminal::new(20, 8);
    let (mut out, mut err) = (shared.clone(), shared.clone());
    let mut console = Console::new(&mut out, &mut err, shared.terminal());
    let mut rooms = Vec::new();
    for (columns, rows) in [(20, 8), (200, 50), (1, 1)] {
        shared.emulator.borrow_mut().resize(columns, rows);
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
    let shared = SharedTerminal::new(20, 8);
    let (mut out, mut err) = (shared.clone(), shared.clone());
    let mut console = Console::new(&mut out, &mut err, shared.terminal());
    console.status(|| "a status of far too many words\nin two lines".to_owned());
    shared.check(expect![[r#"
        |a status of far to…
        >
    "#]]);
    console.drawn = None;
    console.status(|| "12 of 30\x1b[2J".to_owned());
    shared.check(expect![[r#"
        |12 of 30\u{1b}[2J
        >
    "#]]);
    console.out("the result");
    console.finish(ExitStatus::NothingFound);
    shared.check(expect![[r#"
        |the result
        >
    "#]]);
}

#[test]
fn a_drawing_arrives_in_one_piece_and_not_too_often() {
    let shared = SharedTerminal::new(20, 8);
    let (mut out, mut err) = (shared.clone(), shared.clone());
    let mut console = Console::new(&mut out, &mut err, shared.terminal());
    draw(&mut console, &["one", "two", "three"]);
    assert_eq!(shared.write_count.get(), 1);
    // As if it had just been drawn, however slow the machine is.
    console.drawn = Some(Instant::now() + Duration::from_secs(60));
    console.panel(|_| unreachable!("it is too early for another one"));
    assert_eq!(shared.write_count.get(), 1);
}

#[test]
fn foreign_output_keeps_its_own_line() {
    let shared = SharedTerminal::new(30, 8);
    let (mut out, mut err) = (shared.clone(), shared.clone());
    let mut console = Console::new(&mut out, &mut err, shared.terminal());
    draw(&mut console, &["one", "two"]);
    // Ctrl-C, as the terminal shows it.
    shared.emulator.borrow_mut().interpret("^C");
    draw(&mut console, &["one", "two, stopping"]);
    shared.check(expect![[r#"
        |one
        |two, stopping
        >
    "#]]);
    // The last words of a process that is stuck.
    shared
        .emulator
        .borrow_mut()
        .interpret("The process is ended.\n");
    shared.check(expect![[r#"
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
    console.status(|| unreachable!("there is no terminal"));
    console.err("told");
    console.finish(ExitStatus::NothingFound);
    assert_eq!(err, b"told\n");
}
