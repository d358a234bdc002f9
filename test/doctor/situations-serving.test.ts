/** What `gatepost doctor` says of servers that really run, and of those that do not serve. */

import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { identityOf, noteMonitor } from '../../src/base/whereabouts.ts';
import { startMonitor } from '../../src/monitor/server.ts';
import { type ServerProcess, startServe } from '../support/process.ts';
import { type Asked, type Scene, standIn, testSituations } from '../support/situation.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

/** Starts a server on the data of the scene, and asks by the clock, as it does. */
async function served(
  { dataDir, ends }: Scene,
  env: Record<string, string> = {},
): Promise<{ server: ServerProcess; asked: Asked }> {
  const server = await startServe({ dataDir, env });
  ends.push(() => server.stop('SIGKILL'));
  return { server, asked: { standIn: false, nowMs: Date.now() } };
}

const MONITORED = { GATEPOST_MONITOR_PORT: '0' };

/** Stops a process, and waits until the system shows that. */
async function stopped({ pid }: ServerProcess): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await until('it is stopped', async () =>
    / T /.test(await Bun.file(`/proc/${pid}/stat`).text()) ? true : undefined,
  );
}

testSituations([
  {
    situation: 'a server runs and serves',
    says: [],
    fine: /^the server, process \d+ \(.*\), runs since 20\d\d-\d\d-\d\dT.*Z$/,
    make: async (scene) => (await served(scene, MONITORED)).asked,
  },
  {
    situation: 'a server runs and serves, and has no monitor',
    says: [],
    fine: /^the server, process \d+ \(.*\), runs since 20/,
    make: async (scene) => (await served(scene)).asked,
  },
  {
    situation: 'the server was killed',
    says: ['PROBLEM server_not_running'],
    make: async (scene) => {
      const { server, asked } = await served(scene, MONITORED);
      await server.stop('SIGKILL');
      return asked;
    },
  },
  {
    situation: 'the server ended by itself',
    says: ['PROBLEM server_not_running'],
    make: async (scene) => {
      const { server, asked } = await served(scene, MONITORED);
      await server.stop();
      return asked;
    },
  },
  {
    situation: 'the server is stopped',
    says: ['PROBLEM server_silent'],
    words: /^the server, process \d+ \(.*, stopped\), runs since .*, and does not answer$/,
    make: async (scene) => {
      const { server, asked } = await served(scene, MONITORED);
      await stopped(server);
      return asked;
    },
  },
  {
    situation: 'the server is stopped, and has no monitor',
    says: ['PROBLEM server_silent'],
    make: async (scene) => {
      const { server, asked } = await served(scene);
      await stopped(server);
      return asked;
    },
  },
  {
    situation: 'another program holds the database of the server',
    says: ['PROBLEM server_not_ready'],
    words: /, and is not ready: a write takes longer than 3 s$/,
    make: async (scene) => {
      const { asked } = await served(scene, MONITORED);
      const db = new Database(join(scene.dataDir, 'gatepost.db'));
      db.run('PRAGMA busy_timeout = 30000');
      db.run('BEGIN IMMEDIATE');
      scene.ends.push(() => db.close());
      return asked;
    },
  },
  {
    situation: 'the server waits, as for its first certificate',
    says: ['PROBLEM server_not_ready'],
    words: /runs since .*, and is not ready: the server does not listen yet$/,
    make: (scene) => {
      const { dataDir, ends } = scene;
      standIn(scene);
      const problem = { reason: 'starting', detail: 'the server does not listen yet' } as const;
      const monitor = startMonitor({
        host: '127.0.0.1',
        port: 0,
        isChosen: true,
        identity: identityOf(dataDir) ?? '',
        readiness: { problem: async () => problem } as never,
        metrics: {} as never,
        log: {} as never,
      });
      ends.push(() => monitor.stop());
      noteMonitor(dataDir, monitor.url);
      return { standIn: false };
    },
  },
  {
    situation: 'the server was killed, and another one has its monitor now',
    says: ['PROBLEM server_not_running'],
    make: async ({ dataDir, ends }) => {
      const other = await startServe({ env: MONITORED });
      ends.push(() => other.stop('SIGKILL'));
      noteMonitor(dataDir, other.monitorUrl);
      return { standIn: false };
    },
  },
  {
    situation: 'the server of another data directory has the port',
    says: ['PROBLEM server_not_running', 'PROBLEM port_in_use'],
    make: async ({ ends }) => {
      const other = await startServe();
      ends.push(() => other.stop('SIGKILL'));
      return { standIn: false, env: { GATEPOST_PORT: String(other.port) } };
    },
  },
]);
