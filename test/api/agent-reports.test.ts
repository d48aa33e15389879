import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { eq, sql } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { counterValues } from '../../src/core/metric-counters'
import { forUpdate, isPostgres } from '../../src/core/db/dialect'
import { authenticateAgent } from '../../src/features/servers/agents/ingest/authenticate'
import { agents } from '../../src/features/servers/agents/tables'
import { lockServer } from '../../src/features/servers/view'
import { watchServers } from '../../src/features/servers/watch'
import type { Problem } from '../../src/core/problem'
import { maxReportBytes } from '../../src/wire/agent-limits'
import { signatureHeader } from '../../src/wire/request-signature'
import { AgentDouble, Machine } from '../support/agent-double'
import { otherHub } from '../support/watched-monitors'
import { world, type World } from '../support/world'

const minuteMs = 60_000
const path = '/v1/ingest/agents/reports'

async function scene(): Promise<{ here: World; agent: AgentDouble; machine: Machine }> {
  const here = await world()
  const { body } = await here.acme.call('POST', '/v1/servers', { name: 'web-1' }, { 'Idempotency-Key': 'web-1' })
  const agent = await AgentDouble.enroll(here, body.id)
  return { here, agent, machine: agent.machine }
}
const minuteBefore = (here: World, minutes = 1) => Math.floor(here.clock.now() / minuteMs) * minuteMs - minutes * minuteMs
const cpu = (start: number, value: number) => ({
  columns: ['cpu.used_percent'],
  minutes: [[start, 6, [value], [value]]],
})
/** The averages of the CPU by the start of the minute. */
async function stored(here: World, { serverId }: AgentDouble): Promise<Map<number, number>> {
  const from = new Date(here.clock.now() - 3 * 3_600_000).toISOString()
  const { body } = await here.acme.call('GET', `/v1/servers/${serverId}/metrics?type=cpu&from=${from}&step=60`)
  const start = Date.parse(body.from_at)
  const series: (number | null)[] = body.series[0]?.avg ?? []
  return new Map(series.flatMap((value, at) => (value === null ? [] : [[start + at * minuteMs, value] as const])))
}
const agentOf = async (here: World, { id }: AgentDouble) => (await here.acme.call('GET', `/v1/agents/${id}`)).body

describe('a report', () => {
  test('is stored before it is acknowledged, and changes nothing when it is sent again', async () => {
    const { here, agent, machine } = await scene()
    const start = minuteBefore(here)
    const { status, body } = await machine.report({ ...cpu(start, 12.5), spooled: 3, dropped: 1, clock_offset_ms: -12 })
    expect([status, body]).toEqual([
      200,
      {
        ...{ acknowledged: machine.seq, time: here.clock.now(), send_all: false },
        config: { interval_seconds: 60, watched_units: [], watched_processes: [] },
      },
    ])
    expect(await stored(here, agent)).toEqual(new Map([[start, 12.5]]))
    expect(await agentOf(here, agent)).toMatchObject({
      ...{ state: 'reporting', spooled: 2, dropped: 1, clock_offset_ms: -12, run_id: machine.runId },
      last_report_at: new Date(here.clock.now()).toISOString(),
    })
    expect((await machine.report({ ...cpu(start, 12.5), seq: machine.seq })).status).toBe(200)
    expect(await stored(here, agent)).toEqual(new Map([[start, 12.5]]))
    // The last one wins, also within a report.
    const twice = { columns: ['cpu.used_percent'], minutes: [20, 30].map(value => [start, 6, [value], [value]]) }
    expect((await machine.report(twice)).status).toBe(200)
    expect(await stored(here, agent)).toEqual(new Map([[start, 30]]))
    expect(Object.fromEntries(counterValues(here.hub, 'agent_measurements'))).toEqual({ stored: 3, repeated: 1, too_old: 0 })
  })

  test('asks for everything if the hub may have missed something', async () => {
    const { machine } = await scene()
    expect((await machine.report()).body.send_all).toBe(false)
    machine.seq++
    expect((await machine.report()).body.send_all).toBe(true)
    machine.seq++
    expect((await machine.report({ facts: { cores: 4 } })).body.send_all).toBe(false)
    expect((await machine.report({ run_id: 'next', seq: 1 })).body.send_all).toBe(true)
  })

  test('of a backlog does not change the health of the server', async () => {
    const { here, agent, machine } = await scene()
    await here.advance(5 * minuteMs)
    await watchServers(here.hub)
    const server = async () => (await here.acme.call('GET', `/v1/servers/${agent.serverId}`)).body
    expect((await server()).health).toBe('down')
    const start = minuteBefore(here, 4)
    expect((await machine.report({ ...cpu(start, 50), backlog: true })).status).toBe(200)
    await watchServers(here.hub)
    expect(await server()).toMatchObject({ health: 'down', agent: { state: 'silent' } })
    expect(await stored(here, agent)).toEqual(new Map([[start, 50]]))
    expect((await machine.report()).status).toBe(200)
    expect((await server()).health).toBe('up')
  })

  test('is filed by the clock of the hub if the agent does not know that', async () => {
    const { here, agent, machine } = await scene()
    const start = minuteBefore(here)
    for (const wrong of [-5 * minuteMs, 5 * minuteMs, 1500]) {
      const sent_at = here.clock.now() + wrong
      const filed = Math.abs(wrong) > 2000 ? start + wrong : start
      expect((await machine.report({ ...cpu(filed, Math.abs(wrong)), sent_at, clock_offset_ms: null })).status).toBe(200)
      expect(await stored(here, agent)).toEqual(new Map([[start, Math.abs(wrong)]]))
    }
    // One that knows it files its minutes by it, and tells how wrong the server’s clock is.
    const known = { ...cpu(start, 7), sent_at: here.clock.now() - 5 * minuteMs, clock_offset_ms: 5 * minuteMs }
    expect((await machine.report(known)).status).toBe(200)
    expect(await stored(here, agent)).toEqual(new Map([[start, 7]]))
    expect((await agentOf(here, agent)).clock_offset_ms).toBe(5 * minuteMs)
  })

  test('with rubbish is refused with the field and the rule, and stores nothing', async () => {
    const { here, agent, machine } = await scene()
    const now = here.clock.now()
    const start = minuteBefore(here)
    const row = (minute: unknown[], columns = ['cpu.used_percent']) => ({ columns, minutes: [minute] })
    const cases: [Record<string, unknown>, string, string][] = [
      [row([start, 6, ['12.5'], [31]]), '#/minutes/0/2/0', 'must be a number or null.'],
      [row([start, 6, [-1], [31]]), '#/minutes/0/2/0', 'must be at least 0.'],
      [row([start, 6, [1], [-1]], ['made.up_bytes']), '#/minutes/0/3/0', 'must be at least 0.'],
      [row([start, 6, [1, 2], [1]]), '#/minutes/0/2', 'must have 1 items, one for each column.'],
      [row([0, 6, [1], [1]]), '#/minutes/0/0', 'must not be more than 90 days ago.'],
      [row([now + 86_400_000, 6, [1], [1]]), '#/minutes/0/0', 'must not be in the future.'],
      [row([start, 0, [1], [1]]), '#/minutes/0/1', 'must be between 1 and 60.'],
      [{ columns: ['cpu.used_percent', 'cpu.used_percent'] }, '#/columns/1', 'must not be a column that the report has already.'],
      [
        { columns: ['disk.busy_percent:\u0007'] },
        '#/columns/0',
        'must be a single line without control characters, and not blank.',
      ],
      [{ columns: Array.from({ length: 301 }, (_, at) => `a.${at}`) }, '#/columns', 'must have at most 300 items.'],
      [{ columns: Array.from({ length: 40_000 }, (_, at) => `a.${at}`) }, '#/columns', 'must have at most 300 items.'],
      [{ minutes: Array.from({ length: 61 }, () => [start, 6, [], []]) }, '#/minutes', 'must have at most 60 items.'],
      [{ facts: { memory_bytes: -1 } }, '#/facts/memory_bytes', 'must be between 0 and 9,007,199,254,740,991 bytes.'],
      [{ allow: ['everything'] }, '#/allow/0', 'must be a known permission, such as `reboot`.'],
      [{ spooled: 1.5 }, '#/spooled', 'must be a whole number.'],
      [{ unknown: 1 }, '#/unknown', 'is not a known field.'],
    ]
    for (const [changed, pointer, detail] of cases) {
      const { status, body } = await machine.report(changed)
      expect([status, body.errors?.[0]?.pointer, body.errors?.[0]?.detail]).toEqual([422, pointer, detail])
      await here.advance(3000)
    }
    expect(await stored(here, agent)).toEqual(new Map())
    expect((await machine.report(cpu(start, 1))).status).toBe(200)
  })

  test('with metrics that the hub does not know is stored, and shown by their names', async () => {
    const { here, agent, machine } = await scene()
    const start = minuteBefore(here)
    const report = { columns: ['quantum.flips_bytes:q0', 'no name'], minutes: [[start, 6, [7, 1], [8, 1]]] }
    expect((await machine.report(report)).status).toBe(200)
    const from = new Date(start).toISOString()
    const { body } = await here.acme.call('GET', `/v1/servers/${agent.serverId}/metrics?from=${from}&step=60`)
    expect(body.series).toMatchObject([{ name: 'quantum.flips_bytes', device: 'q0', unit: 'bytes', avg: [7], max: [8] }])
  })

  test('that is invalid and as large as possible does not keep those of other agents from being stored', async () => {
    const { here, machine } = await scene()
    const { body } = await here.acme.call('POST', '/v1/servers', { name: 'b' }, { 'Idempotency-Key': 'b' })
    const other = await AgentDouble.enroll(here, body.id)
    const columns = Array.from({ length: 250_000 }, (_, at) => `a.${at % 1000}`)
    const refused = Promise.all(Array.from({ length: 15 }, async () => (await machine.report({ columns })).status))
    expect((await other.sendReport(cpu(minuteBefore(here), 5))).status).toBe(200)
    for (const status of await refused) expect([400, 422, 429]).toContain(status)
  })

  test('that is not JSON, too large, or a decompression bomb is refused', async () => {
    const { here, machine } = await scene()
    const send = async (body: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => {
      const { status, body: problem } = await machine.post(path, body, { headers })
      await here.advance(3000)
      return [status, problem.code, problem.errors?.[0]?.pointer ?? null]
    }
    const json = (text: string) => gzipSync(text)
    expect(await send(json('{"v":1,"minutes":[[1,6,[NaN],[1]]]}'))).toEqual([400, 'malformed_json', null])
    expect(await send(json('{"v":1,'))).toEqual([400, 'malformed_json', null])
    expect(await send(Buffer.from('not gzip'))).toEqual([400, 'malformed_request', null])
    expect(await send(json('{}').subarray(0, 12))).toEqual([400, 'malformed_request', null])
    expect(await send(gzipSync(Buffer.alloc(200 * 1024 * 1024)))).toEqual([413, 'payload_too_large', null])
    // The size at the end is of the last part only, and may be wrong.
    const inParts = (...parts: Buffer[]) => Buffer.concat(parts.map(part => gzipSync(part)))
    expect(await send(inParts(Buffer.alloc(200_000, ' '), Buffer.from('{')))).toEqual([400, 'malformed_json', null])
    expect(await send(inParts(Buffer.alloc(200 * 1024 * 1024), Buffer.from('{')))).toEqual([413, 'payload_too_large', null])
    expect(await send(Buffer.from(json('{}').fill(255, json('{}').length - 4)))).toEqual([400, 'malformed_request', null])
    expect(await send(Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)).join(',')))).toEqual([
      ...[400, 'malformed_request', null],
    ])
    expect(await send(Buffer.alloc(maxReportBytes.compressed + 1))).toEqual([413, 'payload_too_large', null])
    expect(await send(json('{}'), { 'Content-Type': 'text/plain' })).toEqual([415, 'unsupported_media_type', null])
    expect(await send(json('{}'), { 'Content-Encoding': 'br' })).toEqual([415, 'unsupported_media_type', null])
    const columns = `{"columns":[${'"",'.repeat(999_999)}""]}`
    expect(await send(json(columns))).toEqual([400, 'malformed_json', '#/columns'])
    expect((await machine.report()).status).toBe(200)
  })
})

describe('the credentials of an agent', () => {
  test('are its token and the signature of each request', async () => {
    const { here, machine } = await scene()
    const body = gzipSync('{}')
    const refused = async (options: Parameters<Machine['post']>[2]) => {
      const { status, body: problem } = await machine.post(path, body, options)
      return [status, problem.detail]
    }
    const now = here.clock.now()
    expect(await refused({ signature: null })).toEqual([
      ...[401, `The request must be signed: the header ${signatureHeader} is missing.`],
    ])
    expect(await refused({ signature: 'v1 nothing' })).toEqual([
      ...[401, `The header ${signatureHeader} must have the form: v1 t=…,n=…,s=…`],
    ])
    const wrong = 'The signature does not match the request and the key of the agent.'
    expect(await refused({ signature: new Machine(here).sign('POST', path, body) })).toEqual([401, wrong])
    expect(await refused({ signature: machine.sign('GET', path, body) })).toEqual([401, wrong])
    expect(await refused({ signature: machine.sign('POST', `${path}?a=1`, body) })).toEqual([401, wrong])
    expect(await refused({ signature: machine.sign('POST', path, gzipSync('[]')) })).toEqual([401, wrong])
    expect(await refused({ signature: machine.sign('POST', path, body, now - 300_001) })).toEqual([
      ...[401, 'The request was signed 300 s ago, which is more than 300 s. Check the clock of the server.'],
    ])
    const once = machine.sign('POST', path, body, now + 300_000)
    expect((await machine.post(path, body, { signature: once })).status).toBe(422)
    expect(await refused({ signature: once })).toEqual([
      ...[401, 'This signed request was received before. Sign each request again.'],
    ])
    expect(await refused({ token: 'bw_agent_x' })).toEqual([
      ...[401, 'The Authorization header must have the form: Bearer bw_agent_…'],
    ])
  })

  test('are limited in their requests, and others are not affected', async () => {
    const { here, agent, machine } = await scene()
    const statuses: number[] = []
    for (let at = 0; at < 25; at++) statuses.push((await machine.report()).status)
    expect(statuses.filter(status => status === 200).length).toBe(19)
    const limited = await machine.report()
    expect([limited.status, limited.body['violated-policies']]).toEqual([429, ['agent-reports']])
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
    // A backlog has a limit of its own.
    const backlog: number[] = []
    for (let at = 0; at < 10; at++) backlog.push((await machine.report({ backlog: true })).status)
    expect(backlog).toEqual([...Array(8).fill(200), 429, 429])
    await here.advance(250)
    expect((await machine.report({ backlog: true })).status).toBe(200)
    const started = performance.now()
    for (let at = 0; at < 2000; at++) await machine.post(path, gzipSync('{}'), { signature: null, token: machine.token })
    const eachMs = (performance.now() - started) / 2000
    expect(eachMs).toBeLessThan(5)
    expect((await machine.report()).body['violated-policies']).toEqual(['agent'])
    const other = await AgentDouble.enroll(
      here,
      (await here.acme.call('POST', '/v1/servers', { name: 'b' }, { 'Idempotency-Key': 'b' })).body.id,
    )
    expect((await other.sendReport()).status).toBe(200)
    await here.advance(60_000)
    expect((await agent.sendReport()).status).toBe(200)
  })
})

test('requests that were signed before a report are refused by other hubs, but none after it if the clock was ahead', async () => {
  const { here } = await scene()
  const { hub: other, close } = await otherHub(here)
  const { body } = await here.acme.call('POST', '/v1/servers', { name: 'web-2' }, { 'Idempotency-Key': 'web-2' })
  const ahead = { now: () => here.clock.now() + 200_000, after: here.clock.after.bind(here.clock) }
  const { machine } = await AgentDouble.enroll({ ...here, clock: ahead }, body.id)
  const sentTo = async (hub: World['hub'], time: number) => {
    const headers = {
      Authorization: `Bearer ${machine.token}`,
      [signatureHeader]: machine.sign('GET', path, new Uint8Array(0), time),
    }
    const request = new Request(`http://localhost${path}`, { headers })
    return authenticateAgent(hub, { request, ip: machine.address, readBody: async () => new Uint8Array(0) }).then(
      () => 'accepted',
      (problem: Problem) => problem.detail,
    )
  }
  const refused = 'This signed request was received before. Sign each request again.'
  await here.advance(1000)
  const start = here.clock.now()
  expect(await sentTo(other, start)).toBe('accepted')
  await here.advance(1000)
  expect((await machine.report()).status).toBe(200)
  expect(await sentTo(other, start + 500)).toBe(refused)
  expect(await sentTo(here.hub, start + 500)).toBe('accepted')
  await here.advance(1000)
  expect(await sentTo(other, here.clock.now())).toBe('accepted')
  await close()
})

test.skipIf(!isPostgres)('a report with rows of its server waits for a change of that before it locks its agent', async () => {
  const { here, agent, machine } = await scene()
  const isLocked = Promise.withResolvers<void>()
  const changing = record(here.hub, async tx => {
    await lockServer(tx, agent.serverId)
    isLocked.resolve()
    const waiting = tx
      .select({ pid: sql`pid` })
      .from(sql`pg_locks`)
      .where(sql`not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`)
    while ((await waiting).length === 0);
    const free = await forUpdate(tx.select({ id: agents.id }).from(agents).where(eq(agents.id, agent.id)), 'skip')
    return { result: free.length }
  })
  await isLocked.promise
  const event = { at: here.clock.now(), kind: 'unit.failed', name: 'nginx.service', detail: null }
  const sent = machine.report({ events: [event] })
  expect(await changing).toBe(1)
  expect((await sent).status).toBe(200)
})

test('an agent that sends invalid reports is refused before they are read', async () => {
  const { here, machine } = await scene()
  const sent = []
  for (let at = 0; at < 21; at++) sent.push(await machine.report({ unknown: at }))
  expect(sent.map(one => one.status)).toEqual([...Array.from({ length: 20 }, () => 422), 429])
  expect(sent.at(-1)!.body['violated-policies']).toEqual(['agent-invalid-reports'])
  expect((await machine.post(path, gzipSync('{'))).status).toBe(429)
  await here.advance(3000)
  for (let at = 0; at < 5; at++) expect((await machine.report()).status).toBe(200)
})

describe('a machine that was cloned with its agent', () => {
  test('is ignored, with a notice, while the first one continues', async () => {
    const { here, agent, machine } = await scene()
    const start = minuteBefore(here)
    expect((await machine.report(cpu(start, 10))).status).toBe(200)
    const clone = { run_id: 'clone', boot_id: 'other-boot', seq: 1, uptime_seconds: 3600 }
    const refused = await machine.report({ ...cpu(start, 90), ...clone })
    expect([refused.status, refused.body.code, refused.body.errors[0].pointer]).toEqual([409, 'conflict', '#/boot_id'])
    expect((await machine.report({ ...cpu(start, 90), ...clone, seq: 2 })).body.errors[0].pointer).toBe('#/run_id')
    expect(await stored(here, agent)).toEqual(new Map([[start, 10]]))
    expect((await here.acme.call('GET', '/v1/notices')).body.data).toMatchObject([{ kind: 'agent.cloned', count: 1 }])
    expect((await machine.report()).status).toBe(200)
  })

  test('has to wait if it could be the same server after a reset', async () => {
    const { here, machine } = await scene()
    const booted = { run_id: 'next', boot_id: 'next-boot', seq: 1 }
    await here.advance(20_000)
    const early = await machine.report({ ...booted, uptime_seconds: 10 })
    expect([early.status, early.body.code, early.headers.get('retry-after')]).toEqual([503, 'overloaded', '70'])
    await here.advance(70_000)
    expect((await machine.report({ ...booted, uptime_seconds: 80 })).status).toBe(200)
    const old = await machine.report({ sent_at: here.clock.now() - 1000 })
    expect([old.status, old.body.errors[0].pointer]).toEqual([409, '#/run_id'])
  })

  test('numbers of reports never fall', async () => {
    const { machine } = await scene()
    expect((await machine.report({ seq: 100 })).status).toBe(200)
    const { status, body } = await machine.report({ seq: 99 })
    expect([status, body.detail]).toEqual([409, 'seq must be at least 100, the number of the last report of this run.'])
  })
})
