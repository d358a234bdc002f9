/** Panels that make credentials new, as the real ones answered, and that fail in each way. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PanelKind } from '../../src/core/panel/kind.ts';
import { panelUserName } from '../../src/core/panel/user.ts';
import { type Exchange, recordedCutOff, recordedFolder, recordingOf, textOf } from './recorded.ts';
import { ANSWERS, userAnswer } from './remnawave.ts';

/** The panels that have a cut-off. */
export const CUT_PANELS = ['3x-ui', 'marzban', 'pasarguard', 'remnawave'] as const;
export type CutKind = (typeof CUT_PANELS)[number];

export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: unknown;
}

/** How the panel behaves; each may be changed while it runs. */
export interface CutBehaviour {
  /** The answer to a change: its own, another one, none, or a part. */
  answers: 'its own' | 'never' | 'half' | { status: number; body?: unknown; location?: string };
  /** True: a change has its effect, whatever the answer. */
  applies: boolean;
  /** Changes the answer to a question, before and after the change; null: 500. */
  before(path: string, body: unknown): unknown;
  after(path: string, body: unknown): unknown;
  /** Called with each question before it is answered. */
  onAsk(asked: Asked): void;
}

const same = (_: string, body: unknown) => body;

/** What a panel is asked and answers in a cut-off that succeeds. */
interface Script {
  key: string;
  id: string | null;
  before: readonly Exchange[];
  change: Exchange;
  after: readonly Exchange[];
}

function scriptOf(panel: CutKind): Script {
  if (panel === 'remnawave') return ofRemnawave();
  const { version } = recordingOf(panel);
  const recorded = recordedCutOff(recordedFolder(panel, version));
  if (recorded === null) throw new Error(`no cut-off of ${panel} was recorded`);
  const { key, id, exchanges } = recorded;
  const at = exchanges.done.findIndex(({ method }) => method !== undefined);
  const change = exchanges.done[at];
  if (change === undefined) throw new Error(`no change of ${panel} was recorded`);
  const before = exchanges.done.slice(0, at);
  return { key, id, before, change, after: [...exchanges.done.slice(at + 1), ...before] };
}

/** By its contract: see test/panels/remnawave.test.ts. */
function ofRemnawave(): Script {
  const { id, shortUuid } = ANSWERS.user.response;
  const answer = (path: string, body: unknown, more: Partial<Exchange> = {}): Exchange => ({
    path,
    status: 200,
    headers: { 'content-type': 'application/json' },
    body,
    ...more,
  });
  const renewed = userAnswer({
    trojanPassword: 'made-up-password-3',
    vlessUuid: '22222222-2222-4222-8222-222222222222',
    ssPassword: 'made-up-password-4',
    subRevokedAt: '2026-11-01T10:00:00.000Z',
  });
  const path = `/api/users/${id}`;
  return {
    key: shortUuid,
    id: String(id),
    before: [answer(path, ANSWERS.user)],
    change: answer(`${path}/actions/revoke`, renewed, { method: 'POST' }),
    after: [answer(path, renewed)],
  };
}

export async function startCutPanel(panel: CutKind, behaviour: Partial<CutBehaviour> = {}) {
  const script = scriptOf(panel);
  const behaves: CutBehaviour = {
    answers: 'its own',
    applies: true,
    before: same,
    after: same,
    onAsk() {},
    ...behaviour,
  };
  const asked: Asked[] = [];
  let isChanged = false;

  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request;
    let text = '';
    for await (const chunk of request) text += chunk;
    const question = { method, path, headers, body: text === '' ? null : JSON.parse(text) };
    asked.push(question);
    behaves.onAsk(question);
    if (method === 'GET') {
      const list = isChanged ? script.after : script.before;
      const exchange = list.find((one) => one.path === path);
      if (exchange === undefined) return end(response, 501, 'not recorded');
      const change = isChanged ? behaves.after : behaves.before;
      const body = change(path, structuredClone(exchange.body));
      return body === null ? end(response, 500, {}) : end(response, exchange.status, body);
    }
    if (path !== script.change.path) return end(response, 501, 'not recorded');
    isChanged = behaves.applies || isChanged;
    const { answers } = behaves;
    if (answers === 'never') return;
    if (answers === 'its own') return end(response, 200, textOf(script.change));
    if (answers === 'half') {
      const whole = textOf(script.change);
      response.writeHead(200, { 'content-length': String(Buffer.byteLength(whole)) });
      response.write(whole.slice(0, whole.length / 2), () => request.socket.destroy());
      return;
    }
    if (answers.location !== undefined) response.setHeader('location', answers.location);
    end(response, answers.status, answers.body ?? {});
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { key, id } = script;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    behaves,
    script,
    /** The link that the panel proved. */
    link: { key, panelUser: panelUserName(panel as PanelKind, id, key) },
    changes: () => asked.filter(({ method }) => method !== 'GET'),
    stop: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function end(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Sets a field in JSON by its path: `obj.client.enable`; a part that is absent is left alone. */
export function setIn(body: unknown, path: string, value: unknown): unknown {
  const names = path.split('.');
  const last = names.pop() ?? '';
  let at: unknown = body;
  for (const name of names) at = (at as Record<string, unknown> | null)?.[name];
  if (typeof at === 'object' && at !== null && Object.hasOwn(at, last)) {
    (at as Record<string, unknown>)[last] = value;
  }
  return body;
}
