/** `gatepost gateway …`: the ways to devices. */

import type { Command } from 'commander';
import type { CliContext } from './context.ts';
import { addGatewayListCommand } from './gateway-list.ts';
import { addGatewayTestCommand } from './gateway-test.ts';

export function addGatewayCommands(program: Command, context: CliContext): void {
  const gateway = program
    .command('gateway')
    .description('look at the gateways to devices, try one');
  addGatewayListCommand(gateway, context);
  addGatewayTestCommand(gateway, context);
}
