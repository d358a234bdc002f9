/** Checks the APIs of panels that the door asks, and counts the links that wait for them. */

import { ERRNO_WORDS, wordsOfErrno } from '../base/errno.ts';
import { about, type Finding } from '../base/finding.ts';
import { visible } from '../base/visible.ts';
import type { Config } from '../config/settings/index.ts';
import { counted } from '../core/counted.ts';
import { gateSource } from '../http/upstream/gate-panel.ts';
import { lookAtApi, type PanelSource, sourceOf } from '../http/upstream/panel-api.ts';
import type { DatabaseReport } from '../store/kind.ts';

const say = about('gate');

/** Asks each API that the settings name, if its token can be read. */
export async function checkApis(
  config: Config,
  secretOf: (file: string) => string | null,
): Promise<Finding[]> {
  const behindGate = gateSource(config);
  const checks = [
    ...config.gateUpstreams.map((upstream) => {
      const follows = upstream.limits === 'panel';
      const effect = follows ? 'links keep their limits until then' : BACK_BY_HAND;
      const name = `the API of the panel of ${upstream.host}`;
      const of = { name, effect, follows, seesPart: KEPT };
      return checkApi(sourceOf(upstream), of, 'of gate.upstream', secretOf);
    }),
    checkApi(
      behindGate,
      { name: 'the API of gate.panel', effect: ADMITTED, follows: false, seesPart: REFUSED },
      'of gate',
      secretOf,
    ),
  ];
  return (await Promise.all(checks)).flat();
}

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
  secretOf: (file: string) => string | null,
): Promise<Finding[]> {
  if (source === null || secretOf(source.tokenFile) === null) return [];
  const { admin, code } = await lookAtApi(source, secretOf, follows);
  if (code === null && admin !== '') {
    return [
      say.warning(
        'panel_token_sees_part',
        `the token for ${name} shows only the users of the admin ${visible(admin)}`,
        `put the token of an admin who sees all users into panel_token_file ${place}; ${seesPart}`,
        name,
      ),
    ];
  }
  if (code === null) return [say.ok(`${name} ${follows ? 'returns limits' : 'answers'}`)];
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
      `check panel_url and panel_token_file ${place}; ${effect}`,
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
