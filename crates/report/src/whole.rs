//! Writing so that nothing is ever half there: into a neighbour first, which then takes the name.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::Error;

/// Lets `fill` write to a neighbour of `path`, which takes its name if that worked and vanishes if not.
pub(crate) fn write_whole<E>(
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), Error>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let neighbour = neighbour(path);
    let filled = fill(&neighbour).map_err(|cause| Error::new(path, cause));
    let written = filled.and_then(|()| {
        // On the disk before it has the name, so that not even a power cut leaves half a file under that name.
        // For writing, because Windows flushes no file that was opened for reading.
        let flushed = File::options().write(true).open(&neighbour);
        (flushed.and_then(|file| file.sync_all()))
            .and_then(|()| fs::rename(&neighbour, path))
            .map_err(|cause| Error::new(path, cause))
    });
    if written.is_err() {
        // It may not exist; then there is nothing to tidy up.
        let _ = fs::remove_file(&neighbour);
    }
    written
}

/// Writes a text completely or not at all.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    write_whole(path, |neighbour| {
        File::create(neighbour).and_then(|mut file| file.write_all(text.as_bytes()))
    })
}

/// In the same folder, because a file cannot be renamed into another file system; and with the process in its name,
/// because another process may be writing the same report.
fn neighbour(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A name may be as long as the file system allows, so not all of it is repeated.
    let name: String = name.chars().take(40).collect();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report");
        write_text(&path, "one").unwrap();
        write_text(&path, "two").unwrap();
        let error = write_whole(&path, |neighbour| {
            fs::write(neighbour, "thr").unwrap();
            Err("no space left")
        })
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("cannot write `{}`", path.display())
        );
        assert_eq!(error.cause.to_string(), "no space left");
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
