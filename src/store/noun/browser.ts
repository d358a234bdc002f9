/**
 * Browsers that receive a provider's messages on the page of a link, and the messages they
 * received.
 */

import { mergeFacts } from '../../core/device.ts';
import { BLOCKED } from '../../core/message/status.ts';
import type { BrowserMessage, BrowserStore } from '../../core/port/browser.ts';
import { PUSH } from '../../core/port/distribution.ts';
import { INSTALL_ACTIVE } from '../../core/port/link.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql } from '../statement-text.ts';
import { literal } from '../status.ts';
import { knownDeviceSteps } from './known-device.ts';
import { parsed } from './rows.ts';
import { tokenStatements } from './token.ts';

function statements(backend: Backend) {
  const { prepare, join, once } = backend;
  const ofLink = sql`browser_install_id = :installId`;
  return {
    /** The link, if it takes browsers. */
    link: prepare(sql`
        SELECT ${columns({ o: 'provider' }, 'o.id AS providerId')}
        FROM install i ${join} provider o ON o.id = i.provider_id
        WHERE i.id = :installId AND i.status = ${INSTALL_ACTIVE} AND o.my = 1`),
    ofLink: prepare(sql`
        SELECT ${columns('device_provider', 'deviceId')}
        FROM device_provider WHERE ${ofLink} ORDER BY device_id`),
    /** The browser with a token, and its link. */
    tied: prepare(sql`
        SELECT ${columns(
          { t: 'device_token', p: 'device_provider' },
          'p.deviceId, t.id AS tokenId, p.browserInstallId! AS installId',
        )}
        FROM device_token t ${join} device_provider p ON p.token_id = t.id
        WHERE t.token_hash = :tokenHash AND p.browser_install_id IS NOT NULL`),
    tie: prepare(sql`
        UPDATE device_provider SET browser_install_id = :installId, tie_count = tie_count + 1,
          token_id = :tokenId, is_by_link = 1, claim_install_id = :installId,
          after_recipient_id = (SELECT coalesce(max(id), 0) FROM recipient),
          after_slot_id = (SELECT coalesce(max(id), 0) FROM install_device)
        WHERE device_id = :deviceId AND provider_id = :providerId`),
    untie: prepare(sql`
        UPDATE device_provider
        SET browser_install_id = NULL, token_id = NULL, tie_count = tie_count - 1
        WHERE device_id = :deviceId AND browser_install_id IS NOT NULL`),
    news: prepare(sql`
        SELECT ${columns({ x: 'distribution' }, 'x.id, x.createdAtMs, x.payload')}
        FROM device_token t ${join} device_provider p ON p.token_id = t.id
          ${join} recipient r ON r.device_id = p.device_id AND r.inbox = p.provider_id
            AND r.id > p.after_recipient_id
          ${join} distribution x ON x.id = r.distribution_id
        WHERE t.token_hash = ${once('tokenHash')} AND p.browser_install_id IS NOT NULL
          AND r.sent_at_ms IS NOT NULL AND x.notification_type = ${PUSH}
          AND x.status <> ${literal(BLOCKED)} AND x.expires_at_ms > ${once('nowMs')}
          AND x.pruned_at_ms IS NULL
        ORDER BY r.id DESC LIMIT ${once('countMax')}`),
  };
}

export function browserNoun(backend: Backend): BrowserStore {
  const on = statements(backend);
  const tokens = tokenStatements(backend);
  const known = knownDeviceSteps(backend);

  function* untie(notes: Notes, deviceIds: readonly number[]): Step<void> {
    yield* backend.lockRows({ device: deviceIds });
    for (const deviceId of deviceIds) yield* on.untie.run({ deviceId });
    notes.changed(deviceIds);
  }

  return {
    registerBrowser: ({ installId, hwid, facts, countMax, nowMs, heldTokenHash, ...given }) =>
      backend.write(function* (notes) {
        yield* backend.lockRows({ install: [installId] });
        const link = yield* on.link.get({ installId });
        if (link === null) return 'link_not_found';
        const { providerId } = link;
        const row = { ...given, push: JSON.stringify(given.push), nowMs };
        const held = heldTokenHash && (yield* on.tied.get({ tokenHash: heldTokenHash }));
        if (held && held.installId === installId) {
          yield* tokens.renew.run({ id: held.tokenId, ...row });
          notes.changed([held.deviceId]);
          return 'ok';
        }
        const others = yield* on.ofLink.all({ installId });
        if (others.length >= countMax) return 'browser_limit_reached';
        // A browser belongs to one link.
        if (held) yield* untie(notes, [held.deviceId]);
        const deviceId = yield* known.see(hwid, nowMs);
        yield* known.seeAt(notes, deviceId, providerId, facts, nowMs, mergeFacts);
        const tokenId = yield* tokens.add.insert({ deviceId, ...row });
        yield* on.tie.run({ deviceId, providerId, installId, tokenId });
        return 'ok';
      }),

    endBrowsers: (installId, tokenHash) =>
      backend.write(function* (notes) {
        yield* backend.lockRows({ install: [installId] });
        const tied = tokenHash && (yield* on.tied.get({ tokenHash }));
        const own = tied && tied.installId === installId ? [tied] : [];
        const ending = tokenHash === null ? yield* on.ofLink.all({ installId }) : own;
        yield* untie(
          notes,
          ending.map(({ deviceId }) => deviceId),
        );
        return ending.length;
      }),

    countBrowsers: async (installId) =>
      (await backend.read(() => on.ofLink.all({ installId }))).length,

    findBrowser: (tokenHash) =>
      backend.read(function* () {
        const tied = yield* on.tied.get({ tokenHash });
        return tied && { installId: tied.installId };
      }),

    listNews: (tokenHash, nowMs, countMax) =>
      backend.read(function* () {
        const rows = yield* on.news.all({ tokenHash, nowMs, countMax });
        return rows.map(parsed<'payload', BrowserMessage['payload']>('payload'));
      }),
  };
}
