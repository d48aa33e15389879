import { Database } from 'bun:sqlite'
import type { Command } from 'commander'
import { standsHere } from '../../features/dns/sync/sync-views'
import { recordView } from '../../features/dns/views'

/**
 * The yardstick of `bench api`: the same list of DNS records from the same file, by a bare Bun.serve with one prepared statement, and
 * none of what makes it an API: no token, permission, rate limit, validation, cursor or header.
 */
export function addBareServer(bench: Command): void {
  bench.command('bare-server <file> <workspace>', { hidden: true }).action(async (file: string, workspace: string) => {
    const db = new Database(file, { readonly: true })
    for (const pragma of ['cache_size=-16384', 'mmap_size=0', 'temp_store=MEMORY']) db.run(`PRAGMA ${pragma}`)
    const list = db.query<Record<string, never>, [string, number]>(
      `select r.*, s.ttl, s.options, s.comment, s.locked, s.tags, s.expires_at, z.name as zone
       from dns_records r join dns_rrsets s on s.id = r.rrset_id join dns_zones z on z.id = r.zone_id
       where r.workspace_id = ? order by r.id desc limit ?`,
    )
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: request => {
        const limit = Number(new URL(request.url).searchParams.get('limit') ?? 25)
        const rows = list.all(workspace, limit + 1)
        const more = rows.length > limit
        if (more) rows.pop()
        return new Response(JSON.stringify({ data: rows.map(view), pagination: { has_more: more, next_cursor: null } }), {
          headers: { 'Content-Type': 'application/json' },
        })
      },
    })
    console.log(`serves at http://127.0.0.1:${server.port}`)
    await new Promise<void>(resolve => process.once('SIGTERM', () => resolve()))
    await server.stop(true)
  })
}

/** The members of a record that the API shows, which have to be made of its rows by whoever shows them. */
function view(row: Record<string, never>): object {
  const times = { version: row.version!, createdAt: row.created_at!, updatedAt: row.updated_at! }
  const { name, type, source, content, rdata } = row as Record<string, never>
  return recordView(
    { ...row, name, type, source, content, rdata, ...times } as never,
    {
      ttl: row.ttl,
      options: JSON.parse(row.options ?? 'null'),
      comment: row.comment,
      locked: row.locked === 1,
      tags: JSON.parse(row.tags!),
      expiresAt: row.expires_at,
    } as never,
    { id: row.zone_id!, name: row.zone! },
    standsHere,
  )
}
