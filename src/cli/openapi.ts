/** `gatepost openapi`: the OpenAPI document. */

import { type Command, Option } from 'commander';
import type { CliContext, CommonOptions } from './context.ts';

interface OpenApiOptions extends CommonOptions {
  yaml?: boolean;
}

async function printDocument(context: CliContext, { json, yaml }: OpenApiOptions): Promise<void> {
  const document = await context.openApiDocument();
  const text = yaml
    ? Bun.YAML.stringify(document, null, 2)
    : JSON.stringify(document, null, json ? 0 : 2);
  context.stdout(`${text.trimEnd()}\n`);
}

export function addOpenApiCommand(program: Command, context: CliContext): void {
  program
    .command('openapi')
    .description('print the OpenAPI document of the HTTP API, as at /openapi.json')
    .addOption(new Option('--yaml', 'print YAML instead of JSON').conflicts('json'))
    .action((options: OpenApiOptions) => printDocument(context, options));
}
