import { expect, test } from 'bun:test'
import { asc, eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { events } from '../../src/core/db/tables'
import type { Tx } from '../../src/core/db/transaction'
import { cloudStatuses, type CloudStatus } from '../../src/features/servers/clouds/cloud'
import { quietMs, writeState } from '../../src/features/servers/state'
import { servers, serverTransitions } from '../../src/features/servers/tables'
import { serverRows, type ServerRow } from '../../src/features/servers/view'
import { newColumns } from '../../src/features/servers/servers'
import { insertRow } from '../../src/core/rows'
import { AgentDouble } from '../support/agent-double'
import { extendSilence } from '../../src/features/servers/agents/silence'
import { watchServers } from '../../src/features/servers/watch'
import { generator, tries, type Random } from '../support/random'
import { closeWorlds, world, type World } from '../support/world'

type Proofs = Parameters<typeof writeState>[4]
type Step = (tx: Tx, here: World, row: ServerRow, proofs: Proofs, random: Random) => ReturnType<typeof writeState>

const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)]!

const agentProofs = ['reporting', 'silent', 'stopped', 'disconnected'] as const

/** Power as clouds report it with a status. */
const powerOf = (status: CloudStatus): 'on' | 'off' | 'unknown' =>
  status === 'off' ? 'off' : ['running', 'suspended', 'rebooting'].includes(status) ? 'on' : 'unknown'

const steps: Step[] = [
  function reading(tx, { hub }, row, proofs, random) {
    const status = pick(random, ['running', 'running', 'off', ...cloudStatuses] as const)
    const by = { source: 'cloud' as const, reason: `The cloud reports the status ${status}.` }
    return writeState(tx, hub, row, { status, power: powerOf(status) }, { ...proofs, isCloudFresh: true }, by)
  },
  function gone(tx, { hub }, row, proofs) {
    const by = { source: 'cloud' as const, reason: 'The server no longer exists at the cloud.' }
    return writeState(tx, hub, row, { status: 'missing', power: 'unknown' }, { ...proofs, isCloudFresh: true }, by)
  },
  function unreachable(tx, { hub }, row, proofs) {
    const by = { source: 'cloud' as const, reason: 'The cloud account could not be read repeatedly.' }
    return writeState(tx, hub, row, { status: 'unknown' }, { ...proofs, isCloudFresh: false }, by)
  },
  function monitored(tx, { hub }, row, proofs) {
    return writeState(tx, hub, row, {}, proofs, { source: 'monitor', reason: 'A monitor changed its status.' })
  },
  function started(tx, { hub }, row, proofs, random) {
    const status = pick(random, ['stopping', 'rebooting', 'resizing'] as const)
    const by = { source: 'action' as const, reason: 'The action was started.' }
    return writeState(tx, hub, row, { status, actionId: 'act_1' }, proofs, by)
  },
  function ended(tx, { hub, clock }, row, proofs, random) {
    const status = pick(random, ['running', 'off'] as const)
    const by = { source: 'action' as const, reason: 'The action has finished.', isWanted: random(2) === 0 }
    const quietUntil = random(2) === 0 ? clock.now() + quietMs : row.quietUntil
    const columns = { status, power: powerOf(status), actionId: null, quietUntil }
    return writeState(tx, hub, row, columns, { ...proofs, isCloudFresh: true }, by)
  },
]

test('servers are only up with a sign of life, and every change is reported once', async () => {
  const here = await world()
  const seed = Number(process.env.BAILIWICK_TEST_SEED ?? Date.now() % 1_000_000)
  const random = generator(seed)
  for (let n = 0; n < tries(25); n++) await walk(here, random, `seed ${seed}, server ${n}`)
  await closeWorlds()
}, 180_000)

async function walk(here: World, random: Random, name: string): Promise<void> {
  const { hub, clock } = here
  const origin = pick(random, ['made', 'found', 'added'] as const)
  let row = await record(hub, async tx => {
    const inserted = await insertRow(tx, { hub, workspaceId: here.acme.workspaceId }, serverRows, {
      ...newColumns(clock.now()),
      ...{ name: 'walk', labels: {}, healthMonitorIds: [], notes: '', kind: 'vm', origin, accountId: null },
      ...{ status: 'unknown', location: null, image: null, order: null, userDataSealed: null },
    })
    return { result: inserted }
  })
  let told: ServerRow['toldHealth'] = null
  for (let at = 0; at < 40; at++) {
    clock.advance(pick(random, [0, 1, 10_000, quietMs, 600_000]))
    const monitors = Array.from({ length: random(3) }, (_, n) => ({ name: `m${n}`, isUp: random(2) === 0 }))
    const agent = random(2) === 0 ? null : { state: pick(random, agentProofs), lastSeenAt: 0 }
    const proofs = { isCloudFresh: random(3) > 0, monitors, agent }
    const step = pick(random, steps)
    const before = row
    let seen: Proofs = proofs
    const { after, kinds } = await record(hub, async tx => {
      const written = await step(tx, here, row, proofs, random)
      seen =
        step.name === 'monitored' || step.name === 'started' ? proofs : { ...proofs, isCloudFresh: step.name !== 'unreachable' }
      return { result: { after: written.row, kinds: written.events.map(one => one.data) }, events: written.events }
    })
    row = after
    const where = { name, at, step: step.name }
    const isQuiet = row.actionId !== null || (row.quietUntil ?? 0) > clock.now()
    const isAlive =
      monitors.some(one => one.isUp) || agent?.state === 'reporting' || (seen.isCloudFresh && row.status === 'running')
    // While an action works on it and soon after, it stays what it was, unless it is gone.
    if (row.health === 'up')
      expect({ ...where, isAlive: isAlive || (isQuiet && before.health === 'up') }).toMatchObject({ isAlive: true })
    if (isQuiet && before.health !== row.health && row.healthSource !== 'action' && row.status !== 'missing')
      expect({ ...where, health: row.health }).toMatchObject({ health: 'up' })
    if (before.health === row.health) expect({ ...where, since: row.healthSince }).toMatchObject({ since: before.healthSince })
    // An event says another health than the last one, and the health that is stored.
    expect({ ...where, events: kinds.length }).toMatchObject({ events: row.toldHealth === told ? 0 : 1 })
    for (const data of kinds)
      expect({ ...where, ...(data as object) }).toMatchObject({ status: row.health, previous_status: told ?? 'unknown' })
    if (row.health !== 'unknown' && (told !== null || origin === 'made' || row.health === 'down'))
      expect({ ...where, told: row.toldHealth }).toMatchObject({ told: row.health })
    told = row.toldHealth
  }
  const [stored] = await hub.read.select().from(servers).where(eq(servers.id, row.id))
  expect(stored).toMatchObject({ status: row.status, health: row.health, power: row.power })
  await expectChains(here, row, name)
}

interface Watched {
  agent: AgentDouble
  id: string
  health: string
  /** Until when the server may be up, and from when on it may be down (ms UTC). */
  maxUpAt: number
  minDownAt: number
}

test('agents decide whether their servers are up, whatever they and the hub do', async () => {
  const here = await world()
  const seed = Number(process.env.BAILIWICK_TEST_SEED ?? Date.now() % 1_000_000)
  const random = generator(seed)
  const all: Watched[] = []
  for (let n = 0; n < 4; n++) {
    const { id } = (await here.acme.call('POST', '/v1/servers', { name: `w${n}` }, { 'Idempotency-Key': `w${n}` })).body
    const agent = await AgentDouble.enroll(here, id, { intervalSeconds: pick(random, [10, 30, 60, 120]) })
    all.push(heard({ agent, id, health: 'up', maxUpAt: 0, minDownAt: 0 }, here.clock.now()))
  }
  for (let at = 0; at < tries(120); at++) {
    const step = pick(random, agentSteps)
    await step(here, all, pick(random, all), random)
    await watchServers(here.hub)
    for (const one of all) {
      const { health } = (await here.acme.call('GET', `/v1/servers/${one.id}`)).body
      const { maxUpAt, minDownAt } = Object.assign(one, { health })
      const [maybeUp, maybeDown] = [here.clock.now() <= maxUpAt, here.clock.now() >= minDownAt]
      expect({ seed, at, step: step.name, health, maybeUp, maybeDown }).toMatchObject(
        health === 'up' ? { maybeUp: true } : health === 'down' ? { maybeDown: true } : {},
      )
    }
  }
  for (const { id } of all) {
    const [row] = await here.hub.read.select().from(servers).where(eq(servers.id, id))
    await expectChains(here, row!, `seed ${seed}`)
  }
}, 180_000)

const limitMs = ({ report }: AgentDouble): number => Math.max(90_000, report.intervalSeconds * 3_000)
/** How long the silence of an agent is not concluded, because all others could become silent too. */
const othersMs = 360_000 + 60_000
const stoppedMs = { shutdown: 600_000, stop: 600_000, reboot: 300_000 }

const heard = (one: Watched, now: number): Watched =>
  Object.assign(one, { maxUpAt: now + limitMs(one.agent) + othersMs, minDownAt: now + limitMs(one.agent) })

const agentSteps: ((here: World, all: readonly Watched[], one: Watched, random: Random) => Promise<void>)[] = [
  async function reports({ clock }, _, one) {
    heard(one, clock.now())
    await one.agent.reports()
  },
  async function allReport({ clock }, all) {
    for (const one of all) await heard(one, clock.now()).agent.reports()
  },
  async function stops({ clock }, _, one, random) {
    const reason = pick(random, ['shutdown', 'reboot', 'stop'] as const)
    Object.assign(one, { maxUpAt: 0, minDownAt: clock.now() + stoppedMs[reason] })
    await one.agent.stops(reason)
  },
  async function noHubRuns({ clock, hub }, all, _, random) {
    const awayMs = pick(random, [10_000, 600_000, 3_600_000])
    clock.jump(awayMs)
    await record(hub, async tx => ({ result: await extendSilence(tx, clock.now(), awayMs) }))
    for (const one of all) {
      // What was concluded before remains.
      if (one.health === 'up') one.maxUpAt = clock.now() + 300_000 + limitMs(one.agent) + othersMs
      if (one.health === 'down') continue
      const isShort = awayMs < one.agent.report.intervalSeconds * 1000
      one.minDownAt = isShort ? one.minDownAt + awayMs : Math.max(one.minDownAt, clock.now() + limitMs(one.agent))
    }
  },
  async function timePasses({ clock }, _, __, random) {
    clock.advance(pick(random, [10_000, 60_000, 200_000]))
  },
]

async function expectChains({ hub }: World, row: ServerRow, name: string): Promise<void> {
  const sent = await hub.read.select().from(events).where(eq(events.resourceId, row.id)).orderBy(asc(events.sequence))
  expect({ name, sequences: sent.map(one => one.sequence) }).toEqual({ name, sequences: sent.map((_, at) => at + 1) })
  const statuses = sent.map(one => JSON.parse(one.body).data.status)
  expect(statuses.filter((status, at) => status === statuses[at - 1])).toEqual([])
  const moves = await hub.read
    .select()
    .from(serverTransitions)
    .where(eq(serverTransitions.serverId, row.id))
    .orderBy(asc(serverTransitions.id))
  for (const field of ['status', 'health', 'power'] as const) {
    const chain = moves.filter(one => one.field === field)
    const values = ['unknown', ...chain.map(one => one.after)]
    expect({ name, field, from: chain.map(one => one.before) }).toEqual({ name, field, from: values.slice(0, -1) })
    expect({ name, field, now: values.at(-1) }).toEqual({ name, field, now: row[field] })
    expect(chain.filter(one => one.before === one.after)).toEqual([])
    expect(chain.filter((one, at) => at > 0 && one.at < chain[at - 1]!.at)).toEqual([])
  }
}
