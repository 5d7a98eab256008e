//! A small project for the tests of all reports.

use std::collections::{BTreeMap, BTreeSet};

use crate::coverage::{Attribution, CoverageReport, FileCoverage};

/// Source text of [`cart`].
pub(crate) const CART: &str = r#"import decimal


def total(prices, voucher=None, *,
          rounded=True):
    if voucher is not None and voucher > 1:
        raise ValueError(
            f"a voucher of {voucher:.0%} & more")
    result = 0

    for price in prices:
        if price < 0:
            print("<refund>", price)


def debug():  # pragma: no cover
    print("…")
"#;

/// Builds a function that two tests ran, both up to an exception in line 12. Its own exception, the
/// end of its loop and a refund are missing.
pub(crate) fn cart() -> FileCoverage {
    let until_exception = BTreeSet::from([(-4, 6), (6, 9), (9, 11), (11, 12), (12, -4)]);
    FileCoverage {
        path: "/project/shop/cart.py".into(),
        text: Some(CART.to_owned()),
        statements: BTreeSet::from([1, 4, 6, 7, 9, 11, 12, 13]),
        excluded: BTreeSet::from([16, 17]),
        first_lines: BTreeMap::from([(5, 4), (8, 7)]),
        branches: BTreeMap::from([
            (6, BTreeSet::from([7, 9])),
            (11, BTreeSet::from([12, -4])),
            (12, BTreeSet::from([11, 13])),
        ]),
        by_test: vec![
            (
                0,
                BTreeSet::from([(-1, 1), (1, 4), (4, 5), (5, 4), (4, 16), (16, -1)]),
            ),
            (1, until_exception.clone()),
            (2, until_exception),
        ],
        ..FileCoverage::default()
    }
}

/// Builds a report of [`cart`], a file with nothing missing, one with everything missing, an empty
/// one, and one that cannot be read.
pub(crate) fn report() -> CoverageReport {
    let file = |path: &str, text: Option<&str>| FileCoverage {
        path: path.into(),
        text: text.map(str::to_owned),
        ..FileCoverage::default()
    };
    let whole = FileCoverage {
        statements: BTreeSet::from([1, 2]),
        by_test: vec![(0, BTreeSet::from([(-1, 1), (1, 2), (2, -1)]))],
        ..file("/project/shop/prices.py", Some("ONE = 1\nTWO = 2\n"))
    };
    let unreached = FileCoverage {
        statements: BTreeSet::from([1, 2, 4]),
        branches: BTreeMap::from([(1, BTreeSet::from([2, 4]))]),
        ..file("/elsewhere/tool.py", Some("if 1 > 2:\n    a()\n\nb()\n"))
    };
    let unreadable = FileCoverage {
        statements: BTreeSet::from([1]),
        ..file("/project/gone.py", None)
    };
    CoverageReport {
        files: vec![
            cart(),
            whole,
            unreached,
            file("/project/shop/__init__.py", Some("")),
            unreadable,
        ],
        tests: vec![
            "import".to_owned(),
            "total([None])".to_owned(),
            "total([\"<b>\"]) & more".to_owned(),
        ],
        attribution: Attribution::Every,
        root: "/project".into(),
    }
}
