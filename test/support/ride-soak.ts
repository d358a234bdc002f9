/** The scene of the soak of rides: providers, devices, servers that are killed, and the ledger. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { type Beside, besideOf } from './beside.ts';
import {
  addProviderByCommand,
  lookedAt,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from './process.ts';
import type { Random } from './random.ts';
import {
  DOMAIN_COUNT,
  domainOf,
  type Heard,
  type Instance,
  PROVIDER_ID,
  type SoakDevice,
  type SoakProvider,
  startSoakPanel,
} from './ride-fetches.ts';
import type { OwnMessage } from './ride-sender.ts';
import { SHAPES } from './ride-shapes.ts';

const PROVIDERS = 3;
const DEVICES_PER_LINK = 2;
/** With a HWID of another link there is room for one more. */
const LINK_LIMIT = 5;

export interface Scene {
  dataDir: string;
  db: Beside;
  providers: SoakProvider[];
  devices: SoakDevice[];
  env: Record<string, string>;
  stop(): void;
}

/** Makes the providers and, in memory alone, the devices; starts the panel. */
export async function openScene(deviceCount: number): Promise<Scene> {
  const dataDir = join(temporaryFolder(), 'data');
  const providers: SoakProvider[] = [];
  for (let index = 0; index < PROVIDERS; index++) {
    const { code, authKey } = await addProviderByCommand(dataDir, '--plan', 'enterprise');
    providers.push({
      index,
      code,
      authKey,
      host: `sub${index}.example.org`,
      commandsRide: index !== 2,
      hasProviderId: index !== 1,
      ridesOnDesktop: index !== 1,
      announces: index === 1,
    });
  }
  const panel = startSoakPanel(new Set(providers.filter((one) => one.announces).map(hostOf)));
  const db = besideOf(await lookedAt(dataDir));
  for (const { code, ridesOnDesktop } of providers) {
    if (ridesOnDesktop) db.run(`UPDATE provider SET ride_desktop = 1 WHERE code = '${code}'`);
  }
  const idFile = join(temporaryFolder(), 'provider-id');
  writeFileSync(idFile, PROVIDER_ID, { mode: 0o600 });
  const devices = makeDevices(providers, deviceCount);
  seedLinks(db, devices);
  return {
    dataDir,
    db,
    providers,
    devices,
    env: envOf(providers, panel.url, idFile),
    stop: () => {
      panel.stop();
      db.close();
    },
  };
}

const hostOf = ({ host }: SoakProvider) => host;

function envOf(providers: readonly SoakProvider[], url: string, idFile: string) {
  const upstreams = providers.map(({ host, code, commandsRide, hasProviderId }) => ({
    host,
    url,
    provider: code,
    default_limit: LINK_LIMIT,
    ride: commandsRide ? 'on' : 'notifications',
    ...(hasProviderId && { provider_id_file: idFile }),
  }));
  const hosts = Array.from({ length: DOMAIN_COUNT }, (_, number) => domainOf(number));
  return {
    GATEPOST_TRUSTED_PROXIES: '127.0.0.1',
    GATEPOST_GATE_UPSTREAM: JSON.stringify(upstreams),
    GATEPOST_GATE_RIDE: 'on',
    GATEPOST_GATE_PROVIDER_ID_FILE: idFile,
    GATEPOST_RIDE_HOURS: '1',
    GATEPOST_RIDE_HOSTS: hosts.join(','),
    GATEPOST_REGISTRATIONS_PER_MINUTE_MAX: '1000000000',
    GATEPOST_SENDS_PER_MINUTE_MAX: '1000000',
    GATEPOST_LOG_LEVEL: 'warn',
  };
}

/**
 * Devices of all shapes at the providers in turn. One in ten is squatted by another link of its
 * provider; one in ten has its HWID at the next provider too; some hide their app.
 */
function makeDevices(providers: readonly SoakProvider[], count: number): SoakDevice[] {
  const devices: SoakDevice[] = [];
  for (let n = 0; devices.length < count; n++) {
    const provider = providers[n % PROVIDERS] as SoakProvider;
    const at = Math.floor(n / PROVIDERS);
    const shape = SHAPES[at % SHAPES.length] as SoakDevice['shape'];
    const link = Math.floor(at / DEVICES_PER_LINK);
    const group = Math.floor(at / SHAPES.length);
    const device: SoakDevice = {
      hwid: `soak-${n}`,
      shape,
      provider,
      key: `key-of-${provider.index}-${link}`,
      isSquatted: false,
      squattedKey: group % 10 === 3 ? `key-of-${provider.index}-${link + 1}` : null,
      hidesAgent: group % 10 === 5,
      home: null,
      firstAskedMs: 0,
      isBusy: false,
    };
    devices.push(device);
    if (group % 10 !== 7) continue;
    const other = providers[(provider.index + 1) % PROVIDERS] as SoakProvider;
    devices.push({ ...device, provider: other, key: `key-of-twin-${n}`, squattedKey: null });
  }
  return devices;
}

/** Rows of one statement. */
const ROWS = 250;

/**
 * Adds most links, as a panel's list would: each that a fetch makes waits for its provider. One in
 * ten is left for that.
 */
function seedLinks(db: Beside, devices: readonly SoakDevice[]): void {
  const keys = new Map(devices.map(({ key, provider }) => [key, provider.code]));
  const left = [...keys].filter((_, n) => n % 10 !== 0);
  for (let at = 0; at < left.length; at += ROWS) {
    const rows = left.slice(at, at + ROWS);
    const row = `((SELECT id FROM provider WHERE code = ?), ?, ${LINK_LIMIT}, 10, 0, ?)`;
    db.query(
      `INSERT INTO install (provider_id, install_code, install_limit, status, created_at_ms,
         subscription_key_hash) VALUES ${rows.map(() => row).join(', ')}`,
    ).run(
      ...rows.flatMap(([key, code], n) => [
        ...[code, `Soak${String(at + n).padStart(8, '0')}`],
        Buffer.from(subscriptionKeyHash(key), 'hex'),
      ]),
    );
  }
}

interface Running {
  server: ServerProcess;
  instance: Instance;
}

/** Servers on the same data, of which one is killed now and then. */
export class Servers {
  readonly #running: Running[] = [];
  readonly kills: number[] = [];
  readonly troubles: string[] = [];

  constructor(
    private readonly scene: Pick<Scene, 'dataDir' | 'env'>,
    private readonly random: Random,
  ) {}

  async start(which: number): Promise<void> {
    const env = { ...this.scene.env, GATEPOST_DATABASE_NODE: `node${which}` };
    const server = await startServe({ dataDir: this.scene.dataDir, env });
    this.#running[which] = { server, instance: { url: server.url, killedMs: null } };
  }

  one(): Instance {
    return this.random.pick(this.#running).instance;
  }

  /** Kills one now and then until it is over, each time another. */
  async killUntil(isOver: () => boolean, everyMs: number): Promise<void> {
    for (let which = 0; ; which = 1 - which) {
      const pauseMs = this.random.int(everyMs / 2, everyMs);
      const endMs = Date.now() + pauseMs;
      while (Date.now() < endMs && !isOver()) await Bun.sleep(50);
      if (isOver()) return;
      const { server, instance } = this.#running[which] as Running;
      instance.killedMs = Date.now();
      await server.stop('SIGKILL');
      this.kills.push(instance.killedMs);
      this.troubles.push(...server.troubles());
      await this.start(which);
    }
  }

  async stop(): Promise<void> {
    for (const { server } of this.#running) {
      await server.stop();
      this.troubles.push(...server.troubles());
    }
  }
}

/** A stamp, as `ID HWID`. */
type Pair = string;
const pairOf = (id: number, hwid: string): Pair => `${id} ${hwid}`;

/** What answers carried, by stamp, with the answers that did. */
export function recount(
  heard: readonly Heard[],
  messages: readonly OwnMessage[],
): Map<Pair, Heard[]> {
  const idOf = new Map(messages.map(({ number, id }) => [number, id]));
  const carried = new Map<Pair, Heard[]>();
  for (const answer of heard) {
    for (const number of new Set(Object.values(answer.carried))) {
      const id = idOf.get(number);
      if (id === undefined) continue;
      const pair = pairOf(id, answer.hwid);
      carried.set(pair, [...(carried.get(pair) ?? []), answer]);
    }
  }
  return carried;
}

/** Reads the ledger: the stamps that it has, and the recipients without one. */
export function readLedger(db: Beside): { stamped: Map<Pair, string>; open: Set<Pair> } {
  const rows = db
    .query<{ id: number; hwid: string; at: number | null; carried: string | null }, []>(
      `SELECT r.distribution_id AS id, d.hwid AS hwid, r.carried_at_ms AS at, r.carried AS carried
       FROM recipient r JOIN device d ON d.id = r.device_id`,
    )
    .all();
  const stamped = new Map<Pair, string>();
  const open = new Set<Pair>();
  for (const { id, hwid, at, carried } of rows) {
    if (at === null) open.add(pairOf(id, hwid));
    else stamped.set(pairOf(id, hwid), carried ?? '');
  }
  return { stamped, open };
}
