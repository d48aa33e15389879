import { and, asc, eq, gt } from 'drizzle-orm'
import { stringify } from 'yaml'
import { StreamedResponse } from '../../../api/streamed-response'
import type { Ctx } from '../../../core/ctx'
import { rowsInBatches } from '../../../core/db/rows-in-batches'
import { inputColumns, memberView } from '../../../core/members'
import { withValues, type Settings } from '../../../core/sealed-settings'
import { streamInSlices } from '../../../core/time-slices'
import { allWindows } from '../../maintenance/all-windows'
import { channelNames, existingChannels } from '../../notifications/channel-references'
import { defaultRecoverySeconds } from '../definition/definition'
import { findMonitorType, type GroupOptions } from '../definition/types'
import { findRow } from '../../../core/rows'
import { monitorRows, type MonitorRow } from '../view'
import { definitionMembers } from '../shapes'
import { monitors } from '../tables'
import { documentExample } from './shapes'
import { windowEntry } from './windows'

const types = { yaml: 'application/yaml', json: 'application/json' } as const

/** Example exports by media type. */
export const exportExamples: Record<string, string> = {
  [types.yaml]: stringify(documentExample),
  [types.json]: JSON.stringify(documentExample),
}

/**
 * Exports the monitoring configuration for import, with placeholders for secrets and without default values.
 * @param query with `monitor`, exports only that one
 * @throws Problem 404 for an unknown monitor
 */
export async function exportMonitoring(
  ctx: Ctx,
  query: { format?: keyof typeof types; monitor?: string },
): Promise<StreamedResponse> {
  const { format = 'yaml', monitor } = query
  const chosen = monitor === undefined ? null : await findRow(ctx.hub.read, ctx, monitorRows, monitor)
  const rows = await rowsInBatches((after, limit) =>
    ctx.hub.read
      .select()
      .from(monitors)
      .where(and(eq(monitors.workspaceId, ctx.workspaceId), gt(monitors.id, after)))
      .orderBy(asc(monitors.id))
      .limit(limit),
  )
  const keys = new Map(rows.map(row => [row.id, keyOf(row)]))
  const channels = await channelNames(ctx.hub.read, ctx.workspaceId)
  const windows = (await allWindows(ctx.hub.read, ctx.workspaceId)).flatMap(row => windowEntry(row, keys) ?? [])
  const sections: Section[] = [['monitors', (chosen ? [chosen] : rows).values().map(row => monitorEntry(row, keys, channels))]]
  // Importing a document without this section leaves maintenance windows unchanged.
  if (!chosen) sections.push(['maintenance_windows', windows.values()])
  const steps = format === 'yaml' ? yamlSteps(sections) : jsonSteps(sections)
  return new StreamedResponse(types[format], `monitoring.${format}`, streamInSlices(steps))
}

/** The key of a monitor in a document. */
const keyOf = (row: Pick<MonitorRow, 'key' | 'id'>): string => row.key ?? row.id

function monitorEntry(
  row: MonitorRow,
  keys: ReadonlyMap<string, string>,
  channels: ReadonlyMap<string, string>,
): Record<string, unknown> {
  const named = (ids: readonly string[]) => ids.flatMap(id => keys.get(id) ?? [])
  const options = withValues(
    withoutDefaults(
      row.type === 'group' ? { ...row.options, members: named((row.options as GroupOptions).members) } : row.options,
      row.type,
    ),
    Object.fromEntries(row.secretNames.map(path => [path, `\${secret:${keyOf(row)}/${path}}`])),
  )
  const { key: _, channel_ids, ...definition } = memberView(definitionMembers, row)
  const fields = {
    ...definition,
    depends_on: named(row.dependsOn),
    channels: existingChannels(channel_ids, channels)?.map(id => channels.get(id)) ?? null,
  }
  const defaults: Record<string, unknown> = {
    ...memberView(definitionMembers, inputColumns(definitionMembers, {})),
    recovery_seconds: defaultRecoverySeconds(row),
    channels: null,
  }
  return {
    key: keyOf(row),
    name: row.name,
    type: row.type,
    ...(row.target !== '' && { target: row.target }),
    ...(Object.keys(options).length > 0 && { options }),
    ...Object.fromEntries(Object.entries(fields).filter(([name, value]) => !Bun.deepEquals(value, defaults[name]))),
  }
}

/** Options without those that have their default value. */
function withoutDefaults(options: Settings, type: MonitorRow['type']): Settings {
  const members = findMonitorType(type)?.options.properties ?? {}
  return Object.fromEntries(Object.entries(options).filter(([name, value]) => !Bun.deepEquals(value, members[name]?.default)))
}

/** A top-level list of the document. */
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
