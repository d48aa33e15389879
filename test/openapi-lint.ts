import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runs } from './support/suite'

// Holds the printed OpenAPI document against Redocly's rules: `bun run openapi:lint`. Redocly runs on Node.js where there is one.
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
// It would ask the registry for a newer version of itself, and report its use.
const env = { REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' }
const good = (await runs([process.execPath, 'src/bin/hub.ts', 'openapi', '--output', file])) && (await runs(redocly, env))
rmSync(folder, { recursive: true, force: true })
process.exit(good ? 0 : 1)
