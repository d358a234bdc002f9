export const count = (n: number, one: string, other: string) => `${n} ${n === 1 ? one : other}`;
