//! Renders plans as the lines of pytest or unittest tests.

use super::code::{PythonCode, WIDTH};
use super::literal;
use super::paths::FOLDER;
use super::plan::{
    ActualValue, Assertion, ComparisonKind, Exercise, LogMessage, SetupStep, StepCheck, TestPlan,
};
use super::scope::ImportScope;

/// The test framework that tests are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestFramework {
    /// For pytest: bare assertions and fixtures.
    Pytest,
    /// For unittest, which comes with Python.
    Unittest,
}

impl TestFramework {
    /// Returns the base class of test classes.
    #[must_use]
    pub fn base_class(self) -> Option<&'static str> {
        match self {
            TestFramework::Pytest => None,
            TestFramework::Unittest => Some("unittest.TestCase"),
        }
    }
}

/// The indentation of a test inside of its class, which reduces the room for its lines.
const CLASS: usize = 4;

/// The values of a test that runs once for each row.
pub(super) struct ValueTable {
    /// The names of the columns.
    pub(super) names: Vec<String>,
    /// The rows: a tuple each, or a single value.
    pub(super) rows: Vec<PythonCode>,
}

/// Renders a test.
pub(super) fn render_test(
    style: TestFramework,
    name: &str,
    plan: &TestPlan,
    scope: &mut ImportScope,
) -> Vec<String> {
    let (fixtures, body) = render_body(style, plan, scope);
    with_header(name, fixtures, &body)
}

/// Renders a test that runs for each row of a table.
pub(super) fn render_table_test(
    style: TestFramework,
    name: &str,
    plan: &TestPlan,
    table: &ValueTable,
    scope: &mut ImportScope,
) -> Vec<String> {
    let (fixtures, body) = render_body(style, plan, scope);
    let rows = PythonCode::list(table.rows.clone());
    let names = table.names.join(", ");
    let break_lines = |code: &PythonCode, before: &str, indent: usize| -> Vec<String> {
        let lines = code.lines(before, "", indent);
        let dedented = lines
            .iter()
            .map(|line| line.get(indent..).unwrap_or_default());
        dedented.map(str::to_owned).collect()
    };
    match style {
        TestFramework::Pytest => {
            let pytest = scope.module("pytest").one_line();
            let items = vec![PythonCode::Text(literal::quoted(&names)), rows];
            let decorator = PythonCode::call(&format!("@{pytest}.mark.parametrize"), items);
            let mut lines = break_lines(&decorator, "", CLASS);
            let parameters = table.names.iter().map(String::as_str).chain(fixtures);
            lines.extend(with_header(name, parameters.collect(), &body));
            lines
        }
        TestFramework::Unittest => {
            // Not as a `subTest`: pytest may not report failures in one.
            let mut inner = break_lines(&rows, "cases = ", CLASS + 4);
            inner.push(format!("for {names} in cases:"));
            inner.extend(body.iter().map(|line| indent(line)));
            with_header(name, fixtures, &inner)
        }
    }
}

/// Puts the `def` line of a test above its body.
fn with_header(name: &str, parameters: Vec<&str>, body: &[String]) -> Vec<String> {
    let parameters: Vec<&str> = std::iter::once("self").chain(parameters).collect();
    let mut lines = vec![format!("def {name}({}):", parameters.join(", "))];
    lines.extend(body.iter().map(|line| indent(line)));
    lines
}

/// Renders the body of a test. Returns the fixtures that it needs, and its lines.
fn render_body(
    style: TestFramework,
    plan: &TestPlan,
    scope: &mut ImportScope,
) -> (Vec<&'static str>, Vec<String>) {
    let mut test = TestBody {
        style,
        scope,
        lines: Vec::new(),
        fixtures: Vec::new(),
    };
    test.render_setup(plan);
    let is_apart = test.lines.last().is_none_or(String::is_empty);
    if !is_apart {
        test.lines.push(String::new());
    }
    test.exercise_and_verify(plan);
    let TestBody {
        fixtures,
        lines: body,
        scope,
        ..
    } = test;
    if style == TestFramework::Unittest {
        scope.module("unittest");
    }
    (fixtures, body)
}

/// Renders the decorator that skips a test, with the reason.
pub(super) fn skip_decorator(
    style: TestFramework,
    reason: &str,
    scope: &mut ImportScope,
) -> Vec<String> {
    let (decorator, keyword) = match style {
        TestFramework::Pytest => (
            format!("{}.mark.skip", scope.module("pytest").one_line()),
            "reason=",
        ),
        TestFramework::Unittest => (format!("{}.skip", scope.module("unittest").one_line()), ""),
    };
    let reason = literal::text_literal(&format!("TODO: {reason}"));
    if reason.fits(CLASS + decorator.len() + keyword.len() + 3) {
        return vec![format!("@{decorator}({keyword}{})", reason.one_line())];
    }
    let mut lines = vec![format!("@{decorator}(")];
    match &reason {
        PythonCode::Pieces(pieces) => {
            for (index, piece) in pieces.iter().enumerate() {
                let keyword = if index == 0 { keyword } else { "" };
                lines.push(format!("    {keyword}{piece}"));
            }
        }
        _ => lines.push(format!("    {keyword}{}", reason.one_line())),
    }
    lines.push(")".to_owned());
    lines
}

/// Indents a line by one level.
fn indent(line: &str) -> String {
    if line.is_empty() {
        String::new()
    } else {
        format!("    {line}")
    }
}

/// The body of a test while it is rendered.
struct TestBody<'s> {
    /// The test framework.
    style: TestFramework,
    /// The names of the test.
    scope: &'s mut ImportScope,
    /// The lines, not indented.
    lines: Vec<String>,
    /// The fixtures of pytest that it needs.
    fixtures: Vec<&'static str>,
}

impl TestBody<'_> {
    /// Adds a fixture.
    fn use_fixture(&mut self, name: &'static str) {
        if !self.fixtures.contains(&name) {
            self.fixtures.push(name);
        }
    }

    /// Adds an expression between two texts, broken into lines where it does not fit into a
    /// method's body.
    fn push(&mut self, before: &str, code: &PythonCode, behind: &str) {
        let lines = code.lines(before, behind, CLASS + 4);
        let dedented = lines
            .iter()
            .map(|line| line.get(CLASS + 4..).unwrap_or_default().to_owned());
        self.lines.extend(dedented);
    }

    /// Adds a line.
    fn push_text(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// Renders the setup phase.
    fn render_setup(&mut self, plan: &TestPlan) {
        if uses_folder(plan) {
            match self.style {
                TestFramework::Pytest => self.use_fixture(FOLDER),
                TestFramework::Unittest => {
                    self.scope.module("pathlib");
                    self.scope.module("tempfile");
                    self.push_text("folder = tempfile.TemporaryDirectory()");
                    self.push_text("self.addCleanup(folder.cleanup)");
                    self.push_text(format!("{FOLDER} = pathlib.Path(folder.name)"));
                }
            }
        }
        for step in &plan.setup {
            self.render_step(step);
        }
        // By default, pytest records only warnings and above.
        let lowest_level = plan.logged.iter().map(|one| one.level).min();
        if let (Some(lowest_level), TestFramework::Pytest) = (
            lowest_level.filter(|lowest_level| *lowest_level < 30),
            self.style,
        ) {
            self.use_fixture("caplog");
            let level = level_name(lowest_level, self.scope);
            self.push_text(format!("caplog.set_level({level})"));
        }
    }

    /// Renders a step of the setup phase.
    fn render_step(&mut self, step: &SetupStep) {
        match step {
            SetupStep::Assign { target, code } => self.push(&format!("{target} = "), code, ""),
            SetupStep::Definition(lines) => {
                if self.lines.last().is_some_and(|line| !line.is_empty()) {
                    self.push_text("");
                }
                self.lines.extend(lines.iter().cloned());
                self.push_text("");
            }
            SetupStep::Evaluate(code) => self.push("", code, ""),
            SetupStep::Pin {
                owner,
                name,
                value,
                is_created_later,
            } => self.render_pin(owner, name, value, *is_created_later),
            SetupStep::PinAbsent { owner, name } => {
                // Setting the attribute first makes pytest delete it again afterwards.
                let owner = owner.one_line();
                match self.style {
                    TestFramework::Pytest => {
                        self.use_fixture("monkeypatch");
                        self.push_text(format!(
                            "monkeypatch.setattr({owner}, \"{name}\", None, raising=False)"
                        ));
                        self.push_text(format!("monkeypatch.delattr({owner}, \"{name}\")"));
                    }
                    TestFramework::Unittest => {
                        let patch =
                            format!("mock.patch.object({owner}, \"{name}\", None, create=True)");
                        self.start_patch(&PythonCode::Text(patch));
                        self.push_text(format!("del {owner}.{name}"));
                    }
                }
            }
            SetupStep::Environment {
                name,
                value,
                is_set_later,
            } => {
                if *is_set_later && self.style == TestFramework::Pytest {
                    // pytest restores only what it has changed itself, so there must be something
                    // to delete.
                    self.render_environment(name, Some(&PythonCode::text("\"\"")));
                    let name = literal::quoted(name);
                    self.push_text(format!("monkeypatch.delenv({name})"));
                } else {
                    self.render_environment(name, value.as_ref());
                }
            }
            SetupStep::EnterFolder => match self.style {
                TestFramework::Pytest => {
                    self.use_fixture("monkeypatch");
                    self.push_text(format!("monkeypatch.chdir({FOLDER})"));
                }
                TestFramework::Unittest => {
                    self.scope.module("os");
                    self.push_text("self.addCleanup(os.chdir, os.getcwd())");
                    self.push_text(format!("os.chdir({FOLDER})"));
                }
            },
        }
    }

    /// Sets an attribute for the time of the test.
    fn render_pin(
        &mut self,
        owner: &PythonCode,
        name: &str,
        value: &PythonCode,
        is_created_later: bool,
    ) {
        let mut arguments = vec![
            owner.clone(),
            PythonCode::Text(format!("\"{name}\"")),
            value.clone(),
        ];
        if is_created_later {
            arguments.push(match self.style {
                TestFramework::Pytest => PythonCode::keyword("raising", PythonCode::text("False")),
                TestFramework::Unittest => PythonCode::keyword("create", PythonCode::text("True")),
            });
        }
        match self.style {
            TestFramework::Pytest => {
                self.use_fixture("monkeypatch");
                self.push("", &PythonCode::call("monkeypatch.setattr", arguments), "");
            }
            TestFramework::Unittest => {
                self.start_patch(&PythonCode::call("mock.patch.object", arguments))
            }
        }
    }

    /// Starts a patch of `unittest.mock`, and registers its end.
    fn start_patch(&mut self, patch: &PythonCode) {
        self.scope.import_name("unittest", "mock");
        self.push("patcher = ", patch, "");
        self.push_text("patcher.start()");
        self.push_text("self.addCleanup(patcher.stop)");
    }

    /// Sets or deletes an environment variable for the time of the test.
    fn render_environment(&mut self, name: &str, value: Option<&PythonCode>) {
        let name = literal::quoted(name);
        match (self.style, value) {
            (TestFramework::Pytest, Some(value)) => {
                self.use_fixture("monkeypatch");
                let arguments = vec![PythonCode::Text(name), value.clone()];
                self.push("", &PythonCode::call("monkeypatch.setenv", arguments), "");
            }
            (TestFramework::Pytest, None) => {
                self.use_fixture("monkeypatch");
                self.push_text(format!("monkeypatch.delenv({name}, raising=False)"));
            }
            (TestFramework::Unittest, Some(value)) => {
                self.scope.module("os");
                let entry = PythonCode::pair(PythonCode::Text(name), ": ", value.clone());
                let entries = PythonCode::group("{", vec![entry], "}");
                let arguments = vec![PythonCode::text("os.environ"), entries];
                self.start_patch(&PythonCode::call("mock.patch.dict", arguments));
            }
            (TestFramework::Unittest, None) => {
                self.scope.module("os");
                self.start_patch(&PythonCode::text("mock.patch.dict(os.environ)"));
                self.push_text(format!("os.environ.pop({name}, None)"));
            }
        }
    }

    /// Renders the exercise and verify phases.
    fn exercise_and_verify(&mut self, plan: &TestPlan) {
        match &plan.exercise {
            Exercise::Value(call) => self.render_call(call, plan),
            Exercise::Statement(code) => {
                self.capture_output(plan, |test| test.push("", code, ""));
                self.separate_checks(plan);
                self.verify(plan, &plan.checks);
            }
            Exercise::Raises { call, class } => self.render_raises(call, class, plan),
            Exercise::Steps(call, steps) => {
                self.push("generator = ", call, "");
                self.push_text("");
                self.capture_output(plan, |test| {
                    for step in steps {
                        test.generator_step(step);
                    }
                });
                self.verify(plan, &plan.checks);
            }
            Exercise::AsyncItems(call, expected) => {
                self.push_text("async def collected():");
                self.push_text(format!(
                    "    return [item async for item in {}]",
                    call.one_line()
                ));
                self.push_text("");
                let actual = PythonCode::text("asyncio.run(collected())");
                self.compare(&actual, ComparisonKind::Equal, expected);
                self.verify(plan, &plan.checks);
            }
        }
    }

    /// Renders a call and its assertions: on one line if the result is used once and everything
    /// fits, otherwise with a variable.
    fn render_call(&mut self, call: &PythonCode, plan: &TestPlan) {
        let about_result: Vec<&Assertion> = plan
            .checks
            .iter()
            .filter(|check| {
                matches!(
                    check.actual,
                    ActualValue::Result | ActualValue::AroundResult(..)
                )
            })
            .collect();
        if about_result.is_empty() {
            self.capture_output(plan, |test| test.push("", call, ""));
            self.separate_checks(plan);
            self.verify(plan, &plan.checks);
            return;
        }
        let splits_output = self.style == TestFramework::Unittest
            && (plan.output.is_some() || !plan.logged.is_empty());
        if let ([only], Some(first)) = (about_result.as_slice(), plan.checks.first())
            && *only == first
            && !splits_output
        {
            let actual = match &only.actual {
                ActualValue::AroundResult(before, behind) => {
                    PythonCode::Text(format!("{before}{}{behind}", call.one_line()))
                }
                _ => call.clone(),
            };
            if self.fits_on_line(&actual, only.comparison, &only.expected) {
                self.compare(&actual, only.comparison, &only.expected);
                self.verify(plan, plan.checks.get(1..).unwrap_or_default());
                return;
            }
        }
        self.capture_output(plan, |test| test.push("result = ", call, ""));
        self.push_text("");
        self.verify(plan, &plan.checks);
    }

    /// Adds a blank line before the assertions, if there are any.
    fn separate_checks(&mut self, plan: &TestPlan) {
        if !plan.checks.is_empty() || plan.output.is_some() || !plan.logged.is_empty() {
            self.push_text("");
        }
    }

    /// Renders a call that raises.
    fn render_raises(&mut self, call: &PythonCode, class: &PythonCode, plan: &TestPlan) {
        let needs_caught = !plan.checks.is_empty();
        let caught = if needs_caught { " as caught" } else { "" };
        let raises = match self.style {
            TestFramework::Pytest => format!("{}.raises", self.scope.module("pytest").one_line()),
            TestFramework::Unittest => "self.assertRaises".to_owned(),
        };
        let class = class.one_line();
        self.capture_output(plan, |test| {
            test.push_text(format!("with {raises}({class}){caught}:"));
            let lines = call.lines("", "", CLASS + 8);
            let dedented = lines
                .iter()
                .map(|line| line.get(CLASS + 4..).unwrap_or_default().to_owned());
            test.lines.extend(dedented);
        });
        if needs_caught {
            self.push_text("");
        }
        self.verify(plan, &plan.checks);
    }

    /// Renders one step of a generator.
    fn generator_step(&mut self, step: &StepCheck) {
        let caught_value = match self.style {
            TestFramework::Pytest => "caught.value.value",
            TestFramework::Unittest => "caught.exception.value",
        };
        let raises = match self.style {
            TestFramework::Pytest => "pytest.raises",
            TestFramework::Unittest => "self.assertRaises",
        };
        match step {
            StepCheck::Yields(resumed, comparison, expected) => {
                self.compare(resumed, *comparison, expected)
            }
            StepCheck::Returns(resumed, value) => {
                self.import_pytest();
                let caught = if value.is_some() { " as caught" } else { "" };
                self.push_text(format!("with {raises}(StopIteration){caught}:"));
                self.push_text(format!("    {}", resumed.one_line()));
                if let Some(value) = value {
                    self.compare(
                        &PythonCode::text(caught_value),
                        ComparisonKind::Equal,
                        value,
                    );
                }
            }
            StepCheck::Raises(resumed, class) => {
                self.import_pytest();
                self.push_text(format!("with {raises}({}):", class.one_line()));
                self.push_text(format!("    {}", resumed.one_line()));
            }
            StepCheck::Unchecked(code) => self.push("", code, ""),
        }
    }

    /// Imports pytest, if the test is for it.
    fn import_pytest(&mut self) {
        if self.style == TestFramework::Pytest {
            self.scope.module("pytest");
        }
    }

    /// Renders code inside of the context managers by which unittest captures output and logs.
    fn capture_output(&mut self, plan: &TestPlan, write: impl FnOnce(&mut Self)) {
        let mut managers = Vec::new();
        let redirected = |name: &str, target: &str| {
            format!("contextlib.redirect_{name}(io.StringIO()) as {target}")
        };
        if let (Some((out, err)), TestFramework::Unittest) = (&plan.output, self.style) {
            self.scope.module("contextlib");
            self.scope.module("io");
            if !out.is_empty() {
                managers.push(redirected("stdout", "out"));
            }
            if !err.is_empty() {
                managers.push(redirected("stderr", "err"));
            }
        }
        let lowest_level = plan.logged.iter().map(|one| one.level).min();
        if let (Some(lowest_level), TestFramework::Unittest) = (lowest_level, self.style) {
            let level = level_name(lowest_level, self.scope);
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

    /// Renders assertions, then those about output and logs.
    fn verify(&mut self, plan: &TestPlan, checks: &[Assertion]) {
        let caught = match self.style {
            TestFramework::Pytest => "caught.value",
            TestFramework::Unittest => "caught.exception",
        };
        for check in checks {
            let actual = match &check.actual {
                ActualValue::Result => PythonCode::text("result"),
                ActualValue::AroundResult(before, behind) => {
                    PythonCode::Text(format!("{before}result{behind}"))
                }
                ActualValue::ExceptionAttribute(name) => {
                    PythonCode::Text(format!("{caught}.{name}"))
                }
                ActualValue::Code(code) => code.clone(),
            };
            self.compare(&actual, check.comparison, &check.expected);
        }
        if let Some((out, err)) = &plan.output {
            self.render_output_check(out, err);
        }
        self.render_log_check(&plan.logged);
    }

    /// Renders the assertion about log messages.
    fn render_log_check(&mut self, logged: &[LogMessage]) {
        if logged.is_empty() {
            return;
        }
        let entry = |one: &LogMessage, level: String| {
            PythonCode::tuple(vec![
                literal::text_literal(&one.logger),
                PythonCode::Text(level),
                literal::text_literal(&one.message),
            ])
        };
        let entries: Vec<PythonCode> = logged
            .iter()
            .map(|one| entry(one, level_name(one.level, self.scope)))
            .collect();
        let actual = match self.style {
            TestFramework::Pytest => {
                self.use_fixture("caplog");
                PythonCode::text("caplog.record_tuples")
            }
            TestFramework::Unittest => PythonCode::text(
                "[(one.name, one.levelno, one.getMessage()) for one in logged.records]",
            ),
        };
        self.compare(&actual, ComparisonKind::Equal, &PythonCode::list(entries));
    }

    /// Renders the assertions about printed output.
    fn render_output_check(&mut self, out: &str, err: &str) {
        match self.style {
            TestFramework::Pytest => {
                self.use_fixture("capsys");
                let names = match (out.is_empty(), err.is_empty()) {
                    (false, false) => "out, err = capsys.readouterr()",
                    (false, true) => "out = capsys.readouterr().out",
                    _ => "err = capsys.readouterr().err",
                };
                self.push_text(names);
            }
            TestFramework::Unittest => {}
        }
        let actual = |name: &str| match self.style {
            TestFramework::Pytest => PythonCode::text(name),
            TestFramework::Unittest => PythonCode::Text(format!("{name}.getvalue()")),
        };
        let (out_code, err_code) = (actual("out"), actual("err"));
        if !out.is_empty() {
            self.compare(
                &out_code,
                ComparisonKind::Equal,
                &literal::text_literal(out),
            );
        }
        if !err.is_empty() {
            self.compare(
                &err_code,
                ComparisonKind::Equal,
                &literal::text_literal(err),
            );
        }
    }

    /// Returns the code around the two sides of a comparison: before, between and after.
    fn comparison_parts(
        &self,
        comparison: ComparisonKind,
    ) -> (&'static str, &'static str, &'static str) {
        match (self.style, comparison) {
            (_, ComparisonKind::SameTypeAndAttributes) => ("assert_same(", ", ", ")"),
            (_, ComparisonKind::AlreadyChecked) => ("", "", ""),
            (TestFramework::Pytest, ComparisonKind::Equal) => ("assert ", " == ", ""),
            (TestFramework::Pytest, ComparisonKind::Is) => ("assert ", " is ", ""),
            (TestFramework::Pytest, ComparisonKind::Instance) => ("assert isinstance(", ", ", ")"),
            (TestFramework::Pytest, ComparisonKind::True) => ("assert ", "", ""),
            (TestFramework::Pytest, ComparisonKind::False) => ("assert not ", "", ""),
            (TestFramework::Pytest, ComparisonKind::NotIn) => ("assert ", " not in ", ""),
            (TestFramework::Unittest, ComparisonKind::Equal) => ("self.assertEqual(", ", ", ")"),
            (TestFramework::Unittest, ComparisonKind::Is) => ("self.assertIs(", ", ", ")"),
            (TestFramework::Unittest, ComparisonKind::Instance) => {
                ("self.assertIsInstance(", ", ", ")")
            }
            (TestFramework::Unittest, ComparisonKind::True) => ("self.assertTrue(", "", ")"),
            (TestFramework::Unittest, ComparisonKind::False) => ("self.assertFalse(", "", ")"),
            (TestFramework::Unittest, ComparisonKind::NotIn) => ("self.assertNotIn(", ", ", ")"),
        }
    }

    /// Returns true if an assertion fits on one line.
    fn fits_on_line(
        &self,
        actual: &PythonCode,
        comparison: ComparisonKind,
        expected: &PythonCode,
    ) -> bool {
        let (before, between, behind) = self.comparison_parts(comparison);
        let around = CLASS + 4 + before.len() + between.len() + behind.len();
        let is_broken = matches!(expected, PythonCode::Pieces(pieces) if pieces.len() > 1);
        let width = actual.one_line().chars().count() + expected.one_line().chars().count();
        !is_broken && around + width <= WIDTH
    }

    /// Renders an assertion.
    fn compare(&mut self, actual: &PythonCode, comparison: ComparisonKind, expected: &PythonCode) {
        let (before, between, behind) = self.comparison_parts(comparison);
        let (first, second) = match comparison {
            ComparisonKind::NotIn => (expected, actual),
            _ => (actual, expected),
        };
        if self.fits_on_line(actual, comparison, expected)
            || matches!(
                comparison,
                ComparisonKind::True | ComparisonKind::False | ComparisonKind::AlreadyChecked
            )
        {
            let line = format!(
                "{before}{}{between}{}{behind}",
                first.one_line(),
                second.one_line()
            );
            self.push_text(line);
        } else if let Some(call) = before.strip_suffix('(') {
            self.push(
                "",
                &PythonCode::call(call, vec![first.clone(), second.clone()]),
                "",
            );
        } else {
            let before = format!("{before}{}{between}", first.one_line());
            self.push(&before, second, behind);
        }
    }
}

/// Returns the name of a log level, if it has one.
fn level_name(level: i64, scope: &mut ImportScope) -> String {
    let name = match level {
        10 => "DEBUG",
        20 => "INFO",
        30 => "WARNING",
        40 => "ERROR",
        50 => "CRITICAL",
        _ => return level.to_string(),
    };
    format!("{}.{name}", scope.module("logging").one_line())
}

/// Returns true if a plan uses a temporary folder.
fn uses_folder(plan: &TestPlan) -> bool {
    let mentions = |code: &PythonCode| code.one_line().contains(FOLDER);
    let in_setup = plan.setup.iter().any(|step| match step {
        SetupStep::Assign { code, .. } | SetupStep::Evaluate(code) => mentions(code),
        SetupStep::Pin { value, .. } => mentions(value),
        SetupStep::Environment { value, .. } => value.as_ref().is_some_and(mentions),
        SetupStep::PinAbsent { .. } | SetupStep::Definition(_) => false,
        SetupStep::EnterFolder => true,
    });
    let in_exercise = match &plan.exercise {
        Exercise::Value(code)
        | Exercise::Statement(code)
        | Exercise::Raises { call: code, .. }
        | Exercise::Steps(code, _)
        | Exercise::AsyncItems(code, _) => mentions(code),
    };
    let in_checks = plan.checks.iter().any(|check| {
        let actual = match &check.actual {
            ActualValue::Code(code) => mentions(code),
            _ => false,
        };
        actual || mentions(&check.expected)
    });
    in_setup || in_exercise || in_checks
}
