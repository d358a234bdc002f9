/** The settings of a command, as a schema for the documents: see `remote-bodies.ts`. */

import { type TSchema, Type } from '@sinclair/typebox';
import {
  CUSTOM_SETTING_KEY,
  SETTING_COUNT_MAX,
  SETTING_KEYS,
  type SettingKey,
  settingRule,
} from '../../core/message/settings.ts';
import { choice } from './params.ts';

/** Returns the documented form of the values of a key. */
function settingSchema(setting: SettingKey): TSchema {
  const description = `${setting.key} must be ${settingRule(setting)}.`;
  switch (setting.kind) {
    case 'boolean':
      return Type.Boolean({ description });
    case 'choice':
      return choice(setting.values, description);
    case 'range':
      return Type.String({ pattern: '^[0-9]{1,15}(-[0-9]{1,15})?$', description });
    case 'text':
      return Type.String({ description });
    case 'header':
      return Type.String({ pattern: '^[^\\r\\n\\x00]*$', description });
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
      'The known keys, each with one of its values or with `""`, which resets it; and any key that an app of the provider understands, with any value. Any other key is left out and named in `x-error-detail`.',
    examples: [{ 'fragmentation-enable': true, 'ping-type': 'tcp' }],
  },
);
