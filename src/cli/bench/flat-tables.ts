import { Database } from 'bun:sqlite'
import { instant, systemClock } from '../../core/clock'
import { sha256 } from '../../core/crypto'

type Item = Record<string, any>
type Encode = (value: any) => string | number

/** How the members of resources are stored, by the declared type of their column. Others are stored as they are. */
const columnTypes: Record<string, { encode: Encode; decode(stored: any): unknown }> = {
  INSTANT: { encode: (value: string) => Date.parse(value), decode: (stored: number) => instant(stored) },
  BOOLEAN: { encode: (value: boolean) => (value ? 1 : 0), decode: (stored: number) => stored === 1 },
  JSON_TEXT: { encode: (value: object) => JSON.stringify(value), decode: (stored: string) => JSON.parse(stored) },
}

const typeOf = (name: string, value: unknown): string => {
  if (typeof value === 'boolean') return 'BOOLEAN'
  if (typeof value === 'object') return 'JSON_TEXT'
  if (typeof value === 'number') return 'NUMERIC'
  return name.endsWith('_at') ? 'INSTANT' : 'TEXT'
}

/** The database of the reference server: a file, opened with the same settings as the database of a hub. */
export function openFlatDatabase(file: string): Database {
  const db = new Database(file, { create: true, strict: true })
  const pragmas = ['journal_mode=WAL', 'synchronous=FULL', 'cache_size=-8192', 'mmap_size=0', 'temp_store=MEMORY']
  for (const pragma of pragmas) db.run(`PRAGMA ${pragma}`)
  db.run('create table if not exists chain (seq integer primary key, entry text, prev_hash blob, hash blob)')
  db.run(
    'create table if not exists pings (id text, n integer, kind text, at integer, source text, user_agent text, primary key (id, n))',
  )
  return db
}

/** Adds items of a resource to a table with one column for each member. @param items as the API returns them */
export function addToFlatTable(db: Database, name: string, items: readonly Item[]): void {
  const members = Object.keys(items[0]!)
  const columns = members.map(member => {
    const value = items.find(item => item[member] !== null)?.[member]
    return `"${member}" ${value === undefined ? 'TEXT' : typeOf(member, value)}${member === 'id' ? ' primary key' : ''}`
  })
  db.run(`create table if not exists ${name} (${columns.join(', ')})`)
  if (members.includes('uuid')) db.run(`create index if not exists ${name}_uuid on ${name} (uuid)`)
  const table = new FlatTable(db, name)
  db.run('BEGIN')
  for (const item of items) table.insert(item)
  db.run('COMMIT')
}

/** A table whose columns are the members of a resource. */
export class FlatTable {
  readonly #members: string[]
  readonly #coders: (readonly [string, (typeof columnTypes)[string]])[]
  readonly #insert
  readonly #get
  readonly #list
  /** Values of members that a request doesn't contain. */
  readonly #defaults: Item

  constructor(
    db: Database,
    private readonly name: string,
  ) {
    const columns = db.query<{ name: string; type: string }, []>(`pragma table_info(${name})`).all()
    this.#members = columns.map(column => column.name)
    this.#coders = columns.flatMap(({ name: member, type }) => (columnTypes[type] ? [[member, columnTypes[type]] as const] : []))
    this.#insert = db.query(`insert into ${name} values (${columns.map(() => '?').join(', ')})`)
    this.#get = db.query<Item, [string]>(`select * from ${name} where id = ?`)
    this.#list = db.query<Item, [number]>(`select * from ${name} order by id desc limit ?`)
    this.#defaults = this.list(1)[0] ?? {}
  }

  get(id: string): Item | null {
    const row = this.#get.get(id)
    return row && this.#decoded(row)
  }

  /** Newest first. */
  list(limit: number): Item[] {
    return this.#list.all(limit).map(row => this.#decoded(row))
  }

  /** @returns the stored item */
  create(input: Item): Item {
    const now = instant(systemClock.now())
    const item = {
      ...this.#defaults,
      ...input,
      id: `${this.name}_${Bun.randomUUIDv7('base64url')}`,
      created_at: now,
      updated_at: now,
    }
    this.insert(item)
    return item
  }

  insert(item: Item): void {
    const row = { ...item }
    for (const [member, { encode }] of this.#coders) if (row[member] != null) row[member] = encode(row[member])
    this.#insert.run(...this.#members.map(member => row[member] ?? null))
  }

  #decoded(row: Item): Item {
    for (const [member, { decode }] of this.#coders) if (row[member] !== null) row[member] = decode(row[member])
    return row
  }
}

/** An audit log in which each entry contains the hash of the previous one. */
export class FlatChain {
  readonly #insert
  #seq: number
  #head: Uint8Array

  constructor(db: Database) {
    this.#insert = db.query('insert into chain values (?, ?, ?, ?)')
    const last = db.query<{ seq: number; hash: Uint8Array }, []>('select seq, hash from chain order by seq desc limit 1').get()
    this.#seq = last?.seq ?? 0
    this.#head = last?.hash ?? new Uint8Array(32)
  }

  add(action: string, after: Item): void {
    const seq = this.#seq + 1
    const entry = JSON.stringify({ seq, occurred_at: instant(systemClock.now()), action, target: after.id, before: {}, after })
    const hash = sha256(Buffer.concat([this.#head, Buffer.from(entry)]))
    this.#insert.run(seq, entry, this.#head, hash)
    this.#seq = seq
    this.#head = hash
  }
}
