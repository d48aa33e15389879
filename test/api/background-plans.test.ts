import { Database } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'
import { sqliteFile } from '../../src/core/config'
import { isPostgres } from '../../src/core/db/dialect'
import { gapSubjects } from '../../src/features/coverage/gap-incidents'
import { expireRecords } from '../../src/features/dns/records/expiry'
import { watchServers } from '../../src/features/servers/watch'
import { world } from '../support/world'

/** The tables and indexes that SQLite reads for the first statement that contains a text, in this order. */
const readsOf = (database: Database, statements: readonly string[], text: string): string[] =>
  database
    .prepare<{ detail: string }, []>(
      `explain query plan ${statements.find(one => one.startsWith('select') && one.includes(text))}`,
    )
    .all()
    .flatMap(({ detail }) => /^(?:SCAN|SEARCH) .*/.exec(detail) ?? [])

test.skipIf(isPostgres)('frequent background work finds its rows by index', async () => {
  const { acme, hub, worker } = await world()
  const statements: string[] = []
  const prepare = Database.prototype.prepare
  const spied = spyOn(Database.prototype, 'prepare').mockImplementation(function (this: Database, ...args: never[]) {
    statements.push(String(args[0]))
    return prepare.apply(this, args as never)
  } as never)
  await acme.call('POST', '/v1/dns/zones', { name: 'example.com' })
  await worker.idle()
  await expireRecords(hub)
  spied.mockRestore()
  using database = new Database(sqliteFile(hub.config))
  expect(readsOf(database, statements, '"webhook_dispatches" cross join "events"')).toEqual([
    'SEARCH webhook_dispatches USING INDEX sqlite_autoindex_webhook_dispatches_1 (workspace_id=? AND resource_id=?)',
    'SEARCH events USING INDEX events_resource (workspace_id=? AND resource_id=? AND position>?)',
  ])
  expect(readsOf(database, statements, '"expires_at" <=')).toEqual([
    'SEARCH dns_rrsets USING INDEX dns_rrsets_expiring (expires_at<?)',
    'SEARCH dns_zones USING COVERING INDEX sqlite_autoindex_dns_zones_1 (id=?)',
  ])
})

test.skipIf(isPostgres)('agents that changed or are silent are found by index', async () => {
  const { hub } = await world()
  const prepare = spyOn(Database.prototype, 'prepare')
  await watchServers(hub)
  const statements = prepare.mock.calls.map(([text]) => text)
  prepare.mockRestore()
  using database = new Database(sqliteFile(hub.config))
  const texts = ['"agents"."pending"', `'silent'`, '"agents"."unheard"', '"due_at" <=']
  expect(texts.map(text => readsOf(database, statements, text)[0])).toEqual([
    'SEARCH agents USING INDEX agents_pending (id>?)',
    'SCAN agents USING INDEX agents_silent',
    'SCAN agents USING INDEX agents_unheard',
    'SEARCH agents USING INDEX agents_due (due_at<?)',
  ])
})

test.skipIf(isPostgres)('the gaps of a TLS endpoint and of a certificate are found by index', async () => {
  const { acme, hub } = await world()
  const endpoint = (await acme.call('POST', '/v1/tls-endpoints', { host: '127.0.0.1', active: false })).body
  const prepare = spyOn(Database.prototype, 'prepare')
  await gapSubjects(hub.read, acme.workspaceId, [endpoint.id])
  const statements = prepare.mock.calls.map(([text]) => text)
  prepare.mockRestore()
  using database = new Database(sqliteFile(hub.config))
  expect(readsOf(database, statements, 'from "certificate_gaps"')).toEqual([
    'SEARCH certificate_gaps USING INDEX certificate_gaps_endpoint (endpoint_id=?)',
    'SEARCH certificate_gaps USING INDEX certificate_gaps_certificate (certificate_id=?)',
  ])
})

test.skipIf(isPostgres)(
  'the plan of a statement doesn’t depend on its limit, for which SQLite would plan it again each time',
  async () => {
    const { hub } = await world()
    const prepare = spyOn(Database.prototype, 'prepare')
    await expireRecords(hub)
    expect(prepare.mock.calls.map(([text]) => text).filter(text => / limit \?(?! \+ 0)/.test(text))).toEqual([])
    expect(prepare.mock.calls.some(([text]) => text.includes(' limit ? + 0'))).toBe(true)
    prepare.mockRestore()
  },
)
