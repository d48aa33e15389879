import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { succeeds } from './support/suite'

// Lints the OpenAPI document with Redocly: `bun run openapi:lint`. Uses Node.js for Redocly if it is installed.
const folder = mkdtempSync(join(tmpdir(), 'bailiwick-openapi-'))
const file = join(folder, 'openapi.json')
const redocly = [
  Bun.which('node') ?? process.execPath,
  'node_modules/@redocly/cli/bin/cli.js',
  'lint',
  file,
  '--config',
  'src/hub/redocly.yaml',
]
// Disables update checks and telemetry.
const env = { REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' }
const passed =
  (await succeeds([process.execPath, 'src/bin/hub.ts', 'openapi', '--output', file])) && (await succeeds(redocly, env))
rmSync(folder, { recursive: true, force: true })
process.exit(passed ? 0 : 1)
