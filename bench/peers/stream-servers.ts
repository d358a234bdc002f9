/**
 * Servers of open streams: how each is started, how a device opens its stream, and how one message
 * is sent to all of them.
 */

import { Database } from 'bun:sqlite';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { onServerCore } from '../load.ts';
import { type Server, serverOf, spawnKept, startServer } from '../process.ts';
import { connectPacket, packetsOf, publishPacket, subscribePacket } from './mqtt.ts';

export interface StreamServer {
  server: Server;
  /** Opens one stream; reports each message on it, then its end. */
  open(n: number, got: () => void, lost: () => void): Promise<void>;
  /** Sends one message to all; settles when the server has taken it. */
  publish(): Promise<void>;
}

export interface StreamContestant {
  name: string;
  promise: string;
  missing(): string | null;
  start(folder: string, streams: number): Promise<StreamServer>;
}

export const TEXT = 'Hello to everybody';
const START_MAX_MS = 10_000;
/** Descriptors beside the streams: nchan needs hundreds while they open. */
const SPARE_FILES = 5_000;
const NCHAN = '/usr/lib/nginx/modules/ngx_nchan_module.so';
const CREDENTIALS = { provider_code: 'BENCH001', auth_key: 'bench-key-of-exactly-32-letters_' };
const HASH = 'a'.repeat(64);

export const STREAM_CONTESTANTS = (gatepost: string): readonly StreamContestant[] => [
  {
    name: 'Gatepost (WebSocket)',
    promise: 'on the disk for each device before it is sent, acknowledged by each, repeated if not',
    missing: () => null,
    start: (folder, streams) => startGatepost(gatepost, folder, streams),
  },
  {
    name: 'nchan (WebSocket)',
    promise: 'in memory, one channel for all, nothing acknowledged',
    missing: () => {
      const isThere = Bun.which('nginx') !== null && existsSync(NCHAN);
      return isThere ? null : 'nchan (apt-get install nginx libnginx-mod-nchan)';
    },
    start: startNchan,
  },
  {
    name: 'Mosquitto (MQTT, QoS 1)',
    promise: 'in memory, one topic for all, acknowledged by each',
    missing: () => (Bun.which('mosquitto') ? null : 'mosquitto (apt-get install mosquitto)'),
    start: startMosquitto,
  },
];

async function startGatepost(
  gatepost: string,
  folder: string,
  streams: number,
): Promise<StreamServer> {
  const { provider_code: code, auth_key: key } = CREDENTIALS;
  const identity = ['--name', 'bench', '--code', code, '--key', key, '--plan', 'enterprise'];
  const add = Bun.spawnSync([gatepost, 'provider', 'add', '--data', folder, ...identity]);
  if (add.exitCode !== 0) throw new Error(add.stderr.toString());
  const command = onServerCore([gatepost, 'serve', '--port', '0', '--data', folder]);
  const server = await startServer(command, {
    GATEPOST_REGISTRATIONS_PER_MINUTE_MAX: '1000000000',
    GATEPOST_STREAMS_MAX: String(streams),
  });
  const ask = async (path: string, body?: unknown) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = (await (await fetch(server.url + path, init)).json()) as Record<string, unknown>;
    if (answer['rc'] !== 1) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
  const query = new URLSearchParams(CREDENTIALS);
  await ask(`/api/add-domain?${query}&domain_hash=${HASH}`);
  return {
    server,
    open: async (n, got, lost) => {
      const draft = { hwid: `device-${n}`, os: 'android', provider_code: code, domain_hash: HASH };
      const { device_token: token } = await ask('/device/register', draft);
      const headers = { authorization: `Bearer ${token}` };
      const socket = await openSocket(`${server.url}/device/stream`, lost, { headers });
      socket.onmessage = ({ data }) => {
        const { data: messages } = JSON.parse(String(data)) as { data?: { id: number }[] };
        if (messages === undefined) return;
        got();
        const items = messages.map(({ id }) => ({ id, state: 'received' }));
        socket.send(JSON.stringify({ items }));
      };
    },
    publish: async () => {
      forgetInterval(folder);
      const form = { body: TEXT, type_push: 'optional', expire_days: 1 };
      await ask(`/remote/notification?${query}`, { PushNotificationForm: form, os: ['android'] });
    },
  };
}

/** General notifications are five minutes apart; the bench has not that patience. */
function forgetInterval(folder: string): void {
  const db = new Database(join(folder, 'gatepost.db'));
  db.run('PRAGMA busy_timeout = 5000');
  db.run('UPDATE provider SET last_general_at_ms = NULL');
  db.close();
}

async function startNchan(folder: string, streams: number): Promise<StreamServer> {
  const port = freePort();
  const file = join(folder, 'nginx.conf');
  await Bun.write(file, nginxConf(folder, port, streams));
  for (const name of ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']) mkdirSync(join(folder, name));
  const command = ['nginx', '-p', folder, '-c', file, '-e', 'stderr'];
  const server = await startDaemon(command, `http://127.0.0.1:${port}`, streams);
  return {
    server,
    open: async (_, got, lost) => {
      const socket = await openSocket(`${server.url}/sub`, lost);
      socket.onmessage = got;
    },
    publish: async () => {
      const { status } = await fetch(`${server.url}/pub`, { method: 'POST', body: TEXT });
      if (status !== 202 && status !== 201) throw new Error(`nchan answered ${status}`);
    },
  };
}

/** One worker, as it has one core. */
const nginxConf = (folder: string, port: number, streams: number) => `
load_module ${NCHAN};
daemon off;
worker_processes 1;
worker_rlimit_nofile ${streams + SPARE_FILES};
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections ${streams + SPARE_FILES}; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  nchan_shared_memory_size 128M;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /sub { nchan_subscriber websocket; nchan_channel_id all; }
    location = /pub { nchan_publisher http; nchan_channel_id all; }
  }
}
`;

async function startMosquitto(folder: string, streams: number): Promise<StreamServer> {
  const port = freePort();
  const file = join(folder, 'mosquitto.conf');
  // Root gives itself up otherwise, for a user who does not reach the folder.
  const lines = [
    `listener ${port} 127.0.0.1`,
    'allow_anonymous true',
    'set_tcp_nodelay true',
    'log_type error',
  ];
  if (process.getuid?.() === 0) lines.push('user root');
  await Bun.write(file, `${lines.join('\n')}\n`);
  const url = `http://127.0.0.1:${port}`;
  const server = await startDaemon(['mosquitto', '-c', file], url, streams);
  const publisher = await openMqtt(
    port,
    'publisher',
    () => {},
    () => {},
  );
  return {
    server,
    open: async (n, got, lost) => {
      const device = await openMqtt(port, `device-${n}`, got, lost);
      await device.ask(subscribePacket('all'));
    },
    publish: () => publisher.ask(publishPacket('all', TEXT)),
  };
}

interface Mqtt {
  /** Sends a packet; settles with its acknowledgement. */
  ask(packet: Uint8Array): Promise<void>;
}

async function openMqtt(
  port: number,
  name: string,
  got: () => void,
  lost: () => void,
): Promise<Mqtt> {
  let acknowledged = () => {};
  let rest: Uint8Array = new Uint8Array(0);
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data: (from, chunk) => {
        const read = packetsOf(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]));
        rest = read.rest;
        for (const { isMessage, acknowledgement } of read.packets) {
          if (!isMessage) acknowledged();
          else {
            got();
            from.write(acknowledgement);
          }
        }
      },
      close: lost,
    },
  });
  const ask = (packet: Uint8Array) =>
    new Promise<void>((resolve) => {
      acknowledged = resolve;
      socket.write(packet);
    });
  await ask(connectPacket(name));
  return { ask };
}

function openSocket(
  url: string,
  lost: () => void,
  options: Bun.WebSocketOptions = {},
): Promise<WebSocket> {
  const socket = new WebSocket(url.replace('http', 'ws'), options);
  return new Promise((resolve, reject) => {
    socket.onopen = () => resolve(socket);
    socket.onerror = (event) => reject(new Error((event as ErrorEvent).message));
    socket.onclose = lost;
  });
}

/** Starts a server that prints nothing when it is ready. */
async function startDaemon(command: string[], url: string, streams: number): Promise<Server> {
  const limit = ['prlimit', `--nofile=${streams + SPARE_FILES}`];
  const child = spawnKept(onServerCore([...limit, ...command]), {}, 'SIGTERM');
  const startMs = performance.now();
  const { hostname, port } = new URL(url);
  for (;;) {
    try {
      const probe = await Bun.connect({ hostname, port: Number(port), socket: { data: () => {} } });
      probe.end();
      return serverOf(child, url);
    } catch (error) {
      if (performance.now() - startMs > START_MAX_MS) throw error;
      await Bun.sleep(20);
    }
  }
}
