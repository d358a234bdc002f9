import { expect, test } from 'bun:test';
import { OperatorError } from '../../src/base/operator-error.ts';
import { asDiskFault, isReadOnly } from '../../src/disk/fault.ts';
import { freshFolder } from '../support/app.ts';

test('a folder that is there, or is missing, is on no read-only disk', () => {
  const folder = freshFolder();
  expect(isReadOnly(folder)).toBe(false);
  expect(isReadOnly(`${folder}/none`)).toBe(false);
});

test('a fault of a disk becomes a sentence, another one stays as it is', () => {
  const other = new Error('mistake');
  expect(asDiskFault(other, '/data')).toBe(other);
  const fault = Object.assign(new Error('input/output error'), { code: 'EIO' });
  expect(asDiskFault(fault, '/data')).toEqual(
    new OperatorError('cannot write in /data (input/output error); nothing was changed'),
  );
});
