//! Step definitions for pytest-bdd.

use super::play::{PLAYING, step_file};
use super::{File, Home, Runner, Shared, indented, is_inline, others, support, word};
use crate::property::{Told, quoted};

const NAMED: &str = r#"
@given(parsers.re(OTHERS_HAVE + ", called (?P<name>.+)"))
def step_have(kept, phrase, name):
    kept[name] = read_phrase(phrase)
"#;

const INLINE: &str = r#"
@given(parsers.re(OTHERS_HAVE))
def step_have(kept, phrase):
    kept.setdefault("_given", []).append(read_phrase(phrase))
"#;

/// pytest-bdd describes the test function of a scenario like this: `lists.feature: Delete - example 1`.
const FIXTURE: &str = r#"

@pytest.fixture
def kept(request):
    """What the steps of one scenario have stored."""
    described = request.function.__doc__ or ""
    return {"_scenario": described.partition(".feature: ")[2]}

"#;

const PLAYED: &str = r#"

def go_on(kept, line):
    advance(kept, kept["_scenario"], line)


KEYWORDS = {"given": given, "when": when, "then": then}
for keyword, *parts in all_lines():
    KEYWORDS[keyword](parsers.re("(?P<line>" + line_pattern(parts) + ")"))(go_on)
"#;

pub(super) fn files(told: &Told, home: &Home) -> Vec<File> {
    vec![file(&home.feature, steps(told, home))]
}

/// The file of a feature that is played.
pub(super) fn plays(feature: &str, setup: &str, played: &str) -> Vec<File> {
    let head = head(feature, setup);
    vec![file(
        feature,
        format!("{head}{PLAYING}{FIXTURE}\n{played}{PLAYED}"),
    )]
}

fn file(feature: &str, text: String) -> File {
    File {
        path: step_file(Runner::PytestBdd, feature),
        text,
    }
}

/// What every step file begins with.
fn head(feature: &str, setup: &str) -> String {
    let (imports, support) = support();
    let mut text = format!(
        "\"\"\"Runs {feature} with pytest-bdd.\"\"\"\n\n{imports}\nimport os\nimport sys\n\n"
    );
    text.push_str(
        "import pytest\nfrom pytest_bdd import given, parsers, scenarios, then, when\n\n",
    );
    text.push_str(setup);
    text.push_str(&format!("\nscenarios({})\n\n", quoted(feature)));
    text.push_str(support);
    text
}

fn steps(told: &Told, home: &Home) -> String {
    let mut text = head(&home.feature, &home.import(""));
    text.push_str(&home.made());
    text.push_str(FIXTURE);
    let all = Shared::all(told);
    for (index, shared) in all.iter().enumerate() {
        let keyword = word(shared.keyword);
        let (pattern, parameters) = if shared.is_exact() {
            (quoted(&shared.exact_text()), "kept")
        } else {
            (format!("parsers.re({})", shared.pattern()), "kept, line")
        };
        text.push_str(&format!(
            "\n@{keyword}({pattern})\ndef step_{}({parameters}):\n",
            index + 1
        ));
        let mut lines = vec![format!("{} = kept", home.store)];
        lines.extend(shared.body(home, "kept[\"_scenario\"]"));
        text.push_str(&indented(&lines));
        text.push('\n');
    }
    let generic = if is_inline(told) { INLINE } else { NAMED };
    text.push_str(&generic.replace("OTHERS_HAVE", &format!("{}HAVE", others(&all))));
    text
}
