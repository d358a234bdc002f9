/** Checks the gate: its panels, their bindings, and its trusted proxies. */

import { about, type Finding } from '../base/finding.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/settings/index.ts';
import { counted } from '../core/counted.ts';
import type { PanelReaction } from '../core/port/upstream.ts';
import { lacksSecret, openingsOf } from '../http/upstream/openings.ts';
import { checkPanel } from '../http/upstream/panel-check.ts';
import type { BoundHost, DatabaseReport } from '../store/kind.ts';

type Upstream = Config['gateUpstreams'][number];

const say = about('gate');
/**
 * Warns of proxies that may ask `/gate` only because they are trusted, and of a gate that no proxy
 * may ask.
 */
export function checkProxies({ config, sources }: LoadedConfig): Finding[] {
  const { gateProxies, gateUpstreams, trustedProxies } = config;
  if (gateProxies === null && sources.trustedProxies.text !== '') {
    const what = 'every proxy in server.trusted_proxies may ask /gate';
    const outside = 'if one of them forwards a request from outside to /gate, it opens links';
    const todo = 'set gate.proxies to the proxies that ask /gate, or to [] if none does';
    return [say.warning('gate_open_to_every_proxy', `${what}: ${outside}`, todo)];
  }
  const networks = gateProxies === null ? [] : sources.gateProxies.text.split(',');
  const addresses = networks
    .map((network) => network.trim().split('/', 1)[0] ?? '')
    .filter(Boolean);
  if (addresses.length === 0) {
    const isByAddress = config.socket === '' || config.proxySocket;
    const isUsed =
      isByAddress && sources.gateKeyPaths.origin !== 'default' && gateUpstreams.length === 0;
    const todo = 'set gate.proxies to the addresses of the proxies that ask /gate';
    return isUsed
      ? [
          say.warning(
            'gate_open_to_no_proxy',
            'gate.key_paths is set, but no proxy may ask: /gate refuses all',
            todo,
          ),
        ]
      : [];
  }
  if (addresses.every((address) => trustedProxies.includes(address))) return [];
  return [
    say.warning(
      'gate_proxy_not_trusted',
      'a proxy in gate.proxies is not in server.trusted_proxies: its clients count as one',
      'add it there too, or guesses of one client delay the answers to all its clients',
    ),
  ];
}

/** Names the line of nginx's log where messages ride through a proxy, whose log is out of reach. */
export function checkLongHeads({ config, sources }: LoadedConfig): Finding[] {
  const { gateRide, gateUpstreams } = config;
  const rides = gateRide !== 'off' || gateUpstreams.some(({ ride }) => ride !== 'off');
  if (!rides || sources.trustedProxies.text === '') return [];
  const line = "'upstream sent too big header while reading response header from upstream'";
  const lacks = 'it lacks proxy_buffer_size 32k and proxy_buffers 8 32k';
  return [say.ok(`messages ride through your proxies; if nginx logs ${line}, ${lacks}`)];
}

/** Warns of slots of HWIDs that many phones send. */
export function checkJunk(junk: DatabaseReport['junk']): Finding[] {
  if (junk.length === 0) return [];
  const list = junk.map(({ hwid, slotCount }) => `${hwid} (${slotCount})`).join(', ');
  return [
    say.warning(
      'junk_hwids',
      `slots are held by HWIDs that name no device: ${list}; they go on until they are freed, and get no new ones at the gate and the proxy`,
      "free them when it suits: 'gatepost device show HWID' names the links; set --without-hwid for apps that send no HWID",
    ),
  ];
}

/** Warns of settings by which servers get out without a limit. */
export function checkOpenings({ gateUpstreams }: Pick<Config, 'gateUpstreams'>): Finding[] {
  return gateUpstreams.flatMap((upstream) =>
    openingsOf(upstream).map((setting) =>
      setting === 'browsers'
        ? say.warning(
            'servers_shown_to_browsers',
            `browsers = "pass" shows the panel's page of ${upstream.host} to each browser with the address: pages of panels list the servers`,
            'set browsers = "refuse", and reach the page on a host name of the panel\'s own; the page of users (my.path) shows a user his devices',
            upstream.host,
          )
        : say.warning(
            'panel_api_open',
            `pass_paths of ${upstream.host} reach the API of the panel, which may list servers without a limit`,
            'name only files of the page in pass_paths, such as /assets/*',
            upstream.host,
          ),
    ),
  );
}

/** Warns of panels that sign tokens whose secret is not known here: they alone prove a token. */
export function checkSecrets({ gateUpstreams }: Pick<Config, 'gateUpstreams'>): Finding[] {
  return gateUpstreams
    .filter(lacksSecret)
    .map(({ host }) =>
      say.warning(
        'panel_token_secret_unknown',
        `the panel of ${host} signs tokens, and its secret is not known here: each guess is asked of the panel`,
        'set key_secret_file of gate.upstream to a file with the secret: docs/gate.md, "Signed tokens"',
        host,
      ),
    );
}

/** Warns of providers with links that admit any number of requests without a HWID. */
export function checkPassing(codes: readonly string[]): Finding[] {
  return codes.map((code) =>
    say.warning(
      'without_hwid_passes',
      `provider ${code} lets apps without a HWID pass: a request without x-hwid bypasses the limit`,
      "set --without-hwid to count or refuse: 'gatepost provider set', 'gatepost link set'",
      code,
    ),
  );
}

/** Warns of links whose limit stops no device, because their panel has none. */
export function checkUnlimited(unlimited: DatabaseReport['unlimited']): Finding[] {
  return unlimited.map(({ code, linkCount }) =>
    say.warning(
      'links_without_limit',
      `${counted(linkCount, 'link')} of provider ${code} with the limit 100, as the panel has none: no device is refused`,
      "choose one: add '--unlimited-as 3 --apply-to-existing' to the command of the last import",
      code,
    ),
  );
}

/** Warns of panels where a subscription key could equal the path of the page of users. */
export function checkPagePath(
  { gateUpstreams, myPath }: Pick<Config, 'gateUpstreams' | 'myPath'>,
  paged: readonly string[],
): Finding[] {
  const name = myPath.slice(1);
  if (name === '') return [];
  // A template of one segment, the key.
  return gateUpstreams
    .filter(({ provider }) => paged.includes(provider))
    .filter(({ keyPaths }) =>
      keyPaths.some(({ segments }) => segments.length === 1 && segments[0] === null),
    )
    .map(({ host }) =>
      say.warning(
        'page_path_is_a_key',
        `a subscription of ${host} with the key '${name}' gets the page of users instead`,
        'set my.path to a name that no subscription key has',
        host,
      ),
    );
}

/** Checks each panel; `bound` has the states of their bindings in the same order, or is empty. */
export async function checkUpstreams(
  { gateUpstreams, host, port }: Config,
  bound: readonly BoundHost[],
  onDate: (who: string, date: string) => void = () => {},
): Promise<Finding[]> {
  const checks = gateUpstreams.map(async (upstream, at) => {
    const state = bound[at];
    return [
      ...(state === undefined ? [] : [checkBinding(upstream, state)]),
      panelFinding(
        upstream,
        await checkPanel(upstream, { host, port }, (date) =>
          onDate(`the panel of ${upstream.host}`, date),
        ),
      ),
    ];
  });
  return (await Promise.all(checks)).flat();
}

function checkBinding({ host, provider }: Upstream, state: BoundHost): Finding {
  switch (state) {
    case 'active':
      return say.ok(`${host} is bound at provider ${provider}`);
    case 'not_bound':
      return say.warning(
        'host_not_bound',
        `${host} is not bound at provider ${provider}`,
        "'gatepost serve' binds it at its start or reload",
        host,
      );
    case 'disabled':
      return say.warning(
        'host_binding_disabled',
        `the binding of ${host} is disabled: every device is refused there`,
        `make it active again with /api/add-domain of provider ${provider}`,
        host,
      );
    case 'provider_not_found':
      return say.problem(
        'upstream_provider_missing',
        `there is no provider ${provider} for ${host}`,
        "correct gate.upstream: 'gatepost provider list' shows the codes",
        host,
      );
  }
}

/** Returns whether a certificate for these names is valid for a host. */
export function isCertified(host: string, names: readonly string[]): boolean {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return known.has(host) || known.has(`*${host.slice(host.indexOf('.'))}`);
}

/** Warns of hosts of panels that the served certificate does not cover. */
export function checkNames(
  { gateUpstreams }: Pick<Config, 'gateUpstreams'>,
  names: readonly string[] | null,
): Finding[] {
  // With plain HTTP the proxy in front has the certificate.
  if (names === null) return [];
  return gateUpstreams
    .filter(({ host }) => !isCertified(host, names))
    .map(({ host }) =>
      say.warning(
        'certificate_lacks_host',
        `the certificate is not valid for ${host}`,
        'get a certificate for this name, or add it to acme.domains; apps do not connect until then',
        host,
      ),
    );
}

function panelFinding({ host }: Upstream, { state, detail }: PanelReaction): Finding {
  switch (state) {
    case 'answers':
      return say.ok(`the panel of ${host} answers: ${detail}`);
    case 'fails':
      return say.warning(
        'panel_answers_errors',
        `the panel of ${host} answers with errors: ${detail}`,
        'look into the log of the panel; devices get its errors, and no new link is made',
        host,
      );
    case 'own_address':
      return say.problem(
        'panel_is_this_server',
        `the url of ${host} is the address of this server`,
        'set it to the URL of the panel',
        host,
      );
    case 'drops':
      return say.warning(
        'panel_drops_connections',
        `the panel of ${host} accepts connections and closes them without an answer`,
        'check url and host_header of gate.upstream; devices with links there get 502',
        host,
      );
    case 'not_trusted':
      return say.warning(
        'panel_not_trusted',
        `the certificate of the panel of ${host} is not trusted (${detail})`,
        'get a certificate for the name in url, or trust this one by NODE_EXTRA_CA_CERTS=FILE; devices get 502 until then',
        host,
      );
    case 'silent':
      return say.warning(
        'panel_silent',
        `the panel of ${host} does not answer (${detail})`,
        'check that the panel runs, and url of gate.upstream; devices get 502 until then',
        host,
      );
    case 'answers_any_key':
      return say.problem(
        'panel_answers_any_key',
        `the panel of ${host} answers ${detail}: each guess would get a link`,
        'check key_path and url of gate.upstream, and that the panel refuses unknown keys',
        host,
      );
  }
}
