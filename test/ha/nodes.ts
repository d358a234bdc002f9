/** Several nodes of the appliance on one database, behind proxies as the documents show them. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Credentials } from '../../src/core/provider.ts';
import { freePorts } from '../support/free-port.ts';
import { run, type ServerProcess, startServe, temporaryFolder } from '../support/process.ts';
import { nginxAround } from '../support/proxies.ts';
import { until } from '../support/until.ts';
import { documented } from './cluster.ts';
import { daemonFolder, startDaemon } from './daemon.ts';

/** All callers have one address, and never rest. */
const UNLIMITED = {
  GATEPOST_REGISTRATIONS_PER_MINUTE_MAX: '1000000000',
  GATEPOST_LINKS_PER_PROVIDER_MAX: '10000000',
  GATEPOST_DOMAINS_PER_PROVIDER_MAX: '100000',
  GATEPOST_SENDS_PER_MINUTE_MAX: '1000000',
  GATEPOST_TRUSTED_PROXIES: '127.0.0.1',
};

const STARTS_MAX = 5;

interface NodePorts {
  calls: number;
  monitor: number;
}

export class Nodes {
  private constructor(
    /** nginx, which asks a node that is there. */
    readonly url: string,
    readonly servers: ServerProcess[],
    private readonly env: Record<string, string>,
    private readonly dataDirs: readonly string[],
    /** Where the nodes listen, in their order. */
    readonly ports: readonly NodePorts[],
  ) {}

  /** Starts so many nodes; `env` is added to what makes them call that database. */
  static async start(
    databaseUrl: string,
    count: number,
    env: Record<string, string> = {},
  ): Promise<Nodes> {
    const all = { ...UNLIMITED, GATEPOST_DATABASE_URL: databaseUrl, ...env };
    const [front = 0, ...free] = freePorts(2 * count + 1);
    const ports = Array.from({ length: count }, (_, n) => ({
      calls: free[2 * n] ?? 0,
      monitor: free[2 * n + 1] ?? 0,
    }));
    const dataDirs = ports.map(() => join(temporaryFolder(), 'data'));
    const nodes = new Nodes(`http://127.0.0.1:${front}`, [], all, dataDirs, ports);
    for (const which of ports.keys()) nodes.servers.push(await nodes.#serve(which));
    await startNginx(front, ports);
    return nodes;
  }

  /** Starts HAProxy in front of the nodes too; returns its URL. */
  async haproxy(checkInterval = '2s'): Promise<string> {
    const [front = 0] = freePorts(1);
    await startHaproxy(front, this.ports, checkInterval);
    return `http://127.0.0.1:${front}`;
  }

  /** Ends a node as its machine would, and starts it again. */
  async kill(which: number): Promise<void> {
    const server = this.servers[which];
    if (server === undefined) throw new Error(`there is no node ${which}`);
    await server.stop('SIGKILL');
    this.servers[which] = await this.#serve(which);
  }

  /** Restarts a node as a service manager does; returns what it said until its end. */
  async restart(which: number): Promise<string> {
    const server = this.servers[which];
    if (server === undefined) throw new Error(`there is no node ${which}`);
    await server.stop();
    this.servers[which] = await this.#serve(which);
    return server.stderr();
  }

  /** Waits until every node says that it is ready. */
  ready(): Promise<unknown> {
    return this.#wait('ready', (statuses) => statuses.every((status) => status === 200));
  }

  /** Waits until every node says that it is not. */
  unready(): Promise<unknown> {
    return this.#wait('unready', (statuses) => statuses.every((status) => status === 503));
  }

  #wait(what: string, isSo: (statuses: readonly number[]) => boolean): Promise<unknown> {
    return until(`nodes are ${what}`, async () => {
      const answers = this.servers.map(({ monitorUrl }) => fetch(`${monitorUrl}/readyz`));
      return isSo((await Promise.all(answers)).map(({ status }) => status));
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  /** A command of the operator, on the machine of the first node. */
  command(...words: string[]): ReturnType<typeof run> {
    return run([...words, '--data', this.dataDirs[0] ?? ''], { env: this.env });
  }

  async addProvider(code: string): Promise<Credentials> {
    const words = ['provider', 'add', '--name', code, '--code', code, '--plan', 'enterprise'];
    const { code: exit, stdout, stderr } = await this.command(...words, '--json');
    if (exit !== 0) throw new Error(`provider add: ${stderr}`);
    return { code, authKey: JSON.parse(stdout).auth_key };
  }

  /** Starts a node, again and again if it ends at once, as a service manager does. */
  async #serve(which: number): Promise<ServerProcess> {
    const { calls = 0, monitor = 0 } = this.ports[which] ?? {};
    const env = {
      ...this.env,
      GATEPOST_DATABASE_NODE: `node${which + 1}`,
      GATEPOST_MONITOR_PORT: String(monitor),
    };
    const order = { dataDir: this.dataDirs[which] ?? '', env, args: ['--port', String(calls)] };
    for (let attempt = 1; ; attempt++) {
      try {
        return await startServe(order);
      } catch (problem) {
        if (attempt === STARTS_MAX) throw problem;
      }
    }
  }
}

async function startNginx(port: number, ports: readonly NodePorts[]): Promise<void> {
  const folder = daemonFolder();
  const servers = ports.map(
    ({ calls }) => `    server 127.0.0.1:${calls} max_fails=1 fail_timeout=1s;\n`,
  );
  const site = documented('nginx.conf', [
    [/(?: {4}server 10\..*\n)+/, servers.join('')],
    ['listen 443 ssl;', `listen 127.0.0.1:${port};`],
    [/ *ssl_certificate.*\n/, ''],
  ]);
  writeFileSync(join(folder, 'site.conf'), site);
  writeFileSync(join(folder, 'nginx.conf'), nginxAround(folder, 1));
  const command = ['nginx', '-p', folder, '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;'];
  await startFront('nginx', command, folder, port);
}

async function startHaproxy(
  port: number,
  ports: readonly NodePorts[],
  checkInterval: string,
): Promise<void> {
  const folder = daemonFolder();
  const own = ports.map(
    ({ calls, monitor }, n) => `    server node${n} 127.0.0.1:${calls} check port ${monitor}\n`,
  );
  const unready = ports.map(
    ({ calls }, n) => `    server node${n}-unready 127.0.0.1:${calls} no-check backup\n`,
  );
  const text = documented('haproxy-nodes.cfg', [
    [/bind :443 .*/, `bind 127.0.0.1:${port}`],
    ['inter 2s', `inter ${checkInterval}`],
    [' check port 9180', ''],
    [/(?: {4}server node\d 10.*\n)+/, own.join('')],
    [/(?: {4}server node\d-unready .*\n)+/, unready.join('')],
  ]);
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, text);
  await startFront('haproxy', ['haproxy', '-db', '-f', file], folder, port);
}

async function startFront(
  name: string,
  command: readonly string[],
  folder: string,
  port: number,
): Promise<void> {
  const front = startDaemon(command, join(folder, `${name}.log`));
  let hasEnded = false;
  void front.exited.then(() => {
    hasEnded = true;
  });
  await until(`${name} listens`, async () => {
    if (hasEnded) throw new Error(front.said());
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } }).catch(
      () => null,
    );
    socket?.end();
    return socket !== null;
  });
}
