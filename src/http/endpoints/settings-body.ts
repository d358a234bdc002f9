/** The settings of a command, as a schema for the documents: see `remote-bodies.ts`. */

import { type TSchema, Type } from '@sinclair/typebox';
import { SETTING_KEYS, type SettingKey } from '../../core/message/setting-table.ts';
import { CUSTOM_SETTING_KEY, SETTING_COUNT_MAX, settingRule } from '../../core/message/settings.ts';
import { choice } from './params.ts';

/**
 * Returns the documented form of the values of a key. A newer key takes any value, so its rule
 * stands in the description alone: a client that checks by the schema would refuse more than we do.
 */
function settingSchema(setting: SettingKey): TSchema {
  const description = `${setting.key} ${setting.isNewer ? 'should' : 'must'} be ${settingRule(setting)}.`;
  if (setting.isNewer) return Type.Unsafe<unknown>({ description });
  switch (setting.kind) {
    case 'boolean':
      return Type.Boolean({ description });
    case 'choice':
      return choice(setting.values, description);
    case 'range':
      return Type.String({ pattern: '^[0-9]{1,15}(-[0-9]{1,15})?$', description });
    case 'header':
      return Type.String({ pattern: '^[^\\r\\n\\x00]*$', description });
    default:
      return Type.String({ description });
  }
}

export const SETTING_VALUE = Type.Unsafe<unknown>({ description: 'Any JSON value.' });

/** The `settings` of `set-settings`. */
export const Settings = Type.Object(
  Object.fromEntries(SETTING_KEYS.map((row) => [row.key, Type.Optional(settingSchema(row))])),
  {
    title: 'Settings',
    minProperties: 1,
    maxProperties: SETTING_COUNT_MAX,
    patternProperties: { [CUSTOM_SETTING_KEY.source]: SETTING_VALUE },
    description:
      'The known keys, each with one of its values or with `""`, which resets it; and any key that an app of the provider understands, with any value. Any other key is left out, a wrong value of a key of newer documents is passed on, and `x-error-detail` names both.',
    examples: [{ 'fragmentation-enable': true, 'ping-type': 'tcp' }],
  },
);
