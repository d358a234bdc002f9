import { describe, expect, test } from 'bun:test';
import { readConfigFile } from '../../src/config/file.ts';
import { exampleFile } from '../../src/config/render.ts';
import { settingRows } from '../../src/config/settings/index.ts';

const valuesOf = (source: string) => Object.fromEntries(readConfigFile(source).values);

describe('a configuration file', () => {
  test('gives each value with its line', () => {
    const source = [
      '# a comment',
      'data = "/srv/gatepost"',
      '[server]',
      'port = 9_000',
      'trusted_proxies = [',
      '  "10.0.0.0/8",',
      '  "::1",',
      ']',
      '[log]',
      'requests = true',
    ].join('\n');
    expect(readConfigFile(source).problems).toEqual([]);
    expect(valuesOf(source)).toEqual({
      dataDir: { text: '/srv/gatepost', line: 2 },
      port: { text: '9000', line: 4 },
      trustedProxies: { text: '10.0.0.0/8,::1', line: 5 },
      logRequests: { text: 'true', line: 10 },
    });
  });

  test.each([
    ['dotted keys', 'server.port = 1\nserver.host = "h"'],
    ['an inline table', 'server = { port = 1, host = "h" }'],
    ['quoted keys', '["server"]\n"port" = 1\nhost = "h"'],
  ])('may be written with %s', (_, source) => {
    expect(valuesOf(source)).toMatchObject({ port: { text: '1' }, host: { text: 'h' } });
  });

  test('names every mistake with its line', () => {
    const source = [
      'prot = 1',
      '[server]',
      'port = "9000"',
      'host = 1',
      'trusted_proxies = ["10.0.0.0/8", 7]',
      '[sever]',
      'port = 1',
      '[[log]]',
      'format = "json"',
      '[server.tls]',
      '[log]',
    ].join('\n');
    // The last line is a mistake to TOML itself: an array is no table.
    const { problems } = readConfigFile(source.replace('\n[log]', ''));
    expect(problems).toEqual([
      '1: there is no setting prot; the nearest is server.port',
      '3: server.port must be a whole number',
      '4: server.host must be a string',
      '5: server.trusted_proxies must be an array of strings',
      '6: there is no setting sever; the nearest is server',
      '8: log is a section: write [log], once',
      '10: there is no setting server.tls; the nearest is tls',
    ]);
  });

  test.each([
    ['no value', 'data = "x"\n\nport = ]\n', 3],
    ['a key twice', '[server]\nport = 1\nport = 2\n', 3],
    ['a section twice', '[server]\nport = 1\n[server]\nhost = "h"\n', 3],
    ['a string without an end', 'data = "x\n', 1],
  ])('that is invalid TOML is one error with its line: %s', (_, source, line) => {
    const { values, problems } = readConfigFile(source);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${line}: invalid TOML: `));
    expect(values.size).toBe(0);
  });

  test.each([
    ['[log]\n[backup]\nkeep = 3\n[log]\n', '4: [log] stands in line 1'],
    ['[gate.text.ru]\n[gate]\n[gate]\n', '3: [gate] stands in line 2'],
    ['[gate.text.ru]\nlink_full = "a"\n[gate.text.ru]\n', '3: [gate.text.ru] stands in line 1'],
    ['backup.at = "03:30"\n[ backup ] # mine\n', '2: [ backup ] stands in line 1'],
    ['backup = { keep = 3 }\n[backup]\n', '2: [backup] stands in line 1'],
    ['[[gate.upstream]]\n[gate]\n[gate.upstream]\n', '3: [gate.upstream] stands in line 1'],
    ['[log]\n[backup]\nkeep = 3\nkeep = [\n4]\n', '4: backup.keep is set in line 3'],
    ['data = "x"\r\n"data" = "y"\r\n', '2: data is set in line 1'],
    ['[a]\nx.y = 1\nx.y.z = 2\n', '3: a.x.y.z is set in line 2'],
  ])('what stands twice is named with the line of the first: %p', (source, sentence) => {
    const { problems } = readConfigFile(source);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.replace('invalid TOML: ', '')).toStartWith(`${sentence} already: `);
  });

  test('a date, a float and an infinity fit no setting', () => {
    for (const value of ['2026-11-20', '1.0', 'inf', '{}', '[[]]']) {
      expect(readConfigFile(`[server]\nport = ${value}`).problems).toEqual([
        '2: server.port must be a whole number',
      ]);
    }
  });
});

describe('the example file', () => {
  test('sets what new installations have otherwise than old ones, and nothing else', () => {
    const { values, problems } = readConfigFile(exampleFile());
    const set = [...values].map(([name, { text }]) => [name, text]);
    expect({ set, problems }).toEqual({ set: [['strangers', 'quiet']], problems: [] });
  });

  test('without its comment signs sets every setting to its default', () => {
    const bare = exampleFile().replaceAll(/^#(?=\w+ = |\[)/gm, '');
    const { values, problems } = readConfigFile(bare);
    expect(problems).toEqual([]);
    const [tables, plain] = [true, false].map((isTable) =>
      settingRows.filter(([, row]) => (row.tables !== undefined) === isTable),
    );
    const texts = plain?.map(([name]) => [name, values.get(name)?.text]);
    expect(texts).toEqual(plain?.map(([name, row]) => [name, row.fresh ?? row.default]));
    // A table has no default; the example is one that is read, with every key.
    for (const [name, { tables: form, read }] of tables ?? []) {
      const text = values.get(name)?.text ?? '';
      expect(() => read(text)).not.toThrow();
      const keys = Object.values(form?.keys ?? {}).map(({ key }) => key);
      expect(Object.values<object>(JSON.parse(text)).map(Object.keys)).toEqual([keys]);
    }
  });
});
