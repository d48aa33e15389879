import { expect, test } from 'bun:test'
import { wakeOnLan } from '../../src/features/servers/controllers/wake-on-lan'
import { failureOf } from '../support/controllers/failure'
import { pluginContext } from '../support/plugin-context'

const mac = '52:54:00:12:34:5a'

test.each([mac, '52-54-00-12-34-5A'])('sends magic packets for %s', async written => {
  const packets: Uint8Array[] = []
  const three = Promise.withResolvers<void>()
  const receiver = await Bun.udpSocket({
    hostname: '0.0.0.0',
    socket: {
      data(_, octets) {
        packets.push(Uint8Array.from(octets))
        if (packets.length === 3) three.resolve()
      },
      error() {},
    },
  })
  // The broadcast address of the loopback network.
  const controller = wakeOnLan.open({ mac: written, broadcast: '127.255.255.255', port: receiver.port }, pluginContext())
  expect(await controller.check()).toEqual({
    detail: `Magic packets to 127.255.255.255, port ${receiver.port}`,
    warnings: [],
  })
  expect(await controller.start({ verb: 'power_on' })).toEqual({ state: 'done' })
  await three.promise
  receiver.close()
  const expected = Buffer.from(`ffffffffffff${'52540012345a'.repeat(16)}`, 'hex')
  expect(packets.map(one => Buffer.from(one))).toEqual([expected, expected, expected])
})

test('supports nothing else', async () => {
  expect(await failureOf(wakeOnLan.open({ mac }, pluginContext()).start({ verb: 'power_off' }))).toEqual([
    'refused',
    'Wake-on-LAN does not support power_off. It supports power_on.',
  ])
})

test('the network must be allowed', async () => {
  const around = pluginContext({}, { allowPrivate: false })
  for (const broadcast of ['192.168.1.255', '255.255.255.255', '8.8.8.8']) {
    const controller = wakeOnLan.open({ mac, broadcast }, around)
    expect((await failureOf(controller.check()))[0]).toBe('unreachable')
    expect((await failureOf(controller.start({ verb: 'power_on' })))[0]).toBe('unreachable')
  }
})
