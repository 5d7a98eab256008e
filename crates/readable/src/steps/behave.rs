//! Step definitions for behave.

use super::play::{PLAYING, step_file};
use super::{File, Home, Runner, Shared, indented, is_inline, others, support, word};
use crate::property::{Told, quoted};

/// Steps are global in behave: one text is one step, whichever feature it stands in, and patterns must not have `^` or `$`.
/// So a text is registered once, and the body is looked up by the file of the feature that is running (S3).
const REGISTRY: &str = r#"
use_step_matcher("re")

KEYWORDS = {"given": given, "when": when, "then": then}
BODIES = sys.modules.setdefault("testwright_step_bodies", types.ModuleType("testwright_step_bodies")).__dict__


def step(keyword, pattern):
    """Makes a body known for this feature. behave gets to know each pattern once."""

    def known(body):
        bodies = BODIES.setdefault(f"{keyword} {pattern}", {})
        if not bodies:
            KEYWORDS[keyword](pattern)(lambda context, **found: run_body(bodies, context, found))
        bodies[FEATURE] = body
        return body

    return known


def run_body(bodies, context, found):
    """Runs the body for the feature that is running. behave would be gone with code that leaves."""
    body = bodies.get(os.path.basename(context.feature.filename)) or next(iter(bodies.values()))
    try:
        body(context, **found)
    except SystemExit as leaving:
        raise AssertionError(f"the program was to be left, with {leaving.code!r}") from leaving


def literal(text):
    """The pattern that finds exactly this text."""
    return re.escape(text)

"#;

const NAMED: &str = r#"
# Last, for behave takes the first step that fits.
@step("given", OTHERS_HAVE + ", called (?P<name>.+)")
def step_have(context, phrase, name):
    context.values[name] = read_phrase(phrase)
"#;

const INLINE: &str = r#"
# Last, for behave takes the first step that fits.
@step("given", r"(?!.*, called [^\"]*\Z)" + OTHERS_HAVE)
def step_have(context, phrase):
    context.values.setdefault("_given", []).append(read_phrase(phrase))
"#;

/// One line may be found by the pattern of another feature; what it does is found by the file of its own.
const PLAYED: &str = r#"

def go_on(context, line):
    player = PLAYERS[os.path.basename(context.feature.filename)]
    player(context.values, context.scenario.name, line)


PLAYERS = BODIES.setdefault("players", {})
PLAYERS[FEATURE] = advance
for keyword, *parts in all_lines():
    step(keyword, "(?P<line>" + line_pattern(parts) + ")")(go_on)
"#;

const ENVIRONMENT: &str = r#""""What behave does around each scenario."""


def before_scenario(context, scenario):
    """Every scenario starts with nothing."""
    context.values = {}
"#;

pub(super) fn files(told: &Told, home: &Home) -> Vec<File> {
    with_environment(&home.feature, steps(told, home))
}

/// The files of a feature that is played.
pub(super) fn plays(feature: &str, setup: &str, played: &str) -> Vec<File> {
    let head = head(feature, setup);
    with_environment(
        feature,
        format!("{head}{PLAYING}{REGISTRY}\n{played}{PLAYED}"),
    )
}

fn with_environment(feature: &str, steps: String) -> Vec<File> {
    let steps = File {
        path: step_file(Runner::Behave, feature),
        text: steps,
    };
    let environment = File {
        path: "environment.py".to_owned(),
        text: ENVIRONMENT.to_owned(),
    };
    vec![steps, environment]
}

/// What every step file begins with.
fn head(feature: &str, setup: &str) -> String {
    let (imports, support) = support();
    let mut text = format!(
        "\"\"\"Steps of {feature}, for behave.\"\"\"\n\n{imports}\nimport os\nimport sys\n\n"
    );
    text.push_str("from behave import given, then, use_step_matcher, when\n\n");
    text.push_str(setup);
    text.push_str(&format!("\nFEATURE = {}\n\n", quoted(feature)));
    text.push_str(support);
    text
}

fn steps(told: &Told, home: &Home) -> String {
    let mut text = head(&home.feature, &home.import(".."));
    text.push_str(&home.made());
    text.push('\n');
    text.push_str(REGISTRY);
    let all = Shared::all(told);
    for (index, shared) in all.iter().enumerate() {
        let keyword = word(shared.keyword);
        let (pattern, parameters) = if shared.is_exact() {
            (
                format!("literal({})", quoted(&shared.exact_text())),
                "context",
            )
        } else {
            (shared.pattern(), "context, line")
        };
        text.push_str(&format!(
            "\n@step(\"{keyword}\", {pattern})\ndef step_{}({parameters}):\n",
            index + 1
        ));
        let mut lines = vec![format!("{} = context.values", home.store)];
        lines.extend(shared.body(home, "context.scenario.name"));
        text.push_str(&indented(&lines));
        text.push('\n');
    }
    let generic = if is_inline(told) { INLINE } else { NAMED };
    text.push_str(&generic.replace("OTHERS_HAVE", &format!("{}HAVE", others(&all))));
    text
}
