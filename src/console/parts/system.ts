/** Operating systems with their usual spelling. */

const NAMES: Readonly<Record<string, string>> = {
  android: 'Android',
  ios: 'iOS',
  linux: 'Linux',
  macos: 'macOS',
  windows: 'Windows',
};

/** Returns the name of a system; an unknown one as the device reported it. */
export const systemName = (os: string) => NAMES[os] ?? os;
