import type { BunRequest } from 'bun'
import type { Database } from 'bun:sqlite'
import type { Command } from 'commander'
import { systemClock } from '../../core/clock'
import { FlatChain, FlatTable, openFlatDatabase } from './flat-tables'

/**
 * The reference of `bench api` and `bench cost`: the same responses with Bun.serve and prepared statements on flat tables, but
 * without tokens, permissions, rate limits, validation, cursors, and headers. Writes that arrive together share a commit, as in a
 * hub, and creates are committed with their entry in a hash chain.
 */
export function addReferenceServer(bench: Command): void {
  bench.command('reference-server <file>', { hidden: true }).action(async (file: string) => {
    const db = openFlatDatabase(file)
    const commit = groupCommit(db)
    const records = new FlatTable(db, 'records')
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      routes: {
        '/v1/dns/records': request => {
          const limit = Number(new URL(request.url).searchParams.get('limit') ?? 25)
          const data = records.list(limit + 1)
          const hasMore = data.length > limit
          if (hasMore) data.pop()
          return Response.json({ data, pagination: { has_more: hasMore, next_cursor: null } })
        },
        '/v1/dns/records/:id': request => Response.json(records.get(request.params.id)),
        ...writeRoutes(db, commit, records),
      },
    })
    console.log(`listening on http://127.0.0.1:${server.port}`)
    await new Promise<void>(resolve => process.once('SIGTERM', () => resolve()))
    await server.stop(true)
  })
}

function writeRoutes(db: Database, commit: Commit, records: FlatTable): Record<string, (request: any) => Promise<Response>> {
  // `bench api` has no heartbeats.
  if (!db.query("select 1 from sqlite_master where name = 'heartbeats'").get()) return {}
  const heartbeats = new FlatTable(db, 'heartbeats')
  const chain = new FlatChain(db)
  const update = db.query<{ id: string; ping_count: number }, [string, number, string]>(
    'update heartbeats set status = ?, ping_count = ping_count + 1, last_ping_at = ? where uuid = ? returning id, ping_count',
  )
  const addPing = db.query('insert into pings values (?, ?, ?, ?, ?, ?)')
  const create = (table: FlatTable, action: string) => async (request: Request) => {
    const input = (await request.json()) as object
    const item = await commit(() => {
      const created = table.create(input)
      chain.add(action, created)
      return created
    })
    return Response.json(item, { status: 201 })
  }
  const ping = (status: string, kind: string) => async (request: BunRequest<'/ping/:uuid'>) => {
    await commit(() => {
      const now = systemClock.now()
      const { id, ping_count } = update.get(status, now, request.params.uuid)!
      addPing.run(id, ping_count, kind, now, '127.0.0.1', request.headers.get('user-agent') ?? '')
    })
    return new Response('OK')
  }
  return {
    '/v1/dns/zones/:zone/records': create(records, 'dns.record.create'),
    '/v1/heartbeats': create(heartbeats, 'heartbeat.create'),
    '/ping/:uuid': ping('up', 'success'),
    '/ping/:uuid/fail': ping('down', 'fail'),
  }
}

type Commit = <T>(write: () => T) => Promise<T>

/** Commits all writes of a turn of the event loop together. */
function groupCommit(db: Database): Commit {
  let queue: (() => () => void)[] = []
  const [begin, end] = [db.query('BEGIN IMMEDIATE'), db.query('COMMIT')]
  const drain = () => {
    const writes = queue
    queue = []
    begin.run()
    const responses = writes.map(write => write())
    end.run()
    for (const respond of responses) respond()
  }
  return write =>
    new Promise(resolve => {
      if (queue.length === 0) setImmediate(drain)
      queue.push(() => {
        const result = write()
        return () => resolve(result)
      })
    })
}
