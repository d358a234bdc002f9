/**
 * The events of a demonstration: phones come, leave and are refused, fetch subscriptions, and read
 * messages. All events are calls of the API and of apps.
 */

import { type DemoProvider, modelOf, type Phone, phonesOf } from './phones.ts';
import { HOST } from './place.ts';
import { DOMAIN_HASH } from './world.ts';

const LOCALES = ['en', 'ru', 'fa', 'zh-CN'] as const;
const MESSAGES = [
  [
    'New servers in Frankfurt',
    'Pull down to refresh: <b>three new locations</b> are on your list.',
  ],
  ['Maintenance on Sunday', 'Between 3:00 and 4:00 the servers in Paris are away.'],
  ['Your place is waiting', 'Add a second phone with the same link.'],
] as const;

/** The number of phones whose app registers for messages. */
const REGISTERED = 24;
/** The number of subscriptions of the panel behind the gate. */
const SUBSCRIPTIONS = 40;
const GENERAL_INTERVAL_MS = 6 * 60_000;

type Body = Readonly<Record<string, unknown>>;

const pick = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)] as T;

export class Life {
  readonly #phones: Phone[];
  readonly #registered: { phone: Phone; token: string }[] = [];
  #saidAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly url: string,
    private readonly providers: readonly DemoProvider[],
    private readonly nowMs: () => number,
  ) {
    this.#phones = phonesOf(providers);
  }

  /** Admits some phones and registers a few for messages. */
  async begin(): Promise<void> {
    for (const phone of this.#phones.filter(({ n }) => n % 5 === 0)) await this.#open(phone);
    for (let n = 0; n < SUBSCRIPTIONS; n++) await this.#fetch(n);
    for (let n = 0; n < REGISTERED; n++) await this.#register(n);
    await this.#say();
  }

  /** Makes one event. */
  async step(): Promise<void> {
    const chance = Math.random();
    if (this.nowMs() - this.#saidAtMs > GENERAL_INTERVAL_MS) await this.#say();
    else if (chance < 0.35) await this.#open(pick(this.#phones));
    else if (chance < 0.55) await this.#checkIn(pick(this.#phones));
    else if (chance < 0.7) await this.#fetch(Math.floor(Math.random() * SUBSCRIPTIONS));
    else if (chance < 0.9) await this.#read(pick(this.#registered));
    else if (chance < 0.96) await this.#free(pick(this.#phones));
    else await this.#sendTo(pick(this.#registered));
  }

  #facts(phone: Phone): Record<string, string> {
    const { app, model, os } = modelOf(phone.n);
    return {
      'x-hwid': phone.hwid,
      'x-device-os': os,
      'x-device-model': model,
      'user-agent': app,
    };
  }

  async #get(path: string, query: Readonly<Record<string, string>>, headers = {}): Promise<void> {
    const answer = await fetch(`${this.url}${path}?${new URLSearchParams(query)}`, { headers });
    await answer.arrayBuffer();
  }

  async #post(path: string, body: Body, headers = {}): Promise<Record<string, unknown>> {
    const init = { method: 'POST', body: JSON.stringify(body), headers };
    const answer = await fetch(`${this.url}${path}`, init);
    return (await answer.json()) as Record<string, unknown>;
  }

  /** A user opens a link on a phone. */
  #open(phone: Phone): Promise<void> {
    const query = { id: DOMAIN_HASH, installid: phone.link.code };
    return this.#get('/install', query, this.#facts(phone));
  }

  #checkIn(phone: Phone): Promise<void> {
    const query = { id: phone.of.code, domain_hash: DOMAIN_HASH };
    return this.#get('/provider', query, this.#facts(phone));
  }

  /**
   * A phone fetches a subscription through the gate; each eighth subscription has one phone too
   * many.
   */
  async #fetch(n: number): Promise<void> {
    const count = n % 8 === 0 ? 3 : 2;
    const place = Math.floor(Math.random() * count);
    const { app, model, os } = modelOf(n + place);
    const headers = {
      host: HOST,
      'x-hwid': `demo-subscription-${n}-${place}`,
      'user-agent': app,
      'x-device-os': os,
      'x-device-model': model,
    };
    await this.#get(`/sub/${String(n).padStart(4, '0')}-demonstration`, {}, headers);
  }

  async #register(n: number): Promise<void> {
    const phone = this.#phones[n * 7];
    if (phone === undefined) return;
    await this.#open(phone);
    const { model: device_name, os } = modelOf(phone.n);
    const { device_token: token } = await this.#post('/device/register', {
      hwid: phone.hwid,
      os,
      device_name,
      app_version: '3.14',
      locale: LOCALES[n % LOCALES.length],
      install_code: phone.link.code,
      domain_hash: DOMAIN_HASH,
    });
    if (typeof token === 'string') this.#registered.push({ phone, token });
  }

  async #read({ token }: { token: string }): Promise<void> {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${this.url}/device/inbox?wait=0`, { headers });
    const { data = [] } = (await answer.json()) as { data?: { id: number }[] };
    const items = data.map(({ id }) => ({ id, state: id % 4 === 0 ? 'received' : 'opened' }));
    if (items.length > 0) await this.#post('/device/ack', { items }, headers);
  }

  #free({ hwid, link, of }: Phone): Promise<void> {
    const own = { provider_code: of.code, auth_key: of.authKey };
    return this.#get('/api/delete-hwid', { ...own, install_id: `${link.id}`, hwid });
  }

  #notify(of: DemoProvider, targets: Body): Promise<unknown> {
    const [title, body] = pick(MESSAGES);
    const form = { title, body, type_push: 'optional', expire_days: 7 };
    const path = `/remote/notification?provider_code=${of.code}&auth_key=${of.authKey}`;
    return this.#post(path, { PushNotificationForm: form, ...targets });
  }

  async #say(): Promise<void> {
    this.#saidAtMs = this.nowMs();
    for (const of of this.providers) await this.#notify(of, { os: ['ios', 'android'] });
  }

  async #sendTo({ phone }: { phone: Phone }): Promise<void> {
    await this.#notify(phone.of, { hwid: phone.hwid });
  }
}
