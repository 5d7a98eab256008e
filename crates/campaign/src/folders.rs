//! Folders that code under test may have done anything to.

use std::fs;
use std::io;
use std::path::Path;

/// Removes a folder, also where code under test has taken the right to do so away. Whether it is gone.
pub fn remove_folder(path: &Path) -> bool {
    if fs::remove_dir_all(path).is_ok() {
        return true;
    }
    allow_all(path);
    fs::remove_dir_all(path).is_ok()
}

fn allow_all(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(kind) = fs::symlink_metadata(path) else {
        return;
    };
    if kind.is_dir() {
        let _may_be_somebody_elses = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            allow_all(&entry.path());
        }
    }
}

/// Copies a folder with what is in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
