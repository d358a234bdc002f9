/** Requests by the table of endpoints: nearly right, wrong in one place, or wrong as bytes. */

import { answersOf, type Endpoint, pathsOf } from '../../src/http/endpoint.ts';
import { endpoints } from '../../src/http/endpoints/index.ts';
import { messages } from '../../src/http/messages.ts';
import { Hostility } from '../support/hostile.ts';
import { inputSchemaAt } from '../support/openapi.ts';
import type { Random } from '../support/random.ts';
import { Lane, type RawAnswer } from '../support/raw-http.ts';
import { fitting, type Samples } from '../support/schema-arbitrary.ts';
import { type Campaign, within } from './campaign.ts';
import { gateQuestion } from './gate.ts';
import {
  anyText,
  drawn,
  type Json,
  jsonText,
  mutated,
  queryText,
  spoiltBytes,
  spoiltText,
} from './grammar.ts';
import type { Scene } from './scene.ts';

/** How long any answer may take on a busy machine, ms. */
const DEADLINE_MS = 15_000;
/** After malformed bytes there may be no answer: nobody knows whether the request is whole. */
const QUIET_MS = 60;
/** Calls a connection carries before another one is made. */
const LANE_CALLS_MAX = 200;
const BODIES_DRAWN = 80;

const SAMPLES: Samples = {
  date: ['2026-11-22', '2099-02-28', '2027-02-29'],
  'text/html': ['Hello', '<b>Tonight</b>', '<img src=x onerror=1>', '<'.repeat(900), 'Я', '&#0;'],
  uri: ['https://example.com', 'http://example.com:8080/a?b=c#d', 'tg:x', 'https://[::1]/'],
  hostname: ['example.com', 'a_b.example.com', 'пример.example', 'localhost:8443'],
};

/** What the parser may say, or the router to a path that is not the API's. */
const REFUSALS: readonly (number | null)[] = [null, 400, 404, 405, 413, 431, 505];

interface Request {
  bytes: Uint8Array;
  /** How many requests there are in it. */
  count: number;
  isHead: boolean;
  /** Texts that the endpoint may answer with; null: anything that a parser or router says too. */
  says: ReadonlySet<string> | null;
  isWhole: boolean;
  /** The caller leaves before the answer. */
  leaves?: true;
}

export class HttpGrammar {
  readonly #scene: Scene;
  readonly #bodies = new Map<string, Json[]>();

  constructor(scene: Scene, seed: number) {
    this.#scene = scene;
    for (const { path, input } of endpoints) {
      if (!input) continue;
      const bodies = drawn(fitting(inputSchemaAt(path), SAMPLES), seed, BODIES_DRAWN);
      this.#bodies.set(path, bodies as Json[]);
    }
  }

  next(random: Random): Request {
    const roll = random.next();
    if (roll < 0.1) return this.#hostile(random);
    if (roll < 0.18) return this.#spoilt(random);
    if (roll < 0.22) return this.#pipeline(random);
    if (roll < 0.25) return this.#page(random);
    if (roll < 0.3) return this.#gate(random);
    return this.#call(random, random.pick(endpoints));
  }

  /** A registration ends the token before it: calls had better know the new one. */
  learn(random: Random, answer: RawAnswer): void {
    const token = /"device_token":"([^"]+)"/.exec(answer.body)?.[1];
    const { tokens } = this.#scene;
    if (token) tokens[random.int(0, tokens.length - 1)] = token;
  }

  #hostile(random: Random): Request {
    const [own] = this.#scene.credentials;
    if (!own) throw new Error('a provider is needed');
    const { bytes, count, isHead, isClean } = new Hostility(random, own).next();
    return { bytes, count, isHead, says: null, isWhole: isClean };
  }

  #spoilt(random: Random): Request {
    const { bytes } = this.#call(random, random.pick(endpoints));
    const wrong = spoiltBytes(random, bytes);
    return { bytes: wrong, count: 1, isHead: false, says: null, isWhole: false };
  }

  #pipeline(random: Random): Request {
    const calls = Array.from({ length: random.int(2, 6) }, () =>
      this.#call(random, random.pick(endpoints)),
    ).filter(({ isHead, leaves }) => !isHead && !leaves);
    const bytes = Buffer.concat(calls.map((each) => each.bytes));
    return { bytes, count: Math.max(calls.length, 1), isHead: false, says: null, isWhole: false };
  }

  /** What is not the API: pages, the document, other paths. */
  #page(random: Random): Request {
    const path = random.pick(['/', '/docs', '/openapi.json', '/device/stream', '/healthz', '/x']);
    const method = random.pick(['GET', 'GET', 'HEAD', 'POST']);
    const head = `${method} ${path}?${queryText(random, anyText(random))} HTTP/1.1\r\nhost: a\r\n`;
    const bytes = Buffer.from(`${head}\r\n`, 'latin1');
    return { bytes, count: 1, isHead: method === 'HEAD', says: null, isWhole: false };
  }

  #gate(random: Random): Request {
    const lines = gateQuestion(random, this.#scene);
    const isHead = lines[0]?.startsWith('HEAD') ?? false;
    const bytes = Buffer.from([...lines, 'content-length: 0', '', ''].join('\r\n'), 'latin1');
    return { bytes, count: 1, isHead, says: null, isWhole: true };
  }

  #call(random: Random, endpoint: Endpoint): Request {
    const { method: right } = endpoint;
    const path = random.pick(pathsOf(endpoint));
    const method = random.chance(0.96) ? right : random.pick(['GET', 'POST', 'HEAD', 'PUT']);
    const isPost = method === 'POST' || random.chance(0.02);
    const query = this.#query(random, endpoint);
    // Runs of slashes count as one.
    const spelt = random.chance(0.03) ? path.replaceAll('/', random.pick(['//', '///'])) : path;
    const lines = [`${method} ${spelt}${query} HTTP/1.1`, 'host: localhost'];
    lines.push(...this.#headers(random, endpoint));
    const body = isPost ? this.#body(random, endpoint) : null;
    const says = new Set(answersOf(endpoint).map((key) => messages[key].msg));
    const request = {
      count: 1,
      isHead: method === 'HEAD',
      says,
      isWhole: true,
    };
    const leaves =
      random.chance(0.01) || query.includes('wait=60') ? { leaves: true as const } : {};
    const head = (more: string) =>
      Buffer.from(`${[...lines, more].join('\r\n')}\r\n\r\n`, 'latin1');
    if (body === null) return { ...request, ...leaves, bytes: head('accept: */*') };
    if (random.chance(0.8)) {
      const bytes = Buffer.concat([head(`content-length: ${body.length}`), body]);
      return { ...request, ...leaves, bytes };
    }
    const { chunks, isClean } = chunked(random, body);
    const bytes = Buffer.concat([head('transfer-encoding: chunked'), ...chunks]);
    return { ...request, ...leaves, bytes, ...(!isClean && { says: null, isWhole: false }) };
  }

  #query(random: Random, { audience, params }: Endpoint): string {
    const pairs: string[] = [];
    if (audience === 'provider' || random.chance(0.05)) pairs.push(this.#credentials(random));
    for (const [name, { isRequired }] of Object.entries(params)) {
      if (!random.chance(isRequired ? 0.95 : 0.5)) continue;
      const value = queryText(random, this.#value(random, name));
      pairs.push(`${random.chance(0.98) ? name : name.toUpperCase()}=${value}`);
      if (random.chance(0.01)) pairs.push(`${name}=${value}`);
    }
    if (random.chance(0.03)) pairs.push(queryText(random, anyText(random)));
    return `?${pairs.join('&')}`.slice(0, 8_000);
  }

  #credentials(random: Random): string {
    const [first, second, ended] = this.#scene.credentials;
    const own = random.pick([first, first, first, second, second, second, ended]);
    if (!own) throw new Error('three providers are needed');
    const { code, authKey } = own;
    const key = random.chance(0.95) ? authKey : queryText(random, spoiltText(random, authKey));
    return `provider_code=${code}&auth_key=${key}`;
  }

  /** A value that fits the name more often than not. */
  #value(random: Random, name: string): string {
    const { codes, hashes, hwids } = this.#scene;
    if (random.chance(0.12)) return anyText(random);
    const number = () => String(random.pick([1, 2, 3, 4, 5, 10, 50, 100, 101, 1e15, 7777]));
    const fresh = () => `fuzz${random.text(8, 'ABCDEFGHJKLMNPQRSTUVWXYZ0123456789')}`;
    switch (name) {
      case 'install_code':
      case 'installid':
        return random.chance(0.8) ? random.pick(codes) : fresh();
      case 'domain_hash':
        return random.chance(0.9) ? random.pick(hashes) : random.text(64, 'abcdef01');
      case 'hwid':
        if (random.chance(0.8)) return random.pick(hwids);
        return random.pick([`fuzz-${random.int(1, 500)}`, `sha256:${'a'.repeat(64)}`]);
      case 'id':
        return random.chance(0.6) ? number() : random.pick([...hashes, this.#code(random)]);
      case 'inactive_days':
      case 'cool_down_hours':
        return random.pick(['default', '0', '1', '720', '3650', '3651', 'never']);
      case 'when_full':
        return random.pick(['default', 'refuse', 'replace-oldest', 'Refuse']);
      case 'same_phone':
        return random.pick(['default', 'off', 'ask', 'replace', 'replace', 'Ask']);
      case 'when_new':
        return random.pick(['default', 'admit', 'refuse', 'Admit']);
      case 'subscription_key':
        return random.pick(['default', 'key-of-a-panel', `k${random.int(1_000, 1_050)}`, 'abc']);
      case 'details':
        return random.pick(['0', '1', '1', '2', 'true']);
      case 'wait':
        return random.pick(['0', '0', '1', '60', '301']);
      case 'note':
      case 'domain_name':
      case 'os_name':
        return random.pick(['customer 5', 'ios', 'Android', 'Я'.repeat(255), anyText(random)]);
      default:
        return number();
    }
  }

  #code(random: Random): string {
    return random.pick(this.#scene.credentials).code;
  }

  #headers(random: Random, { audience, path }: Endpoint): string[] {
    const lines: string[] = [];
    if (audience === 'device' || path === '/device/register') {
      const token = random.pick(this.#scene.tokens);
      const right = random.chance(0.9) ? token : headerText(spoiltText(random, token));
      if (random.chance(0.9)) lines.push(`authorization: Bearer ${right}`);
    }
    if (audience === 'app') {
      for (const name of ['x-hwid', 'x-device-os', 'x-ver-os', 'x-device-model', 'user-agent']) {
        if (!random.chance(0.5)) continue;
        const value = name === 'x-hwid' ? this.#value(random, 'hwid') : anyText(random);
        lines.push(`${name}: ${headerText(value).slice(0, 1_000)}`);
      }
      lines.push(...this.#olderHeaders(random));
    }
    if (random.chance(0.05)) lines.push(`content-encoding: ${random.pick(['gzip', 'br', 'x'])}`);
    if (random.chance(0.05)) lines.push('expect: 100-continue');
    if (random.chance(0.3)) {
      const types = ['application/json', 'application/json;charset=utf-16', 'text/plain', '*/*'];
      lines.push(`content-type: ${random.pick(types)}`);
    }
    return lines;
  }

  /** What older apps say in headers. */
  #olderHeaders(random: Random): string[] {
    const lines: string[] = [];
    if (random.chance(0.3))
      lines.push(`x-domain-hash: ${headerText(this.#value(random, 'domain_hash'))}`);
    if (!random.chance(0.4)) return lines;
    const words = ['os', 'osVersion', 'model', 'hwid', 'app_version', anyText(random)];
    const facts = words.map((name) => [name, this.#value(random, name)] as const);
    const sign = random.pick([';', '&', ',', '; ']);
    const forms = [
      JSON.stringify(Object.fromEntries(facts)),
      facts.map(([name, value]) => `${name}${random.pick(['=', ':'])}${value}`).join(sign),
      anyText(random),
    ];
    const form = random.pick(forms);
    const info = random.chance(0.2) ? spoiltText(random, form) : form;
    return [...lines, `x-device-info: ${headerText(info).slice(0, 3_000)}`];
  }

  #body(random: Random, { path }: Endpoint): Buffer {
    const bodies = this.#bodies.get(path) ?? [{}];
    const base = this.#named(random, random.pick(bodies));
    const value = random.chance(0.35) ? base : mutated(random, base);
    return Buffer.from(jsonText(random, value));
  }

  /** With names of what is there, so that calls get further than the first look-up. */
  #named(random: Random, value: Json): Json {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const { codes, hashes, hwids } = this.#scene;
    const named = { ...value };
    if ('hwid' in named) named['hwid'] = random.pick([...hwids, hwids.join(','), hwids[0] ?? '']);
    if ('install_code' in named) named['install_code'] = random.pick(codes);
    if ('domain_hash' in named) named['domain_hash'] = random.pick(hashes);
    if ('provider_code' in named) named['provider_code'] = this.#code(random);
    return named;
  }
}

/** Printable Latin-1 in one line: what a header may hold. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e\xa0-\xff]/g, '?').trim();
}

function chunked(random: Random, body: Buffer): { chunks: Buffer[]; isClean: boolean } {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const size = random.pick([1, 2, 100, 4096, body.length]);
    const part = body.subarray(at, at + size);
    const extension = random.chance(0.02) ? ';x=y' : '';
    chunks.push(
      Buffer.from(`${part.length.toString(16)}${extension}\r\n`),
      part,
      Buffer.from('\r\n'),
    );
    at += size;
    // The rest at once: thousands of tiny chunks teach nothing.
    if (chunks.length > 90) {
      const rest = body.subarray(at);
      if (rest.length > 0)
        chunks.push(Buffer.from(`${rest.length.toString(16)}\r\n`), rest, Buffer.from('\r\n'));
      break;
    }
  }
  const end = random.pick([
    '0\r\n\r\n',
    '0\r\n\r\n',
    '0\r\n\r\n',
    '0\r\nx: y\r\n\r\n',
    'z\r\n',
    '-1\r\n\r\n',
  ]);
  chunks.push(Buffer.from(end));
  return { chunks, isClean: end === '0\r\n\r\n' && chunks.every((one) => !one.includes(';x=y')) };
}

/** Calls one after the other over one connection at a time, until the campaign is over. */
export async function fuzzHttp(
  campaign: Campaign,
  grammar: HttpGrammar,
  port: number,
  pause: () => Promise<void>,
  isOver: () => boolean,
): Promise<void> {
  let lane = new Lane(port);
  let calls = 0;
  while (!isOver()) {
    await pause();
    const { number, random } = campaign.next('requests');
    const request = grammar.next(random);
    const isKept = request.isWhole && !request.leaves;
    const exchange = exchangeOn(lane, request, isKept && lane.isOpen && !isOver());
    // A connection that ends while it is made rejects; only the awaited one is looked at.
    exchange.catch(() => {});
    const patience = isKept ? DEADLINE_MS : QUIET_MS;
    try {
      const answers = await within(patience, exchange);
      if (answers === null && patience === DEADLINE_MS) {
        campaign.fault('requests', number, `no answer in ${DEADLINE_MS} ms`, request.bytes);
      }
      const problem = (answers ?? []).map((answer) => judge(request, answer)).find(Boolean);
      if (problem) campaign.fault('requests', number, problem, request.bytes);
      for (const answer of answers ?? []) {
        grammar.learn(random, answer);
        campaign.saw(kindOf(answer));
      }
    } catch (error) {
      if (!isOver()) campaign.fault('requests', number, `no connection: ${error}`, request.bytes);
      return;
    }
    calls += 1;
    if (isKept && calls < LANE_CALLS_MAX && lane.isOpen) continue;
    lane.drop();
    lane = new Lane(port);
    calls = 0;
  }
  lane.drop();
}

/**
 * Sends a request. A server may close a kept connection at any time between two requests: as each
 * client does (RFC 9112, 9.3.1), asks again over a new one if no byte came back over a reused one.
 */
async function exchangeOn(lane: Lane, request: Request, isReused: boolean): Promise<RawAnswer[]> {
  const ask = () => lane.exchange(request.bytes, request.count, request.isHead);
  const answers = await ask();
  if (!isReused || answers[0]?.status !== null) return answers;
  lane.drop();
  return ask();
}

/** What is wrong with an answer, or nothing. */
function judge({ says, isHead, count }: Request, answer: RawAnswer): string | null {
  const { status, headers, body } = answer;
  if (headers.get('x-error-detail')?.includes('internal fault')) return `a fault: ${answer.raw}`;
  if (says === null) {
    if (status === 200 || REFUSALS.includes(status)) return null;
    return status !== null && status < 500 ? null : `status ${status}`;
  }
  // The parser may close the connection instead of answering one of several.
  if (status === null) return count > 1 ? null : 'closed without an answer';
  if (status !== 200) return `status ${status} to a request that is well-formed`;
  if (isHead) return null;
  try {
    const { rc, msg } = JSON.parse(Buffer.from(body, 'latin1').toString()) as Record<
      string,
      unknown
    >;
    if (!Number.isInteger(rc) || typeof msg !== 'string') return `not the envelope: ${body}`;
    return says.has(msg) ? null : `"${msg}" is no answer of this endpoint`;
  } catch {
    return `not JSON: ${body.slice(0, 200)}`;
  }
}

function kindOf({ status, body }: RawAnswer): string {
  const msg = /^\{"rc":\d,"msg":"([^"]*)"/.exec(body)?.[1];
  return msg ?? `status ${status ?? 'none'}`;
}
