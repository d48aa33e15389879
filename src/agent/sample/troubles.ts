import { readFileSync } from 'node:fs'
import type { AgentReport } from '../../wire/agent'
import type { ReportParts } from '../machine'
import { writeFile } from '../state/write-file'

type Event = NonNullable<AgentReport['events']>[number]
type Trouble = Omit<Event, 'at'>
type Part = 'units' | 'containers' | 'disks' | 'arrays'

/** The same event is reported again only after this time, so that a program that fails all the time doesn’t hide everything else. */
const pauseMs = 600_000

/** What is wrong according to each part. */
const troublesIn: { readonly [Name in Part]: (items: NonNullable<ReportParts[Name]>) => Trouble[] } = {
  units: items => items.filter(one => one.state === 'failed').map(one => ({ kind: 'unit.failed', name: one.name, detail: null })),
  containers: items =>
    items.flatMap(({ name, state, health, exit_code: code }) => [
      ...(state === 'dead' || (state === 'exited' && code !== null && code !== 0)
        ? [{ kind: 'container.died' as const, name, detail: code === null ? null : `exit code ${code}` }]
        : []),
      ...(health === 'unhealthy' ? [{ kind: 'container.unhealthy' as const, name, detail: null }] : []),
      ...(state === 'restarting' ? [{ kind: 'container.restarting' as const, name, detail: null }] : []),
    ]),
  disks: items =>
    items.filter(one => one.failing).map(one => ({ kind: 'disk.failing', name: one.device, detail: one.warnings[0] ?? null })),
  arrays: items => items.filter(one => one.degraded).map(one => ({ kind: 'array.degraded', name: one.name, detail: one.state })),
}
const parts = Object.keys(troublesIn) as Part[]

const keyOf = ({ kind, name }: Trouble) => `${kind} ${name}`

/**
 * Notices what starts to fail. What was failing before is kept in a file, so that a unit that fails while the server starts is noticed
 * too.
 */
export class Troubles {
  private readonly known: Map<Part, readonly string[]>
  /** Restarts of the containers that exist, by name. */
  private restarts: ReadonlyMap<string, number> = new Map<string, number>()
  private readonly reportedAt = new Map<string, number>()

  /** @param file where the known ones are stored */
  constructor(private readonly file: string) {
    this.known = readKnown(file)
  }

  /** @param at the time (ms UTC) @returns what has started to fail since the last time. Nothing the first time. */
  follow(now: ReportParts, at: number): Event[] {
    const found: Trouble[] = now.containers ? this.restarted(now.containers) : []
    let isSame = true
    for (const part of parts) {
      const items = now[part]
      if (items === undefined) continue
      const troubles = troublesIn[part](items as never)
      const [before, keys] = [this.known.get(part), troubles.map(keyOf)]
      if (before) found.push(...troubles.filter(one => !before.includes(keyOf(one))))
      if (before?.join('\n') === keys.join('\n')) continue
      this.known.set(part, keys)
      isSame = false
    }
    if (!isSame) this.store()
    for (const [key, last] of this.reportedAt) if (at < last || at >= last + pauseMs) this.reportedAt.delete(key)
    const events = new Map(found.map(one => [keyOf(one), one]))
    return [...events].flatMap(([key, trouble]) => {
      if (this.reportedAt.has(key)) return []
      this.reportedAt.set(key, at)
      return [{ at, ...trouble }]
    })
  }

  /** Containers that were restarted between two readings. */
  private restarted(containers: NonNullable<ReportParts['containers']>): Trouble[] {
    const before = this.restarts
    const known = containers.flatMap(({ name, restarts }) => (restarts === null ? [] : [[name, restarts] as const]))
    this.restarts = new Map(known)
    return known
      .filter(([name, restarts]) => restarts > (before.get(name) ?? Infinity))
      .map(([name, restarts]) => ({ kind: 'container.restarting', name, detail: `restarted ${restarts} times` }))
  }

  private store(): void {
    try {
      writeFile(this.file, JSON.stringify(Object.fromEntries(this.known)))
    } catch {
      // Such as on a full disk: after a restart, some are reported again.
    }
  }
}

function readKnown(file: string): Map<Part, readonly string[]> {
  try {
    const stored = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    return new Map(parts.flatMap(part => (Array.isArray(stored[part]) ? [[part, stored[part].map(String)] as const] : [])))
  } catch {
    return new Map()
  }
}
