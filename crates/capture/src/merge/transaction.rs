//! Writes several files so that either all of them change or none.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Its path.
    pub path: PathBuf,
    /// Its content when the change was computed; `None` if there was no file.
    pub before: Option<Vec<u8>>,
    /// Its new content.
    pub after: Vec<u8>,
}

/// Files that are to be written together.
#[derive(Debug, Clone, Default)]
pub struct Transaction {
    /// The files.
    pub changes: Vec<FileChange>,
}

/// The reason why nothing was written.
#[derive(Debug)]
pub enum WriteError {
    /// A file was changed in the meantime.
    ChangedMeanwhile(PathBuf),
    /// The operating system reported an error.
    #[allow(missing_docs, reason = "the file and the reason")]
    Refused { path: PathBuf, error: io::Error },
}

impl Transaction {
    /// Writes all files, each by a new file that atomically replaces the old one.
    ///
    /// # Errors
    /// If one cannot be written. Then the others are restored.
    pub fn commit(&self) -> Result<(), WriteError> {
        let mut prepared = Vec::new();
        for change in &self.changes {
            if read(&change.path)? != change.before {
                return Err(WriteError::ChangedMeanwhile(change.path.clone()));
            }
            prepared.push(prepare(&change.path, &change.after)?);
        }
        for (done, (change, file)) in self.changes.iter().zip(prepared).enumerate() {
            if let Err(error) = file.persist(&change.path) {
                self.restore_first(done);
                return Err(write_error(&change.path, error.error));
            }
        }
        Ok(())
    }

    /// Undoes the first `done` changes, as far as possible.
    fn restore_first(&self, done: usize) {
        for change in self.changes.iter().take(done) {
            let undone = match &change.before {
                Some(before) => fs::write(&change.path, before),
                None => fs::remove_file(&change.path),
            };
            // Further errors are dropped, because the first one is reported.
            drop(undone);
        }
    }
}

/// Reads a file; `None` if it does not exist.
fn read(path: &Path) -> Result<Option<Vec<u8>>, WriteError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(write_error(path, error)),
    }
}

/// Writes a file beside the one that it will replace, with the same permissions.
fn prepare(path: &Path, bytes: &[u8]) -> Result<tempfile::NamedTempFile, WriteError> {
    let written = || -> io::Result<tempfile::NamedTempFile> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let permissions = match fs::metadata(path) {
            Ok(metadata) => metadata.permissions(),
            Err(_) => usual_permissions(folder)?,
        };
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().set_permissions(permissions)?;
        file.as_file().sync_all()?;
        Ok(file)
    };
    written().map_err(|error| write_error(path, error))
}

/// Returns the permissions of new files. Temporary files are private to their owner, so a new file
/// is created to find out.
fn usual_permissions(folder: &Path) -> io::Result<fs::Permissions> {
    let name = format!(".testwright-{}", std::process::id());
    let path = folder.join(name);
    let file = fs::File::create(&path)?;
    let permissions = file.metadata().map(|metadata| metadata.permissions());
    fs::remove_file(&path)?;
    permissions
}

/// Wraps an error of the operating system.
fn write_error(path: &Path, error: io::Error) -> WriteError {
    WriteError::Refused {
        path: path.to_owned(),
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &Path, before: Option<&str>, after: &str) -> FileChange {
        FileChange {
            path: path.to_owned(),
            before: before.map(|text| text.as_bytes().to_vec()),
            after: after.as_bytes().to_vec(),
        }
    }

    #[test]
    fn all_files_or_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let (first, second) = (folder.path().join("new/a.py"), folder.path().join("b.py"));
        fs::write(&second, "old").expect("a file");
        let stale = Transaction {
            changes: vec![
                change(&first, None, "x"),
                change(&second, Some("other"), "y"),
            ],
        };
        assert!(matches!(
            stale.commit(),
            Err(WriteError::ChangedMeanwhile(path)) if path == second
        ));
        assert!(!first.exists());
        let fresh = Transaction {
            changes: vec![change(&first, None, "x"), change(&second, Some("old"), "y")],
        };
        fresh.commit().expect("written");
        assert_eq!(fs::read_to_string(&first).expect("a text"), "x");
        assert_eq!(fs::read_to_string(&second).expect("a text"), "y");
        let left: Vec<_> = fs::read_dir(folder.path()).expect("a listing").collect();
        assert_eq!(left.len(), 2);
    }

    #[test]
    fn written_files_are_restored_if_the_rest_fails() {
        let folder = tempfile::tempdir().expect("a folder");
        let (first, second) = (folder.path().join("a.py"), folder.path().join("b.py"));
        fs::write(&first, "old").expect("a file");
        let transaction = Transaction {
            changes: vec![
                change(&first, Some("old"), "new"),
                change(&second, None, "x"),
            ],
        };
        // A folder in the place of a file is only noticed when the file is put there.
        let mut prepared = Vec::new();
        for each in &transaction.changes {
            prepared.push(prepare(&each.path, &each.after).expect("prepared"));
        }
        fs::write(&first, "new").expect("a file");
        transaction.restore_first(1);
        assert_eq!(fs::read_to_string(&first).expect("a text"), "old");
    }
}
