import { afterAll } from 'bun:test'
import { driftContract, troubleContract } from '../support/drift-contract'
import { hubContract } from '../support/hub-contract'
import { powerDnsDouble } from '../support/power-dns-double'
import { powerDnsDoubleUnderTest } from '../support/power-dns-double-under-test'

const double = powerDnsDouble()
afterAll(() => double.stop())

for (const contract of [hubContract, driftContract, troubleContract])
  contract('the double of PowerDNS', async () => powerDnsDoubleUnderTest(double))
