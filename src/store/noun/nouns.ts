/** The nouns of the store, each written once for both databases. */

import type { Maybe } from '../../core/port/maybe.ts';
import type { Store } from '../../core/port/store.ts';
import { GatheredSightings } from '../../core/sightings.ts';
import type { Backend } from '../backend.ts';
import { accountNoun } from './account.ts';
import { acknowledgementNoun } from './acknowledgement.ts';
import { auditNoun } from './audit.ts';
import { botNoun } from './bot.ts';
import { browserNoun } from './browser.ts';
import { CarriedStamps } from './carried.ts';
import { changeNoun } from './change.ts';
import { checkInNoun } from './check-in.ts';
import { countNoun } from './count.ts';
import { cutOffNoun } from './cut-off.ts';
import { deviceNoun } from './device.ts';
import { deviceMixNoun } from './device-mix.ts';
import { deviceSearchNoun } from './device-search.ts';
import { distributionNoun } from './distribution.ts';
import { domainNoun } from './domain.ts';
import { endedNoun } from './ended.ts';
import { eventNoun } from './event.ts';
import type { EventStatements } from './event-notes.ts';
import { figureNoun } from './figure.ts';
import type { FigureCounter } from './figure-counter.ts';
import { fillNoun } from './fill.ts';
import { followNoun } from './follow.ts';
import { forgettingNoun } from './forgetting.ts';
import { glanceNoun } from './glance.ts';
import { idempotencyNoun } from './idempotency.ts';
import { importNoun } from './import.ts';
import { inboxNoun } from './inbox.ts';
import { jobNoun } from './job.ts';
import { ledgerKeepingNoun } from './keeping.ts';
import { laneNoun } from './lane.ts';
import { ledgerNoun } from './ledger.ts';
import { linkNoun } from './link.ts';
import { linkEndNoun } from './link-end.ts';
import { linkJoinNoun } from './link-join.ts';
import { linkTieNoun } from './link-tie.ts';
import { linkViewNoun } from './link-view.ts';
import { messageNoun } from './message.ts';
import { modelNoun } from './model.ts';
import { myNoun } from './my.ts';
import { namedNoun } from './named.ts';
import { namedHwidNoun } from './named-hwid.ts';
import { outboxNoun } from './outbox.ts';
import { panelTieNoun } from './panel-tie.ts';
import { passkeyNoun } from './passkey.ts';
import { phoneNoun } from './phone-noun.ts';
import { providerNoun } from './provider.ts';
import { providerKeyNoun } from './provider-key.ts';
import { queueNoun } from './queue.ts';
import { receiptNoun } from './receipt.ts';
import { recipientNoun } from './recipient.ts';
import { refusedDeviceNoun } from './refused-device.ts';
import { registrationNoun } from './registration.ts';
import { remindNoun } from './remind.ts';
import { reminderNoun } from './reminder.ts';
import { reminderOpenNoun } from './reminder-open.ts';
import { remindingNoun } from './reminding.ts';
import { removalNoun } from './removal.ts';
import { rideNoun } from './ride.ts';
import { sessionNoun } from './session.ts';
import { sightingNoun } from './sighting.ts';
import { slotNoun } from './slot.ts';
import { strangerNoun } from './stranger.ts';
import { subscriptionFiguresNoun } from './subscription-figures.ts';
import { targetNoun } from './targets.ts';
import { timeNoun } from './time.ts';
import { tokenNoun } from './token.ts';
import { upkeepNoun } from './upkeep.ts';
import { upstreamNoun } from './upstream.ts';
import { webhookNoun } from './webhook.ts';

/** Counters of this process, and the statements of the notes of writes. */
interface NounParts {
  figures: FigureCounter;
  events: EventStatements;
  /** Makes blocks of all committed entries of the audit log. */
  seal(): Maybe<void>;
}

export function nounsOf(backend: Backend, { figures, events, seal }: NounParts) {
  const carried = new CarriedStamps();
  const { saveSightings, ...sightings } = sightingNoun(backend, new GatheredSightings());
  return {
    ...providerNoun(backend),
    ...providerKeyNoun(backend),
    ...botNoun(backend),
    ...accountNoun(backend),
    ...passkeyNoun(backend),
    ...sessionNoun(backend),
    ...checkInNoun(backend),
    ...deviceNoun(backend),
    ...deviceMixNoun(backend),
    ...deviceSearchNoun(backend),
    ...forgettingNoun(backend),
    ...countNoun(backend),
    ...changeNoun(backend),
    ...inboxNoun(backend),
    ...glanceNoun(backend),
    ...fillNoun(backend),
    ...reminderNoun(backend),
    ...remindingNoun(backend),
    ...remindNoun(backend),
    ...reminderOpenNoun(backend),
    ...acknowledgementNoun(backend),
    ...tokenNoun(backend),
    ...endedNoun(backend),
    ...registrationNoun(backend),
    ...modelNoun(backend),
    ...ledgerKeepingNoun(backend),
    ...idempotencyNoun(backend),
    ...strangerNoun(backend),
    ...targetNoun(backend),
    ...linkNoun(backend),
    ...linkViewNoun(backend),
    ...linkEndNoun(backend),
    ...namedHwidNoun(backend),
    ...linkJoinNoun(backend),
    ...linkTieNoun(backend),
    ...cutOffNoun(backend),
    ...jobNoun(backend),
    ...slotNoun(backend),
    ...phoneNoun(backend),
    ...timeNoun(backend),
    ...myNoun(backend),
    ...browserNoun(backend),
    ...removalNoun(backend),
    ...importNoun(backend),
    ...panelTieNoun(backend),
    ...followNoun(backend),
    ...domainNoun(backend),
    ...distributionNoun(backend),
    ...laneNoun(backend),
    ...recipientNoun(backend),
    ...namedNoun(backend),
    ...ledgerNoun(backend),
    ...messageNoun(backend),
    ...receiptNoun(backend),
    ...outboxNoun(backend),
    ...queueNoun(backend),
    ...eventNoun(backend, events),
    ...auditNoun(backend, seal),
    ...webhookNoun(backend),
    ...upkeepNoun(backend),
    ...upstreamNoun(backend),
    ...subscriptionFiguresNoun(backend),
    ...refusedDeviceNoun(backend),
    ...sightings,
    ...figureNoun(backend, figures, events, { carried, saveSightings }),
    ...rideNoun(backend, carried),
  } satisfies Partial<Store>;
}
