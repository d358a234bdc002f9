/** The form of a scenario, and the words in which its "given" is told. */

import type { Plan } from '../../../src/core/port/provider.ts';
import type { Store } from '../../../src/core/port/store.ts';
import type { Credentials } from '../../../src/core/provider.ts';
import { hashKey } from '../../../src/core/secret.ts';
import type { MessageKey } from '../../../src/http/messages.ts';
import { ACT } from '../../support/actor.ts';
import { call, type TestApp, type TestAppOptions } from '../../support/app.ts';
import type { FaultyMethod } from '../../support/faults.ts';

/** The caller, and another provider whose things are none of the caller's business. */
export const OWN: Credentials = { code: 'Provide1', authKey: 'own-key_own-key_own-key_own-key_' };
export const FOREIGN: Credentials = {
  code: 'Foreign2',
  authKey: 'other-key_other-key_other-key_12',
};

export const CODE = 'LinkCode0001';
export const OTHER_CODE = 'LinkCode0002';
export const HASH = 'a'.repeat(64);
export const OTHER_HASH = 'b'.repeat(64);
export const HWID = 'hwid-1';

/** One thing that is so before the request. */
export type Given = (app: TestApp) => Promise<void>;

export interface Scenario {
  name: string;
  path: string;
  /** Settings that differ from the usual ones: the scenario gets an appliance of its own. */
  options?: TestAppOptions;
  /** It gets an appliance of its own, because it uses up what the server counts in memory. */
  isAlone?: true;
  /** The answer of the endpoint's record that the scenario provokes. */
  says: MessageKey;
  given?: readonly Given[];
  /** The query; {@link OWN} credentials go with it on endpoints for providers. */
  request: Readonly<Record<string, string | number>>;
  credentials?: Credentials | null;
  headers?: Readonly<Record<string, string>>;
  /** The JSON of a POST; a text goes out as it is. Absent: it is a GET. */
  body?: unknown;
  /** The method that gives way, with a fault of ours or because nothing can be saved. */
  fault?: { method: FaultyMethod; kind: 'broken' | 'write_failed' };
  /** The whole body; {@link DRAWN_TOKEN} stands for a device token that was drawn. */
  answer: string;
  /** The whole `x-error-detail`; for a fault, what precedes its id. Absent: there is no header. */
  detail?: string;
  /** Answer headers beside the usual ones. */
  answerHeaders?: Readonly<Record<string, string>>;
  /** Every change in the database; all else must stay as it was. Absent: nothing changes. */
  changed?: readonly string[];
}

/** How a body goes out. */
export const posted = (body: unknown): RequestInit =>
  body === undefined
    ? {}
    : { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) };

export const asked =
  (
    path: string,
    credentials: Credentials | null,
    query: Record<string, string | number>,
    body?: unknown,
  ): Given =>
  async (app) => {
    const reply = await call(app, path, credentials, query, posted(body));
    if (reply.json.rc === 0) throw new Error(`given ${path}: ${reply.text}`);
  };

export const aLink = (install_code = CODE, install_limit = 2, by = OWN): Given =>
  asked('/api/add-install', by, { install_code, install_limit, note: 'note' });
export const aDisabledLink = (id: number): Given =>
  asked('/api/update-install', OWN, { id, status: 5 });
export const aBinding = (domain_hash = HASH, by = OWN): Given =>
  asked('/api/add-domain', by, { domain_hash, domain_name: 'shop' });
export const aDeletedBinding = (id: number): Given => asked('/api/delete-domain', OWN, { id });
/** Needs {@link aLink} and {@link aBinding}. */
export const aDevice = (hwid = HWID, installid = CODE, id = HASH): Given =>
  asked('/install', null, { id, installid, hwid, device_model: 'Pixel 9', os_name: 'Android' });

export const aSuspendedProvider: Given = async (app) => {
  await app.core.store.updateProvider(OWN.code, { suspendedAtMs: app.clock.nowMs() }, ACT);
};
export const aCapOfLinks =
  (installCountMax: number): Given =>
  async (app) => {
    await app.core.store.updateProvider(OWN.code, { installCountMax }, ACT);
  };
export const timePasses =
  (ms: number): Given =>
  async (app) =>
    app.clock.advance(ms);

export const onPlan =
  (plan: Plan): Given =>
  async (app) => {
    await app.core.store.updateProvider(OWN.code, { plan }, ACT);
  };
/** What was accepted is delivered. */
export const delivered: Given = (app) => app.deliver();

/** Stands for the new code of a link. */
export const DRAWN_CODE = '(drawn)';
export const DRAWN_TOKEN = '"device_token":"(drawn)"';

/** A token that a device has, without the randomness. */
export const TOKEN = 'T'.repeat(43);
export const OTHER_TOKEN = 'O'.repeat(43);
/** The ids of {@link OWN} and {@link FOREIGN}. */
export const OWN_ID = 1;
export const FOREIGN_ID = 2;

/** A device that registered for messages: with its link, if it is on one that lets it. */
export const aRegisteredDevice =
  (hwid = HWID, token = TOKEN): Given =>
  async (app) => {
    const { store } = app.core;
    const link = (await store.findDevice(hwid))?.installs.at(-1);
    const silent = { osVersion: '', deviceName: '', appVersion: '', userAgent: '' };
    const registered = await store.registerDevice({
      hwid,
      facts: { os: 'android', ...silent },
      locale: null,
      push: null,
      shown: link
        ? { kind: 'link', installCode: link.installCode, domainHash: HASH }
        : { kind: 'nothing', providerCode: null },
      tokenHash: hashKey(token),
      heldTokenHash: null,
      nowMs: app.clock.nowMs(),
    });
    if (typeof registered === 'string') throw new Error(`given ${hwid}: ${registered}`);
  };

/** The slot of the device is freed: needs a link with it. */
export const aFreedSlot = (hwid = HWID): Given =>
  asked('/api/delete-hwid', OWN, { install_code: CODE, hwid });
/** What its token, which has no other place, is answered from then on. */
export const FREED_ANSWER = JSON.stringify({
  rc: 0,
  msg: 'Device token error',
  reason: 'slot_freed',
  at: '2026-11-20 15:00:00',
  text: 'This device was removed from the subscription. To use it again, add the subscription again.',
});

/** What every endpoint for providers answers to who has no access, and when the store gives way. */
export function gateScenarios(
  path: string,
  request: Scenario['request'],
  given: readonly Given[],
  method: keyof Store,
  body?: unknown,
): Scenario[] {
  const wrong = { ...OWN, authKey: 'x'.repeat(32) };
  return [
    {
      name: 'a wrong key',
      path,
      says: 'auth_error',
      given,
      request,
      body,
      credentials: wrong,
      answer: '{"rc":0,"msg":"Auth error"}',
      detail: 'provider_code and auth_key are not those of a provider',
    },
    {
      name: 'a suspended provider',
      path,
      says: 'subscription_required',
      given: [...given, aSuspendedProvider],
      request,
      body,
      answer: '{"rc":0,"msg":"This feature requires an active subscription"}',
      detail: 'the subscription has ended or is suspended',
    },
    { ...brokenStore(path, request, given, method), body },
  ];
}

export function brokenStore(
  path: string,
  request: Scenario['request'],
  given: readonly Given[],
  method: FaultyMethod,
): Scenario {
  return {
    name: `a fault of ours in ${method}`,
    path,
    says: 'unknown_error',
    given,
    request,
    fault: { method, kind: 'broken' },
    answer: '{"rc":0,"msg":"Unknown error"}',
    detail: 'internal fault ',
  };
}
