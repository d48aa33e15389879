import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inTempFolder, runSource } from '../support/command'

test(
  'bench tls-scan scans every server',
  () =>
    inTempFolder(async folder => {
      const json = join(folder, 'results.json')
      const { code, err } = await runSource(['bench', 'tls-scan', '--endpoints', '20', '--json', json], { TMPDIR: folder })
      expect({ code, err }).toEqual({ code: 0, err: '' })
      const figures = Object.fromEntries(JSON.parse(readFileSync(json, 'utf8')).figures.map((one: any) => [one.name, one.value]))
      expect(figures['failed scans']).toBe(0)
      expect(figures['connections of each scan']).toBeGreaterThan(10)
    }),
  180_000,
)
