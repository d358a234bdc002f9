#!/usr/bin/env bash
# The printed ways of the documents, on two machines with a systemd of their own: the first hour,
# backups, a move to the other machine, HTTPS, PostgreSQL, an upgrade, the end. Called by
# debootstrap.sh with $root, a Debian root with sudo, curl, openssl and postgresql, whose /packages
# has this.deb and next.deb. certbot and acme.sh are played; they end at arguments that they do not
# know, and put files where the real ones do.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/expect.sh"
. "$here/booted.sh"

# The names that the documents give to the package.
names=$(cat "$here"/../../docs/first-hour.md "$here"/../../docs/backups.md |
  grep -o 'gatepost_[0-9.]*_amd64\.deb' | sort -u)

# Makes a machine of a copy of the root.
machine() { # FOLDER
  cp -a --reflink=auto "$root" "$1"
  chmod 700 "$1/root"
  mkdir "$1/walk"
  for name in $names gatepost_VERSION_amd64.deb; do cp -l "$1/packages/this.deb" "$1/root/$name"; done
  # As on a terminal: without progress.
  echo silent >"$1/root/.curlrc"
  install -D -m 755 "$here/played-certbot.sh" "$1/usr/local/bin/certbot"
  install -D -m 755 "$here/played-acme.sh" "$1/root/.acme.sh/acme.sh"
  echo shop >"$1/etc/hostname"
  printf '%s\n' '127.0.0.1 localhost shop' '10.0.0.10 db.example.com' '10.0.0.21 bot.example.com' \
    '10.0.0.21 gate.example.com' '10.0.0.21 sub.example.com' >"$1/etc/hosts"
}

walk() { # first|second FOLDER
  boot "$2"
  inside ip link set lo up
  for address in 10.0.0.10/24 10.0.0.21/24; do inside ip address add "$address" dev lo; done
  nsenter --target "$init" --net "$("$here/../../.ci/bun")" "$here/walk.ts" "$1" "$init" "$2" ||
    fail "a printed way of the $1 machine"
  end
}

began=$SECONDS
say 'The first machine'
machine "$work/first"
walk first "$work/first"

say 'The second machine'
machine "$work/second"
# Another number than on the first machine: the files that move go by the name.
chroot "$work/second" useradd --system --uid 890 --no-create-home other
mv "$work/first/root/move.tar" "$work/second/root/"
rm -rf --one-file-system "$work/first"
walk second "$work/second"
rm -rf --one-file-system "$work/second"
echo "The walk took $(((SECONDS - began) / 60)) min $(((SECONDS - began) % 60)) s."
