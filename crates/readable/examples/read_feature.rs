//! Prints how the `gherkin` crate reads feature files, one part per line, for the Python tests to
//! compare.
//!
//! A line has the name of the part and its content, separated by tabs: `scenario`, `description`,
//! `step` with its keyword, and `row` of a table of examples.

use std::error::Error;
use std::io::{self, Write};

use gherkin::{Feature, GherkinEnv, Scenario, StepType};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(path)?;
        let feature = Feature::parse(&text, GherkinEnv::default())?;
        let in_rules = feature.rules.iter().flat_map(|rule| &rule.scenarios);
        for scenario in feature.scenarios.iter().chain(in_rules) {
            write_scenario(&mut out, scenario)?;
        }
    }
    Ok(())
}

fn write_scenario(out: &mut impl Write, scenario: &Scenario) -> io::Result<()> {
    writeln!(out, "scenario\t{}", scenario.name)?;
    for line in scenario.description.iter().flat_map(|text| text.lines()) {
        writeln!(out, "description\t{}", line.trim())?;
    }
    for step in &scenario.steps {
        let keyword = match step.ty {
            StepType::Given => "given",
            StepType::When => "when",
            StepType::Then => "then",
        };
        writeln!(out, "step\t{keyword}\t{}", step.value)?;
    }
    let tables = scenario.examples.iter().flat_map(|part| &part.table);
    for row in tables.flat_map(|table| table.rows.iter().skip(1)) {
        writeln!(out, "row\t{}", row.join("\t"))?;
    }
    Ok(())
}
