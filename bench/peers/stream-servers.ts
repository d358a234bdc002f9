/**
 * Servers of open streams: how each is started, how a device opens its stream, and how one message
 * is sent to all of them.
 */

import { Database } from 'bun:sqlite';
import { existsSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { connect, openSocket, startNodes } from '../devices.ts';
import { ask, type Bench, notification, who } from '../driver.ts';
import { onServerCore, type Server, serverOf, spawnKept } from '../process.ts';
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
  start(bench: Bench, folder: string, streams: number): Promise<StreamServer>;
}

const TEXT = 'Hello to everybody';
const START_MAX_MS = 10_000;
/** Descriptors beside the streams: nchan needs hundreds while they open. */
const SPARE_FILES = 5_000;
const NCHAN = '/usr/lib/nginx/modules/ngx_nchan_module.so';
export const STREAM_CONTESTANTS: readonly StreamContestant[] = [
  {
    name: 'Gatepost (WebSocket)',
    promise: 'on the disk for each device before it is sent, acknowledged by each, repeated if not',
    missing: () => null,
    start: startGatepost,
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

async function startGatepost(bench: Bench, folder: string, streams: number): Promise<StreamServer> {
  const [server] = (await startNodes(bench, [basename(folder)], streams)) as [Server];
  return {
    server,
    open: (n, got, lost) => connect(server, `device-${n}`, { got, lost }),
    publish: async () => {
      // General notifications are five minutes apart; the bench has not that patience.
      const db = new Database(join(folder, 'gatepost.db'));
      db.run('PRAGMA busy_timeout = 5000');
      db.run('UPDATE provider SET last_general_at_ms = NULL');
      db.close();
      await ask(`${server.url}/remote/notification?${who()}`, notification());
    },
  };
}

async function startNchan(_: Bench, folder: string, streams: number): Promise<StreamServer> {
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

async function startMosquitto(_: Bench, folder: string, streams: number): Promise<StreamServer> {
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
