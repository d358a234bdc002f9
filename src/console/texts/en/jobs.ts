export const jobs = {
  title: 'Changes under way',
  changing: 'Links are changed',
  removing: 'Links are removed',
  freeingAll: 'All devices of a link are taken off',
  revoking: 'A link gets a new code',
  undo: 'Undo',
  stop: 'Stop',
  freeing: (hwid: string) => `Device ${hwid} is taken off`,
  in: (s: number) => `in ${s} s`,
  of: (seen: string, all: string) => `${seen} of ${all}`,
};
