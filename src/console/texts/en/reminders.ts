import { count } from './count.ts';

/** The texts of the page of reminders, loaded with it: the first page is small without them. */
export const texts = {
  reminders: {
    what: 'Texts for customers whose subscription ends or whose traffic runs out. Each customer gets a reminder once, in their language, and none after renewing.',
    needsPlan: 'Nothing is sent: your Gatepost plan has no notifications.',
    before: (n: number, isDays: boolean) =>
      `${isDays ? count(n, 'day', 'days') : count(n, 'hour', 'hours')} before the end`,
    after: (n: number) =>
      n === 0 ? 'On the last day' : `${count(n, 'day', 'days')} after the end`,
    used: (n: string) => `${n}% of the traffic used`,
    silent: (n: number) => `Not updated for ${count(n, 'day', 'days')}`,
    amounts: {
      before_end: 'Hours before the end',
      after_end: 'Days after the end',
      traffic: 'Per cent of the traffic',
      inactive: 'Days without an update',
    },
    states: { on: 'On', off: 'Off', waits: 'Waiting', foreign_link: 'Not sent' },
    foreignHint:
      'Its text leads to a host that neither your support button nor your page button has any more.',
    changedByKey: (from: string) =>
      `An API key wrote this text. It is used from ${from}, or when a person confirms it.`,
    waiting: 'An API key changed what your customers see',
    waitingHint:
      'It is used after 24 hours, or when you confirm it. If this was not you, change it back and make a new API key.',
    moved: (field: string, before: string, now: string, from: string) =>
      `${field}: ${before} → ${now}, from ${from}`,
    noAddress: 'none',
    confirm: 'Use it now',
    confirmHint: 'All that API keys changed until now is shown to your customers from now on.',
    add: 'Add a reminder',
    addDefaults: 'Add the five usual ones',
    own: 'with a text of your own',
    none: 'No reminders yet',
    noneHint: 'Begin with the five usual ones. Read their texts, then switch them on.',
    text: (language: string) => `Text in ${language}`,
    textHint:
      'At least one. English, or else the first one, is for all other languages. An empty text is none.',
    pushText: 'A push notification shows',
    neutral: 'that there is news',
    full: 'the whole text',
    pushHint: 'Push services and lock screens read what it shows.',
    placeholders: 'Placeholders',
    switchOn: 'Switch on',
    switchOff: 'Switch off',
    switchOnHint:
      'From then on, end and traffic of your customers’ subscriptions are kept. Reminders need them.',
    edit: 'Edit',
    remove: 'Delete',
    removeTitle: 'Delete this reminder?',
    removeHint: 'What was sent stays with your customers.',
    hours: 'Quiet hours',
    hoursHint:
      'No reminder is sent between these two times. The time zone is also that of dates in messages.',
    usualZone: 'UTC+3 (usual)',
  },
  rounds: {
    title: 'What was sent',
    hint: 'A line for each reminder and day, in UTC.',
    none: 'Nothing yet.',
    day: 'Day',
    reminder: 'Reminder',
    sent: 'Devices',
    got: 'Got it',
    ended: 'Ended before receipt',
    removed: 'Deleted reminder',
    stopped: 'Reminders have stopped',
    stoppedHint: (moved: string, all: string, at: string) =>
      `${moved} of ${all} subscriptions were renewed or began to end within an hour, on ${at}. Perhaps the panel says something wrong: look there first.`,
    resume: 'Let them go on',
    resumeHint: 'Customers are reminded again by what the panel says now.',
  },
};
