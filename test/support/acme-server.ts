/**
 * An ACME server (RFC 8555) on loopback that believes nothing: it verifies the signature, URL and
 * nonce of every request, and looks for each proof itself.
 */

import { createHash, createHmac, createPublicKey, verify } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import { renewalId } from '../../src/tls/renewal.ts';
import { TestAuthority } from './certificate.ts';

export interface AcmeServerOptions {
  /** The lifetime of certificates, days. */
  days?: number;
  /** The address of http-01 for every name: no DNS is needed. */
  httpPort?: () => number;
  /** The TXT records of a name, for dns-01. */
  txtRecords?: (name: string) => readonly string[];
  /** External account binding that is asked for. */
  binding?: { kid: string; key: string };
  /** Profiles that are offered, with the days that their certificates live. */
  profiles?: Readonly<Record<string, number>>;
  /** Suggests when a certificate is renewed; absent: the server has no renewal information. */
  renewalWindow?: (id: string) => { start: string; end: string };
  /** A name that it asks a proof for in place of the one that was ordered. */
  alien?: string;
  /** For the answers about renewals, s. */
  retryAfter?: number;
}

export interface AcmeServer {
  /** URL of the directory. */
  directory: string;
  issued: string[][];
  /** Of each order that was taken: its profile, and the certificate that it replaces. */
  orders: { profile: string | null; replaces: string | null }[];
  /** Questions about renewals. */
  asked: string[];
  /** Requests that were refused, and why. */
  refused: string[];
  /** While set, every order is refused with this text. */
  outage: string;
  /** PEM of the authority's own certificate. */
  certificatePem: string;
  /** Makes a certificate without an order. */
  issue: TestAuthority['issue'];
  stop(): Promise<void>;
}

interface Order {
  status: 'pending' | 'ready' | 'valid' | 'invalid';
  names: string[];
  accountUrl: string;
  chain: string;
  days: number;
}

interface Jwk {
  kty: string;
  crv: string;
  x: string;
  y: string;
  [more: string]: unknown;
}

interface Jws {
  protected: string;
  payload: string;
  signature: string;
}

class Refusal extends Error {}

const decode = (text: string) => Buffer.from(text, 'base64url');
const json = (text: string) => JSON.parse(decode(text).toString('utf8'));

export async function startAcmeServer(options: AcmeServerOptions = {}): Promise<AcmeServer> {
  const authority = await TestAuthority.create();
  const nonces = new Set<string>();
  const accounts = new Map<string, Jwk>();
  const orders: Order[] = [];
  const issued: string[][] = [];
  const refused: string[] = [];

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      try {
        return await answer(request);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refused.push(error.message);
        return reply({ type: 'urn:ietf:params:acme:error:malformed', detail: error.message }, 400);
      }
    },
  });
  const base = `http://127.0.0.1:${server.port}`;
  const state: Omit<AcmeServer, 'stop'> = {
    directory: `${base}/directory`,
    issued,
    refused,
    outage: '',
    orders: [],
    asked: [],
    certificatePem: authority.certificatePem,
    issue: (...draft) => authority.issue(...draft),
  };
  /** Certificates that were issued: whose each is, for which names, and whether it is replaced. */
  const certificates = new Map<string, { of: Order; isReplaced: boolean }>();

  function reply(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
    const nonce = crypto.randomUUID().replaceAll('-', '');
    nonces.add(nonce);
    return Response.json(body, { status, headers: { 'replay-nonce': nonce, ...headers } });
  }

  /** The payload of a request and the account that signed it, verified. */
  async function open(request: Request) {
    const jws = (await request.json()) as Jws;
    const head = json(jws.protected);
    if (!nonces.delete(head.nonce)) throw new Refusal('the nonce was used or never given out');
    if (head.url !== `${base}${new URL(request.url).pathname}`) throw new Refusal('not this URL');
    const jwk: Jwk | undefined = head.jwk ?? accounts.get(head.kid);
    if (!jwk || head.alg !== 'ES256') throw new Refusal('no such account, or another algorithm');
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    const signed = Buffer.from(`${jws.protected}.${jws.payload}`);
    const signature = decode(jws.signature);
    if (!verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature)) {
      throw new Refusal('the signature is wrong');
    }
    const payload = jws.payload === '' ? null : json(jws.payload);
    return { payload, jwk, kid: String(head.kid ?? '') };
  }

  function checkBinding(bound: Jws | undefined, jwk: Jwk): void {
    if (!options.binding) return;
    if (!bound) throw new Refusal('an external account is needed');
    const mac = createHmac('sha256', decode(options.binding.key));
    const expected = mac.update(`${bound.protected}.${bound.payload}`).digest('base64url');
    const isBound =
      expected === bound.signature && json(bound.protected).kid === options.binding.kid;
    if (!isBound || json(bound.payload).x !== jwk.x) throw new Refusal('bound to another account');
  }

  const authorization = (id: number, index: number) => {
    const name = orders[id]?.names[index] ?? '';
    const isWildcard = name.startsWith('*.');
    const challenge = (type: string) => ({
      type,
      url: `${base}/challenge/${id}/${index}/${type}`,
      token: tokenOf(id, index),
      status: orders[id]?.status === 'pending' ? 'pending' : orders[id]?.status,
    });
    return {
      status: orders[id]?.status === 'ready' ? 'valid' : 'pending',
      identifier: { type: typeOf(name), value: options.alien ?? name.replace(/^\*\./, '') },
      ...(isWildcard && { wildcard: true }),
      challenges: (isWildcard ? ['dns-01'] : ['http-01', 'dns-01']).map(challenge),
    };
  };

  const orderView = (id: number) => ({
    status: orders[id]?.status,
    identifiers: orders[id]?.names.map((value) => ({ type: typeOf(value), value })),
    authorizations: orders[id]?.names.map((_, index) => `${base}/authorization/${id}/${index}`),
    finalize: `${base}/finalize/${id}`,
    ...(orders[id]?.status === 'valid' && { certificate: `${base}/certificate/${id}` }),
  });

  const proven = new Set<string>();

  async function prove(id: number, index: number, type: string, jwk: Jwk): Promise<void> {
    const order = orders[id];
    if (!order) throw new Refusal('no such order');
    const expected = `${tokenOf(id, index)}.${thumbprint(jwk)}`;
    const name = (order.names[index] ?? '').replace(/^\*\./, '');
    const found =
      type === 'http-01'
        ? [await fetchProof(options.httpPort?.() ?? 80, name, tokenOf(id, index))]
        : (options.txtRecords?.(`_acme-challenge.${name}`) ?? []);
    const wanted =
      type === 'http-01' ? expected : createHash('sha256').update(expected).digest('base64url');
    if (!found.includes(wanted)) {
      order.status = 'invalid';
      refused.push(`${type} of ${name}: found ${found.join(', ')}`);
      return;
    }
    proven.add(`${id}/${index}`);
    if (order.names.every((_, at) => proven.has(`${id}/${at}`))) order.status = 'ready';
  }

  async function answer(request: Request): Promise<Response> {
    const path = new URL(request.url).pathname;
    const [, verb = '', id = '', index = '', type = ''] = path.split('/');
    if (verb === 'directory') {
      const urls = ['newNonce', 'newAccount', 'newOrder'].map((name) => [name, `${base}/${name}`]);
      const meta = {
        externalAccountRequired: options.binding !== undefined,
        ...(options.profiles && { profiles: options.profiles }),
      };
      const more = options.renewalWindow && { renewalInfo: `${base}/renewalInfo` };
      return Response.json({ ...Object.fromEntries(urls), ...more, meta });
    }
    if (verb === 'renewalInfo') {
      state.asked.push(id);
      if (!options.renewalWindow || !certificates.has(id)) return reply({}, 404);
      const headers = { 'retry-after': String(options.retryAfter ?? 21_600) };
      return reply({ suggestedWindow: options.renewalWindow(id) }, 200, headers);
    }
    if (verb === 'newNonce') return reply({});
    const { payload, jwk, kid } = await open(request);
    if (verb === 'newAccount') {
      checkBinding(payload.externalAccountBinding, jwk);
      if (payload.termsOfServiceAgreed !== true) throw new Refusal('the terms were not agreed to');
      const location = `${base}/account/${thumbprint(jwk)}`;
      accounts.set(location, jwk);
      return reply({ status: 'valid' }, 201, { location });
    }
    if (verb === 'newOrder') {
      if (state.outage !== '') throw new Refusal(state.outage);
      orders.push(orderOf(payload, kid));
      const made = orders.length - 1;
      return reply(orderView(made), 201, { location: `${base}/order/${made}` });
    }
    const order = orders[Number(id)];
    if (order?.accountUrl !== kid) throw new Refusal('the order of another account');
    if (verb === 'challenge') await prove(Number(id), Number(index), type, jwk);
    if (verb === 'finalize') await finalize(order, payload.csr);
    if (verb === 'certificate') {
      const headers = { 'content-type': 'application/pem-certificate-chain' };
      return new Response(order.chain, { headers });
    }
    const isPart = verb === 'challenge' || verb === 'authorization';
    if (!isPart) return reply(orderView(Number(id)));
    const view = authorization(Number(id), Number(index));
    if (verb === 'authorization') return reply(view);
    return reply(view.challenges.find((challenge) => challenge.type === type));
  }

  async function finalize(order: Order, csr: string): Promise<void> {
    if (order.status !== 'ready') throw new Refusal('not every name is proven');
    const der = new Uint8Array(decode(csr)).buffer;
    const { chain, names } = await authority.sign(der, order.days);
    if (names.toSorted().join() !== order.names.toSorted().join()) throw new Refusal('other names');
    order.chain = chain;
    order.status = 'valid';
    issued.push(names);
    certificates.set(renewalId({ cert: chain }) ?? '', { of: order, isReplaced: false });
  }

  interface NewOrder {
    identifiers: { type: string; value: string }[];
    profile?: string;
    replaces?: string;
  }

  /** Takes an order, or refuses it. */
  function orderOf({ identifiers, profile, replaces }: NewOrder, kid: string): Order {
    for (const { type, value } of identifiers) {
      if (type !== typeOf(value)) throw new Refusal(`${value} is no identifier of type ${type}`);
    }
    const names = identifiers.map(({ value }) => value);
    const { profiles } = options;
    if (profile !== undefined && profiles?.[profile] === undefined) {
      throw new Refusal(`there is no profile ${profile}`);
    }
    // As Let's Encrypt has it.
    const hasAddress = names.some((name) => isIP(name) !== 0);
    if (profiles && hasAddress && profile !== 'shortlived') {
      throw new Refusal('addresses need the profile shortlived');
    }
    if (replaces !== undefined) replace(replaces, names, kid);
    state.orders.push({ profile: profile ?? null, replaces: replaces ?? null });
    const days = profiles?.[profile ?? ''] ?? options.days ?? 90;
    return { status: 'pending', names, accountUrl: kid, chain: '', days };
  }

  /** RFC 9773, section 5. */
  function replace(id: string, names: readonly string[], kid: string): void {
    const known = certificates.get(id);
    if (known?.of.accountUrl !== kid)
      throw new Refusal('it replaces no certificate of the account');
    if (!known.of.names.some((name) => names.includes(name))) throw new Refusal('of other names');
    if (known.isReplaced) throw new Refusal('it is replaced already');
    known.isReplaced = true;
  }

  return Object.assign(state, { stop: () => server.stop(true) });
}

const typeOf = (name: string) => (isIP(name) === 0 ? 'dns' : 'ip');

const tokenOf = (id: number, index: number) =>
  createHash('sha256').update(`token ${id} ${index}`).digest('base64url');

/** RFC 7638. */
function thumbprint({ crv, kty, x, y }: Jwk): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

async function fetchProof(port: number, name: string, token: string): Promise<string> {
  const url = `http://127.0.0.1:${port}/.well-known/acme-challenge/${token}`;
  try {
    const response = await fetch(url, { headers: { host: isIPv6(name) ? `[${name}]` : name } });
    return response.ok ? (await response.text()).trim() : `status ${response.status}`;
  } catch {
    return 'nobody';
  }
}
