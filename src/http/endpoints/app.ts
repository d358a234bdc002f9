/** The two calls of existing apps; the bodies of the answers are an addition of Gatepost. */

import { type TString, Type } from '@sinclair/typebox';
import { checkIn, STANDINGS } from '../../core/device.ts';
import { DEVICE_FACTS } from '../../core/device-facts.ts';
import { readDeviceInfo } from '../../core/device-info.ts';
import { admitDevice } from '../../core/door.ts';
import { HWID, PROVIDER_CODE } from '../../core/formats.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import { INSTALL_ACTIVE } from '../../core/port/link.ts';
import { appEndpoint, optional, type Values } from '../endpoint.ts';
import {
  anyText,
  CODE_EXAMPLE,
  choice,
  HASH_EXAMPLE,
  HWID_EXAMPLE,
  LimitField,
  PROVIDER_EXAMPLE,
} from './params.ts';
import { replyWith } from './reply.ts';

/** Makes a parameter; no value of a fact refuses a device. */
const fact = (header: string, rule: string, example?: string) =>
  optional<TString, never>(anyText(rule), { misfit: null, header, ...(example && { example }) });

type FactParams = {
  [F in keyof DeviceFacts as (typeof DEVICE_FACTS)[F]['parameter']]: ReturnType<typeof fact>;
};

const ownFacts = Object.fromEntries(
  Object.values(DEVICE_FACTS).map(({ parameter, header, about, ...row }) => [
    parameter,
    fact(header, about, 'example' in row ? row.example : undefined),
  ]),
) as FactParams;

/** HWID and facts come from headers, else from the query. */
export const factParams = {
  hwid: optional(anyText(HWID.rule), {
    misfit: 'hwid_required',
    header: 'x-hwid',
    example: HWID_EXAMPLE,
  }),
  ...ownFacts,
  device_info: fact('x-device-info', 'the facts of older apps, in one text'),
};

/** The HWID of a device and its facts. */
export interface DeviceWords {
  hwid: string | null;
  facts: DeviceFacts;
}

/** Returns HWID and facts; those in `device_info` count if they are not given otherwise. */
export function wordsOf(params: Values<typeof factParams>): DeviceWords {
  const older = params.device_info === null ? null : readDeviceInfo(params.device_info);
  return {
    hwid: params.hwid ?? (older?.hwid || null),
    facts: {
      os: params.os_name ?? older?.os ?? '',
      osVersion: params.os_version ?? older?.osVersion ?? '',
      deviceName: params.device_model ?? older?.deviceName ?? '',
      appVersion: params.app_version ?? older?.appVersion ?? '',
      userAgent: params.user_agent ?? older?.userAgent ?? '',
    },
  };
}

const linkEndpoint = appEndpoint({
  method: 'GET',
  path: '/install',
  olderPath: '/api/install',
  summary: 'Admit a device to a limited link',
  description:
    'Called when a link is added to an app: admits the device, if a slot is free, and registers its HWID on the link. A HWID on the link takes no second slot. The subscription of the provider need not be active.',
  params: {
    ...factParams,
    id: optional(anyText('the SHA-256 of a domain'), {
      misfit: 'link_not_found',
      about: "It must be actively bound to the link's provider: without one there is no link.",
      olderHeader: 'x-domain-hash',
      example: HASH_EXAMPLE,
    }),
    installid: optional(anyText('the code of a limited link'), {
      misfit: 'link_not_found',
      example: CODE_EXAMPLE,
    }),
  },
  fields: {
    ok: {
      provider_id: Type.RegExp(PROVIDER_CODE.pattern, { examples: [PROVIDER_EXAMPLE] }),
      status: Type.Literal(INSTALL_ACTIVE),
      install_limit: LimitField,
      install_count: Type.Integer({ minimum: 1, examples: [1] }),
    },
  },
  headers: { 'x-hwid-active': 'true' },
  says: ['ok', 'hwid_required', 'link_not_found', 'link_disabled', 'link_limit_reached'],
  handle({ core, params, nowMs, clientParts }) {
    const { id: domainHash, installid: installCode } = params;
    const { hwid, facts } = wordsOf(params);
    const key = { hwid, domainHash, installCode, ...clientParts, door: 'install' as const };
    return replyWith(admitDevice(core, key, facts, nowMs), (link) => ({
      provider_id: link.providerCode,
      status: link.status,
      install_limit: link.installLimit,
      install_count: link.deviceCount,
    }));
  },
});

const providerEndpoint = appEndpoint({
  method: 'GET',
  path: '/provider',
  olderPath: '/api/provider',
  summary: "A device's daily check with its provider",
  description:
    'Called by apps once a day. With the hash of an active binding the device becomes linked to the provider; without one, or with an unbound one, it is only noted as seen. A repetition on the same UTC day without a new link writes nothing.',
  params: {
    ...factParams,
    id: optional(anyText('a provider_code'), {
      misfit: 'provider_not_found',
      example: PROVIDER_EXAMPLE,
    }),
    domain_hash: optional<TString, never>(anyText('the SHA-256 of a domain'), {
      misfit: null,
      olderHeader: 'x-domain-hash',
      example: HASH_EXAMPLE,
    }),
  },
  fields: {
    ok: {
      status: choice(
        STANDINGS,
        '`extended` for a device that is linked to the provider, by a slot or by an active binding; `basic` for one that is only seen.',
      ),
    },
  },
  says: ['ok', 'hwid_required', 'provider_not_found'],
  handle({ core, params, nowMs, limits, client }) {
    const { id: providerCode, domain_hash: domainHash } = params;
    const { hwid, facts } = wordsOf(params);
    const admitsNew = () => limits.registrations.admits(client(), nowMs);
    const call = { hwid, providerCode, domainHash };
    return replyWith(checkIn(core, call, facts, nowMs, admitsNew), ({ standing }) => ({
      status: standing,
    }));
  },
});

export const appEndpoints = [linkEndpoint, providerEndpoint];
