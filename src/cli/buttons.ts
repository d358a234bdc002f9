/** Options of commands about rides on subscriptions, and about the buttons beside them. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { BUTTON_URL, BUTTONS, RIDE } from '../core/formats.ts';
import { isRefused } from '../core/outcome.ts';
import type { Buttons, OwnRideTerms } from '../core/port/ride.ts';

export interface ButtonOptions {
  supportUrl?: string;
  webPageUrl?: string;
}

export interface RideOptions extends ButtonOptions {
  ride?: (typeof RIDE.values)[number] | 'default';
  rideDesktop?: 'yes' | 'no';
  buttons?: (typeof BUTTONS.values)[number];
}

/** Reads the address of a button, or `none`. */
function urlValue(text: string): string {
  if (text === 'none' || !isRefused(BUTTON_URL.read(text))) return text;
  throw new InvalidArgumentError(`the address of a button is ${BUTTON_URL.rule}, or none`);
}

/** Adds the options of buttons. */
export function addButtons(command: Command): Command {
  return command
    .option('--support-url <url>', 'the address of the support button in apps, or none', urlValue)
    .option('--web-page-url <url>', 'the address of the page button in apps, or none', urlValue);
}

/** Adds the options of rides, buttons included. */
export function addRide(command: Command): Command {
  const riding = command
    .addOption(
      new Option(
        '--ride <what>',
        'the highest level of rides on subscriptions; default: the configured one',
      ).choices([...RIDE.values, 'default']),
    )
    .addOption(
      new Option(
        '--ride-desktop <answer>',
        'whether notifications also ride to desktop systems',
      ).choices(['yes', 'no']),
    );
  return addButtons(riding).addOption(
    new Option(
      '--buttons <when>',
      'when buttons are sent: if the panel sends none (missing), or always',
    ).choices(BUTTONS.values),
  );
}

/** Returns the buttons that the options set. */
export function givenButtons({ supportUrl, webPageUrl }: ButtonOptions): Partial<Buttons> {
  return {
    ...(supportUrl !== undefined && { supportUrl: orNull(supportUrl) }),
    ...(webPageUrl !== undefined && { webPageUrl: orNull(webPageUrl) }),
  };
}

const orNull = (url: string) => (url === 'none' ? null : url);

/** Returns the terms that the options set. */
export function givenRide(options: RideOptions): Partial<OwnRideTerms> {
  const { ride, rideDesktop, buttons } = options;
  return {
    ...(ride !== undefined && { ride: ride === 'default' ? null : ride }),
    ...(rideDesktop !== undefined && { rideDesktop: rideDesktop === 'yes' ? 1 : 0 }),
    ...(buttons !== undefined && { buttons: buttons === 'always' ? buttons : null }),
    ...givenButtons(options),
  };
}

/** Returns buttons as JSON. */
export const buttonView = ({ supportUrl, webPageUrl }: Buttons) => ({
  support_url: supportUrl,
  web_page_url: webPageUrl,
});

/** Returns the terms of a provider as JSON, with the values of the options. */
export const rideView = (own: OwnRideTerms) => ({
  ride: own.ride ?? 'default',
  ride_desktop: own.rideDesktop === 1 ? 'yes' : 'no',
  ...buttonView(own),
  buttons: own.buttons ?? 'missing',
});
