#!/usr/bin/env bash
# The package under a systemd of its own, in namespaces of its own: the unit with its confinement,
# its watchdog and its restarts as they are. Called by debootstrap.sh with $root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/expect.sh"

unshare --net --mount --pid --ipc --uts --cgroup --fork --kill-child \
  "$here/boot-systemd.sh" "$root" >"$work/boot.log" 2>&1 &
outer=$!
init=
# unshare itself ignores SIGTERM; its end is the end of everything inside.
end() {
  [ -z "$init" ] || kill -KILL "$init" 2>/dev/null || true
  kill -KILL "$outer" 2>/dev/null || true
  wait "$outer" 2>/dev/null || true
}
trap end EXIT

find_init() { init=$(pgrep -P "$outer") && [ "$(cat "/proc/$init/comm")" = systemd ]; }
inside() { nsenter --target "$init" --all env --chdir=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
# From the outside, in its network alone.
call() { nsenter --target "$init" --net curl --silent "$@"; }
property() { inside systemctl show --value --property "$1" gatepost.service; }
is_active() { [ "$(property ActiveState)" = active ]; }
wait_for_boot() { inside systemctl is-system-running | grep -E 'running|degraded'; }
# Is it another process now than $pid, and ready?
is_another() { is_active && [ "$(property MainPID)" != "$pid" ]; }
drop_in() { # NAME, the content on stdin
  inside install -D -m 644 /dev/stdin "/etc/systemd/system/gatepost.service.d/$1.conf"
  inside systemctl daemon-reload
}

eventually 10 'systemd begins' find_init
eventually 60 'systemd runs' wait_for_boot
inside systemctl --version | head -n 1

say 'Install'
holds 'dpkg installs it' inside dpkg --install /packages/this.deb
eventually 30 'the service is active' is_active
expect 'what it says of itself' "$(property StatusText)" 'listening on http://127.0.0.1:8080'
expect 'files it may open' "$(property LimitNOFILE)" 65536
credentials=$(inside setpriv --reuid=gatepost --regid=gatepost --init-groups \
  gatepost provider add --name test --plan pro --json)
query="provider_code=$(field provider_code <<<"$credentials")&auth_key=$(field auth_key <<<"$credentials")"
expect 'a link is added' \
  "$(call "http://127.0.0.1:8080/api/add-install?$query&install_code=PackageTest2&install_limit=3" | field msg)" Ok
links() { call "http://127.0.0.1:$1/api/list-install?$query"; }
before=$(links 8080)

say 'Reload'
pid=$(property MainPID)
printf '[log]\nlevel = "debug"\n' | inside tee /etc/gatepost/gatepost.d/10-log.toml >/dev/null
holds 'systemctl reloads it' inside systemctl reload gatepost.service
log_has() { inside journalctl --unit gatepost.service --grep "$1"; }
eventually 10 'the log says what changed' log_has 'config_reloaded.*log.level'
eventually 10 'the service is active' is_active
expect 'the process stays' "$(property MainPID)" "$pid"

say 'Restart'
holds 'it is killed' inside sh -c "kill -KILL $pid"
eventually 30 'another process is ready' is_another
printf '[Service]\nWatchdogSec=3s\n' | drop_in watchdog
inside systemctl restart gatepost.service
pid=$(property MainPID)
holds 'it is active and alive after more than the period of its watchdog' sleep 7
expect 'the process stays' "$(property MainPID)" "$pid"
holds 'its event loop hangs' inside sh -c "kill -STOP $pid"
eventually 60 'the watchdog has it restarted' is_another
expect 'restarts' "$(property NRestarts)" 1

say 'Port 80'
cat "$here/../port-80.conf" | drop_in port-80
inside sed -i 's/^#port = 8080$/port = 80/' /etc/gatepost/gatepost.toml
inside systemctl restart gatepost.service
expect 'the links' "$(links 80)" "$before"
inside sed -i 's/^port = 80$/port = 8090/' /etc/gatepost/gatepost.toml
inside rm -r /etc/systemd/system/gatepost.service.d
inside systemctl daemon-reload
inside systemctl restart gatepost.service

say 'Upgrade'
pid=$(property MainPID)
holds 'dpkg upgrades it' inside dpkg --install /packages/next.deb </dev/null
eventually 30 'another process is ready' is_another
expect 'the links' "$(links 8090)" "$before"

say 'Confinement'
inside systemd-analyze security --no-pager gatepost.service | tail -n 1
expect 'warnings and errors in its log' \
  "$(inside journalctl --unit gatepost.service --output cat | grep -Ec ' (warn|error) ' || true)" 0

say 'Doctor'
expect 'the timer is off' "$(inside systemctl is-enabled gatepost-doctor.timer || true)" disabled
as_user() { inside setpriv --reuid=gatepost --regid=gatepost --init-groups gatepost "$@"; }
fails 'without a chat it fails' inside systemctl start gatepost-doctor.service
log_of_doctor() { inside journalctl --unit gatepost-doctor.service --output cat --grep "$1"; }
holds 'and says why' log_of_doctor 'gatepost webhook add --telegram'
nsenter --target "$init" --net "$(.ci/bun)" -e '
  Bun.serve({ hostname: "127.0.0.1", port: 9099, fetch: async (call) => {
    console.log(await call.text());
    return new Response();
  } })' >"$work/sent" &
receiver=$!
as_user webhook add --url http://127.0.0.1:9099/ >/dev/null
inside systemctl stop gatepost.service
holds 'the timer is switched on' inside systemctl enable --now gatepost-doctor.timer
holds 'it sends, although the service is away' inside systemctl start gatepost-doctor.service
sent() { grep -c doctor.found "$work/sent"; }
first=$(sent)
holds 'something is sent' test "$first" -gt 0
holds 'it runs once more' inside systemctl start gatepost-doctor.service
expect 'nothing is sent twice' "$(sent)" "$first"
inside systemctl start gatepost.service
kill "$receiver"

say 'Remove and purge'
holds 'dpkg removes it' inside dpkg --remove gatepost
expect 'the service' "$(property ActiveState)" inactive
fails 'the timer is stopped' inside systemctl is-active gatepost-doctor.timer
holds 'the data stay' inside test -f /var/lib/gatepost/gatepost.db
holds 'dpkg purges it' inside dpkg --purge gatepost
fails 'the data are gone' inside test -e /var/lib/gatepost
