/** Checks the APIs of panels that the door asks, and counts the links that wait for them. */

import { systemClock } from '../base/clock.ts';
import { ERRNO_WORDS, wordsOfErrno } from '../base/errno.ts';
import { about, type Finding } from '../base/finding.ts';
import { visible } from '../base/visible.ts';
import type { Config } from '../config/settings/index.ts';
import { counted } from '../core/counted.ts';
import { tokenEndMs } from '../core/panel/account.ts';
import { PANEL_TRAITS } from '../core/panel/index.ts';
import { gateSource } from '../http/upstream/gate-panel.ts';
import { lookAtApi } from '../http/upstream/panel-api.ts';
import { type PanelSource, sourceOf } from '../http/upstream/panel-source.ts';
import { PanelTokens, SIGN_IN_REFUSED } from '../http/upstream/panel-tokens.ts';
import type { SignInNotes } from '../http/upstream/sign-in-notes.ts';
import type { DatabaseReport } from '../store/kind.ts';

const say = about('gate');

interface Asking {
  nowMs: number;
  secretOf(file: string): string | null;
  notes: SignInNotes;
  /** False: no person asks, and no account signs in, which a panel may tell its admins. */
  signsIn: boolean;
}

/** Asks each API that the settings name, if its token can be read. */
export async function checkApis(config: Config, asking: Asking): Promise<Finding[]> {
  const ask: Asking & { tokens: PanelTokens } = {
    ...asking,
    tokens: new PanelTokens({ clock: systemClock, ...asking }),
  };
  const checks = [
    ...config.gateUpstreams.map((upstream) => {
      const follows = upstream.limits === 'panel';
      const unread = upstream.read === 'panel' ? UNREAD : BACK_BY_HAND;
      const effect = follows ? 'links keep their limits until then' : unread;
      const name = `the API of the panel of ${upstream.host}`;
      const of = { name, effect, follows, seesPart: KEPT };
      return checkApi(sourceOf(upstream), of, 'of gate.upstream', ask);
    }),
    checkApi(
      gateSource(config),
      {
        name: 'the API of gate.panel',
        effect: config.gateRead === 'panel' ? `${ADMITTED}, and ${UNREAD}` : ADMITTED,
        follows: false,
        seesPart: REFUSED,
      },
      'of gate',
      ask,
    ),
  ];
  return (await Promise.all(checks)).flat();
}

const UNREAD = 'no end and no traffic is read from it until then';
const BACK_BY_HAND = 'no link that an import disabled comes back until then';
const ADMITTED = 'new devices are admitted without the panel until then';
/** The effects of a token without the users of other admins on their links. */
const KEPT = 'the links of all other users keep their limits, and none comes back until then';
const REFUSED = 'new devices of all other users are refused until then';

interface ApiEffects {
  name: string;
  /** The effects of an API that does not answer, and of a token that shows a part of the users. */
  effect: string;
  seesPart: string;
  /** True: links take their limits from it. */
  follows: boolean;
}

async function checkApi(
  source: PanelSource | null,
  { name, effect, follows, seesPart }: ApiEffects,
  place: string,
  { nowMs, notes, secretOf, signsIn, tokens }: Asking & { tokens: PanelTokens },
): Promise<Finding[]> {
  if (source === null || !tokens.has(source)) return [];
  const { accountFile, url } = source;
  const refused = say.problem(
    'panel_sign_in_refused',
    `${name} refuses the name and the password in ${accountFile}`,
    `correct that file: until it changes Gatepost does not sign in again, because panels ban who tries on; ${effect}`,
    name,
  );
  if (accountFile !== '' && notes.isRefused(accountFile, url)) return [refused];
  if (accountFile !== '' && !signsIn) return [];
  const { admin, code } = await lookAtApi(source, tokens, follows);
  if (code === SIGN_IN_REFUSED) return [refused];
  const ends = checkEnd(source, name, secretOf, nowMs);
  if (code === null && admin !== '') {
    return [
      say.warning(
        'panel_token_sees_part',
        `the token for ${name} shows only the users of the admin ${visible(admin)}`,
        `put the token of an admin who sees all users into ${fileKeyOf(source)} ${place}; ${seesPart}`,
        name,
      ),
      ...ends,
    ];
  }
  if (code === null) return [say.ok(`${name} ${follows ? 'returns limits' : 'answers'}`), ...ends];
  if (code === 'API_SLOW' || Object.hasOwn(ERRNO_WORDS, code)) {
    const why = code === 'API_SLOW' ? 'no answer in time' : wordsOfErrno(code);
    const todo = `check that the panel runs, and panel_url ${place}; ${effect}`;
    return [say.warning('panel_api_silent', `${name} does not answer (${why})`, todo, name)];
  }
  const isRefused = code === 'API_401' || code === 'API_403';
  return [
    say.warning(
      'panel_api_refused',
      `${name} ${isRefused ? 'refuses the token' : 'gives an unexpected answer'} (${code})`,
      `check panel_url and ${fileKeyOf(source)} ${place}; ${effect}`,
      name,
    ),
  ];
}

/** Returns the key of the setting that gives the token. */
const fileKeyOf = ({ accountFile }: PanelSource) =>
  accountFile === '' ? 'panel_token_file' : 'panel_account_file';

/** The time before its end at which a token is a finding, ms. */
const ENDING_MS = 24 * 3_600_000;

/** Warns of a token that ends within a day, where its text says when. */
function checkEnd(
  { panel, tokenFile }: PanelSource,
  name: string,
  secretOf: Asking['secretOf'],
  nowMs: number,
): Finding[] {
  const endMs = tokenEndMs(secretOf(tokenFile) ?? '');
  if (endMs === null || endMs <= nowMs || endMs - nowMs > ENDING_MS) return [];
  const at = new Date(endMs).toISOString().slice(0, 16).replace('T', ' ');
  const other = PANEL_TRAITS[panel].api.signIn === null ? '' : ', or set panel_account_file';
  return [
    say.warning(
      'panel_token_ends',
      `the token for ${name} ends at ${at} UTC`,
      `put a new one into ${tokenFile} and reload Gatepost${other}`,
      name,
    ),
  ];
}

/** Warns of links that imports disabled: their users may have paid since. */
export function checkDisabled(
  counts: DatabaseReport['disabledByImport'],
  config: Config,
): Finding[] {
  const { gateUpstreams } = config;
  return counts.map(({ code, count }) => {
    const own = gateUpstreams.filter(({ provider }) => provider === code);
    const asks = own.some((upstream) => sourceOf(upstream) !== null) || gateSource(config) !== null;
    const list = `gatepost link enable --disabled-by-import --provider ${code}`;
    const place = own.length > 0 ? 'panel and panel_token_file of gate.upstream' : 'gate.panel';
    return say.warning(
      'links_disabled_by_import',
      `an import disabled ${counted(count, 'link')} of provider ${code}, and their devices are refused`,
      asks
        ? `a link comes back at the next request once the API of the panel says that its user is active; '${list}' lists them`
        : `'${list}' lists them, and enables them with --all; or set ${place}: a link then comes back once its user is active`,
      code,
    );
  });
}
