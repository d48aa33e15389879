import { expect, spyOn, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { maxLintedRecords } from '../../src/features/dns/lint/lint'
import * as rules from '../../src/features/dns/lint/rules'
import { dnsZones } from '../../src/features/dns/zones/tables'
import { createZone } from '../support/zones'
import { world } from '../support/world'

test('lint refuses a zone with too many records', async () => {
  const { hub, acme } = await world()
  const zone = await createZone(acme)
  await record(hub, async tx => {
    await tx
      .update(dnsZones)
      .set({ recordCount: maxLintedRecords + 1 })
      .where(eq(dnsZones.id, zone.id))
    return { result: undefined }
  })
  const { status, body } = await acme.call('GET', `/v1/dns/zones/${zone.id}/lint`)
  expect([status, body.detail]).toEqual([409, 'Only zones with up to 100000 records can be linted. This zone has 100001.'])
})

test('lint and export stop when the client has left', async () => {
  const { app, acme } = await world()
  const zone = await createZone(acme)
  const linted = spyOn(rules, 'lintSteps')
  for (const what of ['lint', 'export']) {
    const headers = { Authorization: `Bearer ${acme.token}` }
    const request = new Request(`http://localhost:8484/v1/dns/zones/${zone.id}/${what}`, { headers, signal: AbortSignal.abort() })
    expect([what, (await app.handle(request)).status]).toEqual([what, 404])
  }
  expect(linted).not.toHaveBeenCalled()
  linted.mockRestore()
})
