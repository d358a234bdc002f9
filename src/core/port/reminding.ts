/** The course of subscriptions, the rounds of reminders and their ledger: part of the port. */

import type { Act } from './audit.ts';
import type { Page } from './page.ts';
import type { Provider } from './provider.ts';
import type { PushGateway } from './registration.ts';
import type { Reminder, ReminderKind } from './reminder.ts';
import type { RideRules } from './ride.ts';
import type { KeptFigures } from './subscription-figures.ts';

/** The periods of a subscription, and what events said of the present one. */
export interface Course {
  /** When the period began: at the first read, or with a renewal that two reads agree on. */
  periodAtMs: number;
  /** When its traffic last began again at nothing. */
  trafficAtMs: number;
  /** When a read last renewed it, or made it end soon; null: none did. */
  movedAtMs: number | null;
  /** When an event last said that it was renewed; null: none did. */
  renewalToldAtMs: number | null;
  /** The fewest hours before the end that an event told, 0 at the end; null: none. */
  toldHours: number | null;
  /** The largest share of the traffic that an event told, per cent; null: none. */
  toldPercent: number | null;
}

/** The figures of a link with their course. */
export interface CourseFigures extends KeptFigures, Course {
  installId: number;
}

/** A reminder of a provider's as passes read it. */
export type Rule = Pick<Reminder, 'id' | 'kind' | 'amount'>;

/** A link whose devices may be due for a reminder. */
export interface Wanted {
  installId: number;
  reminderId: number;
  /** When the period began in which each device gets it once. */
  period: number;
}

/** A link that no app has fetched for some days. */
export interface SilentLink {
  installId: number;
  /** When an app last called with it. */
  seenAtMs: number;
}

/** The message of a reminder on a UTC day. */
export interface NewRound {
  reminderId: number;
  /** Days since 1970. */
  reminderDay: number;
  /** JSON. */
  payload: string;
  expiresAtMs: number;
}

/** The messages and bounds of a step that sends reminders. */
export interface Remind {
  /** Of reminders that may be sent now; the first message of a day stays that of its round. */
  rounds: readonly NewRound[];
  /** Most messages of a provider that wait for one device. */
  waitingMax: number;
  gateways: readonly PushGateway[];
  rides: RideRules;
}

/** A reminder that a device has. */
export interface OpenReminder {
  reminderId: number;
  deviceId: number;
  period: number;
  installId: number;
  distributionId: number | null;
  sentAtMs: number;
  kind: ReminderKind | null;
  amount: number | null;
  /** The figures of its link; null: none are kept. */
  figures: KeptFigures | null;
}

/** The key of a row of the ledger. */
type OpenKey = Pick<OpenReminder, 'reminderId' | 'deviceId' | 'period'>;

/** Whether the reminders of a provider go on. */
interface Standing {
  /** When they stopped because many links moved at once; null: they go on. */
  stoppedAtMs: number | null;
  /** The links that had moved then, and all with figures; null: they go on. */
  stoppedMoved: number | null;
  stoppedLinks: number | null;
}

/** A provider whose links a pass goes over. */
export interface RemindedProvider extends Standing {
  provider: Provider;
  /** Links that moved since a time, and all with figures. */
  movedCount: number;
  linkCount: number;
}

/** The lease of passes. */
export interface PassLease {
  owner: string;
  nowMs: number;
  leaseMs: number;
}

/** A reminder on a UTC day, with its counts. */
export interface Round {
  id: number;
  reminderId: number;
  /** Null: the reminder was removed. */
  kind: ReminderKind | null;
  amount: number | null;
  /** The UTC day, as days since 1970. */
  day: number;
  /** Devices that it was sent to, and those of them whose inbox was full or gateway refused. */
  recipientCount: number;
  failedCount: number;
  /** Devices of it that got it: they fetched it, a gateway took it, or it rode. */
  gotCount: number;
  /** Devices for which it ended before they got it, as it no longer held: the user paid, say. */
  endedCount: number;
}

export interface RemindingStore {
  /**
   * Finds the next provider after one, by id, that keeps figures and has something to send, to tell
   * or to end. Null: there is none. `movedSinceMs`: see `movedCount`.
   */
  nextReminded(afterId: number, movedSinceMs: number): Promise<RemindedProvider | null>;
  /** Claims a pass, or renews the claim; false: another worker has it. */
  claimPass(providerId: number, lease: PassLease): Promise<boolean>;
  /** Ends the claim of a pass. */
  endPass(providerId: number, owner: string): Promise<void>;
  /** Finds whether the reminders of a provider go on. */
  findReminding(providerId: number): Promise<Standing>;
  /** Stops the reminders of a provider, with an event. Returns false if they had stopped. */
  stopReminders(
    providerId: number,
    counts: { moved: number; links: number },
    nowMs: number,
  ): Promise<boolean>;
  /** Lets the reminders of a provider go on. Returns false if they had not stopped. */
  resumeReminders(providerId: number, act: Act): Promise<boolean>;
  /** Lists links with figures after one, by id. */
  listCourses(providerId: number, afterId: number, countMax: number): Promise<CourseFigures[]>;
  /** Adds the events that are due for some links, by the rule `courseNews`. */
  tellCourses(
    providerId: number,
    installIds: readonly number[],
    rules: readonly Rule[],
    nowMs: number,
  ): Promise<void>;
  /**
   * Lists links after one, by id, that were last called with in a time, and by no app since; those
   * whose subscription has ended are left out.
   */
  listSilent(
    providerId: number,
    seen: { fromMs: number; untilMs: number },
    nowMs: number,
    afterId: number,
    countMax: number,
  ): Promise<{ links: SilentLink[]; nextId: number | null }>;
  /** Returns those that have a device which is due: see {@link remind}. */
  listUnreminded(providerId: number, wanted: readonly Wanted[], nowMs: number): Promise<Wanted[]>;
  /**
   * Sends reminders to the devices of some links, in the rounds of the day, if they are due still.
   * A device is due on its home link, where it has a slot, once in a period, and within the bounds
   * of core/reminder-rules.ts. Returns the devices that got a message.
   */
  remind(
    providerId: number,
    wanted: readonly Wanted[],
    nowMs: number,
    how: Remind,
  ): Promise<{ deviceIds: number[] }>;
  /** Lists reminders that devices have, after a link, by link; null: the end. */
  listOpenReminders(
    providerId: number,
    afterInstallId: number,
    countMax: number,
  ): Promise<{ open: OpenReminder[]; nextId: number | null }>;
  /** Takes reminders out of inboxes, answers and the outbox. */
  endReminders(providerId: number, keys: readonly OpenKey[], nowMs: number): Promise<void>;
  /** Lists the rounds of a provider, newest first. */
  listRounds(providerId: number, page: Omit<Page, 'id'>): Promise<Round[]>;
  /** Deletes some rows of the ledger that ended and were sent before. False: there were none. */
  forgetReminded(sentBeforeMs: number): Promise<boolean>;
}
