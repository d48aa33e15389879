import { afterAll, beforeAll } from 'bun:test'
import { cloudContract } from '../support/clouds/cloud-contract'
import { IncusDouble } from '../support/clouds/incus-double'
import { incusDoubleUnderTest } from '../support/clouds/incus-double-under-test'

const double = new IncusDouble()
beforeAll(() => double.start())
afterAll(() => double.stop())

cloudContract('a double of Incus', async () => incusDoubleUnderTest(double))
