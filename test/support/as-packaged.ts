/**
 * The program at the places of the Debian package, in a mount namespace of its own: `/usr/bin`,
 * `/etc/gatepost`, `/var/lib/gatepost`, and the user `gatepost`. Needs root and `unshare`.
 */

import { test } from 'bun:test';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binary, temporaryFolder } from './process.ts';

/** The user of the service, which the machine need not have. */
export const SERVICE = 54_322;
/** A group of which it is a member. */
export const KEYS = 54_330;
/** The home of root, which is closed to others. */
export const HOME = '/root';
/** Another user of the machine. */
export const STRANGER = 54_323;

/** `test` where a namespace can be made; else one that skips, and a line that says why. */
export const testPackaged = (() => {
  const isRoot = process.getuid?.() === 0;
  const can = isRoot && Bun.spawnSync(['unshare', '--mount', 'true']).exitCode === 0;
  if (!can) console.warn('Tests are skipped: they need root and unshare --mount.');
  return test.skipIf(!can);
})();

/** `$1` is the program, `$2` the folder, `$3` where one stands; the rest is the command. */
const SCRIPT = `set -e
program=$1 place=$2 stand=$3; shift 3
mount --make-rprivate /
cp -a /etc/ld.so.cache /etc/nsswitch.conf "$place/etc/" 2>/dev/null || true
mount --bind "$place/etc" /etc
mount -t tmpfs -o mode=755 tmpfs /srv
mkdir /srv/bin
mount --bind /usr/bin /srv/bin
mount -t tmpfs -o mode=755 tmpfs /usr/bin
PATH=/srv/bin
ln -s /srv/bin/* /usr/bin/
for name in gatepost gatepost-bare; do
  rm -f /usr/bin/$name
  touch /usr/bin/$name
  mount --bind "$program" /usr/bin/$name
done
mount --bind "$place/var/lib" /var/lib
mount --bind "$place/root" /root
mount --bind "$place/tmp" /tmp
cd "$stand"
PATH=/usr/bin exec "$@"`;

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface How {
  user?: number;
  stand?: string;
  env?: object;
  /** The same program at another path, so that it is not the package's. */
  program?: 'gatepost-bare';
}

interface Packaged {
  /** The path of a place in the namespace, from outside. */
  at(path: string): string;
  /** Runs \`gatepost\` as root, or as \`user\`. Stands in /root, which is closed to others. */
  run(words: readonly string[], how?: How): Ran;
}

export function packaged(config = 'data = "/var/lib/gatepost"\n'): Packaged {
  const place = temporaryFolder();
  const at = (path: string) => join(place, path);
  chmodSync(place, 0o711);
  const made: [path: string, mode: number, owner: number][] = [
    ['/etc/gatepost', 0o750, SERVICE],
    ['/var/lib/gatepost', 0o700, SERVICE],
    ['/root', 0o700, 0],
    ['/tmp', 0o1777, 0],
  ];
  for (const [path, mode, owner] of made) {
    mkdirSync(at(path), { recursive: true });
    chmodSync(at(path), mode);
    chownSync(at(path), path === '/etc/gatepost' ? 0 : owner, owner);
  }
  const users = `root:x:0:0::/root:/bin/sh\ngatepost:x:${SERVICE}:${SERVICE}::/var/lib/gatepost:/bin/false\n`;
  writeFileSync(at('/etc/passwd'), users);
  writeFileSync(at('/etc/group'), `root:x:0:\ngatepost:x:${SERVICE}:\nkeys:x:${KEYS}:gatepost\n`);
  writeFileSync(at('/etc/gatepost/gatepost.toml'), config, { mode: 0o640 });
  chownSync(at('/etc/gatepost/gatepost.toml'), 0, SERVICE);
  return {
    at,
    run(words, { user = 0, stand = '/root', env = {}, program = 'gatepost' } = {}) {
      const as = [`--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
      const before = user === 0 ? [] : ['setpriv', ...as];
      const { exitCode, stdout, stderr } = Bun.spawnSync(
        [
          ...['unshare', '--mount', 'sh', '-c', SCRIPT, 'sh', binary(), place, stand],
          ...[...before, `/usr/bin/${program}`, ...words],
        ],
        { env: { PATH: process.env['PATH'] ?? '', ...env } },
      );
      return { code: exitCode, stdout: String(stdout), stderr: String(stderr) };
    },
  };
}

/** The package's places with a provider, which root added. */
export function withProvider() {
  const place = packaged('data = "/var/lib/gatepost"\n[monitor]\nport = "off"\n');
  const { code, stderr } = place.run(['provider', 'add', '--name', 'x', '--code', 'MYSHOP01']);
  if (code !== 0 || stderr !== '') throw new Error(`no provider: ${stderr}`);
  const put = (path: string, text: string, mode = 0o600): void => {
    writeFileSync(place.at(path), text);
    chmodSync(place.at(path), mode);
  };
  return { ...place, put };
}
