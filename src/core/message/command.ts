/** Remote commands: the fields of each action, and the payload for devices. */

import { readHost } from '../host-name.ts';
import { isAbsent, isText } from '../json-input.ts';
import { isRefused, type Misfit, malformed, Refused } from '../outcome.ts';
import { readSettings, type Settings } from './settings.ts';
import { isWebUrl, URL_LENGTH_MAX } from './url.ts';

/** Specification, "POST /remote/command". */
export const ACTION_TYPES = [
  'import-data',
  'update-subscription',
  'set-settings',
  'sub-change',
] as const;
type ActionType = (typeof ACTION_TYPES)[number];

/** The payload that a device gets. */
export type CommandPayload =
  /** `input-data` is base64 of the UTF-8 text. */
  | { action_type: 'import-data'; 'input-data': string }
  | { action_type: 'update-subscription' }
  | { action_type: 'set-settings'; settings: Settings }
  | { action_type: 'sub-change'; change_type: 'domain' | 'url'; change_value: string };

type Body = Readonly<Record<string, unknown>>;
/** `note`: a sentence about settings that were omitted or do not fit. */
type Composed =
  | { payload: CommandPayload; note?: string }
  | Refused<'import_data_empty' | 'settings_empty' | 'malformed'>;

/** Reads `action_type`. */
export function readActionType(body: Body): ActionType | Misfit {
  const action = ACTION_TYPES.find((known) => known === body['action_type']);
  return action ?? malformed(`action_type must be one of ${ACTION_TYPES.join(', ')}`);
}

/**
 * Composes the payload of a command from the body of a request. Ignores fields that the action does
 * not need; `readCommand` of core/message/order.ts reads targets and schedule. Refuses
 * `import_data_empty` (missing or blank), `settings_empty` (see `readSettings`) and `malformed`.
 */
export function composeCommand(body: Body): Composed {
  const action = readActionType(body);
  switch (action) {
    case 'import-data':
      return composeImport(body);
    case 'update-subscription':
      return { payload: { action_type: action } };
    case 'set-settings': {
      const read = readSettings(body['settings']);
      if (isRefused(read)) return read;
      const { settings, ...more } = read;
      return { payload: { action_type: action, settings }, ...more };
    }
    case 'sub-change':
      return composeSubChange(body);
    default:
      return action;
  }
}

/** Returns the sender's next task after a command, in ASCII; null: none. */
export function noteOn(body: Body): string | null {
  const moves = body['action_type'] === 'sub-change' && body['change_type'] === 'domain';
  return moves ? STILL_SERVED : null;
}

const STILL_SERVED =
  'serve the old domain too until every device has got this: an app that has not asks there still';

function composeImport(body: Body): Composed {
  const data = body['import_data'];
  if (isAbsent(data)) return new Refused('import_data_empty');
  if (!isText(data)) return malformed('import_data must be a string of whole Unicode characters');
  if (data.trim() === '') return new Refused('import_data_empty');
  const encoded = Buffer.from(data, 'utf8').toString('base64');
  return { payload: { action_type: 'import-data', 'input-data': encoded } };
}

function composeSubChange(body: Body): Composed {
  const { change_type: type, change_value: value } = body;
  if (type !== 'domain' && type !== 'url') return malformed('change_type must be domain or url');
  if (isAbsent(value)) return malformed('change_value is required');
  if (typeof value !== 'string') return malformed('change_value must be a string');
  const change = type === 'domain' ? readHost(value) : readWebUrl(value);
  if (change === null) return malformed(`change_value must be ${CHANGE_RULES[type]}`);
  return { payload: { action_type: 'sub-change', change_type: type, change_value: change } };
}

/** The rule of `change_value`, by `change_type`. */
const CHANGE_RULES = {
  domain: 'a host name, perhaps with a port, without scheme and path',
  url: `an absolute http or https URL of up to ${URL_LENGTH_MAX} characters`,
} as const;

const readWebUrl = (value: string) => (isWebUrl(value) ? value : null);
