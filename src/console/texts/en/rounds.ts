export const texts = {
  rounds: {
    title: 'What was sent',
    hint: 'A line for each reminder and day, in UTC.',
    none: 'Nothing yet.',
    day: 'Day',
    reminder: 'Reminder',
    sent: 'Devices',
    got: 'Got it',
    ended: 'Ended before',
    removed: 'A removed reminder',
    stopped: 'Reminders have stopped',
    stoppedHint: (moved: string, all: string, at: string) =>
      `${moved} of ${all} subscriptions were renewed or began to end within an hour, on ${at}. Perhaps the panel says something wrong: look there first.`,
    resume: 'Let them go on',
    resumeHint: 'Customers are reminded again by what the panel says now.',
  },
};
