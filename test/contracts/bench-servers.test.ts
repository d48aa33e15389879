import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inTempFolder, runSource } from '../support/command'

test(
  'a reading of an account with 1,000 servers costs at most 25 requests and 1 s of CPU time',
  () =>
    inTempFolder(async folder => {
      const file = join(folder, 'servers.json')
      const args = ['bench', 'servers', '--servers', '300', '--only', 'lists', 'sync', '--json', file]
      const { code, err } = await runSource(args, { TMPDIR: folder })
      expect({ code, err }).toEqual({ code: 0, err: '' })
      const figures = JSON.parse(readFileSync(file, 'utf8')).figures as { name: string; value: number }[]
      const valueOf = (name: string) => figures.find(one => one.name === name)!.value
      expect(valueOf('sync: requests')).toBeLessThanOrEqual(valueOf('sync: requests, goal'))
      expect(valueOf('sync: CPU')).toBeLessThanOrEqual(valueOf('sync: CPU, goal'))
      expect(figures.filter(one => one.name.startsWith('list ') && !(one.value > 0))).toEqual([])
    }),
  180_000,
)
