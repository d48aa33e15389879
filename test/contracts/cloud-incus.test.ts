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

test('volumes that are attached and detached while servers are listed stay so', async () => {
  const { instance, refs, cloud } = await filtered('volumes')
  const added = { type: 'disk', pool: 'default', source: 'added', path: '/mnt/added' }
  instance.devices = { removed: { ...added, source: 'removed' } }
  double.fault = ({ path }) => {
    // Networks are listed after servers.
    if (path === '/networks') instance.devices = { ...instance.devices, added }
    if (path === '/networks') delete instance.devices.removed
    return null
  }
  await cloud.setFirewall!({ ...firewall, refs })
  expect(instance.devices).toEqual({ added, eth0: expect.objectContaining({ 'security.acls': expect.any(String) }) })
  double.fault = ({ path }) => {
    if (path === '/networks') delete instance.devices.added
    return null
  }
  await cloud.removeFirewall!(firewall.id, refs)
  expect(Object.keys(instance.devices)).toEqual(['eth0'])
  double.fault = () => null
  double.remove(instance)
})
