/**
 * The mixed load of soak.ts: callers of every kind, each at its own pace, who know what each answer
 * must be and report every other.
 */

import { forAll } from './driver.ts';

export interface Soak {
  url: string;
  monitorUrl: string;
  providers: readonly { code: string; key: string }[];
  isOver(): boolean;
}

/** The results of callers. */
export class Findings {
  /** Answers by call, and how long they took, ms. */
  readonly tookMs = new Map<string, number[]>();
  readonly answers = new Map<string, number>();
  readonly unexpected = new Map<string, number>();
  received = 0;

  note(call: string, answer: string, tookMs: number, isExpected: boolean): void {
    const times = this.tookMs.get(call) ?? [];
    times.push(tookMs);
    this.tookMs.set(call, times);
    const name = `${call}: ${answer}`;
    this.answers.set(name, (this.answers.get(name) ?? 0) + 1);
    if (!isExpected) this.unexpected.set(name, (this.unexpected.get(name) ?? 0) + 1);
  }

  wrong(what: string): void {
    this.unexpected.set(what, (this.unexpected.get(what) ?? 0) + 1);
  }
}

export const HASH = 'a'.repeat(64);
/** Devices that hold a stream; so many again poll. */
const STREAM_COUNT = 100;
const POLL_COUNT = 20;
const LINKS_PER_PROVIDER = 50;
/**
 * SQLite keeps up to 32 MiB of the pages that it changed. 200,000 links fill that before anything
 * is measured, or it would look like a leak for an hour.
 */
const FILL_LANES = 32;
/** General notifications of a provider are five minutes apart. */
const GENERAL_INTERVAL_MS = 302_000;

type Body = Record<string, unknown>;
interface Ask {
  provider?: Soak['providers'][number];
  query?: Record<string, string | number>;
  body?: Body;
  headers?: Record<string, string>;
}

export class Load {
  /** HWIDs with their tokens. */
  readonly #tokens = new Map<string, string>();
  #freshNumber = 0;

  constructor(
    private readonly soak: Soak,
    private readonly findings: Findings,
  ) {}

  /** One call; an answer that is not among `expected` is a finding. */
  async ask(path: string, expected: readonly string[], ask: Ask = {}): Promise<Body> {
    const { provider, query = {}, body, headers = {} } = ask;
    const search = new URLSearchParams(
      provider ? { provider_code: provider.code, auth_key: provider.key } : {},
    );
    for (const [name, value] of Object.entries(query)) search.set(name, String(value));
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const startMs = performance.now();
    let answer: Body = {};
    let said: string;
    try {
      const response = await fetch(`${this.soak.url}${path}?${search}`, { ...init, headers });
      answer = (await response.json()) as Body;
      said = response.status === 200 ? String(answer['msg']) : `HTTP ${response.status}`;
    } catch (error) {
      said = String(error);
    }
    this.findings.note(path, said, performance.now() - startMs, expected.includes(said));
    return answer;
  }

  /** Adds links that no caller reads. */
  async fill({ code, key }: Soak['providers'][number], count: number): Promise<void> {
    const who = `provider_code=${code}&auth_key=${key}`;
    await forAll(0, count, FILL_LANES, async () => {
      const response = await fetch(`${this.soak.url}/api/add-install?${who}&install_limit=1`);
      await response.text();
    });
  }

  /** Bindings, links and devices that everything else works on. */
  async prepare(): Promise<void> {
    for (const provider of this.soak.providers) {
      const { code } = provider;
      await this.ask('/api/add-domain', ['Ok'], { provider, query: { domain_hash: HASH } });
      for (let n = 0; n < LINKS_PER_PROVIDER; n++) {
        const query = { install_code: linkOf(code, n), install_limit: 5 };
        await this.ask('/api/add-install', ['Ok'], { provider, query });
      }
    }
    for (let n = 0; n < STREAM_COUNT + POLL_COUNT; n++) await this.#register(`device-${n}`);
  }

  /** Runs every caller until the time is over. */
  async run(): Promise<void> {
    const callers: Promise<void>[] = [];
    const often = (pauseMs: number, call: (n: number) => Promise<unknown>) =>
      callers.push(this.#repeat(pauseMs, call));
    for (const provider of this.soak.providers) {
      often(2, (n) => this.#look(provider, n));
      often(100, (n) => this.#change(provider, n));
      often(500, (n) => this.#send(provider, n));
      often(GENERAL_INTERVAL_MS, () => this.#notifyAll(provider));
    }
    for (let lane = 0; lane < 4; lane++) often(3, (n) => this.#checkIn(lane, n));
    often(200, (n) => this.#register(`device-${n % (STREAM_COUNT + POLL_COUNT)}`, true));
    often(600, () => this.#mistake());
    often(2_000, () => this.#watch());
    for (let n = 0; n < POLL_COUNT; n++) often(1, () => this.#poll(`device-${STREAM_COUNT + n}`));
    for (let n = 0; n < STREAM_COUNT; n++) often(50, () => this.#stream(`device-${n}`, n));
    await Promise.all(callers);
  }

  async #repeat(pauseMs: number, call: (n: number) => Promise<unknown>): Promise<void> {
    for (let n = 0; !this.soak.isOver(); n++) {
      await call(n);
      for (let leftMs = pauseMs; leftMs > 0 && !this.soak.isOver(); leftMs -= 250) {
        await Bun.sleep(Math.min(leftMs, 250));
      }
    }
  }

  #look(provider: Soak['providers'][number], n: number): Promise<Body> {
    const code = linkOf(provider.code, n % LINKS_PER_PROVIDER);
    const calls: [string, Record<string, string | number>][] = [
      ['/api/list-install', { id: (n % LINKS_PER_PROVIDER) + 1 }],
      ['/api/list-hwid', { install_code: code }],
      ['/api/list-domain', {}],
      ['/api/list-install', n % 50 === 0 ? {} : { id: 1 }],
      ['/remote/list', { id: 1 }],
    ];
    const [path, query] = calls[n % calls.length] as (typeof calls)[number];
    return this.ask(path, ['Ok'], { provider, query });
  }

  async #change(provider: Soak['providers'][number], n: number): Promise<void> {
    const code = linkOf(provider.code, n % LINKS_PER_PROVIDER);
    const known = 'Domain hash exists. State set to active';
    switch (n % 5) {
      case 0: {
        const query = { install_limit: (n % 100) + 1, note: `note ${n}` };
        const { id } = await this.ask('/api/add-install', ['Ok'], { provider, query });
        const change = { id: Number(id), status: 5, install_limit: 100 };
        await this.ask('/api/update-install', ['Ok'], { provider, query: change });
        return;
      }
      case 1: {
        const query = { domain_hash: String(n % 20).padStart(64, '0') };
        const added = ['Ok', 'Domain hash exists', known];
        const { id } = await this.ask('/api/add-domain', added, { provider, query });
        await this.ask('/api/delete-domain', ['Ok'], { provider, query: { id: Number(id) } });
        return;
      }
      default: {
        // A device that is new each time takes a slot and gives it back.
        this.#freshNumber += 1;
        const hwid = `fresh-${this.#freshNumber % 2_000}`;
        const query = { id: HASH, installid: code };
        const taken = ['Ok', 'Install limit reached'];
        await this.ask('/install', taken, { query, headers: { 'x-hwid': hwid } });
        const slot = { install_code: code, hwid };
        await this.ask('/api/delete-hwid', ['Ok'], { provider, query: slot });
      }
    }
  }

  async #checkIn(lane: number, n: number): Promise<void> {
    const provider = this.soak.providers[n % this.soak.providers.length];
    if (!provider) return;
    const headers = { 'x-hwid': `visitor-${lane}-${n % 500}`, 'x-device-os': 'iOS' };
    const query = { id: provider.code, domain_hash: HASH };
    await this.ask('/provider', ['Ok'], { query, headers });
    const stranger = { id: HASH, installid: 'NoSuchLink00' };
    await this.ask('/install', ['Install not found'], { query: stranger, headers });
  }

  /** A device that shows its token gets another one, and the old one dies. */
  async #register(hwid: string, isAgain = false): Promise<void> {
    // A registration ends the device's stream or poll: only some devices repeat it.
    if (isAgain && !/[05]$/.test(hwid)) return;
    const code = this.soak.providers[0]?.code ?? '';
    const body = { hwid, os: 'android', provider_code: code, domain_hash: HASH };
    const token = this.#tokens.get(hwid);
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
    const answer = await this.ask('/device/register', ['Ok'], { body, headers });
    this.#tokens.set(hwid, String(answer['device_token']));
  }

  async #send(provider: Soak['providers'][number], n: number): Promise<void> {
    // Only the devices of the first provider are linked by registration.
    if (provider !== this.soak.providers[0]) return;
    const hwid = `device-${n % (STREAM_COUNT + POLL_COUNT)}`;
    if (n % 3 === 0) {
      const body = { action_type: 'update-subscription', specific_device_toggle: true, hwid };
      await this.ask('/remote/command', ['Ok'], { provider, body });
      return;
    }
    const form = { body: `number ${n}`, type_push: 'optional', expire_days: 1 };
    if (n % 3 === 1) {
      const body = { PushNotificationForm: form, hwid };
      await this.ask('/remote/notification', ['Ok'], { provider, body });
      return;
    }
    const day = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
    const planned = { ...form, send_date: day, send_time: '12:00' };
    const body = { PushNotificationForm: planned, hwid };
    const { id } = await this.ask('/remote/notification', ['Ok'], { provider, body });
    await this.ask('/remote/cancel', ['Ok'], { provider, query: { id: Number(id) } });
  }

  #notifyAll(provider: Soak['providers'][number]): Promise<Body> {
    const form = { body: 'to everybody', type_push: 'optional', expire_days: 1 };
    const none = 'No devices found for selected OS and your provider IDs';
    const body = { PushNotificationForm: form, os: ['android'] };
    return this.ask('/remote/notification', ['Ok', none], { provider, body });
  }

  /** Wrong keys, wrong tokens, wrong paths: refused, and nothing else happens. */
  async #mistake(): Promise<void> {
    const provider = { code: this.soak.providers[0]?.code ?? '', key: 'x'.repeat(32) };
    await this.ask('/api/list-install', ['Auth error'], { provider });
    const headers = { authorization: 'Bearer unknown' };
    await this.ask('/device/inbox', ['Device token error'], { headers });
    await this.ask('/api/no-such-thing', ['Unknown error']);
    await this.ask('/api/list-install', ['Unknown error'], { body: { broken: true } });
  }

  async #watch(): Promise<void> {
    for (const path of ['/metrics', '/readyz', '/healthz']) {
      const startMs = performance.now();
      const response = await fetch(`${this.soak.monitorUrl}${path}`).catch(() => null);
      await response?.text();
      const said = `HTTP ${response?.status}`;
      this.findings.note(path, said, performance.now() - startMs, said === 'HTTP 200');
    }
  }

  async #poll(hwid: string): Promise<void> {
    const token = this.#tokens.get(hwid);
    const headers = { authorization: `Bearer ${token}` };
    // A token may be replaced while it is in use; that is no error.
    const whileValid = (ok: string) =>
      token === this.#tokens.get(hwid) && !/[05]$/.test(hwid) ? [ok] : [ok, 'Device token error'];
    const asked = { query: { wait: 2 }, headers };
    const { data = [] } = await this.ask('/device/inbox', whileValid('Ok'), asked);
    const messages = data as { id: number }[];
    if (messages.length === 0) return;
    this.findings.received += messages.length;
    const items = messages.map(({ id }) => ({ id, state: 'received' }));
    await this.ask('/device/ack', whileValid('Ok'), { body: { items }, headers });
  }

  /** Holds a stream for a while, acknowledges what comes, and goes. */
  async #stream(hwid: string, n: number): Promise<void> {
    const headers = { authorization: `Bearer ${this.#tokens.get(hwid)}` };
    const socket = new WebSocket(`${this.soak.url.replace('http', 'ws')}/device/stream`, {
      headers,
    });
    const mayBeReplaced = /[05]$/.test(hwid);
    let isOurs = false;
    const closed = new Promise<void>((resolve) => {
      socket.onclose = ({ code }) => {
        if (!isOurs && !mayBeReplaced) this.findings.wrong(`stream closed by the server: ${code}`);
        resolve();
      };
    });
    socket.onmessage = ({ data }) => {
      const { data: messages } = JSON.parse(String(data)) as { data?: { id: number }[] };
      if (messages === undefined) return;
      this.findings.received += messages.length;
      const items = messages.map(({ id }) => ({ id, state: 'opened' }));
      socket.send(JSON.stringify({ items }));
    };
    // From 10 to 60 seconds, so that a few come and go every second.
    for (let leftMs = 10_000 + 500 * n; leftMs > 0; leftMs -= 250) {
      if (this.soak.isOver() || socket.readyState >= WebSocket.CLOSING) break;
      await Bun.sleep(250);
    }
    isOurs = true;
    socket.close();
    await closed;
  }
}

/** Twelve letters and digits, another for each provider. */
const linkOf = (code: string, n: number) => `${code}${String(n).padStart(4, '0')}`;
