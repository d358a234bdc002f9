/** Calls of the console about devices and messages of all providers, for operators. */

import { Type } from '@sinclair/typebox';
import { holds, OPERATE, SEND } from '../core/account/roles.ts';
import { forgetDevice } from '../core/device.ts';
import { searchDevices } from '../core/device-finding.ts';
import { blockMessage, findMessage, findWaiting } from '../core/message/waiting.ts';
import { Refused } from '../core/outcome.ts';
import type { Device } from '../core/port/device.ts';
import type { DistributionDetail } from '../core/port/distribution.ts';
import { DOMAIN_ACTIVE } from '../core/port/domain.ts';
import { codesAreKeys, shownCode } from '../core/secret-code.ts';
import { type Doer, sharedOperatorCall, watchCall } from './call.ts';
import { id, inputOf, nullable, text } from './inputs.ts';
import { rowOf } from './message-calls.ts';

const PAGE_COUNT = 50;
/** The wait for the removal of a device, s: it may be on many links. */
const FORGET_PATIENCE_SECONDS = 240;

const hwid = text(128);

const factsOf = ({ id: own, ...device }: Device) => ({ id: own, ...device });

const sendOf = (message: DistributionDetail) => ({
  ...rowOf(message),
  provider: message.providerCode,
  handedOverAtMs: message.handedOverAtMs,
});

export const operatorRecordCalls = {
  'devices.find': watchCall(
    inputOf({ search: hwid, beforeId: nullable(id) }),
    async ({ core }, { beforeId, search }) => {
      const found = await searchDevices(core, { search, beforeId, countMax: PAGE_COUNT });
      return { rows: found.devices.map(factsOf), nextId: found.nextId };
    },
  ),
  'devices.show': watchCall(inputOf({ hwid }), async ({ core, signedIn }, given) => {
    const { store } = core;
    const [found, refusals] = await Promise.all([
      store.findDevice(given.hwid),
      store.countRefusals(given.hwid),
    ]);
    if (found === null) return new Refused('device_not_found');
    const { device, installs, seenBy, tokens } = found;
    const mayAll = holds(SEND, signedIn.grants, null);
    const isWhole = ({ providerCode }: { providerCode: string }) =>
      mayAll || !codesAreKeys(core, providerCode);
    return {
      device: factsOf(device),
      links: installs.map((link) => ({
        ...link,
        installCode: isWhole(link) ? link.installCode : shownCode(link.installCode),
      })),
      tokens,
      refusals,
      domains: found.domains.map(({ status, ...domain }) => ({
        ...domain,
        isActive: status === DOMAIN_ACTIVE,
      })),
      seenBy: seenBy.map(({ lastSeenAtMs, providerCode }) => ({ lastSeenAtMs, providerCode })),
    };
  }),
  'devices.forget': sharedOperatorCall(
    OPERATE,
    ['device.forget'],
    { commands: ['device forget'] },
    inputOf({ hwid }),
    ({ core, grantPatience, nowMs }: Doer, given) => {
      grantPatience(FORGET_PATIENCE_SECONDS);
      return forgetDevice(core, given.hwid, nowMs);
    },
  ),
  'sends.list': watchCall(
    inputOf({ isUnfinished: Type.Boolean(), beforeId: nullable(id) }),
    async ({ core }, given) => {
      const filter = { ...given, providerCode: null, countMax: PAGE_COUNT };
      const rows = (await core.store.listAllDistributions(filter)).map(sendOf);
      return { rows, nextId: rows.length < PAGE_COUNT ? null : (rows.at(-1)?.id ?? null) };
    },
  ),
  'sends.show': watchCall(inputOf({ id }), async ({ core, nowMs }, given) => {
    const message = await findMessage(core, given.id);
    if (message === null) return new Refused('notification_not_found');
    return { ...sendOf(message), waiting: await findWaiting(core, message, nowMs) };
  }),
  'sends.block': sharedOperatorCall(
    OPERATE,
    ['distribution.block'],
    { commands: ['distribution block'] },
    inputOf({ id }),
    ({ core, nowMs }: Doer, given) => blockMessage(core, given.id, nowMs),
  ),
};
