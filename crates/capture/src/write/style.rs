//! A plan as the lines of a pytest or unittest test.

use super::code::{Code, WIDTH};
use super::literal;
use super::paths::FOLDER;
use super::plan::{Actual, Check, Exercise, How, Logged, Plan, Setup, StepCheck};
use super::scope::Scope;

/// How tests are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// For pytest: bare assertions and fixtures.
    Pytest,
    /// For unittest, which comes with Python.
    Unittest,
}

impl Style {
    /// What a class of tests inherits from.
    #[must_use]
    pub fn base(self) -> Option<&'static str> {
        match self {
            Style::Pytest => None,
            Style::Unittest => Some("unittest.TestCase"),
        }
    }
}

/// A test is inside of a class, so its lines have this much less room.
const CLASS: usize = 4;

/// Values that a test is run with, one row after the other.
pub(super) struct Table {
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<Code>,
}

/// The lines of a test.
pub(super) fn lines(style: Style, name: &str, plan: &Plan, scope: &mut Scope) -> Vec<String> {
    let (fixtures, body) = body(style, plan, scope);
    headed(name, fixtures, &body)
}

/// The lines of a test that is run for each row of a table.
pub(super) fn table_lines(
    style: Style,
    name: &str,
    plan: &Plan,
    table: &Table,
    scope: &mut Scope,
) -> Vec<String> {
    let (fixtures, body) = body(style, plan, scope);
    let rows = Code::list(table.rows.clone());
    let names = table.names.join(", ");
    let broken = |code: &Code, before: &str, indent: usize| -> Vec<String> {
        let lines = code.lines(before, "", indent);
        let dedented = lines
            .iter()
            .map(|line| line.get(indent..).unwrap_or_default());
        dedented.map(str::to_owned).collect()
    };
    match style {
        Style::Pytest => {
            let pytest = scope.module("pytest").flat();
            let items = vec![Code::Text(literal::quoted(&names)), rows];
            let decorator = Code::call(&format!("@{pytest}.mark.parametrize"), items);
            let mut lines = broken(&decorator, "", CLASS);
            let parameters = table.names.iter().map(String::as_str).chain(fixtures);
            lines.extend(headed(name, parameters.collect(), &body));
            lines
        }
        Style::Unittest => {
            // Not in a `subTest`: who runs such tests with pytest may never hear of what fails in one.
            let mut inner = broken(&rows, "cases = ", CLASS + 4);
            inner.push(format!("for {names} in cases:"));
            inner.extend(body.iter().map(|line| indented(line)));
            headed(name, fixtures, &inner)
        }
    }
}

fn headed(name: &str, parameters: Vec<&str>, body: &[String]) -> Vec<String> {
    let parameters: Vec<&str> = std::iter::once("self").chain(parameters).collect();
    let mut lines = vec![format!("def {name}({}):", parameters.join(", "))];
    lines.extend(body.iter().map(|line| indented(line)));
    lines
}

/// The fixtures that a test needs, and the lines of its body.
fn body(style: Style, plan: &Plan, scope: &mut Scope) -> (Vec<&'static str>, Vec<String>) {
    let mut page = Page {
        style,
        scope,
        lines: Vec::new(),
        fixtures: Vec::new(),
    };
    page.setup(plan);
    let is_apart = page.lines.last().is_none_or(String::is_empty);
    if !is_apart {
        page.lines.push(String::new());
    }
    page.exercise_and_verify(plan);
    let Page {
        fixtures,
        lines: body,
        scope,
        ..
    } = page;
    if style == Style::Unittest {
        scope.module("unittest");
    }
    (fixtures, body)
}

/// What makes a test be skipped, and says why.
pub(super) fn skip(style: Style, reason: &str, scope: &mut Scope) -> Vec<String> {
    let (decorator, keyword) = match style {
        Style::Pytest => (
            format!("{}.mark.skip", scope.module("pytest").flat()),
            "reason=",
        ),
        Style::Unittest => (format!("{}.skip", scope.module("unittest").flat()), ""),
    };
    let reason = literal::text(&format!("TODO: {reason}"));
    if reason.fits(CLASS + decorator.len() + keyword.len() + 3) {
        return vec![format!("@{decorator}({keyword}{})", reason.flat())];
    }
    let mut lines = vec![format!("@{decorator}(")];
    match &reason {
        Code::Pieces(pieces) => {
            for (index, piece) in pieces.iter().enumerate() {
                let keyword = if index == 0 { keyword } else { "" };
                lines.push(format!("    {keyword}{piece}"));
            }
        }
        _ => lines.push(format!("    {keyword}{}", reason.flat())),
    }
    lines.push(")".to_owned());
    lines
}

fn indented(line: &str) -> String {
    if line.is_empty() {
        String::new()
    } else {
        format!("    {line}")
    }
}

struct Page<'s> {
    style: Style,
    scope: &'s mut Scope,
    /// Not indented.
    lines: Vec<String>,
    fixtures: Vec<&'static str>,
}

impl Page<'_> {
    fn fixture(&mut self, name: &'static str) {
        if !self.fixtures.contains(&name) {
            self.fixtures.push(name);
        }
    }

    /// Adds an expression between two texts, broken where it does not fit into a method's body.
    fn push(&mut self, before: &str, code: &Code, behind: &str) {
        let lines = code.lines(before, behind, CLASS + 4);
        let dedented = lines
            .iter()
            .map(|line| line.get(CLASS + 4..).unwrap_or_default().to_owned());
        self.lines.extend(dedented);
    }

    fn push_text(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    fn setup(&mut self, plan: &Plan) {
        if uses_folder(plan) {
            match self.style {
                Style::Pytest => self.fixture(FOLDER),
                Style::Unittest => {
                    self.scope.module("pathlib");
                    self.scope.module("tempfile");
                    self.push_text("folder = tempfile.TemporaryDirectory()");
                    self.push_text("self.addCleanup(folder.cleanup)");
                    self.push_text(format!("{FOLDER} = pathlib.Path(folder.name)"));
                }
            }
        }
        for step in &plan.setup {
            self.step(step);
        }
        // What is less than a warning is kept only if that is asked for.
        let least = plan.logged.iter().map(|one| one.level).min();
        if let (Some(least), Style::Pytest) = (least.filter(|least| *least < 30), self.style) {
            self.fixture("caplog");
            let level = level_name(least, self.scope);
            self.push_text(format!("caplog.set_level({level})"));
        }
    }

    fn step(&mut self, step: &Setup) {
        match step {
            Setup::Assign { target, code } => self.push(&format!("{target} = "), code, ""),
            Setup::Definition(lines) => {
                if self.lines.last().is_some_and(|line| !line.is_empty()) {
                    self.push_text("");
                }
                self.lines.extend(lines.iter().cloned());
                self.push_text("");
            }
            Setup::Do(code) => self.push("", code, ""),
            Setup::Pin {
                owner,
                name,
                value,
                is_made_later,
            } => self.pin(owner, name, value, *is_made_later),
            Setup::PinAbsent { owner, name } => {
                // Setting it first is what makes it be put back to being absent.
                let owner = owner.flat();
                match self.style {
                    Style::Pytest => {
                        self.fixture("monkeypatch");
                        self.push_text(format!(
                            "monkeypatch.setattr({owner}, \"{name}\", None, raising=False)"
                        ));
                        self.push_text(format!("monkeypatch.delattr({owner}, \"{name}\")"));
                    }
                    Style::Unittest => {
                        let patch =
                            format!("mock.patch.object({owner}, \"{name}\", None, create=True)");
                        self.patcher(&Code::Text(patch));
                        self.push_text(format!("del {owner}.{name}"));
                    }
                }
            }
            Setup::Environment {
                name,
                value,
                is_set_later,
            } => {
                if *is_set_later && self.style == Style::Pytest {
                    // pytest puts back only what it has changed itself, so there must be something to delete.
                    self.environment(name, Some(&Code::text("\"\"")));
                    let name = literal::quoted(name);
                    self.push_text(format!("monkeypatch.delenv({name})"));
                } else {
                    self.environment(name, value.as_ref());
                }
            }
            Setup::EnterFolder => match self.style {
                Style::Pytest => {
                    self.fixture("monkeypatch");
                    self.push_text(format!("monkeypatch.chdir({FOLDER})"));
                }
                Style::Unittest => {
                    self.scope.module("os");
                    self.push_text("self.addCleanup(os.chdir, os.getcwd())");
                    self.push_text(format!("os.chdir({FOLDER})"));
                }
            },
        }
    }

    fn pin(&mut self, owner: &Code, name: &str, value: &Code, is_made_later: bool) {
        let mut arguments = vec![
            owner.clone(),
            Code::Text(format!("\"{name}\"")),
            value.clone(),
        ];
        if is_made_later {
            arguments.push(match self.style {
                Style::Pytest => Code::keyword("raising", Code::text("False")),
                Style::Unittest => Code::keyword("create", Code::text("True")),
            });
        }
        match self.style {
            Style::Pytest => {
                self.fixture("monkeypatch");
                self.push("", &Code::call("monkeypatch.setattr", arguments), "");
            }
            Style::Unittest => self.patcher(&Code::call("mock.patch.object", arguments)),
        }
    }

    fn patcher(&mut self, patch: &Code) {
        self.scope.from("unittest", "mock");
        self.push("patcher = ", patch, "");
        self.push_text("patcher.start()");
        self.push_text("self.addCleanup(patcher.stop)");
    }

    fn environment(&mut self, name: &str, value: Option<&Code>) {
        let name = literal::quoted(name);
        match (self.style, value) {
            (Style::Pytest, Some(value)) => {
                self.fixture("monkeypatch");
                let arguments = vec![Code::Text(name), value.clone()];
                self.push("", &Code::call("monkeypatch.setenv", arguments), "");
            }
            (Style::Pytest, None) => {
                self.fixture("monkeypatch");
                self.push_text(format!("monkeypatch.delenv({name}, raising=False)"));
            }
            (Style::Unittest, Some(value)) => {
                self.scope.module("os");
                let entry = Code::pair(Code::Text(name), ": ", value.clone());
                let entries = Code::group("{", vec![entry], "}");
                let arguments = vec![Code::text("os.environ"), entries];
                self.patcher(&Code::call("mock.patch.dict", arguments));
            }
            (Style::Unittest, None) => {
                self.scope.module("os");
                self.patcher(&Code::text("mock.patch.dict(os.environ)"));
                self.push_text(format!("os.environ.pop({name}, None)"));
            }
        }
    }

    fn exercise_and_verify(&mut self, plan: &Plan) {
        match &plan.exercise {
            Exercise::Value(call) => self.value(call, plan),
            Exercise::Statement(code) => {
                self.around_output(plan, |page| page.push("", code, ""));
                self.apart(plan);
                self.verify(plan, &plan.checks);
            }
            Exercise::Raises { call, class } => self.raises(call, class, plan),
            Exercise::Steps(call, steps) => {
                self.push("generator = ", call, "");
                self.push_text("");
                self.around_output(plan, |page| {
                    for step in steps {
                        page.generator_step(step);
                    }
                });
                self.verify(plan, &plan.checks);
            }
            Exercise::Collected(call, expected) => {
                self.push_text("async def collected():");
                self.push_text(format!(
                    "    return [item async for item in {}]",
                    call.flat()
                ));
                self.push_text("");
                let actual = Code::text("asyncio.run(collected())");
                self.compare(&actual, How::Equal, expected);
                self.verify(plan, &plan.checks);
            }
        }
    }

    /// In one line if the value is looked at once and all fits, else with a name for it.
    fn value(&mut self, call: &Code, plan: &Plan) {
        let about_result: Vec<&Check> = plan
            .checks
            .iter()
            .filter(|check| matches!(check.actual, Actual::Result | Actual::OfResult(..)))
            .collect();
        if about_result.is_empty() {
            self.around_output(plan, |page| page.push("", call, ""));
            self.apart(plan);
            self.verify(plan, &plan.checks);
            return;
        }
        let splits_output =
            self.style == Style::Unittest && (plan.output.is_some() || !plan.logged.is_empty());
        if let ([only], Some(first)) = (about_result.as_slice(), plan.checks.first())
            && *only == first
            && !splits_output
        {
            let actual = match &only.actual {
                Actual::OfResult(before, behind) => {
                    Code::Text(format!("{before}{}{behind}", call.flat()))
                }
                _ => call.clone(),
            };
            if self.fits(&actual, only.how, &only.expected) {
                self.compare(&actual, only.how, &only.expected);
                self.verify(plan, plan.checks.get(1..).unwrap_or_default());
                return;
            }
        }
        self.around_output(plan, |page| page.push("result = ", call, ""));
        self.push_text("");
        self.verify(plan, &plan.checks);
    }

    /// A blank line before what is checked, if anything is.
    fn apart(&mut self, plan: &Plan) {
        if !plan.checks.is_empty() || plan.output.is_some() || !plan.logged.is_empty() {
            self.push_text("");
        }
    }

    fn raises(&mut self, call: &Code, class: &Code, plan: &Plan) {
        let needs_caught = !plan.checks.is_empty();
        let caught = if needs_caught { " as caught" } else { "" };
        let raises = match self.style {
            Style::Pytest => format!("{}.raises", self.scope.module("pytest").flat()),
            Style::Unittest => "self.assertRaises".to_owned(),
        };
        let class = class.flat();
        self.around_output(plan, |page| {
            page.push_text(format!("with {raises}({class}){caught}:"));
            let lines = call.lines("", "", CLASS + 8);
            let dedented = lines
                .iter()
                .map(|line| line.get(CLASS + 4..).unwrap_or_default().to_owned());
            page.lines.extend(dedented);
        });
        if needs_caught {
            self.push_text("");
        }
        self.verify(plan, &plan.checks);
    }

    fn generator_step(&mut self, step: &StepCheck) {
        let caught_value = match self.style {
            Style::Pytest => "caught.value.value",
            Style::Unittest => "caught.exception.value",
        };
        let raises = match self.style {
            Style::Pytest => "pytest.raises",
            Style::Unittest => "self.assertRaises",
        };
        match step {
            StepCheck::Gives(resumed, how, expected) => self.compare(resumed, *how, expected),
            StepCheck::Ends(resumed, value) => {
                self.needs_pytest();
                let caught = if value.is_some() { " as caught" } else { "" };
                self.push_text(format!("with {raises}(StopIteration){caught}:"));
                self.push_text(format!("    {}", resumed.flat()));
                if let Some(value) = value {
                    self.compare(&Code::text(caught_value), How::Equal, value);
                }
            }
            StepCheck::Raises(resumed, class) => {
                self.needs_pytest();
                self.push_text(format!("with {raises}({}):", class.flat()));
                self.push_text(format!("    {}", resumed.flat()));
            }
            StepCheck::Runs(code) => self.push("", code, ""),
        }
    }

    fn needs_pytest(&mut self) {
        if self.style == Style::Pytest {
            self.scope.module("pytest");
        }
    }

    /// unittest catches what is printed only if it is told to, around the call.
    fn around_output(&mut self, plan: &Plan, write: impl FnOnce(&mut Self)) {
        let mut managers = Vec::new();
        let redirected = |name: &str, target: &str| {
            format!("contextlib.redirect_{name}(io.StringIO()) as {target}")
        };
        if let (Some((out, err)), Style::Unittest) = (&plan.output, self.style) {
            self.scope.module("contextlib");
            self.scope.module("io");
            if !out.is_empty() {
                managers.push(redirected("stdout", "out"));
            }
            if !err.is_empty() {
                managers.push(redirected("stderr", "err"));
            }
        }
        let least = plan.logged.iter().map(|one| one.level).min();
        if let (Some(least), Style::Unittest) = (least, self.style) {
            let level = level_name(least, self.scope);
            managers.push(format!("self.assertLogs(level={level}) as logged"));
        }
        for (depth, manager) in managers.iter().enumerate() {
            self.push_text(format!("{}with {manager}:", "    ".repeat(depth)));
        }
        let start = self.lines.len();
        write(self);
        let indent = "    ".repeat(managers.len());
        for line in self.lines.iter_mut().skip(start) {
            if !line.is_empty() {
                *line = format!("{indent}{line}");
            }
        }
    }

    fn verify(&mut self, plan: &Plan, checks: &[Check]) {
        let caught = match self.style {
            Style::Pytest => "caught.value",
            Style::Unittest => "caught.exception",
        };
        for check in checks {
            let actual = match &check.actual {
                Actual::Result => Code::text("result"),
                Actual::OfResult(before, behind) => Code::Text(format!("{before}result{behind}")),
                Actual::Caught(name) => Code::Text(format!("{caught}.{name}")),
                Actual::Code(code) => code.clone(),
            };
            self.compare(&actual, check.how, &check.expected);
        }
        if let Some((out, err)) = &plan.output {
            self.output(out, err);
        }
        self.logged(&plan.logged);
    }

    /// What was logged, as pytest and unittest tell it.
    fn logged(&mut self, logged: &[Logged]) {
        if logged.is_empty() {
            return;
        }
        let entry = |one: &Logged, level: String| {
            Code::tuple(vec![
                literal::text(&one.logger),
                Code::Text(level),
                literal::text(&one.message),
            ])
        };
        let entries: Vec<Code> = logged
            .iter()
            .map(|one| entry(one, level_name(one.level, self.scope)))
            .collect();
        let actual = match self.style {
            Style::Pytest => {
                self.fixture("caplog");
                Code::text("caplog.record_tuples")
            }
            Style::Unittest => {
                Code::text("[(one.name, one.levelno, one.getMessage()) for one in logged.records]")
            }
        };
        self.compare(&actual, How::Equal, &Code::list(entries));
    }

    fn output(&mut self, out: &str, err: &str) {
        match self.style {
            Style::Pytest => {
                self.fixture("capsys");
                let names = match (out.is_empty(), err.is_empty()) {
                    (false, false) => "out, err = capsys.readouterr()",
                    (false, true) => "out = capsys.readouterr().out",
                    _ => "err = capsys.readouterr().err",
                };
                self.push_text(names);
            }
            Style::Unittest => {}
        }
        let actual = |name: &str| match self.style {
            Style::Pytest => Code::text(name),
            Style::Unittest => Code::Text(format!("{name}.getvalue()")),
        };
        let (out_code, err_code) = (actual("out"), actual("err"));
        if !out.is_empty() {
            self.compare(&out_code, How::Equal, &literal::text(out));
        }
        if !err.is_empty() {
            self.compare(&err_code, How::Equal, &literal::text(err));
        }
    }

    /// The comparison as the code around the two sides: before, between and behind.
    fn sides(&self, how: How) -> (&'static str, &'static str, &'static str) {
        match (self.style, how) {
            (_, How::Same) => ("assert_same(", ", ", ")"),
            (_, How::Holds) => ("", "", ""),
            (Style::Pytest, How::Equal) => ("assert ", " == ", ""),
            (Style::Pytest, How::Is) => ("assert ", " is ", ""),
            (Style::Pytest, How::Instance) => ("assert isinstance(", ", ", ")"),
            (Style::Pytest, How::True) => ("assert ", "", ""),
            (Style::Pytest, How::False) => ("assert not ", "", ""),
            (Style::Pytest, How::NotIn) => ("assert ", " not in ", ""),
            (Style::Unittest, How::Equal) => ("self.assertEqual(", ", ", ")"),
            (Style::Unittest, How::Is) => ("self.assertIs(", ", ", ")"),
            (Style::Unittest, How::Instance) => ("self.assertIsInstance(", ", ", ")"),
            (Style::Unittest, How::True) => ("self.assertTrue(", "", ")"),
            (Style::Unittest, How::False) => ("self.assertFalse(", "", ")"),
            (Style::Unittest, How::NotIn) => ("self.assertNotIn(", ", ", ")"),
        }
    }

    fn fits(&self, actual: &Code, how: How, expected: &Code) -> bool {
        let (before, between, behind) = self.sides(how);
        let around = CLASS + 4 + before.len() + between.len() + behind.len();
        let is_broken = matches!(expected, Code::Pieces(pieces) if pieces.len() > 1);
        let width = actual.flat().chars().count() + expected.flat().chars().count();
        !is_broken && around + width <= WIDTH
    }

    fn compare(&mut self, actual: &Code, how: How, expected: &Code) {
        let (before, between, behind) = self.sides(how);
        let (first, second) = match how {
            How::NotIn => (expected, actual),
            _ => (actual, expected),
        };
        if self.fits(actual, how, expected) || matches!(how, How::True | How::False | How::Holds) {
            let line = format!("{before}{}{between}{}{behind}", first.flat(), second.flat());
            self.push_text(line);
        } else if let Some(call) = before.strip_suffix('(') {
            self.push(
                "",
                &Code::call(call, vec![first.clone(), second.clone()]),
                "",
            );
        } else {
            let before = format!("{before}{}{between}", first.flat());
            self.push(&before, second, behind);
        }
    }
}

/// A level by its name, if it has one.
fn level_name(level: i64, scope: &mut Scope) -> String {
    let name = match level {
        10 => "DEBUG",
        20 => "INFO",
        30 => "WARNING",
        40 => "ERROR",
        50 => "CRITICAL",
        _ => return level.to_string(),
    };
    format!("{}.{name}", scope.module("logging").flat())
}

/// Whether a plan needs a folder of its own.
fn uses_folder(plan: &Plan) -> bool {
    let mentions = |code: &Code| code.flat().contains(FOLDER);
    let in_setup = plan.setup.iter().any(|step| match step {
        Setup::Assign { code, .. } | Setup::Do(code) => mentions(code),
        Setup::Pin { value, .. } => mentions(value),
        Setup::Environment { value, .. } => value.as_ref().is_some_and(mentions),
        Setup::PinAbsent { .. } | Setup::Definition(_) => false,
        Setup::EnterFolder => true,
    });
    let in_exercise = match &plan.exercise {
        Exercise::Value(code)
        | Exercise::Statement(code)
        | Exercise::Raises { call: code, .. }
        | Exercise::Steps(code, _)
        | Exercise::Collected(code, _) => mentions(code),
    };
    let in_checks = plan.checks.iter().any(|check| {
        let actual = match &check.actual {
            Actual::Code(code) => mentions(code),
            _ => false,
        };
        actual || mentions(&check.expected)
    });
    in_setup || in_exercise || in_checks
}
