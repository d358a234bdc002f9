/** Systems as people write them. */

const NAMES: Readonly<Record<string, string>> = {
  android: 'Android',
  ios: 'iOS',
  linux: 'Linux',
  macos: 'macOS',
  windows: 'Windows',
};

/** Returns the name of a system; one that is not known as the device told it. */
export const systemName = (os: string) => NAMES[os] ?? os;
