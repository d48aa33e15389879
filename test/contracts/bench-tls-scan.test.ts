import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inTempFolder, runSource } from '../support/command'

test(
  'bench tls-scan scans every server',
  () =>
    inTempFolder(async folder => {
      const json = join(folder, 'results.json')
      const options = ['--endpoints', '20', '--monitors', '20', '--seconds', '2']
      const { code, err } = await runSource(['bench', 'tls-scan', ...options, '--json', json], { TMPDIR: folder })
      // The hub logs that it stops.
      expect({ code, errors: err.match(/"level":"(?:error|fatal)".*/g) }).toEqual({ code: 0, errors: null })
      const figures = Object.fromEntries(JSON.parse(readFileSync(json, 'utf8')).figures.map((one: any) => [one.name, one.value]))
      expect(figures['engine: failed scans']).toBe(0)
      expect(figures['engine: connections of each scan']).toBeGreaterThan(10)
      expect([figures['hub: endpoints without a grade'], figures['hub: skipped checks']]).toEqual([0, 0])
    }),
  180_000,
)
