import { change, type Changed } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { triedOut } from '../../core/db/savepoint'
import type { Tx } from '../../core/db/transaction'
import { invalid, Problem } from '../../core/problem'
import type { DnsRecordCheck, DnsRecordChecked } from './record-shapes'
import { typeOf } from './record-values'
import { created, recordOf, updated } from './records'
import { ruleKept } from './rule-problems'
import { zoneHeld, type ZoneRow } from './zone-rows'
import { zoneTarget } from './zones'

/**
 * Tells what a record would be, new or in place of the one it names: it is made, and undone again.
 * @throws Problem 404, 422, 403 `plan_limit_reached`
 */
export async function checkRecord(ctx: Ctx, zoneId: string, input: DnsRecordCheck): Promise<DnsRecordChecked> {
  const { record_id: id, type, ...rest } = input
  return await change(ctx, 'dns.record.check', async (tx): Promise<Changed<DnsRecordChecked>> => {
    const zone = await zoneHeld(tx, ctx, zoneId)
    if (id !== undefined) await refuseOther(tx, ctx, zone, { id, type })
    const { result } = await triedOut(tx, () =>
      id === undefined ? created(tx, ctx, zoneId, { type, ...rest }) : updated(tx, ctx, id, rest),
    )
    const { name, fqdn, ttl, content, fields } = result
    return { result: { name, fqdn, type: result.type, ttl, content, fields }, target: zoneTarget(zone), unchanged: true }
  })
}

/** @throws Problem 422 for a record of another zone, and for another type: neither of them ever changes */
async function refuseOther(tx: Tx, ctx: Ctx, zone: ZoneRow, { id, type }: { id: string; type: string }): Promise<void> {
  const record = await recordOf(tx, ctx, id).catch((error: unknown) => {
    if (error instanceof Problem) return null
    throw error
  })
  if (record?.zoneId !== zone.id)
    throw invalid([{ pointer: '#/record_id', code: 'unknown', detail: 'must be a record of the zone.' }])
  if (ruleKept('#/type', () => typeOf(type)) !== record.type)
    throw invalid([{ pointer: '#/type', code: 'not_allowed', detail: `must be ${record.type}: the type of a record stays.` }])
}
