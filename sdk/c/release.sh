#!/bin/sh
# Puts the release of the kit, gatepost-device-c-VERSION.tar.gz, into a folder: its sources with the
# changelog and the licence. The same files give the same bytes.
#
#   sdk/c/release.sh OUT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=$(sed -n 's/^#define GATEPOST_VERSION "\(.*\)"/\1/p' "$here/gatepost.h")
name=gatepost-device-c-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/$name"
cd "$here"
cp -R CMakeLists.txt README.md build.sh cmake driver gatepost.c gatepost.h net sample.c test \
  ../../LICENSE ../../CHANGELOG.md "$work/$name"
cd "$work"
find "$name" -type f | LC_ALL=C sort | tar --create --files-from - --owner 0 --group 0 --numeric-owner \
  --mode 'u=rwX,go=rX' --mtime "@${SOURCE_DATE_EPOCH:-0}" | gzip -9n >"$out/$name.tar.gz"
echo "$out/$name.tar.gz"
