import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'

export function addOpenapi(program: Command): void {
  program
    .command('openapi')
    .description('Print the OpenAPI document of the REST API.')
    .option('--output <file>', 'write it to a file instead')
    .addHelpText(
      'after',
      `
Needs no hub and no database. A running hub serves its own, with its own address in it, at /v1/openapi.json.

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
