//! Masking of passwords, tokens and keys before anything is stored.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

use testwright_capture::MASKED;

/// Words that mark a name as that of a secret.
const SECRET_WORDS: [&str; 9] = [
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

/// The minimum length of a secret. Shorter ones would match unrelated text.
const MIN_SECRET_LENGTH: usize = 6;

/// Secrets whose value is known.
static KNOWN_SECRETS: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// Returns true if a name, or a text, contains a word that marks secrets.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase().replace('-', "_");
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// Adds a secret to mask wherever it occurs.
pub(super) fn add_known(secret: &str) {
    let mut known = KNOWN_SECRETS
        .write()
        .unwrap_or_else(PoisonError::into_inner);
    if secret.len() >= MIN_SECRET_LENGTH && !known.iter().any(|one| one == secret) {
        known.push(secret.to_owned());
    }
}

/// Masks the secrets in a text: known ones, and the values after names of secrets in a line.
pub(in crate::recorder) fn mask(text: &str) -> Cow<'_, str> {
    let mut result = Cow::Borrowed(text);
    if text.len() < MIN_SECRET_LENGTH {
        return result;
    }
    for secret in KNOWN_SECRETS
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
    {
        if result.contains(secret.as_str()) {
            result = Cow::Owned(result.replace(secret.as_str(), MASKED));
        }
    }
    // Most texts have no separator that could precede a value.
    if result.contains(['=', ':']) && is_secret(&result) {
        let lines: Vec<String> = result.split('\n').map(mask_line).collect();
        result = Cow::Owned(lines.join("\n"));
    }
    result
}

/// Masks the value after the name of a secret, as in `password = hunter2`.
fn mask_line(line: &str) -> String {
    let lower = line.to_lowercase().replace('-', "_");
    // Some letters change their length with their case, which would shift the positions below.
    if lower.len() != line.len() {
        return line.to_owned();
    }
    for word in SECRET_WORDS {
        let Some(word_start) = lower.find(word) else {
            continue;
        };
        let word_end = word_start + word.len();
        let Some(rest) = line.get(word_end..) else {
            continue;
        };
        let separator = rest.find(['=', ':']).filter(|separator| {
            rest[..*separator]
                .chars()
                .all(|one| one.is_alphanumeric() || "_ \"'".contains(one))
        });
        if let Some(separator) = separator
            && !rest[separator + 1..].trim().is_empty()
        {
            return format!("{}{} {MASKED}", &line[..word_end], &rest[..=separator]);
        }
    }
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_after_secret_names_are_masked() {
        let text = "user = ann\npassword = hunter2\nAuthorization: Bearer abc\nplain: text";
        let expected = "user = ann\npassword = <masked>\nAuthorization: <masked>\nplain: text";
        assert_eq!(mask(text), expected);
        assert_eq!(mask("the password is not here"), "the password is not here");
    }

    #[test]
    fn a_known_secret_is_masked_everywhere() {
        add_known("s3cr3t-value");
        assert_eq!(mask("GET /?q=s3cr3t-value"), "GET /?q=<masked>");
    }

    #[test]
    fn names_of_secrets_are_recognised() {
        assert!(is_secret("GITHUB_TOKEN") && is_secret("db-password") && !is_secret("HOME"));
    }
}
