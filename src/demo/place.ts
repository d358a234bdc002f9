/** A temporary directory with the configuration of a demonstration, and a panel. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The host of the subscriptions, in a top-level domain that never resolves (RFC 2606). */
export const HOST = 'sub.northwind.example';
export const PROVIDERS = [
  { code: 'NORTHWND', name: 'Northwind VPN' },
  { code: 'LANTERN1', name: 'Lantern' },
] as const;

const BANNER = 'A demonstration: people, phones and messages are made up, and go when it ends.';

interface DemoPlace {
  /** The data directory, which has the configuration file. */
  folder: string;
  configFile: string;
  /** Stops the panel and removes the directory. */
  remove(): void;
}

/** The keys of the panel's customers. */
const KEY = /^\d{4}-demonstration$/;

/** Makes the directory, and serves a panel on this machine behind the gate. */
export function openPlace(): DemoPlace {
  const folder = mkdtempSync(join(tmpdir(), 'gatepost-demo-'));
  const panel = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const name = new URL(request.url).pathname.split('/').at(-1) ?? '';
      if (!KEY.test(name)) return new Response(null, { status: 404 });
      const headers = { 'profile-update-interval': '12', 'content-type': 'text/plain' };
      return new Response(`vless://demo@127.0.0.1:443#${name}\n`, { headers });
    },
  });
  const configFile = join(folder, 'gatepost.toml');
  const config = `# Written by gatepost demo.
[console]
banner = "${BANNER}"

[log]
level = "warn"

[monitor]
port = 0

[[gate.upstream]]
host = "${HOST}"
url = "http://127.0.0.1:${panel.port}"
provider = "${PROVIDERS[0].code}"
default_limit = 2
`;
  writeFileSync(configFile, config, { mode: 0o600 });
  return {
    folder,
    configFile,
    remove: () => {
      void panel.stop(true);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
