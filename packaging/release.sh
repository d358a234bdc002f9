#!/usr/bin/env bash
# Puts into dist/release/ all that a release page needs, from the executables of these platforms:
#
#   packaging/release.sh x64 arm64 …        called by make release
#
# RELEASE_KEY=file        the publisher's Ed25519 key of ssh-keygen, or the .pub of one that an agent
#                         holds; without it, nothing is signed
# RELEASE_URL=address     where these files will be, those of later versions too: install.sh
#                         downloads from there, and the package has it in a comment
# IMAGES="amd64 arm64"    the images to make, of those platforms; empty: none
# KITS="go java"          the kits of sdk/ to pack; without it all, empty: none
# FROM=dist OUT=folder    other folders, for tests; OUT must not exist
#
# The same commit gives the same bytes, on machines with the same C library (it is in the images).
set -euo pipefail
cd "$(dirname "$0")/.."

bun=$(.ci/bun)
version=$("$bun" --print 'require("./package.json").version')
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y package.json)}
export SOURCE_DATE_EPOCH LC_ALL=C
date=$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%d)
from=${FROM:-dist}
out=${OUT:-dist/release}

case ${RELEASE_URL:-} in
  *[!A-Za-z0-9:/._~%-]*) echo 'RELEASE_URL is no plain address' >&2 && exit 1 ;;
esac
# The public half, as "ssh-ed25519 AAAA…" without its comment; empty: there is no key.
public=
if [ -n "${RELEASE_KEY:-}" ]; then
  case $RELEASE_KEY in
    *.pub) public=$(cat "$RELEASE_KEY") ;;
    *) public=$(ssh-keygen -y -f "$RELEASE_KEY") ;;
  esac
  public=$(cut -d ' ' -f 1,2 <<<"$public")
  case $public in
    'ssh-ed25519 '*) ;;
    *) echo "RELEASE_KEY is no Ed25519 key: ssh-keygen -t ed25519 makes one" >&2 && exit 1 ;;
  esac
fi

[ -n "${OUT:-}" ] || rm -rf dist/release
mkdir -p "$(dirname "$out")"
mkdir "$out"
for platform in "$@"; do
  install -m 755 "$from/gatepost-linux-$platform" "$out/"
  case $platform in
    x64) architecture=amd64 ;;
    arm64) architecture=arm64 ;;
    *) continue ;;
  esac
  OUT=$out RELEASE_PUBLIC=$public packaging/build-deb.sh $architecture "$from/gatepost-linux-$platform"
  case " ${IMAGES-amd64 arm64} " in
    *" $architecture "*)
      "$bun" packaging/image.ts $architecture "$from/gatepost-linux-$platform" \
        "$out/gatepost_${version}_image_$architecture.tar"
      ;;
  esac
done
"$bun" packaging/sbom.ts "$version" "${date}T00:00:00Z" >"$out/gatepost_$version.cdx.json"
[ "${KITS-all}" = "" ] || packaging/kits.sh "$out" ${KITS-}
sed "s/@VERSION@/$version/" packaging/compose.yaml >"$out/compose.yaml"
sed -e "s|^version=.*|version='$version'|" -e "s|^key=.*|key='$public'|" \
  -e "s|^url=.*|url='${RELEASE_URL:-}'|" packaging/install.sh >"$out/install.sh"
chmod 755 "$out/install.sh"

sums=$(cd "$out" && sha256sum -- *)
echo "$sums" >"$out/SHA256SUMS"
if [ -n "$public" ]; then
  # The namespace: a signature for another purpose is none for a release.
  said=$(ssh-keygen -Y sign -f "$RELEASE_KEY" -n gatepost "$out/SHA256SUMS" 2>&1) || {
    echo "SHA256SUMS could not be signed: $said" >&2 && exit 1
  }
  echo "$out is complete; SHA256SUMS is signed by $public"
else
  echo "$out is complete, but nothing is signed: RELEASE_KEY names no key, so install.sh and" \
    "'gatepost update --check' accept none of it"
fi
[ -n "${RELEASE_URL:-}" ] || echo 'RELEASE_URL is empty: install.sh needs its --url'
