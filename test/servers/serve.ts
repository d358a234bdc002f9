/**
 * The process of the strict servers: Node, whose HTTP/2 is nghttp2, or else Bun. Its settings come
 * as one line of JSON on stdin, its answer is one line with the ports. It ends with its stdin.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type ApnsConfig, ApnsService } from './apns.ts';
import type { Answer, Service } from './exchange.ts';
import { type FcmConfig, FcmService } from './fcm.ts';
import type { Behaviour } from './misdeed.ts';
import { StrictServer } from './strict-server.ts';
import { type TelegramConfig, TelegramService } from './telegram.ts';
import { type Hook, WebhookService } from './webhook.ts';
import { WebPushService } from './webpush.ts';

/** The servers, each with a port of its own. */
export const SERVER_NAMES = [
  'fcm',
  'apns',
  'webpush',
  'webpush2',
  'webhook',
  'webhook2',
  'telegram',
  /** All of them by their paths, under a certificate of another name. */
  'otherName',
] as const;
export type ServerName = (typeof SERVER_NAMES)[number];

export interface Settings {
  certificate: { cert: string; key: string };
  /** For another name than this machine's. */
  otherName: { cert: string; key: string };
  fcm: FcmConfig;
  apns: ApnsConfig;
  telegram: TelegramConfig;
}

/** The first line that the process prints. */
export interface Ready {
  engine: string;
  ports: Record<ServerName, number>;
  /** Takes connections and never says a word. */
  silentPort: number;
  controlPort: number;
}

/** A request to the control. */
export type Order =
  | { op: 'behave'; server: ServerName; behaviour: Behaviour }
  | { op: 'totals' | 'visits' | 'deliveries' | 'forget' | 'reset'; server: ServerName }
  | { op: 'keep'; server: ServerName; count: number }
  | { op: 'ahead'; server: ServerName; seconds: number }
  | { op: 'expire' }
  | { op: 'subscribe'; server: 'webpush' | 'webpush2'; count: number; host: string }
  | { op: 'bind'; server: 'webpush' | 'webpush2'; key: string | null }
  | { op: 'hook'; name: string; hook: Hook };

/** Streams that real ones allow on a connection. */
const STREAMS = { fcm: 100, apns: 1000, rest: 128 };

async function start(settings: Settings): Promise<Ready> {
  const ports = {} as Record<ServerName, number>;
  const origins = (name: ServerName) =>
    ['127.0.0.1', 'localhost'].flatMap((host) =>
      [ports[name], ports.otherName].map((port) => `https://${host}:${port}`),
    );
  const fcm = new FcmService(settings.fcm, () => origins('fcm').map((origin) => `${origin}/token`));
  const webhook = new WebhookService();
  const webpush = {
    webpush: new WebPushService(() => origins('webpush')),
    webpush2: new WebPushService(() => origins('webpush2')),
  };
  const services: Record<Exclude<ServerName, 'otherName'>, Service> = {
    fcm,
    apns: new ApnsService(settings.apns),
    ...webpush,
    webhook,
    webhook2: webhook,
    telegram: new TelegramService(settings.telegram),
  };
  const common = (streams: number) => ({
    ...settings.certificate,
    h2Only: false,
    maxConcurrentStreams: streams,
  });
  const servers: Record<ServerName, StrictServer> = {
    fcm: new StrictServer(services.fcm, common(STREAMS.fcm)),
    apns: new StrictServer(services.apns, { ...common(STREAMS.apns), h2Only: true }),
    webpush: new StrictServer(services.webpush, common(STREAMS.rest)),
    webpush2: new StrictServer(services.webpush2, common(STREAMS.rest)),
    webhook: new StrictServer(webhook, common(STREAMS.rest)),
    webhook2: new StrictServer(webhook, common(STREAMS.rest)),
    telegram: new StrictServer(services.telegram, common(STREAMS.rest)),
    otherName: new StrictServer(byPath(services), {
      ...common(STREAMS.rest),
      ...settings.otherName,
    }),
  };
  for (const name of SERVER_NAMES) ports[name] = await servers[name].listen();
  const control = createServer((request, response) => {
    void answerOrder(request, response, (order) => obey(order, servers, { fcm, webhook, webpush }));
  });
  return {
    engine: 'bun' in process.versions ? `Bun ${process.versions.bun}` : `Node ${process.version}`,
    ports,
    silentPort: await listen(createTcpServer((socket: Socket) => socket.on('error', () => {}))),
    controlPort: await listen(control),
  };
}

async function listen(server: ReturnType<typeof createTcpServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function byPath(services: Record<Exclude<ServerName, 'otherName'>, Service>): Service {
  const of = (path: string): Service => {
    if (path.startsWith('/3/')) return services.apns;
    if (path.startsWith('/push/')) return services.webpush;
    if (path.startsWith('/hook/')) return services.webhook;
    if (path.startsWith('/bot')) return services.telegram;
    return services.fcm;
  };
  return {
    handle: (exchange) => of(exchange.path).handle(exchange),
    refusal: (name): Answer => services.fcm.refusal(name),
  };
}

function obey(
  order: Order,
  servers: Record<ServerName, StrictServer>,
  services: {
    fcm: FcmService;
    webhook: WebhookService;
    webpush: Record<'webpush' | 'webpush2', WebPushService>;
  },
): unknown {
  if (order.op === 'expire') return services.fcm.expireTokens();
  if (order.op === 'hook') return services.webhook.setHook(order.name, order.hook);
  const server = servers[order.server];
  switch (order.op) {
    case 'behave':
      return server.behave(order.behaviour);
    case 'totals':
      return server.ledger.totals();
    case 'visits':
      return server.ledger.visits();
    case 'deliveries':
      return server.ledger.deliveries();
    case 'forget':
      return server.ledger.forget();
    case 'reset':
      return server.resetAll();
    case 'keep':
      server.ledger.keep = order.count;
      return null;
    case 'ahead':
      server.aheadS = order.seconds;
      return null;
    case 'subscribe': {
      const origin = `https://${order.host}:${server.port}`;
      return services.webpush[order.server].subscribe(origin, order.count);
    }
    case 'bind':
      services.webpush[order.server].applicationServerKey = order.key;
      return null;
  }
}

async function answerOrder(
  request: IncomingMessage,
  response: ServerResponse,
  act: (order: Order) => unknown,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    const done = act(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Order);
    response.end(JSON.stringify(done ?? null));
  } catch (error) {
    response.statusCode = 500;
    response.end(String(error));
  }
}

if (process.argv.includes('--strict-servers')) {
  const lines = createInterface({ input: process.stdin });
  lines.once('line', (line) => {
    void start(JSON.parse(line) as Settings).then((ready) => {
      process.stdout.write(`${JSON.stringify(ready)}\n`);
    });
  });
  lines.on('close', () => process.exit(0));
}
