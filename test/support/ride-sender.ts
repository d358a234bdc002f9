/** A provider that keeps messages going: sends, cancels, blocks and lets hours pass. */

import { call, type Reply } from './app.ts';
import type { Beside } from './beside.ts';
import { run } from './process.ts';
import type { Random } from './random.ts';
import {
  DOMAIN_COUNT,
  dnsOf,
  domainOf,
  type Fetches,
  ipOf,
  type SoakDevice,
  type SoakProvider,
  urlOf,
} from './ride-fetches.ts';
import { type SentMessage, type SoakPart, sentMessage } from './ride-model.ts';
import { formOf } from './ride-shapes.ts';
import { letTimePass } from './ride-time.ts';
import type { Call } from './slot-history.ts';
import { until } from './until.ts';

/** What the senders of a run share. */
export interface Soak {
  dataDir: string;
  db: Beside;
  random: Random;
  fetches: Fetches;
  /** The URL of a server that may answer. */
  urlOf(): string;
  isOver(): boolean;
  /** The last number of a message, and of a domain. */
  last: { message: number; domain: number };
}

/** A message with its id; the id of one that was cancelled stays with it. */
export interface OwnMessage extends SentMessage {
  id: number;
  isCancelled: boolean;
}

const DEVICES_NAMED_MAX = 5;
const POLL_MS = 60;
/** Attempts of a call after the end of the run: a killed server is back by then. */
const ATTEMPTS_MIN = 100;
/** Statuses at which a message rides; one that names devices once their rows are written. */
const GENERAL_RIDES: ReadonlySet<number> = new Set([5, 6, 40, 100, 110, 120]);
const NAMED_RIDES: ReadonlySet<number> = new Set([40, 100, 110]);

/** Hosts that each provider needs for the last command: no other one may be named. */
const LAST_DOMAINS = 4;

export class Sender {
  readonly messages: OwnMessage[] = [];
  readonly shifts: Call[] = [];
  readonly problems: string[] = [];
  /** Devices that were named lately: they fetch more often. */
  readonly named: SoakDevice[] = [];
  readonly counts = { general: 0, named: 0, commands: 0, cancelled: 0, blocked: 0, refused: 0 };
  #lastGeneralAt = -1;
  #isLast = false;

  constructor(
    private readonly soak: Soak,
    private readonly provider: SoakProvider,
    private readonly devices: readonly SoakDevice[],
  ) {}

  async run(): Promise<void> {
    const { random, isOver } = this.soak;
    const watching = this.#watch();
    while (!isOver()) {
      await this.#act(random.next());
      await Bun.sleep(random.int(10, 120));
    }
    await watching;
  }

  async #act(roll: number): Promise<void> {
    if (roll < 0.15) await this.#sendGeneral();
    else if (roll < 0.4) await this.#sendNamed();
    else if (roll < 0.6) await this.#sendCommand();
    else if (roll < 0.68) await this.#sendScheduled();
    else if (roll < 0.78) await this.#block();
    else if (roll < 0.9) await this.shift();
  }

  /** Leaves one message of each kind riding. */
  async finish(): Promise<void> {
    this.#isLast = true;
    await this.shift();
    await this.#sendGeneral();
    await this.#sendNamed();
    for (const part of ['domain', 'url', 'set:ip', 'set:dns'] as const) await this.#command(part);
    await until('all is loaded', () => this.look());
    await this.shift();
  }

  async shift(): Promise<void> {
    this.shifts.push(await letTimePass(this.soak.db, this.provider.code));
  }

  /** One for each time that passed: the contract allows one in five minutes. */
  async #sendGeneral(): Promise<void> {
    if (this.#lastGeneralAt === this.shifts.length) return;
    this.#lastGeneralAt = this.shifts.length;
    const os = this.soak.random.pick([['android'], ['ios'], ['ios', 'android']]);
    await this.#notify({ os }, { os });
    this.counts.general += 1;
  }

  async #sendNamed(): Promise<void> {
    const hwids = this.#pickHwids();
    if (hwids.length === 0) return;
    await this.#notify({ hwids }, { hwid: hwids.join(',') });
    this.counts.named += 1;
  }

  /** Some are cancelled at once; the others come in their time. */
  async #sendScheduled(): Promise<void> {
    const hwids = this.#pickHwids();
    if (hwids.length === 0) return;
    const isCancelled = this.soak.random.chance(0.5);
    const when = scheduleAhead(isCancelled ? 40 : 12);
    const message = await this.#notify({ hwids }, { hwid: hwids.join(',') }, when);
    if (message === null || !isCancelled) return;
    // A call whose answer got lost has cancelled it already: the end of the run looks.
    message.isCancelled = (await this.#call('/remote/cancel', { id: message.id })) !== null;
    this.counts.cancelled += 1;
  }

  async #sendCommand(): Promise<void> {
    const { random, last } = this.soak;
    const roll = random.next();
    if (roll < 0.2) await this.#command('url');
    else if (roll < 0.4 && last.domain < DOMAIN_COUNT - LAST_DOMAINS) await this.#command('domain');
    else
      await this.#command(
        ...random.pick<SoakPart[]>([['set:ip'], ['set:dns'], ['set:ip', 'set:dns']]),
      );
  }

  async #command(...parts: SoakPart[]): Promise<void> {
    const { random, last } = this.soak;
    last.message += 1;
    const number = last.message;
    const [first] = parts;
    // Few apps move to another domain or URL.
    const isRare = first === 'domain' || first === 'url';
    // A URL rides to devices that are named alone: the last one must ride.
    const isNamed = this.#isLast ? isRare : random.chance(0.6);
    const hwids = isNamed ? this.#pickHwids(isRare) : [];
    const os = random.pick([['android'], ['ios'], ['ios', 'android']]);
    const to = hwids.length > 0 ? { hwids } : { os };
    const target = hwids.length > 0 ? { hwid: hwids.join(',') } : { os };
    const content = isRare ? this.#change(first, number) : settingsOf(parts, number);
    await this.#send(number, '/remote/command', to, parts, { ...content, ...target });
    this.counts.commands += 1;
  }

  #change(part: 'domain' | 'url', number: number): Record<string, unknown> {
    const { fetches, last } = this.soak;
    const change = { action_type: 'sub-change', change_type: part };
    if (part === 'url') return { ...change, change_value: urlOf(number) };
    const host = domainOf(last.domain);
    last.domain += 1;
    fetches.nameDomain(host, number);
    return { ...change, change_value: host };
  }

  #pickHwids(isForMovers = false): string[] {
    const known = this.devices.filter(
      ({ home, shape }) => home !== null && (!isForMovers || shape.domainHeader !== null),
    );
    if (known.length === 0) return [];
    const { random } = this.soak;
    const count = random.int(1, DEVICES_NAMED_MAX);
    const picked = Array.from({ length: count }, () => {
      // Some again and again, so that messages replace each other.
      const device = random.pick(random.chance(0.5) ? known.slice(0, 40) : known);
      this.named.push(device);
      return device.hwid;
    });
    this.named.splice(0, this.named.length - 200);
    return [...new Set(picked)];
  }

  #notify(
    to: SentMessage['to'],
    target: Record<string, unknown>,
    schedule: Record<string, string> = {},
  ): Promise<OwnMessage | null> {
    const { last } = this.soak;
    last.message += 1;
    const form = { ...formOf(last.message), ...schedule };
    const body = { PushNotificationForm: form, ...target };
    const isScheduled = Object.keys(schedule).length > 0;
    return this.#send(last.message, '/remote/notification', to, ['message'], body, isScheduled);
  }

  async #send(
    number: number,
    path: string,
    to: SentMessage['to'],
    parts: readonly SoakPart[],
    body: Record<string, unknown>,
    isScheduled = false,
  ): Promise<OwnMessage | null> {
    const startMs = Date.now();
    const init = { method: 'POST', body: JSON.stringify(body) };
    const reply = await this.#call(path, { idempotency_key: `soak-${number}` }, init);
    if (reply === null) return null;
    if (reply.json?.rc !== 1) {
      this.problems.push(`${path}: ${reply.text} ${reply.headers.get('x-error-detail')}`);
      return null;
    }
    const isCommand = path === '/remote/command';
    const sent = { startMs, endMs: Date.now() };
    const provider = this.provider.index;
    const of = { number, provider, parts, to, sent, isCommand, isScheduled };
    const message = { ...sentMessage(of), id: reply.json.id as number, isCancelled: false };
    this.messages.push(message);
    return message;
  }

  /** Calls until it is answered: what may be repeated is done once. Null: the run is over. */
  async #call(
    path: string,
    query: Record<string, string | number>,
    init: RequestInit = {},
  ): Promise<Reply | null> {
    const { isOver, urlOf } = this.soak;
    for (let attempt = 1; !isOver() || attempt < ATTEMPTS_MIN; attempt++) {
      try {
        const reply = await call({ url: urlOf() }, path, this.provider, query, init);
        if (reply.json !== null && reply.status < 500) return reply;
      } catch {
        // Its server was killed.
      }
      await Bun.sleep(30);
    }
    this.problems.push(`${path} was never answered`);
    return null;
  }

  /** Blocks a message, as the operator does. */
  async #block(): Promise<void> {
    const riding = this.messages.filter(
      ({ loadedMs, mayEndMs, isCancelled }) =>
        !isCancelled && Number.isFinite(loadedMs) && mayEndMs > Date.now(),
    );
    if (riding.length === 0) return;
    const message = this.soak.random.pick(riding.slice(-30));
    const startMs = Date.now();
    const { dataDir } = this.soak;
    const { code, stderr } = await run([
      ...['distribution', 'block', String(message.id), '--data', dataDir],
    ]);
    if (code !== 0) {
      this.counts.refused += 1;
      if (!/has ended/.test(stderr)) this.problems.push(`block: ${stderr}`);
      return;
    }
    message.mayEndMs = startMs;
    message.endedMs = Date.now();
    this.counts.blocked += 1;
  }

  /** Looks all the while which messages have been loaded. */
  async #watch(): Promise<void> {
    const { isOver } = this.soak;
    while (!isOver()) {
      await this.look();
      await Bun.sleep(POLL_MS);
    }
  }

  /** Notes which messages ride; returns whether all do that are not scheduled. */
  async look(): Promise<boolean> {
    const open = this.messages.filter(
      ({ loadedMs, isCancelled }) => !Number.isFinite(loadedMs) && !isCancelled,
    );
    if (open.length === 0) return true;
    const reply = await this.#call('/remote/list', {});
    const rows: { id: number; status: number }[] = reply?.json.data ?? [];
    const statuses = new Map(rows.map(({ id, status }) => [id, status]));
    const nowMs = Date.now();
    for (const message of open) {
      const status = statuses.get(message.id);
      const rides = 'hwids' in message.to ? NAMED_RIDES : GENERAL_RIDES;
      if (status !== undefined && rides.has(status)) message.loadedMs = nowMs;
    }
    return open.every(({ isScheduled, loadedMs }) => isScheduled || Number.isFinite(loadedMs));
  }
}

function settingsOf(parts: readonly SoakPart[], number: number): Record<string, unknown> {
  const settings = {
    ...(parts.includes('set:ip') && { 'server-address-resolve-dns-ip': ipOf(number) }),
    ...(parts.includes('set:dns') && { 'server-address-resolve-dns-domain': dnsOf(number) }),
  };
  return { action_type: 'set-settings', settings };
}

/** `send_date` and `send_time`, which are in UTC+3. */
function scheduleAhead(minutes: number): Record<string, string> {
  const at = new Date(Date.now() + (minutes + 180) * 60_000).toISOString();
  return { send_date: at.slice(0, 10), send_time: at.slice(11, 16) };
}
