import { afterAll, expect, test } from 'bun:test'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { macPurpose } from '../../src/core/audit-chain'
import { evidenceOfDatabase } from '../../src/cli/audit-evidence'
import { checkChain } from '../../src/features/audit/chain-check'
import { checkpointPurpose, publicKeyOf, signingKey } from '../../src/features/audit/checkpoint'
import type { Installation } from '../support/binary'
import { rowsOf } from '../support/database'
import { halfWritten } from '../support/half-written'
import { textOf } from '../support/event-stream'
import { receiver, stopReceivers } from '../support/receiver'
import { world } from '../support/world'
import { brokenRule, type Whole } from './answer-rules'
import { makeUp, operationsOf, type Ask } from './asks'
import { callersOf, type Credential } from './callers'
import { SeenValues } from './seen-values'
import type { JsonSchema } from './schema-values'

// Requests of all kinds to every operation of the document that the hub serves, so that one that is added is asked without a word
// here. A longer hunt: BAILIWICK_TEST_REQUESTS=20000 BAILIWICK_TEST_SEED=7 bun test --timeout 3600000 ./test/properties/requests.test.ts
// The same seed and number ask the same again. A hunt tells how each operation answered, and what was refused that fits the document.
const hunts = process.env.BAILIWICK_TEST_REQUESTS !== undefined
const requests = Number(process.env.BAILIWICK_TEST_REQUESTS ?? 1_500)
const seed = Number(process.env.BAILIWICK_TEST_SEED ?? 20_261_121)
const aRun = 50

afterAll(stopReceivers)

test(
  'no request, whatever is in it, gets an answer beyond the document',
  async () => {
    const here = await world({
      BAILIWICK_ANONYMOUS_PER_MINUTE: '1000000',
      BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '1000000',
    })
    const { hub, app, acme, rival } = here
    const unbound = { requests_per_minute_per_token: null, requests_per_hour_per_workspace: null }
    await here.limit(rival.workspaceId, unbound)
    // Nothing leaves this machine: names lead to a closed port of it, or nowhere.
    here.engine.answer = () => ({})
    hub.resolve = async name => (name === 'hooks.example.com' ? ['127.0.0.1'] : [])
    const inbox = receiver()
    const addresses = [
      inbox.url,
      inbox.url,
      inbox.url,
      inbox.url,
      'http://127.0.0.1:9/',
      'https://hooks.example.com/x',
      'http://169.254.169.254/',
      'https://nowhere.invalid/',
    ]
    const callers = await callersOf(here)
    const document = (await acme.call('GET', '/v1/openapi.json')).body as JsonSchema
    const operations = operationsOf(document)
    const known = new SeenValues(addresses, await standing())
    const fits = bodyCheck(document)

    const broken = new Map<string, string>()
    const refused = new Map<string, { times: number; example: string }>()
    const answered = new Map<string, Map<number, number>>()
    let asked = 0

    await fc.assert(
      fc.asyncProperty(fc.gen(), async gen => {
        const draw = <T>(from: fc.Arbitrary<T>): T => gen(() => from)
        for (let left = aRun; left > 0; left--) {
          // Every operation has its turn.
          const operation = operations[asked++ % operations.length]!
          const name = draw(fc.constantFrom('owner', 'owner', 'owner', 'owner', 'session', ...Object.keys(callers)))
          await tell(makeUp(draw, document, known, operation), name, callers[name]!)
        }
        await here.pass(draw(fc.constantFrom(1_000, 61_000, 3_600_000)))
      }),
      { seed, numRuns: Math.ceil(requests / aRun), endOnFailure: true },
    )

    if (hunts) report()
    expect([...broken.values()]).toEqual([])
    expect(operations.filter(one => !answered.has(nameOf(one))).map(nameOf)).toEqual([])
    expect((await app.handle(new Request('http://localhost:8484/healthz'))).status).toBe(200)
    await using rows = rowsOf({
      folder: hub.config.data,
      env: hub.config.databaseUrl ? { BAILIWICK_DATABASE_URL: hub.config.databaseUrl } : {},
    } as Installation)
    expect(await halfWritten(rows)).toEqual([])
    expect(await brokenChains()).toEqual([])

    async function tell(ask: Ask, callerName: string, caller: Credential): Promise<void> {
      const headers = new Headers()
      for (const [name, value] of [...caller.headers(ask.method), ...ask.headers]) {
        // One of the caller's own is replaced, any other is sent twice.
        if (
          ask.headers.some(one => one[0] === name) &&
          caller.headers(ask.method).some(one => one[0] === name && one[1] === value)
        )
          continue
        headers.append(name, value)
      }
      const request = new Request(`http://localhost:8484${ask.target}`, { method: ask.method, headers, body: ask.body })
      const { pathname, search } = new URL(request.url)
      const answer = await whole(request)
      const bodyFits = ask.body === null || ask.how === 'no media type' ? null : fits(ask)
      const wrong = brokenRule(ask, { pathname, search }, answer, caller.secrets, bodyFits)
      const name = nameOf(ask.operation)
      if (wrong) {
        const story = [
          `${name} (${ask.how}) by ${callerName}: ${wrong}`,
          `  ${ask.method} ${ask.target.slice(0, 300)} ${JSON.stringify(ask.headers).slice(0, 300)} ${String(ask.body).slice(0, 500)}`,
          `  request ${asked} of seed ${seed}`,
        ].join('\n')
        const key = `${name} ${ask.how.split(' at ')[0]} ${answer.response.status} ${wrong.slice(0, 60)}`
        if (!broken.has(key)) broken.set(key, story)
      }
      count(answer.response.status, name)
      const { errors, code } = (answer.json ?? {}) as JsonSchema
      if (
        ask.valid &&
        bodyFits !== false &&
        ['validation_failed', 'invalid_parameter', 'malformed_request', 'malformed_json'].includes(code)
      ) {
        const why = `${name}: ${code} ${errors?.map((one: JsonSchema) => `${one.pointer.replaceAll(/\/\d+/g, '/n')} ${one.detail}`).join('; ')}`
        const { times } = refused.get(why.slice(0, 200)) ?? { times: 0 }
        refused.set(why.slice(0, 200), { times: times + 1, example: `${ask.target} ${String(ask.body)}`.slice(0, 300) })
      }
      if (code === 'session_ended') await caller.again?.()
      if (answer.response.status >= 300) return
      if (ask.method === 'DELETE') known.forget(pathname.split('/').at(-1)!)
      const [collection, below] = ask.operation.path.split('/{') as [string, string | undefined]
      known.learn(below === undefined || below === 'id}' ? collection : ask.operation.path, answer.json)
    }

    async function whole(request: Request): Promise<Whole> {
      const started = performance.now()
      const response = await app.handle(request)
      const text = await textOf(response)
      const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '') && text !== ''
      return { response, text, json: isJson ? JSON.parse(text) : undefined, tookMs: performance.now() - started }
    }

    /** Ids of what was there before: the workspaces, plans and tokens that the callers stand on. */
    async function standing(): Promise<Set<string>> {
      const paths = ['/v1/workspaces', '/v1/plans', '/v1/tokens?limit=100']
      const lists = await Promise.all([...paths.map(path => acme.call('GET', path)), rival.call('GET', '/v1/tokens')])
      return new Set(lists.flatMap(one => one.body.data.map((item: { id: string }) => item.id)))
    }

    async function brokenChains(): Promise<string[]> {
      const found: string[] = []
      const publicKeys = [publicKeyOf(signingKey(hub.keys.derive(checkpointPurpose)))]
      const macKey = hub.keys.derive(macPurpose)
      await evidenceOfDatabase(
        hub.config,
        ({ chain, entries, counted }, all) => {
          const checkpoints = all.filter(one => one.chain === chain)
          const { findings } = checkChain({ chain, entries, checkpoints, counted, publicKeys, macKey })
          found.push(...findings.map(one => `${chain}: ${one.says}`))
        },
        [],
      )
      return found
    }

    function count(status: number, name: string): void {
      const counts = answered.get(name) ?? new Map<number, number>()
      answered.set(name, counts.set(status, (counts.get(status) ?? 0) + 1))
    }

    function report(): void {
      const lines = [...answered].map(([name, counts]) => `${name}: ${[...counts].map(one => one.join(' × ')).join(', ')}`)
      const unexplained = [...refused].map(([why, { times, example }]) => `${times} × ${why}\n    ${example}`)
      process.stdout.write(['', `${asked} requests, seed ${seed}`, ...lines, '', ...unexplained, ''].join('\n'))
    }
  },
  hunts ? 3_600_000 : 300_000,
)

const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

/** Whether the body of a request fits what the document says of the operation; null where it says nothing. */
function bodyCheck(document: JsonSchema): (ask: Ask) => boolean | null {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  ajv.addSchema(document, 'openapi.json', undefined, false)
  const checks = new Map<unknown, ValidateFunction>()
  return ask => {
    const operation = document.paths[ask.operation.path]?.[ask.method.toLowerCase()]
    const media = operation?.requestBody?.content?.['application/json']
    if (!media) return null
    if (ask.body === '' || ask.body === null) return !operation.requestBody.required
    let check = checks.get(media)
    if (!check) {
      const pointer = [
        'paths',
        ask.operation.path,
        ask.method.toLowerCase(),
        'requestBody',
        'content',
        'application/json',
        'schema',
      ]
      const escaped = pointer.map(part => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
      checks.set(media, (check = ajv.compile({ $ref: `openapi.json#/${escaped}` })))
    }
    try {
      // A byte order mark is passed over, as RFC 8259 section 8.1 allows.
      return check(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(ask.body as string))))
    } catch {
      return false
    }
  }
}
