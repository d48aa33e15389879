import { expect, test } from 'bun:test'
import type { CheckResult } from '../../src/checks/check'
import { latestOf } from '../../src/features/monitors/live/latest'
import { addMonitor } from '../support/monitor-series'
import { world } from '../support/world'

interface Line {
  name: string
  labels: Record<string, string>
  value: number
}

/**
 * A strict parser for the text format 0.0.4: lines of a metric follow its TYPE, names and labels have valid characters, label values
 * are escaped, and no two lines have the same name and labels.
 */
function parsed(text: string): Line[] {
  expect(text.endsWith('\n')).toBe(true)
  const lines: Line[] = []
  const typed: string[] = []
  const seen = new Set<string>()
  for (const line of text.slice(0, -1).split('\n')) {
    if (line.startsWith('# TYPE ')) {
      const [, name, kind] = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (gauge|counter)$/.exec(line)!
      expect([kind, typed.includes(name!)]).toEqual(['gauge', false])
      typed.push(name!)
      continue
    }
    if (line.startsWith('# HELP ')) continue
    const [, name, inner = '', value] = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    expect([line, name]).toEqual([line, typed.at(-1)])
    const labels: Record<string, string> = {}
    const pair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/gy
    for (let at = 0; at < inner.length; at = pair.lastIndex) {
      pair.lastIndex = at
      const found = pair.exec(inner)
      expect([line, found === null]).toEqual([line, false])
      labels[found![1]!] = found![2]!.replaceAll(/\\(["\\n])/g, (_, char) => (char === 'n' ? '\n' : char))
    }
    const known = `${name} ${JSON.stringify(labels)}`
    expect([known, seen.has(known)]).toEqual([known, false])
    seen.add(known)
    expect(Number.isNaN(Number(value))).toBe(false)
    lines.push({ name: name!, labels, value: Number(value) })
  }
  return lines
}

test('monitors and heartbeats are exported with standard metric names, whatever their own names', async () => {
  const w = await world()
  const name = 'He said "up\\down", {a="b"} 1 # ü\\n'
  const shop = (await w.acme.call('POST', '/v1/monitors', { name, target: 'https://shop.example.com/?a="b"' })).body
  const never = (await w.acme.call('POST', '/v1/monitors', { name: 'never', type: 'group' })).body
  await w.rival.call('POST', '/v1/monitors', { name: 'theirs', type: 'group' })
  const schedule = { kind: 'period', period_seconds: 60, grace_seconds: 60 }
  const beat = (await w.acme.call('POST', '/v1/heartbeats', { name: 'backup', tags: ['b', 'a'], schedule })).body
  const result = {
    at: w.clock.now(),
    status: 'degraded',
    error: null,
    code: 200,
    address: '2001:db8::1',
    phases: { dns: 1.5, connect: 10, tls: 20, first_byte: 30, total: 100 },
    certificate: { chain_not_after: Date.parse('2027-01-01T00:00:00Z') },
  } as CheckResult
  latestOf(w.hub).set(shop.id, { result, nextCheckAt: null })

  const answer = await w.acme.call('GET', '/v1/monitoring/metrics')
  expect(answer.headers.get('content-type')).toStartWith('text/plain')
  const lines = parsed(answer.text)
  const labels = { monitor: shop.id, name, type: 'http', target: shop.target }
  const of = (metric: string) => lines.filter(one => one.name === metric)
  expect(of('probe_success')).toEqual([{ name: 'probe_success', labels, value: 1 }])
  expect(of('probe_duration_seconds')).toEqual([{ name: 'probe_duration_seconds', labels, value: 0.1 }])
  expect(of('probe_dns_lookup_time_seconds')[0]!.value).toBe(0.0015)
  expect(of('probe_http_status_code')[0]!.value).toBe(200)
  expect(of('probe_ip_protocol')[0]!.value).toBe(6)
  expect(of('probe_ssl_earliest_cert_expiry')[0]!.value).toBe(Date.parse('2027-01-01T00:00:00Z') / 1000)
  expect(Object.fromEntries(of('probe_http_duration_seconds').map(one => [one.labels.phase, one.value]))).toEqual({
    resolve: 0.0015,
    connect: 0.01,
    tls: 0.02,
    processing: 0.03,
    transfer: expect.closeTo(0.0385, 6),
  })
  expect(of('monitor_status').map(one => [one.labels.monitor, one.value])).toEqual([
    [shop.id, 2],
    [never.id, 2],
  ])
  expect(of('hc_check_up')).toEqual([
    { name: 'hc_check_up', labels: { name: 'backup', tags: 'b a', unique_key: beat.id }, value: 1 },
  ])
  expect(of('hc_tag_up').map(one => [one.labels.tag, one.value])).toEqual([
    ['a', 1],
    ['b', 1],
  ])
  expect(of('hc_checks_total')[0]!.value).toBe(1)
  expect(answer.text).not.toContain('theirs')
  expect((await (await w.scoped('dns.read')).call('GET', '/v1/monitoring/metrics')).status).toBe(403)
})

test('each of many monitors appears once in the metrics and in the export', async () => {
  const w = await world()
  const wanted = 1_003
  for (let n = 0; n < wanted; n++) await addMonitor(w.hub, w.acme.workspaceId, { key: `k${n}` })
  await addMonitor(w.hub, w.rival.workspaceId)
  const lines = parsed((await w.acme.call('GET', '/v1/monitoring/metrics')).text)
  expect(lines.filter(one => one.name === 'monitor_status').length).toBe(wanted)
  const { body } = await w.acme.call('GET', '/v1/monitoring/export?format=json')
  expect(new Set(body.monitors.map((one: { key: string }) => one.key)).size).toBe(wanted)
  expect(body.monitors.length).toBe(wanted)
})

test('a tag is down if any of its heartbeats is down', async () => {
  const w = await world()
  const schedule = { kind: 'period', period_seconds: 60, grace_seconds: 60 }
  const make = async (name: string, tags: string[]) =>
    (await w.acme.call('POST', '/v1/heartbeats', { name, tags, schedule })).body
  const late = await make('late', ['a', 'b'])
  await make('never pinged', ['b', 'c'])
  await w.anonymous.call('POST', new URL(late.ping_url).pathname)
  await w.advance(3_600_000)
  const lines = parsed((await w.acme.call('GET', '/v1/monitoring/metrics')).text)
  expect(lines.filter(one => one.name === 'hc_tag_up').map(one => [one.labels.tag, one.value])).toEqual([
    ['a', 0],
    ['b', 0],
    ['c', 1],
  ])
})
