#!/bin/bash
# Installs the panel of Hiddify with its two databases and runs it until Ctrl-C. As root.
#
#   test/panels/panels/hiddify.sh SOURCE BUILD DATA PORT
#
# SOURCE   not read: the panel is on PyPI
# BUILD    where its packages and a new database go; made if need be, and used again
# DATA     where a copy of the database goes
# PORT     of the panel; the next two are for MariaDB and Redis
#
# Needs Python 3.11, MariaDB, Redis, wireguard-tools, libmariadb-dev, libev-dev and pkg-config.
# Prints the address with its administrator and the paths of administrators and of users. In a real
# installation nginx and HAProxy stand in front of the panel; here nothing does.
set -euo pipefail
[ $# = 4 ] || { sed -n '4p' "$0" >&2; exit 2; }
mkdir -p "$2" "$3"
build=$(cd "$2" && pwd) data=$(cd "$3" && pwd) port=$4
bin=$build/packages/bin
socket=$data/mariadb.sock
redis="redis://:made-up@127.0.0.1:$((port + 2))"
mkdir -p "$data"/{redis,stand-ins,panel/nginx/parts}
: >"$data/panel/nginx/parts/short-link.conf"

if [ ! -e "$build/installed" ]; then
  mkdir -p "$build/mariadb"
  python3 -m venv "$build/packages"
  "$bin/pip" install --quiet hiddifypanel==10.80.11
  # It pins few packages, and newer ones break it: these are of its lock.
  "$bin/pip" install --quiet --no-deps sqlalchemy==2.0.36 apiflask==2.2.1 marshmallow==3.23.1 \
    flask-marshmallow==1.2.1 webargs==8.6.0 apispec==6.7.0 dynaconf==3.2.6 \
    sqlalchemy-serializer==1.4.22 setuptools==70.3.0
  mariadb-install-db --no-defaults --user=root --datadir="$build/mariadb" \
    --auth-root-authentication-method=normal --skip-test-db >/dev/null
  touch "$build/installed"
fi
[ -d "$data/mariadb" ] || cp -r "$build/mariadb" "$data/mariadb"

# After each change the panel runs a program of the installation by sudo.
printf '#!/bin/sh\nexit 0\n' >"$data/stand-ins/sudo"
chmod +x "$data/stand-ins/sudo"
# At its first start the panel asks the internet for names of hosts: it gets made-up ones. With each
# subscription it asks for addresses of its own names, which are made up: none is found, at once.
cat >"$data/stand-ins/sitecustomize.py" <<'PYTHON'
import socket

import requests

ask, look_up = requests.get, socket.getaddrinfo


class Names:
    status_code, text = 200, ''

    def json(self):
        names = [f'https://n{at}.example.net/' for at in range(60)]
        return {'results': [{'input': name, 'scores': {'blocking_country': 0.0}} for name in names]}


def answer(url, *args, **more):
    return Names() if 'ooni' in str(url) else ask(url, *args, **{'timeout': 2, **more})


def addresses(host, *args, **more):
    if host not in (None, 'localhost', '127.0.0.1', '0.0.0.0'):
        raise socket.gaierror(socket.EAI_NONAME, 'made up')
    return look_up(host, *args, **more)


def address(host):
    return addresses(host, None, socket.AF_INET)[0][4][0]


requests.get = answer
socket.getaddrinfo, socket.gethostbyname = addresses, address
socket.gethostbyname_ex = lambda host: (host, [], [address(host)])
PYTHON
cat >"$data/panel/app.cfg" <<END
HIDDIFY_CONFIG_PATH=$data/panel/
STDOUT_LOG_LEVEL=INFO
SECRET_KEY=made-up
DEBUG=False
DB_VERSION=0
SQLALCHEMY_DATABASE_URI='mysql+mysqldb://panel:made-up@127.0.0.1:$((port + 1))/hiddifypanel?charset=utf8mb4'
REDIS_URI_MAIN='$redis/0'
REDIS_URI_SSH='$redis/1'
END

start_mariadb() {
  mariadbd --no-defaults --user=root --datadir="$data/mariadb" --bind-address=127.0.0.1 \
    --port=$((port + 1)) --socket="$socket" --pid-file="$data/mariadb.pid" \
    --innodb-buffer-pool-size=64M >>"$data/mariadb.log" 2>&1 &
  mariadb=$!
  until sql --execute 'SELECT 1' >/dev/null 2>&1; do
    kill -0 $mariadb
    sleep 0.2
  done
}
sql() { mariadb --no-defaults --socket="$socket" --user=root "$@"; }
redis-server --bind 127.0.0.1 --port $((port + 2)) --dir "$data/redis" --save '' \
  --requirepass made-up >"$data/redis.log" 2>&1 &
redis_server=$!
trap 'kill $mariadb $redis_server' EXIT
start_mariadb
sql <<'SQL'
CREATE DATABASE IF NOT EXISTS hiddifypanel CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS panel@'127.0.0.1' IDENTIFIED BY 'made-up';
CREATE USER IF NOT EXISTS panel@localhost IDENTIFIED BY 'made-up';
GRANT ALL ON *.* TO panel@'127.0.0.1';
GRANT ALL ON *.* TO panel@localhost;
SQL

export PATH="$data/stand-ins:$bin:$PATH" PYTHONPATH="$data/stand-ins" LANG=C.UTF-8
export HIDDIFY_CFG_PATH="$data/panel/app.cfg" HIDDIFY_CONFIG_PATH="$data/panel/"
export REDIS_URI_MAIN="$redis/0" REDIS_URI_SSH="$redis/1"
cd "$data/panel"
if ! sql hiddifypanel --execute 'SELECT 1 FROM user' >/dev/null 2>&1; then
  # Two minutes.
  hiddifypanel init-db >"$data/log" 2>&1
  hiddifypanel add-domain -d panel.example.com -m direct >>"$data/log" 2>&1
  hiddifypanel add-domain -d sub.example.com -m sub_link_only >>"$data/log" 2>&1
  kill $mariadb
  wait $mariadb || true
  rm -rf "$build/mariadb"
  cp -r "$data/mariadb" "$build/mariadb"
  start_mariadb
fi
value() { sql hiddifypanel --skip-column-names --execute "$1"; }
admin=$(value 'SELECT uuid FROM admin_user LIMIT 1')
path_of_admins=$(value "SELECT value FROM str_config WHERE \`key\` = 'proxy_path_admin' LIMIT 1")
path_of_users=$(value "SELECT value FROM str_config WHERE \`key\` = 'proxy_path_client' LIMIT 1")
echo "http://$admin@127.0.0.1:$port/$path_of_admins/$path_of_users"
python -c "import bjoern, hiddifypanel
bjoern.run(wsgi_app=hiddifypanel.create_app(), host='127.0.0.1', port=$port)" >>"$data/log" 2>&1
