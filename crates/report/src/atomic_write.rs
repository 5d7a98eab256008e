//! Atomic writes: into a temporary file in the same folder, which is then renamed. Devices and pipes
//! are written to directly.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::Error;

/// Returns true if the path leads to a device, a pipe or a socket. These are written to and never
/// replaced by a file.
pub fn is_special_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| !facts.is_file() && !facts.is_dir())
}

/// Lets `fill` write a temporary file, and renames it to `path` on success. Removes it on failure.
/// A device or a pipe is filled directly.
pub(crate) fn write_atomically<E>(
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), Error>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if is_special_file(path) {
        return fill(path).map_err(|cause| Error::new(path, cause));
    }
    let temporary_path = temporary_path(path);
    let filled = fill(&temporary_path).map_err(|cause| Error::new(path, cause));
    let written = filled.and_then(|()| {
        // The content is flushed to disk before the file gets its name, so that not even a power
        // cut leaves half a file under that name. It is opened for writing, because Windows does
        // not flush a file that was opened for reading.
        let flushed = File::options().write(true).open(&temporary_path);
        (flushed.and_then(|file| file.sync_all()))
            .and_then(|()| fs::rename(&temporary_path, path))
            .map_err(|cause| Error::new(path, cause))
    });
    if written.is_err() {
        // The file may not exist, which is fine.
        let _ = fs::remove_file(&temporary_path);
    }
    written
}

/// Writes a text completely or not at all.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    write_atomically(path, |temporary_path| {
        File::create(temporary_path).and_then(|mut file| file.write_all(text.as_bytes()))
    })
}

/// Returns the path of the temporary file. It is in the same folder, because a file cannot be
/// renamed into another file system. Its name contains the process, because another process may
/// write the same report.
fn temporary_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A name may be as long as the file system allows, so only a part of it is repeated.
    let name: String = name.chars().take(40).collect();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_written_to_and_stays_a_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).unwrap()
        });
        write_text(&pipe, "one").unwrap();
        assert_eq!(reader.join().unwrap(), "one");
        assert!(is_special_file(&pipe));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn all_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report");
        write_text(&path, "one").unwrap();
        write_text(&path, "two").unwrap();
        let error = write_atomically(&path, |temporary_path| {
            fs::write(temporary_path, "thr").unwrap();
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
