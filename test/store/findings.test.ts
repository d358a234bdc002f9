/** Findings about a database of either kind. */

import { expect, test } from 'bun:test';
import { disabledFinding, olderSchemaFinding } from '../../src/store/findings.ts';

test('a schema that is older than the program is a warning with what to do', () => {
  expect(olderSchemaFinding(7, 9)).toEqual({
    name: 'schema_older',
    subject: null,
    level: 'warning',
    check: 'database',
    what: 'it has schema 7, this program needs 9',
    todo: "make a backup, then restart 'gatepost serve'",
  });
});

test('a webhook that was disabled is a warning with what to do', () => {
  expect(disabledFinding({ id: 3, why: 'it answered 410' })).toMatchObject({
    level: 'warning',
    what: "the operator's webhook 3 is disabled: it answered 410",
    todo: "when its receiver is mended, 'gatepost webhook set 3 --enable'",
  });
});
