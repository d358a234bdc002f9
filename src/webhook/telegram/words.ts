/** The form of a language in which Telegram is told of events: a file each. */

import type { EventKind, TEST_EVENT } from '../../core/port/event.ts';
import type { RefusalReason } from '../../core/port/figure.ts';

/** Lines under the title. */
type Label =
  | 'provider'
  | 'link'
  | 'device'
  | 'hwid'
  | 'newHwid'
  | 'places'
  | 'placesMax'
  | 'status'
  | 'changed'
  | 'reason'
  | 'refusals'
  | 'message'
  | 'messageKind'
  | 'recipients'
  | 'sent'
  | 'failed'
  | 'lastSeen'
  | 'timeLeft'
  | 'endsAt'
  | 'endedAt'
  | 'activeUntil'
  | 'quota'
  | 'used'
  | 'oldKeyUntil'
  | 'webhook'
  | 'gateway'
  | 'plan'
  | 'freeSpace'
  | 'time';

/** Things of a link or a provider that change, as `changed` in the data names them. */
type Changed =
  | 'install_limit'
  | 'status'
  | 'note'
  | 'inactive_days'
  | 'when_full'
  | 'cool_down_hours'
  | 'subscription_key'
  | 'plan'
  | 'active_until'
  | 'max_links'
  | 'name';

/** Values that are words. */
type Word =
  | RefusalReason
  | 'deleted'
  | 'forgotten'
  | 'active'
  | 'disabled'
  | 'notification'
  | 'command'
  | Changed
  | 'links'
  | 'domains'
  | 'kept_bytes'
  | 'ledger_rows';

export interface Words {
  /** The tag by which numbers and times are written. */
  tag: string;
  /** True: it is written from right to left. */
  isRightToLeft: boolean;
  /** Between a label and its value. */
  colon: string;
  /** Between the members of a list. */
  separator: string;
  /** Before the number of a record. */
  numberSign: string;
  /** How units of bytes are written out. */
  unitDisplay: 'short' | 'long';
  /** `$1` of `$2`. */
  of: string;
  /** The share behind that: `$1` is a percentage. */
  share: string;
  titles: Readonly<Record<EventKind | typeof TEST_EVENT | 'quota.near', string>>;
  labels: Readonly<Record<Label, string>>;
  values: Readonly<Record<Word, string>>;
  /** The text under the title of a try. */
  welcome: string;
}
