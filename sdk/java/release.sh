#!/bin/sh
# Puts the kit into a folder as a Maven repository: of each artifact the jar, sources, javadoc, the
# pom and Gradle's module metadata, with their checksums. A registry takes the same files.
#
#   sdk/java/release.sh OUT
#
# Needs a JDK of 9 or later. With KOTLINC, the compiler, and the jars of its libraries in
# KOTLIN_LIBS, the artifact for Kotlin is made too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jar=${JAR:-jar}
# A JDK of 17 or later can give the same bytes each time.
date=
"$jar" --help | grep -q -e --date && date=--date=2000-01-01T00:00:00Z
cd "$here"
# In a release of the sources the texts of the project lie here; in its repository, two folders up.
texts=$here
[ -e LICENSE ] || texts=$(cd ../.. && pwd)

field() { sed -n "s:^  <$2>\(.*\)</$2>:\1:p" "$1"; }

# Says one file of a variant, with its checksums.
file_of() {
  printf '{"name":"%s","url":"%s","size":%s' "$1" "$1" "$(wc -c <"$1" | tr -d ' ')"
  for sum in sha512 sha256 sha1 md5; do printf ',"%s":"%s"' $sum "$("${sum}sum" "$1" | cut -d ' ' -f 1)"; done
  printf '}'
}

# Says a variant: its name, usage or kind of documentation, file, and dependencies.
library_of() {
  printf '{"name":"%s","attributes":{"org.gradle.category":"library",' "$1"
  printf '"org.gradle.dependency.bundling":"external","org.gradle.jvm.version":8,'
  printf '"org.gradle.libraryelements":"jar","org.gradle.usage":"%s"},' "$2"
  [ -z "$4" ] || printf '"dependencies":[%s],' "$4"
  printf '"files":[%s]}' "$(file_of "$3")"
}
documents_of() {
  printf '{"name":"%sElements","attributes":{"org.gradle.category":"documentation",' "$1"
  printf '"org.gradle.dependency.bundling":"external","org.gradle.docstype":"%s",' "$1"
  printf '"org.gradle.usage":"java-runtime"},"files":[%s]}' "$(file_of "$2")"
}

# Says the dependencies of a pom as Gradle does.
dependencies_of() {
  sed -n '/<dependency>/,/<\/dependency>/p' "$1" | tr -d ' \n' |
    sed -e 's:</dependency><dependency>:,:g' -e 's:</*dependency>::g' \
      -e 's:<groupId>\([^<]*\)</groupId>:{"group"\:"\1",:g' \
      -e 's:<artifactId>\([^<]*\)</artifactId>:"module"\:"\1",:g' \
      -e 's:<version>\([^<]*\)</version>:"version"\:{"requires"\:"\1"}}:g'
}

# Makes a jar of a folder, with these files of the project. An app packs those of all its libraries
# into one folder, so that they have a path of their own.
jar_of() {
  target=$1 folder=$2 own=$2/META-INF/$artifact
  shift 2
  mkdir -p "$own"
  for each in "$@"; do cp "$texts/$each" "$own/"; done
  "$jar" --create --no-manifest $date --file "$target" -C "$folder" .
}

# Publishes an artifact: its pom, and the folders of classes, sources and documentation.
publish() {
  pom=$1
  group=$(field "$pom" groupId) artifact=$(field "$pom" artifactId) version=$(field "$pom" version)
  home=$out/$(echo "$group" | tr . /)/$artifact
  name=$artifact-$version
  rm -rf "$home/$version"
  mkdir -p "$home/$version"
  cp "$pom" "$home/$version/$name.pom"
  jar_of "$home/$version/$name.jar" "$2" LICENSE
  jar_of "$home/$version/$name-sources.jar" "$3" LICENSE CHANGELOG.md
  jar_of "$home/$version/$name-javadoc.jar" "$4" LICENSE
  cd "$home/$version"
  needs=$(dependencies_of "$name.pom")
  printf '{"formatVersion":"1.1","component":{"group":"%s","module":"%s","version":"%s",' \
    "$group" "$artifact" "$version" >"$name.module"
  printf '"attributes":{"org.gradle.status":"release"}},"variants":[%s,%s,%s,%s]}\n' \
    "$(library_of apiElements java-api "$name.jar" "$needs")" \
    "$(library_of runtimeElements java-runtime "$name.jar" "$needs")" \
    "$(documents_of sources "$name-sources.jar")" \
    "$(documents_of javadoc "$name-javadoc.jar")" >>"$name.module"
  for each in *; do
    for sum in sha1 md5 sha256 sha512; do "${sum}sum" "$each" | cut -d ' ' -f 1 >"$each.$sum"; done
  done
  printf '<metadata><groupId>%s</groupId><artifactId>%s</artifactId><versioning><release>%s</release>' \
    "$group" "$artifact" "$version" >../maven-metadata.xml
  printf '<versions><version>%s</version></versions></versioning></metadata>\n' "$version" >>../maven-metadata.xml
  cd "$here"
  echo "$home/$version"
}

mkdir -p "$work/sources" "$work/javadoc"
"${JAVAC:-javac}" --release 8 -g:source,lines -Xlint:all,-options -Werror -d "$work/classes" \
  src/org/gatepost/device/*.java
cp -R src/org "$work/sources/"
"${JAVADOC:-javadoc}" --release 8 -quiet -notimestamp -Xdoclint:all,-missing -d "$work/javadoc" \
  src/org/gatepost/device/*.java
publish pom.xml "$work/classes" "$work/sources" "$work/javadoc"

[ -n "${KOTLINC:-}" ] || exit 0
mkdir -p "$work/kotlin-sources/org/gatepost/device" "$work/kotlin-javadoc"
cp kotlin/Device.kt kotlin/Coroutines.kt "$work/kotlin-sources/org/gatepost/device/"
# Who has Kotlin 2.1 or later can read it.
"$KOTLINC" -no-stdlib -no-reflect -module-name gatepost-device-kotlin -jvm-target 1.8 -language-version 2.1 -api-version 2.1 \
  -cp "$work/classes:$KOTLIN_LIBS" -d "$work/kotlin" kotlin/Device.kt kotlin/Coroutines.kt
# Its documentation is in its sources.
cp README.md "$work/kotlin-javadoc/"
publish kotlin/pom.xml "$work/kotlin" "$work/kotlin-sources" "$work/kotlin-javadoc"
