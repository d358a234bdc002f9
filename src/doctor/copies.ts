/** Reports how many links have a HWID of several phones, and whether phones are distinguished. */

import { about, type Finding } from '../base/finding.ts';
import type { Config } from '../config/settings/index.ts';
import { counted } from '../core/counted.ts';
import type { HwidCopies } from '../store/kind.ts';

const say = about('hwid copies');

/** Warns of rules for copied HWIDs that have no effect. The line names no link. */
export function checkHwidCopies(
  { privacyKeep }: Pick<Config, 'privacyKeep'>,
  { linkCount, ruleCount }: HwidCopies,
): Finding[] {
  if (privacyKeep === 'less') {
    if (ruleCount === 0) return [say.ok('no models and no phones are kept: privacy.keep = "less"')];
    return [
      say.warning(
        'copied_hwid_without_phones',
        `copied_hwid is count or refuse for ${counted(ruleCount, 'link or provider', 'links and providers')}, and has no effect: privacy.keep = "less" keeps no phones`,
        'set copied_hwid to off there, or privacy.keep to "usual"',
      ),
    ];
  }
  const copied =
    linkCount === 0
      ? 'no link counts several phones as one device'
      : `${counted(linkCount, 'link')} ${linkCount === 1 ? 'counts' : 'count'} several phones as one device: 'gatepost link list --copied'`;
  return [
    say.ok(
      `${copied}. Phones that send one HWID are distinguished unless copied_hwid is off, or privacy.keep "less"`,
    ),
  ];
}
