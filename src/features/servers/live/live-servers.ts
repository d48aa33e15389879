import { gunzipSync, gzipSync } from 'bun'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import { topicsOf } from '../../../core/topics'
import type { AgentLiveMetrics } from '../../../wire/agent'
import { liveIntervalMs, liveMs } from '../../../wire/agent-limits'
import { commandTopic } from '../agents/send-command'
import { LiveRows, type LiveRow } from './live-rows'

/** The busiest processes, as an agent reports them. */
type LiveProcesses = NonNullable<AgentLiveMetrics['processes']>

/** Servers that are watched at the same time, in all workspaces and in one. Includes those that are watched at other hubs. */
const maxServers = { inAll: 500, ofWorkspace: 50 }
/** An agent whose last row is older than this doesn’t send any, and is asked again, but not more often than `askAgainMs`. */
const silentMs = 3 * liveIntervalMs
const askAgainMs = 5000
/** The agent is asked, and other hubs are notified, once less than this is left. */
const renewMs = liveMs - 15_000

interface LiveServer {
  workspaceId: string
  /** Until when someone looks (ms UTC). */
  until: number
  /** Since when someone has been looking without interruption. */
  since: number
  /** When the agent was asked by this hub. */
  askedAt: number
  rows: LiveRows
  /** Those of the last row. */
  processes: LiveProcesses
}

/** What hubs on the same database tell each other. `packed` is a row with processes as compressed JSON in base64. */
type Message = { from: string; id: string } & ({ agentId: string; workspaceId: string; until: number } | { packed: string })

/** PostgreSQL channel of these messages. */
export const liveServersChannel = 'bailiwick_live_servers'

// PostgreSQL limits the payload of NOTIFY to 8,000 bytes.
const maxPayloadBytes = 7_900
const maxPackedLength = 7_500

const pack = (content: [LiveRow, LiveProcesses]): string => Buffer.from(gzipSync(JSON.stringify(content))).toString('base64')
const unpack = (packed: string): [LiveRow, LiveProcesses] =>
  JSON.parse(Buffer.from(gunzipSync(Buffer.from(packed, 'base64'))).toString())

/** Woken for each new row of a server. */
export const liveTopic = (serverId: string): string => `live:${serverId}`

/**
 * Servers that someone looks at, and what their agents sent since then. Nothing is stored. The agent of a server is asked through its
 * waiting request. Hubs on the same PostgreSQL tell each other who looks and what arrives, because the client, the waiting request,
 * and the rows may be at different ones. Messages can get lost: a row is then missing there, and clients that look ask again.
 */
class LiveServers {
  private readonly servers = new Map<string, LiveServer>()
  /** When `takeDue` last returned a server. */
  private readonly takenAt = new Map<string, number>()

  constructor(private readonly hub: Hub) {}

  /**
   * Notes that someone looks at a server, so that its agent sends rows for the next minute.
   * @throws Problem 429, 503 if too many servers are watched
   */
  watch({ id, workspaceId }: { id: string; workspaceId: string }, agentId: string): void {
    if (!this.isDue(id)) return
    const now = this.hub.clock.now()
    const problem = this.limitReached(id, workspaceId)
    if (problem) throw problem
    const until = now + liveMs
    this.extend(id, workspaceId, agentId, until)
    this.announce({ from: this.hub.id, id, agentId, workspaceId, until })
  }

  /** Whether `watch` must be called, because the agent will otherwise stop to send rows soon. */
  private isDue(id: string): boolean {
    return (this.servers.get(id)?.until ?? 0) - this.hub.clock.now() <= renewMs
  }

  /**
   * Those of the given servers for which `watch` must be called. Servers that can’t be watched, because no agent of theirs takes commands or
   * too many are watched, are returned again only after `askAgainMs`.
   */
  takeDue(ids: readonly string[]): string[] {
    const now = this.hub.clock.now()
    for (const [id, at] of this.takenAt) if (Math.abs(now - at) >= askAgainMs) this.takenAt.delete(id)
    const due = ids.filter(id => this.isDue(id) && !this.takenAt.has(id))
    for (const id of due) this.takenAt.set(id, now)
    return due
  }

  /** Seconds for which the agent of a server must send rows; 0 if nobody looks. */
  secondsLeft(id: string): number {
    return Math.max(0, Math.ceil(((this.servers.get(id)?.until ?? 0) - this.hub.clock.now()) / 1000))
  }

  /** The same if the agent must be asked to start; 0 if it sends rows already, or was asked a moment ago. */
  secondsToStart(id: string): number {
    const found = this.servers.get(id)
    const now = this.hub.clock.now()
    if (!found || now - found.askedAt < askAgainMs || now - (found.rows.all.at(-1)?.at ?? 0) < silentMs) return 0
    const seconds = this.secondsLeft(id)
    if (seconds > 0) found.askedAt = now
    return seconds
  }

  /** Adds what the agent of a server sent. */
  add(id: string, metrics: LiveRow['metrics'], processes: LiveProcesses): void {
    const row = { at: this.hub.clock.now(), metrics }
    if (!this.keep(id, row, processes) || !this.hub.series.isShared) return
    const packed = pack([row, processes])
    // Arguments of processes may not fit.
    this.announce({ from: this.hub.id, id, packed: packed.length <= maxPackedLength ? packed : pack([row, []]) })
  }

  /** The last rows of a server, oldest first, the processes of the last one, and since when someone has been looking (ms UTC). */
  rowsOf(id: string): Pick<LiveServer, 'processes' | 'since'> & { rows: readonly LiveRow[] } {
    const found = this.servers.get(id)
    if (!found) return { rows: [], processes: [], since: this.hub.clock.now() }
    return { rows: found.rows.all, processes: found.processes, since: found.since }
  }

  /** Receives a message of another hub. */
  receive(text: string): void {
    const message = JSON.parse(text) as Message
    if (message.from === this.hub.id) return
    if ('packed' in message) this.keep(message.id, ...unpack(message.packed))
    // Hubs that reach the limit at the same time can exceed it.
    else if (!this.limitReached(message.id, message.workspaceId))
      this.extend(message.id, message.workspaceId, message.agentId, message.until)
  }

  private extend(id: string, workspaceId: string, agentId: string, until: number): void {
    const now = this.hub.clock.now()
    const known = this.servers.get(id)
    if (known && known.until > now) known.until = Math.max(known.until, until)
    else this.servers.set(id, { workspaceId, until, since: now, askedAt: 0, rows: known?.rows ?? new LiveRows(), processes: [] })
    topicsOf(this.hub).wake(commandTopic(agentId))
  }

  private keep(id: string, row: LiveRow, processes: LiveProcesses): boolean {
    const found = this.servers.get(id)
    if (!found || found.until <= this.hub.clock.now()) return false
    found.rows.add(row)
    found.processes = processes
    topicsOf(this.hub).wake(liveTopic(id))
    return true
  }

  /** Forgets servers that nobody looks at. Rows are kept for a while, for a page that is opened again. */
  sweep(): void {
    const now = this.hub.clock.now()
    for (const [id, one] of this.servers) if (one.until < now - liveMs) this.servers.delete(id)
  }

  /** Why a server can’t be watched in addition to the others. Null if it can, or is watched already. */
  private limitReached(id: string, workspaceId: string): Problem | null {
    const now = this.hub.clock.now()
    if ((this.servers.get(id)?.until ?? 0) > now) return null
    this.sweep()
    const watched = [...this.servers.values()].filter(one => one.until > now)
    const own = watched.filter(one => one.workspaceId === workspaceId).length
    const extras = { headers: { 'Retry-After': '60' } }
    if (own >= maxServers.ofWorkspace)
      return new Problem('rate_limited', `${own} servers of this workspace are watched live, which is the maximum.`, {
        ...extras,
        fields: { 'violated-policies': ['live-servers'] },
      })
    if (watched.length >= maxServers.inAll)
      return new Problem('overloaded', `This hub shows ${watched.length} servers live, which is the maximum.`, extras)
    return null
  }

  private announce(message: Message): void {
    if (!this.hub.series.isShared) return
    const payload = JSON.stringify(message)
    if (payload.length > maxPayloadBytes) return
    void this.hub.store
      .notify(liveServersChannel, payload)
      .catch(error => this.hub.log.warn({ err: error }, 'could not send live metrics to the other hubs'))
  }
}

const ofHub = new WeakMap<Hub, LiveServers>()

/** The servers that someone looks at. */
export function liveServersOf(hub: Hub): LiveServers {
  let servers = ofHub.get(hub)
  if (!servers) ofHub.set(hub, (servers = new LiveServers(hub)))
  return servers
}
