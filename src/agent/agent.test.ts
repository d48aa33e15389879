import { generateKeyPairSync } from 'node:crypto'
import { readdirSync, rmSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { AgentHub } from '../../test/support/agent-hub'
import { ManualClock } from '../../test/support/manual-clock'
import type { AgentConfig } from '../wire/agent'
import { signRequest } from '../wire/signed'
import { Agent, type AgentPieces, type AgentStatus } from './agent'
import type { Machine, ReportParts } from './machine'
import { News } from './news'
import { MinuteSums } from './sample/minutes'
import { HubClient } from './transport/hub-client'
import { HubClock } from './transport/hub-clock'
import { Spool } from './transport/spool'

const minute = 60_000
const hour = 60 * minute

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-agent-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

/** A server whose CPU load in each minute follows from its number. */
class Scripted implements Machine {
  readonly bootId = 'boot-1'
  uptimeSeconds = () => 86_400.5
  changing: ReportParts = { facts: { hostname: 'web-1' }, units: [] }
  watched: readonly string[] = []
  isLate = false
  readonly news: News = new News()
  private readonly sums = new MinuteSums()
  sample = (at: number) => Promise.resolve(this.sums.add(at, new Map([['cpu.used_percent', Math.floor(at / minute) % 1000]])))
  end = () => this.sums.end()
  parts = () => Promise.resolve(this.changing)
  watch(units: readonly string[], processes: readonly string[]) {
    this.watched = [...units, ...processes]
  }
}

/** Time of a hub and of a server, whose clock may be wrong. */
class Times {
  readonly clock = new ManualClock()
  private readonly began = this.clock.now()
  wrongBy = 0
  hubWrongBy = 0
  hub = () => this.clock.now() + this.hubWrongBy
  wall = () => this.clock.now() + this.wrongBy
  /** Resolution of the steady clock (ms). */
  resolution = 1
  /** How long the server stood still, such as a virtual machine that was paused. */
  pausedMs = 0
  steady = () => Math.floor((this.clock.now() - this.began - this.pausedMs + 5000) / this.resolution) * this.resolution
}

interface Running {
  agent: Agent
  machine: Scripted
  logged: string[]
  status(): AgentStatus
  kept: AgentConfig[]
}

const keys = generateKeyPairSync('ed25519')

function startAgent(
  hub: { url: string; token: string },
  times: Times,
  changes: Partial<AgentPieces> = {},
  timeoutMs = 60_000,
): Running {
  const clock = new HubClock(times.wall, times.steady)
  const logged: string[] = []
  const kept: AgentConfig[] = []
  const machine = new Scripted()
  let status: AgentStatus | null = null
  const agent = new Agent({
    agentId: 'agent_1',
    allow: ['collect', 'reboot'],
    config: { interval_seconds: 60, watched_units: [] },
    client: new HubClient(
      { hub: hub.url, pin: null },
      clock,
      hub.token,
      request => signRequest(keys.privateKey, request),
      timeoutMs,
    ),
    clock,
    timers: times.clock,
    spool: new Spool(folder, problem => logged.push(problem)),
    machine,
    random: () => 0.5,
    log: text => logged.push(text),
    keepConfig: config => kept.push(config),
    onStatus: now => {
      status = now
    },
    ...changes,
  })
  agent.start()
  return { agent, machine, logged, kept, status: () => status! }
}

/** Lets time pass, and waits for the requests of each moment. */
async function pass({ clock }: Times, { agent }: Running, ms: number, step = 1000): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    clock.advance(step)
    await agent.idle()
  }
}

async function scene(run: (hub: AgentHub, times: Times) => Promise<void>): Promise<void> {
  const times = new Times()
  await using hub = new AgentHub(times.hub)
  hub.publicKey = keys.publicKey
  await run(hub, times)
}

/** Starts of all whole minutes from the start of the test until now. */
function wholeMinutes({ clock }: Times, from = Date.parse('2026-11-21T10:00:00.000Z')): number[] {
  return Array.from({ length: Math.floor((clock.now() - from) / minute) }, (_, at) => from + at * minute)
}

const waiting = () => readdirSync(folder).filter(name => name !== 'dropped.json')

describe('reports', () => {
  test('the first is sent at once, and then one a minute with what has changed', () =>
    scene(async (hub, times) => {
      const running = startAgent(hub, times)
      await pass(times, running, 10 * minute)
      expect(hub.reports[0]).toMatchObject({ v: 1, seq: 1, minutes: [], clock_offset_ms: null, backlog: false })
      expect(hub.reports[1]).toMatchObject({ seq: 2, facts: { hostname: 'web-1' }, units: [] })
      expect(hub.requests[0]!.at).toBeLessThan(Date.parse('2026-11-21T10:00:02Z'))
      expect(hub.reports.slice(2).every(report => report.facts === undefined && report.units === undefined)).toBe(true)
      expect(hub.reports.map(report => report.seq)).toEqual(hub.reports.map((_, at) => at + 1))
      expect(hub.reports.length).toBeWithin(11, 14)
      expect([...hub.minutes.keys()].slice(0, 9)).toEqual(wholeMinutes(times).slice(0, 9))
      for (const [start, values] of hub.minutes) expect(values).toEqual({ 'cpu.used_percent': (start / minute) % 1000 })
      expect(hub.reports.at(-1)).toMatchObject({ clock_offset_ms: 0, spooled: 1, dropped: 0, allow: ['collect', 'reboot'] })

      running.machine.changing = { facts: { hostname: 'web-2' }, units: [] }
      await pass(times, running, minute)
      expect(hub.reports.at(-1)).toMatchObject({ facts: { hostname: 'web-2' } })
      expect(hub.reports.at(-1)!.units).toBeUndefined()
      hub.sendAll = true
      await pass(times, running, 2 * minute)
      expect(hub.reports.at(-1)).toMatchObject({ facts: { hostname: 'web-2' }, units: [] })
      expect(running.logged).toEqual([])
    }))

  test('timers that fire slightly early measure once, and end a minute on time', () =>
    scene(async (hub, times) => {
      // While the hub is away, minutes stay on disk.
      hub.behavior = { status: 503 }
      const timers = { after: (ms: number, fn: () => void) => times.clock.after(Math.max(0, ms - 20), fn) }
      const running = startAgent(hub, times, { timers })
      const sampled: number[] = []
      const { sample } = running.machine
      running.machine.sample = at => (sampled.push(at), sample(at))
      await pass(times, running, minute, 20)
      expect(sampled.map(at => at - times.clock.now())).toEqual([-50_000, -40_000, -30_000, -20_000, -10_000, 0])
      expect(waiting()).toHaveLength(1)
    }))

  test('parts that someone wants are sent soon after they were read', () =>
    scene(async (hub, times) => {
      const running = startAgent(hub, times)
      await pass(times, running, 2 * minute)
      const before = hub.reports.length
      running.machine.isLate = true
      running.agent.reportNow(true)
      await pass(times, running, 4000)
      expect(hub.reports.length).toBe(before + 1)
      Object.assign(running.machine, { isLate: false, changing: { units: [], facts: { hostname: 'web-3' } } })
      await pass(times, running, 3000)
      expect(hub.reports.length).toBe(before + 2)
      expect(hub.reports.at(-1)).toMatchObject({ facts: { hostname: 'web-3' } })
    }))

  test('settings of the hub are followed and kept', () =>
    scene(async (hub, times) => {
      hub.config = { interval_seconds: 300, watched_units: ['nginx.service'], watched_processes: ['nginx'] }
      const running = startAgent(hub, times)
      await pass(times, running, hour)
      expect(running.kept).toEqual([hub.config])
      expect(running.machine.watched).toEqual(['nginx.service', 'nginx'])
      expect(hub.reports.length).toBeWithin(13, 17)
      expect(hub.minutes.size).toBeGreaterThan(54)
      expect(running.status().spooled).toBeLessThanOrEqual(5)
    }))

  test('what the hub refuses doesn’t block what comes after it', () =>
    scene(async (hub, times) => {
      hub.rejects = report => [
        ...(report.units ? ['#/units/0/name', '#/units/1/name'] : []),
        ...report.minutes.flatMap(([start], at) => (start % (5 * minute) === 0 ? [`#/minutes/${at}/0`] : [])),
      ]
      const running = startAgent(hub, times)
      await pass(times, running, 12 * minute)
      expect([...hub.minutes.keys()].map(start => (start / minute) % 5)).not.toContain(0)
      expect(hub.minutes.size).toBeGreaterThanOrEqual(8)
      expect(running.status().dropped).toBe(3)
      expect(running.logged[0]).toContain(
        'The hub responded with status 422: The request failed. It is sent again without units.',
      )
      expect(hub.reports.filter(report => report.facts)).toHaveLength(1)
    }))

  test('fields that a hub of another version refuses are left out, and no minute is dropped', () =>
    scene(async (hub, times) => {
      hub.rejects = report => [...(report.firewall ? ['#/firewall'] : []), ...(report.problems ? ['#/problems'] : [])]
      const running = startAgent(hub, times, { firewall: () => ({ digest: null, confirmed: true }) })
      running.machine.changing = { facts: { hostname: 'web-1' }, problems: ['A disk is missing.'] }
      await pass(times, running, 5 * minute)
      expect([...hub.minutes.keys()].slice(0, 4)).toEqual(wholeMinutes(times).slice(0, 4))
      expect(hub.reports.filter(report => report.facts)).toHaveLength(1)
      expect(running.status()).toMatchObject({ error: null, dropped: 0 })
    }))

  test.each([
    ['an hour later', 0],
    ['after an outage', 2 * minute],
  ])(
    'a hub of an earlier version gets the permissions and parts that it knows, and after its update all of them: %s',
    (_, outageMs) =>
      scene(async (hub, times) => {
        const allow = ['collect', 'certificates:web', 'reboot', 'certificates:mail'] as const
        hub.rejects = report => [
          ...report.allow.flatMap((one, at) => (one.startsWith('certificates:') ? [`#/allow/${at}`] : [])),
          ...(report.problems ? ['#/problems/0'] : []),
        ]
        const running = startAgent(hub, times, { allow })
        running.machine.changing = { facts: { hostname: 'web-1' }, problems: ['A disk is missing.'] }
        await pass(times, running, 6 * minute)
        expect([...hub.minutes.keys()].slice(0, 5)).toEqual(wholeMinutes(times).slice(0, 5))
        expect(hub.reports.every(report => report.allow.join() === 'collect,reboot')).toBe(true)
        // The first one, and the first one with parts.
        expect(hub.requests.length - hub.reports.length).toBe(2)
        expect(running.logged[0]).toEndWith(' It is sent again without certificates:web, certificates:mail.')

        hub.rejects = () => []
        hub.behavior = outageMs > 0 ? { status: 503 } : 'ok'
        await pass(times, running, outageMs)
        hub.behavior = 'ok'
        await pass(times, running, outageMs > 0 ? 7 * minute : 58 * minute, outageMs > 0 ? 1000 : 10_000)
        expect(hub.reports.at(-1)!.allow).toEqual([...allow])
        expect(hub.reports.filter(report => report.problems)).toHaveLength(1)
        expect(running.status()).toMatchObject({ error: null, dropped: 0 })
      }),
  )

  test('a hub that doesn’t say which permissions it refuses gets none that it may not know', () =>
    scene(async (hub, times) => {
      hub.rejects = report => (report.allow.length > 1 ? ['#/allow'] : [])
      const running = startAgent(hub, times)
      await pass(times, running, 3 * minute)
      expect(hub.reports.at(-1)).toMatchObject({ allow: ['collect'] })
      expect(running.status()).toMatchObject({ error: null, dropped: 0 })
    }))

  test.each([
    ['a field that must not be missing', ['#/allow/1']],
    ['a field that the agent doesn’t know', ['#/region']],
    ['no field', ['#']],
  ])('as long as the hub refuses %s, minutes wait', (_, pointers) =>
    scene(async (hub, times) => {
      const running = startAgent(hub, times)
      await pass(times, running, 2 * minute)
      hub.rejects = () => pointers
      await pass(times, running, 30 * minute)
      expect(running.status()).toMatchObject({ error: 'The hub responded with status 422: The request failed.', dropped: 0 })
      hub.rejects = () => []
      await pass(times, running, 7 * minute)
      expect([...hub.minutes.keys()].sort().slice(0, 37)).toEqual(wholeMinutes(times).slice(0, 37))
    }),
  )

  test('what has happened is reported until the hub acknowledges it, and dropped if the hub refuses it', () =>
    scene(async (hub, times) => {
      const running = startAgent(hub, times)
      const { news } = running.machine
      const event = (name: string) => ({ at: times.hub(), kind: 'unit.failed' as const, name, detail: null })
      const reported = () => hub.reports.flatMap(report => report.events?.map(one => one.name) ?? [])
      await pass(times, running, 2 * minute)
      news.add({ events: [event('a'), event('b')] })
      hub.behavior = { status: 503 }
      await pass(times, running, 10 * minute)
      news.add({ events: Array.from({ length: 60 }, (_, at) => event(`c${at}`)) })
      hub.behavior = 'ok'
      await pass(times, running, 7 * minute)
      expect(reported()).toEqual(['a', 'b', ...Array.from({ length: 60 }, (_, at) => `c${at}`)])
      expect(Math.max(...hub.reports.map(report => report.events?.length ?? 0))).toBe(50)

      hub.rejects = report => (report.events ? ['#/events/0/kind'] : [])
      news.add({ events: [event('refused')] })
      await pass(times, running, 2 * minute)
      hub.rejects = () => []
      news.add({ events: Array.from({ length: 600 }, (_, at) => event(`d${at}`)) })
      await pass(times, running, 15 * minute)
      expect(reported().slice(62)).toEqual(Array.from({ length: 500 }, (_, at) => `d${at + 100}`))
      expect(running.status()).toMatchObject({ error: null, dropped: 0 })
    }))

  test('settings that can’t be stored are still used', () =>
    scene(async (hub, times) => {
      hub.config = { interval_seconds: 300, watched_units: ['nginx.service'] }
      const running = startAgent(hub, times, {
        keepConfig: () => {
          throw new Error('ENOSPC: no space left on device')
        },
      })
      await pass(times, running, 20 * minute)
      expect(running.logged).toEqual(['The settings from the hub can’t be stored: ENOSPC: no space left on device'])
      expect(running.status().interval_seconds).toBe(300)
      expect(hub.minutes.size).toBeGreaterThan(10)
    }))

  test('the last one says why the agent stops, with the minute that is not over', () =>
    scene(async (hub, times) => {
      const running = startAgent(hub, times)
      await pass(times, running, 90_000)
      await running.agent.stop('reboot')
      expect(hub.reports.at(-1)).toMatchObject({ stopping: 'reboot', backlog: false })
      expect([...hub.minutes.keys()]).toEqual([...wholeMinutes(times), wholeMinutes(times).at(-1)! + minute])
      expect(waiting()).toEqual([])
      const count = hub.requests.length
      await pass(times, running, 5 * minute)
      expect(hub.requests.length).toBe(count)
    }))
})

describe('while the hub is away', () => {
  test.each([
    ['429 with Retry-After', { status: 429, code: 'rate_limited', headers: { 'retry-after': '120' } }],
    ['500', { status: 500, code: 'internal_error' }],
    ['401 of a proxy', { status: 401 }],
    ['404 of a proxy', { status: 404 }],
    ['413 of a proxy', { status: 413 }],
    ['a page instead of JSON', 'page'],
  ] as const)('%s: no minute is lost', (_, behavior) =>
    scene(async (hub, times) => {
      const running = startAgent(hub, times)
      await pass(times, running, 2 * minute)
      hub.behavior = behavior
      const before = hub.requests.length
      await pass(times, running, 30 * minute)
      const attempts = hub.requests.slice(before).map(({ at }) => at)
      const pauses = attempts.slice(1).map((at, index) => at - attempts[index]!)
      expect(Math.max(...pauses)).toBeLessThanOrEqual(300_000)
      expect(Math.min(...pauses)).toBeGreaterThanOrEqual(_.startsWith('429') ? 120_000 : 1000)
      expect(running.status().error).not.toBeNull()
      expect(running.logged.length).toBe(1)
      expect(running.status().spooled).toBeGreaterThanOrEqual(25)
      hub.behavior = 'ok'
      await pass(times, running, 7 * minute)
      expect([...hub.minutes.keys()].sort().slice(0, 37)).toEqual(wholeMinutes(times).slice(0, 37))
      expect(running.status()).toMatchObject({ error: null, dropped: 0 })
      expect(running.logged.at(-1)).toMatch(/^The hub is reachable again/)
    }),
  )

  test('a hub that is stopped and started again', async () => {
    const times = new Times()
    const stopped = new AgentHub(times.hub)
    stopped.publicKey = keys.publicKey
    const running = startAgent(stopped, times)
    await pass(times, running, 2 * minute)
    const { port } = stopped
    await stopped[Symbol.asyncDispose]()
    await pass(times, running, 20 * minute)
    expect(running.logged).toEqual(['The host refused the connection. Minutes are stored and sent later.'])
    await using hub = new AgentHub(times.hub, { port })
    hub.publicKey = keys.publicKey
    await pass(times, running, 7 * minute)
    expect([...stopped.minutes.keys(), ...[...hub.minutes.keys()].sort()].slice(0, 27)).toEqual(wholeMinutes(times).slice(0, 27))
  })

  test('a hub that never responds', () =>
    scene(async (hub, times) => {
      const running = startAgent(hub, times, {}, 2000)
      await pass(times, running, 2 * minute)
      hub.behavior = 'silent'
      await pass(times, running, 70_000, 10_000)
      expect(running.logged).toEqual(['The request timed out. Minutes are stored and sent later.'])
      hub.behavior = 'ok'
      await pass(times, running, 3 * minute)
      expect(hub.minutes.size).toBeGreaterThanOrEqual(5)
    }))

  test(
    'after hours, the present is sent first, then the backlog in order, an hour a request, at most four a second',
    () =>
      scene(async (hub, times) => {
        const running = startAgent(hub, times)
        await pass(times, running, minute)
        hub.behavior = { status: 503 }
        await pass(times, running, 30 * hour, 10_000)
        expect(waiting().filter(name => name.endsWith('.gz')).length).toBe(30)
        hub.behavior = 'ok'
        const before = hub.reports.length
        const requests = hub.requests.length
        await pass(times, running, 6 * minute, 50)
        const [present, ...rest] = hub.reports.slice(before)
        expect(present!.backlog).toBe(false)
        expect(present!.minutes.at(-1)![0]).toBeGreaterThan(times.hub() - 9 * minute)
        const backlog = rest.filter(report => report.backlog)
        expect(backlog.every(report => report.minutes.length <= 60)).toBe(true)
        const starts = backlog.flatMap(report => report.minutes.map(([start]) => start))
        expect(starts).toEqual(starts.toSorted((a, b) => a - b))
        const sent = hub.requests.slice(requests).map(({ at }) => at)
        expect(Math.min(...sent.slice(1).map((at, index) => at - sent[index]!))).toBeGreaterThanOrEqual(250)
        expect([...hub.minutes.keys()].sort().slice(0, 1805)).toEqual(wholeMinutes(times).slice(0, 1805))
        expect(running.status()).toMatchObject({ dropped: 0, error: null })
        expect(waiting().length).toBeLessThanOrEqual(1)
      }),
    180_000,
  )

  test('killed and started again in the meantime: no minute is missing', () =>
    scene(async (hub, times) => {
      hub.behavior = { status: 503 }
      const killed = startAgent(hub, times)
      await pass(times, killed, 2 * hour, 10_000)
      killed.agent['halt']()
      const again = startAgent(hub, times)
      await pass(times, again, 10 * minute)
      hub.behavior = 'ok'
      await pass(times, again, 8 * minute)
      expect([...hub.minutes.keys()].sort().slice(0, 135)).toEqual(wholeMinutes(times).slice(0, 135))
    }))

  test(
    'with a coarse clock, nothing counts as received that was not sent',
    () =>
      scene(async (hub, times) => {
        times.resolution = 10
        const running = startAgent(hub, times, { random: () => 0.1234 })
        await pass(times, running, 2 * minute)
        hub.behavior = { status: 503 }
        await pass(times, running, 10 * minute, 1)
        expect(running.logged).toEqual([
          'The hub responded with status 503: The request failed. Minutes are stored and sent later.',
        ])
      }),
    180_000,
  )

  test('a revoked token ends the agent', () =>
    scene(async (hub, times) => {
      const running = startAgent(hub, times)
      let revoked = false
      void running.agent.revoked.then(() => {
        revoked = true
      })
      await pass(times, running, minute)
      expect(revoked).toBe(false)
      hub.behavior = { status: 401, code: 'token_revoked' }
      await pass(times, running, 2 * minute)
      expect(revoked).toBe(true)
      expect(
        hub.requests
          .slice(-2)
          .map(({ at }) => at)
          .every(at => at < times.hub()),
      ).toBe(true)
      const count = hub.requests.length
      await pass(times, running, 10 * minute)
      expect(hub.requests.length).toBe(count)
    }))
})

describe('a wrong clock', () => {
  test.each([-5, 5, -60 * 24 * 365])('wrong by %d min: minutes are filed by the clock of the hub', wrong =>
    scene(async (hub, times) => {
      times.wrongBy = wrong * minute
      const running = startAgent(hub, times)
      await pass(times, running, 5 * minute)
      expect([...hub.minutes.keys()].slice(0, 4)).toEqual(wholeMinutes(times).slice(0, 4))
      expect(running.logged.filter(text => text.startsWith('The clock of this server is'))).toHaveLength(1)
      expect(Math.abs(running.status().clock_offset_ms! + wrong * minute)).toBeLessThan(1000)
      expect(hub.reports.at(-1)!.sent_at).toBeWithin(times.wall() - minute, times.wall() + 1)
    }),
  )

  test('set while the agent runs', () =>
    scene(async (hub, times) => {
      const running = startAgent(hub, times)
      await pass(times, running, 3 * minute)
      times.wrongBy = -20 * minute
      await pass(times, running, 3 * minute)
      times.wrongBy = 7 * minute
      await pass(times, running, 4 * minute)
      expect([...hub.minutes.keys()].slice(0, 9)).toEqual(wholeMinutes(times).slice(0, 9))
      expect(hub.reports.every(report => report.minutes.every(([start]) => start < times.hub()))).toBe(true)
    }))

  test.each([-3, -4, -10, 4])('of the hub, set by %d min: no minute is dropped', setBy =>
    scene(async (hub, times) => {
      hub.rejects = ({ minutes }) =>
        minutes.flatMap(([start], at) => (start > times.hub() + 2 * minute ? [`#/minutes/${at}/0`] : []))
      const running = startAgent(hub, times)
      await pass(times, running, 8 * minute)
      const before = [...hub.minutes.keys()]
      times.hubWrongBy = setBy * minute
      const from = Math.floor(times.hub() / minute + 2) * minute
      await pass(times, running, 16 * minute)
      expect(running.status()).toMatchObject({ dropped: 0, error: null })
      const expected = Array.from({ length: 12 }, (_, at) => from + at * minute)
      expect([...hub.minutes.keys()].sort()).toEqual(expect.arrayContaining([...before, ...expected]))
    }),
  )

  test.each([20, 200, 2000])('right again at once after the server was paused for %d s', seconds =>
    scene(async (hub, times) => {
      const running = startAgent(hub, times)
      await pass(times, running, 3 * minute)
      times.clock.jump(seconds * 1000)
      times.pausedMs = seconds * 1000
      times.wrongBy = -seconds * 1000
      const resumed = Math.floor(times.hub() / minute + 3) * minute
      await pass(times, running, 8 * minute)
      const expected = wholeMinutes(times).filter(start => start >= resumed)
      expect([...hub.minutes.keys()].filter(start => start >= resumed).slice(0, 4)).toEqual(expected.slice(0, 4))
      expect(running.status()).toMatchObject({ clock_offset_ms: seconds * 1000, error: null })
      expect(running.logged.filter(text => text.startsWith('The clock of this server is'))).toHaveLength(1)
    }),
  )

  test('wrong from the start while the hub is away', () =>
    scene(async (hub, times) => {
      times.wrongBy = -60 * 24 * minute
      hub.behavior = { status: 503 }
      const running = startAgent(hub, times)
      await pass(times, running, 90 * minute, 10_000)
      hub.behavior = 'ok'
      await pass(times, running, 8 * minute)
      expect([...hub.minutes.keys()].sort().slice(0, 95)).toEqual(wholeMinutes(times).slice(0, 95))
    }))

  test('set back while the hub was never reached', () =>
    scene(async (hub, times) => {
      hub.behavior = { status: 503 }
      const running = startAgent(hub, times)
      for (let round = 0; round < 4; round++) {
        await pass(times, running, 40 * minute, 10_000)
        times.wrongBy -= 40 * minute
      }
      hub.behavior = 'ok'
      await pass(times, running, 8 * minute)
      expect([...hub.minutes.keys()].sort().slice(0, 165)).toEqual(wholeMinutes(times).slice(0, 165))
      expect(running.status()).toMatchObject({ error: null, dropped: 0 })
    }))
})
