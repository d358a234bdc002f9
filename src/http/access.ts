/** Checks access to an endpoint, in this order: credentials, subscription, plan. */

import { opens } from '../core/account/keys.ts';
import { authenticateDevice } from '../core/device.ts';
import { after, type Maybe } from '../core/port/maybe.ts';
import { authenticate, refusalByPlan } from '../core/provider.ts';
import type { Audience, Endpoint } from './endpoint.ts';
import type { MessageKey } from './messages.ts';
import type { CallDeps, IncomingCall } from './request/call.ts';

interface Refusal {
  says: MessageKey;
  /** The detail for `x-error-detail`, instead of the message's own. */
  detail?: string;
}

/** Authenticates the caller and stores it in the call. Returns a refusal; null: access granted. */
type Access = (call: IncomingCall) => Maybe<MessageKey | Refusal | null>;

const ACCESS: Readonly<Record<Audience, (endpoint: Endpoint, deps: CallDeps) => Access>> = {
  app: () => () => null,

  device:
    (_endpoint, { core }) =>
    (call) =>
      after(authenticateDevice(core, call.token, call.nowMs), (device) => {
        if (device === null) return 'device_token_error';
        call.device = device;
        return null;
      }),

  provider:
    ({ needs = 'main', plan }, { core }) =>
    (call) => {
      const { nowMs } = call;
      const [code, key] = [call.credential('provider_code'), call.credential('auth_key')];
      return after(authenticate(core, code, key, nowMs), (authentic) => {
        if (authentic === null) return 'auth_error';
        const { provider, keyHash, scope } = authentic;
        call.provider = provider;
        call.keyHash = keyHash;
        if (!opens(scope, needs)) {
          const wants = needs === 'main' ? 'the main key' : `the main key or one for '${needs}'`;
          return {
            says: 'auth_error',
            detail: `auth_key is for '${scope}': this call needs ${wants}`,
          };
        }
        return refusalByPlan(provider, plan, nowMs);
      });
    },
};

export function accessOf(endpoint: Endpoint, deps: CallDeps): Access {
  return ACCESS[endpoint.audience](endpoint, deps);
}
