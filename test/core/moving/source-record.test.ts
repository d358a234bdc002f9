/** Records of another server, field by field: each is as specified, or the record is left out. */

import { describe, expect, test } from 'bun:test';
import {
  readDomainRecord,
  readLinkRecord,
  readSlotRecord,
} from '../../../src/core/moving/source-record.ts';
import { isMisfit, misfitOf } from '../../support/refusal.ts';

const TIME = '2026-11-20 15:00:00';
const LINK = {
  id: 5,
  install_code: 'LinkCode0001',
  install_limit: 3,
  install_count: 0,
  status: 10,
  note: 'note',
  created_at: TIME,
};
const DOMAIN = {
  id: 5,
  domain_hash: 'a'.repeat(64),
  domain_name: 'shop',
  status: 5,
  created_at: TIME,
};
const SLOT = { hwid: 'phone', date: TIME, device_name: 'Pixel' };

const names = (says: string, field: string) =>
  new RegExp(`: ${field} (is not|must be) `).test(says);
const problemOf = (read: unknown) => (isMisfit(read) ? misfitOf(read) : '');

describe('a link', () => {
  test('as specified', () => {
    expect(readLinkRecord(LINK, 180)).toMatchObject({
      record: { id: 5, status: 10, installLimit: 3, createdAtMs: Date.UTC(2026, 10, 20, 12) },
      isMended: false,
    });
  });

  test.each([
    ['id', [0, -1, null, 'x', 1.5]],
    ['install_code', ['', 'short', 5, null, 'a b c d e f ']],
    ['install_limit', [0, 101, null, '', 1.5]],
    ['install_count', [-1, null, 'many']],
    ['status', [0, 6, 9, 11, null, 'active']],
    ['note', [5, {}, true]],
    ['created_at', ['', null, 5, '2026-02-30 00:00:00', '2026-11-20T15:00:00']],
  ])('whose %s is not as specified is named', (field, values) => {
    const wrong = values.filter((value) => {
      const says = problemOf(readLinkRecord({ ...LINK, [field]: value }, 180));
      return field === 'id' ? !says.includes('without an id') : !names(says, field);
    });
    expect(wrong).toEqual([]);
  });
});

describe('a binding', () => {
  test('as specified', () => {
    expect(readDomainRecord(DOMAIN, 180)).toMatchObject({
      record: { id: 5, status: 5, domainName: 'shop' },
    });
  });

  test.each([
    ['domain_hash', ['', 'A'.repeat(64), 5, null]],
    ['status', [0, 6, 11, null]],
    ['created_at', ['', null, 5]],
    ['domain_name', [5, [], false]],
  ])('whose %s is not as specified is named', (field, values) => {
    const wrong = values.filter((value) => {
      const says = problemOf(readDomainRecord({ ...DOMAIN, [field]: value }, 180));
      return !names(says, field);
    });
    expect(wrong).toEqual([]);
  });
});

describe('a slot', () => {
  test('as specified', () => {
    expect(readSlotRecord(SLOT, 180)).toMatchObject({ record: { hwid: 'phone' }, isMended: false });
  });

  test.each([
    ['hwid', ['', 'a,b', 5, null, 'x'.repeat(129)]],
    ['date', ['', null, 5]],
    ['device_name', [5, {}]],
  ])('whose %s is not as specified is named', (field, values) => {
    const read = values.map((value) => readSlotRecord({ ...SLOT, [field]: value }, 180));
    expect(read.filter((one) => problemOf(one) === '')).toEqual([]);
  });
});

test.each([[null], ['text'], [[]], [5]])('%p is no record', (row) => {
  for (const read of [readLinkRecord, readDomainRecord, readSlotRecord]) {
    expect(problemOf(read(row, 180))).toContain('a record that is not an object');
  }
});
