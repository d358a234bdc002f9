/** The door of a link: all that is asked about a device there, in one look. */

import { sql } from 'drizzle-orm';
import type { DeviceAtProvider } from '../../core/port/device.ts';
import { DOMAIN_ACTIVE } from '../../core/port/domain.ts';
import type { AdmittedLink, SlotKey } from '../../core/port/install.ts';
import type { Context } from './context.ts';
import { AT_PROVIDER_COLUMNS, once, type RowAtProvider } from './lookups.ts';

interface DoorRow extends Omit<RowAtProvider, 'lastSeenAtMs'> {
  installId: number;
  providerId: number;
  providerCode: string;
  status: number;
  installLimit: number;
  deviceCount: number;
  /** Status of the provider's binding of the hash; null: there is none. */
  domainStatus: number | null;
  /** Null: the device holds no slot on the link, and what is said of it is null too. */
  lastSeenAtMs: number | null;
}

/** A link with a device at its door; null: the device holds no slot there. */
interface Door {
  installId: number;
  providerId: number;
  link: AdmittedLink;
  device: DeviceAtProvider | null;
}

/** Returns the function that finds the door at which a device stands. */
export function doorOf({ db }: Context) {
  const look = db.prepare<DoorRow>(sql`
      SELECT i.id AS "installId", i.provider_id AS "providerId", o.code AS "providerCode",
        i.status AS status, i.install_limit AS "installLimit", i.device_count AS "deviceCount",
        (SELECT b.status FROM domain b
         WHERE b.provider_id = i.provider_id AND b.domain_hash = ${once('domainHash')})
          AS "domainStatus", ${AT_PROVIDER_COLUMNS}
      FROM install i CROSS JOIN provider o ON o.id = i.provider_id
        LEFT JOIN device_provider p ON p.provider_id = i.provider_id AND p.device_id = (
          SELECT s.device_id FROM install_device s WHERE s.install_id = i.id
            AND s.device_id = (SELECT d.id FROM device d WHERE d.hwid = ${once('hwid')}))
      WHERE i.install_code = ${once('installCode')}`);
  return (key: SlotKey): Door | 'link_not_found' | 'link_domain_not_bound' => {
    const row = look.get({ ...key });
    if (row === null) return 'link_not_found';
    if (row.domainStatus !== DOMAIN_ACTIVE) return 'link_domain_not_bound';
    const { installId, providerId, providerCode, status, installLimit, deviceCount } = row;
    const link = { providerCode, status, installLimit, deviceCount };
    return { installId, providerId, link, device: deviceIn(row) };
  };
}

function deviceIn(row: DoorRow): DeviceAtProvider | null {
  const { lastSeenAtMs, os, osVersion, deviceName, appVersion, userAgent } = row;
  if (lastSeenAtMs === null) return null;
  const isRegistered = row.isRegistered === 1;
  return { os, osVersion, deviceName, appVersion, userAgent, lastSeenAtMs, isRegistered };
}
