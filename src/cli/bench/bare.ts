import { Database } from 'bun:sqlite'
import type { Command } from 'commander'
import { instant, systemClock } from '../../core/clock'
import { isStarted, statusAt, type HeartbeatState } from '../../features/heartbeats/state'

/**
 * The yardstick of `bench api`: the same list of heartbeats from the same file, by a bare Bun.serve with one prepared statement,
 * and none of what makes it an API: no token, permission, rate limit, validation, cursor or header.
 */
export function addBareServer(bench: Command): void {
  bench.command('bare-server <file> <workspace>', { hidden: true }).action(async (file: string, workspace: string) => {
    const db = new Database(file, { readonly: true })
    for (const pragma of ['cache_size=-16384', 'mmap_size=0', 'temp_store=MEMORY']) db.run(`PRAGMA ${pragma}`)
    const list = db.query<Record<string, never>, [string, number]>(
      'select * from heartbeats where workspace_id = ? order by id desc limit ?',
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

function view(row: Record<string, never>): object {
  const state: HeartbeatState = {
    status: row.status!,
    lastPingAt: row.last_ping_at!,
    lastDurationMs: row.last_duration_ms!,
    openRuns: JSON.parse(row.open_runs!),
    expectedAt: row.expected_at!,
    downAt: row.down_at!,
  }
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    tags: JSON.parse(row.tags!),
    description: row.description,
    status: statusAt(state, systemClock.now()),
    status_since_at: instant(row.status_since!),
    started: isStarted(state),
    schedule: JSON.parse(row.schedule!),
    methods: row.methods,
    manual_resume: row.manual_resume === 1,
    first_ping_within_seconds: row.first_ping_within_seconds,
    uuid: null,
    ping_url: null,
    ping_count: row.ping_count,
    last_ping_at: instant(state.lastPingAt),
    last_duration_ms: state.lastDurationMs,
    expected_at: instant(state.expectedAt),
    down_at: instant(state.downAt),
    version: row.version,
    created_at: instant(row.created_at!),
    updated_at: instant(row.updated_at!),
  }
}
