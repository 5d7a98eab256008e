//! Step files for behave.

use super::executable::{SCENARIO_SUPPORT, step_file};
use super::{
    FeatureRunner, GeneratedFile, SharedStep, StepModule, decorator_name, exclusion_pattern,
    indented, is_inline, support,
};
use crate::property::{RenderedFeature, python_string};

/// Python code that registers steps. Steps are global in behave, and patterns must not have `^` or
/// `$`. So a text is registered once, and its body is looked up by the file of the running feature
/// (S3).
const REGISTRY: &str = r#"
use_step_matcher("re")

KEYWORDS = {"given": given, "when": when, "then": then}
BODIES = sys.modules.setdefault("testwright_step_bodies", types.ModuleType("testwright_step_bodies")).__dict__


def step(keyword, pattern):
    """Registers a body for this feature. behave sees each pattern once."""

    def known(body):
        bodies = BODIES.setdefault(f"{keyword} {pattern}", {})
        if not bodies:
            KEYWORDS[keyword](pattern)(lambda context, **found: run_body(bodies, context, found))
        bodies[FEATURE] = body
        return body

    return known


def run_body(bodies, context, found):
    """Runs the body of the running feature. SystemExit would end behave, so it becomes a failure."""
    body = bodies.get(os.path.basename(context.feature.filename)) or next(iter(bodies.values()))
    try:
        body(context, **found)
    except SystemExit as leaving:
        raise AssertionError(f"the program was to be left, with {leaving.code!r}") from leaving


def literal(text):
    """Returns the pattern that matches exactly this text."""
    return re.escape(text)

"#;

/// The generic step for inputs with a name (S1).
const NAMED: &str = r#"
# Last, for behave takes the first step that fits.
@step("given", OTHERS_HAVE + ", called (?P<name>.+)")
def step_have(context, phrase, name):
    context.values[name] = read_phrase(phrase)
"#;

/// The generic step for inputs without a name (S6).
const INLINE: &str = r#"
# Last, for behave takes the first step that fits.
@step("given", r"(?!.*, called [^\"]*\Z)" + OTHERS_HAVE)
def step_have(context, phrase):
    context.values.setdefault("_given", []).append(read_phrase(phrase))
"#;

/// Python code that registers the lines of executable scenarios. A line may match the pattern of
/// another feature, so its function is looked up by the file of its own.
const SCENARIO_STEPS: &str = r#"

def go_on(context, line):
    player = PLAYERS[os.path.basename(context.feature.filename)]
    player(context.values, context.scenario.name, line)


PLAYERS = BODIES.setdefault("players", {})
PLAYERS[FEATURE] = advance
for keyword, *parts in all_lines():
    step(keyword, "(?P<line>" + line_pattern(parts) + ")")(go_on)
"#;

/// The content of `environment.py`.
const ENVIRONMENT: &str = r#""""Hooks of behave around each scenario."""


def before_scenario(context, scenario):
    """Starts every scenario without values."""
    context.values = {}
"#;

/// Writes the step files of a feature.
pub(super) fn files(rendered: &RenderedFeature, target: &StepModule) -> Vec<GeneratedFile> {
    with_environment(&target.feature, steps(rendered, target))
}

/// Writes the files of a feature with executable scenarios.
pub(super) fn scenario_files(feature: &str, setup: &str, played: &str) -> Vec<GeneratedFile> {
    let head = head(feature, setup);
    with_environment(
        feature,
        format!("{head}{SCENARIO_SUPPORT}{REGISTRY}\n{played}{SCENARIO_STEPS}"),
    )
}

/// Returns the step file together with `environment.py`.
fn with_environment(feature: &str, steps: String) -> Vec<GeneratedFile> {
    let steps = GeneratedFile {
        path: step_file(FeatureRunner::Behave, feature),
        text: steps,
    };
    let environment = GeneratedFile {
        path: "environment.py".to_owned(),
        text: ENVIRONMENT.to_owned(),
    };
    vec![steps, environment]
}

/// Writes the beginning of a step file.
fn head(feature: &str, setup: &str) -> String {
    let (imports, support) = support();
    let mut text = format!(
        "\"\"\"Steps of {feature}, for behave.\"\"\"\n\n{imports}\nimport os\nimport sys\n\n"
    );
    text.push_str("from behave import given, then, use_step_matcher, when\n\n");
    text.push_str(setup);
    text.push_str(&format!("\nFEATURE = {}\n\n", python_string(feature)));
    text.push_str(support);
    text
}

/// Writes the steps of a feature, the generic one last (S3).
fn steps(rendered: &RenderedFeature, target: &StepModule) -> String {
    let mut text = head(&target.feature, &target.import_lines(".."));
    text.push_str(&target.recipe_function());
    text.push('\n');
    text.push_str(REGISTRY);
    let all = SharedStep::all(rendered);
    for (index, shared) in all.iter().enumerate() {
        let keyword = decorator_name(shared.keyword);
        let (pattern, parameters) = if shared.is_exact() {
            (
                format!("literal({})", python_string(&shared.exact_text())),
                "context",
            )
        } else {
            (shared.pattern(), "context, line")
        };
        text.push_str(&format!(
            "\n@step(\"{keyword}\", {pattern})\ndef step_{}({parameters}):\n",
            index + 1
        ));
        let mut lines = vec![format!("{} = context.values", target.store)];
        lines.extend(shared.body(target, "context.scenario.name"));
        text.push_str(&indented(&lines));
        text.push('\n');
    }
    let generic = if is_inline(rendered) { INLINE } else { NAMED };
    text.push_str(&generic.replace("OTHERS_HAVE", &format!("{}HAVE", exclusion_pattern(&all))));
    text
}
