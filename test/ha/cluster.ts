/**
 * A database that is highly available, on one machine: etcd, members of PostgreSQL under Patroni
 * with synchronous replication, and HAProxy before them, each run with the very file that the
 * documents show; only addresses, folders and the login of Gatepost are others here. What a
 * failover needs can be done to it: members are killed, frozen, and come back.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../support/free-port.ts';
import { ROOT } from '../support/process.ts';
import { until } from '../support/until.ts';
import {
  adopt,
  asPostgres,
  type Daemon,
  daemonFolder,
  signalTo,
  startDaemon,
  treeOf,
} from './daemon.ts';

/** What may happen to whoever leads. */
export const FAULTS = [
  /** Power is cut: everything of it ends at once; it comes back. */
  'machine',
  /** The database ends at once, its Patroni lives. */
  'database',
  /** Patroni ends, its database lives on and knows nothing of it. */
  'agent',
  /** Everything of it stands still, and goes on later where it was. */
  'frozen',
  /** Standbys stand still, so that every commit waits; its power is cut, and they go on. */
  'waiting',
  /** The operator hands over. */
  'switchover',
] as const;
export type Fault = (typeof FAULTS)[number];

/** First starts copy a database and wait for two loops of Patroni. */
const START_MAX_MS = 120_000;
/** The longest time to elect another leader: ttl, and what a busy machine adds. */
const ELECTION_MAX_MS = 90_000;
/** Less than wal_sender_timeout: with the last standby given up, commits would wait for nobody. */
const WAITING_MS = 4000;
/** A member that did not start by then needs the operator. */
const REPAIR_MS = 15_000;
const PG_BIN = '/usr/lib/postgresql/15/bin';

interface MemberState {
  name: string;
  role: string;
  state: string;
}

/** One machine of the database. */
export class Member {
  #patroni: Daemon | null = null;
  #stopped: number[] = [];

  constructor(
    readonly name: string,
    readonly folder: string,
    readonly restPort: number,
    readonly port: number,
  ) {}

  get dataDir(): string {
    return join(this.folder, 'data');
  }

  start(): void {
    const file = join(this.folder, 'patroni.yml');
    const log = join(this.folder, 'patroni.log');
    this.#patroni = startDaemon(asPostgres(['patroni', file]), log);
  }

  said(): string {
    return this.#patroni?.said() ?? '';
  }

  /** Whether Patroni says that this member leads. */
  async isLeader(): Promise<boolean> {
    const address = `http://127.0.0.1:${this.restPort}/primary`;
    // A frozen one takes connections and never answers.
    const signal = AbortSignal.timeout(500);
    const answer = await fetch(address, { method: 'OPTIONS', signal }).catch(() => null);
    return answer?.status === 200;
  }

  /** All members as this one sees them; none while it does not answer. */
  async view(): Promise<MemberState[]> {
    const signal = AbortSignal.timeout(500);
    const address = `http://127.0.0.1:${this.restPort}/cluster`;
    const answer = await fetch(address, { signal }).catch(() => null);
    if (answer === null) return [];
    return ((await answer.json()) as { members: MemberState[] }).members;
  }

  /** Has Patroni take a fresh copy from the leader. */
  async copyAnew(): Promise<void> {
    const address = `http://127.0.0.1:${this.restPort}/reinitialize`;
    const init = { method: 'POST', body: '{"force":true}', signal: AbortSignal.timeout(5000) };
    await fetch(address, init).catch(() => null);
  }

  async kill(): Promise<void> {
    const all = this.#pids();
    for (const pid of all) signalTo(pid, 'SIGKILL');
    await this.#patroni?.exited;
  }

  killDatabase(): void {
    for (const pid of this.#databasePids()) signalTo(pid, 'SIGKILL');
  }

  async killAgent(): Promise<void> {
    await this.#patroni?.stop('SIGKILL');
  }

  freeze(): void {
    this.#stopped = this.#pids();
    for (const pid of this.#stopped) signalTo(pid, 'SIGSTOP');
    // Whoever was being started meanwhile.
    for (const pid of this.#pids()) {
      if (!this.#stopped.includes(pid)) signalTo(pid, 'SIGSTOP');
      this.#stopped.push(pid);
    }
  }

  thaw(): void {
    for (const pid of this.#stopped) signalTo(pid, 'SIGCONT');
    this.#stopped = [];
  }

  #pids(): number[] {
    return [...treeOf(this.#patroni?.pid ?? 0), ...this.#databasePids()];
  }

  #databasePids(): number[] {
    const file = join(this.dataDir, 'postmaster.pid');
    if (!existsSync(file)) return [];
    const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
    const command = join('/proc', String(pid), 'cmdline');
    // The number may be another's by now.
    if (!existsSync(command) || !readFileSync(command, 'utf8').includes(this.dataDir)) return [];
    adopt(pid);
    return treeOf(pid);
  }
}

export class Cluster {
  private constructor(
    readonly members: readonly Member[],
    /** Where HAProxy leads to whoever leads. */
    readonly port: number,
  ) {}

  /** The address of a database, as Gatepost is told it. */
  url(): string {
    return `postgres://gatepost@127.0.0.1:${this.port}/gatepost`;
  }

  /** Starts one of so many members, with a database `gatepost` and its owner. */
  static async start(memberCount = 3): Promise<Cluster> {
    const etcdPort = await startEtcd();
    const ports = freePorts(2 * memberCount + 1);
    const members = Array.from({ length: memberCount }, (_, n) => {
      const [rest = 0, port = 0] = [ports[2 * n], ports[2 * n + 1]];
      return new Member(`db${n + 1}`, daemonFolder(), rest, port);
    });
    for (const member of members) writePatroniFile(member, etcdPort);
    const port = ports.at(-1) ?? 0;
    const cluster = new Cluster(members, port);
    members[0]?.start();
    await until('a first leader', () => members[0]?.isLeader(), START_MAX_MS);
    for (const member of members.slice(1)) member.start();
    startWay(members, port);
    await cluster.whole();
    await cluster.#makeDatabase();
    return cluster;
  }

  async #makeDatabase(): Promise<void> {
    const leader = await this.leader();
    const at = [
      '-h',
      '127.0.0.1',
      '-p',
      String(leader.port),
      '-U',
      'postgres',
      '-v',
      'ON_ERROR_STOP=1',
    ];
    const env = { PATH: process.env['PATH'] ?? '', PGPASSWORD: 'choose-one' };
    for (const sql of ['CREATE ROLE gatepost LOGIN', 'CREATE DATABASE gatepost OWNER gatepost']) {
      const made = Bun.spawnSync(['psql', '-q', ...at, '-c', sql], { env });
      if (made.exitCode !== 0) throw new Error(made.stderr.toString());
    }
  }

  /** Whoever leads, as soon as there is one; `except` does not count. */
  leader(except: Member | null = null): Promise<Member> {
    return until(
      'a leader',
      async () => {
        const candidates = this.members.filter((member) => member !== except);
        const leads = await Promise.all(candidates.map((member) => member.isLeader()));
        return candidates[leads.indexOf(true)];
      },
      ELECTION_MAX_MS,
    );
  }

  /**
   * Waits until every member is there and one has all that is answered. One that does not start is
   * copied anew after a while, as the operator would have it.
   */
  async whole(): Promise<void> {
    let failedSinceMs = 0;
    await until(
      'a whole cluster',
      async () => {
        const leader = await this.leader();
        const view = await leader.view();
        const failed = view.find(({ state }) => state === 'start failed');
        failedSinceMs = failed && failedSinceMs === 0 ? performance.now() : failedSinceMs;
        if (failed && performance.now() > failedSinceMs + REPAIR_MS) {
          await this.members.find(({ name }) => name === failed.name)?.copyAnew();
          failedSinceMs = 0;
        }
        const running = view.filter(({ state }) => state === 'running' || state === 'streaming');
        const isSynchronous = view.some(({ role }) => role === 'sync_standby');
        return running.length === this.members.length && isSynchronous;
      },
      START_MAX_MS,
    );
  }

  /** Does `fault` to the leader. Answers how to make it good. */
  async strike(leader: Member, fault: Fault): Promise<() => void> {
    switch (fault) {
      case 'machine':
        await leader.kill();
        return () => leader.start();
      case 'waiting': {
        const standbys = this.members.filter((member) => member !== leader);
        for (const standby of standbys) standby.freeze();
        await Bun.sleep(WAITING_MS);
        await leader.kill();
        for (const standby of standbys) standby.thaw();
        return () => leader.start();
      }
      case 'agent':
        await leader.killAgent();
        return () => leader.start();
      case 'frozen':
        leader.freeze();
        return () => leader.thaw();
      case 'database':
        leader.killDatabase();
        return () => {};
      case 'switchover': {
        const body = JSON.stringify({ leader: leader.name });
        const address = `http://127.0.0.1:${leader.restPort}/switchover`;
        // It answers when it is done, or not, as the leader restarts.
        void fetch(address, { method: 'POST', body }).catch(() => null);
        return () => {};
      }
    }
  }
}

async function startEtcd(): Promise<number> {
  const folder = daemonFolder();
  const [client = 0, peer = 0] = freePorts(2);
  const [clientUrl, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
  const log = join(folder, 'etcd.log');
  startDaemon(
    [
      ...['etcd', '--enable-v2', '--name', 'one', '--data-dir', join(folder, 'data')],
      ...['--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
      ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
      ...['--initial-cluster', `one=${peerUrl}`],
    ],
    log,
  );
  await until('etcd answers', async () => {
    const answer = await fetch(`${clientUrl}/health`).catch(() => null);
    return answer?.ok;
  });
  return client;
}

function writePatroniFile(member: Member, etcdPort: number): void {
  const { name, folder, restPort, port, dataDir } = member;
  const text = documented('patroni.yml', [
    ['name: db1', `name: ${name}`],
    ['10.0.0.11:2379,10.0.0.12:2379,10.0.0.13:2379', `127.0.0.1:${etcdPort}`],
    ['10.0.0.11:8008', `127.0.0.1:${restPort}`],
    ['10.0.0.11:5432', `127.0.0.1:${port}`],
    ['/var/lib/postgresql/15/gatepost', dataDir],
    ['/var/lib/postgresql/.pgpass-patroni', join(folder, 'pgpass')],
    [
      '  bin_dir: /usr/lib/postgresql/15/bin',
      `  bin_dir: ${PG_BIN}\n  parameters:\n    unix_socket_directories: ${folder}`,
    ],
    [
      'hostssl gatepost gatepost 10.0.0.0/24 scram-sha-256',
      'host gatepost gatepost 127.0.0.1/32 trust',
    ],
    ['10.0.0.0/24', '127.0.0.1/32'],
  ]);
  writeFileSync(join(folder, 'patroni.yml'), text);
}

function startWay(members: readonly Member[], port: number): void {
  const folder = daemonFolder();
  const servers = members.map(
    (member) => `server ${member.name} 127.0.0.1:${member.port} port ${member.restPort}`,
  );
  const text = documented('haproxy-database.cfg', [
    ['bind 127.0.0.1:5432', `bind 127.0.0.1:${port}`],
    [' check port 8008', ' check'],
    [/(?: {4}server .*\n)+/, servers.map((line) => `    ${line}\n`).join('')],
  ]);
  writeFileSync(join(folder, 'haproxy.cfg'), text);
  startDaemon(['haproxy', '-db', '-f', join(folder, 'haproxy.cfg')], join(folder, 'haproxy.log'));
}

/** A file of the documents with these texts changed, each of which must be there. */
export function documented(name: string, changes: readonly [string | RegExp, string][]): string {
  let text = readFileSync(join(ROOT, 'docs/several-nodes', name), 'utf8');
  for (const [before, after] of changes) {
    const parts = text.split(before);
    if (parts.length < 2) throw new Error(`docs/several-nodes/${name} has no ${before}`);
    text = parts.join(after);
  }
  return text;
}
