/** `gatepost doctor --notify`: sends new findings to the operator's chats and webhooks. */

import type { Finding } from '../base/finding.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Core } from '../core/core.ts';
import { counted } from '../core/counted.ts';
import type { Found } from '../core/event/finding-news.ts';
import { findingTakers, notifyFigures, notifyFindings } from '../core/event/notify.ts';
import type { Delivery, Webhook } from '../core/port/webhook.ts';
import { type CliContext, type CommonOptions, print, settingsFor, withCore } from './context.ts';

interface NotifyOptions extends CommonOptions {
  figures?: boolean;
}

/** The deliveries that are looked at: more than a run makes. */
const DELIVERIES_MAX = 50;
const OF_DOCTOR = /^doctor\./;
const NO_TAKER = [
  'no chat or webhook of the operator gets the findings of the doctor:',
  "'gatepost webhook add --telegram CHAT --token-file FILE' adds one;",
  'its --events need doctor.found and doctor.over',
].join(' ');

/**
 * Sends news of findings without names, and prints their number. Throws `OperatorError` if no chat
 * gets them, or one did not get them: then this output alone has them.
 */
export async function notify(
  context: CliContext,
  options: NotifyOptions,
  findings: readonly Finding[],
): Promise<void> {
  const sent = await withCore(context, options, async (core, config) => {
    const takers = await findingTakers(core);
    if (takers.length === 0) throw new OperatorError(NO_TAKER);
    const machine = await context.machineOf(config);
    const news = await notifyFindings(core, machine, foundIn(findings), context.nowMs());
    const hasFigures = options.figures ? await notifyFigures(core, context.nowMs()) : false;
    await send(context, options, core, takers);
    return news + (hasFigures ? 1 : 0);
  });
  if (sent > 0 || options.json) print(context, options, { sent }, counted(sent, 'message'));
}

/** Returns the problems and warnings. */
function foundIn(findings: readonly Finding[]): Found[] {
  return findings.flatMap(({ level, todo, ...finding }) =>
    level === 'ok' ? [] : [{ ...finding, level, todo: todo ?? '' }],
  );
}

async function send(
  context: CliContext,
  options: CommonOptions,
  core: Core,
  takers: readonly Webhook[],
): Promise<void> {
  const ids = takers.map(({ id }) => id);
  const before = await statesOf(core, ids, 'waiting');
  const mayWait = new Set(before.map(({ key }) => key));
  if (before.length > 0) {
    const { eventSenders, close } = await context.openEventSenders(settingsFor(context, options));
    // After an attempt that failed the next one is later.
    const isDone = async () =>
      (await statesOf(core, ids, 'waiting')).every((one) => one.stateAtMs > context.nowMs());
    await context
      .sendEvents(core, settingsFor(context, options), eventSenders, isDone)
      .finally(close);
  }
  const failed = await statesOf(core, ids, 'failed');
  const lost = [
    ...failed.filter(({ key }) => mayWait.has(key)),
    ...(await statesOf(core, ids, 'waiting')),
  ];
  const [first] = lost;
  if (first === undefined) return;
  const why = first.problem ?? 'no answer yet';
  const next = first.state === 'failed' ? 'it is not sent again' : 'it waits for the next attempt';
  throw new OperatorError(`webhook ${first.id} did not get ${first.kind}: ${why}; ${next}`);
}

/** Lists the events of the doctor in a state, with their webhooks. */
async function statesOf(core: Core, ids: readonly number[], state: Delivery['state']) {
  const lists = await Promise.all(
    ids.map(async (id) => {
      const deliveries = await core.store.listDeliveries(id, state, null, DELIVERIES_MAX);
      return deliveries
        .filter(({ kind }) => OF_DOCTOR.test(kind))
        .map((delivery) => ({ ...delivery, id, key: `${id} ${delivery.eventId}` }));
    }),
  );
  return lists.flat();
}
