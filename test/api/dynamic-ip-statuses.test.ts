import { expect, spyOn, test } from 'bun:test'
import { pruneDynamicIpHistory, watchSources } from '../../src/features/dynamic-ips/watch'
import { world } from '../support/world'
import { createZone } from '../support/zones'
import { createSource, reportTo, sourceOf, recordsOf, routerReports, kindsOfNotices } from '../support/dynamic-ips'

test('two clients with one token hold the source, until it is resumed or they stop', async () => {
  const w = await world()
  const zone = await createZone(w.acme)
  const { id, secret } = await createSource(w)
  const answers: string[] = []
  for (let n = 0; n < 10; n++) {
    answers.push(await routerReports(w, secret, n % 2 ? '203.0.113.8' : '203.0.113.7', n % 2 ? 'inadyn/2.10' : 'ddclient/3.10.0'))
    await w.advance(60_000)
  }
  expect(answers.filter(one => one === '503 911').length).toBeGreaterThan(0)
  const held = await sourceOf(w, id)
  expect(held).toMatchObject({ status: 'held', status_reason: { code: 'two_clients' } })
  for (const part of ['ddclient/3.10.0', 'inadyn/2.10', '203.0.113.7', '203.0.113.8'])
    expect(held.status_reason.detail).toContain(part)
  expect(await kindsOfNotices(w)).toEqual([['dynamic_ip.held', 1]])
  expect(await w.audited()).toContain('dynamic_ip.hold')
  // Repeating the stored address is no change.
  expect(await routerReports(w, secret, held.ipv4)).toBe(`200 nochg ${held.ipv4}`)
  expect((await w.acme.call('POST', `/v1/dynamic-ips/${id}/resume`)).body).toMatchObject({ status: 'fresh', status_reason: null })
  expect(await routerReports(w, secret, '203.0.113.9')).toBe('200 good 203.0.113.9')
  expect(await recordsOf(w, zone)).toContain('office A 203.0.113.9 dynamic')
  // It also ends by itself, half an hour after the last refused change.
  for (let n = 0; n < 8; n++) {
    await w.advance(60_000)
    await routerReports(w, secret, n % 2 ? '203.0.113.8' : '203.0.113.7')
  }
  expect((await sourceOf(w, id)).status).toBe('held')
  await w.advance(29 * 60_000)
  await watchSources(w.hub)
  expect((await sourceOf(w, id)).status).toBe('held')
  await w.advance(60_000)
  await watchSources(w.hub)
  expect((await sourceOf(w, id)).status).toBe('fresh')
})

test('repeating a refused address does not extend a hold', async () => {
  const w = await world()
  const { id, secret } = await createSource(w, { hosts: [] })
  for (let n = 0; n < 10; n++) {
    await routerReports(w, secret, n % 2 ? '203.0.113.8' : '203.0.113.7')
    await w.advance(60_000)
  }
  const { ipv4, status } = await sourceOf(w, id)
  expect(status).toBe('held')
  const other = ipv4 === '203.0.113.7' ? '203.0.113.8' : '203.0.113.7'
  for (let n = 0; n < 2; n++) {
    expect(await routerReports(w, secret, other)).toBe('503 911')
    await w.advance(600_000)
  }
  await w.advance(600_000)
  await watchSources(w.hub)
  expect(await routerReports(w, secret, other)).toBe(`200 good ${other}`)
})

test('only reports that are not refused count as a sign of life', async () => {
  const w = await world()
  const { id, secret } = await createSource(w, { hosts: [], stale_after_seconds: 300 })
  await routerReports(w, secret, '203.0.113.7')
  for (let n = 0; n < 4; n++) {
    await w.advance(100_000)
    expect(await routerReports(w, secret, '192.168.1.1')).toBe('200 dnserr')
    await reportTo(w, id, { ipv4: '203.0.113.7' })
    await watchSources(w.hub)
  }
  expect((await sourceOf(w, id)).status).toBe('stale')
  // Neither does setting an address manually.
  await reportTo(w, id, { ipv4: '203.0.113.8' })
  await watchSources(w.hub)
  expect((await sourceOf(w, id)).status).toBe('stale')
  expect(await kindsOfNotices(w)).toEqual([['dynamic_ip.stale', 1]])
  expect((await w.acme.call('GET', `/v1/dynamic-ips/${id}/updates?changed=false`)).body.data[0].explanation).toContain('private')
})

test('reports that could not be stored are stored later', async () => {
  const w = await world()
  const { id, secret } = await createSource(w, { hosts: [] })
  await routerReports(w, secret, '203.0.113.7')
  await w.advance(60_000)
  await routerReports(w, secret, '203.0.113.7')
  const seenAt = new Date(w.clock.now()).toISOString()
  const store = spyOn(w.hub.store, 'transact').mockRejectedValue(new Error('the disk is full'))
  await expect(watchSources(w.hub)).rejects.toThrow('the disk is full')
  store.mockRestore()
  await watchSources(w.hub)
  expect((await sourceOf(w, id)).last_seen_at).toBe(seenAt)
})

test('an address that changes more than 20 times in an hour holds the source', async () => {
  const w = await world()
  const { id, secret } = await createSource(w, { hosts: [] })
  for (let n = 0; n <= 22; n++) {
    await routerReports(w, secret, `203.0.113.${n + 1}`)
    await w.advance(120_000)
  }
  expect(await sourceOf(w, id)).toMatchObject({ status: 'held', status_reason: { code: 'flapping' } })
})

test('a source that stops reporting becomes stale, with one notice, and fresh with the next report', async () => {
  const w = await world()
  await createZone(w.acme)
  const { id, secret } = await createSource(w, { stale_after_seconds: 300 })
  await routerReports(w, secret, '203.0.113.7')
  await w.advance(200_000)
  expect(await routerReports(w, secret, '203.0.113.7')).toBe('200 nochg 203.0.113.7')
  await watchSources(w.hub)
  const seen = await sourceOf(w, id)
  expect(seen).toMatchObject({ status: 'fresh', last_seen_at: new Date(w.clock.now()).toISOString() })
  expect((await w.acme.call('GET', `/v1/dynamic-ips/${id}/updates?changed=false`)).body.data).toMatchObject([
    { response_lines: ['nochg 203.0.113.7'], client: 'ddclient', changed: false },
  ])
  await w.advance(316_000)
  await watchSources(w.hub)
  await watchSources(w.hub)
  expect((await sourceOf(w, id)).status).toBe('stale')
  expect((await sourceOf(w, id)).hosts[0].records).toHaveLength(1)
  expect(await kindsOfNotices(w)).toEqual([['dynamic_ip.stale', 1]])
  await routerReports(w, secret, '203.0.113.7')
  await watchSources(w.hub)
  expect((await sourceOf(w, id)).status).toBe('fresh')
})

test('the history has each change, and the last 20 other reports', async () => {
  const w = await world()
  const { id, secret } = await createSource(w, { hosts: [] })
  await routerReports(w, secret, '203.0.113.7')
  for (let n = 0; n < 30; n++) {
    await w.advance(60_000)
    await routerReports(w, secret, '203.0.113.7', `client-${n}/1`)
    await watchSources(w.hub)
  }
  const { data } = (await w.acme.call('GET', `/v1/dynamic-ips/${id}/updates?limit=100`)).body
  expect(data.map((one: any) => one.changed)).toEqual([...Array.from({ length: 20 }, () => false), true])
  expect(data[0].user_agent).toBe('client-29/1')
  await w.limit(w.acme.workspaceId, { dynamic_ip_history_days: 1 })
  await w.advance(2 * 86_400_000)
  await pruneDynamicIpHistory(w.hub)
  expect((await w.acme.call('GET', `/v1/dynamic-ips/${id}/updates`)).body.data).toEqual([])
})
