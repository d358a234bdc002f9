/** Remote commands: what each action takes, and what a device gets. */

import { isAbsent, isText, type Problem, problem } from '../json-input.ts';
import { checkSettings, type Settings } from './settings.ts';
import { isWebUrl, readHost, URL_LENGTH_MAX } from './url.ts';

/** Specification, "POST /remote/command". */
export const ACTION_TYPES = [
  'import-data',
  'update-subscription',
  'set-settings',
  'sub-change',
] as const;
export type ActionType = (typeof ACTION_TYPES)[number];

/** What a device gets. */
export type CommandPayload =
  /** `input-data` is base64 of the UTF-8 text. */
  | { action_type: 'import-data'; 'input-data': string }
  | { action_type: 'update-subscription' }
  | { action_type: 'set-settings'; settings: Settings }
  | { action_type: 'sub-change'; change_type: 'domain' | 'url'; change_value: string };

type Body = Readonly<Record<string, unknown>>;
/** `leftOut` is a sentence about what of the settings cannot be passed on. */
type Composed =
  | { payload: CommandPayload; leftOut?: string }
  | 'import_data_empty'
  | 'settings_empty'
  | Problem;

/** Reads `action_type`, which the specification's table has before targets and schedule. */
export function parseActionType(body: Body): ActionType | Problem {
  const said = body['action_type'];
  const action = ACTION_TYPES.find((known) => known === said);
  return action ?? problem(`action_type must be one of ${ACTION_TYPES.join(', ')}`);
}

/**
 * Composes the payload of a command from the request's body. Fields that the action does not need
 * are not looked at; targets and schedule are read by `parseCommandTargets` and `parseSchedule`.
 *
 * Refuses `import_data_empty` (missing or blank) and `settings_empty` (see {@link checkSettings});
 * anything else that is wrong is a problem.
 */
export function composeCommand(body: Body): Composed {
  const action = parseActionType(body);
  switch (action) {
    case 'import-data':
      return composeImport(body);
    case 'update-subscription':
      return { payload: { action_type: action } };
    case 'set-settings': {
      const checked = checkSettings(body['settings']);
      if (typeof checked === 'string' || 'problem' in checked) return checked;
      const { settings, ...more } = checked;
      return { payload: { action_type: action, settings }, ...more };
    }
    case 'sub-change':
      return composeSubChange(body);
    default:
      return action;
  }
}

function composeImport(body: Body): Composed {
  const data = body['import_data'];
  if (isAbsent(data)) return 'import_data_empty';
  if (!isText(data)) return problem('import_data must be a string of whole Unicode characters');
  if (data.trim() === '') return 'import_data_empty';
  const encoded = Buffer.from(data, 'utf8').toString('base64');
  return { payload: { action_type: 'import-data', 'input-data': encoded } };
}

function composeSubChange(body: Body): Composed {
  const { change_type: type, change_value: value } = body;
  if (type !== 'domain' && type !== 'url') return problem('change_type must be domain or url');
  if (isAbsent(value)) return problem('change_value is required');
  if (typeof value !== 'string') return problem('change_value must be a string');
  const change = type === 'domain' ? readHost(value) : readWebUrl(value);
  if (change === null) return problem(`change_value must be ${CHANGE_RULES[type]}`);
  return { payload: { action_type: 'sub-change', change_type: type, change_value: change } };
}

/** The rule of `change_value`, by `change_type`. */
const CHANGE_RULES = {
  domain: 'a host name, perhaps with a port, without scheme and path',
  url: `an absolute http or https URL of up to ${URL_LENGTH_MAX} characters`,
} as const;

const readWebUrl = (value: string) => (isWebUrl(value) ? value : null);
