//! Every sentence about the result of a question, rendered from its [`Verdict`].
//!
//! A [`Claim`] has two texts: a strong one, which only a [proof](Verdict::is_proof) supports, and a
//! weak one, which says what was found. No other module of the command chooses between the two.
//! After a claim come the limits ([`limits_text`]) and what the verdict does not cover
//! ([`print_caveats`]). [`VerdictJson`] has the same for scripts.

use serde::Serialize;
use testwright_core::generate::UntakenTemplates;
use testwright_core::verdict::{Caveat, ReachedLimit, Verdict, VerdictExtent};
use testwright_core::{Catalog, TemplateId};

use crate::commands::template_text;
use crate::console::Console;
use crate::quantity::format_count;

/// The length from which a line of a harness is cut.
const MAX_LINE: usize = 60;

/// The maximum number of caveats that are printed.
const MAX_CAVEATS: usize = 3;

/// A sentence that is certain only with a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// No test fails.
    NoFailure,
    /// There are no more states than this number.
    States(u64),
    /// There are no more tests than this number.
    Tests(u64),
    /// No test leads to the goal.
    NoGoal,
    /// No run violates the formula.
    FormulaHolds,
    /// The graph of a model has no other states.
    WholeGraph,
    /// No state of a model violates its invariant.
    NoUnsafeState,
    /// In no state of a model the way to an accepting state is closed.
    NoDeadState,
    /// The scenarios of a model are allowed and forbidden as they should be.
    ScenariosRight,
    /// The tests notice each of this number of mutants, and there are no others.
    MutantsNoticed(u64),
}

impl Claim {
    /// Returns the strong text if the verdict is a proof, and otherwise the weak one.
    pub(crate) fn text(self, verdict: &Verdict) -> String {
        if verdict.is_proof() {
            self.strong()
        } else {
            self.weak()
        }
    }

    /// Returns what may be said with a proof.
    fn strong(self) -> String {
        let text = match self {
            Claim::NoFailure => "no failure",
            Claim::States(1) => "The only state",
            Claim::States(number) => return format!("All {}", format_count(number, "state")),
            Claim::Tests(number) => {
                let tests = format_count(number, "test");
                return format!("All {tests}; there are no longer ones");
            }
            Claim::NoGoal => "proven absent, no test leads there",
            Claim::FormulaHolds => "holds in every run",
            Claim::WholeGraph => "These are all that can be reached",
            Claim::NoUnsafeState => "every state is safe",
            Claim::NoDeadState => "from every state an accepting state can be reached",
            Claim::ScenariosRight => "all as they should be",
            Claim::MutantsNoticed(number) => {
                return format!("all of {} noticed", format_count(number, "mutant"));
            }
        };
        text.to_owned()
    }

    /// Returns what may be said without a proof.
    fn weak(self) -> String {
        let text = match self {
            Claim::NoFailure => "no failure found",
            Claim::States(number) => return format_count(number, "state"),
            Claim::Tests(number) => return format_count(number, "test"),
            Claim::NoGoal => "not found",
            Claim::FormulaHolds => "no run found that violates it",
            Claim::WholeGraph => "There may be more states",
            Claim::NoUnsafeState => "no unsafe state found",
            Claim::NoDeadState => "no dead state found",
            Claim::ScenariosRight => "none found that is wrong",
            Claim::MutantsNoticed(number) => {
                return format!("{} tried, none survived", format_count(number, "mutant"));
            }
        };
        text.to_owned()
    }
}

/// Returns the limits of a verdict as a clause: `bounded by a depth of 4`, `interrupted`. `None` if
/// everything was covered.
pub(crate) fn limits_text(verdict: &Verdict) -> Option<String> {
    match &verdict.extent {
        VerdictExtent::Complete => None,
        VerdictExtent::Interrupted => Some("interrupted".to_owned()),
        VerdictExtent::Bounded { by } => {
            let mut clauses = Vec::new();
            for limit in by {
                clauses.push(match limit {
                    ReachedLimit::Failure
                    | ReachedLimit::Goal
                    | ReachedLimit::Violation
                    | ReachedLimit::NoFirstAction => format!("stopped at {limit}"),
                    ReachedLimit::Error => format!("ended by {limit}"),
                    _ => format!("bounded by {limit}"),
                });
            }
            Some(clauses.join(", "))
        }
    }
}

/// Returns a caveat for each line of a harness, or action of models, that no test took.
pub(crate) fn never_taken(catalog: &Catalog, untaken: &UntakenTemplates) -> Vec<Caveat> {
    let line = |template| Caveat::NeverTaken {
        line: line_text(catalog, template),
    };
    untaken.iter().map(line).collect()
}

/// Names a line of a harness, or an action of models.
fn line_text(catalog: &Catalog, template: TemplateId) -> String {
    let found = &catalog.templates()[template.0];
    if catalog.is_open(template) {
        return format!("`{}`", found.class);
    }
    let text = template_text(catalog, found);
    let mut shown: String = text.chars().take(MAX_LINE).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("line {}, `{shown}`,", found.line)
}

/// Appends the limits of a verdict to a sentence.
pub(crate) fn with_limits(text: &str, verdict: &Verdict) -> String {
    match limits_text(verdict) {
        Some(limits) => format!("{text}; {limits}"),
        None => text.to_owned(),
    }
}

/// Prints what the verdict does not cover, a line for each of a few caveats.
pub(crate) fn print_caveats(console: &mut Console<'_>, verdict: &Verdict) {
    for line in caveat_lines(&verdict.caveats) {
        console.out(line);
    }
}

/// Returns a line for each of a few caveats, those that matter first.
pub(crate) fn caveat_lines(caveats: &[Caveat]) -> Vec<String> {
    let (open, others): (Vec<&Caveat>, Vec<&Caveat>) =
        caveats.iter().partition(|caveat| caveat.matters());
    let line = |caveat: &&Caveat| match caveat {
        _ if caveat.matters() => format!("  not covered: {caveat}"),
        Caveat::NeverTaken { .. }
        | Caveat::LeftOutActions { .. }
        | Caveat::UntriedArguments { .. } => format!("  not covered: {caveat}"),
        _ => format!("  note: {caveat}"),
    };
    let mut lines: Vec<String> = open.iter().chain(&others).map(line).collect();
    // A line that says "and 1 more" is no shorter than the line that it replaces.
    if lines.len() > MAX_CAVEATS + 1 {
        let more = lines.len() - MAX_CAVEATS;
        lines.truncate(MAX_CAVEATS);
        lines.push(format!("  and {more} more (`--json` has the whole list)"));
    }
    lines
}

/// A verdict for scripts. Scripts rely on the names of the fields.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct VerdictJson {
    /// True if the result is a proof.
    complete: bool,
    /// The limits that were reached.
    bounded_by: Vec<NamedText>,
    /// The parts that the result does not cover.
    caveats: Vec<NamedText>,
}

/// A sentence with a name that does not change.
#[derive(Clone, Debug, Serialize)]
struct NamedText {
    kind: &'static str,
    text: String,
}

impl From<&Verdict> for VerdictJson {
    fn from(verdict: &Verdict) -> VerdictJson {
        let limit = |limit: &ReachedLimit| NamedText {
            kind: limit.name(),
            text: limit.to_string(),
        };
        let caveat = |caveat: &Caveat| NamedText {
            kind: caveat.name(),
            text: caveat.to_string(),
        };
        let mut bounded_by: Vec<NamedText> = verdict.limits().iter().map(limit).collect();
        if verdict.extent == VerdictExtent::Interrupted {
            bounded_by.push(NamedText {
                kind: "interrupted",
                text: "an interrupt".to_owned(),
            });
        }
        VerdictJson {
            complete: verdict.is_proof(),
            bounded_by,
            caveats: verdict.caveats.iter().map(caveat).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every claim, with numbers that read differently.
    const CLAIMS: [Claim; 12] = [
        Claim::NoFailure,
        Claim::States(1),
        Claim::States(16),
        Claim::Tests(1),
        Claim::Tests(9),
        Claim::NoGoal,
        Claim::FormulaHolds,
        Claim::WholeGraph,
        Claim::NoUnsafeState,
        Claim::NoDeadState,
        Claim::ScenariosRight,
        Claim::MutantsNoticed(3),
    ];

    /// Returns true if a text claims something that only a proof supports.
    fn claims(text: &str) -> bool {
        let text = format!(
            " {} ",
            text.to_lowercase().replace(['\n', ':', ';', ','], " ")
        );
        let is_claim = |word: &str| text.contains(&format!(" {word} "));
        let words = [
            "all",
            "every",
            "safe",
            "holds",
            "proven",
            "the only state",
            "never happens",
            "cannot",
            "complete",
        ];
        words.into_iter().any(is_claim)
            || text.contains("no failure") && !text.contains("no failure found")
    }

    /// Returns each extent, with its name.
    fn extents() -> Vec<VerdictExtent> {
        let limits = [
            ReachedLimit::Depth(3),
            ReachedLimit::States(1),
            ReachedLimit::Transitions(2),
            ReachedLimit::Memory,
            ReachedLimit::Time,
            ReachedLimit::Tests(1),
            ReachedLimit::Steps(5),
            ReachedLimit::Mutants(7),
            ReachedLimit::Failure,
            ReachedLimit::Goal,
            ReachedLimit::Violation,
            ReachedLimit::AfterFailure,
            ReachedLimit::NoFirstAction,
            ReachedLimit::Error,
        ];
        let bounded = limits.map(|limit| VerdictExtent::Bounded { by: vec![limit] });
        let both = VerdictExtent::Bounded {
            by: vec![ReachedLimit::Depth(3), ReachedLimit::AfterFailure],
        };
        let mut all = vec![VerdictExtent::Complete, VerdictExtent::Interrupted, both];
        all.extend(bounded);
        all
    }

    /// Returns each caveat.
    fn caveats() -> Vec<Caveat> {
        let what = || "a set in `group0`".to_owned();
        vec![
            Caveat::OutsideState { what: what() },
            Caveat::AddressOrder { what: what() },
            Caveat::HashOrder { what: what() },
            Caveat::Identity { place: what() },
            Caveat::Abstraction { pool: what() },
            Caveat::StatesDiffer {
                pairs: 1,
                compared: 9,
            },
            Caveat::Unconfirmed { failure: what() },
            Caveat::UnexploredObservable { action: what() },
            Caveat::FilteredStates {
                filter: what(),
                states: 2,
            },
            Caveat::LeftOutActions {
                actions: vec![what()],
            },
            Caveat::UntriedArguments {
                action: what(),
                parameter: what(),
                left_out: 2,
            },
            Caveat::UncheckedProperties { properties: 2 },
            Caveat::NeverTaken { line: what() },
            Caveat::RandomModel,
            Caveat::Nondeterministic { what: what() },
        ]
    }

    #[test]
    fn only_a_proof_claims_anything() {
        for extent in extents() {
            let mut verdicts = vec![Verdict::new(extent.clone())];
            for caveat in caveats() {
                let mut verdict = Verdict::new(extent.clone());
                verdict.add_caveats([caveat]);
                verdicts.push(verdict);
            }
            for verdict in verdicts {
                for claim in CLAIMS {
                    let text = with_limits(&claim.text(&verdict), &verdict);
                    assert_eq!(claims(&text), verdict.is_proof(), "{text}: {verdict:?}");
                }
                let json = VerdictJson::from(&verdict);
                assert_eq!(json.complete, verdict.is_proof());
                assert_eq!(json.bounded_by.is_empty(), verdict.is_complete());
                assert_eq!(json.caveats.len(), verdict.caveats.len());
            }
        }
    }

    #[test]
    fn limits_and_caveats_claim_nothing() {
        for extent in extents() {
            let text = limits_text(&Verdict::new(extent)).unwrap_or_default();
            assert!(!claims(&text), "{text}");
        }
        for caveat in caveats() {
            assert!(!claims(&caveat_lines(&[caveat]).concat()));
        }
    }

    #[test]
    fn a_few_caveats_are_named_and_the_others_counted() {
        let names = |number| -> Vec<Caveat> {
            let what = |name: usize| Caveat::OutsideState {
                what: format!("file {name}"),
            };
            (0..number).map(what).collect()
        };
        assert_eq!(caveat_lines(&names(4)).len(), 4);
        let lines = caveat_lines(&names(9));
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0], "  not covered: file 0 is not part of a state");
        assert_eq!(lines[3], "  and 6 more (`--json` has the whole list)");
        // A note about the question does not hide what is open.
        let mut mixed = vec![Caveat::HashOrder {
            what: "a set".to_owned(),
        }];
        mixed.extend(names(4));
        assert!(
            caveat_lines(&mixed)[..3]
                .iter()
                .all(|line| line.contains("file"))
        );
    }
}
