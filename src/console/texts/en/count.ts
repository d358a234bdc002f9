const format = new Intl.NumberFormat('en-GB');

export const count = (n: number, one: string, other: string) =>
  `${format.format(n)} ${n === 1 ? one : other}`;
