/** Texts about messages: titles, targets and states. */

import type { Got } from '../../call/table.ts';
import { texts } from '../state.ts';

type Message = Got<'messages.list'>['rows'][number];

const SYSTEMS: Readonly<Record<string, string>> = { android: 'Android', ios: 'iOS' };

/** The name of an action of commands. */
export const actionName = (action: string): string =>
  (texts.messages.actions as Readonly<Record<string, string>>)[action] ?? action;

export function titleOf({ action, id, title }: Message): string {
  if (action !== null) return actionName(action);
  return title === null ? `${texts.common.numbered(`${id}`)}, ${texts.messages.deleted}` : title;
}

type Aimed = Pick<Message, 'hwidCount' | 'hwids' | 'isByFilter' | 'os'>;

export function targetsOf({ hwidCount, hwids, isByFilter, os }: Aimed) {
  if (isByFilter) return texts.messages.toFilter;
  if (os === null) return hwidCount === 1 ? `${hwids[0]}` : texts.messages.toDevices(hwidCount);
  return texts.messages.toAll(systemsOf(os));
}

/** Returns the names of the devices, or their number if there are many. */
export function targetsInFull(shown: Aimed): string {
  const { hwidCount, hwids, isByFilter, os } = shown;
  if (os !== null || isByFilter) return targetsOf(shown);
  const named = hwids.join(', ');
  return hwidCount > hwids.length ? `${targetsOf(shown)}: ${named}, …` : named;
}

export function systemsOf(os: readonly string[]): string {
  return new Intl.ListFormat(texts.tag).format(os.map((one) => SYSTEMS[one] ?? one));
}

const LOOKS: Partial<Record<Message['state'], string>> = {
  sent: 'badge good',
  failed: 'badge bad',
  sent_with_errors: 'badge warm',
  loading: 'badge live',
  sending: 'badge live',
  at_gateways: 'badge live',
};

export function StateBadge({ state }: { state: Message['state'] }) {
  return <span class={LOOKS[state] ?? 'badge'}>{texts.messages.states[state]}</span>;
}
