#!/usr/bin/env bash
# The package under a systemd of its own, in namespaces of its own: the unit with its confinement,
# its watchdog and its restarts as they are. Called by debootstrap.sh with $root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/expect.sh"
. "$here/booted.sh"

# From the outside, in its network alone.
call() { nsenter --target "$init" --net curl --silent "$@"; }
property() { inside systemctl show --value --property "$1" gatepost.service; }
is_active() { [ "$(property ActiveState)" = active ]; }
# Is it another process now than $pid, and ready?
is_another() { is_active && [ "$(property MainPID)" != "$pid" ]; }
drop_in() { # NAME, the content on stdin
  inside install -D -m 644 /dev/stdin "/etc/systemd/system/gatepost.service.d/$1.conf"
  inside systemctl daemon-reload
}

boot "$root"
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

say 'A mistake in the configuration'
mistake=/etc/gatepost/gatepost.d/mistake.toml
sentence="$mistake:2: there is no setting server.prot"
printf '[server]\nprot = 8081\n' | inside tee $mistake >/dev/null
fails 'a reload fails' inside systemctl reload gatepost.service
status_has() { inside systemctl status --no-pager gatepost.service | grep -F "$1"; }
eventually 10 'systemctl status has the sentence' status_has "$sentence"
errors_have() { inside journalctl --unit gatepost.service --priority err --output cat | grep -F "$1"; }
eventually 10 'it is an error of the journal' errors_have "$sentence"
expect 'the service' "$(property ActiveState)" active
expect 'the process stays' "$(property MainPID)" "$pid"
holds 'the signal alone changes nothing' inside sh -c "kill -HUP $pid"
eventually 10 'the log of the server has the sentence' log_has 'config_not_reloaded.*server.prot'
priorities() { # PRIORITY, the number of its lines by the level that stands in them
  inside journalctl --unit gatepost.service _COMM=gatepost --priority "$1..$1" --output cat |
    sed -nE 's/^[^ ]+Z (debug|info|warn|error) .*/\1/p' | sort -u | tr '\n' ' '
}
expect 'levels of lines that are errors' "$(priorities err)" 'error '
expect 'levels of lines that are warnings' "$(priorities warning)" ''
expect 'levels of lines that are news' "$(priorities info)" 'info '
inside rm $mistake
printf '[server]\ndrain_seconds = 1\nport = 8081\n' | inside tee $mistake >/dev/null
holds 'systemctl reloads it' inside systemctl reload gatepost.service
eventually 10 'the log says what waits' log_has 'config_needs_restart'
expect 'levels of lines that are warnings' "$(priorities warning)" 'warn '
inside rm $mistake
holds 'systemctl reloads it' inside systemctl reload gatepost.service

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
expect 'warnings and errors in its log but those of the mistake' \
  "$(inside journalctl --unit gatepost.service --output cat |
    grep -E ' (warn|error) ' | grep -vcE ' config_(not_reloaded|needs_restart) ' || true)" 0

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
