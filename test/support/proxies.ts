/**
 * Real proxies in front of a panel, each run with the very file that the documents show: only its
 * ports, paths and, for Caddy, the certificate of its own authority are others here.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { selfSigned } from './certificate.ts';
import { freePort } from './free-port.ts';
import { ROOT, temporaryFolder } from './process.ts';
import { until } from './until.ts';

/** The host name in the files of the documents. */
export const SUB_HOST = 'sub.example.com';

/** Headers by which some servers take a request for another one, or its user for another. */
export const OVERRIDING: Readonly<Record<string, string>> = {
  'x-original-uri': '/sub/other',
  'x-original-url': 'https://other.example.com/sub/other',
  'x-original-method': 'POST',
  'x-rewrite-url': '/sub/other',
  'x-forwarded-uri': '/sub/other',
  'x-forwarded-method': 'POST',
  'x-http-method': 'POST',
  'x-http-method-override': 'POST',
  'x-method-override': 'POST',
  'x-original-host': 'other.example.com',
  'x-forwarded-prefix': '/other',
  'x-rewrite-uri': '/sub/other',
  'x-request-uri': '/sub/other',
  authorization: 'Basic b3RoZXI6',
  cookie: 'session=other',
  'hiddify-api-key': 'other',
};

/** Headers by which some servers take a client for another one. */
export const CLAIMING: Readonly<Record<string, string>> = {
  forwarded: 'for=203.0.113.9',
  'cf-connecting-ip': '203.0.113.9',
  'true-client-ip': '203.0.113.9',
  'x-client-ip': '203.0.113.9',
  'x-remnawave-real-ip': '203.0.113.9',
};

interface Behind {
  /** The ports of the servers of Gatepost, and of the panel. */
  gateposts: readonly number[];
  panel: number;
  /** The provider that the proxy names. */
  provider?: string;
  /** The folder of the subscriptions in place of `/sub/`. */
  folder?: string;
}

/** The end of the gate's address in a file, with the provider where one is named. */
function gateOf({ provider }: Behind, after: string): [string, string] {
  const query = provider === undefined ? '' : `?provider_code=${provider}`;
  return [`/gate${after}`, `/gate${query}${after}`];
}

export interface FrontProxy {
  /** The address that clients come to, over TLS or not. */
  url: string;
  stop(): Promise<void>;
}

/** Starts nginx with so many workers. Several servers of Gatepost take turns. */
export async function startNginx(behind: Behind, workers = 1): Promise<FrontProxy> {
  const folder = temporaryFolder();
  const port = freePort();
  const { cert, key } = await selfSigned(SUB_HOST, { names: [SUB_HOST] });
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  for (const name of ['nginx-rides-maps.conf', 'nginx-rides.conf']) {
    writeFileSync(join(folder, name), await documented(name, []));
  }
  const servers = behind.gateposts.map((gatepost) => `server 127.0.0.1:${gatepost};`).join(' ');
  writeFileSync(
    join(folder, 'site.conf'),
    await documented('nginx.conf', [
      ['server 127.0.0.1:8080;', servers],
      ['127.0.0.1:8000', `127.0.0.1:${behind.panel}`],
      gateOf(behind, ';\n        proxy_http_version'),
      ['location /sub/ {', `location ${behind.folder ?? '/sub/'} {`],
      ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
      ['/etc/nginx/gatepost/', `${folder}/`],
      ['/etc/ssl/certs/sub.example.com.pem', certFile],
      ['/etc/ssl/private/sub.example.com.key', keyFile],
    ]),
  );
  writeFileSync(join(folder, 'nginx.conf'), nginxAround(folder, workers));
  const argv = ['nginx', '-p', folder, '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;'];
  return start(argv, folder, `https://127.0.0.1:${port}`);
}

/** What a distribution has around the file of a site. */
export function nginxAround(folder: string, workers: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return [
    // Root's workers would be nobody, who may not look into the folder.
    process.getuid?.() === 0 ? 'user root;' : '',
    `worker_processes ${workers};`,
    `pid ${folder}/nginx.pid;`,
    `error_log ${folder}/error.log;`,
    'events { worker_connections 1024; }',
    'http {',
    'access_log off;',
    ...temporary.map((what) => `${what}_temp_path ${folder}/${what};`),
    `include ${folder}/site.conf;`,
    '}',
  ].join('\n');
}

export async function startCaddy(behind: Behind): Promise<FrontProxy> {
  const { gateposts, panel, provider = '', folder: subscriptions = '/sub/' } = behind;
  const folder = temporaryFolder();
  const port = freePort();
  const site = await documented('Caddyfile', [
    // Its own authority would be installed into the machine.
    ['sub.example.com {', `http://${SUB_HOST}:${port} {\n\tbind 127.0.0.1`],
    ['handle /sub/* {', `handle ${subscriptions}* {`],
    ['127.0.0.1:8080', `127.0.0.1:${gateposts[0]}`],
    ['127.0.0.1:8000', `127.0.0.1:${panel}`],
    ['rewrite /gate?\n', `rewrite /gate?${provider && `provider_code=${provider}`}\n`],
  ]);
  writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
  writeFileSync(join(folder, 'rides.caddy'), await documented('rides.caddy', []));
  mkdirSync(join(folder, 'home'));
  const argv = ['caddy', 'run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
  return start(argv, folder, `http://127.0.0.1:${port}`);
}

export async function startHaproxy(behind: Behind): Promise<FrontProxy> {
  const { gateposts, panel } = behind;
  const folder = temporaryFolder();
  const port = freePort();
  const { cert, key } = await selfSigned(SUB_HOST, { names: [SUB_HOST] });
  const [certFile, luaFile] = [join(folder, 'cert.pem'), join(folder, 'haproxy.lua')];
  writeFileSync(certFile, cert + key);
  const lua = await documented('haproxy.lua', [
    ['127.0.0.1:8080', `127.0.0.1:${gateposts[0]}`],
    gateOf(behind, '"\n'),
  ]);
  writeFileSync(luaFile, lua);
  const site = await documented('haproxy.cfg', [
    ['/etc/haproxy/haproxy.lua', luaFile],
    ['bind :443 ssl', `bind 127.0.0.1:${port} ssl`],
    ['127.0.0.1:8080', `127.0.0.1:${gateposts[0]}`],
    ['/etc/haproxy/sub.example.com.pem', certFile],
    ['127.0.0.1:8000', `127.0.0.1:${panel}`],
  ]);
  writeFileSync(join(folder, 'haproxy.cfg'), site);
  return start(
    ['haproxy', '-db', '-f', join(folder, 'haproxy.cfg')],
    folder,
    `https://127.0.0.1:${port}`,
  );
}

/**
 * Sends a request as it stands, on a connection of its own, and reads the answer to its end, or
 * (`isShort`) to the end of its first part.
 */
export function sendRaw(
  { url }: FrontProxy,
  head: readonly string[],
  isShort = false,
): Promise<string> {
  const { hostname, port, protocol } = new URL(url);
  const tls = protocol === 'https:' && { rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = {
      open(at: Bun.Socket) {
        at.write([...head, 'Connection: close', '', ''].join('\r\n'));
      },
      data(at: Bun.Socket, chunk: Buffer) {
        answer += chunk.toString('latin1');
        if (isShort) at.end();
      },
      close: () => resolve(answer),
      error: (_at: Bun.Socket, fault: Error) => reject(fault),
    };
    void Bun.connect({ hostname, port: Number(port), ...(tls && { tls }), socket }).catch(reject);
  });
}

/** The proxies of docs/gate that run here, by the name of their program. */
export const FRONT_PROXIES = [
  ['nginx', (behind: Behind) => startNginx(behind)],
  ['caddy', startCaddy],
  ['haproxy', startHaproxy],
] as const;

/**
 * Starts nginx as it stands before several nodes, of which there is one, with more changes; with
 * TLS by the files of a certificate.
 */
export async function startNginxForNodes(
  gatepost: number,
  changes: readonly [string, string][] = [],
  tls: { cert: string; key: string } | null = null,
): Promise<LoggedProxy> {
  const port = freePort();
  const site = await documented(
    'nginx.conf',
    [
      ['server 10.0.0.21:8080', `server 127.0.0.1:${gatepost}`],
      ['server 10.0.0.22:8080', `server 127.0.0.1:${gatepost}`],
      ['listen 443 ssl;', `listen 127.0.0.1:${port}${tls === null ? '' : ' ssl'};`],
      [
        'ssl_certificate /etc/ssl/certs/gate.example.com.pem;',
        tls ? `ssl_certificate ${tls.cert};` : '',
      ],
      [
        'ssl_certificate_key /etc/ssl/private/gate.example.com.key;',
        tls ? `ssl_certificate_key ${tls.key};` : '',
      ],
      ...changes,
    ],
    'docs/several-nodes',
  );
  return startNginxSite(site, port, tls === null ? 'http' : 'https');
}

export interface LoggedProxy extends FrontProxy {
  /** Returns what its log of errors has. */
  log(): string;
}

/** Starts nginx with the file of a site that listens on this port. */
export async function startNginxSite(
  site: string,
  port: number,
  scheme: 'http' | 'https' = 'http',
): Promise<LoggedProxy> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'site.conf'), site);
  writeFileSync(join(folder, 'nginx.conf'), nginxAround(folder, 1));
  const argv = ['nginx', '-p', folder, '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;'];
  const proxy = await start(argv, folder, `${scheme}://127.0.0.1:${port}`);
  return { ...proxy, log: () => readFileSync(join(folder, 'error.log'), 'utf8') };
}

/** Starts Caddy with TLS in front of a server, with more lines for it. */
export async function startCaddySite(
  gatepost: number,
  tls: { cert: string; key: string },
  lines: readonly string[] = [],
): Promise<FrontProxy> {
  const folder = temporaryFolder();
  const port = freePort();
  const site = [
    '{\n\tadmin off\n\tauto_https off\n}',
    `https://127.0.0.1:${port} {\n\tbind 127.0.0.1\n\ttls ${tls.cert} ${tls.key}`,
    `\treverse_proxy 127.0.0.1:${gatepost} {`,
    ...lines.map((line) => `\t\t${line}`),
    '\t}\n}\n',
  ];
  writeFileSync(join(folder, 'Caddyfile'), site.join('\n'));
  mkdirSync(join(folder, 'home'));
  const argv = ['caddy', 'run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
  return start(argv, folder, `https://127.0.0.1:${port}`);
}

/** Starts HAProxy as it stands before several nodes, of which there is one. */
export async function startHaproxyForNodes(gatepost: number): Promise<FrontProxy> {
  const folder = temporaryFolder();
  const port = freePort();
  const tls = 'ssl crt /etc/haproxy/gate.example.com.pem alpn h2,http/1.1';
  const site = await documented(
    'haproxy-nodes.cfg',
    [
      [`bind :443 ${tls}`, `bind 127.0.0.1:${port}`],
      ['10.0.0.21:8080', `127.0.0.1:${gatepost}`],
      ['10.0.0.22:8080', `127.0.0.1:${gatepost}`],
      // Each node would have a port of its own for its health.
      [' check port 9180', ''],
    ],
    'docs/several-nodes',
  );
  // Fewer than where it has a machine of its own.
  writeFileSync(join(folder, 'haproxy.cfg'), site.replace(/maxconn \d+/, 'maxconn 100'));
  const argv = ['haproxy', '-db', '-f', join(folder, 'haproxy.cfg')];
  return start(argv, folder, `http://127.0.0.1:${port}`);
}

/** A file of the documents with these texts changed, each of which must be there. */
export async function documented(
  name: string,
  changes: readonly [string, string][],
  where = 'docs/gate',
): Promise<string> {
  let text = await Bun.file(join(ROOT, where, name)).text();
  for (const [before, after] of changes) {
    if (!text.includes(before)) throw new Error(`${where}/${name} has no ${before}`);
    text = text.replaceAll(before, after);
  }
  return text;
}

export async function start(argv: string[], folder: string, url: string): Promise<FrontProxy> {
  const child = Bun.spawn(argv, {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: join(folder, 'home') },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  });
  // Its workers end with it, but not if it is killed.
  const end = () => child.kill('SIGTERM');
  process.on('exit', end);
  const said = new Response(child.stderr).text();
  const { hostname, port } = new URL(url);
  await until(`${argv[0]} listens`, async () => {
    if (child.exitCode !== null) throw new Error(`${argv[0]} ended at once: ${await said}`);
    const socket = await Bun.connect({ hostname, port: Number(port), socket: { data() {} } }).catch(
      () => null,
    );
    socket?.end();
    return socket !== null;
  });
  return {
    url,
    stop: async () => {
      process.off('exit', end);
      end();
      await child.exited;
    },
  };
}
