//! Removal and copying of folders whose contents and permissions code under test may have changed.

use std::fs;
use std::io;
use std::path::Path;

/// Removes a folder, even if code under test has removed write permissions in it. Returns true if
/// it is gone.
pub fn remove_folder(path: &Path) -> bool {
    if fs::remove_dir_all(path).is_ok() {
        return true;
    }
    grant_access(path);
    fs::remove_dir_all(path).is_ok()
}

/// Gives the owner full access to a folder and all folders in it, as far as possible.
fn grant_access(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(kind) = fs::symlink_metadata(path) else {
        return;
    };
    if kind.is_dir() {
        let _may_be_owned_by_others = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            grant_access(&entry.path());
        }
    }
}

/// Copies a folder with its contents.
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
