/** Devices that fetch their subscriptions, by both ways, and what their answers carried. */

import { MADE_UP } from './panel.ts';
import type { Random } from './random.ts';
import type { Answer, Carried, SoakPart } from './ride-model.ts';
import {
  HIDDEN_AGENT,
  linkOf,
  PANEL_ANNOUNCE,
  PANEL_SAYS,
  readText,
  type Shape,
  targetOf,
  textFor,
} from './ride-shapes.ts';
import type { Call } from './slot-history.ts';

export const PROVIDER_ID = 'SoakId12';

/** A provider, and what rides on its subscriptions by the way through the own proxy. */
export interface SoakProvider {
  index: number;
  code: string;
  authKey: string;
  host: string;
  /** False: by the own proxy notifications alone. */
  commandsRide: boolean;
  hasProviderId: boolean;
  ridesOnDesktop: boolean;
  /** True: its panel announces something itself. */
  announces: boolean;
}

/** A device at one provider. Others may have its HWID elsewhere. */
export interface SoakDevice {
  hwid: string;
  shape: Shape;
  provider: SoakProvider;
  key: string;
  /** The key of another link that was given its HWID; null: nobody did. */
  squattedKey: string | null;
  /** True: it has a slot there. */
  isSquatted: boolean;
  /** True: from its second fetch on its app hides its name. */
  hidesAgent: boolean;
  /** The calls by which it took its slot; null: not yet. */
  home: Call | null;
  firstAskedMs: number;
  isBusy: boolean;
}

export type Way = 'proxy' | 'gate';

/** A server that answers, as one process from its start to its end. */
export interface Instance {
  url: string;
  /** The moment at which it was killed; null: it was not. */
  killedMs: number | null;
}

/** An answer with the process that gave it. */
export interface Heard extends Answer {
  way: Way;
  isHome: boolean;
  by: Instance;
}

/** Hosts for `new-domain`, one for each command: not more than the operator may name. */
export const DOMAIN_COUNT = 64;
export const domainOf = (number: number) => `h${number}.move.example.org`;
export const urlOf = (number: number) => `https://${domainOf(0)}/sub/${number}`;
export const ipOf = (number: number) => `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
export const dnsOf = (number: number) => `https://dns.example.org/${number}`;

/** Parts that an answer shows to an app, by the rules of the issue. */
function shownBy({ provider, shape }: SoakDevice, way: Way): SoakPart[] {
  const hasProviderId = way === 'gate' || provider.hasProviderId;
  const commandsRide = way === 'gate' || provider.commandsRide;
  const isReady = !shape.isHapp || hasProviderId;
  return [
    ...(shape.announces ? (['message'] as const) : []),
    ...(commandsRide && isReady && shape.domainHeader !== null ? (['domain'] as const) : []),
    ...(commandsRide && shape.isHapp && hasProviderId ? (['url'] as const) : []),
    ...(commandsRide && isReady && shape.takesSettings ? (['set:ip', 'set:dns'] as const) : []),
  ];
}

const TIMEOUT_MS = 20_000;

export class Fetches {
  readonly heard: Heard[] = [];
  readonly problems: string[] = [];
  /** Calls without an answer, by HWID: nobody knows what they carried. */
  readonly lost = new Map<string, number[]>();
  lostCount = 0;
  cleared = 0;
  notModified = 0;
  #numberOfDomain = new Map<string, number>();

  constructor(private readonly random: Random) {}

  nameDomain(host: string, number: number): void {
    this.#numberOfDomain.set(host, number);
  }

  /** Lets a device fetch its subscription; `isSquat`: through the link of another. */
  async fetch(device: SoakDevice, by: Instance, way: Way, isSquat = false): Promise<void> {
    if (device.isBusy) return;
    device.isBusy = true;
    const startMs = Date.now();
    if (device.firstAskedMs === 0) device.firstAskedMs = startMs;
    try {
      const key = isSquat ? (device.squattedKey ?? device.key) : device.key;
      const response = await this.#ask(device, by.url, way, key);
      const body = await response.text();
      const call = { startMs, endMs: Date.now() };
      this.#hear(device, { ...call, by, way, isHome: key === device.key, key, response, body });
    } catch {
      this.lostCount += 1;
      this.lost.set(device.hwid, [...(this.lost.get(device.hwid) ?? []), startMs]);
      // A dead server refuses at once: without a pause this would be a busy loop.
      await Bun.sleep(this.random.int(2, 20));
    } finally {
      device.isBusy = false;
    }
  }

  #ask(device: SoakDevice, url: string, way: Way, key: string): Promise<Response> {
    const { hwid, provider, shape } = device;
    const isHidden = device.hidesAgent && device.home !== null;
    const path = `/sub/${key}`;
    // An app that has its subscription already: nobody takes a slot by 304.
    const hasIt = device.home !== null && key === device.key && this.random.chance(0.2);
    const own = {
      'user-agent': isHidden ? HIDDEN_AGENT : shape.agent,
      'x-hwid': hwid,
      'x-device-os': shape.os,
      'x-device-model': 'Soak',
      ...shape.languages,
    };
    const named =
      way === 'proxy'
        ? { host: provider.host, ...(hasIt && { 'if-none-match': '"v1"' }) }
        : {
            'x-original-uri': path,
            'x-original-method': 'GET',
            'x-forwarded-host': provider.host,
          };
    const target = way === 'proxy' ? `${url}${path}` : `${url}/gate`;
    const headers = { ...own, ...named };
    return fetch(target, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  }

  #hear(
    device: SoakDevice,
    got: Call & {
      by: Instance;
      way: Way;
      isHome: boolean;
      key: string;
      response: Response;
      body: string;
    },
  ): void {
    const { way, response, body, isHome, startMs, endMs, by } = got;
    const { provider, hwid, shape } = device;
    const isNotModified = way === 'proxy' && response.status === 304;
    const status = way === 'gate' ? 204 : isNotModified ? 304 : 200;
    const says = (problem: string) =>
      this.problems.push(`${way} ${shape.name} of ${provider.index}: ${problem}`);
    if (response.status !== status) {
      says(`status ${response.status} ${response.headers.get('x-error-detail') ?? ''}`);
      return;
    }
    if (!isHome) device.isSquatted = true;
    if (isHome && device.home === null && !isNotModified)
      device.home = { startMs: device.firstAskedMs, endMs };
    if (isNotModified) this.notModified += 1;
    const isPlain = way === 'proxy' && !isNotModified;
    if (isPlain && body !== bodyOf(got.key)) says(`another body: ${body.slice(0, 40)}`);
    const carried = this.#read(device, way, response.headers, says);
    if (isPlain) checkPanel(provider, response.headers, carried, says);
    this.heard.push({
      startMs,
      endMs,
      hwid,
      carried,
      way,
      isHome,
      by,
      provider: provider.index,
      os: targetOf(shape),
      ridesOnDesktop: provider.ridesOnDesktop,
      home: isHome ? device.home : null,
      shows: shownBy(device, way),
    });
  }

  #read(
    { provider, shape }: SoakDevice,
    way: Way,
    headers: Headers,
    says: (problem: string) => void,
  ): Carried {
    const carried: Carried = {};
    const announce = headers.get('announce');
    const text = readText(announce);
    const number = Number(/^N(\d+)\n/.exec(text ?? '')?.[1]);
    if (Number.isInteger(number)) carried.message = number;
    const isOfPanel = way === 'proxy' && provider.announces && announce === PANEL_ANNOUNCE;
    const expected = carried.message && textFor(carried.message, shape.reads);
    if (text !== null && !isOfPanel && text !== expected) says(`reads ${text}, not ${expected}`);
    this.#readBox(shape, headers, carried.message ?? null, says);
    const link = headers.get('announce-url');
    const due = carried.message && shape.links ? linkOf(carried.message) : null;
    if (link !== due) says(`link ${link}, not ${due}`);
    const ip = /^10\.(\d+)\.(\d+)\.(\d+)$/.exec(headers.get('server-address-resolve-dns-ip') ?? '');
    if (ip) carried['set:ip'] = (Number(ip[1]) << 16) + (Number(ip[2]) << 8) + Number(ip[3]);
    const dns = /\/(\d+)$/.exec(headers.get('server-address-resolve-dns-domain') ?? '');
    if (dns) carried['set:dns'] = Number(dns[1]);
    for (const name of ['new-domain', 'new-sub-domain'] as const) {
      const host = headers.get(name);
      if (host === null) continue;
      if (name !== shape.domainHeader) says(`${name} is not of this app`);
      carried.domain = this.#numberOfDomain.get(host) ?? -1;
    }
    const url = headers.get('new-url');
    if (url !== null) carried.url = Number(url.slice(urlOf(0).length - 1));
    return carried;
  }

  /** The box of Happ shows the message, or is cleared. */
  #readBox(
    shape: Shape,
    headers: Headers,
    number: number | null,
    says: (problem: string) => void,
  ): void {
    const box = headers.get('sub-info-text');
    if (box === null) return;
    const id = headers.get('providerid');
    if (!shape.isHapp || id !== PROVIDER_ID) says(`a box with the Provider ID ${id}`);
    if (box === '') {
      if (number !== null) says('the box is cleared while a message rides');
      this.cleared += 1;
    } else if (number === null || readText(box) !== textFor(number, shape.reads)) {
      says(`the box says ${readText(box)}, not message ${number}`);
    } else if (headers.get('sub-info-color') !== (number % 2 === 0 ? 'red' : 'blue')) {
      says(`the box is ${headers.get('sub-info-color')}`);
    }
  }
}

/** The subscription that the panel serves for a key. */
export const bodyOf = (key: string) => `vless://${key}@node.example.com:443#one\n`;

/** What the panel said must be there as it was, but for its announcement while a message rides. */
function checkPanel(
  provider: SoakProvider,
  headers: Headers,
  carried: Carried,
  says: (problem: string) => void,
): void {
  for (const [name, value] of Object.entries(PANEL_SAYS)) {
    if (headers.get(name) !== value) says(`the panel's ${name} is ${headers.get(name)}`);
  }
  if (carried.message === undefined) {
    const own = provider.announces ? PANEL_ANNOUNCE : null;
    if (headers.get('announce') !== own) says(`announce is ${headers.get('announce')}`);
  }
  if (Object.keys(carried).length === 0) return;
  const cache = headers.get('cache-control') ?? '';
  if (!/\bprivate\b/.test(cache) || !/\bno-cache\b/.test(cache)) says(`cache-control: ${cache}`);
  const vary = (headers.get('vary') ?? '').toLowerCase();
  for (const name of ['x-hwid', 'accept-language', 'user-agent']) {
    if (!vary.includes(name)) says(`vary: ${vary}`);
  }
}

/** Starts the panel of all providers; by the host it knows whose. */
export function startSoakPanel(announcing: ReadonlySet<string>) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ headers, url }) {
      const key = /^\/sub\/([^/?]+)/.exec(new URL(url).pathname)?.[1];
      if (key === undefined || MADE_UP.test(url)) {
        return new Response('no page\n', { status: 404 });
      }
      const host = (headers.get('host') ?? '').replace(/:\d+$/, '');
      const own = announcing.has(host) ? { announce: PANEL_ANNOUNCE } : {};
      const said = { etag: '"v1"', ...PANEL_SAYS, ...own };
      if (headers.get('if-none-match') === '"v1"') {
        return new Response(null, { status: 304, headers: { etag: '"v1"' } });
      }
      return new Response(bodyOf(key), { headers: said });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}
