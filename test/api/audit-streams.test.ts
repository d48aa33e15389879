import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { and, eq } from 'drizzle-orm'
import { Webhook } from 'standardwebhooks'
import { record } from '../../src/core/change'
import { sha256Hex } from '../../src/core/crypto'
import { jobs } from '../../src/core/db/tables'
import { Worker } from '../../src/core/jobs/worker'
import { checkChain } from '../../src/features/audit/chain-check'
import { publicKeyOf, publicKeyPem } from '../../src/features/audit/checkpoint'
import { signAudit } from '../../src/features/audit/checkpoint-file'
import { keyOf } from '../../src/features/audit/checkpoints'
import { maxStreamDelayMs, pruneAudit } from '../../src/features/audit/retention'
import { registry } from '../../src/registry'
import { auditStreams } from '../../src/features/audit/tables'
import { jobKinds } from '../../src/hub/jobs'
import { receiver, stopReceivers, type Receiver } from '../support/receiver'
import { world, type World } from '../support/world'

afterAll(stopReceivers)

const day = 86_400_000
const hour = 3_600_000

const make = async (w: World, url: string, more: object = {}) => {
  const created = await w.acme.call('POST', '/v1/audit-streams', { name: 'SIEM', url, ...more })
  expect([created.status, created.text]).toEqual([201, expect.any(String)])
  return created.body
}
const read = async (w: World, id: string) => (await w.acme.call('GET', `/v1/audit-streams/${id}`)).body
const wrote = async (w: World, n: number, name = 'token') => {
  for (let i = 0; i < n; i++) await w.acme.call('POST', '/v1/tokens', { name: `${name} ${i}`, mode: 'read_only' })
}
const bodies = (r: Receiver) => r.received.map(one => JSON.parse(one.body))
const entriesOf = (r: Receiver) => bodies(r).flatMap(one => one.data.entries as any[])
const seqs = (r: Receiver) => entriesOf(r).map(one => one.seq as number)
const upTo = (n: number, from = 1) => Array.from({ length: n - from + 1 }, (_, i) => from + i)
const exported = async (w: World) =>
  (await w.acme.call('GET', '/v1/audit-events/export')).text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))

describe('what a stream sends', () => {
  test('the log from its beginning, exactly as exported, in order and without gaps, then new entries', async () => {
    const w = await world()
    const r = receiver()
    const { id } = await make(w, r.url, { from: 'beginning' })
    await w.advance(1_000)
    const log = await exported(w)
    expect(entriesOf(r)).toEqual(log)
    expect(r.received).toHaveLength(1)
    expect(bodies(r)[0]).toMatchObject({
      event: 'audit.entries',
      data: { workspace_id: w.acme.workspaceId, stream_id: id, gap: null, checkpoint: null, checkpoints: [] },
    })
    await wrote(w, 3)
    expect(r.received).toHaveLength(1)
    // Entries within a second are sent in one message.
    await w.advance(1_000)
    expect(r.received).toHaveLength(2)
    expect(seqs(r)).toEqual(upTo(log.length + 3))
    expect(await read(w, id)).toMatchObject({ status: 'ok', position: log.length + 3, lag: 0, last_error: null })
    // Its own deliveries are not logged, so nothing more is sent.
    await w.advance(hour)
    expect(r.received).toHaveLength(2)
  })

  test('from now on: no earlier entries, starting with its own creation', async () => {
    const w = await world()
    const r = receiver()
    await wrote(w, 2)
    await make(w, r.url)
    await w.advance(1_000)
    expect(entriesOf(r).map(one => one.action)).toEqual(['account.audit_stream.create'])
    expect(JSON.stringify(entriesOf(r))).not.toContain('whsec_C')
  })

  test('signatures that the standard library verifies, and body signatures', async () => {
    const w = await world()
    const r = receiver()
    const { secret, id } = await make(w, r.url)
    await w.advance(1_000)
    const [message] = r.received
    const headers = Object.fromEntries(message!.headers)
    // The library compares the timestamp with the machine's clock, not with the test clock.
    const age = Math.abs(Date.now() / 1_000 - Number(headers['webhook-timestamp']))
    if (age < 250) expect(new Webhook(secret).verify(message!.body, headers)).toBeTruthy()
    const signed = new Webhook(secret).sign(
      headers['webhook-id']!,
      new Date(Number(headers['webhook-timestamp']) * 1_000),
      message!.body,
    )
    expect(headers['webhook-signature']).toBe(signed)
    expect(headers['x-service-signature']).toBe(
      `sha256=${new Bun.CryptoHasher('sha256', secret).update(message!.body).digest('hex')}`,
    )
    expect(headers).toMatchObject({
      'x-service-event': 'audit.entries',
      'x-service-workspace': w.acme.workspaceId,
      'x-service-resource': `audit_stream/${id}`,
      'x-service-attempt': '1',
    })
  })

  test('at most 100 entries and 64 KiB per message', async () => {
    const w = await world()
    const r = receiver()
    await wrote(w, 130)
    await make(w, r.url, { from: 'beginning' })
    await w.advance(1_000)
    await w.settle()
    const log = await exported(w)
    expect(seqs(r)).toEqual(upTo(log.length))
    expect(r.received.length).toBeGreaterThan(1)
    for (const one of r.received) expect(Buffer.byteLength(one.body)).toBeLessThanOrEqual(64 * 1024)
    for (const one of bodies(r)) expect(one.data.entries.length).toBeLessThanOrEqual(100)
  })

  test('an entry larger than a message is sent alone', async () => {
    const w = await world()
    const r = receiver()
    await make(w, r.url)
    await w.advance(1_000)
    await wrote(w, 1)
    await record(w.hub, async () => ({
      result: undefined,
      audits: [
        {
          workspaceId: w.acme.workspaceId,
          action: 'heartbeat.update' as const,
          actor: { type: 'system' as const, id: 'x', name: 'x', hint: null },
          context: { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'job' as const },
          targets: [],
          reason: 'x'.repeat(100_000),
        },
      ],
    }))
    await wrote(w, 1)
    await w.advance(1_000)
    expect(bodies(r).map(one => one.data.entries.length)).toEqual([1, 1, 1, 1])
    expect(seqs(r)).toEqual(upTo(seqs(r).at(-1)!, seqs(r)[0]!))
  })

  test('only the selected actions, and the position moves past filtered entries', async () => {
    const w = await world()
    const r = receiver()
    const { id } = await make(w, r.url, { actions: ['account.token.*', 'heartbeat.create'], from: 'beginning' })
    await wrote(w, 1)
    await w.acme.call('PATCH', `/v1/workspaces/${w.rival.workspaceId}`, { name: 'Rival' })
    await w.advance(1_000)
    expect(new Set(entriesOf(r).map(one => one.action))).toEqual(new Set(['account.token.create']))
    expect((await read(w, id)).lag).toBe(0)
  })

  test('nothing of another workspace', async () => {
    const w = await world()
    const r = receiver()
    await make(w, r.url, { from: 'beginning' })
    await w.rival.call('POST', '/v1/tokens', { name: 'of rival', mode: 'read_only' })
    await w.advance(1_000)
    expect(new Set(entriesOf(r).map(one => one.workspace_id))).toEqual(new Set([w.acme.workspaceId]))
  })
})

describe('checkpoints', () => {
  test('are sent when they are signed, even without new entries', async () => {
    const w = await world()
    const r = receiver()
    await make(w, r.url, { from: 'beginning' })
    await w.advance(1_000)
    await w.advance(hour)
    await signAudit(w.hub)
    await w.advance(1_000)
    expect(r.received).toHaveLength(2)
    const { entries, checkpoint, checkpoints } = bodies(r)[1].data
    expect([entries, checkpoints]).toEqual([[], [checkpoint]])
    expect(checkpoint).toMatchObject({ chain: w.acme.workspaceId, seq: seqs(r).at(-1) })
    await wrote(w, 1)
    await w.advance(1_000)
    expect(bodies(r)[2].data).toMatchObject({ checkpoint, checkpoints: [] })
  })

  test('the receiver can verify the log with the public key, and detects tampering', async () => {
    const w = await world()
    const r = receiver()
    await make(w, r.url, { from: 'beginning' })
    for (let n = 0; n < 3; n++) {
      await wrote(w, 4)
      await w.advance(hour)
      await signAudit(w.hub)
      await w.advance(1_000)
    }
    const checkpoints = bodies(r).flatMap(one => one.data.checkpoints)
    expect(checkpoints.length).toBe(3)
    const publicKeys = [publicKeyOf(keyOf(w.hub.keys))]
    const found = entriesOf(r).map(({ prev_hash: prevHash, hash, mac, code, ...entry }) => ({
      entry,
      prevHash,
      hash,
      mac,
      columnsAgree: typeof code === 'string',
    }))
    const verdict = checkChain({
      chain: w.acme.workspaceId,
      entries: found,
      checkpoints,
      counted: null,
      publicKeys,
      macKey: null,
    })
    expect(verdict).toMatchObject({ findings: [], entries: seqs(r).length, verifiedTo: seqs(r).length })

    // Like the command, from files.
    const folder = w.hub.config.data
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const lines = (of: unknown[]) => of.map(one => `${JSON.stringify(one)}\n`).join('')
    const verify = async (entries: unknown[]) => {
      const run = Bun.spawn(
        [
          process.execPath,
          'src/bin/hub.ts',
          'audit',
          'verify',
          '--export',
          file('received.ndjson', lines(entries)),
          '--checkpoint',
          file('checkpoints.ndjson', lines(checkpoints)),
          '--public-key',
          file('audit.pem', publicKeyPem(publicKeys[0]!)),
        ],
        { env: { PATH: process.env.PATH }, stdout: 'pipe', stderr: 'pipe' },
      )
      return { out: await new Response(run.stdout).text(), code: await run.exited }
    }
    const all = entriesOf(r)
    expect(await verify(all)).toEqual({ code: 0, out: `ok    ${w.acme.workspaceId}  ${all.length} entries, all verified\n` })
    const altered = all.map(one => (one.seq === 5 ? { ...one, reason: 'another' } : one))
    expect(await verify(altered)).toMatchObject({ code: 4, out: expect.stringContaining('edit  5') })
    expect(await verify(all.filter(one => one.seq !== 6))).toMatchObject({
      code: 4,
      out: expect.stringContaining('deletion  6'),
    })
  }, 180_000)
})

describe('a receiver that fails', () => {
  test('is retried forever with the standard delays and the same bytes and id, and loses nothing', async () => {
    const w = await world()
    const r = receiver()
    const { id } = await make(w, r.url, { from: 'beginning' })
    await w.advance(1_000)
    const before = seqs(r).length
    r.received.length = 0
    r.answer = () => new Response('no', { status: 503 })
    await wrote(w, 1)
    await w.advance(1_000)
    expect(await read(w, id)).toMatchObject({ status: 'failing', lag: 1, last_error: expect.stringContaining('http_503') })
    expect(r.received).toHaveLength(1)
    // A new entry waits with the rest.
    await wrote(w, 1, 'later')
    await w.advance(1_000)
    expect(r.received).toHaveLength(1)
    await w.advance(6_000)
    expect(r.received).toHaveLength(2)
    expect([r.received[1]!.body, r.received[1]!.headers.get('webhook-id')]).toEqual([
      r.received[0]!.body,
      r.received[0]!.headers.get('webhook-id'),
    ])
    expect(r.received[1]!.headers.get('x-service-attempt')).toBe('2')
    for (let n = 0; n < 12; n++) await w.advance(day + hour)
    expect(r.received.length).toBe(14)
    const failing = await read(w, id)
    expect(Date.parse(failing.next_attempt_at) - w.clock.now()).toBeLessThanOrEqual(day + hour)
    r.answer = () => new Response(null, { status: 204 })
    r.received.length = 0
    await w.advance(day + hour)
    await w.advance(1_000)
    const arrived = seqs(r)
    expect(arrived).toEqual(upTo(arrived.at(-1)!, before + 1))
    const actions = entriesOf(r).map(one => one.action)
    expect(actions.filter(one => one === 'account.audit_stream.fail')).toHaveLength(1)
    expect(actions.filter(one => one === 'account.audit_stream.recover')).toHaveLength(1)
    expect(await read(w, id)).toMatchObject({
      status: 'ok',
      lag: 0,
      last_error: null,
      failing_since_at: null,
      next_attempt_at: null,
    })
  })

  test('every other time doesn’t fill its stream with entries about itself', async () => {
    const w = await world()
    const r = receiver()
    let n = 0
    r.answer = () => new Response(null, { status: n++ % 2 === 0 ? 500 : 200 })
    await make(w, r.url)
    for (let i = 0; i < 20; i++) await w.advance(10_000)
    expect(r.received).toHaveLength(2)
  })

  test('is retried after its Retry-After', async () => {
    const w = await world()
    const r = receiver()
    r.answer = () => new Response(null, { status: 429, headers: { 'retry-after': '600' } })
    await make(w, r.url)
    await w.advance(1_000)
    await w.advance(590_000)
    expect(r.received).toHaveLength(1)
    await w.advance(90_000)
    expect(r.received).toHaveLength(2)
  })

  test('is retried immediately after its URL changed, and outcomes of the old one are ignored', async () => {
    const w = await world()
    const r = receiver()
    const other = receiver()
    r.answer = () => new Response(null, { status: 500 })
    const { id } = await make(w, r.url, { from: 'beginning' })
    await w.advance(1_000)
    expect((await read(w, id)).status).toBe('failing')
    expect((await w.acme.call('PATCH', `/v1/audit-streams/${id}`, { url: other.url })).body.status).toBe('ok')
    await w.settle()
    await w.advance(1_000)
    expect(seqs(other)).toEqual(upTo((await exported(w)).length))
  })
})

describe('the sender', () => {
  test('is only one at a time, with two hubs on one database', async () => {
    const w = await world()
    const second = new Worker({ ...w.hub, id: 'hub_second' }, jobKinds)
    const r = receiver()
    let concurrent = 0
    let maxConcurrent = 0
    r.answer = async () => {
      maxConcurrent = Math.max(maxConcurrent, ++concurrent)
      await Bun.sleep(15)
      concurrent--
      return new Response(null, { status: 204 })
    }
    await make(w, r.url, { from: 'beginning' })
    for (let n = 0; n < 8; n++) {
      await wrote(w, 1)
      w.clock.advance(1_000)
      second.wake()
      await Bun.sleep(10)
    }
    // Either hub may send the last message.
    for (let n = 0; n < 3; n++) await Promise.all([w.advance(1_000), second.idle()])
    expect(maxConcurrent).toBe(1)
    expect([...new Set(seqs(r))]).toEqual(upTo((await exported(w)).length))
    await second.stop(1_000)
  })

  test('after a hub died while sending, another one waits and then continues after the last delivered entry', async () => {
    const w = await world()
    const r = receiver()
    const { id } = await make(w, r.url)
    await w.advance(1_000)
    const before = r.received.length
    await record(w.hub, async tx => {
      const sender = { sender: 'dead', senderUntil: w.clock.now() + 30_000 }
      await tx.update(auditStreams).set(sender).where(eq(auditStreams.id, id))
      return { result: undefined }
    })
    await wrote(w, 1)
    for (let n = 0; n < 20; n++) await w.advance(1_000)
    expect(r.received).toHaveLength(before)
    for (let n = 0; n < 15; n++) await w.advance(1_000)
    expect(r.received).toHaveLength(before + 1)
    expect((await read(w, id)).lag).toBe(0)
  })

  test('the outcome of a lost run is discarded', async () => {
    const w = await world()
    const r = receiver()
    r.answer = async () => {
      await record(w.hub, async tx => {
        await tx.update(auditStreams).set({ sender: 'another' })
        return { result: undefined }
      })
      return new Response(null, { status: 204 })
    }
    const { id, position } = await make(w, r.url)
    await w.advance(1_000)
    expect((await read(w, id)).position).toBe(position)
  })
})

describe('pausing and resuming', () => {
  test('stops a stream at its position, and continues from there', async () => {
    const w = await world()
    const r = receiver()
    const { id } = await make(w, r.url)
    await w.advance(1_000)
    const lastDelivered = seqs(r).at(-1)!
    expect((await w.acme.call('PATCH', `/v1/audit-streams/${id}`, { active: false })).body).toMatchObject({ status: 'paused' })
    await wrote(w, 2)
    await w.advance(hour)
    expect(seqs(r).at(-1)).toBe(lastDelivered)
    await w.acme.call('PATCH', `/v1/audit-streams/${id}`, { active: true })
    await w.settle()
    await w.advance(1_000)
    expect(seqs(r)).toEqual(upTo(lastDelivered + 4, seqs(r)[0]!))
  })

  test('a deleted stream gets nothing more, and leaves no job', async () => {
    const w = await world()
    const r = receiver()
    const { id } = await make(w, r.url)
    expect((await w.acme.call('DELETE', `/v1/audit-streams/${id}`)).status).toBe(204)
    await w.advance(hour)
    expect(r.received).toHaveLength(0)
    expect(
      await w.hub.read
        .select()
        .from(jobs)
        .where(and(eq(jobs.kind, 'audit.stream'))),
    ).toEqual([])
  })
})

describe('retention', () => {
  test('waits for undelivered entries up to thirty days, and then reports the gap', async () => {
    const w = await world()
    const r = receiver()
    r.answer = () => new Response(null, { status: 500 })
    const { id } = await make(w, r.url, { from: 'beginning' })
    await w.limit(w.acme.workspaceId, { audit_days: 30 })
    await w.advance(1_000)
    await w.advance(40 * day)
    await wrote(w, 2)
    await pruneAudit(w.hub)
    expect((await exported(w))[0].seq).toBe(1)
    await w.advance(21 * day)
    await pruneAudit(w.hub)
    const first = (await exported(w))[0].seq as number
    expect(first).toBeGreaterThan(1)
    r.answer = () => new Response(null, { status: 204 })
    r.received.length = 0
    await w.advance(2 * day)
    await w.advance(1_000)
    expect(bodies(r)[0].data.gap).toEqual({ from: 1, to: first - 1 })
    expect(
      bodies(r)
        .slice(1)
        .every(one => one.data.gap === null),
    ).toBe(true)
    expect(seqs(r)).toEqual(upTo(seqs(r).at(-1)!, first))
    expect(entriesOf(r).map(one => one.action)).toContain('account.audit_stream.skip_entries')
    expect((await read(w, id)).lag).toBe(0)
    expect(maxStreamDelayMs).toBe(30 * day)
  })

  test('doesn’t wait for a paused stream', async () => {
    const w = await world()
    const { id } = await make(w, 'http://127.0.0.1:9/', { from: 'beginning', active: false })
    await w.limit(w.acme.workspaceId, { audit_days: 30 })
    w.clock.advance(40 * day)
    await wrote(w, 1)
    await pruneAudit(w.hub)
    expect((await exported(w))[0].seq).toBeGreaterThan(1)
    expect((await read(w, id)).status).toBe('paused')
  })
})

describe('managing streams', async () => {
  const w = await world()
  const { acme, rival, readOnly, scoped } = w
  const r = receiver()

  test('requires account.write, reading requires account.read, and another workspace has no access', async () => {
    const { id, secret } = await make(w, r.url)
    expect(secret).toMatch(/^whsec_/)
    const path = `/v1/audit-streams/${id}`
    expect((await rival.call('GET', path)).status).toBe(404)
    expect((await rival.call('PATCH', path, { active: false })).status).toBe(404)
    expect((await rival.call('DELETE', path)).status).toBe(404)
    expect((await rival.call('POST', `${path}/test`)).status).toBe(404)
    expect((await rival.call('POST', `${path}/secret/rotate`, {})).status).toBe(404)
    expect((await readOnly.call('PATCH', path, { active: false })).status).toBe(403)
    expect((await (await scoped('webhooks.write')).call('GET', path)).status).toBe(403)
    const shown = await acme.call('GET', path)
    expect(shown.text).not.toContain(secret)
    expect((await acme.call('GET', '/v1/audit-streams')).body.data).toHaveLength(1)
    expect((await acme.call('GET', '/v1/audit-streams?q=siem&active=true')).body.data).toHaveLength(1)
    const etag = shown.headers.get('etag')!
    expect((await acme.call('PATCH', path, { name: 'one' }, { 'if-match': '"99.x"' })).status).toBe(412)
    expect((await acme.call('PATCH', path, { name: 'one' }, { 'if-match': etag })).body).toMatchObject({
      name: 'one',
      version: 2,
    })
    expect((await acme.call('DELETE', path)).status).toBe(204)
    expect((await acme.call('GET', path)).status).toBe(404)
  })

  test('rejects URLs that the workspace may not call, and invalid fields by name', async () => {
    const refused = async (by: typeof acme, body: object) => {
      const answer = await by.call('POST', '/v1/audit-streams', { name: 'x', ...body })
      return [answer.status, answer.body.errors?.map((one: any) => one.pointer)]
    }
    expect(await refused(rival, { url: 'http://127.0.0.1:9/' })).toEqual([422, ['#/url']])
    expect(await refused(rival, { url: 'https://10.0.0.1/' })).toEqual([422, ['#/url']])
    expect(await refused(acme, { url: 'http://169.254.169.254/' })).toEqual([422, ['#/url']])
    expect(await refused(acme, { url: r.url, secret: 'short' })).toEqual([422, ['#/secret']])
    expect(await refused(acme, { url: r.url, actions: ['*'] })).toEqual([422, ['#/actions/0']])
    expect(await refused(acme, { url: r.url, actions: [] })).toEqual([422, ['#/actions']])
    expect(await refused(acme, { url: r.url, from: 'yesterday' })).toEqual([422, ['#/from']])
    expect(await refused(acme, { url: r.url, name: '' })).toEqual([422, ['#/name']])
  })

  test('a test message returns its result and doesn’t move the stream', async () => {
    const { id, position } = await make(w, r.url, { active: false })
    r.received.length = 0
    const good = await acme.call('POST', `/v1/audit-streams/${id}/test`)
    expect(good.body).toMatchObject({ delivered: true, status_code: 204, error_class: null })
    expect(r.received[0]!.headers.get('x-service-test')).toBe('1')
    expect(bodies(r)[0].data).toMatchObject({ entries: [], gap: null })
    r.answer = () => new Response(null, { status: 500 })
    expect((await acme.call('POST', `/v1/audit-streams/${id}/test`)).body).toMatchObject({
      delivered: false,
      status_code: 500,
      error_class: 'http_status',
    })
    r.answer = () => new Response(null, { status: 204 })
    expect(await read(w, id)).toMatchObject({ position, status: 'paused', last_error: null })
    for (let n = 0; n < 3; n++) await acme.call('POST', `/v1/audit-streams/${id}/test`)
    expect((await acme.call('POST', `/v1/audit-streams/${id}/test`)).status).toBe(429)
    await acme.call('DELETE', `/v1/audit-streams/${id}`)
  })

  test('rotating the secret: both secrets sign during the overlap, then only the new one', async () => {
    const old = await make(w, r.url)
    await w.advance(1_000)
    const path = `/v1/audit-streams/${old.id}`
    const fresh = (await acme.call('POST', `${path}/secret/rotate`, { overlap_seconds: 3_600 })).body
    expect(fresh.secret).not.toBe(old.secret)
    expect((await acme.call('POST', `${path}/secret/rotate`, { overlap_seconds: 3_600 })).status).toBe(409)
    const signs = (secret: string) => {
      const { headers, body } = r.received.at(-1)!
      const at = new Date(Number(headers.get('webhook-timestamp')) * 1_000)
      return headers.get('webhook-signature')!.includes(new Webhook(secret).sign(headers.get('webhook-id')!, at, body))
    }
    await w.advance(1_000)
    expect([signs(old.secret), signs(fresh.secret)]).toEqual([true, true])
    await w.advance(3_600_000)
    await wrote(w, 1)
    await w.advance(1_000)
    expect([signs(old.secret), signs(fresh.secret)]).toEqual([false, true])
    const third = (await acme.call('POST', `${path}/secret/rotate`, { overlap_seconds: 60 })).body
    await w.advance(1_000)
    expect([signs(fresh.secret), signs(third.secret)]).toEqual([true, true])
    const last = (await acme.call('POST', `${path}/secret/rotate`, { overlap_seconds: 0 })).body
    await w.advance(1_000)
    expect([signs(fresh.secret), signs(third.secret), signs(last.secret)]).toEqual([false, false, true])
    const fourth = (await acme.call('POST', `${path}/secret/rotate`)).body
    expect((await acme.call('POST', `${path}/secret/rotate`)).body.detail).toContain('/secret/promote')
    const hints = { secret_hint: fourth.next_secret_hint, next_secret_hint: null, overlap_ends_at: null }
    await w.audited()
    expect((await acme.call('POST', `${path}/secret/promote`)).body).toMatchObject(hints)
    expect(await w.audited()).toEqual(['account.audit_stream.promote_secret'])
    await w.advance(1_000)
    expect([signs(last.secret), signs(fourth.secret)]).toEqual([false, true])
    expect((await acme.call('POST', `${path}/secret/promote`)).status).toBe(409)
    expect((await w.rival.call('POST', `${path}/secret/promote`)).status).toBe(404)
    await acme.call('DELETE', path)
  })

  test('at most ten per workspace', async () => {
    const created = await Promise.all(
      Array.from({ length: registry.audit_stream.limit + 2 }, (_, n) =>
        acme.call('POST', '/v1/audit-streams', { name: `stream ${n}`, url: r.url, active: false }),
      ),
    )
    expect(created.map(one => one.status).sort()).toEqual([...Array(registry.audit_stream.limit).fill(201), 409, 409])
    expect(new Set(created.map(one => sha256Hex(one.text))).size).toBeGreaterThan(registry.audit_stream.limit)
  })
})
