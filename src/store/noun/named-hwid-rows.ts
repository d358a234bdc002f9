/** Statements about named HWIDs: rows beside the slots of a link, which name no device. */

import { FACT_FIELDS } from '../../core/device-facts.ts';
import type { Statements } from '../backend.ts';
import { columns, insertInto, sql, values } from '../statement-text.ts';
import { shared } from './shared.ts';

export const namedRows = shared(({ among, join, once, prepare }: Statements) => {
  const ofLink = sql`install_id = :installId`;
  const listed = sql`
    SELECT ${columns('named_hwid', 'hwid, namedAtMs, deviceName')} FROM named_hwid
    WHERE install_id = ${once('installId')}`;
  return {
    findName: prepare(sql`
        SELECT ${columns('named_hwid', ['id AS nameId', 'namedAtMs', ...FACT_FIELDS])}
        FROM named_hwid WHERE install_id = ${once('installId')} AND hwid = ${once('hwid')}`),
    list: prepare(sql`${listed} ORDER BY named_at_ms DESC, id DESC`),
    listOne: prepare(sql`${listed} AND hwid = ${once('hwid')}`),
    /** Of some HWIDs those that are on the link, named or with a slot. */
    onLink: prepare(sql`
        SELECT ${values<{ hwid: string }>({ hwid: sql`hwid` })} FROM named_hwid
        WHERE install_id = ${once('installId')} AND hwid ${among('hwids', 'text')}
        UNION ALL
        SELECT d.hwid FROM install_device s ${join} device d ON d.id = s.device_id
        WHERE s.install_id = ${once('installId')} AND d.hwid ${among('hwids', 'text')}`),
    /** All HWIDs of the link, named or with a slot. */
    held: prepare(sql`
        SELECT ${values<{ hwid: string }>({ hwid: sql`hwid` })} FROM named_hwid
        WHERE install_id = ${once('installId')}
        UNION ALL
        SELECT d.hwid FROM install_device s ${join} device d ON d.id = s.device_id
        WHERE s.install_id = ${once('installId')}`),
    countOfProvider: prepare(sql`
        SELECT ${values<{ count: number }>({ count: sql`count(*)` })} FROM (
          SELECT 1 FROM named_hwid WHERE provider_id = ${once('providerId')}
          LIMIT ${once('countMax')}) x`),
    add: prepare(sql`
        ${insertInto('named_hwid', ['installId', 'providerId', 'hwid', 'namedAtMs', ...FACT_FIELDS])}`),
    drop: prepare(sql`DELETE FROM named_hwid WHERE id = :nameId`),
    dropSince: prepare(sql`DELETE FROM named_hwid WHERE ${ofLink} AND named_at_ms >= :sinceMs`),
    /** Makes doors look for names. */
    mark: prepare(sql`
        UPDATE install SET has_hashes = 1 WHERE id = :installId AND has_hashes = 0`),
    /** The names on a link of HWIDs that have a slot on another one. */
    heldElsewhere: prepare(sql`
        SELECT ${columns({ n: 'named_hwid' }, 'n.id AS nameId')}
        FROM named_hwid n WHERE n.install_id = :toId AND n.hwid IN (
          SELECT d.hwid FROM install_device s ${join} device d ON d.id = s.device_id
          WHERE s.install_id = :fromId)`),
    /** The names of a link whose HWIDs are not on another one, the latest first. */
    onlyHere: prepare(sql`
        SELECT ${columns({ n: 'named_hwid' }, ['n.id AS nameId', 'n.hwid', 'n.namedAtMs', ...FACT_FIELDS.map((fact) => `n.${fact}` as const)])}
        FROM named_hwid n WHERE n.install_id = :fromId
          AND NOT EXISTS (SELECT 1 FROM named_hwid o
            WHERE o.install_id = :toId AND o.hwid = n.hwid)
          AND NOT EXISTS (SELECT 1 FROM install_device s ${join} device d ON d.id = s.device_id
            WHERE s.install_id = :toId AND d.hwid = n.hwid)
        ORDER BY n.named_at_ms DESC, n.id DESC`),
    /** Names of a HWID, on links of any provider. */
    linksOf: prepare(sql`
        SELECT ${columns('named_hwid', 'id AS nameId, installId, providerId')} FROM named_hwid
        WHERE hwid = :hwid ORDER BY id LIMIT :countMax`),
  };
});
