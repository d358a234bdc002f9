/** Ports that nobody has, for servers that are told theirs. */

/** Below those that the system gives to connections, which could take one before its server. */
const FIRST = 16_000;
const COUNT = 16_000;

/** Returns so many different ports of 127.0.0.1. */
export function freePorts(count: number): number[] {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    try {
      Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true);
      ports.add(port);
    } catch {
      // Somebody has it.
    }
  }
  return [...ports];
}

export function freePort(): number {
  const [port = 0] = freePorts(1);
  return port;
}
