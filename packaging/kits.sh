#!/usr/bin/env bash
# Packs kits for devices, each with its version, licence and changelog:
#
#   packaging/kits.sh FOLDER [KIT…]         called by make kits and make release; without names, all
#
# The kit for TypeScript becomes a package of npm, the others archives of their sources. The same
# commit gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

bun=$(.ci/bun)
export ROOT=$PWD LC_ALL=C
out=$(realpath -m "$1")
shift
version=$("$bun" --print 'require("./package.json").version')
date=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y package.json)}
umask 022
mkdir -p "$out" dist
[ $# -gt 0 ] || set -- $(ls sdk)

# Built in a copy: the sources stay as they are.
work=$(mktemp -d dist/kits-XXXXXX)
trap 'rm -rf "$work"' EXIT

for kit in "$@"; do
  if [ "$kit" = typescript ]; then
    cp -r sdk/typescript "$work/"
    chmod -R u=rwX,go=rX "$work"
    (cd "$work/typescript" && "$bun" pm pack --quiet --destination "$out" >/dev/null)
    continue
  fi
  name=gatepost-device-$kit-$version
  # Some kits have their own.
  more=$(for file in LICENSE CHANGELOG.md; do [ -e "sdk/$kit/$file" ] || echo $file; done)
  { git ls-files "sdk/$kit" 2>/dev/null || find "sdk/$kit" -type f; } |
    tar --sort=name --mtime="@$date" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
      --transform "s|^sdk/$kit/||;s|^|$name/|" -cf - -T - $more |
    gzip -9n >"$out/$name.tar.gz"
done
