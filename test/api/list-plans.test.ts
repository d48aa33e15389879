import { Database } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import type { Route } from '../../src/api/route-declaration'
import { sqliteFile } from '../../src/core/config'
import { isPostgres } from '../../src/core/db/dialect'
import { resourceEntries } from '../../src/registry'
import { world, type Caller } from '../support/world'

// Sends every filter and sort order of every list, and checks how SQLite runs the statements. New lists are covered automatically.

/** Tables whose rows may be read or sorted all at once, because there are at most a few thousand for each owner. */
const small: Record<string, string> = {
  ...Object.fromEntries(
    resourceEntries.flatMap(one => (one.table && one.limit !== undefined ? [[one.table, 'has a limit']] : [])),
  ),
  deprecation_uses: 'a few for each token',
  firewall_versions: 'at most 100 for each firewall',
  incident_subjects: 'a few for each incident',
  sqlite_master: 'one for each table',
  dns_template_bindings: 'a few for each zone',
  dns_template_versions: 'the versions of one template',
  incident_updates: 'at most 1,000 notes for each incident',
  invitations: 'the people invited to one workspace',
  memberships: 'the members of one workspace',
  notices: 'at most 1,000 for each workspace',
  plans: 'created by the operator',
  registry_interests: 'counted per top-level domain, because the demand for a server depends on all of them',
  server_transitions: 'those of one server in the last 90 days',
  tls_scans: 'the last 100 of one endpoint',
  users: 'the members of one workspace',
  workspaces: 'created by the operator',
}

/** Columns by which only a few rows are found, which may be sorted. */
const few = ['event_id']

/** List what a provider or registrar responds with. */
const atProviders = ['/v1/dns/providers/:id/zones', '/v1/registrar-accounts/:id/domains']

/** Values of parameters that can’t be derived from their schema. */
const samples: Record<string, string> = {
  action: 'heartbeat.create',
  from: '2026-11-21T00:00:00.000Z',
  to: '2026-11-22T00:00:00.000Z',
  location: 'local',
  type: 'A',
}
/** Additional values that take another path. */
const variants: Record<string, string[]> = {
  action: ['heartbeat.*'],
  content: ['192.0.2.*'],
  name: ['www*', '*.dev'],
  q: ['mail*', 'Österreich', 'www.example.com', 'www.exam*', 'two words'],
}

/** Bodies that create a resource, where the example of the API needs others. */
const parents: Record<string, object> = {
  '/v1/servers': { name: 'web-1' },
  // Not active, so that no scan runs in the meantime.
  '/v1/tls-endpoints': { host: 'shop.example.com', active: false },
}

test.skipIf(isPostgres)('no list reads or sorts a large table as a whole', async () => {
  const { app, acme, limit, hub } = await world()
  await limit(acme.workspaceId, { requests_per_minute_per_token: null, requests_per_hour_per_workspace: null })
  const specs = (app.routes as unknown as { hooks: { detail?: { 'x-route'?: Route } } }[]).flatMap(
    one => one.hooks.detail?.['x-route'] ?? [],
  )
  const lists = specs.filter(
    one =>
      one.method === 'GET' &&
      one.query?.properties.limit !== undefined &&
      one.guard !== 'session' &&
      !atProviders.includes(one.path),
  )
  expect(lists.length).toBeGreaterThan(30)
  const failures: string[] = []
  const statements = new Map<string, string>()
  let address = ''
  const prepare = Database.prototype.prepare
  const restored = spyOn(Database.prototype, 'prepare').mockImplementation(function (this: Database, ...args: never[]) {
    const text = String(args[0])
    if (!statements.has(text)) statements.set(text, address)
    return prepare.apply(this, args as never)
  } as never)
  for (const { path, query } of lists) {
    const base = await addressOf(acme, path, specs)
    for (const parameters of queriesOf(path, query!.properties)) {
      address = `${base}?${new URLSearchParams(parameters)}`
      const { status, body } = await acme.call('GET', address)
      // Not every parameter with one of these names takes patterns, and `after` needs an event.
      const isRejected = status === 400 && (/\*/.test(address) || 'after' in parameters)
      if (status !== 200 && !isRejected) failures.push(`${address}: ${status} ${JSON.stringify(body.errors ?? body.detail)}`)
    }
  }
  restored.mockRestore()
  expect(failures).toEqual([])
  expect(statements.size).toBeGreaterThan(lists.length * 5)
  using database = new Database(sqliteFile(hub.config))
  for (const [text, from] of statements)
    if (text.startsWith('select'))
      for (const problem of problemsOf(database, text)) failures.push(`${from}: ${problem}\n${text}\n`)
  expect(failures).toEqual([])
})

/** The address of a list, with the ID of a parent, which is created from the example of its operation if there is none. */
async function addressOf(acme: Caller, path: string, specs: readonly Route[]): Promise<string> {
  if (!path.includes(':id')) return path
  const collection = path.slice(0, path.indexOf('/:id'))
  const { body } = await acme.call('GET', collection)
  if (body.data.length > 0) return path.replace(':id', body.data[0].id)
  const { body: input } = specs.find(one => one.method === 'POST' && one.path === collection)!
  const key = { 'Idempotency-Key': collection }
  const created = await acme.call('POST', collection, parents[collection] ?? input!.examples[0], key)
  expect([collection, created.status, created.body.errors]).toEqual([collection, 201, undefined])
  return path.replace(':id', created.body.id)
}

/** Queries with each parameter on its own, each filter with another filter, and each sort order. */
function queriesOf(path: string, parameters: Record<string, TSchema>) {
  const { sort } = parameters
  const filters = Object.entries(parameters).filter(
    ([name]) => !['limit', 'cursor', 'include', 'fields', 'expand', 'sort'].includes(name),
  )
  const words: string[] = sort?.items?.anyOf?.map((one: TSchema) => one.const) ?? sort?.items?.enum ?? []
  const values = filters.flatMap(([name, schema]) =>
    [...valuesOf(name, schema), ...(variants[name] ?? [])].map(value => ({ [name]: value })),
  )
  const required: Record<string, string> = path.endsWith('agenda') ? { from: samples.from!, to: samples.to! } : {}
  const queries = [
    {},
    ...words.map(word => ({ sort: word })),
    ...values,
    ...values.map((one, at) => ({ ...values[at - 1], ...one })),
  ]
  return queries.map((one): Record<string, string> => ({ ...required, ...one }))
}

function valuesOf(name: string, schema: TSchema): string[] {
  if (samples[name] !== undefined && schema.type === 'string') return [samples[name]!]
  if (schema.type === 'array') {
    const [first] = valuesOf('', schema.items)
    const words: TSchema[] | undefined = schema.items.anyOf
    return words && words.length > 1 && schema.maxItems > 1 ? [first!, `${first},${words[1]!.const}`] : [first!]
  }
  if (schema.anyOf) return schema.anyOf.map((one: TSchema) => String(one.const))
  if (schema.enum) return schema.enum.map(String)
  if (schema.type === 'boolean') return ['true', 'false']
  if (schema.type === 'integer') return [String(schema.minimum ?? 1)]
  if (schema.format?.startsWith('date')) return [samples.from!]
  return ['x']
}

interface Step {
  id: number
  parent: number
  detail: string
}

/** What is wrong with how SQLite runs a statement. */
function problemsOf(database: Database, text: string): string[] {
  const steps = database.prepare<Step, []>(`explain query plan ${text}`).all()
  // A step that reads a subquery has its name, and a subquery can have the name of a table.
  const isOfSubquery = (step: Step) =>
    steps.some(one => one.parent === step.parent && one.detail.replace(/^(CO-ROUTINE|MATERIALIZE) /, '') === tableOf(step))
  const reads = (parent: number) =>
    steps.filter(one => one.parent === parent && /^(SCAN|SEARCH) /.test(one.detail) && !isOfSubquery(one))
  return steps.flatMap(step => {
    if (
      step.detail.startsWith('SCAN ') &&
      !isOfSubquery(step) &&
      !(tableOf(step) in small) &&
      !/^SCAN (CONSTANT|\()/.test(step.detail)
    )
      return [`reads a whole table: ${step.detail}`]
    if (
      /TEMP B-TREE FOR (?:LAST .*)?ORDER BY/.test(step.detail) &&
      reads(step.parent).some(one => !(tableOf(one) in small) && !few.some(column => one.detail.endsWith(`(${column}=?)`)))
    )
      return [`sorts: ${reads(step.parent).map(one => one.detail)}`]
    return []
  })
}

const tableOf = (step: Step): string => step.detail.split(' ')[1]!
