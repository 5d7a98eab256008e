//! Step definitions for pytest-bdd.

use super::{File, Home, Shared, indented, is_inline, others, support, word};
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

/// pytest-bdd gives the test function of a scenario its description under this name.
const FIXTURE: &str = r#"

@pytest.fixture
def kept(request):
    """What the steps of one scenario have stored."""
    scenario = getattr(request.function, "__scenario__", None)
    return {"_scenario": getattr(scenario, "name", request.node.name)}

"#;

pub(super) fn files(told: &Told, home: &Home) -> Vec<File> {
    vec![File {
        path: format!("test_{}_feature.py", home.stem()),
        text: steps(told, home),
    }]
}

fn steps(told: &Told, home: &Home) -> String {
    let (imports, support) = support();
    let mut text = format!(
        "\"\"\"Runs {} with pytest-bdd.\"\"\"\n\n{imports}\nimport os\nimport sys\n\n",
        home.feature
    );
    text.push_str(
        "import pytest\nfrom pytest_bdd import given, parsers, scenarios, then, when\n\n",
    );
    text.push_str(&home.import(""));
    text.push_str(&format!("\nscenarios({})\n\n", quoted(&home.feature)));
    text.push_str(support);
    text.push_str(&home.made());
    text.push_str(FIXTURE);
    let all = Shared::all(told);
    for (index, shared) in all.iter().enumerate() {
        let keyword = word(shared.keyword);
        let (pattern, parameters) = match shared.is_exact() {
            true => (quoted(&shared.exact_text()), "kept"),
            false => (format!("parsers.re({})", shared.pattern()), "kept, line"),
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
    let generic = match is_inline(told) {
        true => INLINE,
        false => NAMED,
    };
    text.push_str(&generic.replace("OTHERS_HAVE", &format!("{}HAVE", others(&all))));
    text
}
