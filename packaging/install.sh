#!/bin/sh
# Installs Gatepost from a release page, or upgrades it. Verifies the publisher's signature and the
# checksum of a download before any of it runs; a download that fails is deleted. Running it twice
# changes nothing. Needs curl or wget, ssh-keygen and sha256sum.
#
#   sh install.sh                 the Debian package where dpkg and systemd are, else the executable
#   sh install.sh --bare          the executable, into /usr/local/bin
#   sh install.sh --to DIRECTORY  the executable, into this directory
#   sh install.sh --verify        downloads and verifies, installs nothing
#
#   --url ADDRESS   the release page's files; default: where this script comes from
#   --key KEY       the publisher's key, "ssh-ed25519 AAAA…" or a file with it
set -eu

# make release fills these in: the oldest version to accept, the publisher's key, the address.
version=''
key=''
url=''

LIST_BYTES_MAX=65536
FILE_BYTES_MAX=536870912

say() { printf '%s\n' "$*"; }
fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

read_options() {
  kind='' to=/usr/local/bin installs=yes
  while [ $# -gt 0 ]; do
    case $1 in
      --bare) kind=bare ;;
      --verify) installs=no ;;
      --url | --key | --to)
        [ $# -gt 1 ] || fail "$1 needs a value"
        case $1 in
          --url) url=$2 ;;
          --key) key=$2 ;;
          --to) kind=bare to=$2 ;;
        esac
        shift
        ;;
      --help)
        say 'sh install.sh [--bare] [--to DIRECTORY] [--verify] [--url ADDRESS] [--key KEY]'
        exit
        ;;
      *) fail "there is no option $1: --help lists them" ;;
    esac
    shift
  done
}

check_needs() {
  url=${url%/}
  case $url in
    '') fail 'no address: --url names where the files of the release are' ;;
    https://* | http://127.0.0.1[:/]* | http://localhost[:/]*) ;;
    *) fail "$url does not begin with https://" ;;
  esac
  if [ -f "$key" ]; then key=$(head -n 1 "$key"); fi
  key=$(printf '%s' "$key" | cut -d ' ' -f 1,2)
  case $key in
    '') fail 'no key: this release was not signed, or --key is missing; nothing is installed' ;;
    'ssh-ed25519 AAAA'*) ;;
    *) fail 'the key is not of the form "ssh-ed25519 AAAA…"' ;;
  esac
  has curl || has wget || fail 'install curl or wget first'
  has sha256sum || fail 'install sha256sum (coreutils) first'
  has ssh-keygen || fail 'install ssh-keygen first, it verifies the signature: apt-get install openssh-client, or apk add openssh-keygen'
}

choose_platform() {
  [ "$(uname -s)" = Linux ] || fail 'Gatepost runs on Linux'
  case $(uname -m) in
    x86_64 | amd64) platform=x64 architecture=amd64 ;;
    aarch64 | arm64) platform=arm64 architecture=arm64 ;;
    *) fail "there is no executable for $(uname -m)" ;;
  esac
  for loader in /lib/ld-musl-*; do
    if [ -e "$loader" ]; then platform=$platform-musl kind=bare; fi
  done
  if [ -z "$kind" ] && has dpkg && [ -d /run/systemd/system ]; then kind=deb; fi
  kind=${kind:-bare}
  [ "$installs" = yes ] || return 0
  if [ "$kind" = deb ]; then
    [ "$(id -u)" = 0 ] || fail 'run this as root: it installs a package; --verify does not need it'
  else
    [ -d "$to" ] && [ -w "$to" ] || fail "$to is no directory that this user can write to"
  fi
}

# fetch NAME BYTES_MAX: into $work. A server need not say how long a file is, so that head ends a
# download that is too long.
fetch() {
  { download "$url/$1" || : >"$work/failed"; } | head -c $(($2 + 1)) >"$work/$1"
  [ "$(wc -c <"$work/$1")" -le "$2" ] || fail "$url/$1 has more than $2 bytes: nothing is installed"
  [ ! -e "$work/failed" ] || fail "cannot download $url/$1: nothing is installed"
}

# download URL: to stdout.
download() {
  if has curl; then
    curl --fail --silent --show-error --location --connect-timeout 15 --max-time 1800 "$1"
  else
    wget -q -T 60 -O - "$1"
  fi
}

verify_list() {
  fetch SHA256SUMS $LIST_BYTES_MAX
  fetch SHA256SUMS.sig $LIST_BYTES_MAX
  printf 'gatepost namespaces="gatepost" %s\n' "$key" >"$work/signers"
  ssh-keygen -Y verify -f "$work/signers" -I gatepost -n gatepost -s "$work/SHA256SUMS.sig" \
    <"$work/SHA256SUMS" >"$work/verdict" 2>&1 ||
    fail "SHA256SUMS is not signed by the key $key: nothing is installed ($(tail -n 1 "$work/verdict"))"
  # The bill of materials has the version of the release in its name.
  found=$(sed -n 's/^[0-9a-f]\{64\}  gatepost_\([0-9]\{1,6\}\.[0-9]\{1,6\}\.[0-9]\{1,6\}\)\.cdx\.json$/\1/p' "$work/SHA256SUMS")
  case $found in
    '' | *[!0-9.]*) fail 'SHA256SUMS does not name one version: nothing is installed' ;;
  esac
}

# is_older ONE OTHER: by the three numbers.
is_older() {
  [ "$1" != "$2" ] &&
    [ "$(printf '%s\n%s\n' "$1" "$2" | sort -t . -k 1,1n -k 2,2n -k 3,3n | head -n 1)" = "$1" ]
}

read_installed() {
  if [ "$kind" = deb ]; then
    # shellcheck disable=SC2016 # The variables are dpkg's.
    installed=$(dpkg-query --show --showformat '${db:Status-Status} ${Version}' gatepost 2>/dev/null |
      sed -n 's/^installed //p')
  else
    installed=$("$to/gatepost" version 2>/dev/null | sed -n 's/^gatepost \([0-9.]*\) .*/\1/p') || true
  fi
}

refuse_older() {
  if [ -n "$version" ] && is_older "$found" "$version"; then
    fail "$url has version $found, older than $version of this script: nothing is installed"
  fi
  if [ -n "$installed" ] && is_older "$found" "$installed"; then
    fail "$url has version $found, older than the installed $installed: nothing is installed"
  fi
}

verify_file() {
  wanted=$(awk -v name="$name" '$2 == name { print $1 }' "$work/SHA256SUMS")
  case $wanted in
    '' | *[!0-9a-f]*) fail "SHA256SUMS does not list $name once: nothing is installed" ;;
  esac
  if [ "$installs" = yes ] && [ "$kind" = bare ] && [ "$(sum_of "$to/gatepost")" = "$wanted" ]; then
    say "gatepost $found is installed already, as $to/gatepost: nothing was done."
    exit
  fi
  fetch "$name" $FILE_BYTES_MAX
  [ "$(sum_of "$work/$name")" = "$wanted" ] ||
    fail "$name is not the file of the release, its checksum differs: it was deleted, nothing is installed"
  say "Verified: $name is of gatepost $found, signed by $key."
}
sum_of() { sha256sum "$1" 2>/dev/null | cut -c 1-64; }

install_deb() {
  # The configuration is no file of the package: nothing is asked.
  if has apt-get; then
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$work/$name"
  else
    dpkg --install "$work/$name"
  fi
  say "gatepost $found is installed; its service is gatepost.service."
}

install_bare() {
  # In the same directory, so that the change is one step: a running server keeps its own file.
  new=$to/.gatepost-new.$$
  cp "$work/$name" "$new"
  chmod 755 "$new"
  if ! "$new" version >"$work/verdict" 2>&1; then
    rm -f "$new"
    fail "$name does not run on this machine ($(tail -n 1 "$work/verdict")): nothing is installed"
  fi
  mv -f "$new" "$to/gatepost"
  say "gatepost $found is installed as $to/gatepost${installed:+, in place of $installed}."
  if [ -n "$installed" ]; then
    say 'A server that runs keeps the old version until it is restarted.'
  else
    say "Next: $to/gatepost serve --data DIRECTORY --first-provider"
  fi
}

# The last line calls it: a script that breaks off on the network does nothing.
main() {
  LC_ALL=C
  export LC_ALL
  umask 022
  read_options "$@"
  check_needs
  choose_platform
  work=$(mktemp -d)
  new=
  trap 'rm -rf "$work" ${new:+"$new"}' EXIT
  trap 'exit 1' HUP INT TERM
  verify_list
  read_installed
  refuse_older
  if [ "$kind" = deb ]; then name=gatepost_${found}_$architecture.deb; else name=gatepost-linux-$platform; fi
  if [ "$installs" = yes ] && [ "$kind" = deb ] && [ "$installed" = "$found" ]; then
    say "gatepost $found is installed already: nothing was done."
    exit
  fi
  verify_file
  if [ "$installs" = no ]; then
    say 'Nothing was installed (--verify).'
  elif [ "$kind" = deb ]; then
    install_deb
  else
    install_bare
  fi
}
main "$@"
