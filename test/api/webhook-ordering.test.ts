import { afterEach, expect, test } from 'bun:test'
import { and, eq, inArray } from 'drizzle-orm'
import fc from 'fast-check'
import { record } from '../../src/core/change'
import { hubs, jobs } from '../../src/core/db/tables'
import type { EventData } from '../../src/core/event-kinds'
import { eventKind } from '../../src/features/event-kinds'
import { reap } from '../../src/core/jobs/queue'
import { Worker } from '../../src/core/jobs/worker'
import { jobKinds } from '../../src/hub/jobs'
import { endpointAt, raiseAlert, receiver, stopReceivers, type Received, type Receiver } from '../support/receiver'
import { closeWorlds, world, type World } from '../support/world'

afterEach(stopReceivers)

const [one, two, three] = ['a', 'b', 'c'].map(last => `hb_01k3zb2c4d6e8f0g2h4j6k8m0${last}`) as [string, string, string]
const ordered = { ordering: 'per_resource' }
const patch = ({ acme }: World, id: string, body: object) => acme.call('PATCH', `/v1/webhook-endpoints/${id}`, body)
const enable = ({ acme }: World, id: string, replay: string) =>
  acme.call('POST', `/v1/webhook-endpoints/${id}/enable`, { replay })
const resend = ({ acme }: World, id: string) => acme.call('POST', `/v1/webhook-deliveries/${id}/resend`)
const recover = ({ acme }: World, id: string, more: object = {}) =>
  acme.call('POST', `/v1/webhook-endpoints/${id}/recover`, {
    since: '2026-11-21T00:00:00Z',
    until: '2026-12-31T00:00:00Z',
    ...more,
  })
const raise = async (here: World, ...resources: string[]) => {
  for (const id of resources) await raiseAlert(here, id)
  await here.settle()
}
const deliveries = async ({ acme }: World, query = ''): Promise<any[]> =>
  (await acme.call('GET', `/v1/webhook-deliveries?sort=id&limit=100&${query}`)).body.data
const states = async (here: World, query = '') =>
  (await deliveries(here, query)).map(({ status, reason }) => (reason === null ? status : `${status}: ${reason}`))
/** What was received since the last call, as `<last letter of the resource><sequence>`. */
const arrived = ({ received }: Receiver) => received.splice(0).map(named)
const named = ({ headers }: Received) => headers.get('x-service-resource')!.slice(-1) + headers.get('x-service-sequence')
const failing = () => new Response(null, { status: 503 })
const taking = () => new Response()

test('a failing resource holds its own later messages, in order, and no others', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = message => (message.headers.get('x-service-resource')!.endsWith(one) ? failing() : taking())
  const { id } = await endpointAt(here, inbox.url, { ...ordered, retry_schedule: [60] })
  expect((await here.acme.call('GET', `/v1/webhook-endpoints/${id}`)).body.ordering).toBe('per_resource')
  await raise(here, one, two, one, two, one)
  expect(arrived(inbox).sort()).toEqual(['a1', 'b1', 'b2'])
  const waiting = ['retrying: http_503', 'held: waiting_for_earlier', 'held: waiting_for_earlier']
  expect(await states(here, `resource_id=${one}`)).toEqual(waiting)
  expect(await states(here, 'undelivered=true')).toEqual(waiting)
  expect((await deliveries(here, 'status=held'))[0]).toMatchObject({ next_attempt_at: null, attempt_count: 0, finished_at: null })

  inbox.answer = taking
  await here.advance(66_001)
  expect(arrived(inbox)).toEqual(['a1', 'a2', 'a3'])
  expect(await states(here)).toEqual(Array(5).fill('delivered'))
  expect(await here.hub.read.select().from(jobs)).toEqual([])
})

test('a permanently failed delivery releases the next one', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = failing
  await endpointAt(here, inbox.url, { ...ordered, retry_schedule: [60] })
  await raise(here, one, one)
  inbox.answer = message => (named(message) === 'a1' ? failing() : taking())
  await here.advance(66_001)
  expect(arrived(inbox)).toEqual(['a1', 'a1', 'a2'])
  expect(await states(here)).toEqual(['exhausted: http_503', 'delivered'])
})

test('events of different kinds about one resource keep their order', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = failing
  await endpointAt(here, inbox.url, { ...ordered, retry_schedule: [60], events: ['monitor.alert', 'monitor.recovered'] })
  const recovered = () =>
    record(here.hub, async () => ({
      result: undefined,
      events: [
        {
          workspaceId: here.acme.workspaceId,
          kind: 'monitor.recovered' as const,
          resource: { type: 'heartbeat', id: one },
          data: eventKind('monitor.recovered')!.example as EventData<'monitor.recovered'>,
        },
      ],
    }))
  await raise(here, one)
  await recovered()
  await raise(here, one)
  inbox.answer = taking
  inbox.received.splice(0)
  await here.advance(66_001)
  expect(inbox.received.map(message => `${message.headers.get('x-service-event')} ${named(message)}`)).toEqual([
    'monitor.alert a1',
    'monitor.recovered a1',
    'monitor.alert a2',
  ])
})

test('an event dispatched before an earlier one of its resource doesn’t overtake it', async () => {
  const here = await world()
  const inbox = receiver()
  await endpointAt(here, inbox.url, ordered)
  await here.worker.stop(5_000)
  for (let n = 0; n < 3; n++) await raiseAlert(here, one)
  // As if the first two went to a hub that died.
  const [first, second] = (await here.hub.read.select().from(jobs)).sort((a, b) => (a.id < b.id ? -1 : 1))
  await record(here.hub, async tx => {
    await tx
      .update(jobs)
      .set({ runAt: here.clock.now() + 60_000 })
      .where(inArray(jobs.id, [first!.id, second!.id]))
    return { result: undefined }
  })
  const worker = new Worker(here.hub, jobKinds)
  await worker.idle()
  expect(arrived(inbox)).toEqual(['a1', 'a2', 'a3'])
  here.clock.advance(60_000)
  await worker.idle()
  expect(arrived(inbox)).toEqual([])
  expect(await here.hub.read.select().from(jobs)).toEqual([])
  await worker.stop(5_000)
})

test('a resumed endpoint gets the held deliveries in order', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = failing
  const { id } = await endpointAt(here, inbox.url, { ...ordered, retry_schedule: [60] })
  await raise(here, one, one, two)
  await patch(here, id, { active: false })
  expect(await states(here)).toEqual(Array(3).fill('held: endpoint_inactive'))
  await raise(here, one)
  inbox.answer = async message => {
    if (named(message) === 'a1') await Bun.sleep(30)
    return taking()
  }
  inbox.received.splice(0)
  await patch(here, id, { active: true })
  await here.settle()
  expect(arrived(inbox).filter(name => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
  expect(await states(here, 'undelivered=true')).toEqual([])
})

test('enabling with a replay sends everything in order; without one, nothing waits for the held deliveries', async () => {
  const here = await world()
  const inbox = receiver()
  const { id } = await endpointAt(here, inbox.url, { ...ordered, retry_schedule: [1, 1, 1] })
  const disable = async () => {
    inbox.answer = () => new Response(null, { status: 410 })
    await raise(here, one, one, one)
    await here.advance(2_001)
    expect((await here.acme.call('GET', `/v1/webhook-endpoints/${id}`)).body.status).toBe('disabled')
    expect(await states(here, 'undelivered=true')).toEqual(Array(3).fill('held: endpoint_disabled'))
    inbox.answer = taking
    inbox.received.splice(0)
  }
  await disable()
  await raise(here, one)
  await enable(here, id, 'held')
  await here.settle()
  expect(arrived(inbox)).toEqual(['a1', 'a2', 'a3', 'a4'])

  await disable()
  await enable(here, id, 'none')
  await raise(here, one)
  expect(arrived(inbox)).toEqual(['a8'])
  expect((await recover(here, id)).body.result.matched).toBe(3)
  await here.settle()
  expect(arrived(inbox)).toEqual(['a5', 'a6', 'a7'])
  expect(await states(here, 'undelivered=true')).toEqual([])
})

test('held deliveries that are sent later are not overtaken by later ones waiting for a retry', async () => {
  const here = await world()
  const inbox = receiver()
  const { id } = await endpointAt(here, inbox.url, { ...ordered, retry_schedule: [1, 1, 1] })
  inbox.answer = () => new Response(null, { status: 410 })
  await raise(here, one, one)
  await here.advance(2_001)
  expect(await states(here)).toEqual(Array(2).fill('held: endpoint_disabled'))
  await enable(here, id, 'none')
  inbox.answer = failing
  // One after the other: events of two resources may be dispatched in either order.
  await raise(here, one)
  await raise(here, two)
  expect(await states(here)).toEqual([...Array(2).fill('held: endpoint_disabled'), ...Array(2).fill('retrying: http_503')])
  await enable(here, id, 'held')
  await here.settle()
  expect(await states(here)).toEqual(['retrying: http_503', ...Array(2).fill('held: waiting_for_earlier'), 'retrying: http_503'])
  inbox.answer = taking
  inbox.received.splice(0)
  await here.advance(2_001)
  expect(arrived(inbox).filter(name => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
  expect(await states(here, 'undelivered=true')).toEqual([])
})

test('turning ordering off sends the waiting deliveries; turning it on applies to new events', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = failing
  const { id } = await endpointAt(here, inbox.url, { retry_schedule: [600] })
  await raise(here, one, one)
  expect(arrived(inbox)).toHaveLength(2)
  await patch(here, id, ordered)
  await raise(here, one, one)
  expect(arrived(inbox)).toEqual(['a3'])
  expect(await states(here)).toEqual([...Array(3).fill('retrying: http_503'), 'held: waiting_for_earlier'])
  await here.audited()
  inbox.answer = taking
  expect((await patch(here, id, { ordering: 'none' })).body.ordering).toBe('none')
  await here.settle()
  expect(arrived(inbox)).toEqual(['a4'])
  expect(await here.audited()).toEqual(['webhooks.endpoint.update'])
})

test('a resend doesn’t wait for earlier deliveries, and returns to its place if it fails', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = failing
  await endpointAt(here, inbox.url, { ...ordered, retry_schedule: [600] })
  await raise(here, one, one, one)
  arrived(inbox)
  const [, second, third] = await deliveries(here)
  await resend(here, third.id)
  await here.settle()
  expect(arrived(inbox)).toEqual(['a3'])
  expect(await states(here)).toEqual(['retrying: http_503', 'held: waiting_for_earlier', 'held: waiting_for_earlier'])
  inbox.answer = taking
  await resend(here, second.id)
  await here.settle()
  expect(arrived(inbox)).toEqual(['a2'])
  await here.advance(661_000)
  expect(arrived(inbox)).toEqual(['a1', 'a3'])
  expect(await states(here)).toEqual(Array(3).fill('delivered'))
})

test('a recovery resends failed deliveries in order, before waiting ones', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = failing
  const { id } = await endpointAt(here, inbox.url, { ...ordered, retry_schedule: [] })
  await raise(here, one, one, one)
  await patch(here, id, { retry_schedule: [600] })
  await raise(here, one, one)
  arrived(inbox)
  expect(await states(here)).toEqual([...Array(3).fill('exhausted: http_503'), 'retrying: http_503', 'held: waiting_for_earlier'])
  inbox.answer = message => (named(message) === 'a2' ? failing() : taking())
  expect((await recover(here, id)).body.result.matched).toBe(4)
  await here.settle()
  expect(arrived(inbox)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5'])
  expect(await states(here)).toEqual(['delivered', 'exhausted: http_503', 'delivered', 'delivered', 'delivered'])
})

test('a recovery of only failed deliveries delays the retries of later ones', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = failing
  const { id } = await endpointAt(here, inbox.url, { ...ordered, retry_schedule: [] })
  await raise(here, one, one)
  await patch(here, id, { retry_schedule: [600] })
  await raise(here, one)
  arrived(inbox)
  let waiting: string[] = []
  inbox.answer = async message => {
    if (named(message) !== 'a1') return taking()
    waiting = (await states(here)).slice(1)
    return failing()
  }
  expect((await recover(here, id, { status: ['exhausted'] })).body.result.matched).toBe(2)
  await here.settle()
  expect(waiting).toEqual(Array(2).fill('held: waiting_for_earlier'))
  expect(arrived(inbox)).toEqual(['a1', 'a2', 'a3'])
  expect(await states(here)).toEqual(['exhausted: http_503', 'delivered', 'delivered'])
})

test('deleting the endpoint cancels deliveries waiting for an earlier one', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = failing
  const { id } = await endpointAt(here, inbox.url, ordered)
  await raise(here, one, one)
  await here.acme.call('DELETE', `/v1/webhook-endpoints/${id}`)
  await here.settle()
  expect(await states(here)).toEqual(Array(2).fill('canceled: endpoint_deleted'))
})

test('an unknown ordering is rejected', async () => {
  const here = await world()
  const { id } = await endpointAt(here, 'http://127.0.0.1:9/hook')
  expect((await here.acme.call('GET', `/v1/webhook-endpoints/${id}`)).body.ordering).toBe('none')
  for (const ordering of ['strict', 'per_workspace', null]) {
    const refused = await patch(here, id, { ordering })
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, '#/ordering'])
    expect(refused.text).toContain('per_resource')
  }
})

type Step =
  | { do: 'raise'; of: number; times: number }
  | { do: 'answer'; failing: number; gone: boolean; crashing: number }
  | { do: 'pause' | 'resume' }
  | { do: 'enable'; replay: 'held' | 'none' }
  | { do: 'pass'; ms: number }

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant('raise' as const), of: fc.nat(2), times: fc.integer({ min: 1, max: 4 }) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('answer' as const),
        failing: fc.constantFrom(0, 0.3, 0.7, 1),
        gone: fc.boolean(),
        crashing: fc.constantFrom(0, 0, 0.3),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('pause' as const, 'resume' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('enable' as const), replay: fc.constantFrom('held' as const, 'none' as const) }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 8_000 }) }) },
  ),
  { minLength: 5, maxLength: 25 },
)

test('with failures, pauses, enables, and crashes, two hubs send all messages of each resource in order', async () => {
  await fc.assert(
    fc
      .asyncProperty(
        steps,
        fc.constantFrom(20, 1, 0),
        fc.infiniteStream(fc.noBias(fc.nat(999))),
        async (script, retries, chances) => {
          const here = await world()
          const inbox = receiver()
          const random = () => chances.next().value! / 1_000
          const delivered = { ordered: [] as string[], none: [] as string[] }
          const attempts = new Map<string, number>()
          let mode = { failing: 0, gone: false, crashing: 0 }
          inbox.answer = async message => {
            const to = message.path.slice(1) as 'ordered' | 'none'
            const name = named(message)
            await Bun.sleep(random() * 3)
            if (random() < mode.crashing) await loseLeases(here)
            const count = (attempts.get(to + name) ?? 0) + 1
            attempts.set(to + name, count)
            // Few enough failures for the retry schedule.
            if (count <= 10 && random() < mode.failing) return new Response(null, { status: mode.gone ? 410 : 500 })
            if (!delivered[to].includes(name)) delivered[to].push(name)
            return taking()
          }
          const at = (path: string) => inbox.url.replace('/hook', path)
          const settings = { retry_schedule: Array<number>(retries).fill(1) }
          const ids = [
            (await endpointAt(here, at('/ordered'), { ...settings, ...ordered })).id,
            (await endpointAt(here, at('/none'), settings)).id,
          ]
          const second = await secondHub(here)
          const settle = async () => {
            await Promise.all([here.settle(), second.idle()])
            await record(here.hub, async tx => ({ result: await reap(tx, here.hub) }))
            await Promise.all([here.settle(), second.idle()])
          }
          let raised = 0
          const left = new LeftBehind(here, ids[0]!)
          const enableBoth = async (replay: 'held' | 'none') => {
            await left.around(replay, delivered.ordered, () => enable(here, ids[0]!, replay))
            await enable(here, ids[1]!, replay)
          }
          for (const step of script) {
            if (step.do === 'raise') {
              for (let n = 0; n < step.times; n++) await raiseAlert(here, [one, two, three][step.of])
              raised += step.times
            } else if (step.do === 'answer') mode = step
            else if (step.do === 'pass') {
              here.clock.advance(step.ms)
              await settle()
            } else if (step.do === 'enable') await enableBoth(step.replay)
            else for (const id of ids) await patch(here, id, { active: step.do === 'resume' })
          }
          mode = { failing: 0, gone: false, crashing: 0 }
          await settle()
          for (const id of ids) await patch(here, id, { active: true })
          await enableBoth('held')
          for (let rounds = 0; rounds < 60 && (await here.hub.read.select().from(jobs)).length > 0; rounds++) {
            here.clock.advance(5_000)
            await settle()
          }

          await second.stop(5_000)

          const violations = violationsIn(delivered.ordered).filter(pair => !left.passed.has(pair))
          expect({ violations, order: delivered.ordered }).toEqual({ violations: [], order: delivered.ordered })
          const ends = await Promise.all(ids.map(id => every(here, id)))
          for (const end of ends) {
            expect(end).toHaveLength(raised)
            const whole = retries === 20 ? ['delivered'] : ['delivered', 'exhausted']
            expect(end.map(({ status }) => status).filter(status => !whole.includes(status))).toEqual([])
          }
        },
      )
      .afterEach(closeWorlds),
    // A run takes a second on an idle machine. The timeout leaves time to shrink a failing script.
    { numRuns: Number(process.env.BAILIWICK_TEST_ORDER_RUNS ?? 8), interruptAfterTimeLimit: 100_000 },
  )
}, 200_000)

/**
 * Pairs that may be out of order: deliveries that stay held after enabling without a replay block nothing until they are sent.
 */
class LeftBehind {
  /** `<earlier> <later>`, where the later one was sent while the earlier one stayed held. */
  readonly passed = new Set<string>()
  private names: string[] = []

  constructor(
    private readonly here: World,
    private readonly endpoint: string,
  ) {}

  async around(replay: 'held' | 'none', delivered: readonly string[], enabling: () => Promise<unknown>): Promise<void> {
    const before = await this.stillHeld()
    await enabling()
    if (replay === 'none') this.names = await this.stillHeld()
    else {
      const under = (await every(this.here, this.endpoint)).filter(({ status }) => status === 'in_flight').map(nameOf)
      const released = before.filter(name => this.names.includes(name))
      for (const earlier of released) for (const later of [...delivered, ...under]) this.passed.add(`${earlier} ${later}`)
      this.names = []
    }
  }

  private async stillHeld(): Promise<string[]> {
    const all = await every(this.here, this.endpoint)
    return all.filter(({ status, reason }) => status === 'held' && reason === 'endpoint_disabled').map(nameOf)
  }
}

const nameOf = (delivery: any): string => delivery.resource.id.slice(-1) + delivery.sequence

/** All `<earlier> <later>` of a resource that were delivered in the wrong order. */
const violationsIn = (order: readonly string[]): string[] =>
  order.flatMap((later, place) =>
    order
      .slice(place + 1)
      .filter(earlier => earlier[0] === later[0] && Number(earlier.slice(1)) < Number(later.slice(1)))
      .map(earlier => `${earlier} ${later}`),
  )

async function every(here: World, endpoint: string): Promise<any[]> {
  const all: any[] = []
  for (let cursor = ''; ;) {
    const page = await here.acme.call('GET', `/v1/webhook-deliveries?limit=100&endpoint_id=${endpoint}${cursor}`)
    all.push(...page.body.data)
    if (page.body.pagination.next_cursor === null) return all
    cursor = `&cursor=${encodeURIComponent(page.body.pagination.next_cursor)}`
  }
}

/** Another hub on the same database. */
async function secondHub({ hub, clock }: World): Promise<Worker> {
  const id = 'hub_second'
  await record(hub, async tx => {
    const foreverAlive = clock.now() + 365 * 86_400_000
    await tx.insert(hubs).values({ id, host: 'second', version: 'test', startedAt: clock.now(), seenAt: foreverAlive })
    return { result: undefined }
  })
  return new Worker({ ...hub, id }, jobKinds)
}

/** Takes the jobs of attempts in flight from their hub, as if it had died before it stored their results. */
const loseLeases = ({ hub }: World) =>
  record(hub, async tx => {
    await tx
      .update(jobs)
      .set({ lockedBy: 'hub_dead' })
      .where(and(eq(jobs.state, 'running'), eq(jobs.kind, 'webhooks.deliver')))
    return { result: undefined }
  })
