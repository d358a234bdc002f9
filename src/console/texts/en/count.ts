import { counted } from '../../../core/counted.ts';

const format = new Intl.NumberFormat('en-GB');

export const count = (n: number, one: string, other: string) =>
  counted(n, one, other, format.format(n));
