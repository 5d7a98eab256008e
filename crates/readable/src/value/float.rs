//! Floating-point numbers that are compared and written as Python writes them.

/// A floating-point number. Two are equal if Python writes them alike: not-a-number equals itself,
/// and minus zero differs from zero.
#[derive(Debug, Clone, Copy)]
pub struct PythonFloat(pub f64);

impl PartialEq for PythonFloat {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits() || (self.0.is_nan() && other.0.is_nan())
    }
}

impl Eq for PythonFloat {}

impl PythonFloat {
    /// Returns Python's `repr`: the shortest text that reads back as the same number.
    #[must_use]
    pub fn to_python(self) -> String {
        if self.0.is_nan() {
            return "nan".to_owned();
        }
        if self.0.is_infinite() {
            return if self.0 > 0.0 { "inf" } else { "-inf" }.to_owned();
        }
        // Rust's digits are the shortest, too. Only the position of the point and the use of an
        // exponent differ.
        let scientific = format!("{:e}", self.0);
        let Some((mantissa, exponent)) = scientific.split_once('e') else {
            return scientific;
        };
        let exponent: i32 = exponent.parse().unwrap_or_default();
        if !(-4..16).contains(&exponent) {
            let sign = if exponent < 0 { '-' } else { '+' };
            return format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs());
        }
        let plain = format!("{}", self.0);
        if plain.contains('.') {
            plain
        } else {
            format!("{plain}.0")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_python_writes_them() {
        for (number, expected) in [
            (1.0, "1.0"),
            (-2.5, "-2.5"),
            (-0.0, "-0.0"),
            (1e16, "1e+16"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (1e15, "1000000000000000.0"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e100, "1e+100"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (0.1 + 0.2, "0.30000000000000004"),
        ] {
            assert_eq!(PythonFloat(number).to_python(), expected);
        }
    }

    #[test]
    fn equality_is_that_of_the_text() {
        assert_eq!(PythonFloat(f64::NAN), PythonFloat(f64::NAN));
        assert_ne!(PythonFloat(0.0), PythonFloat(-0.0));
    }
}
