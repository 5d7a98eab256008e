//! Writes every report for data in JSON, for inspection or as input of other tools:
//! `reports DATA.json FOLDER`.
//!
//! The fields are those of the model. An arc is a list of two numbers, a detour one of four.

#![expect(clippy::print_stdout, reason = "a program for developers")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{env, fs};

use serde_json::Value;
use testwright_report::{
    Arc, Attribution, CoverageReport, FileCoverage, Timestamp, cobertura, data_file, html, lcov,
    table,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = env::args().collect();
    let [_, data, folder] = arguments.as_slice() else {
        return Err("usage: reports DATA.json FOLDER".into());
    };
    let report = report(&serde_json::from_str(&fs::read_to_string(data)?)?);
    let folder = Path::new(folder);
    let timestamp = Timestamp(1_767_225_600);
    fs::create_dir_all(folder)?;
    fs::write(folder.join("lcov.info"), lcov::lcov(&report))?;
    let document = cobertura::cobertura(&report, timestamp);
    fs::write(folder.join("cobertura.xml"), document)?;
    data_file::write(&report, &folder.join(".coverage"), timestamp)?;
    html::write(&report, &folder.join("html"), timestamp)?;
    let options = table::TableOptions {
        width: 100,
        unicode: true,
        colour: false,
    };
    print!("{}", table::table(&report, &options));
    Ok(())
}

fn report(data: &Value) -> CoverageReport {
    CoverageReport {
        files: list(&data["files"]).iter().map(file).collect(),
        tests: list(&data["tests"]).iter().map(text).collect(),
        attribution: if data["attribution"] == "first" {
            Attribution::First
        } else {
            Attribution::Every
        },
        root: text(&data["root"]).into(),
    }
}

fn file(data: &Value) -> FileCoverage {
    let numbers = |field: &Value| -> BTreeSet<u32> { list(field).iter().map(number).collect() };
    let map = |field: &str| data[field].as_object().cloned().unwrap_or_default();
    FileCoverage {
        path: text(&data["path"]).into(),
        text: data["text"].as_str().map(str::to_owned),
        statements: numbers(&data["statements"]),
        excluded: numbers(&data["excluded"]),
        first_lines: (map("first_lines").iter())
            .map(|(line, first)| (line.parse().unwrap(), number(first)))
            .collect(),
        branches: (map("branches").iter())
            .map(|(line, ways)| {
                (
                    line.parse().unwrap(),
                    list(ways).iter().map(number).collect(),
                )
            })
            .collect(),
        waived: numbers(&data["waived"]),
        detours: (list(&data["detours"]).iter())
            .map(|four| (arc(four, 0), arc(four, 2)))
            .collect::<BTreeMap<Arc, Arc>>(),
        by_test: (list(&data["by_test"]).iter())
            .map(|entry| {
                let arcs = list(&entry[1]).iter().map(|two| arc(two, 0)).collect();
                (number(&entry[0]), arcs)
            })
            .collect(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn number<N: TryFrom<i64>>(value: &Value) -> N {
    (value.as_i64().and_then(|number| N::try_from(number).ok())).expect("a number")
}

fn arc(value: &Value, at: usize) -> Arc {
    (number(&value[at]), number(&value[at + 1]))
}
