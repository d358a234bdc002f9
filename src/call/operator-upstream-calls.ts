/** Calls of the console about upstreams of the gate. */

import { Type } from '@sinclair/typebox';
import { OPERATE } from '../core/account/roles.ts';
import { Refused } from '../core/outcome.ts';
import { type Owner, operatorCall, sharedOperatorCall, watchCall } from './call.ts';
import { inputOf, text } from './inputs.ts';

/** The most characters of a value: those of a URL in the configuration. */
const VALUE_LENGTH_MAX = 2_048;
const MORE_LENGTH_MAX = 4_096;
const KEY_COUNT_MAX = 40;
/** The wait for a check, s. */
const CHECK_PATIENCE_SECONDS = 20;
const value = Type.Union([text(VALUE_LENGTH_MAX), Type.Number(), Type.Boolean()]);
const upstream = {
  keys: Type.Record(
    text(32),
    Type.Union([value, Type.Array(text(VALUE_LENGTH_MAX), { maxItems: KEY_COUNT_MAX })]),
    { maxProperties: KEY_COUNT_MAX },
  ),
  /** Further keys, as lines of a configuration file. */
  more: text(MORE_LENGTH_MAX),
};
const given = inputOf(upstream);

export const operatorUpstreamCalls = {
  'upstreams.list': watchCall(inputOf({}), ({ appliance }) => appliance.upstreams.list()),
  'upstreams.check': sharedOperatorCall(
    OPERATE,
    [],
    // A check makes outgoing calls, like a test of a webhook.
    { often: 'webhookTests' },
    given,
    ({ admits, appliance, grantPatience, nowMs, signedIn }: Owner, { keys, more }) => {
      if (!admits()) return new Refused('too_many_requests');
      grantPatience(CHECK_PATIENCE_SECONDS);
      return appliance.upstreams.check({ keys, more }, signedIn.session.id, nowMs);
    },
  ),
  'upstreams.put': operatorCall(
    ['upstream.add', 'upstream.update'],
    inputOf({ ...upstream, isNew: Type.Boolean() }),
    ({ appliance, core, nowMs }, { isNew, ...keys }) =>
      appliance.upstreams.put(core, keys, isNew, nowMs),
  ),
  'upstreams.remove': operatorCall(
    ['upstream.remove'],
    inputOf({ host: text(253) }),
    ({ appliance, core, nowMs }, { host }) => appliance.upstreams.remove(core, host, nowMs),
  ),
};
