import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cloudContract } from '../support/clouds/cloud-contract'
import { IncusDouble } from '../support/clouds/incus-double'
import { incusDoubleUnderTest } from '../support/clouds/incus-double-under-test'

const double = new IncusDouble()
beforeAll(() => double.start())
afterAll(() => double.stop())

cloudContract('a double of Incus', async () => incusDoubleUnderTest(double))

const firewall = { id: 'fw_00000000000000000000000001', name: 'web', rules: [], detach: [] }

/** A running server of the double with the firewall. */
async function filtered(name: string) {
  const instance = double.create(name)
  instance.status = 'Running'
  const refs = [instance.config['volatile.uuid']!]
  const { cloud } = incusDoubleUnderTest(double)
  await cloud.setFirewall!({ ...firewall, refs })
  return { instance, refs, cloud }
}

test('a network interface that no longer drops incoming packets has lost its firewall, and gets it back', async () => {
  const { instance, refs, cloud } = await filtered('changed')
  const attached = async () => (await cloud.readFirewalls!([{ id: firewall.id, refs }]))[0]!.refs
  const key = 'security.acls.default.ingress.action'
  expect(await attached()).toEqual(refs)
  instance.devices.eth0![key] = 'allow'
  expect(await attached()).toEqual([])
  await cloud.setFirewall!({ ...firewall, refs })
  expect([instance.devices.eth0![key], await attached()]).toEqual(['drop', refs])
  double.remove(instance)
})
