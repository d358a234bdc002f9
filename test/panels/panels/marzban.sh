#!/bin/bash
# Installs Marzban from a folder with its source and runs it until Ctrl-C.
#
#   test/panels/panels/marzban.sh SOURCE BUILD DATA PORT
#
# SOURCE   a checkout of 0.8.4
# BUILD    where a copy of it and its packages go; made if need be, and used again
# DATA     where its database goes, unless PANEL_DATABASE names one (a URL of SQLAlchemy)
# PORT     of the panel
#
# Needs Python 3.11. Prints the address with its administrator.
set -euo pipefail
[ $# = 4 ] || { sed -n '4p' "$0" >&2; exit 2; }
mkdir -p "$2" "$3"
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd) data=$(cd "$3" && pwd) port=$4

if [ ! -e "$build/packages/bin/alembic" ]; then
  rm -rf "$build/panel" "$build/packages"
  cp -r "$source" "$build/panel"
  # Of its page only two files are read at the start.
  page=$build/panel/app/dashboard/build
  mkdir -p "$page/statics"
  : >"$page/index.html"
  : >"$page/404.html"
  python3 -m venv "$build/packages"
  "$build/packages/bin/pip" install --quiet --requirement "$build/panel/requirements.txt"
fi

export PATH="$build/packages/bin:$PATH" XRAY_EXECUTABLE_PATH="$data/xray"
export UVICORN_HOST=127.0.0.1 UVICORN_PORT="$port"
export SUDO_USERNAME=admin SUDO_PASSWORD=made-up-password-1
export SQLALCHEMY_DATABASE_URL="${PANEL_DATABASE:-sqlite:///$data/db.sqlite3}"
# A customer ends within seconds of the end of time or traffic.
export JOB_RECORD_USER_USAGES_INTERVAL=1 JOB_REVIEW_USERS_INTERVAL=1

# In place of Xray, which Marzban asks for traffic: it carries none, and reports once what
# DATA/used says, a line `NAME BYTES` for each customer.
cat >"$data/xray" <<XRAY
#!/bin/sh
case \$1 in
version) echo 'Xray 25.1.1' ;;
x25519) printf 'Private key: made-up\nPublic key: made-up\n' ;;
*) exec "$build/packages/bin/python" "$data/traffic.py" "$build/panel" "$SQLALCHEMY_DATABASE_URL" ;;
esac
XRAY
chmod +x "$data/xray"
cat >"$data/traffic.py" <<'TRAFFIC'
import json, os, sys
from concurrent.futures import ThreadPoolExecutor
import grpc, sqlalchemy

panel, url = sys.argv[1:]
sys.path.insert(0, panel)
from xray_api.proto.app.stats.command import command_pb2 as messages, command_pb2_grpc as service

file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "used")
database = sqlalchemy.create_engine(url)
number = sqlalchemy.text("SELECT id FROM users WHERE username = :name")


def used():
    if not os.path.exists(file):
        return
    os.rename(file, file + ".reported")
    with database.connect() as connection:
        for line in open(file + ".reported"):
            name, count = line.split()
            for row in connection.execute(number, dict(name=name)):
                yield dict(name=f"user>>>{row[0]}.{name}>>>traffic>>>downlink", value=int(count))


class Stats(service.StatsServiceServicer):
    def QueryStats(self, request, context):
        stats = used() if request.pattern == "user>>>" else ()
        return messages.QueryStatsResponse(stat=list(stats))


api = json.load(sys.stdin)["inbounds"][0]
server = grpc.server(ThreadPoolExecutor(1))
service.add_StatsServiceServicer_to_server(Stats(), server)
server.add_insecure_port(f"{api['listen']}:{api['port']}")
server.start()
print("Xray 25.1.1 started", flush=True)
server.wait_for_termination()
TRAFFIC

cd "$build/panel"
alembic upgrade head >"$data/log" 2>&1
echo "http://admin:made-up-password-1@127.0.0.1:$port"
exec python main.py >>"$data/log" 2>&1
