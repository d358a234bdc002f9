/** Programs that pass on connections, each with the file of docs/proxy-protocol. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { selfSigned } from './certificate.ts';
import { freePort } from './free-port.ts';
import { temporaryFolder } from './process.ts';
import { documented, type FrontProxy, nginxAround, start, startNginxSite } from './proxies.ts';

const WHERE = 'docs/proxy-protocol';

/** Where Debian's nginx has its module for streams. */
const STREAM_MODULE = '/usr/lib/nginx/modules/ngx_stream_module.so';

/** Returns whether nginx here can pass on connections. */
export const hasStreams = () => existsSync(STREAM_MODULE);

/** HAProxy that takes its clients from headers too: a test has no public address. */
export async function startHaproxySplit(gatepost: number): Promise<FrontProxy> {
  const folder = temporaryFolder();
  const port = freePort();
  const file = join(folder, 'haproxy.cfg');
  const changes: [string, string][] = [
    ['bind :443', `bind 127.0.0.1:${port} accept-proxy`],
    ['10.0.0.2:443', `127.0.0.1:${gatepost}`],
    ['maxconn 20000', 'maxconn 100'],
  ];
  writeFileSync(file, await documented('haproxy.cfg', changes, WHERE));
  return start(['haproxy', '-db', '-f', file], folder, `http://127.0.0.1:${port}`);
}

export async function startNginxStream(socket: string): Promise<FrontProxy> {
  const folder = temporaryFolder();
  const port = freePort();
  const stream = await documented(
    'nginx-stream.conf',
    [
      ['listen 443;', `listen 127.0.0.1:${port} proxy_protocol; set_real_ip_from 127.0.0.1;`],
      ['/run/gatepost/gatepost.sock', socket],
    ],
    WHERE,
  );
  writeFileSync(join(folder, 'site.conf'), '');
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, `load_module ${STREAM_MODULE};\n${nginxAround(folder, 1)}\n${stream}`);
  const argv = ['nginx', '-p', folder, '-c', file, '-g', 'daemon off;'];
  return start(argv, folder, `http://127.0.0.1:${port}`);
}

export async function startNginxSocket(socket: string): Promise<FrontProxy> {
  const port = freePort();
  const { certFile, keyFile } = await certificateFor('bot.example.com');
  const site = await documented(
    'nginx-socket.conf',
    [
      ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
      ['/run/gatepost/gatepost.sock', socket],
      ['/etc/ssl/certs/bot.example.com.pem', certFile],
      ['/etc/ssl/private/bot.example.com.key', keyFile],
    ],
    WHERE,
  );
  return startNginxSite(site, port, 'https');
}

export async function startXray(socket: string): Promise<FrontProxy> {
  const folder = temporaryFolder();
  const port = freePort();
  const { certFile, keyFile } = await certificateFor('sub.example.com');
  const text = await documented(
    'xray.json',
    [
      ['"port": 443,', `"port": ${port}, "listen": "127.0.0.1",`],
      ['"network": "raw",', '"network": "raw", "rawSettings": { "acceptProxyProtocol": true },'],
      ['/run/gatepost/gatepost.sock', socket],
      ['/etc/ssl/certs/sub.example.com.pem', certFile],
      ['/etc/ssl/private/sub.example.com.key', keyFile],
      // A file of networks that its package brings.
      ['geoip:private', '10.0.0.0/8'],
    ],
    WHERE,
  );
  const file = join(folder, 'xray.json');
  writeFileSync(file, text);
  return start(['xray', 'run', '-c', file], folder, `http://127.0.0.1:${port}`);
}

async function certificateFor(name: string): Promise<{ certFile: string; keyFile: string }> {
  const folder = temporaryFolder();
  const { cert, key } = await selfSigned(name, { names: [name] });
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  return { certFile, keyFile };
}
