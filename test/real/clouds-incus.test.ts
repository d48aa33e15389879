import { afterAll, beforeAll, describe } from 'bun:test'
import { cloudContract } from '../support/clouds/cloud-contract'
import { IncusServer } from '../support/clouds/incus-server'
import { incusUnderTest } from '../support/clouds/incus-under-test'

describe.each(['incus', 'lxd'] as const)('%s', flavor => {
  let server: IncusServer
  beforeAll(async () => {
    server = await IncusServer.start(flavor)
  }, 60_000)
  afterAll(async () => {
    await server?.stop()
  }, 60_000)

  cloudContract('the contract', () => incusUnderTest(server))
})
