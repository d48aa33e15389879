import { and, asc, eq, gt } from 'drizzle-orm'
import { stringify } from 'yaml'
import { Streamed } from '../../../access/streamed'
import type { Ctx } from '../../../core/ctx'
import { rowsInTurns } from '../../../core/db/rows-in-turns'
import { filledIn, type Settings } from '../../../core/sealed-settings'
import { piecesInTurns } from '../../../core/turns'
import { everyWindow } from '../../maintenance/every'
import { channelNames, stillThere } from '../../notifications/known-channels'
import { findMonitorType, type GroupOptions } from '../monitor-types'
import { monitorOf } from '../monitors'
import { monitors } from '../tables'
import type { MonitorRow } from '../view'
import { documentExample } from './shapes'
import { windowItem } from './windows'

const types = { yaml: 'application/yaml', json: 'application/json' } as const

/** What an export looks like, by media type. */
export const exportExamples: Record<string, string> = {
  [types.yaml]: stringify(documentExample),
  [types.json]: JSON.stringify(documentExample),
}

/**
 * Everything that is watched, as an import takes it: secrets stand as `${secret:…}`, and what is as in a new monitor is left out.
 * @param asked with `monitor`, that one alone
 * @throws Problem 404 where there is no such monitor
 */
export async function exportMonitoring(ctx: Ctx, asked: { format?: keyof typeof types; monitor?: string }): Promise<Streamed> {
  const { format = 'yaml', monitor } = asked
  const chosen = monitor === undefined ? null : await monitorOf(ctx.hub.read, ctx, monitor)
  const rows = await rowsInTurns((after, most) =>
    ctx.hub.read
      .select()
      .from(monitors)
      .where(and(eq(monitors.workspaceId, ctx.workspaceId), gt(monitors.id, after)))
      .orderBy(asc(monitors.id))
      .limit(most),
  )
  const keys = new Map(rows.map(row => [row.id, keyOf(row)]))
  const channels = await channelNames(ctx.hub.read, ctx.workspaceId)
  const windows = (await everyWindow(ctx.hub.read, ctx.workspaceId)).flatMap(row => windowItem(row, keys) ?? [])
  const sections: Section[] = [['monitors', (chosen ? [chosen] : rows).values().map(row => itemOf(row, keys, channels))]]
  // A document without windows leaves them alone when it is imported.
  if (!chosen) sections.push(['maintenance_windows', windows.values()])
  const steps = format === 'yaml' ? yamlSteps(sections) : jsonSteps(sections)
  return new Streamed(types[format], `monitoring.${format}`, piecesInTurns(steps))
}

/** What a document calls a monitor. */
export const keyOf = (row: Pick<MonitorRow, 'key' | 'id'>): string => row.key ?? row.id

function itemOf(
  row: MonitorRow,
  keys: ReadonlyMap<string, string>,
  channels: ReadonlyMap<string, string>,
): Record<string, unknown> {
  const named = (ids: readonly string[]) => ids.flatMap(id => keys.get(id) ?? [])
  const options = filledIn(
    withoutGranted(
      row.type === 'group' ? { ...row.options, members: named((row.options as GroupOptions).members) } : row.options,
      row.type,
    ),
    Object.fromEntries(row.secretNames.map(path => [path, `\${secret:${keyOf(row)}/${path}}`])),
  )
  const item: Record<string, unknown> = {
    key: keyOf(row),
    name: row.name,
    type: row.type,
    ...(row.target !== '' && { target: row.target }),
    ...(Object.keys(options).length > 0 && { options }),
    interval_seconds: row.intervalSeconds,
    timeout_seconds: row.timeoutSeconds,
    retry_interval_seconds: row.retryIntervalSeconds,
  }
  const others: [string, unknown, unknown][] = [
    ['description', row.description, ''],
    ['confirm', row.confirm, 2],
    ['recover', row.recover, 2],
    ['recovery_seconds', row.recoverySeconds, row.locations.length > 1 ? 60 : 0],
    ['quorum', row.quorum, 'majority'],
    ['down_if', row.downIf, []],
    ['degraded_if', row.degradedIf, []],
    ['degraded_ms', row.degradedMs, null],
    ['locations', row.locations, ['local']],
    ['tags', row.tags, []],
    ['depends_on', named(row.dependsOn), []],
    ['dependency_grace_seconds', row.dependencyGraceSeconds, 60],
    ['severity', row.severity, 'critical'],
    ['channels', stillThere(row.channelIds, channels)?.map(id => channels.get(id)) ?? null, null],
  ]
  for (const [member, value, fresh] of others) if (!Bun.deepEquals(value, fresh)) item[member] = value
  return item
}

/** Options but for those that the type takes for granted. */
function withoutGranted(options: Settings, type: MonitorRow['type']): Settings {
  const members = findMonitorType(type)?.options.properties ?? {}
  return Object.fromEntries(Object.entries(options).filter(([name, value]) => !Bun.deepEquals(value, members[name]?.default)))
}

/** A member of the document with its items. */
type Section = [name: string, items: Iterable<object>]

function* yamlSteps(sections: readonly Section[]): Generator<string> {
  yield 'version: 1\n'
  for (const [name, items] of sections) {
    let first = true
    for (const item of items) {
      yield `${first ? `${name}:\n` : ''}${stringify([item], { lineWidth: 0 })}`
      first = false
    }
    if (first) yield `${name}: []\n`
  }
}

function* jsonSteps(sections: readonly Section[]): Generator<string> {
  yield '{"version":1'
  for (const [name, items] of sections) {
    yield `,"${name}":[`
    let first = true
    for (const item of items) {
      yield `${first ? '' : ','}\n${JSON.stringify(item)}`
      first = false
    }
    yield ']'
  }
  yield '}\n'
}
