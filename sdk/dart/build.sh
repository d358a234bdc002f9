#!/bin/sh
# Builds driver, sample and the player of test/cases.json into dist/kits/dart (or the folder that is
# named). Needs Dart of 3.3 or later, and no package.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../dist/kits/dart}
mkdir -p "$out"
out=$(cd "$out" && pwd)
# Dart writes beside the sources: those stay as they are.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$here"/. "$work"
cd "$work"
dart pub get --offline
dart analyze --fatal-warnings
dart compile exe -o "$out/driver" bin/driver.dart
dart compile exe -o "$out/sample" example/sample.dart
dart compile exe -o "$out/cases" test/cases.dart
