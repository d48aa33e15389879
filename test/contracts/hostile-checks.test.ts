import { expect, test } from 'bun:test'
import { resolve } from 'node:path'
import type { CheckResult } from '../../src/checks/check'
import { EngineSupervisor } from '../../src/checks/engine/engine-supervisor'
import type { FromEngine } from '../../src/checks/messages'
import { systemClock } from '../../src/core/clock'
import { openLog } from '../../src/core/log'
import { spec } from '../support/engine'
import { hostileChecks } from '../support/hostile-checks'

const intervalMs = 5000
const monitors = 1000
// A busy machine may skip a few runs. A check that occupies the thread would skip hundreds.
const maxSkipped = 50

test('hostile checks of every type leave 1,000 other monitors on schedule', async () => {
  const server = Bun.spawn([process.execPath, resolve('test/support/hostile-server.ts')], { stdout: 'pipe' })
  const messages: FromEngine[] = []
  const supervisor = new EngineSupervisor({
    entry: resolve('src/bin/checks.ts'),
    clock: systemClock,
    log: openLog('error', { write: () => {} }),
    resolvers: [{ address: '127.0.0.1', port: 9 }],
  })
  try {
    const ports = JSON.parse(new TextDecoder().decode((await server.stdout.getReader().read()).value))
    const hostile = hostileChecks(ports).map(one => ({ ...one, confirmed_status: 'new' as const, confirm: 1, timeout_ms: 5000 }))
    const others = Array.from({ length: monitors }, (_, at) =>
      spec(`other_${at}`, {
        target: `127.1.${at >> 8}.${at & 255}:${ports.good}`,
        interval_ms: intervalMs,
        timeout_ms: intervalMs,
      }),
    )
    const results = new Map<string, CheckResult[]>()
    const done = Promise.withResolvers<void>()
    const missing = new Set([...hostile, ...others].map(one => one.monitor))
    supervisor.onMessage(message => {
      messages.push(message)
      if (message.kind !== 'results') return
      for (const result of message.results) {
        const all = results.get(result.monitor) ?? []
        results.set(result.monitor, [...all, result])
        if (all.length + 1 >= (result.monitor.startsWith('other') ? 2 : 1)) missing.delete(result.monitor)
      }
      if (missing.size === 0) done.resolve()
    })
    supervisor.start()
    supervisor.send({ kind: 'configure', full: true, upsert: [...others, ...hostile], remove: [] })
    await done.promise

    expect(messages.filter(one => one.kind === 'ready').length).toBe(1)
    expect(messages.filter(one => one.kind === 'quarantined')).toEqual([])
    const found = hostile.map(one => results.get(one.monitor)![0]!)
    expect(found.filter(one => one.error?.kind === 'internal').map(one => one.monitor)).toEqual([])
    const gaps = others.flatMap(one => {
      const due = results.get(one.monitor)!.map(result => result.due_at)
      return due.slice(1).map((at, n) => at - due[n]!)
    })
    expect(gaps.filter(gap => gap !== intervalMs).length).toBeLessThanOrEqual(maxSkipped)
    const notUp = others.flatMap(one => results.get(one.monitor)!.filter(result => result.status !== 'up'))
    expect(notUp.map(one => one.error?.message)).toEqual([])
  } finally {
    server.kill()
    await supervisor.stop()
  }
}, 180_000)
