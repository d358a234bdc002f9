/** Checks access to an endpoint, in this order: credentials, subscription, plan. */

import { opens } from '../core/account/keys.ts';
import type { Core } from '../core/core.ts';
import { authenticateDevice } from '../core/device.ts';
import { whyShownEnded } from '../core/message/ended.ts';
import { after, type Maybe } from '../core/port/maybe.ts';
import { authenticate, refusalByPlan } from '../core/provider.ts';
import { endedView } from './answer/ended-view.ts';
import type { Audience, Endpoint, Reply } from './endpoint.ts';
import type { MessageKey } from './messages.ts';
import type { CallDeps, IncomingCall } from './request/call.ts';

/** Authenticates the caller and stores it in the call. Returns a refusal; null: access granted. */
type Access = (call: IncomingCall) => Maybe<MessageKey | Reply<MessageKey> | null>;

const ACCESS: Readonly<Record<Audience, (endpoint: Endpoint, deps: CallDeps) => Access>> = {
  app: () => () => null,

  device:
    (_endpoint, { core }) =>
    (call) =>
      after(authenticateDevice(core, call.token, call.nowMs), (device) => {
        if (device === null) return refusalOfToken(core, call);
        call.device = device;
        if (!call.isShared) return null;
        return after(core.store.findShownLink(device.tokenId), (installId) => {
          if (installId !== null) call.isOfLink(installId, false);
          return null;
        });
      }),

  provider:
    ({ needs = 'main', plan }, { core }) =>
    (call) => {
      const { nowMs } = call;
      const [code, key] = [call.credential('provider_code'), call.credential('auth_key')];
      return after(authenticate(core, code, key, nowMs), (authentic) => {
        if (authentic === null) return 'auth_error';
        const { provider, keyHash, key } = authentic;
        call.provider = provider;
        call.keyHash = keyHash;
        call.key = key;
        if (!call.may(needs)) {
          const one = `one for '${needs}'`;
          const wants =
            needs === 'main'
              ? 'the main key'
              : opens('main', needs)
                ? `the main key or ${one}`
                : one;
          return {
            says: 'auth_error',
            detail: `auth_key is for '${key?.scope ?? 'main'}': this call needs ${wants}`,
          };
        }
        return refusalByPlan(provider, plan, nowMs);
      });
    },
};

/** Refuses the token of a call, with the reason if it ended with its last slot. */
export async function refusalOfToken(
  core: Core,
  {
    token,
    nowMs,
    languages,
    settings,
  }: Pick<IncomingCall, 'token' | 'nowMs' | 'languages' | 'settings'>,
): Promise<Reply<'device_token_error'>> {
  const says = 'device_token_error';
  const ended = await whyShownEnded(core, token, nowMs);
  if (ended === null) return { says };
  return { says, body: { ...endedView(ended, settings, languages) }, isGuess: false };
}

export function accessOf(endpoint: Endpoint, deps: CallDeps): Access {
  return ACCESS[endpoint.audience](endpoint, deps);
}
