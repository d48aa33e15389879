import { Database } from 'bun:sqlite'
import type { Command } from 'commander'
import { servedHere } from '../../features/dns/targets/sync-views'
import { recordView } from '../../features/dns/records/views'

/**
 * The baseline of `bench api`: lists the same DNS records from the same file with Bun.serve and one prepared statement, but
 * without tokens, permissions, rate limits, validation, cursors, and headers.
 */
export function addBaselineServer(bench: Command): void {
  bench.command('baseline-server <file> <workspace>', { hidden: true }).action(async (file: string, workspace: string) => {
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
        const hasMore = rows.length > limit
        if (hasMore) rows.pop()
        return new Response(JSON.stringify({ data: rows.map(view), pagination: { has_more: hasMore, next_cursor: null } }), {
          headers: { 'Content-Type': 'application/json' },
        })
      },
    })
    console.log(`listening on http://127.0.0.1:${server.port}`)
    await new Promise<void>(resolve => process.once('SIGTERM', () => resolve()))
    await server.stop(true)
  })
}

/** The fields of a record in the API. */
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
    servedHere,
  )
}
