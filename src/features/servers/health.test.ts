import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { healthOf, type Proofs } from './health'
import { powerStates, serverStatuses } from './shapes'

const monitor = fc.record({ isUp: fc.boolean().map(Boolean) })
const anyProofs: fc.Arbitrary<Proofs> = fc.record({
  status: fc.constantFrom(...serverStatuses),
  power: fc.constantFrom(...powerStates),
  isCloudFresh: fc.boolean().map(Boolean),
  monitors: fc.array(monitor, { maxLength: 3 }),
  agent: fc.option(
    fc.record({
      state: fc.constantFrom(...(['reporting', 'silent', 'stopped', 'disconnected'] as const)),
      lastSeenAt: fc.constant(0),
    }),
  ),
})

const base: Proofs = { status: 'running', power: 'on', isCloudFresh: true, monitors: [] }
const up = { isUp: true }
const down = { isUp: false }
const agent = (state: NonNullable<Proofs['agent']>['state']) => ({ agent: { state, lastSeenAt: 0 } })

test('a sign of life counts more than a sign of death, and both more than the word of the cloud', () => {
  const table: [Partial<Proofs>, string, string | null][] = [
    [{}, 'up', 'cloud'],
    [{ monitors: [up] }, 'up', 'monitor'],
    [{ monitors: [down] }, 'down', 'monitor'],
    [{ monitors: [down, up] }, 'up', 'monitor'],
    [{ power: 'off', status: 'off', monitors: [up] }, 'up', 'monitor'],
    [{ power: 'off', status: 'off' }, 'down', 'cloud'],
    [{ power: 'off', status: 'off', isCloudFresh: false }, 'unknown', null],
    [{ power: 'off', status: 'off', monitors: [down] }, 'down', 'cloud'],
    [{ monitors: [down], ...agent('reporting') }, 'up', 'agent'],
    [{ power: 'off', status: 'off', ...agent('reporting') }, 'up', 'agent'],
    [{ status: 'deleted', ...agent('reporting') }, 'unknown', null],
    [agent('silent'), 'down', 'agent'],
    [{ monitors: [up], ...agent('silent') }, 'up', 'monitor'],
    [{ power: 'off', status: 'off', ...agent('silent') }, 'down', 'cloud'],
    [{ isCloudFresh: false, ...agent('silent') }, 'down', 'agent'],
    [{ status: 'suspended', ...agent('silent') }, 'unknown', null],
    [{ status: 'suspended', isCloudFresh: false, ...agent('silent') }, 'down', 'agent'],
    [agent('stopped'), 'up', 'cloud'],
    [{ isCloudFresh: false, ...agent('stopped') }, 'unknown', null],
    [{ power: 'off', status: 'off', ...agent('stopped') }, 'down', 'cloud'],
    [agent('disconnected'), 'up', 'cloud'],
    [{ isCloudFresh: false, ...agent('disconnected') }, 'unknown', null],
    [{ isCloudFresh: false, monitors: [down], ...agent('disconnected') }, 'down', 'monitor'],
    [{ isCloudFresh: false }, 'unknown', null],
    [{ isCloudFresh: false, monitors: [down] }, 'down', 'monitor'],
    [{ status: 'rebooting', power: 'unknown' }, 'unknown', null],
    [{ status: 'draft', power: 'unknown' }, 'unknown', null],
    [{ status: 'missing', power: 'unknown' }, 'unknown', null],
    [{ status: 'deleted', power: 'unknown' }, 'unknown', null],
  ]
  for (const [proofs, health, source] of table)
    expect({ proofs, ...healthOf({ ...base, ...proofs }) }).toMatchObject({ proofs, health, source })
})

test('a server is only up with an agent that reports, a monitor that is up, or while the cloud confirms that it is running', () => {
  fc.assert(
    fc.property(anyProofs, proofs => {
      const { health, source, reason } = healthOf(proofs)
      const isReporting = proofs.agent?.state === 'reporting' && proofs.status !== 'deleted'
      const isAlive = isReporting || proofs.monitors.some(one => one.isUp)
      if (health === 'up') expect(isAlive || (proofs.isCloudFresh && proofs.status === 'running')).toBe(true)
      if (isAlive) expect(health).toBe('up')
      if (source === 'cloud') expect(proofs.isCloudFresh).toBe(true)
      expect(source === null).toBe(health === 'unknown')
      expect(reason).toMatch(/^(?:The(?:re)?|A|All) .+\.$/)
    }),
  )
})

test('the order of monitors changes nothing', () => {
  fc.assert(
    fc.property(anyProofs, proofs => {
      const reversed = healthOf({ ...proofs, monitors: proofs.monitors.toReversed() })
      expect(reversed).toEqual(healthOf(proofs))
    }),
  )
})
