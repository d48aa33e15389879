import { expect, test } from 'bun:test'
import { decideEnrolment, kindOf, type Enrolment } from './enrolment'

const nothing: Enrolment = {
  ...{ machineIdHash: 'mine', isManual: false, mayMatch: false, ofKey: null, ofMachine: null, ofAddress: null },
}
const decided = (changed: Partial<Enrolment>) => decideEnrolment({ ...nothing, ...changed })
const server = (agent: { machineIdHash: string; isReporting: boolean } | null = null) => ({ serverId: 'srv_1', agent })

test('an unknown machine becomes a new server', () => {
  expect(decided({})).toEqual({ serverId: null, needsApproval: false })
  expect(decided({ isManual: true })).toEqual({ serverId: null, needsApproval: true })
})

test('the key of a server enrolls its agent, unless another machine reports about it', () => {
  const cases: [Enrolment['ofKey'], boolean][] = [
    [server(), false],
    [server({ machineIdHash: 'mine', isReporting: true }), false],
    [server({ machineIdHash: 'other', isReporting: false }), false],
    [server({ machineIdHash: 'other', isReporting: true }), true],
  ]
  for (const [ofKey, needsApproval] of cases) expect(decided({ ofKey })).toEqual({ serverId: 'srv_1', needsApproval })
  expect(decided({ ofKey: server(), isManual: true }).needsApproval).toBe(true)
})

test('a known machine needs approval, whatever the address is', () => {
  const ofMachine = { serverId: 'srv_2' }
  expect(decided({ ofMachine, ofAddress: server(), mayMatch: true })).toEqual({ serverId: 'srv_2', needsApproval: true })
  expect(decided({ ofMachine, ofKey: server() })).toEqual({ serverId: 'srv_1', needsApproval: false })
})

test('the server with the address of the agent is offered, and linked if the key allows it', () => {
  expect(decided({ ofAddress: server() })).toEqual({ serverId: 'srv_1', needsApproval: true })
  expect(decided({ ofAddress: server(), mayMatch: true })).toEqual({ serverId: 'srv_1', needsApproval: false })
  const taken = server({ machineIdHash: 'other', isReporting: false })
  expect(decided({ ofAddress: taken, mayMatch: true }).needsApproval).toBe(true)
})

test('the kind of a server follows from its virtualization', () => {
  expect(['none', 'lxc', 'docker', 'kvm', 'vmware', undefined].map(kindOf)).toEqual([
    ...(['bare_metal', 'container', 'container', 'vm', 'vm', 'external'] as const),
  ])
})
