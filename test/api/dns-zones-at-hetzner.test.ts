import { afterAll } from 'bun:test'
import { driftContract, troubleContract } from '../support/drift-contract'
import { HetznerDouble } from '../support/hetzner'
import { hetznerUnderTest } from '../support/hetzner-under-test'
import { hubContract } from '../support/hub-contract'

const double = await new HetznerDouble().start()
// The clock of the hub stands still while a change is applied.
double.finishesAtOnce = true
afterAll(() => double.stop())

for (const contract of [hubContract, driftContract, troubleContract]) contract('hetzner', async () => hetznerUnderTest(double))
