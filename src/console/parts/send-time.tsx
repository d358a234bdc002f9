/** Times of sends: in UTC+3, as in the API, and in the viewer's zone. */

import { texts } from '../state.ts';
import { date, kept, time } from './format.ts';

/** UTC+3: POSIX inverts the sign. */
const UTC3 = 'Etc/GMT-3';
const [timeStyle, dateStyle] = ['short', 'medium'] as const;

const theirTimes = kept(
  (tag) => new Intl.DateTimeFormat(tag, { dateStyle, timeStyle, timeZone: UTC3 }),
);
const theirDates = kept((tag) => new Intl.DateTimeFormat(tag, { dateStyle, timeZone: UTC3 }));
const clocks = kept((tag) => new Intl.DateTimeFormat(tag, { timeStyle }));

export function SendTime({ ms }: { ms: number }) {
  const [theirs, own] = [theirTimes().format(ms), time(ms)];
  const isSameDay = theirDates().format(ms) === date(ms);
  return (
    <time class="send-time" dateTime={new Date(ms).toISOString()}>
      <span>{texts.messages.utc3(theirs)}</span>
      {own !== theirs && (
        <small>{texts.messages.yours(isSameDay ? clocks().format(ms) : own)}</small>
      )}
    </time>
  );
}
