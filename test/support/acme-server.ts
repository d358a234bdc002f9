/**
 * An ACME server (RFC 8555) on loopback that believes nothing: it verifies the signature, URL and
 * nonce of every request, and looks for each proof itself.
 */

import { createHash, createHmac, createPublicKey, verify } from 'node:crypto';
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
}

export interface AcmeServer {
  /** URL of the directory. */
  directory: string;
  issued: string[][];
  /** Requests that were refused, and why. */
  refused: string[];
  /** While set, every order is refused with this text. */
  outage: string;
  stop(): Promise<void>;
}

interface Order {
  status: 'pending' | 'ready' | 'valid' | 'invalid';
  names: string[];
  accountUrl: string;
  chain: string;
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
  const state = { directory: `${base}/directory`, issued, refused, outage: '' };

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
      identifier: { type: 'dns', value: name.replace(/^\*\./, '') },
      ...(isWildcard && { wildcard: true }),
      challenges: (isWildcard ? ['dns-01'] : ['http-01', 'dns-01']).map(challenge),
    };
  };

  const orderView = (id: number) => ({
    status: orders[id]?.status,
    identifiers: orders[id]?.names.map((value) => ({ type: 'dns', value })),
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
      const meta = { externalAccountRequired: options.binding !== undefined };
      return Response.json({ ...Object.fromEntries(urls), meta });
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
      const names = payload.identifiers.map(({ value }: { value: string }) => value);
      orders.push({ status: 'pending', names, accountUrl: kid, chain: '' });
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
    const { chain, names } = await authority.sign(der, options.days ?? 90);
    if (names.toSorted().join() !== order.names.toSorted().join()) throw new Refusal('other names');
    order.chain = chain;
    order.status = 'valid';
    issued.push(names);
  }

  return Object.assign(state, { stop: () => server.stop(true) });
}

const tokenOf = (id: number, index: number) =>
  createHash('sha256').update(`token ${id} ${index}`).digest('base64url');

/** RFC 7638. */
function thumbprint({ crv, kty, x, y }: Jwk): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

async function fetchProof(port: number, name: string, token: string): Promise<string> {
  const url = `http://127.0.0.1:${port}/.well-known/acme-challenge/${token}`;
  try {
    const response = await fetch(url, { headers: { host: name } });
    return response.ok ? (await response.text()).trim() : `status ${response.status}`;
  } catch {
    return 'nobody';
  }
}
