/**
 * Places in which the guides run: a fresh clone, and the Debian package unpacked into a root of its
 * own, whose service is started by a stand-in for systemctl.
 */

import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { selfSigned } from './certificate.ts';
import { binary, ROOT, temporaryFolder } from './process.ts';
import { readText } from './tree.ts';

function put(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
  chmodSync(path, mode);
}

function must(argv: string[], cwd = ROOT, env: Record<string, string> = {}): string {
  const made = Bun.spawnSync(argv, { cwd, env: { ...process.env, ...env } });
  if (made.exitCode !== 0) throw new Error(`${argv.join(' ')}:\n${made.stderr}`);
  return String(made.stdout).trim();
}

/** curl without its progress; where to connect to is in the environment. */
const CURL = `#!/bin/sh
exec ${Bun.which('curl')} --silent \\
  \${GUIDE_CONNECT:+--connect-to "$GUIDE_CONNECT"} "$@"
`;
/** Runs a command as the user of this test; owners are no part of what a guide shows. */
const SUDO = `#!/bin/sh
[ "$1" = -u ] && shift 2
case "$1" in
  install) shift; exec ${Bun.which('install')} $(echo "$@" | sed -E 's/-[og] [a-z]+//g') ;;
esac
exec "$@"
`;
/** Stands for the installation, which starts the service; the files are there already. */
const APT = `#!/bin/sh
exec systemctl start
`;
const SYSTEMCTL = `#!/bin/bash
run=$GUIDE_ROOT/run; mkdir -p "$run"
count() { grep -c -E 'config_(re|not_re)loaded|config_needs' "$run/log" 2>/dev/null || true; }
stop() {
  [ -f "$run/pid" ] || return
  pid=$(cat "$run/pid"); rm "$run/pid"; kill "$pid" 2>/dev/null
  while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
}
case "$1" in
  reload) before=$(count); kill -HUP "$(cat "$run/pid")"
    for _ in {1..200}; do [ "$(count)" -gt "$before" ] && exit; sleep 0.05; done; exit 1 ;;
  stop) stop ;;
  start|restart) stop; setsid gatepost serve >>"$run/log" 2>&1 </dev/null & echo $! >"$run/pid"
    while kill -0 "$(cat "$run/pid")" 2>/dev/null; do
      gatepost ready >/dev/null 2>&1 && exit
      sleep 0.05
    done
    cat "$run/log" >&2; exit 1 ;;
esac
`;

const EXAMPLE = 'usr/share/gatepost/gatepost.toml';

export interface Installed {
  root: string;
  env: Record<string, string>;
  /** Replacements of the paths of the package. */
  instead: [string, string][];
  stop(): void;
}

/**
 * Unpacks the package: the real one, or what it would put there with the executable of this tree.
 * The service runs; `sub.example.com` leads to \`connectTo\`, with a certificate that curl trusts.
 */
export async function install(from: 'deb' | 'tree', connectTo: string): Promise<Installed> {
  const root = temporaryFolder();
  if (from === 'deb') {
    const env = { OUT: join(root, 'tmp'), DEB_COMPRESSION: 'none' };
    const architecture = must(['dpkg', '--print-architecture']);
    const deb = must(['packaging/build-deb.sh', architecture, binary()], ROOT, env);
    must(['dpkg-deb', '--extract', deb.split('\n').at(-1) ?? '', root]);
  } else {
    const file = readText('packaging/gatepost.toml');
    put(join(root, EXAMPLE), file.replace(/^#data = .*/m, 'data = "/var/lib/gatepost"'));
    mkdirSync(join(root, 'usr/bin'), { recursive: true });
    symlinkSync(binary(), join(root, 'usr/bin/gatepost'));
  }
  // What the first installation does.
  const config = join(root, 'etc/gatepost/gatepost.toml');
  mkdirSync(join(root, 'etc/gatepost/gatepost.d'), { recursive: true, mode: 0o750 });
  put(
    config,
    (await Bun.file(join(root, EXAMPLE)).text()).replace('"/var/lib', `"${root}/var/lib`),
    0o600,
  );
  mkdirSync(join(root, 'var/lib'), { recursive: true });
  const { cert, key } = await selfSigned('sub.example.com', {
    names: ['sub.example.com', 'localhost', '127.0.0.1'],
  });
  put(join(root, 'etc/letsencrypt/live/sub.example.com/fullchain.pem'), cert);
  put(join(root, 'etc/letsencrypt/live/sub.example.com/privkey.pem'), key, 0o600);
  for (const [name, script] of Object.entries({
    apt: APT,
    curl: CURL,
    sudo: SUDO,
    systemctl: SYSTEMCTL,
  })) {
    put(join(root, 'shims', name), script, 0o755);
  }
  const env = {
    PATH: `${root}/shims:${root}/usr/bin:${process.env['PATH']}`,
    GUIDE_ROOT: root,
    GUIDE_CONNECT: connectTo,
    CURL_CA_BUNDLE: join(root, 'etc/letsencrypt/live/sub.example.com/fullchain.pem'),
    GATEPOST_CONFIG: config,
    GATEPOST_MONITOR_PORT: '0',
  };
  return {
    root,
    env,
    instead: ['/etc/gatepost', '/var/lib/gatepost', '/etc/letsencrypt'].map((path) => [
      path,
      `${root}${path}`,
    ]),
    stop: () =>
      void Bun.spawnSync([join(root, 'shims/systemctl'), 'stop'], {
        env: { ...process.env, ...env },
      }),
  };
}

/** Makes a fresh clone of the repository with the dependencies of this one. */
export function clone(): string {
  const folder = join(temporaryFolder(), 'gatepost');
  must(['git', 'clone', '--quiet', '--depth', '1', `file://${ROOT}`, folder]);
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '.installed') {
      symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
    }
  }
  writeFileSync(join(folder, 'node_modules/.installed'), '');
  return folder;
}
