#!/bin/sh
# Builds the kit, its driver and its sample into dist/kits/java (or the folder that is named). Needs
# a JDK of 9 or later, which compiles for Java 8.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../dist/kits/java}
mkdir -p "$out/kit" "$out/tools"
cd "$here"
# A newer JDK says that Java 8 is old: -options. Nothing else may be warned about.
javac="${JAVAC:-javac} --release 8 -g:none -Xlint:all,-options -Werror"
$javac -d "$out/kit" src/org/gatepost/device/*.java
(cd "$out/kit" && "${JAR:-jar}" cfM ../gatepost-device.jar org/gatepost/device/*.class)
$javac -cp "$out/gatepost-device.jar" -d "$out/tools" \
  driver/org/gatepost/device/*.java sample/*.java
