import type { Ctx } from '../../../core/ctx'
import { conflict, notFound } from '../../../core/problem'
import { runInSlices } from '../../../core/time-slices'
import { readZoneSnapshot } from '../publish/zone-snapshot'
import { lintSteps } from './rules'
import { initialRrsets } from '../zones/new-zone'
import { maxFindings, type ZoneLint } from './shapes'
import { zoneOf } from '../zones/rows'

/** Linting this many takes about two seconds. */
export const maxLintedRecords = 100_000

/**
 * Lints a zone. Stops when the caller has left.
 * @throws Problem 404, 409 if the zone has too many records
 */
export async function lintZone(ctx: Ctx, id: string, signal: AbortSignal): Promise<ZoneLint> {
  const { recordCount, name } = await zoneOf(ctx.hub.read, ctx, id)
  if (recordCount > maxLintedRecords)
    throw conflict(`Only zones with up to ${maxLintedRecords} records can be linted. This zone has ${recordCount}.`)
  const snapshot = await readZoneSnapshot(ctx.hub.read, id, undefined, signal)
  if (!snapshot) throw notFound('zone')
  const exceptions = {
    initial: initialRrsets(ctx.hub, name, {}).rrsets,
    privateZones: ctx.hub.config.dnsPrivateZones,
  }
  const findings = await runInSlices(untilLeft(lintSteps(snapshot.published, exceptions), signal))
  return {
    zone_id: id,
    serial: snapshot.published.serial,
    findings: findings.slice(0, maxFindings),
    truncated: findings.length > maxFindings,
  }
}

/** Ends the steps when the caller has left. */
function* untilLeft<T>(steps: Iterator<void, T[]>, signal: AbortSignal): Generator<void, T[]> {
  while (!signal.aborted) {
    const step = steps.next()
    if (step.done) return step.value
    yield
  }
  return []
}
