import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { inTempFolder, runSource } from '../support/command'

const agents = 50

test(
  'a hub accepts the reports and the backlogs of agents, and a report costs at most 10 ms of CPU time',
  () =>
    inTempFolder(async folder => {
      const file = join(folder, 'agents.json')
      const size = ['--agents', String(agents), '--backlog', '2', '--warm-up', '1', '--seconds', '1']
      const args = ['bench', 'agents', ...size, '--only', 'minute', 'backlog', '--json', file]
      const { code, err } = await runSource(args, { TMPDIR: folder, BAILIWICK_LOG_LEVEL: 'error' })
      expect({ code, err }).toEqual({ code: 0, err: '' })
      const figures = JSON.parse(readFileSync(file, 'utf8')).figures as { name: string; value: number }[]
      const valueOf = (name: string) => figures.find(one => one.name === name)!.value
      expect(valueOf('minute of all at once: reports')).toBeGreaterThanOrEqual(agents)
      expect(valueOf('minute of all at once: CPU of the hub')).toBeLessThanOrEqual(agents * 10)
      expect(valueOf('backlog: minutes')).toBeGreaterThan(0)
    }),
  180_000,
)
