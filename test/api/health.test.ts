import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { record } from '../../src/core/change'
import { formatUtcMinute, instant } from '../../src/core/clock'
import { isPostgres } from '../../src/core/db/dialect'
import { instanceFacts, jobs } from '../../src/core/db/tables'
import { holdLane } from '../../src/core/jobs/lane-holds'
import { incrementCounter } from '../../src/core/metric-counters'
import { version } from '../../src/core/version'
import { deliverKind } from '../../src/features/webhooks/sending/delivery-jobs'
import { createBackup } from '../../src/hub/backup/create'
import { renewPresence } from '../../src/hub/presence'
import { jobKinds } from '../../src/hub/jobs'
import { world, type World } from '../support/world'

const allOk = {
  database: { status: 'ok', detail: null },
  migrations: { status: 'ok', detail: null },
  master_key: { status: 'ok', detail: null },
  jobs: { status: 'ok', detail: null },
  presence: { status: 'ok', detail: null },
  storage: { status: 'ok', detail: null },
  monitoring: { status: 'ok', detail: null },
}

test('a running hub is healthy and ready', async () => {
  const { anonymous } = await world()
  const health = await anonymous.call('GET', '/healthz')
  expect([health.status, health.body]).toEqual([200, { status: 'ok' }])
  const ready = await anonymous.call('GET', '/readyz')
  expect([ready.status, ready.body]).toEqual([200, { status: 'ready', checks: allOk }])
})

test('a hub that stopped renewing its presence is healthy but not ready until it renews it', async () => {
  const { anonymous, hub, clock } = await world()
  clock.advance(20_000)
  const lost = await anonymous.call('GET', '/readyz')
  expect(lost.status).toBe(503)
  expect(lost.headers.get('content-type')).toContain('application/problem+json')
  expect(lost.headers.get('retry-after')).toBe('1')
  expect(lost.body.code).toBe('not_ready')
  expect(lost.body.checks.presence.status).toBe('failing')
  expect(lost.body.checks.database.status).toBe('ok')
  expect((await anonymous.call('GET', '/healthz')).status).toBe(200)
  await renewPresence(hub)
  clock.advance(1000)
  expect((await anonymous.call('GET', '/readyz')).status).toBe(200)
})

test('results are cached for a second, to limit the load on the database', async () => {
  const { anonymous, clock } = await world()
  expect((await anonymous.call('GET', '/readyz')).status).toBe(200)
  clock.advance(20_000)
  expect((await anonymous.call('GET', '/readyz')).status).toBe(503)
  clock.advance(999)
  const kept = await anonymous.call('GET', '/readyz')
  clock.advance(1)
  const fresh = await anonymous.call('GET', '/readyz')
  expect(kept.body.checks).toEqual(fresh.body.checks)
})

test('a database with a different master key is not ready', async () => {
  const { anonymous, hub } = await world()
  await record(hub, async tx => {
    await tx.update(instanceFacts).set({ value: 'another.key.here' })
    return { result: undefined }
  })
  const response = await anonymous.call('GET', '/readyz')
  expect(response.status).toBe(503)
  expect(response.body.checks.master_key.status).toBe('failing')
})

test('jobs that are not run are reported', async () => {
  const { anonymous, hub, worker, clock } = await world()
  await worker.stop(1000)
  const kind = jobKinds[0]!.kind
  await record(hub, async tx => {
    const now = clock.now()
    const counts = { priority: 100, attempts: 0, lostRuns: 0 }
    await tx
      .insert(jobs)
      .values({ id: 'job_forgotten', kind, lane: '', state: 'ready', ...counts, runAt: now, payload: {}, createdAt: now })
    return { result: undefined }
  })
  expect((await anonymous.call('GET', '/readyz')).status).toBe(200)
  clock.advance(31_000)
  await renewPresence(hub)
  const response = await anonymous.call('GET', '/readyz')
  expect(response.body.checks.jobs).toEqual({
    status: 'failing',
    detail: `Jobs of the kind ${kind} are due but are not being run.`,
  })
})

test('jobs of a held lane are not reported while it is held', async () => {
  const { anonymous, hub, worker, clock } = await world()
  await worker.stop(1000)
  const start = clock.now()
  await record(hub, async tx => {
    const counts = { priority: 100, attempts: 0, lostRuns: 0, kind: deliverKind, state: 'ready' as const, payload: {} }
    for (const [id, lane] of [
      ['job_held_1', 'ws_a/whe_a'],
      ['job_held_2', 'ws_a/whe_a'],
    ] as const)
      await tx.insert(jobs).values({ ...counts, id, lane, runAt: start, createdAt: start })
    await holdLane(tx, deliverKind, 'ws_a/whe_a', start + 900_000)
    return { result: undefined }
  })
  const stateOfJobs = async () => {
    await renewPresence(hub)
    return (await anonymous.call('GET', '/readyz')).body.checks.jobs.status
  }
  clock.advance(600_000)
  expect(await stateOfJobs()).toBe('ok')
  // Also just after the end of the hold.
  clock.advance(310_000)
  expect(await stateOfJobs()).toBe('ok')
  clock.advance(30_000)
  expect(await stateOfJobs()).toBe('failing')
})

test('an unreachable database is reported without the error message', async () => {
  const { anonymous, hub } = await world()
  const broken = new Proxy(hub.read, {
    get: () => () => {
      throw new Error('password of postgres://ada:secret@db is wrong')
    },
  })
  hub.read = broken
  const response = await anonymous.call('GET', '/readyz')
  expect(response.status).toBe(503)
  expect(response.body.checks.database).toEqual({ status: 'failing', detail: 'The database does not respond.' })
  expect(response.text).not.toContain('secret')
})

test('metrics label routes by pattern and jobs by kind', async () => {
  const { acme, anonymous, hub, clock } = await world()
  const kind = jobKinds[0]!.kind
  await record(hub, async () => ({ result: undefined, jobs: [{ kind, payload: {}, runAt: clock.now() + 60_000 }] }))
  await acme.call('GET', '/v1/tokens/tok_01jd8f3q7eeb9bv0w0r8c7hq2m')
  await acme.call('GET', '/v1/tokens')
  await anonymous.call('GET', '/v1/nowhere')
  incrementCounter(hub, 'heartbeat_pings', 'success', 3)
  await answered()
  const response = await anonymous.call('GET', '/metrics')
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
  const lines = response.text.split('\n')
  expect(lines).toContain('bailiwick_http_requests_total{method="GET",route="/v1/tokens/:id",status="404"} 1')
  expect(lines).toContain('bailiwick_http_requests_total{method="GET",route="/v1/tokens",status="200"} 1')
  expect(lines).toContain('bailiwick_http_requests_total{method="GET",route="none",status="404"} 1')
  expect(lines).toContain('bailiwick_heartbeat_pings_total{kind="success"} 3')
  expect(lines).toContain(`bailiwick_jobs{kind="${kind}",state="ready"} 1`)
  expect(response.text).not.toContain('tok_')
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'process_open_fds',
    'process_start_time_seconds',
    'nodejs_heap_size_used_bytes',
  ]) {
    expect([name, Number(lines.find(line => line.startsWith(`${name} `))?.split(' ')[1]) > 0]).toEqual([name, true])
  }
  // Prometheus rejects the whole scrape if one line is invalid.
  for (const line of lines.filter(one => one !== '' && !one.startsWith('#')))
    expect(line).toMatch(/^[a-z_]+(\{([a-z]+="[^"\n]*",?)*\})? -?\d+(\.\d+)?(e[+-]?\d+)?$/)
})

test('a hub has few time series, and more only for what happens', async () => {
  const { anonymous, acme } = await world()
  const seriesCount = async () =>
    (await anonymous.call('GET', '/metrics')).text.split('\n').filter(line => line !== '' && !line.startsWith('#')).length
  expect(await seriesCount()).toBeLessThan(100)
  for (const list of ['monitors', 'heartbeats', 'incidents', 'tokens', 'members', 'dns/zones', 'dns/providers', 'audit-events'])
    expect((await acme.call('GET', `/v1/${list}`)).status).toBe(200)
  await answered()
  expect(await seriesCount()).toBeLessThan(200)
})

test('two hubs in one process count separately', async () => {
  const [one, other] = [await world(), await world()]
  await one.anonymous.call('GET', '/healthz')
  await answered()
  expect((await one.anonymous.call('GET', '/metrics')).text).toContain('route="/healthz"')
  expect((await other.anonymous.call('GET', '/metrics')).text).not.toContain('route="/healthz"')
})

test('metrics can only be read from the same machine, unless a token is set', async () => {
  const { anonymous } = await world({ BAILIWICK_TRUSTED_PROXIES: '127.0.0.1' })
  const from = (address: string) => anonymous.call('GET', '/metrics', undefined, { 'x-forwarded-for': address })
  expect((await anonymous.call('GET', '/metrics')).status).toBe(200)
  const outside = await from('192.0.2.7')
  expect([outside.status, outside.body.code]).toEqual([403, 'address_not_allowed'])
  expect((await from('127.0.0.1')).status).toBe(403)
})

test('requests through an undeclared proxy on this machine are not local', async () => {
  const { anonymous } = await world()
  for (const header of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']) {
    expect((await anonymous.call('GET', '/metrics', undefined, { [header]: 'for=192.0.2.7' })).status).toBe(403)
  }
})

test('metrics can be read from anywhere with the configured token, and no other', async () => {
  const { anonymous } = await world({
    BAILIWICK_TRUSTED_PROXIES: '127.0.0.1',
    BAILIWICK_METRICS_TOKEN: 'open-sesame',
    BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '3',
  })
  const from = (authorization?: string) =>
    anonymous.call('GET', '/metrics', undefined, { 'x-forwarded-for': '192.0.2.7', ...(authorization && { authorization }) })
  expect((await from('Bearer open-sesame')).status).toBe(200)
  const none = await from()
  expect([none.status, none.body.code, none.headers.get('www-authenticate')]).toEqual([
    401,
    'unauthenticated',
    'Bearer realm="bailiwick metrics"',
  ])
  for (const wrong of ['open-sesam', 'open-sesame2', 'OPEN-SESAME'])
    expect((await from(`Bearer ${wrong}`)).body.code).toBe('invalid_token')
  expect((await from('Bearer guess')).status).toBe(429)
  expect((await from('Bearer open-sesame')).status).toBe(200)
})

/** Requests are counted after their response is sent. */
const answered = () => new Promise(resolve => setImmediate(resolve))

test('while the database is unavailable, requests get 503 with Retry-After', async () => {
  const { anonymous, acme, hub } = await world()
  const away = Object.assign(new Error('Connection closed'), { code: 'ERR_POSTGRES_CONNECTION_CLOSED' })
  for (const error of [away, Object.assign(new Error('starting up'), { errno: '57P03' })]) {
    hub.store.transact = () => Promise.reject(error)
    const refused = await acme.call('POST', '/v1/tokens', { name: 'more', mode: 'read_only' })
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([503, 'database_unavailable', '5'])
    expect(refused.text).not.toContain(error.message)
  }
  expect((await anonymous.call('GET', '/healthz')).status).toBe(200)
})

test('a full disk is reported by writes, and by readiness until there is space again', async () => {
  const { anonymous, acme, hub } = await world()
  const full = Object.assign(new Error('disk full'), hub.config.databaseUrl ? { errno: '53100' } : { code: 'SQLITE_FULL' })
  const created = await acme.call('POST', '/v1/heartbeats', {
    name: 'backup',
    schedule: { kind: 'period', period_seconds: 60, grace_seconds: 10 },
  })
  expect(created.status).toBe(201)
  await expect(record(hub, () => Promise.reject(full))).rejects.toThrow('disk full')
  const { transact } = hub.store
  hub.store.transact = () => Promise.reject(full)
  const refused = await acme.call('POST', '/v1/tokens', { name: 'more', mode: 'read_only' })
  expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([503, 'storage_full', '30'])
  const ping = await anonymous.call('GET', `/ping/${created.body.uuid}`)
  expect([ping.status, ping.body.code]).toEqual([503, 'storage_full'])
  expect((await acme.call('GET', '/v1/heartbeats')).status).toBe(200)
  const response = await anonymous.call('GET', '/readyz')
  expect(response.status).toBe(503)
  expect(response.body.checks.storage).toEqual({
    status: 'failing',
    detail: 'The disk of the database is full and nothing can be written. Free up disk space.',
  })
  hub.store.transact = transact
  expect((await acme.call('POST', '/v1/tokens', { name: 'more', mode: 'read_only' })).status).toBe(201)
})

describe('the installation', () => {
  const read = async (w: World) => {
    const { status, body } = await w.acme.call('GET', '/v1/installation')
    expect(status).toBe(200)
    return body
  }
  const subjects = async (w: World) => (await read(w)).problems.map((one: any) => [one.subject, one.severity])
  const setFact = (w: World, name: string, value: object) =>
    record(w.hub, async tx => {
      await tx.insert(instanceFacts).values({ name, value: JSON.stringify(value) })
      return { result: undefined }
    })

  test('shows the hub, the database, the disk, jobs, mail, backups, and keys, only to the operator', async () => {
    const w = await world()
    const body = await read(w)
    expect(body).toMatchObject({
      build: { version },
      hubs: [{ id: w.hub.id, version, running: true, current: true, started_at: instant(w.clock.now()) }],
      database: { engine: isPostgres ? 'postgres' : 'sqlite' },
      jobs: { running: 0, oldest_due_at: null, failed: [] },
      mail: { configured: false, server: null, last_attempt_at: null },
      backup: { last_at: null, form: null },
      keys: { master_key_id: w.hub.keys.masterKeyId, required_key_id: w.hub.keys.masterKeyId, rotating: false },
      metrics_token_configured: false,
    })
    expect(body.database.version).toMatch(/^\d+\./)
    expect(body.database.size_bytes).toBeGreaterThan(10_000)
    expect(body.database.log_bytes === null).toBe(isPostgres)
    expect(body.disk.total_bytes).toBeGreaterThan(body.disk.free_bytes)
    // Nothing but a hint: a backup is not due yet.
    expect(await subjects(w)).toEqual([['mail', 'info']])
    for (const caller of [w.rival, w.readOnly])
      expect((await caller.call('GET', '/v1/installation')).body.code).toBe('insufficient_permission')
    expect((await w.anonymous.call('GET', '/v1/installation')).status).toBe(401)
  })

  test('reports failing checks first, then old backups, failed and waiting jobs, and mail that was not sent', async () => {
    const w = await world()
    await w.worker.stop(1000)
    const created = w.clock.now()
    const counts = { lane: '', priority: 100, attempts: 0, lostRuns: 0, payload: {}, createdAt: created, runAt: created }
    await record(w.hub, async tx => {
      const kind = jobKinds[0]!.kind
      await tx.insert(jobs).values([
        { id: 'job_waiting', kind, state: 'ready', ...counts },
        { id: 'job_failed', kind: 'a.job', state: 'failed', ...counts, lastError: 'no route', failedAt: created },
      ])
      return { result: undefined }
    })
    await setFact(w, 'last_mail', { at: instant(created), error: '550 no such user' })
    w.clock.advance(3 * 86_400_000)
    const body = await read(w)
    const found = body.problems.map((one: any) => [one.subject, one.severity, one.text])
    expect(found.slice(0, 2)).toEqual([
      ['health', 'critical', expect.stringContaining('are due but are not being run')],
      ['health', 'critical', expect.stringContaining('could not renew its presence')],
    ])
    expect(found.slice(2)).toEqual([
      ['health', 'warning', expect.stringContaining('check engine')],
      ['backup', 'warning', expect.stringMatching(/^No backup has been made\. Run bailiwick backup/)],
      ['jobs', 'warning', expect.stringContaining(`waiting since ${formatUtcMinute(created)}.`)],
      ['jobs', 'warning', expect.stringMatching(/^1 background job failed permanently .*: a\.job \(no route\)\. See the log/)],
      ['mail', 'info', expect.stringContaining('Set BAILIWICK_SMTP_URL')],
    ])
    expect(body.jobs).toMatchObject({
      oldest_due_at: instant(created),
      failed: [{ kind: 'a.job', count: 1, last_error: 'no route' }],
    })
    expect(body.jobs.due).toBeGreaterThan(0)
    expect(body.mail.last_error).toBe('550 no such user')
  })

  test('knows the last backup, also in the metrics', async () => {
    const w = await world()
    const metric = async () =>
      /^bailiwick_last_backup_timestamp_seconds (\S+)$/m.exec((await w.anonymous.call('GET', '/metrics')).text)?.[1]
    expect(await metric()).toBe('0')
    const { manifest, bytes } = await createBackup(w.hub.config, {
      folder: join(w.hub.config.data, 'backups'),
      logical: true,
      withSeries: false,
      report: () => {},
    })
    expect((await read(w)).backup).toEqual({
      last_at: manifest.created_at,
      form: 'logical',
      size_bytes: bytes,
      with_series: false,
    })
    expect(Number(await metric())).toBe(Date.parse(manifest.created_at) / 1000)
  })
})
