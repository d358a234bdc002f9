import type { MutatedFile } from '../mutation.ts';

/** The gate: who is believed, what is asked, and that nobody is let in beside it. */
export const gate: readonly MutatedFile[] = [
  {
    file: 'src/core/key-path.ts',
    tests: ['test/core/key-path.test.ts'],
    changes: [
      ["path[0] !== '/' || ", ''],
      ['path.length > PATH_LENGTH_MAX || ', ''],
      ["  '[01][0-9a-f]|7f',\n", ''],
      ["  '2[de]|3\\\\d|[46][1-9a-f]|[57][0-9a]|5f|7e',\n", ''],
      ["  '2[35f]|3[bf]|5c',\n", ''],
      ['(?!\\\\.\\\\.?(?:/|$))', ''],
      ["if (segments.at(-1) === '') segments.pop();", ''],
      ['part.toLowerCase()', 'part'],
      ['path[at]?.toLowerCase()', 'path[at]'],
      ['if (path.length < segments.length) continue;', ''],
      ['text.length > TEMPLATE_LENGTH_MAX', 'text.length >= TEMPLATE_LENGTH_MAX'],
    ],
  },
  {
    file: 'src/core/host-name.ts',
    tests: ['test/core/host-name.test.ts', 'test/core/message/command.test.ts'],
    changes: [
      ["value.replace(LAST_DOT, '')", 'value'],
      ["host.replace(/:\\d+$/, '').toLowerCase()", "host.replace(/:\\d+$/, '')"],
      ["host.replace(/:\\d+$/, '').toLowerCase()", 'host.toLowerCase()'],
      ['Number(port ?? 0) > PORT_MAX', 'false'],
      ['hostname === host.toLowerCase()', 'true'],
      ['!ADDRESS.test(hostname)', 'true'],
    ],
  },
  {
    file: 'src/http/gate/original.ts',
    tests: ['test/http/gate.test.ts'],
    changes: [
      ["    headers.get('x-original-uri'),\n", ''],
      ["    headers.get('x-forwarded-uri'),\n", ''],
      ['    original.uri,\n', ''],
      ['    own.uri,\n', ''],
      ['if (one !== null && one !== value) return DISAGREED;', ''],
      ["uri.length <= URI_LENGTH_MAX && !uri.includes('#')", "!uri.includes('#')"],
      ["uri.length <= URI_LENGTH_MAX && !uri.includes('#')", 'uri.length <= URI_LENGTH_MAX'],
      ['const query = parseQuery(uri, true);', 'const query = parseQuery(uri, false);'],
      ['own.providerCode !== null && valueIn', 'false && valueIn'],
      ['?.name !== host.name) return DISAGREED;', '?.name === undefined) return DISAGREED;'],
      ["agreed(headers.get('x-forwarded-method'), ", 'agreed('],
      ['method: ofClient ?? method', "method: ofClient ?? 'GET'"],
      ['const own = uriAt < 0 ? query : query.slice(0, uriAt);', 'const own = query;'],
    ],
  },
  {
    file: 'src/http/gate/gate.ts',
    tests: ['test/http/gate-trust.test.ts', 'test/http/gate.test.ts'],
    changes: [
      ['!deps.isTrusted(peer)', 'false'],
      ['untrusted.due(nowMs) > 0', 'true'],
      ["if (method !== 'GET' && method !== 'HEAD') return { says: 'gate_method' };", ''],
      ["method === 'HEAD'\n", 'false\n'],
      [
        'conclusion === UNKNOWN && installCode !== null ? decide({ installCode }) : conclusion',
        'conclusion',
      ],
      ['conclusion === UNKNOWN && installCode !== null', 'installCode !== null'],
      ["judged.holdsSlot ? ADMITTED : { says: 'gate_no_slot' }", 'ADMITTED'],
      ["says === 'unknown_error' ? 500 : 403", '403'],
      ["says === 'link_not_found' ? deps.guessed(request) : 0", '0'],
      ["headers.set('x-hwid-active', 'true');", ''],
      ['detail = DETAILS[says]', 'detail'],
    ],
  },
  {
    file: 'src/http/request/hosts.ts',
    tests: ['test/http/hosts.test.ts'],
    changes: [
      ['if (header.length > LENGTH_MAX) return null;', ''],
      ['if (this.#known.size >= COUNT_MAX) this.#known.clear();', ''],
    ],
  },
  {
    file: 'src/http/gate/words.ts',
    tests: ['test/http/gate.test.ts', 'test/http/upstream/proxy.test.ts'],
    changes: [['query: NO_QUERY', 'query: parseQuery(request.url, true)']],
  },
];
