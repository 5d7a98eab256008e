"""Compares versions, requirements and files as an installer does."""

from packaging.markers import InvalidMarker, Marker, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.tags import Tag, parse_tag
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    canonicalize_version,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version, parse

ENVIRONMENT = {
    "python_version": "3.11",
    "python_full_version": "3.11.7",
    "sys_platform": "linux",
    "os_name": "posix",
    "platform_machine": "x86_64",
}


def refused(action, *arguments):
    try:
        print(action(*arguments))
    except (
        InvalidMarker,
        InvalidRequirement,
        InvalidSdistFilename,
        InvalidSpecifier,
        InvalidVersion,
        InvalidWheelFilename,
        UndefinedEnvironmentName,
    ) as error:
        print(type(error).__name__, error)


def versions():
    texts = ["1.0", "1.0.post1", "1.0a2", "1.0rc1", "1.0.dev3", "1!0.5", "v2.0", "1.0+local.7"]
    found = sorted(parse(text) for text in texts)
    print([str(version) for version in found])
    newest = Version("1!2.3.4rc5.post6.dev7+ubuntu.8")
    print(newest.epoch, newest.release, newest.pre, newest.post, newest.dev, newest.local)
    print(newest.major, newest.minor, newest.micro, newest.public, newest.base_version)
    print(newest.is_prerelease, newest.is_postrelease, newest.is_devrelease, repr(newest))
    print(Version("1.0") == Version("1.0.0"), hash(Version("1.0")) == hash(Version("1.0.0")))
    print(Version("2") > Version("1.9"), Version("1.0a1") <= Version("1.0b1"), Version("1") != 1)
    for text in ("", "one", "1..0"):
        refused(Version, text)


def specifiers():
    wanted = SpecifierSet(">=1.0,!=1.3,<2")
    print("1.2" in wanted, "1.3" in wanted, Version("2.0") in wanted, len(wanted), wanted)
    print(list(wanted.filter(["0.9", "1.0", "1.5a1", "1.5", "2.1"])))
    print(wanted.contains("1.5a1"), wanted.contains("1.5a1", prereleases=True), wanted.prereleases)
    print(wanted & SpecifierSet("~=1.4"), wanted == SpecifierSet("<2,>=1.0,!=1.3"))
    for text in ("==1.*", "!=1.1.*", "~=2.2", "===odd", "<=3", ">1.0", "<1.5", "==1.0+local"):
        specifier = Specifier(text)
        fitting = [version for version in ("1.0", "1.5", "2.3", "3.0") if version in specifier]
        print(specifier.operator, specifier.version, fitting, specifier.prereleases)
    print(Specifier("==1.0") == Specifier("==1.0.0"), hash(Specifier(">1")), repr(Specifier(">1")))
    for text in ("1.0", "~=1", "==", ">=1.*"):
        refused(Specifier, text)


def requirements():
    for text in (
        "requests",
        "requests[security,socks]>=2.8.1,==2.8.*",
        'tomli>=1.1; python_version < "3.11"',
        "pip @ https://example.org/pip.zip",
        "name (>=2)",
    ):
        requirement = Requirement(text)
        print(requirement, sorted(requirement.extras), requirement.url, requirement.marker)
    print(Requirement("a>=1") == Requirement("A>=1"), repr(Requirement("a")))
    for text in ("", "name==", "name @", "name[extra", "name; python_version", "-bad"):
        refused(Requirement, text)


def markers():
    for text in (
        'python_version >= "3.8"',
        'sys_platform == "win32" or os_name == "posix"',
        '(python_version < "3" and os_name == "nt") or extra == "test"',
        '"linux" in sys_platform',
        'platform_machine not in "arm aarch64"',
    ):
        marker = Marker(text)
        print(marker, marker.evaluate({**ENVIRONMENT, "extra": "test"}), repr(marker))
    print(Marker('os_name == "nt"') == Marker("os_name == 'nt'"))
    for text in ("os_name", 'colour == "red"', 'os_name == "nt" and', ""):
        refused(Marker, text)


def files():
    name, version, build, tags = parse_wheel_filename("shop_till-1.2.0-1-py3-none-any.whl")
    print(name, version, build, [str(tag) for tag in tags])
    print(parse_sdist_filename("shop-till-1.2.0.tar.gz"))
    for name in ("shop.whl", "shop-1.0-py3-none.whl", "shop-1.0-x-py3-none-any.whl", "a-1.zip"):
        refused(parse_wheel_filename, name)
    for name in ("shop.tar.gz", "shop-one.tar.gz", "shop-1.0.rar"):
        refused(parse_sdist_filename, name)
    print(canonicalize_name("Shop__Till.Core"), canonicalize_version("1.0.0"))
    print(canonicalize_version("odd"), canonicalize_version("1.0.0", strip_trailing_zero=False))
    print(sorted(map(str, parse_tag("py2.py3-none-any"))), Tag("cp311", "cp311", "any"))


if __name__ == "__main__":
    versions()
    specifiers()
    requirements()
    markers()
    files()
