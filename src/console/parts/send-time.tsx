/** Times of sends: in UTC+3, as the API has them, and in the zone of the viewer. */

import { texts } from '../state.ts';

/** POSIX turns the sign around: this is UTC+3. */
const UTC3 = 'Etc/GMT-3';
const STYLE = { dateStyle: 'medium', timeStyle: 'short' } as const;

export function SendTime({ ms }: { ms: number }) {
  const text = (style: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(texts.tag, style).format(ms);
  const [theirs, own] = [text({ ...STYLE, timeZone: UTC3 }), text(STYLE)];
  const isSameDay = text({ dateStyle: 'medium', timeZone: UTC3 }) === text({ dateStyle: 'medium' });
  return (
    <time class="send-time" dateTime={new Date(ms).toISOString()}>
      <span>{texts.messages.utc3(theirs)}</span>
      {own !== theirs && (
        <small>{texts.messages.yours(isSameDay ? text({ timeStyle: 'short' }) : own)}</small>
      )}
    </time>
  );
}
