import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isPostgres } from '../../src/core/db/dialect'
import { inTempFolder, runSource } from '../support/command'

test.skipIf(isPostgres)(
  'bench coverage finds the certificates of names and opens gaps for the others',
  () =>
    inTempFolder(async folder => {
      const json = join(folder, 'results.json')
      const options = ['--zones', '2', '--names', '20', '--json', json]
      const { code, err } = await runSource(['bench', 'coverage', ...options], { TMPDIR: folder })
      expect({ code, errors: err.match(/"level":"(?:error|fatal)".*/g) }).toEqual({ code: 0, errors: null })
      const figures = Object.fromEntries(JSON.parse(readFileSync(json, 'utf8')).figures.map((one: any) => [one.name, one.value]))
      // The name servers of both zones have names too. The zones have no CAA records.
      expect([figures['names that a certificate covers'], figures['open gaps']]).toEqual([12, 12])
      expect(figures['evaluation without changes: longest block']).toBeGreaterThan(0)
    }),
  60_000,
)
