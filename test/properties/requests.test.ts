import { afterAll, expect, test } from 'bun:test'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { macPurpose } from '../../src/core/audit-chain'
import { signingKey } from '../../src/core/crypto'
import { readDatabaseChains } from '../../src/cli/audit-chains'
import { checkChain } from '../../src/features/audit/chain-check'
import { checkpointPurpose, publicKeyOf } from '../../src/features/audit/checkpoint'
import type { Installation } from '../support/binary'
import { rowsOf } from '../support/database'
import { inconsistencies } from '../support/consistency'
import { textOf } from '../support/event-stream'
import { receiver, stopReceivers } from '../support/receiver'
import { world } from '../support/world'
import { brokenRule, type CompleteResponse } from './response-rules'
import { generateRequest, operationsOf, type GeneratedRequest } from './generated-requests'
import { callersOf, type Credential } from './callers'
import { SeenValues } from './seen-values'
import type { JsonSchema } from './schema-values'

// Generated requests to every operation of the served document. A longer run:
// BAILIWICK_TEST_REQUESTS=20000 BAILIWICK_TEST_SEED=7 bun test --timeout 3600000 ./test/properties/requests.test.ts
// The same seed and number repeat the same requests. A longer run also reports the responses of each operation, and rejected requests
// that match the document.
const isLongRun = process.env.BAILIWICK_TEST_REQUESTS !== undefined
const requests = Number(process.env.BAILIWICK_TEST_REQUESTS ?? 1_500)
const seed = Number(process.env.BAILIWICK_TEST_SEED ?? 20_261_121)
const requestsPerRun = 50

afterAll(stopReceivers)

test(
  'no request gets an undocumented response',
  async () => {
    const here = await world({
      BAILIWICK_ANONYMOUS_PER_MINUTE: '1000000',
      BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '1000000',
    })
    const { hub, app, acme, rival } = here
    const unlimited = { requests_per_minute_per_token: null, requests_per_hour_per_workspace: null }
    await here.limit(rival.workspaceId, unlimited)
    // Nothing is sent outside this machine: names resolve to a closed port, or not at all.
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
    const known = new SeenValues(addresses, await existingIds())
    const isValidBody = bodyCheck(document)

    const broken = new Map<string, string>()
    const refused = new Map<string, { times: number; example: string }>()
    const statuses = new Map<string, Map<number, number>>()
    let sent = 0

    await fc.assert(
      fc.asyncProperty(fc.gen(), async gen => {
        const draw = <T>(from: fc.Arbitrary<T>): T => gen(() => from)
        for (let left = requestsPerRun; left > 0; left--) {
          // Cycle through all operations.
          const operation = operations[sent++ % operations.length]!
          const name = draw(fc.constantFrom('owner', 'owner', 'owner', 'owner', 'session', ...Object.keys(callers)))
          await send(generateRequest(draw, document, known, operation), name, callers[name]!)
        }
        await here.advance(draw(fc.constantFrom(1_000, 61_000, 3_600_000)))
      }),
      { seed, numRuns: Math.ceil(requests / requestsPerRun), endOnFailure: true },
    )

    if (isLongRun) report()
    expect([...broken.values()]).toEqual([])
    expect(operations.filter(one => !statuses.has(nameOf(one))).map(nameOf)).toEqual([])
    expect((await app.handle(new Request('http://localhost:8484/healthz'))).status).toBe(200)
    await using rows = rowsOf({
      folder: hub.config.data,
      env: hub.config.databaseUrl ? { BAILIWICK_DATABASE_URL: hub.config.databaseUrl } : {},
    } as Installation)
    expect(await inconsistencies(rows)).toEqual([])
    expect(await brokenChains()).toEqual([])

    async function send(generated: GeneratedRequest, callerName: string, caller: Credential): Promise<void> {
      const headers = new Headers()
      for (const [name, value] of [...caller.headers(generated.method), ...generated.headers]) {
        // A header of the client is replaced; others are sent twice.
        if (
          generated.headers.some(one => one[0] === name) &&
          caller.headers(generated.method).some(one => one[0] === name && one[1] === value)
        )
          continue
        headers.append(name, value)
      }
      const request = new Request(`http://localhost:8484${generated.target}`, {
        method: generated.method,
        headers,
        body: generated.body,
      })
      const { pathname, search } = new URL(request.url)
      const result = await complete(request)
      const bodyIsValid = generated.body === null || generated.variant === 'no media type' ? null : isValidBody(generated)
      const wrong = brokenRule(generated, { pathname, search }, result, caller.secrets, bodyIsValid)
      const name = nameOf(generated.operation)
      if (wrong) {
        const description = [
          `${name} (${generated.variant}) by ${callerName}: ${wrong}`,
          `  ${generated.method} ${generated.target.slice(0, 300)} ${JSON.stringify(generated.headers).slice(0, 300)} ${String(generated.body).slice(0, 500)}`,
          `  request ${sent} of seed ${seed}`,
        ].join('\n')
        const key = `${name} ${generated.variant.split(' at ')[0]} ${result.response.status} ${wrong.slice(0, 60)}`
        if (!broken.has(key)) broken.set(key, description)
      }
      count(result.response.status, name)
      const { errors, code } = (result.json ?? {}) as JsonSchema
      if (
        generated.valid &&
        bodyIsValid !== false &&
        ['validation_failed', 'invalid_parameter', 'malformed_request', 'malformed_json'].includes(code)
      ) {
        const why = `${name}: ${code} ${errors?.map((one: JsonSchema) => `${one.pointer.replaceAll(/\/\d+/g, '/n')} ${one.detail}`).join('; ')}`
        const { times } = refused.get(why.slice(0, 200)) ?? { times: 0 }
        refused.set(why.slice(0, 200), {
          times: times + 1,
          example: `${generated.target} ${String(generated.body)}`.slice(0, 300),
        })
      }
      if (code === 'session_ended') await caller.again?.()
      if (result.response.status >= 300) return
      if (generated.method === 'DELETE') known.forget(pathname.split('/').at(-1)!)
      const [collection, below] = generated.operation.path.split('/{') as [string, string | undefined]
      known.learn(below === undefined || below === 'id}' ? collection : generated.operation.path, result.json)
    }

    async function complete(request: Request): Promise<CompleteResponse> {
      const started = performance.now()
      const response = await app.handle(request)
      const text = await textOf(response)
      const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '') && text !== ''
      return { response, text, json: isJson ? JSON.parse(text) : undefined, tookMs: performance.now() - started }
    }

    /** IDs of existing workspaces, plans and tokens, which the clients need. */
    async function existingIds(): Promise<Set<string>> {
      const paths = ['/v1/workspaces', '/v1/plans', '/v1/tokens?limit=100']
      const lists = await Promise.all([...paths.map(path => acme.call('GET', path)), rival.call('GET', '/v1/tokens')])
      return new Set(lists.flatMap(one => one.body.data.map((item: { id: string }) => item.id)))
    }

    async function brokenChains(): Promise<string[]> {
      const found: string[] = []
      const publicKeys = [publicKeyOf(signingKey(hub.keys.derive(checkpointPurpose)))]
      const macKey = hub.keys.derive(macPurpose)
      await readDatabaseChains(
        hub.config,
        ({ chain, entries, counted }, all) => {
          const checkpoints = all.filter(one => one.chain === chain)
          const { findings } = checkChain({ chain, entries, checkpoints, counted, publicKeys, macKey })
          found.push(...findings.map(one => `${chain}: ${one.detail}`))
        },
        [],
      )
      return found
    }

    function count(status: number, name: string): void {
      const counts = statuses.get(name) ?? new Map<number, number>()
      statuses.set(name, counts.set(status, (counts.get(status) ?? 0) + 1))
    }

    function report(): void {
      const lines = [...statuses].map(([name, counts]) => `${name}: ${[...counts].map(one => one.join(' × ')).join(', ')}`)
      const unexplained = [...refused].map(([why, { times, example }]) => `${times} × ${why}\n    ${example}`)
      process.stdout.write(['', `${sent} requests, seed ${seed}`, ...lines, '', ...unexplained, ''].join('\n'))
    }
  },
  isLongRun ? 3_600_000 : 300_000,
)

const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

/** Returns whether a request body matches its schema; null if there is none. */
function bodyCheck(document: JsonSchema): (generated: GeneratedRequest) => boolean | null {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  ajv.addSchema(document, 'openapi.json', undefined, false)
  const checks = new Map<unknown, ValidateFunction>()
  return generated => {
    const operation = document.paths[generated.operation.path]?.[generated.method.toLowerCase()]
    const media = operation?.requestBody?.content?.['application/json']
    if (!media || generated.headers.some(([name, type]) => name === 'content-type' && type!.startsWith('text/'))) return null
    if (generated.body === '' || generated.body === null) return !operation.requestBody.required
    let check = checks.get(media)
    if (!check) {
      const pointer = [
        'paths',
        generated.operation.path,
        generated.method.toLowerCase(),
        'requestBody',
        'content',
        'application/json',
        'schema',
      ]
      const escaped = pointer.map(part => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
      checks.set(media, (check = ajv.compile({ $ref: `openapi.json#/${escaped}` })))
    }
    try {
      // Ignores a byte order mark, as RFC 8259 section 8.1 allows.
      return check(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(generated.body as string))))
    } catch {
      return false
    }
  }
}
