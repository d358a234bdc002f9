import type { MutatedFile } from '../mutation.ts';

export const config: readonly MutatedFile[] = [
  {
    file: 'src/config/tables.ts',
    tests: ['test/config/tables.test.ts'],
    changes: [
      ['if (given.length > countMax) throw', 'if (given.length >= countMax) throw'],
      ["if (typeof name !== 'string') continue;", ''],
      ['if (tables.has(name)) mistakes', 'if (!tables.has(name)) mistakes'],
      ['.filter((other) => !known.has(other))', '.filter((other) => known.has(other))'],
      ['isDefault: !Object.hasOwn(table, key),', 'isDefault: false,'],
      ['place: isThere ? `${name}.${row.key}` : name', 'place: `${name}.${row.key}`'],
    ],
  },
  {
    file: 'src/config/repeated.ts',
    tests: ['test/config/file.test.ts'],
    changes: [
      ['const first = same ?? heads.find((other)', 'const first = heads.find((other)'],
      [' && !(head.isTable && head.path.length < path.length)', ''],
    ],
  },
  {
    file: 'src/config/file.ts',
    tests: ['test/config/tables.test.ts', 'test/config/file.test.ts'],
    changes: [
      ['if (!found || found.row.tables) problems', 'if (!found) problems'],
      ['if (settingOf(entry) !== null) return [];', ''],
      ["['string', 'integer', 'boolean'].includes(node.kind)", "'value' in node"],
      ["(kind === 'array') === isNamed", "(kind !== 'array') === isNamed"],
      ['one.key === last', 'false'],
    ],
  },
  {
    file: 'src/config/readers.ts',
    tests: ['test/config/tables.test.ts'],
    changes: [
      ["replace(/\\/+$/, '')", "replace(/x$/, '')"],
      ['texts.length > TEMPLATES_MAX', 'texts.length >= TEMPLATES_MAX'],
      ['hosts.length <= HOSTS_MAX', 'hosts.length < HOSTS_MAX'],
      ['[...line].length <= SHORT_TEXT_LENGTH_MAX', '[...line].length < SHORT_TEXT_LENGTH_MAX'],
    ],
  },
  {
    file: 'src/config/secret-files.ts',
    tests: ['test/config/secret-files.test.ts'],
    changes: [
      ['if (fits(secret)) return secret;', 'return secret;'],
      [".filter((file) => file !== '')", '.slice(0, 1)'],
      ['of.gateUpstreams.map((one) => one.keySecretFile)', '[]'],
      ['/^[\\x21-\\x7e]{16,256}$/', '/^[\\x21-\\x7e]{1,256}$/'],
      [
        '    return () => {\n      this.#byFile = byFile;\n    };',
        '    this.#byFile = byFile;\n    return () => {};',
      ],
    ],
  },
  {
    file: 'src/doctor/gate.ts',
    tests: ['test/doctor/gate.test.ts', 'test/doctor/gate-settings.test.ts'],
    changes: [
      ["sources.trustedProxies.text !== ''", "sources.trustedProxies.text === ''"],
      ["`*${host.slice(host.indexOf('.'))}`", '`*.${host}`'],
    ],
  },
  {
    file: 'src/http/upstream/look.ts',
    tests: [
      ...['test/http/upstream/look.test.ts', 'test/http/upstream/ipv6.test.ts'],
      'test/doctor/gate.test.ts',
    ],
    changes: [
      ['(hostname === hostInUrl(host) || LOOPBACK.test(hostname))', 'hostname === hostInUrl(host)'],
      ['hostname === hostInUrl(host)', 'hostname === host'],
      ["{ method: 'HEAD', path", "{ method: 'GET', path"],
      ['const OF_CERTIFICATE = /CERT|SIGNATURE|ISSUER|CRL/;', 'const OF_CERTIFICATE = /CRL/;'],
      ['outcome >= 200 && outcome < 300', 'false'],
      ['return isGood && panelOf(upstream) === null;', 'return isGood;'],
      ['answers.length === 0 ? outcome >= 500 : answers.some(isFault)', 'false'],
      ['? !outcome.isDropped :', '? true :'],
      ['if (makesLink) return true;', ''],
      ["fails ? 'fails' : 'answers'", "'answers'"],
      ['origin: `https://${upstream.host}`', "origin: 'null'"],
      ["protocol === 'https:' ? 443 : 80", '80'],
    ],
  },
  {
    file: 'src/http/upstream/openings.ts',
    tests: ['test/doctor/gate-settings.test.ts'],
    changes: [["signs(key) && keySecretFile === ''", 'signs(key)']],
  },
  {
    file: 'src/http/upstream/probe.ts',
    tests: ['test/doctor/gate.test.ts'],
    changes: [["hostHeader === 'original' ? host : client.host", 'client.host']],
  },
  {
    file: 'src/http/upstream/strangers.ts',
    tests: ['test/doctor/gate.test.ts'],
    changes: [
      ['upstream.keyPaths.flatMap(', 'upstream.keyPaths.slice(0, 1).flatMap('],
      ["proof === 'subscription' ||", 'false ||'],
    ],
  },
  {
    file: 'src/config/server-note.ts',
    tests: ['test/cli/beside-server.test.ts'],
    changes: [
      ["if (unlock !== null) return 'absent';", ''],
      ['=> isFrom(name, env)).map', '=> isFrom(name, env) || true).map'],
      ['if (note === null || isOther)', 'if (note === null)'],
      ['!environment[variable] && !flags[name]', 'false'],
      ['current = next;\n      write();', ''],
      ['isAbsolute(file) && ', ''],
    ],
  },
  {
    file: 'src/cli/context.ts',
    tests: ['test/cli/beside-server.test.ts'],
    changes: [
      ['if (one) context.warn', 'if (false) context.warn'],
      ["unseen.find(({ name }) => name === 'databaseUrl')", 'undefined'],
    ],
  },
  {
    file: 'src/cli/program.ts',
    tests: ['test/cli/beside-server.test.ts'],
    changes: [['if (!warnings.has(text))', 'if (true)']],
  },
  {
    file: 'src/cli/link-why.ts',
    tests: ['test/cli/beside-server.test.ts'],
    changes: [['upstream?.enforce ?? true', 'true']],
  },
  {
    file: 'src/cli/link-show.ts',
    tests: ['test/cli/link.test.ts'],
    changes: [['selector, null, DEVICES_MAX', 'selector, null, link.installLimit']],
  },
];
