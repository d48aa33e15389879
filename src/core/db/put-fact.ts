import { Database } from 'bun:sqlite'
import { SQL } from 'bun'
import { sqliteFile, type Config } from '../config'
import { withoutValues } from './errors'

/** Stores a fact of the installation. Both engines accept numbered parameters. */
export const putFactStatement =
  'insert into instance_facts(name, value) values ($1, $2) on conflict (name) do update set value = excluded.value'

/** Stores a fact from a command, without opening a hub. Hubs may be running. */
export async function putFact(config: Config, name: string, value: string): Promise<void> {
  if (!config.databaseUrl) {
    using db = new Database(sqliteFile(config), { readwrite: true, create: false, strict: true })
    db.run('PRAGMA busy_timeout=5000')
    db.query(putFactStatement).run(name, value)
    return
  }
  const sql = new SQL(config.databaseUrl, { max: 1, connectionTimeout: 5 })
  try {
    await sql.unsafe(putFactStatement, [name, value])
  } catch (error) {
    throw withoutValues(error)
  } finally {
    await sql.close({ timeout: 1 })
  }
}
