/** Ends of slots and links, as devices read them: by poll, stream and refusal. */

import { type Ended, type EndWord, readEnded } from '../../core/port/ended.ts';
import type { WireSettings } from '../endpoint.ts';
import { textIn } from '../gate/texts.ts';
import { bodyOf } from './respond.ts';
import { wireTime } from './wire-time.ts';

type Settings = Pick<WireSettings, 'outputOffsetMinutes' | 'gateTexts' | 'gateLanguage'>;

/** An end on the wire: nothing but reason and time, and the reason in words. */
interface EndedView {
  reason: EndWord;
  at: string;
  text: string;
}

/** Maps an end: the fields of the refusal of a token that ended with its last slot. */
export function endedView(
  { why, atMs }: Ended,
  settings: Settings,
  languages: readonly string[],
): EndedView {
  const { text } = textIn(settings, why, languages);
  return { reason: why, at: wireTime(atMs, settings.outputOffsetMinutes), text };
}

/** Maps the ends of which a token has not been notified, the newest of each reason. */
export function endedViews(
  ended: string,
  settings: Settings,
  languages: readonly string[],
): EndedView[] {
  const newest = new Map(readEnded(ended).map((one) => [one.why, one]));
  return [...newest.values()].map((one) => endedView(one, settings, languages));
}

/** Returns the refusal of such a token as a text. */
export const refusedText = (ended: Ended, settings: Settings, languages: readonly string[]) =>
  bodyOf('device_token_error', { ...endedView(ended, settings, languages) });
