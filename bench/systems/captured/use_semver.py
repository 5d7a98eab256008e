"""Compares and bumps versions as a release script does."""

from semver import Version


def refused(action, *arguments, **keywords):
    try:
        print(action(*arguments, **keywords))
    except (IndexError, TypeError, ValueError) as error:
        print(type(error).__name__, error)


def parts():
    version = Version.parse("3.4.5-pre.2+build.4")
    print(version, version.major, version.minor, version.patch, version.prerelease, version.build)
    print(
        version.to_dict(),
        version.to_tuple(),
        repr(version),
        list(version),
        hash(version) == hash(version),
    )
    print(version[0], version[0:2], version[3], version.finalize_version())
    print(
        Version(1),
        Version(1, 2, prerelease="rc.1"),
        Version.parse("1.2", optional_minor_and_patch=True),
    )
    print(Version.is_valid("1.0.0"), Version.is_valid("1.0"))
    for text in ("", "1.0", "01.2.3", "1.2.3-"):
        refused(Version.parse, text)
    refused(Version, -1)
    refused(Version.parse, 3)
    refused(version.__getitem__, -1)
    refused(Version(1).__getitem__, 4)


def bumps():
    version = Version.parse("3.4.5-pre.2+build.4")
    print(version.bump_major(), version.bump_minor(), version.bump_patch())
    print(
        version.bump_prerelease(),
        version.bump_build(),
        Version(1).bump_prerelease("beta"),
        Version(1).bump_build(""),
    )
    print(
        version.next_version("major"),
        version.next_version("prerelease"),
        Version(1).next_version("patch"),
    )
    print(Version.parse("1.0.0-rc.1").next_version("major"), Version(1).next_version("minor"))
    refused(version.next_version, "epoch")
    print(version.replace(major=2, patch=9), version.replace(prerelease=None))
    refused(version.replace, unknown=1)


def order():
    old, new = Version.parse("1.0.0"), Version.parse("2.0.0-alpha")
    print(
        old < new, old <= new, old > new, old >= new, old == new, old != "1.0.0", old == (1, 0, 0)
    )
    print(
        old.compare("1.0.0-rc.1"),
        old.compare({"major": 1}),
        new.compare([2, 0, 0]),
        old.compare(new),
    )
    print(
        Version.parse("1.0.0-a.1").compare("1.0.0-a.b"),
        Version.parse("1.0.0-a").compare("1.0.0-a.1"),
    )
    print(sorted(map(Version.parse, ["1.2.0", "1.10.0", "1.2.0-rc.1"])), max(old, new))
    print(old.match(">=1.0.0"), old.match("!=1.0.0"), old.match("1.0.0"), new.match("<2.0.0"))
    print(
        old.is_compatible(Version(1, 4)),
        new.is_compatible(old),
        Version(0, 1).is_compatible(Version(0, 1)),
    )
    refused(old.match, "~1")
    refused(old.compare, 5)
    refused(old.is_compatible, "1.0.0")
    refused(lambda: old < 5)


if __name__ == "__main__":
    parts()
    bumps()
    order()
