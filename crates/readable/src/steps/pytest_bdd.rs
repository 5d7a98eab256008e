//! Step files for pytest-bdd.

use super::executable::{SCENARIO_SUPPORT, step_file};
use super::{
    FeatureRunner, GeneratedFile, SharedStep, StepModule, decorator_name, exclusion_pattern,
    indented, is_inline, support,
};
use crate::property::{RenderedFeature, python_string};

/// The generic step for inputs with a name (S1).
const NAMED: &str = r#"
@given(parsers.re(OTHERS_HAVE + ", called (?P<name>.+)"))
def step_have(kept, phrase, name):
    kept[name] = read_phrase(phrase)
"#;

/// The generic step for inputs without a name (S6).
const INLINE: &str = r#"
@given(parsers.re(OTHERS_HAVE))
def step_have(kept, phrase):
    kept.setdefault("_given", []).append(read_phrase(phrase))
"#;

/// The fixture that stores the values of a scenario. pytest-bdd describes the test function of a
/// scenario like this: `lists.feature: Delete - example 1`.
const FIXTURE: &str = r#"

@pytest.fixture
def kept(request):
    """Stores the values of one scenario."""
    described = request.function.__doc__ or ""
    return {"_scenario": described.partition(".feature: ")[2]}

"#;

/// Python code that registers the lines of executable scenarios.
const SCENARIO_STEPS: &str = r#"

def go_on(kept, line):
    advance(kept, kept["_scenario"], line)


KEYWORDS = {"given": given, "when": when, "then": then}
for keyword, *parts in all_lines():
    KEYWORDS[keyword](parsers.re("(?P<line>" + line_pattern(parts) + ")"))(go_on)
"#;

/// Writes the step file of a feature.
pub(super) fn files(rendered: &RenderedFeature, target: &StepModule) -> Vec<GeneratedFile> {
    vec![file(&target.feature, steps(rendered, target))]
}

/// Writes the file of a feature with executable scenarios.
pub(super) fn scenario_files(feature: &str, setup: &str, played: &str) -> Vec<GeneratedFile> {
    let head = head(feature, setup);
    vec![file(
        feature,
        format!("{head}{SCENARIO_SUPPORT}{FIXTURE}\n{played}{SCENARIO_STEPS}"),
    )]
}

/// Creates the step file of a feature.
fn file(feature: &str, text: String) -> GeneratedFile {
    GeneratedFile {
        path: step_file(FeatureRunner::PytestBdd, feature),
        text,
    }
}

/// Writes the beginning of a step file.
fn head(feature: &str, setup: &str) -> String {
    let (imports, support) = support();
    let mut text = format!(
        "\"\"\"Runs {feature} with pytest-bdd.\"\"\"\n\n{imports}\nimport os\nimport sys\n\n"
    );
    text.push_str(
        "import pytest\nfrom pytest_bdd import given, parsers, scenarios, then, when\n\n",
    );
    text.push_str(setup);
    text.push_str(&format!("\nscenarios({})\n\n", python_string(feature)));
    text.push_str(support);
    text
}

/// Writes the steps of a feature.
fn steps(rendered: &RenderedFeature, target: &StepModule) -> String {
    let mut text = head(&target.feature, &target.import_lines(""));
    text.push_str(&target.recipe_function());
    text.push_str(FIXTURE);
    let all = SharedStep::all(rendered);
    for (index, shared) in all.iter().enumerate() {
        let keyword = decorator_name(shared.keyword);
        let (pattern, parameters) = if shared.is_exact() {
            (python_string(&shared.exact_text()), "kept")
        } else {
            (format!("parsers.re({})", shared.pattern()), "kept, line")
        };
        text.push_str(&format!(
            "\n@{keyword}({pattern})\ndef step_{}({parameters}):\n",
            index + 1
        ));
        let mut lines = vec![format!("{} = kept", target.store)];
        lines.extend(shared.body(target, "kept[\"_scenario\"]"));
        text.push_str(&indented(&lines));
        text.push('\n');
    }
    let generic = if is_inline(rendered) { INLINE } else { NAMED };
    text.push_str(&generic.replace("OTHERS_HAVE", &format!("{}HAVE", exclusion_pattern(&all))));
    text
}
