import type { Engine, Statements } from './engine'
import type { SeriesKind } from './kind'
import { tiers, type Tier } from './metric-tiers'

/** Increased with each change to the tables below. */
export const schemaVersion = 2

const factsTable = 'series_facts'

/** The tables of a kind: those that exist permanently, and the prefixes of those that are created per hour or day. */
export const tablesOf = ({ name }: SeriesKind) => ({
  all: `series_${name}_`,
  texts: `series_${name}_texts`,
  hour: `series_${name}_hours`,
  day: `series_${name}_days`,
  rows: `series_${name}_rows_`,
  chunks: `series_${name}_chunks_`,
  details: `series_${name}_details_`,
})

/** The tables of metrics: numbered texts, and the prefix of the tables with the rows of a tier. */
export const metricTables = {
  subjects: 'series_metric_subjects',
  layouts: 'series_metric_layouts',
  rows: ({ name }: Pick<Tier, 'name'>) => `series_metric_${name}_`,
}

/** Creates missing permanent tables. */
export async function createTables(
  { blobType, tableOptions }: Pick<Engine, 'blobType' | 'tableOptions'>,
  within: Pick<Statements, 'run'>,
  kinds: readonly SeriesKind[],
): Promise<void> {
  await within.run(`create table if not exists ${factsTable}(name varchar primary key, value bigint not null)`)
  for (const table of [metricTables.subjects, metricTables.layouts])
    await within.run(`create table if not exists ${table}(number integer not null primary key, text varchar not null unique)`)
  for (const tables of kinds.map(tablesOf)) {
    await within.run(
      `create table if not exists ${tables.texts}(number bigint not null primary key, text varchar not null, used_day integer not null)`,
    )
    for (const table of [tables.hour, tables.day])
      await within.run(
        `create table if not exists ${table}(series integer not null, at integer not null, part integer not null, body ${blobType} not null, primary key (series, at, part))${tableOptions}`,
      )
  }
}

/** Creates the table for the rows of an hour. It is append-only and dropped as a whole. */
export async function createRows(
  { isShared }: Pick<Engine, 'isShared'>,
  within: Pick<Statements, 'run'>,
  { stored }: SeriesKind,
  table: string,
): Promise<void> {
  const columns = stored.all.map(
    ({ name, words, isLarge }) => `"${name}" ${words ? 'smallint not null' : isLarge ? 'bigint' : 'integer'}`,
  )
  await within.run(
    `create table if not exists ${table}(series integer not null, part integer not null, at bigint not null, ${columns.join(', ')})`,
  )
  if (isShared) await within.run(`create index if not exists ${table}_series on ${table}(series, at)`)
}

/** Creates a table for the chunks of a day. */
export const createChunks = (
  { blobType, tableOptions }: Pick<Engine, 'blobType' | 'tableOptions'>,
  within: Pick<Statements, 'run'>,
  table: string,
): Promise<void> =>
  within.run(
    `create table if not exists ${table}(series integer not null, hour integer not null, part integer not null, body ${blobType} not null, primary key (series, hour, part))${tableOptions}`,
  )

/** Creates a table for rows of a tier of metrics. */
export const createMetricRows = (
  { blobType, tableOptions }: Pick<Engine, 'blobType' | 'tableOptions'>,
  within: Pick<Statements, 'run'>,
  table: string,
): Promise<void> =>
  within.run(
    `create table if not exists ${table}(subject integer not null, at integer not null, layout integer not null, body ${blobType} not null, primary key (subject, at))${tableOptions}`,
  )

/** Creates a table of another database by its name, which can be anything. Returns false if no kind has such a table. */
export async function createTableNamed(
  engine: Pick<Engine, 'blobType' | 'tableOptions' | 'isShared'>,
  within: Pick<Statements, 'run'>,
  kinds: readonly SeriesKind[],
  table: string,
): Promise<boolean> {
  const isNumbered = (prefix: string) => table.startsWith(prefix) && /^\d+$/.test(table.slice(prefix.length))
  for (const kind of kinds) {
    const { texts, hour, day, rows, chunks, details } = tablesOf(kind)
    if (isNumbered(rows)) await createRows(engine, within, kind, table)
    else if (isNumbered(chunks) || isNumbered(details)) await createChunks(engine, within, table)
    else if (![texts, hour, day].includes(table)) continue
    return true
  }
  if (tiers.some(tier => isNumbered(metricTables.rows(tier)))) {
    await createMetricRows(engine, within, table)
    return true
  }
  return [factsTable, metricTables.subjects, metricTables.layouts].includes(table)
}
