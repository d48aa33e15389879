import { expect, test } from 'bun:test'
import { cloudKinds } from '../clouds'
import { serverVerbs } from '../clouds/cloud'
import { verbRules } from './verbs'

for (const verb of serverVerbs) {
  const { possibleIn, alreadyIn, passing, endsIn, limitMs, isRepeatable, takesDown } = verbRules[verb]

  test(`${verb} starts and ends in statuses that fit together`, () => {
    expect(possibleIn.length).toBeGreaterThan(0)
    expect(possibleIn.filter(status => alreadyIn.includes(status))).toEqual([])
    for (const list of [possibleIn, alreadyIn, endsIn ?? []]) expect(new Set(list).size).toBe(list.length)
    // What there is nothing to do in is where it ends.
    if (endsIn) expect(alreadyIn.filter(status => !endsIn.includes(status))).toEqual([])
    if (passing !== null) {
      // A server that is being changed can’t be changed otherwise, and looks different afterwards.
      expect(serverVerbs.filter(one => verbRules[one].possibleIn.includes(passing))).toEqual([])
      expect(endsIn ?? []).not.toContain(passing)
      expect(endsIn !== null || verb === 'delete').toBe(true)
    }
    expect(limitMs).toBeGreaterThanOrEqual(5 * 60_000)
    expect(limitMs).toBeLessThanOrEqual(6 * 60 * 60_000)
    // Only what the contract of clouds names has to be looked up before it is sent again.
    expect(isRepeatable).toBe(!['provision', 'reboot', 'power_cycle', 'rebuild', 'restore_snapshot'].includes(verb))
    if (endsIn && !endsIn.includes('running')) expect(takesDown).toBe(true)
    if (verb !== 'provision') expect(possibleIn).not.toContain('draft')
    for (const gone of ['missing', 'deleted'] as const) expect(possibleIn).not.toContain(gone)
  })
}

test('clouds only claim verbs that exist', () => {
  for (const { kind, capabilities } of cloudKinds) {
    expect({ kind, unknown: capabilities.verbs.filter(verb => !(verb in verbRules)) }).toEqual({ kind, unknown: [] })
    expect(capabilities.verbs).toContain('delete')
    expect(new Set(capabilities.verbs).size).toBe(capabilities.verbs.length)
  }
})
