import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock'
import { openSeries } from '../../src/core/db/series'
import { Mean } from '../../src/core/db/series/metric-row'
import { tiers } from '../../src/core/db/series/metric-tiers'
import { subjectOf } from '../../src/features/servers/metrics/names'
import { seriesKinds } from '../../src/features/series-kinds'
import { call, fullToken, installation, startHub, until, type HubProcess } from '../support/binary'
import { inconsistencies } from '../support/consistency'
import { rowsOf } from '../support/database'
import { freePort } from '../support/free-port'
import { mulberry32 } from '../support/random'
import { ReportingAgent } from '../support/reporting-agent'

// In full: `BAILIWICK_TEST_AGENT_KILLS=100 bun test …`.
const kills = Number(process.env.BAILIWICK_TEST_AGENT_KILLS ?? 4)
const agentCount = 50
const seed = Number(process.env.BAILIWICK_TEST_KILL_SEED ?? crypto.getRandomValues(new Uint32Array(1))[0])
// Two hubs share a database on PostgreSQL.
const hubCount = process.env.BAILIWICK_DATABASE_URL ? 2 : 1
/** Agents whose minutes are compared after each kill. */
const comparedAtOnce = 3

test(`${hubCount} hubs killed ${kills} times while ${agentCount} agents report lose no minute that they acknowledged`, async () => {
  process.stdout.write(`seed ${seed} (BAILIWICK_TEST_KILL_SEED)\n`)
  const random = mulberry32(seed)
  await using here = await installation()
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-agent-kill-'))
  const ports = await Promise.all(Array.from({ length: hubCount }, freePort))
  const open = (at: number) => startHub(here, { args: ['--listen', `127.0.0.1:${ports[at]}`] })
  const hubs: HubProcess[] = []
  const agents: ReportingAgent[] = []
  await using _ = {
    async [Symbol.asyncDispose]() {
      await Promise.all(agents.map(one => one.end()))
      await Promise.all(hubs.map(hub => hub.stop('SIGKILL')))
      rmSync(folder, { recursive: true })
    },
  }
  for (let at = 0; at < hubCount; at++) hubs.push(await open(at))
  const token = await fullToken(here)
  const api = async (path: string) => {
    const { status, body } = await call(hubs[0]!, token, 'GET', path)
    if (status !== 200) throw new Error(`GET ${path}: ${JSON.stringify(body)}`)
    return body
  }
  const created = await call(hubs[0]!, token, 'POST', '/v1/enrolment-keys', { name: 'test', uses: agentCount })
  expect(created.status).toBe(201)
  for (let at = 0; at < agentCount; at++)
    agents.push(await ReportingAgent.start(hubs[at % hubCount]!.url, created.body.key, join(folder, `agent-${at}`), random))
  const logs: string[] = []

  for (let round = 1; round <= kills; round++) {
    for (const one of agents) one.resume()
    const acknowledged = agents.map(one => one.reports)
    await Bun.sleep(300 + random() * 1500)
    // On a busy machine, the hub needs more time.
    await until(
      'reports',
      async () => agents.filter((one, at) => one.reports > acknowledged[at]!).length > agentCount / 2,
      60_000,
    )
    const at = Math.floor(random() * hubCount)
    await hubs[at]!.stop('SIGKILL')
    logs.push(hubs[at]!.err())
    hubs[at] = await open(at)
    for (let n = 0; n < comparedAtOnce; n++) {
      const one = agents[Math.floor(random() * agentCount)]!
      expect({ round, lost: await one.lost(api) }).toEqual({ round, lost: [] })
    }
  }

  for (const one of agents) one.pause()
  await until('all minutes are acknowledged', async () => agents.every(one => one.waiting === 0), 120_000)
  for (const one of agents) expect(await one.differences(api)).toEqual([])
  await using rows = rowsOf(here)
  expect(await inconsistencies(rows)).toEqual([])
  logs.push(...hubs.map(hub => hub.err()))
  await Promise.all(agents.map(one => one.end()))
  await Promise.all(hubs.map(hub => hub.stop('SIGKILL')))
  expect(logs.flatMap(one => one.split('\n')).filter(line => /"level":"(?:error|fatal)"/.test(line))).toEqual([])
  expect(agents.flatMap(one => one.problems)).toEqual([])

  // What the hubs have not computed yet, the next one does.
  const databaseUrl = here.env.BAILIWICK_DATABASE_URL ?? null
  const series = openSeries({ data: here.folder, databaseUrl, now: systemClock.now }, seriesKinds)
  try {
    await series.metrics.rollUp(Date.now())
    const [minutes, ...coarse] = tiers
    for (const { serverId } of agents) {
      const read = async (tier: (typeof tiers)[number]) => {
        const found = new Map<number, { avg: number; n: number }>()
        await series.metrics.read(subjectOf(serverId, 'agent'), tier, 0, 8.64e15, (at, column, avg, _, n) => {
          if (column === 'load.1') found.set(at, { avg, n })
        })
        return found
      }
      const all = await read(minutes)
      for (const tier of coarse) {
        const sums = new Map<number, { mean: Mean; n: number }>()
        for (const [at, { avg, n }] of all) {
          const start = Math.floor(at / tier.stepMs) * tier.stepMs
          const sum = sums.get(start) ?? { mean: new Mean(), n: 0 }
          sums.set(start, sum)
          sum.mean.add(avg, avg, n)
          sum.n += n
        }
        const found = await read(tier)
        for (const [at, { mean, n }] of sums)
          expect({ tier: tier.name, at, ...found.get(at) }).toEqual({ tier: tier.name, at, n, avg: expect.closeTo(mean.avg, 1) })
        expect(found.size).toBe(sums.size)
      }
    }
  } finally {
    await series.close()
  }
  const sum = (of: (one: ReportingAgent) => number) => agents.reduce((all, one) => all + of(one), 0)
  process.stdout.write(
    `${kills} kills: ${sum(one => one.reports)} reports with ${sum(one => one.minutes)} different minutes acknowledged, ` +
      `${sum(one => one.failures)} requests failed, ${sum(one => one.repeated)} minutes sent more than once\n`,
  )
}, 1_800_000)
