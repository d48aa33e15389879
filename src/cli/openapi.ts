import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'

export function addOpenapi(program: Command): void {
  program
    .command('openapi')
    .description('Print the OpenAPI document of the REST API')
    .option('--output <file>', 'Write to a file instead of standard output')
    .addHelpText(
      'after',
      `
Doesn't need a hub or a database. A running hub serves the document with its own URL at /v1/openapi.json.

Examples:
  bailiwick openapi > openapi.json
  bailiwick openapi --output openapi.json`,
    )
    .action(async ({ output }: { output?: string }) => {
      const { openapiDocument } = await import('../hub/openapi')
      const text = JSON.stringify(await openapiDocument(), null, 2)
      if (output) writeFileSync(output, `${text}\n`)
      else console.log(text)
    })
}
