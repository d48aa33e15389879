import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { maxMinutes } from '../../wire/agent-limits'
import { sha256Hex } from '../../core/sha256'
import { isRecord, isTime } from './answers'
import type { WaitingMinute } from './minutes'
import { readJson } from '../state/identity'
import { writeFile } from '../state/write-file'

/** Limits of what waits on disk. */
interface SpoolLimits {
  /** Segments have at most this many bytes together. */
  maxBytes: number
  /** At most this many minutes wait outside segments. */
  maxLoose: number
}

const standardLimits: SpoolLimits = { maxBytes: 16 * 1024 * 1024, maxLoose: maxMinutes }

/** A file with an hour of minutes, compressed. Its name contains what must be known without reading it. */
interface Segment {
  name: string
  bytes: number
  count: number
}

/**
 * Minutes that the hub has not acknowledged. Each is on disk as soon as it was measured, and removed when it was acknowledged, so a crash
 * loses none. At most 60 are also in memory; older ones are in compressed segments. When these are too large, the oldest is dropped.
 */
export class Spool {
  /** Minutes outside segments by the names of their files, in order. */
  private loose = new Map<string, WaitingMinute>()
  private segments: Segment[] = []
  /** What remains of the oldest segment while it is sent. */
  private opened: WaitingMinute[] | null = null
  private droppedMinutes = 0

  /** @param report called with what went wrong, in a sentence */
  constructor(
    private readonly folder: string,
    private readonly report: (problem: string) => void,
    private readonly limits: SpoolLimits = standardLimits,
  ) {
    this.attempt('read', () => this.load())
  }

  /** Number of minutes that wait. */
  get count(): number {
    const inSegments = this.segments.reduce((sum, segment) => sum + segment.count, 0)
    return this.loose.size + inSegments - (this.opened === null ? 0 : this.segments[0]!.count - this.opened.length)
  }

  /** Number of minutes that were dropped because too many waited, or because the hub refused them. */
  get dropped(): number {
    return this.droppedMinutes
  }

  add(minute: WaitingMinute): void {
    const name = looseName(minute)
    this.loose = inOrder([...this.loose, [name, minute]])
    this.attempt('stored', () => writeFile(this.pathOf(name), JSON.stringify(minute)))
    if (this.loose.size > this.limits.maxLoose) this.pack()
  }

  /** Minutes that started at or after a time, the oldest first. */
  since(time: number): WaitingMinute[] {
    return [...this.loose.values()].filter(({ row: [start] }) => start >= time).slice(-maxMinutes)
  }

  /** The oldest minutes, in order; at most 60. Empty if none wait. */
  oldest(): WaitingMinute[] {
    while (this.segments.length > 0) {
      this.opened ??= this.read(this.segments[0]!)
      if (this.opened.length > 0) return this.opened.slice(0, maxMinutes)
      this.removeSegment()
    }
    return [...this.loose.values()].slice(0, maxMinutes)
  }

  /** Removes minutes that the hub has, or refused for good (`dropped`). */
  remove(minutes: readonly WaitingMinute[], outcome: 'acknowledged' | 'dropped' = 'acknowledged'): void {
    const gone = new Set(minutes)
    if (this.opened !== null) {
      this.opened = this.opened.filter(minute => !gone.has(minute))
      if (this.opened.length === 0) this.removeSegment()
    }
    for (const [name, minute] of this.loose) {
      // A minute that was measured again in the meantime still waits.
      if (!gone.has(minute)) continue
      this.loose.delete(name)
      this.attempt('deleted', () => rmSync(this.pathOf(name), { force: true }))
    }
    if (outcome === 'dropped') this.drop(minutes.length)
  }

  /** Moves the oldest minutes in memory into a segment. */
  private pack(): void {
    const packed = [...this.loose.values()].slice(0, this.limits.maxLoose)
    const json = JSON.stringify(packed)
    const bytes = Bun.gzipSync(json, { library: 'libdeflate' })
    // The clock may have been set back, so other minutes can have the same start.
    const name = `${padded(packed[0]!.row[0])}-${packed.length}-${sha256Hex(json).slice(0, 16)}.gz`
    // Their own files are deleted next.
    const stored = this.attempt('stored', () => writeFile(this.pathOf(name), bytes, { durable: true }))
    this.remove(packed, stored ? 'acknowledged' : 'dropped')
    // Killed before it had deleted them, the agent packs the same minutes again when it starts.
    if (!stored || this.segments.some(segment => segment.name === name)) return
    this.segments.push({ name, bytes: bytes.byteLength, count: packed.length })
    let total = this.segments.reduce((sum, segment) => sum + segment.bytes, 0)
    while (total > this.limits.maxBytes && this.segments.length > 1) {
      const { bytes: freed, count } = this.segments[0]!
      this.drop(this.opened?.length ?? count)
      this.removeSegment()
      total -= freed
    }
  }

  private removeSegment(): void {
    const segment = this.segments.shift()!
    this.opened = null
    this.attempt('deleted', () => rmSync(this.pathOf(segment.name), { force: true }))
  }

  private read({ name, count }: Segment): WaitingMinute[] {
    try {
      const read: unknown = JSON.parse(Buffer.from(Bun.gunzipSync(readFileSync(this.pathOf(name)))).toString())
      if (Array.isArray(read) && read.every(isMinute)) return read
    } catch {}
    this.report(`The stored minutes in ${this.pathOf(name)} are damaged and were dropped.`)
    this.drop(count)
    return []
  }

  private drop(minutes: number): void {
    this.droppedMinutes += minutes
    this.attempt('stored', () => writeFile(this.pathOf('dropped.json'), String(this.droppedMinutes)))
  }

  private load(): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    const dropped = readJson(this.pathOf('dropped.json'))
    if (isTime(dropped)) this.droppedMinutes = dropped
    const found: [name: string, minute: WaitingMinute][] = []
    for (const name of readdirSync(this.folder).sort()) {
      const [, count] = /^\d{16}-(\d+)-[0-9a-f]{16}\.gz$/.exec(name) ?? []
      if (count !== undefined) this.segments.push({ name, bytes: statSync(this.pathOf(name)).size, count: Number(count) })
      else if (/^\d{16}(-\d{16}-[A-Za-z0-9-]+)?\.json$/.test(name)) {
        const minute = readJson(this.pathOf(name))
        if (isMinute(minute)) found.push([name, minute])
        else this.report(`The stored minute in ${this.pathOf(name)} is damaged and was dropped.`)
      } else if (name.endsWith('.new')) rmSync(this.pathOf(name))
    }
    this.loose = inOrder(found)
    while (this.loose.size > this.limits.maxLoose) this.pack()
  }

  private pathOf(name: string): string {
    return join(this.folder, name)
  }

  /** Whether it succeeded. A full disk must not stop the agent: minutes then only wait in memory. */
  private attempt(what: 'read' | 'stored' | 'deleted', run: () => void): boolean {
    try {
      run()
      return true
    } catch (error) {
      this.report(`Minutes that wait to be sent can’t be ${what}: ${(error as Error).message}`)
      return false
    }
  }
}

const padded = (start: number) => String(start).padStart(16, '0')

/** While the time of the hub is unknown, the clock may be set back, so that several minutes have the same start. */
const looseName = ({ row: [start], unsure }: WaitingMinute) =>
  unsure ? `${padded(start)}-${padded(Math.round(unsure.steady))}-${unsure.bootId}.json` : `${padded(start)}.json`

const inOrder = (minutes: readonly [name: string, minute: WaitingMinute][]) =>
  new Map(minutes.toSorted(([, a], [, b]) => a.row[0] - b.row[0]))

const isValues = (value: unknown, length: number) =>
  Array.isArray(value) && value.length === length && value.every(one => one === null || Number.isFinite(one))

function isMinute(value: unknown): value is WaitingMinute {
  if (!isRecord(value)) return false
  const { columns, row } = value
  if (!Array.isArray(columns) || !columns.every(one => typeof one === 'string') || !Array.isArray(row)) return false
  return isTime(row[0]) && Number.isInteger(row[1]) && isValues(row[2], columns.length) && isValues(row[3], columns.length)
}
