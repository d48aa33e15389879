import type { Engine, Statements } from './engine'

/** Grows with each change of the tables that are not made by the hour or the day. */
export const schemaVersion = 1

/** Makes what is missing of the tables that stand for ever. */
export async function createTables({ octets, keyed }: Engine, within: Statements): Promise<void> {
  await within.run('create table if not exists series_facts(name varchar primary key, value bigint not null)')
  await within.run(
    'create table if not exists series_texts(number bigint not null primary key, text varchar not null, used_day integer not null)',
  )
  for (const table of ['series_hours', 'series_days'])
    await within.run(
      `create table if not exists ${table}(monitor integer not null, at integer not null, location integer not null, body ${octets} not null, primary key (monitor, at, location))${keyed}`,
    )
}

const beatColumns = [
  'monitor integer not null',
  'location integer not null',
  'at bigint not null',
  'status smallint not null',
  'ms integer',
  'code integer',
  'error bigint',
  'dns integer',
  'connect integer',
  'tls integer',
  'first_byte integer',
].join(', ')

/** Makes the table of an hour's beats. It is only added to, and dropped whole. */
export async function createBeats({ isShared }: Engine, within: Statements, table: string): Promise<void> {
  await within.run(`create table if not exists ${table}(${beatColumns})`)
  if (isShared) await within.run(`create index if not exists ${table}_monitor on ${table}(monitor, at)`)
}

/** Makes a table of chunks of one day. */
export const createChunks = ({ octets, keyed }: Engine, within: Statements, table: string): Promise<void> =>
  within.run(
    `create table if not exists ${table}(monitor integer not null, hour integer not null, location integer not null, body ${octets} not null, primary key (monitor, hour, location))${keyed}`,
  )
