# Sourced by tests that boot a Debian root under a systemd of its own, in namespaces of its own.

outer=
init=

# Boots $1. Its log goes to $work/boot.log.
boot() {
  unshare --net --mount --pid --ipc --uts --cgroup --fork --kill-child \
    "$(dirname "${BASH_SOURCE[0]}")/boot-systemd.sh" "$1" >"$work/boot.log" 2>&1 &
  outer=$!
  trap end EXIT
  eventually 10 'systemd begins' find_init
  eventually 60 'systemd runs' wait_for_boot
}

# unshare itself ignores SIGTERM; its end is the end of everything inside.
end() {
  [ -z "$init" ] || kill -KILL "$init" 2>/dev/null || true
  [ -z "$outer" ] || kill -KILL "$outer" 2>/dev/null || true
  [ -z "$outer" ] || wait "$outer" 2>/dev/null || true
  outer=
  init=
}

find_init() { init=$(pgrep -P "$outer") && [ "$(cat "/proc/$init/comm")" = systemd ]; }
wait_for_boot() { inside systemctl is-system-running | grep -E 'running|degraded'; }

# Where people stand: in the home of root.
inside() {
  nsenter --target "$init" --all env --chdir=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
