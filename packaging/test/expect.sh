# Sourced by the tests of the package: one line for each thing that holds, an end at the first that
# does not.

say() { printf '\n== %s\n' "$*"; }

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# expect WHAT ACTUAL EXPECTED
expect() {
  [ "$2" = "$3" ] || fail "$1: '$2', not '$3'"
  printf 'ok  %s: %s\n' "$1" "$3"
}

# holds WHAT COMMAND...
holds() {
  local what=$1
  shift
  "$@" >/dev/null || fail "$what"
  printf 'ok  %s\n' "$what"
}

# fails WHAT COMMAND...
fails() {
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then fail "$what"; fi
  printf 'ok  %s\n' "$what"
}

# Asks again until the command succeeds, at most SECONDS: eventually SECONDS WHAT COMMAND...
eventually() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || fail "waited in vain: $what"
    sleep 0.1
  done
  printf 'ok  %s\n' "$what"
}

# Mode, owner and group of a path in the root.
owned() { chroot "$root" stat -c '%a %U:%G' "$1"; }

# A field of a JSON answer on one line, by its name.
field() { sed -n "s/.*\"$1\":\"\\{0,1\\}\\([^\",}]*\\).*/\\1/p"; }
