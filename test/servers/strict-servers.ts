/**
 * Strict servers for tests: FCM, APNs, push services, receivers of webhooks and Telegram, in one
 * process of Node (else Bun), under an authority made for the run. They verify every signature,
 * decrypt every payload, count every delivery, note every breach, and misbehave on command.
 *
 *   const servers = await startStrictServers();   // afterAll(() => servers.stop())
 *   await servers.behave('fcm', { next: [{ kind: 'refuse', name: '503', retryAfter: '2' }] });
 *   expect((await servers.totals('fcm')).violations).toEqual([]);
 */

import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestAuthority, writeSecret } from '../support/certificate.ts';
import type { Totals, Visit } from './ledger.ts';
import type { Behaviour } from './misdeed.ts';
import type { Order, Ready, ServerName, Settings } from './serve.ts';
import type { Subscription } from './webpush.ts';

const PROJECT = 'gatepost-test';
const CLIENT_EMAIL = `push@${PROJECT}.iam.example.com`;
const START_MAX_MS = 20_000;
/** Tokens that are read by Telegram as those of a bot. */
const BOT_TOKEN = '123456789:AAtest-token-of-a-bot-for-tests_00';
const CHAT = '-1001234567890';

export interface StrictServers {
  /** Whose HTTP/2 it is. */
  engine: string;
  pid: number;
  /** PEM of the authority that all but `otherName` are certified by, to be trusted. */
  caFile: string;
  ca: string;
  /** `https://127.0.0.1:PORT`; the certificate names `localhost` too. */
  origin(server: ServerName, host?: string): string;
  /** An https address where nobody ever says a word. */
  silentOrigin: string;
  fcm: {
    project: string;
    /** Keys of the service account as Google gives them out, with `token_uri` here. */
    serviceAccountFile: string;
    /** The same with a key that FCM does not know. */
    wrongServiceAccountFile: string;
  };
  apns: {
    teamId: string;
    keyId: string;
    topic: string;
    keyFile: string;
    wrongKeyFile: string;
    /** Another key of the team, which APNs knows too. */
    other: { keyId: string; keyFile: string };
  };
  telegram: { botToken: string; chat: string };
  /** Tells a server how to behave from now on; `{}`: well. */
  behave(server: ServerName, behaviour: Behaviour): Promise<void>;
  totals(server: ServerName): Promise<Totals>;
  /** The latest requests, whole, the oldest first. */
  visits(server: ServerName): Promise<Visit[]>;
  /** Every delivery: receiver, id, how often. */
  deliveries(server: ServerName): Promise<[to: string, id: string, count: number][]>;
  /** Empties the ledger. */
  forget(server: ServerName): Promise<void>;
  /** Resets every connection now. */
  resetConnections(server: ServerName): Promise<void>;
  /** How many visits are kept whole: 2000, unless told otherwise. */
  keepVisits(server: ServerName, count: number): Promise<void>;
  /** Sets the clock of a server ahead. */
  setAhead(server: ServerName, seconds: number): Promise<void>;
  /** Lets the access tokens that FCM gave out run out. */
  expireAccessTokens(): Promise<void>;
  /** Subscriptions of new user agents. */
  subscribe(count: number, server?: 'webpush' | 'webpush2', host?: string): Promise<Subscription[]>;
  /** Binds subscriptions to an application server's public key, base64url; null: to none. */
  bindSubscriptions(server: 'webpush' | 'webpush2', key: string | null): Promise<void>;
  /**
   * Tells the receivers what secrets a hook has (`whsec_…`, `whpk_…`): all of them must verify.
   * Its address is `${origin('webhook')}/hook/NAME`, or under `webhook2`.
   */
  setHook(name: string, secrets: string[]): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the servers; `stop()` ends them, and so does the end of this process. */
export async function startStrictServers(): Promise<StrictServers> {
  const folder = mkdtempSync(join(tmpdir(), 'gatepost-servers-'));
  const authority = await TestAuthority.create();
  const account = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const provider = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyId = randomBytes(20).toString('hex');
  const otherProvider = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const apns = { teamId: 'TEAM012345', topic: 'com.example.gatepost' };
  const keyIds = { keyId: 'KEY0123456', otherId: 'KEY6543210' };
  const settings: Settings = {
    certificate: await authority.issue(),
    otherName: await authority.issue(['other.example']),
    fcm: { project: PROJECT, clientEmail: CLIENT_EMAIL, keyId, publicKey: spki(account.publicKey) },
    apns: {
      ...apns,
      keys: {
        [keyIds.keyId]: spki(provider.publicKey),
        [keyIds.otherId]: spki(otherProvider.publicKey),
      },
    },
    telegram: { botToken: BOT_TOKEN, chat: CHAT },
  };
  const child = Bun.spawn([...(await command(folder)), '--strict-servers'], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  child.stdin.write(`${JSON.stringify(settings)}\n`);
  await child.stdin.flush();
  const ready = JSON.parse(await firstLine(child.stdout)) as Ready;
  const files = {
    ca: join(folder, 'ca.pem'),
    account: join(folder, 'service-account.json'),
    wrongAccount: join(folder, 'wrong-service-account.json'),
    apns: join(folder, 'apns.p8'),
    wrongApns: join(folder, 'wrong-apns.p8'),
    otherApns: join(folder, 'other-apns.p8'),
  };
  const tokenUri = `https://127.0.0.1:${ready.ports.fcm}/token`;
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const wrongProvider = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeSecret(files.ca, authority.certificatePem);
  writeSecret(files.account, accountJson(account.privateKey, keyId, tokenUri));
  writeSecret(files.wrongAccount, accountJson(stranger.privateKey, keyId, tokenUri));
  writeSecret(files.apns, pkcs8(provider.privateKey));
  writeSecret(files.wrongApns, pkcs8(wrongProvider.privateKey));
  writeSecret(files.otherApns, pkcs8(otherProvider.privateKey));
  return {
    ...controlOf(ready),
    engine: ready.engine,
    pid: child.pid,
    caFile: files.ca,
    ca: authority.certificatePem,
    origin: (server, host = '127.0.0.1') => `https://${host}:${ready.ports[server]}`,
    silentOrigin: `https://127.0.0.1:${ready.silentPort}`,
    fcm: {
      project: PROJECT,
      serviceAccountFile: files.account,
      wrongServiceAccountFile: files.wrongAccount,
    },
    apns: {
      ...apns,
      keyId: keyIds.keyId,
      keyFile: files.apns,
      wrongKeyFile: files.wrongApns,
      other: { keyId: keyIds.otherId, keyFile: files.otherApns },
    },
    telegram: { botToken: BOT_TOKEN, chat: CHAT },
    stop: async () => {
      child.kill('SIGKILL');
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Node runs a bundle, as it knows neither these types nor where packages lie. */
async function command(folder: string): Promise<string[]> {
  const entry = join(import.meta.dir, 'serve.ts');
  const node = Bun.which('node');
  if (node === null) {
    console.warn('There is no node: the strict servers speak the HTTP/2 of Bun.');
    return [process.execPath, entry];
  }
  const built = await Bun.build({ entrypoints: [entry], target: 'node', outdir: folder });
  const [bundle] = built.outputs;
  if (bundle === undefined) throw new Error(`the servers do not bundle: ${built.logs.join('\n')}`);
  const script = join(folder, 'serve.mjs');
  await Bun.write(script, bundle);
  return [node, script];
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  const giveUp = setTimeout(() => void reader.cancel(), START_MAX_MS);
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the strict servers did not start: ${text}`);
    text += new TextDecoder().decode(value);
    const end = text.indexOf('\n');
    if (end < 0) continue;
    clearTimeout(giveUp);
    reader.releaseLock();
    return text.slice(0, end);
  }
}

function controlOf({ controlPort }: Ready) {
  const tell = async <T>(order: Order): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${controlPort}/`, {
      method: 'POST',
      body: JSON.stringify(order),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as T;
  };
  return {
    behave: (server: ServerName, behaviour: Behaviour) =>
      tell<void>({ op: 'behave', server, behaviour }),
    totals: (server: ServerName) => tell<Totals>({ op: 'totals', server }),
    visits: (server: ServerName) => tell<Visit[]>({ op: 'visits', server }),
    deliveries: (server: ServerName) =>
      tell<[string, string, number][]>({ op: 'deliveries', server }),
    forget: (server: ServerName) => tell<void>({ op: 'forget', server }),
    resetConnections: (server: ServerName) => tell<void>({ op: 'reset', server }),
    keepVisits: (server: ServerName, count: number) => tell<void>({ op: 'keep', server, count }),
    setAhead: (server: ServerName, seconds: number) => tell<void>({ op: 'ahead', server, seconds }),
    expireAccessTokens: () => tell<void>({ op: 'expire' }),
    subscribe: (count: number, server: 'webpush' | 'webpush2' = 'webpush', host = '127.0.0.1') =>
      tell<Subscription[]>({ op: 'subscribe', server, count, host }),
    bindSubscriptions: (server: 'webpush' | 'webpush2', key: string | null) =>
      tell<void>({ op: 'bind', server, key }),
    setHook: (name: string, secrets: string[]) =>
      tell<void>({ op: 'hook', name, hook: { secrets } }),
  };
}

function accountJson(key: KeyObject, keyId: string, tokenUri: string): string {
  return JSON.stringify({
    type: 'service_account',
    project_id: PROJECT,
    private_key_id: keyId,
    private_key: pkcs8(key),
    client_email: CLIENT_EMAIL,
    client_id: '100000000000000000000',
    token_uri: tokenUri,
  });
}

function pkcs8(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function spki(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}
