import { getTableColumns, getTableName, is, Table, type Column } from 'drizzle-orm'
import { getTableConfig as postgresConfig } from 'drizzle-orm/pg-core'
import { getTableConfig as sqliteConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { record } from '../../src/core/change'
import { isPostgres } from '../../src/core/db/dialect'
import { hourMs } from '../../src/core/db/series/hours'
import { signAudit } from '../../src/features/audit/checkpoint-file'
import { recorderOf } from '../../src/features/monitors/series/recorder'
import { sealHours } from '../../src/features/monitors/series/seal'
import { resultBeat } from './monitor-series'
import { sealSome } from './sealed-values'
import { world, type World } from './world'

/** All tables of the schema. */
export async function everyTable(): Promise<SQLiteTable[]> {
  const found = new Map<string, SQLiteTable>()
  for (const file of new Bun.Glob('src/**/*tables.ts').scanSync('.'))
    for (const value of Object.values((await import(`../../${file}`)) as object))
      if (is(value, Table)) found.set(getTableName(value), value as SQLiteTable)
  return [...found.values()]
}

/** A world with rows in every table, sealed values in every column for them, and check results. */
export async function worldWithEveryTable(): Promise<World> {
  const w = await world()
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await w.acme.call(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.text}`)
    return answer.body
  }
  const { beat } = await sealSome(w)
  const zone = await call('POST', '/v1/dns/zones', { name: 'example.com' })
  for (const name of ['www', 'ünïcode', 'a b\\"c'])
    await w.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'TXT', name: 'text', content: `"${name} \u2028 😀"` })
  await call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name: 'www', content: '192.0.2.10' })
  await call('POST', '/v1/maintenance-windows', {
    ...{ name: 'New disks', kind: 'once', starts_at_local: '2030-01-01T00:00:00', timezone: 'UTC', duration_seconds: 3600 },
    targets: { tags: ['database'] },
  })
  const { call: ping } = w.anonymous
  await ping('POST', `/ping/${beat.uuid}`, 'a body\u0000with bytes')
  await ping('POST', `/ping/${beat.uuid}/fail`, Uint8Array.from([0, 255, 10, 13]))
  await w.settle()
  w.clock.advance(hourMs)
  await signAudit(w.hub)
  await fillEmptyTables(w)
  const recorder = recorderOf(w.hub)
  for (const hoursAgo of [5, 4, 0]) recorder.add(resultBeat(1, w.clock.now() - hoursAgo * hourMs))
  await recorder.flush()
  await sealHours(w.hub)
  return w
}

/** Inserts a row into each empty table. Its values have the right types, but no meaning. */
async function fillEmptyTables(w: World): Promise<void> {
  const tables = await everyTable()
  const rows = new Map<string, Record<string, unknown>>()
  const fill = async (table: SQLiteTable): Promise<Record<string, unknown>> => {
    const name = getTableName(table)
    const known = rows.get(name)
    if (known) return known
    let [row] = (await w.hub.read.select().from(table).limit(1)) as Record<string, unknown>[]
    if (!row) {
      row = {}
      const parents = new Map<string, [SQLiteTable, Column]>()
      for (const { reference } of (isPostgres ? (postgresConfig as never as typeof sqliteConfig) : sqliteConfig)(table)
        .foreignKeys) {
        const { columns, foreignColumns } = reference()
        parents.set(columns[0]!.name, [foreignColumns[0]!.table as SQLiteTable, foreignColumns[0]!])
      }
      for (const [property, column] of Object.entries(getTableColumns(table))) {
        const parent = parents.get(column.name)
        row[property] = parent
          ? propertyOf(await fill(parent[0]), parent[0], parent[1])
          : column.name === 'workspace_id'
            ? w.acme.workspaceId
            : valueFor(column, name)
      }
      const values = row
      await record(w.hub, async tx => ({ result: void (await tx.insert(table).values(values as never)) }))
    }
    rows.set(name, row)
    return row
  }
  for (const table of tables) await fill(table)
}

const propertyOf = (row: Record<string, unknown>, table: SQLiteTable, column: Column): unknown =>
  row[Object.entries(getTableColumns(table)).find(([, one]) => one.name === column.name)![0]]

function valueFor(column: Column, table: string): unknown {
  if (column.enumValues?.length) return column.enumValues[0]
  const type = column.getSQLType().toLowerCase()
  if (type.startsWith('blob') || type.startsWith('bytea')) return Uint8Array.from([0, 255, 10])
  if (column.dataType === 'boolean') return true
  if (column.dataType === 'number') return 1_700_000_000_123
  if (column.dataType === 'json' || column.dataType === 'custom')
    return column.dataType === 'custom' && isText(column) ? text(column, table) : []
  return text(column, table)
}

// On PostgreSQL, JSON and text are both custom types.
const isText = (column: Column): boolean => column.mapToDriverValue('x') === 'x'
const text = (column: Column, table: string): string => `${table} ${column.name} “ü” \\ "`
