/** Checks gateways: their files, and whether this machine reaches them. */

import { existsSync } from 'node:fs';
import { systemClock } from '../base/clock.ts';
import { about, type Finding } from '../base/finding.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config/settings/index.ts';
import { apnsEndpointOf, makeGateways, vapidFileOf } from '../gateway/gateways.ts';
import { readOutgoingFiles } from '../outgoing/authorities.ts';
import { type OutgoingCall, OutgoingFailure } from '../outgoing/call.ts';
import { Outgoing } from '../outgoing/outgoing.ts';
import type { DatabaseReport } from '../store/kind.ts';
import { checkOutgoingProxies, hasProxies, probe } from './outgoing-proxy.ts';

const say = about('gateways');
const MEND = "fix it: 'gatepost serve' does not start until then";
const RELOAD = "fix it, then run 'systemctl reload gatepost'; its pushes wait until then";
const FETCH =
  "restore the file from a backup: else 'gatepost serve' makes another key, and devices must subscribe again";

/** Settings that turn every gateway off. */
const NONE = {
  fcmServiceAccount: '',
  webpushSubject: '',
  apnsKeyFile: '',
  apnsKeyId: '',
  apnsTeamId: '',
  apnsTopic: '',
};

type Gateway = Pick<OutgoingCall, 'destination' | 'url'>;

const at = (destination: 'fcm' | 'apns', endpoint: string): Gateway => ({
  destination,
  url: `${endpoint}/`,
});

/** Finds gateways that are not set up and have pushes of providers in their queues. */
function checkUnset(waiting: DatabaseReport['waiting'], isSetUp: Record<string, boolean>) {
  const todo = 'set it up again, or wait: its pushes end with their messages';
  return waiting
    .filter(({ gateway }) => isSetUp[gateway] !== true)
    .map(({ gateway, count }) => {
      const what = `${count} pushes wait for ${gateway}, which is not set up`;
      return say.warning('gateway_not_set_up', what, todo, gateway);
    });
}

/**
 * Checks each configured gateway, and the proxies of outgoing calls. `stopped`: gateways that a
 * server stopped after they refused its credentials; `waiting`: the pushes of each gateway;
 * `hasSubscriptions`: true if devices use the VAPID key.
 */
export async function checkGateways(
  config: Config,
  {
    stopped,
    waiting,
    hasSubscriptions,
  }: Pick<DatabaseReport, 'stopped' | 'waiting' | 'hasSubscriptions'>,
  onDate: (who: string, date: string) => void = () => {},
): Promise<Finding[]> {
  const { fcmServiceAccount, fcmEndpoint, webpushSubject } = config;
  const { apnsKeyFile, apnsKeyId, apnsTeamId, apnsTopic } = config;
  const apns = { apnsKeyFile, apnsKeyId, apnsTeamId, apnsTopic };
  const hasApns = Object.values(apns).some((value) => value !== '');
  const [hasFcm, hasWebPush] = [fcmServiceAccount !== '', webpushSubject !== ''];
  const unset = checkUnset(waiting, { fcm: hasFcm, apns: hasApns, webpush: hasWebPush });
  if (!hasFcm && !hasWebPush && !hasApns && !hasProxies(config)) return unset;
  const outgoing = openOutgoing(config);
  if (!(outgoing instanceof Outgoing)) return [outgoing];
  /** Checks one gateway alone, so that each has its own finding. */
  const check = async (name: string, own: Partial<Config>, to: Gateway | null) => {
    const problem = problemOf({ ...config, ...NONE, ...own }, outgoing);
    if (problem !== null) return say.problem('gateway_invalid', problem, MEND, name);
    return to === null ? say.ok(`${name} is configured`) : reach(name, to, { outgoing, onDate });
  };
  const halted = stopped.map(({ gateway, problem }) =>
    say.problem('gateway_stopped', `${gateway} is stopped: ${problem}`, RELOAD, gateway),
  );
  try {
    const checked = await Promise.all([
      ...(hasFcm ? [check('FCM', { fcmServiceAccount }, at('fcm', fcmEndpoint))] : []),
      ...(hasApns ? [check('APNs', apns, at('apns', apnsEndpointOf(config)))] : []),
      ...(hasWebPush ? [checkWebPush(config, hasSubscriptions, check)] : []),
    ]);
    return [...halted, ...unset, ...checked, ...(await checkOutgoingProxies(config, outgoing))];
  } finally {
    outgoing.close();
  }
}

async function checkWebPush(
  config: Config,
  hasSubscriptions: boolean,
  check: (name: string, own: Partial<Config>, endpoint: null) => Promise<Finding>,
): Promise<Finding> {
  const path = vapidFileOf(config);
  // The usual check would create the file.
  if (!existsSync(path) && hasSubscriptions) {
    return say.problem(
      'vapid_key_missing',
      `devices have subscribed with a VAPID key, and ${path} is missing`,
      FETCH,
    );
  }
  if (!existsSync(path)) return say.ok(`Web Push is configured; 'gatepost serve' creates ${path}`);
  return check('Web Push', { webpushSubject: config.webpushSubject }, null);
}

function openOutgoing(settings: Config): Outgoing | Finding {
  try {
    const files = readOutgoingFiles(settings);
    return new Outgoing({ settings, clock: systemClock, files });
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return say.problem('vapid_key_invalid', error.message, MEND);
  }
}

function problemOf(settings: Config, outgoing: Outgoing): string | null {
  try {
    makeGateways(settings, { outgoing, clock: systemClock });
    return null;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return error.message;
  }
}

/** Sends a request to the gateway: any answer shows that it can be reached. */
async function reach(
  name: string,
  to: Pick<OutgoingCall, 'destination' | 'url'>,
  { outgoing, onDate }: { outgoing: Outgoing; onDate: (who: string, date: string) => void },
): Promise<Finding> {
  const isHttp2 = to.url.startsWith('https:');
  const answer = await probe(outgoing, { ...to, ...(isHttp2 && { http2: { pool: 'doctor' } }) });
  if (!(answer instanceof OutgoingFailure)) {
    const date = answer.header('date');
    if (date !== null) onDate(name, date);
    return say.ok(`${name} is configured, and answers`);
  }
  const todo = 'allow this machine to connect to it; pushes wait until then';
  return say.warning(
    'gateway_unreachable',
    `${name} cannot be reached: ${answer.problem}`,
    todo,
    name,
  );
}
