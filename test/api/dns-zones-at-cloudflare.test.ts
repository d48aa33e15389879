import { afterAll } from 'bun:test'
import { CloudflareDouble } from '../support/cloudflare'
import { cloudflareUnderTest } from '../support/cloudflare-under-test'
import { driftContract, troubleContract } from '../support/drift-contract'
import { hubContract } from '../support/hub-contract'

const double = await new CloudflareDouble().start()
afterAll(() => double.stop())

for (const contract of [hubContract, driftContract, troubleContract])
  contract('cloudflare', async () => cloudflareUnderTest(double))
