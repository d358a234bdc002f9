#!/usr/bin/env bash
# Installs, upgrades, removes and purges the Debian package in a Debian root of its own: once where
# systemd does not run, once under a systemd of its own. Needs root, a Debian host, debootstrap, curl
# and the network: packages come from where this machine's apt has them. Everything is made in a
# temporary folder, which is removed.
#
#   LAST_RELEASE=commit   where the previous release was, else the last tag, else where the
#                         version in package.json last changed
#   DEBIAN_ROOT=folder    an unpacked root to copy in place of running debootstrap
set -euo pipefail
cd "$(dirname "$0")/../.."
. packaging/test/expect.sh

[ "$(id -u)" = 0 ] || fail 'this test must run as root'
for tool in debootstrap curl jq dpkg-deb unshare nsenter systemd-analyze; do
  command -v "$tool" >/dev/null || fail "$tool is not installed"
done

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root
export root work

say 'The unit'
systemd-analyze security --offline=true --threshold=20 --no-pager packaging/gatepost.service | tail -n 2

say 'A Debian root'
if [ -n "${DEBIAN_ROOT:-}" ]; then
  cp -a "$DEBIAN_ROOT" "$root"
else
  suite=${SUITE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
  mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
    "Codename: $suite" | head -n 1)}
  # sudo and what follows are for the walk of walk.sh.
  packages=systemd,systemd-sysv,iproute2,sudo,curl,openssl,postgresql
  timeout 900 debootstrap --variant=minbase "--include=$packages" \
    "$suite" "$root" "$mirror" >"$work/debootstrap.log" || fail "$(tail "$work/debootstrap.log")"
fi
echo "ok  Debian $(cat "$root/etc/debian_version")"

say 'Packages'
version=$("$(.ci/bun)" --print 'require("./package.json").version')
next=$version+next
export version next
mkdir "$root/packages"
export OUT=$root/packages DEB_COMPRESSION=none
case $(dpkg --print-architecture) in
  amd64) executable=dist/gatepost-linux-x64 ;;
  arm64) executable=dist/gatepost-linux-arm64 ;;
  *) fail 'there is no package for this architecture' ;;
esac
architecture=$(dpkg --print-architecture)
packaging/build-deb.sh "$architecture" "$executable" | sed "s|$work|…|"
VERSION=$next packaging/build-deb.sh "$architecture" "$executable" | sed "s|$work|…|"
# The next version brings another configuration file.
dpkg-deb --raw-extract "$OUT/gatepost_${next}_$architecture.deb" "$work/next"
echo '# A line of the next version.' >>"$work/next/usr/share/gatepost/gatepost.toml"
dpkg-deb --root-owner-group -Znone --build "$work/next" "$OUT/gatepost_${next}_$architecture.deb" >/dev/null
rm -rf "$work/next"
mv "$OUT/gatepost_${version}_$architecture.deb" "$OUT/this.deb"
mv "$OUT/gatepost_${next}_$architecture.deb" "$OUT/next.deb"

# The commit that gave the release before its version.
before=$(git log -2 --format=%H -G'"version":' -- package.json 2>/dev/null | sed -n 2p)
last=${LAST_RELEASE:-$(git describe --tags --abbrev=0 2>/dev/null || echo "$before")}
if [ -n "$last" ]; then
  mkdir "$work/last"
  git archive "$last" | tar -x -C "$work/last"
  make --silent -C "$work/last" build >"$work/last.log" 2>&1 || fail "$(tail "$work/last.log")"
  mv "$work/last/dist/gatepost" "$root/packages/gatepost-last"
  rm -rf "$work/last"
  echo "ok  the program of $(git log -1 --format='%h, %s' "$last")"
else
  echo 'There was no release before this one; LAST_RELEASE=commit names another program.'
fi

# What dpkg saw of older releases: their scripts and their conffile, with the program of this one.
for old in 0.17.0 0.19.0; do
  commit=$(git log --format=%H -S"\"version\": \"$old\"" -- package.json 2>/dev/null | tail -n 1)
  if [ -z "$commit" ]; then
    echo "The history has no $old."
    continue
  fi
  rm -rf "$work/old"
  dpkg-deb --raw-extract "$OUT/this.deb" "$work/old"
  mkdir -m 750 "$work/old/etc" "$work/old/etc/gatepost"
  chmod 755 "$work/old/etc"
  for script in postinst prerm postrm conffiles; do
    git show "$commit:packaging/debian/$script" >"$work/old/DEBIAN/$script"
  done
  git show "$commit:packaging/gatepost.toml" |
    sed -e 's|^#data = .*|data = "/var/lib/gatepost"|' -e 's|^strangers = "quiet"$|#strangers = "answer"|' \
      >"$work/old/etc/gatepost/gatepost.toml"
  chmod 640 "$work/old/etc/gatepost/gatepost.toml"
  sed -i "s/^Version: .*/Version: $old/" "$work/old/DEBIAN/control"
  dpkg-deb --root-owner-group -Znone --build "$work/old" "$OUT/old_$old.deb" >/dev/null
  echo "ok  the package of $old"
done

say 'The printed ways'
if [ -x "$root/usr/bin/sudo" ] && [ -d "$root/usr/lib/postgresql" ]; then
  packaging/test/walk.sh
else
  echo 'The Debian root has no sudo or no postgresql: nothing is walked.'
fi

cp -a "$root" "$work/booted"
say 'Where systemd does not run'
unshare --net --mount --pid --fork --kill-child --mount-proc packaging/test/in-chroot.sh

say 'Under systemd'
root=$work/booted packaging/test/under-systemd.sh

say 'The container image'
SOURCE_DATE_EPOCH=0 "$(.ci/bun)" packaging/image.ts "$architecture" "$executable" "$work/image.tar" >/dev/null
packaging/test/image.sh "$work/image.tar"

say 'What the executables need'
packaging/test/releases.sh

say 'The package for arm64'
packaging/test/arm64.sh

say 'Everything holds.'
