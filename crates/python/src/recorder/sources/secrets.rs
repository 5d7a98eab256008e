//! Passwords, tokens and keys are replaced before anything is kept.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

use testwright_capture::MASKED;

/// What secrets are called.
const WORDS: [&str; 9] = [
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "private_key",
    "credential",
    "authorization",
];

/// Anything shorter would be found in texts that have nothing to do with it.
const SHORTEST: usize = 6;

/// Secrets whose value is known.
static KNOWN: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// Whether something of this name is a secret, or a text mentions one.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase().replace('-', "_");
    WORDS.iter().any(|word| name.contains(word))
}

/// From now on this text is masked wherever it turns up.
pub(super) fn learn(secret: &str) {
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if secret.len() >= SHORTEST && !known.iter().any(|one| one == secret) {
        known.push(secret.to_owned());
    }
}

/// A text without secrets: those that are known, and what stands behind the name of one in a line.
pub(in crate::recorder) fn masked(text: &str) -> Cow<'_, str> {
    let mut result = Cow::Borrowed(text);
    if text.len() < SHORTEST {
        return result;
    }
    for secret in KNOWN.read().unwrap_or_else(PoisonError::into_inner).iter() {
        if result.contains(secret.as_str()) {
            result = Cow::Owned(result.replace(secret.as_str(), MASKED));
        }
    }
    // Most texts have no sign that anything could stand behind.
    if result.contains(['=', ':']) && is_secret(&result) {
        let lines: Vec<String> = result.split('\n').map(masked_line).collect();
        result = Cow::Owned(lines.join("\n"));
    }
    result
}

/// `password = hunter2` without what comes behind the sign.
fn masked_line(line: &str) -> String {
    let lower = line.to_lowercase().replace('-', "_");
    // Some letters change their length when they change their case; then the places below would be others.
    if lower.len() != line.len() {
        return line.to_owned();
    }
    for word in WORDS {
        let Some(at) = lower.find(word) else {
            continue;
        };
        let behind = at + word.len();
        let Some(rest) = line.get(behind..) else {
            continue;
        };
        let sign = rest.find(['=', ':']).filter(|sign| {
            rest[..*sign]
                .chars()
                .all(|one| one.is_alphanumeric() || "_ \"'".contains(one))
        });
        if let Some(sign) = sign
            && !rest[sign + 1..].trim().is_empty()
        {
            return format!("{}{} {MASKED}", &line[..behind], &rest[..=sign]);
        }
    }
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_a_secret_name_is_masked() {
        let text = "user = ann\npassword = hunter2\nAuthorization: Bearer abc\nplain: text";
        let expected = "user = ann\npassword = <masked>\nAuthorization: <masked>\nplain: text";
        assert_eq!(masked(text), expected);
        assert_eq!(
            masked("the password is not here"),
            "the password is not here"
        );
    }

    #[test]
    fn a_known_secret_is_masked_everywhere() {
        learn("s3cr3t-value");
        assert_eq!(masked("GET /?q=s3cr3t-value"), "GET /?q=<masked>");
    }

    #[test]
    fn names_of_secrets_are_recognised() {
        assert!(is_secret("GITHUB_TOKEN") && is_secret("db-password") && !is_secret("HOME"));
    }
}
