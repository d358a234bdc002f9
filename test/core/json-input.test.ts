/** JSON from outside is measured by its bytes before anything is decoded or built. */

import { describe, expect, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import { JSON_NESTING_MAX, readJsonObject } from '../../src/core/json-input.ts';
import { malformed, Refused } from '../../src/core/outcome.ts';

const BOUNDS = { bytesMax: 1_000, valuesMax: 100 };
const read = (json: string | Uint8Array) => readJsonObject(json, BOUNDS, 'the file');
const bytes = (json: string) => new TextEncoder().encode(json);
const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

const TOO_LONG = new Refused('over_bounds', {
  detail: 'the file must not be longer than 1000 bytes',
});
const TOO_DEEP = new Refused('over_bounds', {
  detail: 'the file must not nest deeper than 32 levels',
});
const TOO_MANY = new Refused('over_bounds', {
  detail: 'the file must not hold more than 100 values',
});
const NO_OBJECT = malformed('the file must be a JSON object in UTF-8');

describe('a reader of JSON', () => {
  test.each([
    ['nothing', '', NO_OBJECT],
    ['an object', '{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ['a list', '[{}]', NO_OBJECT],
    ['half an object', '{"a":1', NO_OBJECT],
    ['an open string', '{"a', NO_OBJECT],
    ['a string that ends in a backslash', '{"a\\', NO_OBJECT],
    ['as many levels as may be', nested(32), JSON.parse(nested(32))],
    ['a level more', nested(33), TOO_DEEP],
    ['brackets alone', '['.repeat(1_000), TOO_DEEP],
    ['braces alone', '{"":'.repeat(250), TOO_DEEP],
    ['brackets in a text', `{"a":"${'['.repeat(900)}"}`, { a: '['.repeat(900) }],
    ['brackets behind a quote in a text', `{"a":"\\"${'['.repeat(900)}"}`, 'object'],
    ['brackets behind a text that ends in a backslash', `{"a":"\\\\",${'['.repeat(900)}`, TOO_DEEP],
    ['brackets that close first', `${']'.repeat(100)}${'['.repeat(133)}`, TOO_MANY],
    ['as many values as may be', `{"a":[${'0,'.repeat(98)}0]}`, 'object'],
    ['a value more', `{"a":[${'0,'.repeat(99)}0]}`, TOO_MANY],
    ['as many members as may be', `{${'"a":0,'.repeat(99)}"a":0}`, { a: 0 }],
    ['a member more', `{${'"a":0,'.repeat(100)}"a":0}`, TOO_MANY],
    ['empty objects', `{"a":[${'{},'.repeat(50)}{}]}`, TOO_MANY],
    ['commas in a text', `{"a":"${','.repeat(900)}"}`, 'object'],
    ['as many bytes as may be', `{"a":"${'x'.repeat(992)}"}`, 'object'],
    ['a byte more', `{"a":"${'x'.repeat(993)}"}`, TOO_LONG],
    ['as many characters, and more bytes', `{"a":"${'я'.repeat(497)}"}`, TOO_LONG],
  ] as const)('finds %s', (_name, json, expected) => {
    for (const got of [read(json), read(bytes(json))]) {
      expect(got).toEqual(expected === 'object' ? JSON.parse(json) : expected);
    }
  });

  test('finds bytes that are not UTF-8', () => {
    expect(read(Buffer.from('{"a":"\xff"}', 'latin1'))).toEqual(NO_OBJECT);
  });

  test('has nothing decoded or built that is over a bound', () => {
    const parse = spyOn(JSON, 'parse');
    const decode = spyOn(TextDecoder.prototype, 'decode');
    try {
      for (const json of [nested(33), `{"a":[${'0,'.repeat(99)}0]}`, ' '.repeat(1_001)]) {
        read(json);
        read(bytes(json));
      }
      expect(parse).not.toHaveBeenCalled();
      expect(decode).not.toHaveBeenCalled();
    } finally {
      parse.mockRestore();
      decode.mockRestore();
    }
  });

  test('counts levels and values as they are', () => {
    const { letrec, dictionary, array, string, constant, oneof } = fc;
    const { tree } = letrec((tie) => ({
      tree: oneof(
        { maxDepth: 40, depthSize: 'max' },
        oneof(string({ unit: 'binary' }), constant(0), constant(null)),
        array(tie('tree'), { maxLength: 3 }),
        dictionary(string({ unit: 'binary' }), tie('tree'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const whole = { value };
        const [levels, values] = shapeOf(whole);
        const json = JSON.stringify(whole);
        const bounds = { bytesMax: 1_000_000, valuesMax: values };
        const fits = readJsonObject(json, bounds, 'it');
        if (levels > JSON_NESTING_MAX) {
          expect(fits).toMatchObject({ detail: 'it must not nest deeper than 32 levels' });
        } else {
          expect(fits).toEqual(JSON.parse(json));
          const tight = { ...bounds, valuesMax: values - 1 };
          expect(readJsonObject(json, tight, 'it')).toMatchObject({ says: 'over_bounds' });
        }
      }),
    );
  });
});

/** Levels; and values as the reader counts them: arrays, objects, and what follows a comma. */
function shapeOf(value: unknown): [levels: number, values: number] {
  if (typeof value !== 'object' || value === null) return [0, 0];
  const parts = Object.values(value).map(shapeOf);
  const levels = Math.max(0, ...parts.map(([deep]) => deep));
  const within = parts.reduce((sum, [, count]) => sum + count, 0);
  return [levels + 1, within + 1 + Math.max(0, parts.length - 1)];
}
