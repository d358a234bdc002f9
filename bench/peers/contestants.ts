/**
 * The contestants: how each is started on a data directory of its own, on the core of the servers,
 * and what it lacks on this machine.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../driver.ts';
import { onServerCore, type Server, startServer, totalMemory } from '../process.ts';
import { seed } from '../seed.ts';
import type { Shape } from '../shape.ts';
import { missingPostgres, startPostgres } from './postgres.ts';

export interface Setting {
  bench: Bench;
  shape: Shape;
  /** Variables of every process of a server: `LD_PRELOAD` where the disk is to be slow. */
  env: Record<string, string>;
  /** Connections from pg to PostgreSQL. */
  pool: number;
}

export interface Running extends Server {
  /** Asks for the checkpoint that would otherwise come after the bench. */
  checkpoint?(): Promise<void>;
}

export interface Contestant {
  name: string;
  /** The one that writes the log back into the database, and those that wait for it. */
  checkpoints: string;
  /** The reason why it cannot be measured here; null if it can. */
  missing(): string | null;
  start(setting: Setting): Promise<Running>;
  /** The least that a server can do: its answers are not looked into. */
  isBare?: boolean;
}

export interface Started {
  contestant: Contestant;
  server: Running;
}

const here = import.meta.dir;
const modules = join(here, 'node_modules');
const node = join(modules, `node-linux-${process.arch}`, 'bin', 'node');

const missingModules = () =>
  existsSync(join(modules, 'pg')) ? null : "packages of bench/peers ('make bench BENCH=peers')";
const missingNode = () =>
  missingModules() ?? (existsSync(node) ? null : `no Node of npm for ${process.arch}`);

const makeFolder = ({ bench }: Setting) => bench.place(`peer-${crypto.randomUUID()}`);

function startPeer(
  command: string[],
  setting: Setting,
  env: Record<string, string>,
): Promise<Server> {
  const { providerCount, linkCount, deviceCount } = setting.shape;
  return startServer(onServerCore(command), {
    NODE_ENV: 'production',
    PEER_PROVIDERS: String(providerCount),
    PEER_LINKS: String(linkCount),
    PEER_DEVICES: String(deviceCount),
    ...env,
    ...setting.env,
  });
}

const AT_COMMIT = 'the commit that makes the log 1000 pages long; everybody waits';

export const GATEPOST: Contestant = {
  name: 'Gatepost',
  checkpoints: 'the server between two turns, when the log is 1000 to 4000 pages long',
  missing: () => null,
  start: async (setting) => {
    const dataDir = makeFolder(setting);
    await seed(setting.bench, dataDir, setting.shape);
    return setting.bench.serve(dataDir, setting.env);
  },
};

export const BARE: Contestant = {
  name: 'bare Bun.serve',
  checkpoints: '',
  isBare: true,
  missing: () => null,
  start: () => startServer(onServerCore([process.execPath, join(here, '..', 'bare-server.ts')])),
};

export const PEERS: readonly Contestant[] = [
  {
    name: 'Fastify + better-sqlite3',
    checkpoints: AT_COMMIT,
    missing: missingNode,
    start: (setting) => {
      const env = { PEER_DATA: makeFolder(setting) };
      return startPeer([node, join(here, 'fastify-better-sqlite3.mjs')], setting, env);
    },
  },
  {
    name: 'Bun + Hono + bun:sqlite',
    checkpoints: AT_COMMIT,
    missing: missingModules,
    start: (setting) => {
      const env = { PEER_DATA: makeFolder(setting) };
      return startPeer([process.execPath, join(here, 'hono-bun-sqlite.mjs')], setting, env);
    },
  },
  {
    name: 'Express + pg + PostgreSQL',
    checkpoints: 'a process of its own, asked for one in the middle of each round',
    missing: () => missingNode() ?? missingPostgres(),
    start: async (setting) => {
      const postgres = await startPostgres(makeFolder(setting), setting.env);
      const env = { PEER_POSTGRES: postgres.socketFolder, PEER_POOL: String(setting.pool) };
      const express = await startPeer([node, join(here, 'express-pg.mjs')], setting, env);
      return {
        ...express,
        cpuSeconds: () => express.cpuSeconds() + postgres.server.cpuSeconds(),
        memory: () => totalMemory([express.memory(), postgres.server.memory()]),
        checkpoint: postgres.checkpoint,
        stop: async () => {
          await express.stop();
          await postgres.server.stop();
        },
      };
    },
  },
];
